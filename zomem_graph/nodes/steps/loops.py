"""Open loops through their life: opened or spoken of again, asleep, stale, resolved (spec F47, F63-F67).

An open loop is searchable; a closed one is not, so it never comes back by itself.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from zomem_graph.nodes.options import WriteOptions
from zomem_graph.nodes.rules.closing import done_by, is_said_again
from zomem_graph.nodes.rules.entities import entities, entity_key
from zomem_graph.nodes.rules.given import bounded_metadata, choice, if_given, name_of, named_strings, number, text
from zomem_graph.nodes.rules.keys import address
from zomem_graph.nodes.rules.loops import KINDS, fingerprint, kind_of, loops_in, priority_of
from zomem_graph.nodes.rules.secrets import looks_secret
from zomem_graph.nodes.rules.sources import learned_source
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.nodes.steps.describe import told
from zomem_graph.stores.errors import InvalidInput, SecretRefused
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.loops import PENDING
from zomem_graph.stores.records import Loop, Turn
from zomem_graph.stores.unit import Unit

__all__ = [
    "Filed",
    "LoopsLearned",
    "NewLoop",
    "Tended",
    "close_loops",
    "learn_loops",
    "let_go",
    "overdue",
    "quiet_since",
    "reopen_loop",
    "resolve_by_text",
    "spared_by",
    "store_loop",
    "tend_loops",
]

_LOOKED_AT = 25  # newest open and stale loops a text is held against (spec F65)
_LONGEST_TITLE = 500
_URGENT = 0.9
_STALE_AFTER = timedelta(days=14)  # untouched (spec F67)
_URGENT_STALE_AFTER = timedelta(days=30)
_OVER_AFTER = timedelta(days=30)  # stale


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLoop:
    """A loop on its way in; kind and priority are read from its words when they are not given.

    `rest` stands for what the title leaves out of the same matter (see `fingerprint`).
    """

    title: str
    summary: str = ""
    kind: str | None = None
    priority: float | None = None
    entity: str | None = None
    owner: str | None = None
    persona: str = SHARED
    thread: str | None = None
    session: str | None = None
    source: str = "api"
    trust: str = "user"
    turn_id: str | None = None
    related_episode_id: str | None = None
    snoozed_until: datetime | None = None
    expires_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    rest: str = ""

    def checked(self, options: WriteOptions) -> "NewLoop":
        """Return the loop itself; raise InvalidInput or SecretRefused when it cannot be stored."""
        if not isinstance(self.title, str) or not self.title.strip():
            raise InvalidInput("A loop needs a title. Say in a few words what is to be done.")
        if len(self.title) > _LONGEST_TITLE:
            raise InvalidInput(
                f"title has {len(self.title):,} characters; keep to {_LONGEST_TITLE}, the rest is summary."
            )
        text("summary", self.summary, most=options.longest_text)
        if_given(choice, "kind", self.kind, known=KINDS)
        priority = if_given(number, "priority", self.priority, least=0, most=1)
        if_given(text, "entity", self.entity, most=options.longest_name)
        if_given(name_of, "owner", self.owner)
        if_given(text, "related_episode_id", self.related_episode_id)
        text("source", self.source)
        metadata = bounded_metadata("metadata", self.metadata)
        for part in (self.title, self.summary, *named_strings(metadata)):
            if kind := looks_secret(part):
                raise SecretRefused(f"The loop holds what looks like a secret ({kind}) and was not stored.")
        return replace(self, metadata=metadata, priority=priority)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """A stored loop, and whether it is new or an open one spoken of again."""

    loop: Loop
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopsLearned:
    """What a conversation opened, spoke of again and resolved."""

    opened: tuple[Loop, ...] = ()
    refreshed: tuple[Loop, ...] = ()
    resolved: tuple[Loop, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tended:
    """What time has done: ids of loops that became stale and of those that are over."""

    stale: tuple[str, ...] = ()
    over: tuple[str, ...] = ()


def store_loop(unit: Unit, new: NewLoop, *, now: datetime) -> Filed:
    """Store a checked loop, or refresh the open or stale one with the same fingerprint (spec F64)."""
    loop = _loop(new, now)
    twin = unit.loops.twin(loop.persona, loop.fingerprint)
    if twin is None:
        unit.loops.add(loop)
        unit.items.add([_item(loop)])
        return Filed(loop=loop, new=True)
    if _is_gone(unit, twin, now):
        unit.loops.end([twin.id], status="superseded", at=now)
        unit.items.end([twin.id], state="superseded", at=now)
        return store_loop(unit, new, now=now)
    return Filed(loop=_refreshed(unit, twin, new, loop), new=False)


def learn_loops(
    unit: Unit, turns: Sequence[Turn], *, scope: Scope, source: str, options: WriteOptions, now: datetime
) -> LoopsLearned:
    """Open what the user's new turns leave undone and resolve what they say is done, turn by turn.

    The user's word resolves any loop of the persona; an assistant's only those of its own session.
    Imported archives open nothing: what was open there is long past.
    """
    filed: dict[str, Filed] = {}
    resolved: dict[str, Loop] = {}
    for turn in turns:
        at = min(turn.at, now)
        if turn.role in ("user", "assistant"):
            session = turn.session if turn.role == "assistant" else None
            for loop in resolve_by_text(unit, turn.content, [scope.persona], now=at, session=session):
                resolved[loop.id] = loop
        if turn.role != "user" or turn.trust == "import" or now - at >= _STALE_AFTER + _OVER_AFTER:
            continue
        for found in loops_in(turn.content):
            new = NewLoop(
                title=found.title,
                summary=found.summary,
                kind=found.kind,
                priority=found.priority,
                persona=scope.persona,
                thread=scope.thread,
                session=turn.session,
                source=learned_source(source),
                trust=turn.trust,
                turn_id=turn.id,
            )
            one = _learn(unit, new.checked(options), now=at)
            filed.setdefault(one.loop.id, one)
    still = [one for one in filed.values() if one.loop.id not in resolved]
    return LoopsLearned(
        opened=tuple(one.loop for one in still if one.new),
        refreshed=tuple(one.loop for one in still if not one.new),
        resolved=tuple(loop for id_, loop in resolved.items() if not (id_ in filed and filed[id_].new)),
    )


def _learn(unit: Unit, new: NewLoop, *, now: datetime) -> Filed:
    """Store a loop found in speech, or refresh the one loop that it speaks of in other words."""
    loop = _loop(new, now)
    if unit.loops.twin(loop.persona, loop.fingerprint) is None:
        waiting = unit.loops.waiting([loop.persona], now=now, asleep_too=True, limit=_LOOKED_AT)
        known = [one for one in waiting if is_said_again(loop.title, one.title)]
        if len(known) == 1:
            again = replace(new, summary="", priority=None)
            return Filed(loop=_refreshed(unit, known[0], again, _loop(again, now)), new=False)
    return store_loop(unit, new, now=now)


def resolve_by_text(
    unit: Unit, text: str, personas: Sequence[str], *, now: datetime, session: str | None = None
) -> list[Loop]:
    """Resolve the loops a text says are done, and return them as they are now (spec F65).

    The newest open and stale loops are looked at, snoozed ones too; with `session` only those of it.
    """
    waiting = unit.loops.waiting(personas, now=now, asleep_too=True, limit=_LOOKED_AT)
    held = [loop for loop in waiting if session in (None, loop.session)]
    done = [held[place] for place in done_by(text, [loop.title for loop in held])]
    return close_loops(unit, done, status="resolved", now=now, note=" ".join(text.split())[:200])


def close_loops(
    unit: Unit, loops: Sequence[Loop], *, status: str, now: datetime, note: str | None = None
) -> list[Loop]:
    """Close open and stale loops as resolved or superseded, take them out of search, and return them."""
    ids = [loop.id for loop in loops if loop.status in PENDING]
    unit.loops.end(ids, status=status, at=now, resolution=note)
    # A resolved loop is history, not an older wording: `include_superseded` must not bring it back either.
    unit.items.end(ids, state="archived" if status == "resolved" else "superseded", at=now)
    return unit.loops.find([loop.id for loop in loops])


def reopen_loop(unit: Unit, loop: Loop, *, now: datetime) -> Loop:
    """Open a closed loop again, as when the evidence was wrong; an end that is past holds no more.

    Raises InvalidInput when it has a twin.
    """
    loop = replace(loop, expires_at=None if loop.expires_at is None or loop.expires_at <= now else loop.expires_at)
    if loop.status not in PENDING:
        twin = unit.loops.twin(loop.persona, loop.fingerprint)
        if twin is not None:
            raise InvalidInput(f"The same loop is open already, as {twin.id[:8]} ({twin.title:.60}).")
        unit.items.purge([loop.id])
        unit.items.add([_item(loop)])
    else:
        unit.items.set_expiry(loop.id, loop.expires_at)
    anew = {"updated_at": now, "expires_at": loop.expires_at, "resolved_at": None, "resolution": None}
    unit.loops.change(loop.id, status="open", **anew)
    return unit.loops.find([loop.id])[0]


def overdue(
    unit: Unit, *, now: datetime, spared: Callable[[Loop], bool] = lambda _loop: False
) -> tuple[list[Loop], list[Loop]]:
    """Return which loops are stale by now, and which are over (spec F67).

    Stale are open ones nobody spoke of for 14 days, 30 when urgent; over 30 days later, unless `spared` or their
    entity had facts in that time. Sleep does not count.
    """
    quiet = [loop for loop in unit.loops.pending(untouched_since=_ago(now, _STALE_AFTER)) if not _sleeps(loop, now)]
    over = [
        loop
        for loop in quiet
        if now - quiet_since(loop) >= _patience(loop) + _OVER_AFTER
        and not spared(loop)
        and not _entity_is_alive(unit, loop, now)
    ]
    ended = {loop.id for loop in over}
    stale = [
        loop
        for loop in quiet
        if loop.status == "open" and loop.id not in ended and now - quiet_since(loop) >= _patience(loop)
    ]
    return stale, over


def let_go(unit: Unit, stale: Sequence[Loop], over: Sequence[Loop], *, now: datetime) -> None:
    """Write down which loops are stale and which are over."""
    for loop in stale:
        unit.loops.change(loop.id, status="stale")
    close_loops(unit, over, status="resolved", now=now, note="nobody spoke of it any more")


def tend_loops(
    unit: Unit, *, now: datetime, spared: Callable[[Loop], bool] = lambda _loop: False, dry_run: bool = False
) -> Tended:
    """Let time do its work on everybody's loops; running it twice changes nothing."""
    stale, over = overdue(unit, now=now, spared=spared)
    if not dry_run:
        let_go(unit, stale, over, now=now)
    return Tended(stale=tuple(loop.id for loop in stale), over=tuple(loop.id for loop in over))


