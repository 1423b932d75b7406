"""Streaming capture: what a conversation states outright is known before it ends, until the whole is read (F49).

While it runs, the surest few facts of each stretch are stored as provisional: they last a session at most. At
its end everything is captured as one conversation; what is found again is confirmed and lasts as long as such
facts do, and what is not found again is retracted. When the model fails at the end, that waits until the
queue has read the conversation.
"""

from collections.abc import Sequence
from dataclasses import replace

from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.extract import facts_in
from zomem_graph.nodes.rules.quotes import quote_occurs
from zomem_graph.nodes.rules.tiers import wall_clock_expiry
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.ending import retract_one
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.nodes.steps.observe import clean, would_be_turns
from zomem_graph.nodes.steps.reading import as_facts, extraction_models, read_turns
from zomem_graph.nodes.steps.remember import store_facts
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.records import Fact, Turn
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit

__all__ = ["LEAST_SURE", "MOST_FACTS", "WAITING_MESSAGE", "learn_provisionally", "settle_provisional"]

LEAST_SURE = 0.8
MOST_FACTS = 5
"""Provisional facts a stretch (spec F49)."""
_NOT_CONFIRMED = "not found again when the whole conversation was read"
_MARK = "provisional_tier"  # the tier a fact gets when it is confirmed
WAITING_MESSAGE = "provisional_message"  # by its digest: with the fact it is forgotten, though it is stored later


def learn_provisionally(
    services: Services, stretch: Sequence[Said], *, scope: Scope, session: str, model: str | None = None
) -> Flow[list[Fact]]:
    """Store the surest facts of a stretch, at most five, as provisional; return those that are new."""
    turns: Sequence[Turn] = yield from work(lambda: _turns(services, stretch, scope, session))
    found = [fact for turn in turns for fact in _by_rule(services, turn, scope)]
    models = extraction_models(services, model)
    if models and any(turn.role == "user" for turn in turns):
        reading = yield from read_turns(services, turns, models)
        found += as_facts(reading, services, persona=scope.persona, source="stream")[0]
    sure = sorted((fact for fact in found if fact.sureness >= LEAST_SURE), key=lambda fact: -fact.sureness)
    digests: dict[str | None, str] = {turn.id: turn.digest for turn in turns}
    # The turns are stored with the whole; until then only the quote says where a fact is from.
    marked = [
        replace(
            fact,
            turn_id=None,
            source=_source(session),
            tier="session",
            said_at=fact.at,
            metadata={_MARK: fact.tier, WAITING_MESSAGE: digests[fact.turn_id]},
        )
        for fact in sure[:MOST_FACTS]
    ]
    stored: list[Fact] = yield from work(lambda: _store(services, marked))
    services.wake_worker()
    return stored


def settle_provisional(services: Services, *, scope: Scope, session: str, turn_ids: Sequence[str]) -> tuple[int, int]:
    """Confirm what was found again in these turns and retract what was not; return how many of each.

    A provisional fact that was found again has an origin besides the stream. What was said in other turns waits on.
    """
    with services.stores.read() as unit:
        waiting = unit.facts.of_source(scope.persona, _source(session))
        if not waiting:
            return 0, 0
        said = [turn.content for turn in unit.turns.find(turn_ids)]
        origins = unit.provenance.of([fact.id for fact in waiting])
    again = {one.fact_id for one in origins if one.source != _source(session)}
    confirmed = [fact for fact in waiting if fact.id in again]
    gone = [
        fact
        for fact in waiting
        if fact.id not in again and any(quote_occurs(fact.quote or "", content) for content in said)
    ]
    with services.stores.write() as unit:
        for fact in confirmed:
            _confirm(unit, fact)
    for fact in gone:
        retract_one(services, fact.id, _NOT_CONFIRMED, scope)
    return len(confirmed), len(gone)


def _turns(services: Services, stretch: Sequence[Said], scope: Scope, session: str) -> list[Turn]:
    cleaned, _redacted = clean(stretch, services.options.write)
    with services.stores.read() as unit:
        return would_be_turns(unit, cleaned, scope=scope, session=session, now=services.clock())


def _by_rule(services: Services, turn: Turn, scope: Scope) -> list[NewFact]:
    speaker = None if turn.speaker == turn.role else turn.speaker
    found = []
    for one in facts_in(turn.content, speaker=speaker, role=turn.role):
        fact = NewFact(
            entity=one.entity,
            key=one.key,
            value=one.value,
            persona=scope.persona,
            category=one.category,
            tier=one.tier,
            confidence=one.confidence,
            many=one.many,
            turn_id=turn.id,
            quote=one.quote,
            at=turn.at,
            method="rule",
        )
        try:
            found.append(fact.checked(services.options.write))
        except InvalidInput:
            continue
    return found


def _store(services: Services, marked: Sequence[NewFact]) -> list[Fact]:
    now = services.clock()
    stored = written(services.stores, lambda unit: store_facts(unit, services, marked, now=now))
    return [one.fact for one in stored if one.outcome not in ("unchanged", "forgotten")]


def _confirm(unit: Unit, fact: Fact) -> None:
    """Give a fact the tier and the time it would have had without the stream, and the source that confirmed it."""
    tier = str(fact.metadata.get(_MARK, "stable"))
    metadata = {name: value for name, value in fact.metadata.items() if name not in (_MARK, WAITING_MESSAGE)}
    expires = wall_clock_expiry(tier, fact.created_at)
    values = {"tier": tier, "given_tier": None, "expires_at": expires, "source": "auto-capture:stream"}
    unit.facts.change(fact.id, **values, metadata=metadata)
    unit.items.set_expiry(fact.id, expires)


def _source(session: str) -> str:
    return f"streaming:{session}"
