"""Decide whether a message needs memory: by its words, else by what memory itself holds, else by a model."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from zomem_graph.nodes.flow import Failed, Flow, Question, attempt, work
from zomem_graph.nodes.options import GateOptions
from zomem_graph.nodes.ports import Ask, ChatModel, Reply, Services
from zomem_graph.nodes.prompts import gate_ask
from zomem_graph.nodes.rules.cues import Verdict, judge, read_cues
from zomem_graph.nodes.rules.doubt import in_doubt
from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.followup import is_followup
from zomem_graph.nodes.rules.replies import GateReply, read_gate
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.query import Retrieved
from zomem_graph.nodes.values import GateVerdict, Hit, Recollection
from zomem_graph.stores.identity import content_hash, new_id
from zomem_graph.stores.records import GateDecision
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import terms

__all__ = ["EXIT_CODES", "ask_in_doubt", "decide", "decide_by_words", "floor_for", "log_decision"]

EXIT_CODES = {"inject": 0, "skip": 2, "empty": 3}  # spec 2.6; 1 is an error
_SHOWN = 3  # finds that the model sees
_DECISIONS = {Verdict.SKIP: "skip", Verdict.UNSURE: "look"}


def decide_by_words(message: str, history: Sequence[str] = ()) -> GateVerdict:
    """Return what the words of a message say, within its conversation: skip it, recall, or look into memory."""
    cues = read_cues(message)
    judgement = judge(cues, leaning=bool(history) and bool(is_followup(message, history)))
    continuation = judgement.verdict is Verdict.CONTINUE
    decision = _DECISIONS.get(judgement.verdict, "recall")
    return GateVerdict(
        decision=decision,  # type: ignore[arg-type]  # one of the three by the table above
        method="continuation" if continuation else "words",
        reason=judgement.reason,
        continuation=continuation,
        question=cues.is_question,
        unless_named=judgement.unless_named,
        keywords=cues.keywords,
    )


def decide(services: Services, message: str, scope: Scope, history: Sequence[str] = ()) -> Flow[GateVerdict]:
    """Return what the words say, and look into memory where they pass for general but name what it knows.

    "Where does ana live?" is a question for everybody, unless there is an Ana.
    """
    verdict = decide_by_words(message, history)
    if not verdict.unless_named:
        return verdict
    from zomem_graph.nodes.steps.names import names_of_ones_own

    names = yield from attempt(work(lambda: names_of_ones_own(services, message, scope)))
    if isinstance(names, Failed):
        note = f"names could not be looked up: {names.error}"
        return replace(verdict, reason=f"{verdict.reason}; {note}", degraded=(f"gate: {note}",))
    if not names:
        return verdict
    return replace(verdict, decision="look", reason=f"memory knows {names[0]}", unless_named=False)


def floor_for(options: GateOptions, verdict: GateVerdict, found: Retrieved, message: str) -> float:
    """Return what the best hit must reach where the words of a message do not decide."""
    names = found.trace.get("names")
    if names and verdict.question:
        about = any(_is_about(hit, names) for hit in found.hits[:1])
        return options.needed_floor if about else options.named_floor
    telling = max(len(terms(message)), found.trace.get("telling", 0))
    return options.floor if telling >= options.telling_words else options.short_floor


def _is_about(hit: Hit, names: Sequence[str]) -> bool:
    """Say whether a hit is a fact about the very thing that is named, and not one that only mentions it."""
    return hit.kind == "fact" and entity_key(str(hit.metadata.get("entity"))) in names


def ask_in_doubt(
    services: Services, message: str, verdict: GateVerdict, found: Retrieved
) -> Flow[tuple[GateVerdict, Retrieved]]:
    """Ask the chat model where neither words nor evidence decide; fail open, with a note in `degraded`.

    Nothing is asked twice: a host waits for the answer.
    """
    options = services.options.gate
    best = found.best
    if not options.ask_model or verdict.decision != "look":
        return verdict, found
    if not in_doubt(best, floor_for(options, verdict, found, message), width=options.uncertain):
        return verdict, found
    model = services.chat("gate")
    if model is None:
        return verdict, found
    told: GateReply | Failed = yield from attempt(_asked(model, _question(message, found.hits, options)))
    if isinstance(told, Failed):
        note = f"gate: {told.error}"
        opened = replace(verdict, decision="recall", method="default", reason="no answer of the model in doubt")
        return opened, replace(found, degraded=(*found.degraded, note))
    said = told.reason or ("needs memory" if told.needed else "needs no memory")
    decided = replace(
        verdict,
        decision="recall" if told.needed else "skip",
        method="model",
        reason=f"{said}; memory answers it with {best:.2f}",
        keywords=told.keywords or verdict.keywords,
    )
    return decided, found


def _question(message: str, hits: Sequence[Hit], options: GateOptions) -> Ask:
    shown = [hit.text for hit in hits[:_SHOWN]]
    return gate_ask(message, shown, max_tokens=options.max_tokens, deadline_seconds=options.deadline_seconds)


def _asked(model: ChatModel, ask: Ask) -> Flow[GateReply]:
    reply: Reply = yield Question(model, ask)
    return read_gate(reply.text)


def log_decision(
    unit: Unit,
    services: Services,
    message: str,
    scope: Scope,
    verdict: GateVerdict,
    answer: Recollection,
    started: datetime,
) -> None:
    """Write one decision down, with the message as a hash only (spec T20)."""
    now = services.clock()
    unit.journal.decided(
        GateDecision(
            id=new_id(),
            persona=scope.persona,
            decision=answer.decision,
            method=answer.method,
            reason=answer.reason,
            exit_code=EXIT_CODES[answer.decision],
            latency_ms=max(0.0, (now - started).total_seconds() * 1000),  # a clock may jump back
            message_hash=content_hash(message),
            keywords=list(verdict.keywords),
            created_at=now,
        )
    )
