"""Store what happened: an episode a caller tells of, and one for each captured session (spec F43, F50)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, get_args

from zomem_graph.nodes.options import CaptureOptions, WriteOptions
from zomem_graph.nodes.rules.cues import read_cues
from zomem_graph.nodes.rules.entities import entities, entity_key
from zomem_graph.nodes.rules.failures import says_it_failed
from zomem_graph.nodes.rules.given import bounded_metadata, choice, if_given, named_strings, names, number, text
from zomem_graph.nodes.rules.secrets import looks_secret
from zomem_graph.nodes.rules.told import FINISHED, LEARNED, LONGEST_ITEM, listed, without_item
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.nodes.steps.summaries import drop_summaries
from zomem_graph.stores.errors import InvalidInput, SecretRefused
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.records import Episode, Fact, Loop, Outcome, Turn
from zomem_graph.stores.unit import Unit

__all__ = [
    "OUTCOMES",
    "Learned",
    "NewEpisode",
    "finish_episode",
    "store_episode",
    "tell_learned",
    "tell_session",
    "unfinish",
    "unlearn",
]

OUTCOMES: tuple[str, ...] = get_args(Outcome)
_GOES_ON = "ongoing"
_LONGEST_SUMMARY = 1_000  # of a captured session; what comes later is still in the turns
_CAPTURED = "auto-capture:"
_CAPTURE_LABEL = "capture."
_MOST_ENTITIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEpisode:
    """An episode on its way in; `happened_at` None means now, `duration_ms` counts from it."""

    summary: str
    outcome: str = "success"
    entities: Sequence[str] = ()
    duration_ms: float | None = None
    happened_at: datetime | None = None
    persona: str = SHARED
    thread: str | None = None
    session: str | None = None
    procedure_id: str | None = None
    source: str = "api"
    trust: str = "user"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def checked(self, options: WriteOptions) -> "NewEpisode":
        """Return the episode itself; raise InvalidInput or SecretRefused when it cannot be stored."""
        if not isinstance(self.summary, str) or not self.summary.strip():
            raise InvalidInput("An episode needs a summary. Say in a sentence what happened.")
        if len(self.summary) > options.longest_text:
            raise InvalidInput(f"summary has {len(self.summary):,} characters; keep to {options.longest_text:,}.")
        choice("outcome", self.outcome, OUTCOMES)
        entities, metadata = names("entities", self.entities), bounded_metadata("metadata", self.metadata)
        duration_ms = if_given(number, "duration_ms", self.duration_ms, least=0)
        if_given(text, "procedure_id", self.procedure_id)
        text("source", self.source)
        for part in (self.summary, *entities, *named_strings(metadata)):
            if kind := looks_secret(part):
                raise SecretRefused(f"The episode holds what looks like a secret ({kind}) and was not stored.")
        return replace(self, entities=entities, metadata=metadata, duration_ms=duration_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What a capture learned from a stretch of conversation; `superseded` counts contradicted facts."""

    facts: Sequence[Fact] = ()
    opened: Sequence[Loop] = ()
    resolved: Sequence[Loop] = ()
    superseded: int = 0

    @property
    def anything(self) -> bool:
        """Whether there is something to tell of."""
        return bool(self.facts or self.opened or self.resolved)


def store_episode(unit: Unit, new: NewEpisode, *, now: datetime, zone: tzinfo = UTC) -> Episode:
    """Store a checked episode and make it searchable, within one transaction."""
    names = {key: name.strip() for name in new.entities if (key := entity_key(name))}
    episode = Episode(
        id=new_id(),
        persona=new.persona,
        thread=new.thread,
        session=new.session,
        summary=new.summary,
        outcome=new.outcome,
        happened_at=new.happened_at or now,
        duration_ms=new.duration_ms,
        procedure_id=new.procedure_id,
        source=new.source,
        trust=new.trust,
        created_at=now,
        metadata=dict(new.metadata),
        entities=tuple(sorted(names.values())),
    )
    unit.episodes.add(episode, names)
    unit.items.add([_item(episode, zone)])
    return episode


