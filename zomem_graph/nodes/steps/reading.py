"""Let a model read turns window by window: ask, repair once, fall back to another model, lose nothing quietly.

What comes out is every fact with the user turn its quote is from, why others were left out, and what went
wrong. Whoever called decides what becomes of it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from zomem_graph.nodes.flow import Flow, Question
from zomem_graph.nodes.options import CaptureOptions
from zomem_graph.nodes.ports import ChatModel, Reply, Services
from zomem_graph.nodes.prompts import extraction_ask, repair_ask
from zomem_graph.nodes.rules._statements import own_sentences
from zomem_graph.nodes.rules.backing import LONGEST_VALUE, bears, denies, said_around, states_the_rule
from zomem_graph.nodes.rules.extract import SHORTEST_QUOTE, columns
from zomem_graph.nodes.rules.figures import other_figures
from zomem_graph.nodes.rules.keys import is_many
from zomem_graph.nodes.rules.replies import Extracted, Readout, ReplyUnreadable, read_facts
from zomem_graph.nodes.rules.secrets import looks_secret
from zomem_graph.nodes.rules.sources import learned_source
from zomem_graph.nodes.rules.tiers import CATEGORIES, TIERS
from zomem_graph.nodes.rules.windows import windows
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.stores.errors import InvalidInput, ModelError
from zomem_graph.stores.records import Turn

__all__ = ["Reading", "as_facts", "extraction_models", "read_turns"]


@dataclass(slots=True)
class Reading:
    """What the models made of some turns; `failed` says why it is not all of it, None when it is.

    With each fact come the turn of the user its quote is from and what he said there, if he did.
    """

    found: list[tuple[Extracted, Turn | None, str]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    model: str = ""
    failed: str | None = None
    notes: list[str] = field(default_factory=list)


def extraction_models(services: Services, named: str | None) -> list[ChatModel]:
    """Return who may be asked for facts, in order: the one named or set, then the fallback (spec F42)."""
    models = [services.chat("extraction", named=named), services.chat("capture_fallback")]
    return [model for model in models if model is not None]


def read_turns(services: Services, turns: Sequence[Turn], models: Sequence[ChatModel]) -> Flow[Reading]:
    """Ask about every window; a model that fails is not asked again, and the next one takes its place."""
    options = services.options.capture
    reading = Reading()
    waiting = list(models)
    # Of the whole turns: a piece of one does not show that it stands in a text of somebody else.
    own = {turn.id: own_sentences(turn.content) for turn in turns if models and turn.role == "user"}
    for window in windows(turns, options, cut=_piece):
        readout: Readout | None = None
        while waiting and readout is None:
            try:
                readout, reading.model = yield from _ask(waiting[0], window)
            except ModelError as error:
                reading.notes.append(f"{waiting.pop(0).identity}: {type(error).__name__}: {error}")
        if readout is None:
            reading.failed = "; ".join(reading.notes) or "no chat model"
            return reading
        _take(reading, readout, window, own, options)
    return reading


def as_facts(
    reading: Reading, services: Services, *, persona: str, source: str
) -> tuple[list[NewFact], Counter[str]]:
    """Return what may be stored of a reading, and why the rest may not, counted.

    A user's fact needs a user's words: the quote must stand in a turn of the user and bear the fact (design §5).
    """
    skipped = Counter(reading.skipped)
    kept: list[NewFact] = []
    for fact, turn, said in reading.found:
        if turn is None:
            skipped["quote not said by the user"] += 1
        elif (reason := _refused(fact, services.options.capture) or _unsaid(fact, turn, said)) is not None:
            skipped[reason] += 1
        else:
            try:
                kept.append(_as_fact(fact, turn, persona, source).checked(services.options.write))
            except InvalidInput:
                skipped["cannot be stored"] += 1
    return kept, skipped


def _ask(model: ChatModel, window: Sequence[Turn]) -> Flow[tuple[Readout, str]]:
    """Ask once, and once more with the fault named when the reply cannot be read whole; keep the fuller one."""
    ask = extraction_ask(window)
    reply: Reply = yield Question(model, ask)
    first: Readout | None = None
    try:
        first = read_facts(reply.text)
        fault = _fault(first)
    except ReplyUnreadable as error:
        fault = str(error)
    if first is None or not first.whole:
        reply = yield Question(model, repair_ask(ask, reply.text, fault))
        try:
            second = read_facts(reply.text)
        except ReplyUnreadable:
            if first is None:
                raise
        else:
            fuller = first is None or second.whole or len(second.facts) > len(first.facts)
            first = second if fuller else first
    assert first is not None
    return first, f"{reply.provider}:{reply.model}"


def _fault(readout: Readout) -> str:
    if readout.cut:
        return "It broke off before its end; give fewer facts, with short values and quotes."
    return f"{readout.unread} entries lack entity, key, value or source_quote as text, or stand in a second list."


def _take(
    reading: Reading,
    readout: Readout,
    window: Sequence[Turn],
    own: Mapping[str, Sequence[str]],
    options: CaptureOptions,
) -> None:
    """Keep the surest facts of a window up to the most there may be, and say what was lost."""
    surest = sorted(readout.facts, key=lambda fact: -fact.confidence)[: options.most_facts_a_window]
    kept = [fact for fact in readout.facts if fact in surest]
    if len(readout.facts) > len(kept):
        reading.skipped[f"more than {options.most_facts_a_window} in one window"] += len(readout.facts) - len(kept)
    for fact in kept:
        reading.found.append((fact, *_said_in(window, own, fact.quote)))
    if not readout.whole:
        reading.skipped["entry could not be read"] += max(1, readout.unread)
        reading.failed = "the reply broke off" if readout.cut else f"{readout.unread} entries could not be read"


def _said_in(window: Sequence[Turn], own: Mapping[str, Sequence[str]], quote: str) -> tuple[Turn | None, str]:
    """Return the turn in which the user said a quote himself, and the sentences that hold it."""
    for turn in window:
        if (said := said_around(quote, own.get(turn.id, ()))) is not None:
            return turn, said
    return None, ""


def _refused(fact: Extracted, options: CaptureOptions) -> str | None:
    if fact.confidence < options.least_confidence:
        return "too unsure"
    if looks_secret(fact.value) or looks_secret(f"{fact.key} = {fact.value}"):
        return "looks like a secret"
    if is_many(fact.key) and columns(fact.quote) < SHORTEST_QUOTE:
        return "said too shortly"
    return None


def _unsaid(fact: Extracted, turn: Turn, said: str) -> str | None:
    """Return why what the user said does not say this fact, None when it does."""
    if len(fact.value) > LONGEST_VALUE:
        return "longer than one statement"
    if not bears(said, entity=fact.entity, key=fact.key, value=fact.value, speaker=turn.speaker or ""):
        return "not what the quote says"
    if other_figures(said, fact.value):
        return "other figures than were said"
    if denies(said, key=fact.key, value=fact.value):
        return "denied by what was said"
    rule = "convention"
    if (fact.category == rule or fact.key.casefold().startswith(rule)) and not states_the_rule(said, fact.value):
        return "no rule of the user's own"
    return None


def _as_fact(fact: Extracted, turn: Turn, persona: str, source: str) -> NewFact:
    return NewFact(
        entity=fact.entity,
        key=fact.key,
        value=fact.value,
        persona=persona,
        category=fact.category if fact.category in CATEGORIES else "fact",
        tier=fact.tier if fact.tier in TIERS else "stable",
        confidence=fact.confidence,
        source=learned_source(source),
        trust=turn.trust,
        turn_id=turn.id,
        quote=fact.quote,
        at=turn.at,
        method="model",
    )


def _piece(turn: Turn, content: str) -> Turn:
    return replace(turn, content=content)