def spared_by(unit: Unit, bridges: Collection[str]) -> Callable[[Loop], bool]:
    """Return which loops must not be given up: those that are, touch or speak of what holds the graph together."""

    def spared(loop: Loop) -> bool:
        if not bridges:
            return False
        ties = unit.links.touching([loop.id])
        near = {loop.id, *(end for link in ties for end in (link.source_id, link.target_id))}
        if loop.entity is not None:
            about = unit.facts.lookup([loop.persona], address(loop.entity), now=loop.updated_at)
            near |= {fact.id for fact in about}
        return not near.isdisjoint(bridges)

    return spared


def _loop(new: NewLoop, now: datetime) -> Loop:
    title = " ".join(new.title.split())
    kind = new.kind or kind_of(title)
    entity = new.entity or next(iter(_named_in(title)), None)
    return Loop(
        id=new_id(),
        persona=new.persona,
        thread=new.thread,
        session=new.session,
        title=title,
        summary=new.summary,
        kind=kind,
        status="open",
        priority=priority_of(title) if new.priority is None else float(new.priority),
        entity=entity,
        owner=new.owner,
        source=new.source,
        trust=new.trust,
        turn_id=new.turn_id,
        related_episode_id=new.related_episode_id,
        # An entity read from the title says nothing the title does not, and its case may change it.
        fingerprint=fingerprint(kind, new.entity, title, new.rest),
        created_at=now,
        updated_at=now,
        snoozed_until=new.snoozed_until,
        expires_at=new.expires_at,
        resolved_at=None,
        resolution=None,
        metadata=dict(new.metadata),
    )


