"""Look for what cannot both hold: by rule, then by asking a model about what lies near each other (spec F83).

No model is asked inside a transaction. What it affirms is recorded as pending; nothing is retired.
"""

from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from itertools import groupby

from zomem_graph.nodes.flow import Failed, Flow, Question, Together, work
from zomem_graph.nodes.ports import Ask, ChatModel, Reply, Services, Vector
from zomem_graph.nodes.prompts import conflict_ask
from zomem_graph.nodes.rules.closeness import ConflictOptions, near_pairs
from zomem_graph.nodes.rules.replies import read_conflict
from zomem_graph.nodes.steps.conflicts import MOST_COMPARED, MOST_STATED, detect_conflicts, entity_of, with_facts
from zomem_graph.nodes.steps.settle import CONTRADICTS, conflict_between, link_between, more_private
from zomem_graph.nodes.values import Detected
from zomem_graph.stores.records import Conflict, Fact
from zomem_graph.stores.unit import Unit

__all__ = ["look_for_conflicts"]

_ASKED = "conflicts asked"
_REMEMBERED = 4_000  # pairs that were asked about; the oldest go
_Near = tuple[float, Fact, Fact]


def look_for_conflicts(
    services: Services, personas: Sequence[str], *, options: ConflictOptions | None = None
) -> Flow[Detected]:
    """Return the conflicts that were not known yet, how many pairs a model judged, and what was missing."""
    chosen = options or services.options.conflicts
    found: list[Conflict] = yield from work(partial(_by_rule, services, personas))
    near: list[_Near] = yield from work(partial(_near, services, personas, chosen))
    model = services.chat("extraction") if near else None
    judged: list[tuple[_Near, str | None]] = []
    notes: list[str] = []
    if model is not None:
        for start in range(0, len(near), max(1, chosen.at_once)):
            some = near[start : start + max(1, chosen.at_once)]
            told = yield Together([_judged(model, pair, chosen) for pair in some])
            notes += [f"conflicts: {one.error}" for one in told if isinstance(one, Failed)]
            judged += [(pair, one) for pair, one in zip(some, told, strict=True) if not isinstance(one, Failed)]
    elif chosen.by_meaning:
        judged = [(pair, f"they lie near each other ({pair[0]:.2f})") for pair in near]
    detector = "meaning" if model is None else "model"
    found += yield from work(partial(_record, services, judged, detector))
    return (yield from work(partial(_shown, services, found, len(judged) if model else 0, notes)))


def _by_rule(services: Services, personas: Sequence[str]) -> list[Conflict]:
    with services.stores.write() as unit:
        return detect_conflicts(unit, personas, now=services.clock())


def _near(services: Services, personas: Sequence[str], options: ConflictOptions) -> list[_Near]:
    """Return the pairs worth a question, nearest first; none without an embedder."""
    if services.embedder is None:
        return []
    space, usual = services.embedder.identity, services.embedder.usual
    found: list[_Near] = []
    with services.stores.read() as unit:
        asked = _asked_before(unit)
        for _entity, group in groupby(unit.conflicts.everything_stated(personas, most=MOST_STATED), key=entity_of):
            facts = sorted(group, key=lambda fact: fact.created_at)[-MOST_COMPARED:]
            if len(facts) > 1:
                vectors = _vectors(unit, facts, space)
                found += near_pairs(facts, vectors, usual=usual, options=options)
        fresh = [pair for pair in sorted(found, key=lambda pair: -pair[0]) if _mark(*pair[1:]) not in asked]
        kept: list[_Near] = []
        for pair in fresh:
            if len(kept) < options.most_asked and unit.conflicts.between(pair[1].id, pair[2].id) is None:
                kept.append(pair)
    return kept


def _vectors(unit: Unit, facts: Sequence[Fact], space: str) -> dict[str, Vector]:
    numbers = unit.items.numbers_of([fact.id for fact in facts])
    found = unit.items.vectors_of(list(numbers.values()), embedder=space)
    by_number = dict(zip(found.nums, found.matrix, strict=True))
    return {id_: by_number[num] for id_, num in numbers.items() if num in by_number}


def _judged(model: ChatModel, pair: _Near, options: ConflictOptions) -> Flow[str | None]:
    """Return why two statements cannot both hold, None when they can. Raises ModelError for no clear answer."""
    _near, newer, older = pair
    ask = conflict_ask(
        older.text, newer.text, max_tokens=options.max_tokens, deadline_seconds=options.deadline_seconds
    )
    reply: Reply = yield from _question(model, ask)
    return read_conflict(reply.text)


def _question(model: ChatModel, ask: Ask) -> Flow[Reply]:
    reply: Reply = yield Question(model, ask)
    return reply


def _record(services: Services, judged: Sequence[tuple[_Near, str | None]], detector: str) -> list[Conflict]:
    """Write down what clashes, and which pairs were judged; what changed meanwhile is left out."""
    if not judged:
        return []
    now = services.clock()
    with services.stores.write() as unit:
        ids = sorted({fact.id for (_near, *pair), _why in judged for fact in pair})
        current = {fact.id for fact in unit.facts.find(ids) if fact.state == "current"}
        found = [
            conflict_between(
                newer,
                older.id,
                conflict_type="semantic",
                resolution="pending",
                detector=detector,
                note=why,
                now=now,
                persona=more_private(newer, older),
                score=round(near, 4),
            )
            for (near, newer, older), why in judged
            if why is not None and {newer.id, older.id} <= current
        ]
        unit.conflicts.add(found)
        unit.links.add([link_between(one.fact_id, one.conflicting_fact_id, CONTRADICTS, now) for one in found])
        if detector == "model":
            marks = [*_asked_before(unit), *(_mark(newer, older) for (_near, newer, older), _why in judged)]
            unit.journal.set_meta(_ASKED, " ".join(list(dict.fromkeys(marks))[-_REMEMBERED:]))
    return found


def _shown(services: Services, found: Sequence[Conflict], asked: int, notes: Sequence[str]) -> Detected:
    with services.stores.read() as unit:
        return Detected(with_facts(unit, found), asked=asked, degraded=tuple(dict.fromkeys(notes)))


def _asked_before(unit: Unit) -> dict[str, None]:
    return dict.fromkeys((unit.journal.meta(_ASKED) or "").split())


def _mark(one: Fact, other: Fact) -> str:
    """Return a short name of a pair of facts; a changed value is another fact, so it is asked about again."""
    return blake2b("\n".join(sorted((one.id, other.id))).encode(), digest_size=6).hexdigest()
