"""The session logs an agent leaves in sessions/ (spec F107-F109): read piece by piece, each line once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from zomem_graph.asking import CaptureWords, capture_request
from zomem_graph.nodes.flow import run
from zomem_graph.nodes.rules.session_lines import SESSION_PREFIX, message_in
from zomem_graph.nodes.rules.sources import VAULT
from zomem_graph.nodes.steps.capture import capture
from zomem_graph.nodes.values import CaptureReport
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_files import blank_lines, read_lines, replace_file
from zomem_graph.stores.vault_records import VaultSession
from zomem_graph.vault.activity import join
from zomem_graph.vault.following import follow
from zomem_graph.vault.forgotten import forgotten_in
from zomem_graph.vault.given import is_fact, missing_of_a_fact
from zomem_graph.vault.ground import Ground, Told
from zomem_graph.vault.ingest import Given, Ingested, Written, embed_new, given_in, session_line, write_facts

__all__ = ["blank_forgotten", "keep_log", "keep_turns", "read_sessions", "unread_bytes"]

_PIECE = 50  # lines of a log that are stored at once, more of a very long one
_MOST_PIECES = 200

Reading = Callable[[str, int], None]


def read_sessions(ground: Ground, tell: Reading | None = None) -> Ingested:
    """Read every session log that is new or has grown, each of its lines once, piece by piece.

    A piece is whole in the database or not there at all, so whoever is killed goes on with the next piece. `tell` is
    called with the name of a log and how many of its bytes are read, before each piece and after the last one.
    """
    total = Ingested()
    with ground.memory.stores.read() as unit:
        known = unit.vault.sessions()
    for path in ground.place.session_files():
        before = known.get(path.name)
        if before is None or (before.size, before.changed) != _stamp(path):
            _read_session(ground, path, before, total, tell or _tell_nobody)
    for path in ground.place.linked_sessions():
        total.told.append(Told(path.name, "is a link and is not followed; copy the log here to have it read"))
    if total.fact_ids:
        total.fact_ids = list(dict.fromkeys(total.fact_ids))
        follow(ground, total.fact_ids, again=total.again > 0)
    return total


def keep_log(ground: Ground, said: Sequence[Mapping[str, Any]], given: Path | None) -> dict[int, str]:
    """Put messages that came from elsewhere among the session logs, so that they are read like the others.

    `given` is the file they came from. Given again, it is kept once; when it has grown, its log grows. What was
    forgotten is left blank; return it, by line number.
    """
    folder = ground.place.sessions
    if given is not None and given.resolve().parent == folder.resolve():
        return {}
    lines = [session_line(line).encode("utf-8") for line in said]
    end = f"-{_safe('given' if given is None else given.stem)}.jsonl"
    earlier = [path for path in ground.place.session_files() if given is not None and _same_log(path, given, end)]
    stems = [] if given is None else [given.stem, *(path.stem for path in earlier)]
    found = ((path, _blank_before(path, lines)) for path in earlier)
    name = f"{ground.now().astimezone(ground.options.zone):%Y-%m-%d-%H%M%S}"
    path, blank = next(((path, blank) for path, blank in found if blank is not None), (folder / f"{name}{end}", ()))
    messages = {number: message for number, line in enumerate(said, start=1) if (message := message_in(line))}
    gone = {number: messages[number]["content"] for number in blank if number in messages}
    for stem in dict.fromkeys([path.stem, *stems]):
        gone |= forgotten_in(ground, stem, messages=_with_ids(stem, messages), facts={})
    kept = [b" " * len(line) if number in gone else line for number, line in enumerate(lines, start=1)]
    if path.exists() or any(map(bytes.strip, kept)):
        replace_file(path, b"".join(line + b"\n" for line in kept))
    return gone


def _same_log(path: Path, given: Path, end: str) -> bool:
    return path.name == given.name or path.name.endswith(end)


def _with_ids(stem: str, messages: Mapping[int, Mapping[str, Any]]) -> dict[int, dict[str, Any]]:
    return {number: {"id": _message_id(stem, number, one), **one} for number, one in messages.items()}


def _blank_before(path: Path, lines: Sequence[bytes]) -> frozenset[int] | None:
    """Return which of these lines are blanked in a log that holds their beginning; None for any other log."""
    before = path.read_bytes().removesuffix(b"\n").split(b"\n")
    if len(before) > len(lines):
        return None
    blank = {number for number, line in enumerate(before, start=1) if line and not line.strip()}
    pairs = enumerate(zip(before, lines, strict=False), start=1)
    same = (old == new or (number in blank and len(old) == len(new)) for number, (old, new) in pairs)
    return frozenset(blank) if all(same) else None


def unread_bytes(ground: Ground) -> int:
    """Return how many bytes of the session logs are yet to be read."""
    with ground.memory.stores.read() as unit:
        known = unit.vault.sessions()
    left = 0
    for path in ground.place.session_files():
        size, before = path.stat().st_size, known.get(path.name)
        left += size - (before.size if before is not None and before.size <= size else 0)
    return left


def blank_forgotten(ground: Ground) -> Ingested:
    """Blank in every session log what was forgotten before; return what that was."""
    total = Ingested()
    with ground.memory.stores.read() as unit:
        paths = ground.place.session_files() if unit.tombstones.any else []
    for path in paths:
        if gone := _blank(ground, path, _lines_in(ground, path, _stamp(path)[1], Ingested())):
            total.keep_out(path.name, gone)
    return total


def keep_turns(ground: Ground) -> int:
    """Keep what every session log says as turns, with the loops and episodes in them; return how many logs.

    Nothing is learned from them: their facts are known already, as after a rebuild.
    """
    count = 0
    for path in ground.place.session_files():
        size, changed = _stamp(path)
        said = _said_in(ground, path, changed, Ingested())
        for piece in _pieces(said, since=0):
            _capture(ground, path, piece, facts=False)
        row = _row(ground, path, None, [each.message for each in said if each.message is not None])
        with ground.memory.stores.write() as unit:
            unit.vault.put_session(replace(row, size=_read_to(said, size), changed=changed))
        count += 1
    return count


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """One line of a session log: a message or a fact, and how many bytes of the log it ends after.

    `timed` says that the time of a message is its own, or the one in the name of its log.
    """

    number: int
    end: int
    timed: bool = False
    message: dict[str, Any] | None = None
    fact: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Lines of a log that are stored at once; `before` is the message before them, which shows where they belong."""

    lines: Sequence[_Said]
    before: dict[str, Any] | None

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [each.message for each in self.lines if each.message is not None]