def _refreshed(unit: Unit, twin: Loop, new: NewLoop, loop: Loop) -> Loop:
    """Speak of an open loop again: it is open and of now, and takes over what is said anew."""
    values: dict[str, Any] = {
        "status": "open",
        "updated_at": max(twin.updated_at, loop.updated_at),
        "priority": loop.priority if new.priority is not None else max(twin.priority, loop.priority),
        "summary": loop.summary or twin.summary,
        "owner": loop.owner or twin.owner,
        "snoozed_until": loop.snoozed_until or twin.snoozed_until,
        "expires_at": loop.expires_at or twin.expires_at,
        "metadata": {**twin.metadata, **loop.metadata},
    }
    unit.loops.change(twin.id, **values)
    changed = replace(twin, **values)
    if told(changed) != told(twin):
        unit.items.purge([twin.id])
        unit.items.add([_item(changed)])
    elif changed.expires_at != twin.expires_at:
        unit.items.set_expiry(twin.id, changed.expires_at)
    return changed


def _item(loop: Loop) -> NewItem:
    named = [loop.entity or "", loop.title]
    keys = [entity_key(loop.entity or ""), *_named_in(loop.title), *entities(loop.summary)]
    return NewItem(
        id=loop.id,
        kind="loop",
        persona=loop.persona,
        thread=loop.thread,
        session=loop.session,
        text=told(loop),
        title=" ".join(part for part in named if part),
        created_at=loop.created_at,
        expires_at=loop.expires_at,
        entities=[key for key in dict.fromkeys(keys) if key],
    )


