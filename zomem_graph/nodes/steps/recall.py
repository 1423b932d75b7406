"""The life of a message up to your node: gate, retrieve, compose. `Memory.recall` and the graph share it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.options import ContinuationOptions, GateOptions, RetrieveOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.contentless import says_nothing
from zomem_graph.nodes.rules.left_out import left_out
from zomem_graph.nodes.rules.persona_text import persona_lines
from zomem_graph.nodes.rules.secrets import redact
from zomem_graph.nodes.scope import NOBODY, Scope
from zomem_graph.nodes.steps.events import Tell, tell_nobody, told_of_answer, told_of_gate, told_of_search
from zomem_graph.nodes.steps.gate import ask_in_doubt, decide, decide_by_words, floor_for, log_decision
from zomem_graph.nodes.steps.layout import Layout
from zomem_graph.nodes.steps.query import Query, Retrieved
from zomem_graph.nodes.steps.uses import count_uses, turn_key_of
from zomem_graph.nodes.values import GateVerdict, Hit, Recollection
from zomem_graph.stores.errors import StoreError
from zomem_graph.stores.persona_files import read_persona_file
from zomem_graph.stores.unit import Unit

__all__ = [
    "RecallRequest",
    "answer",
    "conclude",
    "go_on",
    "not_asked",
    "recall",
    "recall_continuation",
    "search_for",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """One message that may need memory. `turn_key` makes repeated recalls of a turn count once.

    `hyde` is an imagined answer to search with, False for none, None where the settings decide.
    `history` is what the one who answers has before him; `talk` are stored turns of the thread, which say what a
    message leans on where there is none, and may be brought up again.
    `context` counts the tokens of the conversation where `history` is not the whole of it; `context_limit` is
    the budget of a thread that has none yet (spec F76).
    Episodes and loops of `without_source` stay out: what the one who asks wrote of this very message.
    A probe is answered like any other and leaves no trace: no use, no decision, no day of use.
    """

    message: str
    scope: Scope
    history: Sequence[str] = ()
    talk: Sequence[str] = ()
    limit: int = 10
    token_budget: int = 1_000
    as_of: datetime | None = None
    turn_key: str | None = None
    probe: bool = False
    hyde: bool | str | None = None
    context: Callable[[], int] | None = None
    context_limit: int | None = None
    without_source: str | None = None

    def counted(self) -> int | None:
        """Return the tokens of the conversation with the message, None when it is not known."""
        if self.context is not None:
            return self.context()
        if not self.history:
            return None
        from zomem_graph.nodes.rules.budget import MESSAGE_TOKENS, tokens

        return sum(tokens(text) + MESSAGE_TOKENS for text in (*self.history, self.message))


def recall(services: Services, request: RecallRequest, *, tell: Tell = tell_nobody) -> Flow[Recollection]:
    """Return what to inject before a message, or why nothing is; `tell` hears of each step."""
    started = services.clock()
    request = yield from _in_its_talk(services, request)
    verdict = yield from decide(services, request.message, request.scope, request.history or request.talk)
    tell(told_of_gate(verdict))
    found = Retrieved()
    if verdict.continuation:
        found = yield from go_on(services, request)
        tell(told_of_search("continuation", found))
    elif verdict.decision != "skip":
        found = yield from search_for(services, request, looking=verdict.decision == "look")
        tell(told_of_search("retrieve", found))
        verdict, found = yield from ask_in_doubt(services, request.message, verdict, found)
    result: Recollection = yield from work(lambda: conclude(services, request, verdict, found, started))
    for event in told_of_answer(result):
        tell(event)
    return result


def _in_its_talk(services: Services, request: RecallRequest) -> Flow[RecallRequest]:
    """Return the request with the stored turns that it leans on, where its caller gave no history."""
    if request.history or request.scope.thread is None:
        return request
    from zomem_graph.nodes.steps.history import stored_talk

    talk = yield from stored_talk(services, request.message, request.scope, as_of=request.as_of)
    return replace(request, talk=talk) if talk else request


def recall_continuation(
    services: Services, request: RecallRequest, *, options: ContinuationOptions | None = None
) -> Flow[Recollection]:
    """Return what brings a model back into earlier work, whatever the gate thinks of the message."""
    started = services.clock()
    verdict = replace(
        decide_by_words(request.message, request.history),
        decision="recall",
        method="continuation",
        reason="asked to go on with earlier work",
        continuation=True,
    )
    found = yield from go_on(services, request, options=options)
    result: Recollection = yield from work(lambda: conclude(services, request, verdict, found, started))
    return result


def go_on(
    services: Services, request: RecallRequest, *, options: ContinuationOptions | None = None
) -> Flow[Retrieved]:
    """Retrieve for a message that goes on with earlier work."""
    from zomem_graph.nodes.steps.continuation import Continuing, continue_work

    asked = Continuing(
        message=request.message,
        scope=request.scope,
        history=request.history,
        limit=request.limit,
        as_of=request.as_of,
    )
    found: Retrieved = yield from continue_work(services, asked, options=options)
    return found


def search_for(
    services: Services, request: RecallRequest, *, options: RetrieveOptions | None = None, looking: bool = False
) -> Flow[Retrieved]:
    """Retrieve for a message; one that leans on its conversation is searched for together with it.

    A gate that only looks whether anything answers asks no model for an imagined answer.
    """
    from zomem_graph.nodes.steps.history import leaning_on, with_history
    from zomem_graph.nodes.steps.retrieve import retrieve

    query = Query(
        text=request.message,
        limit=request.limit,
        as_of=request.as_of,
        hyde=False if looking and request.hyde is None else request.hyde,
        running=request.scope.thread if request.history else None,
        without_source=request.without_source,
    )
    query = leaning_on(query, request.message, request.history)
    query = with_history(query, request.message, request.talk)
    found: Retrieved = yield from retrieve(services, query, request.scope, options=options)
    return found


def conclude(
    services: Services, request: RecallRequest, verdict: GateVerdict, found: Retrieved, started: datetime
) -> Recollection:
    """Read the persona file, lay out the block, log the decision and count what was injected.

    A log that cannot be written is no reason to withhold the answer; `degraded` says it.
    """
    about: Sequence[str] = ()
    if verdict.decision != "skip":
        said = read_persona_file(services.stores.home.personas, request.scope.persona)
        about = persona_lines(redact(said)[0]) if said else ()

    def laid_out(most: int) -> Recollection:
        asked = replace(request, token_budget=min(most, request.token_budget))
        return answer(services, asked, verdict, found, about=about)

    layout = Layout(
        scope=request.scope,
        result=laid_out(request.token_budget),
        hits=found.hits,
        again=laid_out,
        counted=request.counted,
        limit=request.context_limit or services.options.compose.context_tokens,
    )
    try:
        return finish(services, request, verdict, layout, started)
    except StoreError as error:
        return replace(layout.result, degraded=(*layout.result.degraded, f"not logged: {error}"))


def answer(
    services: Services,
    request: RecallRequest,
    verdict: GateVerdict,
    found: Retrieved,
    *,
    about: Sequence[str] = (),
) -> Recollection:
    """Decide on the evidence and lay out the block. Pure.

    `about` are the lines of the persona file, which are there whenever the message needs memory (spec F143).
    """
    from zomem_graph.nodes.steps.compose import compose

    nobody = () if request.scope.named or verdict.decision == "skip" else (NOBODY,)
    degraded = tuple(dict.fromkeys((*verdict.degraded, *found.degraded, *nobody)))
    gate = {"step": "gate", "method": verdict.method, "reason": verdict.reason}
    trace: tuple[dict[str, Any], ...] = ({**gate, "history": f"{len(request.talk)} stored turns"},)
    trace = trace if request.talk else (gate,)
    if verdict.decision == "skip":
        trace = (*trace, found.trace) if found.trace else trace
        return Recollection(
            decision="skip", method=verdict.method, reason=verdict.reason, degraded=degraded, trace=trace
        )
    telling, others = _telling(found, services.options.gate)
    found = replace(found, hits=telling, trace=_with_left_out(found.trace, others))
    trace = (*trace, found.trace)
    refusal = _refused(services.options.gate, verdict, found, request.message)
    if refusal is not None and (refusal.decision == "skip" or not about):
        return replace(refusal, degraded=degraded, trace=trace)
    block = compose(
        [] if refusal else found.hits,
        request.message,
        token_budget=request.token_budget,
        zone=request.scope.zone,
        about=about,
    )
    layout = {
        "step": "compose",
        "tokens": block.tokens,
        "kept": len(block.hits),
        "dropped": len(block.dropped),
        "left_out": left_out(f"no room in {request.token_budget} tokens", block.dropped),
    }
    trace = (*trace, layout)
    if not block.text:
        reason = f"nothing fits into {request.token_budget} tokens"
        return Recollection(decision="empty", method=verdict.method, reason=reason, degraded=degraded, trace=trace)
    looked = verdict.decision == "look"
    reason = f"memory answers it with {found.best:.2f}" if looked else verdict.reason
    if refusal is not None:
        reason = f"{refusal.reason}; the persona file is there"
    return Recollection(
        decision="inject",
        method="evidence" if looked else verdict.method,
        reason=reason,
        hits=block.hits,
        text=block.text,
        tokens=block.tokens,
        degraded=degraded,
        trace=trace,
    )


def not_asked(notes: Sequence[str]) -> Recollection:
    """Return the answer where memory itself failed: no block, and why."""
    return Recollection(decision="empty", method="none", reason="memory could not be asked", degraded=tuple(notes))


def _telling(found: Retrieved, options: GateOptions) -> tuple[tuple[Hit, ...], list[dict[str, Any]]]:
    """Return the hits worth injecting, and the others by reason.

    Not what only acknowledges, nor what a small store gives with anything.
    """
    hits = [hit for hit in found.hits if hit.metadata.get("role") != "assistant" or not says_nothing(_words_of(hit))]
    least = options.least_hit
    if hits and found.trace.get("small_store"):
        least = max(least, options.least_share * max(hit.score for hit in hits))
    telling, heard = tuple(hit for hit in hits if hit.score >= least), {hit.id for hit in hits}
    others = [
        *left_out("only acknowledges", [hit.id for hit in found.hits if hit.id not in heard]),
        *left_out(f"score below {least:.2f}", [hit.id for hit in hits if hit.score < least]),
    ]
    return telling, others


def _with_left_out(trace: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {**trace, "left_out": [*trace.get("left_out", ()), *others]} if others else dict(trace)


def _words_of(turn: Hit) -> str:
    """Return what was said, without who said it."""
    return turn.text.removeprefix(f"{turn.metadata.get('speaker')}: ")


def _refused(options: GateOptions, verdict: GateVerdict, found: Retrieved, message: str) -> Recollection | None:
    """Return the answer without a block when the evidence is too thin for one."""
    best = found.best
    floor = floor_for(options, verdict, found, message)
    if verdict.decision == "look" and best < floor:
        reason = f"{verdict.reason}; memory answers it with {best:.2f}, below {floor:.2f}"
        return Recollection(decision="skip", method="evidence", reason=reason)
    if not found.hits or (not verdict.continuation and best < options.needed_floor):
        return Recollection(decision="empty", method=verdict.method, reason="memory holds nothing about it")
    return None


def finish(
    services: Services, request: RecallRequest, verdict: GateVerdict, layout: Layout, started: datetime
) -> Recollection:
    """Keep to the thread's budget, log the decision and count what was injected, in one short write.

    A probe leaves no trace.
    """
    if request.probe:
        return layout.result
    now = services.clock()
    key = request.turn_key or turn_key_of(request.message, now)
    with services.stores.write(hasty=True) as unit:
        result = _within_budget(unit, services, layout)
        log_decision(unit, services, request.message, request.scope, verdict, result, started)
        injected = {hit.id: hit.kind for hit in result.hits}
        count_uses(unit, injected, kind="inject", persona=request.scope.persona, turn_key=key, now=now)
    return result


def _within_budget(unit: Unit, services: Services, layout: Layout) -> Recollection:
    """Return the result as it fits into the thread's budget; most threads have none."""
    scope = layout.scope
    if layout.limit is None and unit.budgets.find(scope.persona, scope.thread) is None:
        return layout.result
    from zomem_graph.nodes.steps.context import within_budget

    return within_budget(unit, services, layout)
