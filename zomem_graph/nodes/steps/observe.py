"""Store what was said, verbatim and once, and what the published rules learn from it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from zomem_graph.nodes.options import WriteOptions
from zomem_graph.nodes.rules.align import Mark, first_new
from zomem_graph.nodes.rules.entities import entities, entity_key
from zomem_graph.nodes.rules.erasing import Mark as Grave
from zomem_graph.nodes.rules.erasing import message_marks, names_told, read_again_marks, source_marks, turn_marks
from zomem_graph.nodes.rules.given import LARGEST_METADATA, if_given, is_large, shown, text
from zomem_graph.nodes.rules.secrets import redact, redact_plain
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.records import Turn
from zomem_graph.stores.unit import Unit

__all__ = [
    "append_turns",
    "clean",
    "session_of",
    "store_turns",
    "too_much",
    "without_forgotten",
    "unstored_end",
    "would_be_turns",
]

_TRUST = {"user": "user", "assistant": "assistant", "tool": "tool", "document": "import"}
_DEFAULT_SESSION = "main"


def unstored_end(unit: Unit, messages: Sequence[Said], *, scope: Scope, session: str | None) -> Sequence[Said]:
    """Return the end of a history from its last message known by id on; all of it when none is known.

    Only a shortcut: it spares reading a long history anew at each turn. `store_turns` decides.
    """
    where = session or scope.thread or _DEFAULT_SESSION
    ids = [message.message_id for message in messages if message.message_id is not None]
    known = unit.turns.ids_known(scope.persona, where, ids) if len(ids) > 1 else set()
    last = max((place for place, message in enumerate(messages) if message.message_id in known), default=0)
    return messages[last:]


def clean(messages: Sequence[Said], options: WriteOptions) -> tuple[list[Said], int]:
    """Return the messages without secrets and how many were cut; raise InvalidInput for one too long."""
    kept: list[Said] = []
    cut = 0
    for number, message in enumerate(messages):
        if (why := too_much(message, options)) is not None:
            raise InvalidInput(f"message {number} {why}")
        # What stands before a colon may be taken for a speaker and still say what follows: "wifi password: …".
        label = f"{message.speaker}: "
        content, found = redact(label + message.content)
        content, found = (content[len(label) :], found) if content.startswith(label) else redact(message.content)
        metadata, more = redact_plain(message.metadata)
        cut += found + more
        kept.append(replace(message, content=content, metadata=metadata) if found or more else message)
    return kept, cut


def too_much(message: Said, options: WriteOptions) -> str | None:
    """Return what of a message is more than is stored, as the end of a sentence about it; None when all fits."""
    if len(message.content) > options.longest_text:
        return f"has {len(message.content):,} characters; at most {options.longest_text:,} are stored. Split it."
    if is_large(message.metadata):
        return (
            f"has metadata of more than {LARGEST_METADATA:,} bytes as JSON. Keep it elsewhere, and its place there."
        )
    for what, name in (("name", message.speaker), ("id", message.message_id or "")):
        if len(name) > options.longest_name:
            return f"has the {what} {shown(name)}; at most {options.longest_name:,} characters are stored."
    return None


def store_turns(
    unit: Unit,
    messages: Sequence[Said],
    *,
    scope: Scope,
    session: str | None,
    now: datetime,
    trust: str | None = None,
    replayed: bool = False,
    read_again: bool = False,
) -> list[Turn]:
    """Append what is new of a history to its session; return the new turns (spec: design §3).

    What was forgotten stays so: it is left out before the history is laid over what is stored.
    """
    where = session_of(scope, session)
    fresh = _fresh(unit, messages, scope, where, replayed=replayed, read_again=read_again)
    return append_turns(unit, fresh, scope=scope, session=where, now=now, trust=trust)


def would_be_turns(
    unit: Unit,
    messages: Sequence[Said],
    *,
    scope: Scope,
    session: str | None,
    now: datetime,
    trust: str | None = None,
    read_again: bool = False,
) -> list[Turn]:
    """Return the turns that `store_turns` would append, and append none."""
    where = session_of(scope, session)
    return _turns(_fresh(unit, messages, scope, where, read_again=read_again), scope, where, 0, now, trust)


def _fresh(
    unit: Unit,
    messages: Sequence[Said],
    scope: Scope,
    where: str,
    *,
    replayed: bool = False,
    read_again: bool = False,
) -> Sequence[Said]:
    messages = without_forgotten(unit, messages, persona=scope.persona, session=where, read_again=read_again)
    if not messages:
        return []
    stored = unit.turns.marks(scope.persona, where)
    marks = [Mark(message.digest, message.message_id, message.at) for message in messages]
    return messages[first_new([Mark(*mark) for mark in stored], marks, replayed=replayed) :]


def append_turns(
    unit: Unit,
    fresh: Sequence[Said],
    *,
    scope: Scope,
    session: str,
    now: datetime,
    trust: str | None = None,
) -> list[Turn]:
    """Append messages that are known to be new to the end of a session; return their turns in order."""
    if not fresh:
        return []
    last = unit.turns.tail(scope.persona, session, 1)
    turns = _turns(fresh, scope, session, last[0].position + 1 if last else 0, now, trust)
    unit.turns.add(turns)
    unit.items.add(_items([*last, *turns], scope.zone)[len(last) :])
    if last and turns[0].role == "user":
        unit.items.set_next(last[0].id, turns[0].content)
    return turns


def session_of(scope: Scope, session: str | None) -> str:
    """Return the session messages belong to: the one named, else the thread, else the common one."""
    return if_given(text, "session", session) or scope.thread or _DEFAULT_SESSION


def without_forgotten(
    unit: Unit, messages: Sequence[Said], *, persona: str, session: str, read_again: bool = False
) -> Sequence[Said]:
    """Return the messages that were not erased before; one said since then, at a time that is known, is new.

    `read_again` says that they stand in a file, which may say again what was said in another session.
    """
    graves = unit.tombstones
    if not messages or not graves.any:
        return messages
    marks = [
        [
            digest
            for kind, content in _known_by(message, session, read_again=read_again)
            for digest in graves.digests(persona, kind, content)
        ]
        for message in messages
    ]
    found = graves.forgotten(digest for digests in marks for digest in digests)
    kept = []
    for message, digests in zip(messages, marks, strict=True):
        buried = [found[digest] for digest in digests if digest in found]
        if all(grave.was_said_since(message.said_at) for grave in buried):
            kept.append(message)
    return kept


def _known_by(message: Said, session: str, *, read_again: bool) -> list[Grave]:
    """Return what a message is known by; of one that was heard and waits to be stored, also each name in it."""
    return [
        *turn_marks(message.content, session=session),
        *(read_again_marks(message.content) if read_again else ()),
        *(names_told(message.content) if message.heard is not None else ()),
        *message_marks(message.message_id, message.metadata.get("source_id"), session=session),
        *source_marks(message.digest),
    ]


def _turns(
    fresh: Sequence[Said], scope: Scope, session: str, position: int, now: datetime, trust: str | None
) -> list[Turn]:
    turns: list[Turn] = []
    at = now
    for offset, message in enumerate(fresh):
        # Without times of their own, messages stay in order: a microsecond apart.
        at = message.at if message.at is not None else (message.heard or now) + timedelta(microseconds=offset)
        turns.append(
            Turn(
                id=new_id(),
                persona=scope.persona,
                thread=scope.thread,
                session=session,
                position=position + offset,
                role=message.role,
                speaker=message.speaker,
                content=message.content,
                at=at,
                digest=message.digest,
                message_id=message.message_id,
                trust=trust or _TRUST[message.role],
                metadata=message.metadata,
            )
        )
    return turns


def _items(turns: Sequence[Turn], zone: ZoneInfo) -> list[NewItem]:
    """Return the searchable side; neighbours count only when a user said them."""
    speakers = {entity_key(turn.speaker) for turn in turns}
    said = [turn.content if turn.role == "user" else "" for turn in turns]
    return [
        NewItem(
            id=turn.id,
            kind="turn",
            persona=turn.persona,
            text=turn.content,
            speaker=turn.speaker,
            prev=said[i - 1] if i > 0 else "",
            next=said[i + 1] if i + 1 < len(turns) else "",
            date_words=f"{turn.at.astimezone(zone):%d %B %Y %A}",
            thread=turn.thread,
            session=turn.session,
            created_at=turn.at,
            entities=[name for name in entities(turn.content) if name not in speakers],
        )
        for i, turn in enumerate(turns)
    ]
