"""Sum up episodes that are old and many, and then the summaries themselves (spec F79, F80).

The model is asked outside any transaction; what it says is stored only if its sources are still as they were.
Nothing is removed: sources stay as they are, know what they went into, and are left out of later summaries.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from zomem_graph.nodes.flow import Failed, Flow, Question, attempt, work
from zomem_graph.nodes.options import SummaryOptions
from zomem_graph.nodes.ports import ChatModel, Reply, Services
from zomem_graph.nodes.prompts import repair_ask, summary_ask
from zomem_graph.nodes.rules.replies import ReplyUnreadable
from zomem_graph.nodes.rules.secrets import redact
from zomem_graph.nodes.rules.summaries import (
    Condensed,
    Told,
    extract,
    fault_of,
    how_it_went,
    how_many,
    read_condensed,
    without_heading,
)
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.records import Episode, Link
from zomem_graph.stores.retry import written
from zomem_graph.stores.summary_records import Summary
from zomem_graph.stores.unit import Unit

__all__ = ["Summarised", "drop_summaries", "remove_summaries", "summarise_due"]

_BY_RULES = "rules"
_KNOWN = 20  # earlier summaries that a new one is compared with


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarised:
    """What was summed up. `changed` counts groups whose sources changed meanwhile; they wait for the next run."""

    written: tuple[Summary, ...] = ()
    changed: int = 0
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """What goes into one summary, oldest first; `known` are the texts of earlier summaries."""

    persona: str
    level: int
    told: tuple[Told, ...]
    episodes: int
    until: datetime
    known: tuple[str, ...] = ()


def summarise_due(
    services: Services, limit: int = 10, *, dry_run: bool = False, options: SummaryOptions | None = None
) -> Flow[Summarised]:
    """Write the summaries that are due, at most `limit`, and return them.

    A dry run writes nothing, asks no model and returns what rules would say. What a model gets wrong is done
    by rules, and `degraded` says so.
    """
    chosen = options or services.options.summaries
    model = None if dry_run else services.chat("summarization")
    done: list[Summary] = []
    notes: list[str] = []
    left: set[tuple[str, int]] = set()
    for _ in range(max(0, limit)):
        group = yield from work(lambda: _next(services, chosen, left))
        if group is None:
            break
        condensed, method, note = yield from _condensed(group, model, chosen)
        if note:
            notes.append(note)
        summary = _summary(group, condensed, method, services.clock())
        if dry_run:
            left.add((group.persona, group.level))
            done.append(summary)
        elif (yield from work(partial(_stored, services, group, summary))):
            done.append(summary)
        else:
            left.add((group.persona, group.level))
    if done and not dry_run:
        services.wake_worker()
    return Summarised(written=tuple(done), changed=0 if dry_run else len(left), degraded=tuple(dict.fromkeys(notes)))


def drop_summaries(unit: Unit, source_ids: Sequence[str]) -> list[Summary]:
    """Remove every summary that any of these went into, and return them; the other sources are summed up anew."""
    found = unit.summaries.above(source_ids)
    remove_summaries(unit, found)
    return found


def remove_summaries(unit: Unit, summaries: Sequence[Summary]) -> None:
    """Remove summaries from tables, search and links."""
    ids = [summary.id for summary in summaries]
    if ids:
        unit.items.purge(ids)
        unit.links.purge(ids)
        unit.summaries.purge(ids)


def _next(services: Services, options: SummaryOptions, left: set[tuple[str, int]]) -> _Group | None:
    """Return the next group that is due: episodes first, then upward."""
    before = services.clock() - timedelta(days=options.older_days)
    with services.stores.read() as unit:
        for (persona, level), count in sorted(unit.summaries.waiting().items(), key=lambda one: one[0][::-1]):
            wanted = how_many(count, threshold=options.threshold, most=options.most)
            if wanted and (persona, level) not in left:
                told, episodes, until = _told(unit, persona, level, before, wanted)
                if len(told) > 1:
                    known = unit.summaries.newest([persona], limit=_KNOWN)
                    texts = tuple(one.summary for one in known)
                    return _Group(
                        persona=persona, level=level, told=told, episodes=episodes, until=until, known=texts
                    )
    return None


def _told(
    unit: Unit, persona: str, level: int, before: datetime, wanted: int
) -> tuple[tuple[Told, ...], int, datetime]:
    if level == 0:
        ids = unit.summaries.loose_episodes(persona, before=before, limit=wanted)
        episodes = unit.episodes.find(ids)[::-1]
        told = tuple(sorted(map(_of_episode, episodes), key=lambda one: (one.at, one.id)))
        return told, len(told), max((one.at for one in told), default=before)
    summaries = unit.summaries.loose_summaries(persona, level=level, limit=wanted)
    until = max((one.last_at for one in summaries), default=before)
    return _of_summaries(unit, summaries), sum(one.episodes for one in summaries), until


def _of_episode(episode: Episode) -> Told:
    at = episode.happened_at
    ended = {episode.outcome: 1}
    return Told(id=episode.id, text=episode.summary, at=at, until=at, ended=ended, outcome=episode.outcome)


def _of_summaries(unit: Unit, summaries: Sequence[Summary]) -> tuple[Told, ...]:
    ended = unit.summaries.endings([one.id for one in summaries])
    return tuple(
        Told(
            id=one.id,
            text=without_heading(one.summary) if one.method == _BY_RULES else one.summary,
            at=one.first_at,
            until=one.last_at,
            ended=ended[one.id],
            decisions=one.key_decisions,
            outcomes=one.key_outcomes,
        )
        for one in summaries
    )


def _condensed(group: _Group, model: ChatModel | None, options: SummaryOptions) -> Flow[tuple[Condensed, str, str]]:
    """Return the summary, who wrote it, and what went wrong with the model ("" when nothing did)."""
    note = ""
    if model is not None:
        said = yield from attempt(_asked(model, group, options))
        if isinstance(said, Failed):
            note = f"summary by rules: {said.error}"
        else:
            condensed, method = said
            fault = fault_of(condensed, group.told, known=group.known)
            if fault is None:
                return condensed, method, ""
            note = f"summary by rules: the model's was not used, {fault}"
    return extract(group.told, max_tokens=options.max_tokens), _BY_RULES, note


def _asked(model: ChatModel, group: _Group, options: SummaryOptions) -> Flow[tuple[Condensed, str]]:
    """Ask the model, and once more with the fault named when its reply cannot be read."""
    ask = summary_ask(
        [(one.at.date().isoformat(), one.outcome or how_it_went([one]), one.whole) for one in group.told],
        max_tokens=options.max_tokens,
        deadline_seconds=options.deadline_seconds,
    )
    reply: Reply = yield Question(model, ask)
    try:
        condensed = read_condensed(reply.text)
    except ReplyUnreadable as error:
        reply = yield Question(model, repair_ask(ask, reply.text, str(error)))
        condensed = read_condensed(reply.text)
    safe = replace(
        condensed,
        summary=redact(condensed.summary)[0],
        decisions=tuple(redact(point)[0] for point in condensed.decisions),
        outcomes=tuple(redact(point)[0] for point in condensed.outcomes),
    )
    return safe, f"{reply.provider}:{reply.model}"


def _summary(group: _Group, condensed: Condensed, method: str, now: datetime) -> Summary:
    before = Condensed(summary="\n".join(one.whole for one in group.told))
    return Summary(
        id=new_id(),
        persona=group.persona,
        level=group.level + 1,
        summary=condensed.summary,
        key_decisions=list(condensed.decisions),
        key_outcomes=list(condensed.outcomes),
        method=method,
        first_at=min(one.at for one in group.told),
        last_at=group.until,
        episodes=group.episodes,
        original_tokens=before.tokens,
        tokens=condensed.tokens,
        created_at=now,
        sources=tuple(one.id for one in group.told),
    )


def _stored(services: Services, group: _Group, summary: Summary) -> bool:
    """Store a summary if its sources are still there, loose and as they were; return whether it was."""

    def write(unit: Unit) -> bool:
        if _now_told(unit, group) != {one.id: one for one in group.told} or unit.summaries.taken(summary.sources):
            return False
        unit.summaries.add(summary)
        # Without mentions: in default recall it must not stand beside what it was made from.
        text = "\n".join([summary.summary, *summary.key_decisions, *summary.key_outcomes])
        unit.items.add(
            [NewItem(id=summary.id, kind="summary", persona=summary.persona, text=text, created_at=summary.last_at)]
        )
        unit.links.add(
            [
                Link(
                    source_id=summary.id,
                    target_id=source,
                    relation="derived_from",
                    weight=1.0,
                    created_at=summary.created_at,
                )
                for source in summary.sources
            ]
        )
        return True

    return written(services.stores, write)


def _now_told(unit: Unit, group: _Group) -> dict[str, Told]:
    ids = [one.id for one in group.told]
    if group.level:
        return {one.id: one for one in _of_summaries(unit, unit.summaries.find(ids))}
    current = {item.id for item in unit.items.find(ids) if item.state == "current"}
    return {one.id: _of_episode(one) for one in unit.episodes.find(ids) if one.id in current}