def finish_episode(unit: Unit, episode: Episode, outcome: str, *, duration_ms: float | None = None) -> Episode:
    """Say how an episode that goes on has ended; to say the same twice changes nothing.

    Raises InvalidInput for one that has ended otherwise already.
    """
    endings = [one for one in OUTCOMES if one != _GOES_ON]
    choice("outcome", outcome, endings)
    duration_ms = if_given(number, "duration_ms", duration_ms, least=0)
    if episode.outcome not in (_GOES_ON, outcome):
        raise InvalidInput(
            f"The episode {episode.id[:8]} has ended already, as {episode.outcome}. "
            "What came after it is an episode of its own: create one."
        )
    values: dict[str, Any] = {"outcome": outcome, **({} if duration_ms is None else {"duration_ms": duration_ms})}
    unit.episodes.change(episode.id, **values)
    return replace(episode, **values)


def tell_session(
    unit: Unit,
    turns: Sequence[Turn],
    learned: Learned,
    *,
    scope: Scope,
    source: str,
    options: CaptureOptions,
    now: datetime,
) -> Episode | None:
    """Tell of newly captured turns: begin the session's episode or go on with it; None for mere courtesies.

    The outcome is success, resolved when a contradiction was settled (spec F43), ongoing as long as the session
    opened more than it finished, or failure when its last step did not work. After a long pause a session begins
    another episode.
    """
    opening = _opening(turns)
    if not turns or (opening is None and not learned.anything):
        return None
    label = f"{_CAPTURED}{source}"
    episode = unit.episodes.of_session(scope.persona, turns[0].session, source=label)
    pause = timedelta(hours=options.episode_gap_hours)
    if episode is not None and abs(turns[0].at - _end(episode)) <= pause:
        return _go_on(unit, episode, turns, learned, source, scope.zone)
    summary = _sentences([f"Talked about: “{opening}”" if opening else "", *_told(learned)])
    if not summary:
        return None
    counts = _counts({}, turns, learned)
    new = NewEpisode(
        summary=summary,
        outcome=_outcome(counts, failed=_ends_in_failure(turns)),
        entities=_entities(learned, source),
        duration_ms=_between(turns[0].at, turns),
        happened_at=turns[0].at,
        persona=scope.persona,
        thread=scope.thread,
        session=turns[0].session,
        source=label,
        trust=turns[0].trust if turns[0].trust == "import" else "user",
        metadata=counts,
    )
    return store_episode(unit, new, now=now, zone=scope.zone)


def tell_learned(
    unit: Unit, learned: Learned, *, persona: str, session: str, source: str, zone: tzinfo = UTC
) -> Episode | None:
    """Add what was read out of a session later, by a model, to its episode; None when it has none."""
    episode = unit.episodes.of_session(persona, session, source=f"{_CAPTURED}{source}")
    if episode is None or not learned.anything:
        return episode
    return _go_on(unit, episode, (), learned, source, zone)


def _go_on(
    unit: Unit, episode: Episode, turns: Sequence[Turn], learned: Learned, source: str, zone: tzinfo
) -> Episode:
    summary = _sentences([episode.summary, *_told(learned)])
    counts = _counts(episode.metadata, turns, learned)
    unit.episodes.change(
        episode.id,
        summary=summary,
        outcome=_outcome(counts, failed=_ends_in_failure(turns, before=episode.outcome == "failure")),
        duration_ms=max(episode.duration_ms or 0.0, _between(episode.happened_at, turns)),
        metadata=counts,
    )
    room = max(0, _MOST_ENTITIES - len(episode.entities))
    names = {key: name for name in _entities(learned, source) if (key := entity_key(name))}
    unit.episodes.join(episode.id, dict(list(names.items())[:room]))
    (changed,) = unit.episodes.find([episode.id])
    if summary != episode.summary:
        # Only then: each new text costs an embedding.
        unit.items.purge([episode.id])
        unit.items.add([_item(changed, zone)])
    return changed


def unlearn(unit: Unit, fact: Fact, *, now: datetime, zone: tzinfo = UTC) -> None:
    """Let no episode go on telling that a fact was learned which was never true; what was said stays."""
    turns = {fact.turn_id, *(origin.turn_id for origin in unit.provenance.of([fact.id]))}
    sessions = sorted({turn.session for turn in unit.turns.find([id_ for id_ in turns if id_])})
    told = unit.episodes.of_sessions(fact.persona, sessions)
    _take_back(unit, told, LEARNED, fact.text, now=now, zone=zone)


def unfinish(unit: Unit, loop: Loop, *, now: datetime, zone: tzinfo = UTC) -> None:
    """Let no episode go on telling that a loop was finished which is open again; what was said stays."""
    told = [one for one in unit.episodes.telling(loop.persona, f"{FINISHED}: ") if one.source.startswith(_CAPTURED)]
    _take_back(unit, told, FINISHED, loop.title, now=now, zone=zone)