def _named_in(title: str) -> list[str]:
    """Return the names in a title. Its first word is capitalised anyway, so by itself it is no name."""
    first = entity_key(title.split(maxsplit=1)[0]) if " " in title else ""
    return [name for name in entities(title) if name != first]


def _is_gone(unit: Unit, loop: Loop, now: datetime) -> bool:
    """Return whether a loop that is open by name was deleted or is past its time."""
    if loop.expires_at is not None and loop.expires_at <= now:
        return True
    items = unit.items.find([loop.id])
    return not items or items[0].state != "current"


def quiet_since(loop: Loop) -> datetime:
    """Return from when its silence counts: since it was last spoken of, or since it woke."""
    return loop.updated_at if loop.snoozed_until is None else max(loop.updated_at, loop.snoozed_until)


def _sleeps(loop: Loop, now: datetime) -> bool:
    return loop.snoozed_until is not None and loop.snoozed_until > now


def _ago(now: datetime, span: timedelta) -> datetime:
    earliest = datetime.min.replace(tzinfo=now.tzinfo)
    return now - span if now - earliest > span else earliest


def _patience(loop: Loop) -> timedelta:
    return _URGENT_STALE_AFTER if loop.priority >= _URGENT else _STALE_AFTER


def _entity_is_alive(unit: Unit, loop: Loop, now: datetime) -> bool:
    if loop.entity is None:
        return False
    facts = unit.facts.lookup([loop.persona], address(loop.entity), now=now)
    return any(fact.created_at > _ago(now, _OVER_AFTER) for fact in facts)
