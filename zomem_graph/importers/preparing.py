"""Between reading and writing: take secrets and recalled text out, part long texts, take fingerprints.

Nothing here touches the stores, so whatever cannot be stored is known before anything is written.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from zomem_graph.importers.markdown import chunks, section_key
from zomem_graph.importers.records import Note, Section, Talk
from zomem_graph.nodes.options import WriteOptions
from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.given import LARGEST_METADATA, LONGEST_SESSION, json_bytes
from zomem_graph.nodes.rules.quotes import strip_recalled
from zomem_graph.nodes.rules.secrets import looks_secret, redact
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.stores.identity import content_hash

__all__ = ["Piece", "ReadyNote", "ReadyTalk", "prepare_note", "prepare_talk"]

_LONGEST_NAME: Final = 200
_ORDINARY: Final = 2_000  # characters
_MOST_METADATA: Final = LARGEST_METADATA - 10_000  # leaves room for what an import adds
_DEEPEST: Final = 6  # levels of metadata that are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyTalk:
    """A conversation that can be written: messages without secrets, each with its fingerprint."""

    talk: Talk
    item: str
    digest: str
    session: str
    messages: Sequence[tuple[str, Said]]
    redacted: int
    passed: Mapping[str, int]

    @property
    def count(self) -> int:
        """Return how many messages there are to write."""
        return len(self.messages)

    @property
    def weight(self) -> int:
        """Return about how much work they are, in ordinary messages."""
        return sum(1 + len(said.content) // _ORDINARY for _digest, said in self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One fact of a note on its way in. With `text` it is shown and embedded as that."""

    digest: str
    key: str
    value: str
    path: tuple[str, ...]
    sentence: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyNote:
    """A note that can be written: pieces without secrets, each with its key and fingerprint.

    One without pieces has a reason why there are none.
    """

    note: Note
    source_id: str
    item: str
    digest: str
    names: tuple[str, ...]
    pieces: Sequence[Piece]
    mentions: tuple[str, ...]
    metadata: Mapping[str, Any]
    redacted: int
    passed: Mapping[str, int]
    reason: str = ""

    @property
    def count(self) -> int:
        """Return how many pieces there are to write."""
        return len(self.pieces)

    @property
    def weight(self) -> int:
        """Return about how much work they are, in ordinary messages."""
        return len(self.pieces) + 1