def _take_back(unit: Unit, episodes: Sequence[Episode], verb: str, said: str, *, now: datetime, zone: tzinfo) -> None:
    for episode in episodes:
        summary = without_item(episode.summary, verb, said)
        if summary == episode.summary:
            continue
        drop_summaries(unit, [episode.id])
        if not summary:
            unit.items.end([episode.id], state="deleted", at=now)
            continue
        unit.episodes.change(episode.id, summary=summary)
        unit.items.purge([episode.id])
        unit.items.add([_item(replace(episode, summary=summary), zone)])


def _item(episode: Episode, zone: tzinfo) -> NewItem:
    """Return the searchable side: summary, entities and what the metadata says, one a line (spec T12)."""
    # The label of the capture is in every captured episode, so it tells none from another.
    names = [name for name in episode.entities if not name.startswith(_CAPTURE_LABEL)]
    document = [episode.summary, ", ".join(names), *_texts(episode.metadata)]
    keys = [entity_key(name) for name in (*names, *entities(episode.summary))]
    return NewItem(
        id=episode.id,
        kind="episode",
        persona=episode.persona,
        thread=episode.thread,
        session=episode.session,
        text="\n".join(line for line in document if line),
        title=", ".join(names),
        date_words=f"{episode.happened_at.astimezone(zone):%d %B %Y %A}",
        created_at=episode.happened_at,
        entities=[key for key in dict.fromkeys(keys) if key],
    )


def _opening(turns: Sequence[Turn]) -> str | None:
    """Return how the user opened the subject, courtesies left out."""
    for turn in turns:
        if turn.role == "user":
            cues = read_cues(turn.content)
            if not (cues.empty or cues.courtesy_only):
                said = " ".join(turn.content.split())
                return said if len(said) <= LONGEST_ITEM else said[: LONGEST_ITEM - 1] + "…"
    return None


def _told(learned: Learned) -> list[str]:
    """Return what is told of a stretch of talk. Not what it left open: that stands in the loops, until it is done."""
    return [
        listed(LEARNED, [fact.text for fact in learned.facts]),
        listed(FINISHED, [loop.title for loop in learned.resolved]),
    ]


def _sentences(parts: Iterable[str]) -> str:
    told = " ".join(part if part.endswith((".", "!", "?", "…")) else f"{part}." for part in parts if part)
    return told if len(told) <= _LONGEST_SUMMARY else told[: _LONGEST_SUMMARY - 1] + "…"


def _entities(learned: Learned, source: str) -> list[str]:
    named = [fact.entity for fact in learned.facts]
    named += [loop.entity for loop in (*learned.opened, *learned.resolved) if loop.entity]
    return [*dict.fromkeys(named[: _MOST_ENTITIES - 1]), f"{_CAPTURE_LABEL}{source}"]


def _counts(before: Mapping[str, Any], turns: Sequence[Turn], learned: Learned) -> dict[str, Any]:
    counted = {
        "turns": len(turns),
        "facts": len(learned.facts),
        "superseded": learned.superseded,
        "loops": len(learned.opened),
        "resolved_loops": len(learned.resolved),
    }
    return {**before, **{name: int(before.get(name, 0)) + number for name, number in counted.items()}}


def _outcome(counts: Mapping[str, Any], *, failed: bool) -> str:
    """Return how a session stands: what is left open, or failed in its last step, is no success."""
    if counts["loops"] > counts["resolved_loops"]:
        return _GOES_ON
    if failed:
        return "failure"
    return "resolved" if counts["superseded"] else "success"


def _ends_in_failure(turns: Sequence[Turn], *, before: bool = False) -> bool:
    """Return whether the last thing a user or a tool said is that something does not work; `before` if none did."""
    told = [turn.content for turn in turns if turn.role in ("user", "tool")]
    telling = [text for text in told if not read_cues(text).courtesy_only]
    return says_it_failed(telling[-1]) if telling else before


def _between(start: datetime, turns: Sequence[Turn]) -> float:
    last = max((turn.at for turn in turns), default=start)
    return max(0.0, (last - start).total_seconds() * 1000)


def _end(episode: Episode) -> datetime:
    return episode.happened_at + timedelta(milliseconds=episode.duration_ms or 0.0)


def _texts(metadata: Mapping[str, Any]) -> list[str]:
    return [value for value in metadata.values() if isinstance(value, str)]