def _tell_nobody(_name: str, _bytes: int) -> None:
    pass


def _stamp(path: Path) -> tuple[int, float]:
    found = path.stat()
    return found.st_size, found.st_mtime


def _read_session(ground: Ground, path: Path, before: VaultSession | None, total: Ingested, tell: Reading) -> None:
    size, changed = _stamp(path)
    since = before.size if before is not None and before.size <= size else 0
    said = _said_in(ground, path, changed, total)
    end = _read_to(said, size)
    row = before
    for piece in _pieces(said, since=since):
        tell(path.name, since)
        row = _take_piece(ground, path, piece, row, total)
        since = row.size
    with ground.memory.stores.write() as unit:
        unit.vault.put_session(replace(row or _row(ground, path, None, []), size=end, changed=changed))
    tell(path.name, end)
    total.sessions += 1


def _pieces(said: Sequence[_Said], *, since: int) -> Iterator[_Piece]:
    """Yield what comes after the first `since` bytes of a log, in order."""
    first = next((place for place, each in enumerate(said) if each.end > since), len(said))
    size = max(_PIECE, len(said) // _MOST_PIECES)  # each piece is held against all of the session
    for start in range(first, len(said), size):
        earlier = (said[place].message for place in range(start - 1, -1, -1))
        yield _Piece(lines=said[start : start + size], before=next((one for one in earlier if one is not None), None))


def _take_piece(ground: Ground, path: Path, piece: _Piece, row: VaultSession | None, total: Ingested) -> VaultSession:
    """Store one piece, and that it is read; return the row that says so."""
    if piece.messages:
        report = _capture(ground, path, piece, facts=True)  # saying it again stores nothing twice
        total.turns += report.turns
        total.redacted += report.redacted
        total.superseded += report.superseded
    given = _facts_of(ground, path, piece, total)
    session = _session(path)
    now = ground.now()
    read = replace(_row(ground, path, row, piece.messages), size=piece.lines[-1].end)

    def settle(unit: Unit) -> tuple[Written, list[str], int]:
        came = write_facts(unit, ground, given, now)
        # A fact is as old as its time here: an archive that is read late must not come in faded.
        at: dict[str, datetime] = {}
        for origin in unit.vault.said_in(ground.options.persona, session):
            if row is None or origin.captured_at >= row.read_at:
                at[origin.fact_id] = max(origin.captured_at, at.get(origin.fact_id, origin.captured_at))
        fresh = len(at) - len(unit.vault.of(list(at)))
        changed_facts = join(unit, unit.facts.find(list(at)), at, now)
        followers = join(unit, unit.vault.successors(), {}, now)
        if changed_facts or followers:
            ground.fall_behind(unit)
        days = {ground.day_of(message["at"]) for message in piece.messages}
        ground.to_tell(unit, days)
        total.days |= days
        unit.vault.put_session(read)
        ended = [fact.superseded_by for fact in changed_facts if fact.superseded_by]
        return came, [*(fact.id for fact in (*changed_facts, *followers)), *ended], fresh

    came, ids, fresh = written(ground.memory.stores, settle)
    came.count_into(total, path.name)
    total.facts += fresh
    total.again += max(0, len(set(ids)) - fresh)
    total.fact_ids += ids
    embed_new(ground)
    return read


def _capture(ground: Ground, path: Path, piece: _Piece, *, facts: bool) -> CaptureReport:
    """Store the messages of a piece in one transaction."""
    messages = piece.messages if piece.before is None else [piece.before, *piece.messages]
    words = CaptureWords(scope=ground.scope, source=VAULT, session=_session(path), read_again=True)
    request = capture_request(messages, words)
    untimed = {one.message["id"] for one in piece.lines if one.message is not None and not one.timed}
    said = [replace(one, dated=one.message_id not in untimed) for one in request.messages]
    return run(capture(ground.memory, replace(request, messages=said, facts=facts)))


def _facts_of(ground: Ground, path: Path, piece: _Piece, total: Ingested) -> list[Given]:
    """Return the facts in a piece; what makes no sense as one is told and left in the log."""
    found: list[Given] = []
    for each in piece.lines:
        if each.fact is None:
            continue
        try:
            found.append(given_in(each.fact, ground, "session"))
        except InvalidInput as error:
            total.tell(f"{path.name} line {each.number}", str(error))
    return found


def _row(
    ground: Ground, path: Path, before: VaultSession | None, messages: Sequence[Mapping[str, Any]]
) -> VaultSession:
    times = [message["at"] for message in messages]
    if before is not None:
        times += [at for at in (before.first_at, before.last_at) if at is not None]
    return VaultSession(
        name=path.name, size=0, changed=-1.0, read_at=ground.now(),
        turns=len(messages) + (0 if before is None else before.turns),
        first_at=min(times, default=None), last_at=max(times, default=None),
    )  # fmt: skip


def _session(path: Path) -> str:
    return f"{SESSION_PREFIX}{path.stem}"


def _read_to(said: Sequence[_Said], size: int) -> int:
    """Return how far a log can be read: to its end, or to where a half-written line begins."""
    return said[-1].end if said and said[-1].message is None and said[-1].fact is None else size


def _said_in(ground: Ground, path: Path, changed: float, total: Ingested) -> list[_Said]:
    """Return what a session log says; what was forgotten before is blanked in it, and not read."""
    said = _lines_in(ground, path, changed, total)
    gone = _blank(ground, path, said)
    if gone:
        total.keep_out(path.name, gone)
    return [one for one in said if one.number not in gone]


def _blank(ground: Ground, path: Path, said: Sequence[_Said]) -> dict[int, str]:
    """Blank what was forgotten before where it stands in a log; return it, by line number."""
    gone = forgotten_in(
        ground,
        path.stem,
        messages={one.number: _as_timed(one) for one in said if one.message is not None},
        facts={one.number: one.fact for one in said if one.fact is not None},
    )
    if gone:
        blank_lines(path, lambda number, _line: number in gone)
    return gone


def _as_timed(one: _Said) -> dict[str, Any]:
    return {name: value for name, value in (one.message or {}).items() if one.timed or name != "at"}


def _lines_in(ground: Ground, path: Path, changed: float, total: Ingested) -> list[_Said]:
    """Return the messages and the facts of a session log; what cannot be read is told and left in the log.

    A half-written line at its end stands for where that line begins.
    """
    found: list[_Said] = []
    begun, last = _begun(ground, path), None
    end = 0
    for line in read_lines(path):
        where = f"{path.name} line {line.number}"
        if line.said is None and not line.whole:
            total.tell(where, "is half-written; it is read when it is whole")
            found.append(_Said(number=line.number, end=end))
        elif line.said is None:
            total.tell(where, "is no JSON object")
        elif is_fact(line.said):
            found.append(_Said(number=line.number, end=line.end, fact=line.said))
        elif (message := message_in(line.said)) is not None:
            # A message without a time was said when the log was begun, or with the one before it.
            named = message.get("at") or last or begun
            message["at"] = min(named or datetime.fromtimestamp(changed, ground.options.zone), ground.now())
            message.setdefault("id", _message_id(path.stem, line.number, message))
            last = named and message["at"]
            found.append(_Said(number=line.number, end=line.end, message=message, timed=named is not None))
        elif (missing := missing_of_a_fact(line.said)) is not None:
            total.tell(where, missing)
        end = line.end
    return found


def _message_id(stem: str, number: int, message: Mapping[str, Any]) -> str:
    return f"{stem}:{number}-{content_hash(message['content'])[:12]}"


def _begun(ground: Ground, path: Path) -> datetime | None:
    """Return when a log was begun by its name, None when that says nothing."""
    digits = "".join(letter for letter in path.stem if letter.isdigit())[:14]
    for shape, length in (("%Y%m%d%H%M%S", 14), ("%Y%m%d", 8)):
        if len(digits) >= length:
            try:
                return datetime.strptime(digits[:length], shape).replace(tzinfo=ground.options.zone)
            except ValueError:
                continue
    return None


def _safe(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)[:60] or "given"
