"""Recall for a message that goes on with earlier work: facts, episodes, open loops and recent turns.

What the message names is searched for; a bare "weiter" names nothing, so the last session answers for
it. Imported archives stay out of the way, what is resolved stays away (spec F60-F66).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.options import ContinuationOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.blend import (
    episode_parts,
    fact_parts,
    is_imported,
    loop_parts,
    recency,
    shared_words,
)
from zomem_graph.nodes.rules.calendar_days import ago
from zomem_graph.nodes.rules.followup import is_followup
from zomem_graph.nodes.rules.left_out import left_out
from zomem_graph.nodes.rules.ordinals import pointed_at
from zomem_graph.nodes.rules.topics import topic_words
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import Reach, reach
from zomem_graph.nodes.steps.changed import in_force_first, with_changes
from zomem_graph.nodes.steps.checkpoints import known_tasks
from zomem_graph.nodes.steps.describe import describe
from zomem_graph.nodes.steps.history import last_talk, with_history
from zomem_graph.nodes.steps.metrics import measured
from zomem_graph.nodes.steps.query import Query, Retrieved, just_after
from zomem_graph.nodes.steps.retrieve import retrieve
from zomem_graph.nodes.values import Explanation, Hit
from zomem_graph.stores.records import Episode, Fact, Loop, Turn
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import terms

__all__ = ["Continuing", "continue_work"]

_AHEAD = timedelta(days=1)  # clocks of several machines differ
_BY_MEANING = 0.7  # of the best score, for what shares no word with the topic
_KEPT_LONGER = ("active", "session", "checkpoint")  # tiers that belong to work in progress (spec F62)

_Recent = Turn | Loop | Episode | Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuing:
    """A message that goes on with earlier work; `history` are the texts before it, oldest first."""

    message: str
    scope: Scope
    history: Sequence[str] = ()
    limit: int = 6
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """What lies behind a bare message: the last talk, what is open, what happened, where tasks stand."""

    talk: Sequence[Turn] = ()
    loops: Sequence[Loop] = ()
    episodes: Sequence[Episode] = ()
    tasks: Sequence[Fact] = ()
    session: str | None = None
    latest: Mapping[str, Hit] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Topic:
    """What is searched for: the query, the words that count, and whether the message named them itself."""

    query: Query
    words: tuple[str, ...]
    named: bool


def continue_work(
    services: Services, asked: Continuing, *, options: ContinuationOptions | None = None
) -> Flow[Retrieved]:
    """Return what brings a model back into earlier work, best first."""
    with measured(services, "continuation", asked.scope) as one:
        found = yield from _continued(services, asked, options or services.options.continuation)
        one.results = len(found.hits)
    return found


def _continued(services: Services, asked: Continuing, chosen: ContinuationOptions) -> Flow[Retrieved]:
    now = asked.as_of or services.clock()
    since = ago(now, timedelta(days=chosen.window_days))
    past = yield from work(lambda: _past(services, asked, chosen, since=since, now=now))
    topic = _topic(asked, past, chosen)
    found: Retrieved = yield from _search(services, topic, asked.scope, since)
    weigh = _Weigher(topic, chosen, now=now, floor=services.options.gate.floor)
    hits = weigh.found(found.hits)
    if not topic.named:
        hits += weigh.last(past)
    widened = not hits and topic.named
    if widened:
        older: Retrieved = yield from retrieve(services, topic.query, asked.scope)
        hits = weigh.speaking([hit for hit in older.hits if not _imported(hit)])
        found = replace(older, degraded=found.degraded)
    kept = _best(hits, said=set(asked.history), limit=min(asked.limit, chosen.limit))
    trace = {
        "step": "continuation",
        "topic": " ".join(topic.words[:8]) if topic.named else "",
        "history": "given" if asked.history else f"{len(past.talk)} stored turns",
        "candidates": len(hits),
        "kept": len(kept),
        "widened": widened,
        "left_out": _left_out(kept, hits, found.hits, said=set(asked.history)),
    }
    return Retrieved(hits=tuple(kept), degraded=found.degraded, trace=trace)


def _topic(asked: Continuing, past: _Past, options: ContinuationOptions) -> _Topic:
    own = topic_words(asked.message)
    history = asked.history or [turn.content for turn in past.talk]
    thing = pointed_at(asked.message, history) or ""
    query = Query(text=" ".join([*own, thing]), limit=options.looks, as_of=asked.as_of, hyde=False)
    # Stored turns stand in for the conversation only where the message names nothing itself.
    if not own or (asked.history and is_followup(asked.message, history)):
        query = with_history(query, asked.message, history)
    if own or thing:
        return _Topic(query=query, words=terms(query.text), named=True)
    return _Topic(query=query, words=(*query.history_terms, *query.context_terms), named=False)


def _search(services: Services, topic: _Topic, scope: Scope, since: datetime) -> Flow[Retrieved]:
    """Search what keeps (facts, loops) and what passes (turns, episodes): the latter in the window only.

    Without a topic of its own loops and episodes are listed instead.
    """
    if not topic.words:
        return Retrieved(degraded=services.standing_notes())
    keeping = ("fact", "loop") if topic.named else ("fact",)
    passing = ("turn", "episode") if topic.named else ("turn",)
    keeps = yield from retrieve(services, replace(topic.query, kinds=keeping), scope)
    passes = yield from retrieve(services, replace(topic.query, kinds=passing, since=since), scope)
    degraded = tuple(dict.fromkeys([*keeps.degraded, *passes.degraded]))
    return Retrieved(hits=(*keeps.hits, *passes.hits), degraded=degraded)


def _past(
    services: Services, asked: Continuing, options: ContinuationOptions, *, since: datetime, now: datetime
) -> _Past:
    bare = not topic_words(asked.message)
    if asked.history and not bare:
        return _Past()
    until = now + _AHEAD if asked.as_of is None else just_after(asked.as_of)
    with services.stores.read() as unit:
        talk: Sequence[Turn] = ()
        if not asked.history:
            talk = last_talk(unit, asked.scope, since=since, until=until, limit=options.history)
        if not bare:
            return _Past(talk=talk)
        ours = reach(unit, asked.scope)
        personas = list(ours)
        loops = _waiting(unit, personas, asked, options, now)
        episodes = unit.episodes.newest(
            personas, since=since, until=until, without_trust="import", limit=options.loops
        )
        tasks = known_tasks(unit, personas, now) if asked.as_of is None else ()
        session = talk[-1].session if talk else asked.scope.thread
        shown: list[_Recent] = [*talk[-options.last_turns :], *loops, *episodes, *tasks]
        latest = _shown(unit, shown, ours, now)
        if asked.as_of is None:
            told = with_changes(unit, [*latest.values()], readers=ours, moment=now)
            latest = {hit.id: hit for hit in told}
        return _Past(talk=talk, loops=loops, episodes=episodes, tasks=tasks, session=session, latest=latest)


def _waiting(
    unit: Unit, personas: Sequence[str], asked: Continuing, options: ContinuationOptions, now: datetime
) -> list[Loop]:
    if asked.as_of is not None:
        return unit.loops.open_at(personas, asked.as_of, without_trust="import", limit=options.loops)
    return unit.loops.waiting(personas, now=now, without_trust="import", limit=options.loops)


def _shown(unit: Unit, things: Iterable[_Recent], ours: Reach, now: datetime) -> dict[str, Hit]:
    """Return hits for things that were not searched for but are simply the latest."""
    kinds = {thing.id: (thing, _KINDS[type(thing)]) for thing in things}
    described = describe(unit, [(id_, kind) for id_, (_thing, kind) in kinds.items()], readers=ours)
    hits = {}
    for id_, (thing, kind) in kinds.items():
        at = _spoken_of(thing)
        if id_ in described:
            hits[id_] = Hit(
                kind=kind,
                id=id_,
                text=described[id_].text,
                score=0.0,
                found_by=frozenset({"recent"}),
                metadata={**described[id_].metadata, "access": ours.paths[thing.persona]},
                created_at=thing.created_at if isinstance(thing, Loop) else at,
                explanation=Explanation(age_days=max(0.0, (now - at).total_seconds() / 86_400)),
            )
    return hits


def _spoken_of(thing: _Recent) -> datetime:
    match thing:
        case Turn():
            return thing.at
        case Loop():
            return thing.updated_at
        case Episode():
            return thing.happened_at
        case Fact():
            return thing.created_at


_KINDS = {Turn: "turn", Loop: "loop", Episode: "episode", Fact: "fact"}


@dataclass(frozen=True, slots=True)
class _Weigher:
    """Gives every memory its score for the message (spec F62)."""

    topic: _Topic
    options: ContinuationOptions
    now: datetime = field(kw_only=True)
    floor: float = field(kw_only=True)

    def found(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return what was found and belongs to the topic, with its score."""
        ours = self.speaking([hit for hit in hits if not _imported(hit)])
        facts = [self._matched(hit) for hit in ours if hit.kind == "fact" and self._is_recent_fact(hit)]
        turns = [self._matched(hit) for hit in ours if hit.kind == "turn"]
        episodes = [hit for hit in ours if hit.kind == "episode"]
        loops = [hit for hit in ours if hit.kind == "loop"]
        return [*facts, *turns, *self._in_order(episodes), *self._in_order(loops)]

    def last(self, past: _Past) -> list[Hit]:
        """Return the last session, what is open and what happened, with its score."""
        turns = [past.latest[turn.id] for turn in reversed(past.talk) if turn.id in past.latest]
        loops = [past.latest[loop.id] for loop in past.loops if loop.id in past.latest]
        episodes = [past.latest[one.id] for one in past.episodes if one.id in past.latest]
        tasks = [past.latest[one.id] for one in past.tasks if one.id in past.latest]

        def elsewhere(hit: Hit) -> tuple[bool, bool, float]:
            shared = shared_words(self.topic.words, hit.text)
            here = hit.metadata.get("session") == past.session
            return not here, not (shared.held and shared.enough), -float(hit.metadata.get("priority", 0.0))

        loops, episodes = sorted(loops, key=elsewhere), sorted(episodes, key=elsewhere)
        return [*self._in_order(tasks), *self._in_order(turns), *self._in_order(loops), *self._in_order(episodes)]

    def speaking(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return the hits that have to do with the topic: by a word, or by meaning alone nearly as well."""
        best = max((hit.score for hit in hits), default=0.0)
        least = max(self.floor, _BY_MEANING * best)
        return [hit for hit in hits if hit.score >= least or shared_words(self.topic.words, hit.text).held > 0]

    def _in_order(self, hits: Sequence[Hit]) -> list[Hit]:
        return [self._at(place, hit) for place, hit in enumerate(hits)]

    def _is_recent_fact(self, hit: Hit) -> bool:
        at_work = hit.metadata.get("tier") in _KEPT_LONGER
        return (at_work or self._recency(hit) > 0) and shared_words(self.topic.words, hit.text).enough

    def _matched(self, hit: Hit) -> Hit:
        parts = fact_parts(hit.score, shared_words(self.topic.words, hit.text), self._recency(hit))
        return _scored(hit, parts)

    def _at(self, place: int, hit: Hit) -> Hit:
        recent = self._recency(hit)
        if hit.kind == "loop":
            return _scored(hit, loop_parts(place, float(hit.metadata.get("priority", 0.0)), recent))
        return _scored(hit, episode_parts(place, recent))

    def _recency(self, hit: Hit) -> float:
        last = hit.metadata.get("last_accessed") or hit.metadata.get("updated_at")
        at = max(hit.created_at, datetime.fromisoformat(last)) if isinstance(last, str) else hit.created_at
        return recency((self.now - at).total_seconds() / 86_400, window_days=self.options.window_days)


def _scored(hit: Hit, parts: Mapping[str, float]) -> Hit:
    total = min(1.0, sum(parts.values()))
    return replace(hit, score=total, explanation=replace(hit.explanation, boosts=parts, raw_score=total))


def _imported(hit: Hit) -> bool:
    trust, entity = hit.metadata.get("trust"), hit.metadata.get("entity")
    return is_imported(trust=str(trust), entity=entity if isinstance(entity, str) else None)


def _best(hits: Iterable[Hit], *, said: set[str], limit: int) -> list[Hit]:
    """Return each thing once, best first; what stands in the conversation already is left out."""
    best: dict[str, Hit] = {}
    for hit in hits:
        known = best.get(hit.id)
        if _said(hit) in said or (known is not None and known.score >= hit.score):
            continue
        best[hit.id] = hit
    return in_force_first(sorted(best.values(), key=lambda hit: -hit.score)[:limit])


def _left_out(
    kept: Sequence[Hit], weighed: Sequence[Hit], found: Sequence[Hit], *, said: set[str]
) -> list[dict[str, Any]]:
    """Return what was found and is not kept, by reason."""
    shown, ours = {hit.id for hit in kept}, {hit.id for hit in weighed}
    others = {hit.id: hit for hit in weighed if hit.id not in shown}
    return [
        *left_out("imported, or not of this work", [hit.id for hit in found if hit.id not in ours]),
        *left_out("stands in the conversation", [id_ for id_, hit in others.items() if _said(hit) in said]),
        *left_out(f"behind the best {len(kept)}", [id_ for id_, hit in others.items() if _said(hit) not in said]),
    ]


def _said(hit: Hit) -> str | None:
    if hit.kind != "turn":
        return None
    return hit.text.removeprefix(f"{hit.metadata.get('speaker')}: ")