@dataclass(slots=True)
class _Cleaner:
    """Cuts secrets out of texts and counts them."""

    cut: int = 0
    passed: Counter[str] = field(default_factory=Counter)
    clean: dict[str, str] = field(default_factory=dict)
    too_large: int = 0

    def text(self, text: str) -> str:
        cleaned, found = redact(text)
        self.cut += found
        return cleaned

    def after(self, label: str, text: str) -> str:
        """Return the text without secrets, also those that only the label before it gives away."""
        cleaned = self.text(f"{label}{text}")
        return cleaned.removeprefix(label) if cleaned.startswith(label) else self.text(text)

    def name(self, name: str) -> str:
        return self.text(" ".join(name.split()))[:_LONGEST_NAME]

    def id(self, given: str) -> str:
        """Return an id as it is, or its hash when a secret is in it."""
        return content_hash(given) if redact(given)[1] else given

    def metadata(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return metadata without secrets; the largest parts of more than is kept of one thing are left out."""
        cleaned: Mapping[str, Any] = self.plain(given)
        left = _MOST_METADATA
        if json_bytes(cleaned) <= left:
            return cleaned
        self.too_large += 1
        kept = set()
        for size, name in sorted((json_bytes({name: part}), name) for name, part in cleaned.items()):
            left -= size
            if left >= 0:
                kept.add(name)
        return {name: part for name, part in cleaned.items() if name in kept}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out of things that are kept."""
        if not self.too_large:
            return ()
        return (f"the largest parts of metadata over {_MOST_METADATA:,} bytes are left out ({self.too_large} times)",)

    def plain(self, value: Any, *, depth: int = 0) -> Any:
        """Return metadata without secrets, as deep as is reasonable."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping) and depth < _DEEPEST:
            return {str(name): self._named(str(name), part, depth) for name, part in value.items()}
        if isinstance(value, list | tuple) and depth < _DEEPEST:
            return [self.plain(part, depth=depth + 1) for part in value]
        return value if isinstance(value, bool | int | float) or value is None else str(value)[:_LONGEST_NAME]

    def _named(self, name: str, value: Any, depth: int) -> Any:
        if not isinstance(value, str):
            return self.plain(value, depth=depth + 1)
        said = f"{name} = {value}"  # the same model and folder come with every message
        if said not in self.clean:
            self.clean[said] = self.after(f"{name} = ", value)
        return self.clean[said]


def prepare_talk(talk: Talk, *, source: str, options: WriteOptions) -> ReadyTalk:
    """Return a conversation ready to be written."""
    cleaner = _Cleaner(passed=Counter(talk.skipped))
    title, name = cleaner.name(talk.title), cleaner.id(talk.id)
    label = {"source": f"import:{source}:{name}", **({"title": title} if title else {})}
    messages: list[tuple[str, Said]] = []
    seen: Counter[tuple[str | None, str]] = Counter()
    for message in talk.messages:
        content = cleaner.text(strip_recalled(message.content))
        if not content.strip():
            cleaner.passed["it holds only what memory had recalled"] += 1
            continue
        speaker = message.speaker if message.speaker == message.role else cleaner.name(message.speaker)
        metadata = {**cleaner.metadata(message.metadata), **label}
        clean = replace(message, content=content, speaker=speaker or message.role, metadata=metadata)
        for part in _parted(clean, options.longest_text):
            seen[(part.message_id, part.digest)] += 1
            again = seen[(part.message_id, part.digest)]
            messages.append((content_hash(part.message_id or "", part.digest, str(again)), part))
    return ReadyTalk(
        talk=replace(talk, id=name, messages=(), title=title or name, warnings=(*talk.warnings, *cleaner.warnings)),
        item=content_hash(talk.id),
        digest=content_hash(*(digest for digest, _said in messages)),
        session=_session(talk.session or f"{source}:{name}"),
        messages=messages,
        redacted=cleaner.cut,
        passed=cleaner.passed,
    )


def _session(name: str) -> str:
    """Return the name of a session; of one that is too long its beginning and its fingerprint."""
    return name if len(name) <= LONGEST_SESSION else f"{name[:_LONGEST_NAME]} {content_hash(name)}"


def _parted(message: Said, longest: int) -> Iterator[Said]:
    """Yield the message, or the parts of one that is too long for one turn."""
    if len(message.content) <= longest:
        yield message
        return
    for number, content in enumerate(chunks(message.content, most=longest), 1):
        name = f"{message.message_id}#{number}" if message.message_id else None
        yield replace(message, content=content, message_id=name)


def prepare_note(note: Note, *, reason: str = "nothing of it can be stored") -> ReadyNote:
    """Return a note ready to be written: one piece a section, more for a long one; `reason` if there is none."""
    cleaner = _Cleaner(passed=Counter(note.skipped))
    names = tuple(dict.fromkeys(name for one in note.names if (name := cleaner.name(one)))) or ("untitled",)
    pieces = list(_pieces(note.sections, names[0], cleaner))
    mentions = [cleaner.name(name) for name in note.mentions]
    metadata = cleaner.metadata(note.metadata)
    warnings = (*note.warnings, *cleaner.warnings)
    return ReadyNote(
        note=replace(
            note, id=cleaner.id(note.id), sections=(), mentions=(), metadata={}, names=names, warnings=warnings
        ),
        source_id=cleaner.id(note.id),
        item=content_hash(note.id),
        digest=content_hash(*(piece.digest for piece in pieces)),
        names=names,
        pieces=pieces,
        mentions=tuple(dict.fromkeys(key for name in mentions if (key := entity_key(name)))),
        metadata=metadata,
        redacted=cleaner.cut,
        passed=cleaner.passed,
        reason="" if pieces else reason,
    )


def _pieces(sections: Sequence[Section], title: str, cleaner: _Cleaner) -> Iterator[Piece]:
    numbers: Counter[str] = Counter()
    for section in sections:
        path = tuple(cleaner.name(name) for name in section.path)
        base = section_key(path)
        for value in chunks(cleaner.after(f"{base if path else title} = ", section.text)):
            numbers[base] += 1
            key = section_key(path, number=numbers[base])
            if looks_secret(f"{key} = {value}") or looks_secret(key):
                cleaner.passed["it looks like a secret"] += 1
                continue
            known_by = section_key((section.known_by,), number=numbers[base]) if section.known_by else key
            digest = content_hash(known_by, " ".join(value.split()))
            yield Piece(digest=digest, key=key, value=value, path=path, sentence=section.sentence)
