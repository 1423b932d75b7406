"""Evaluation sets from a folder, whatever their form, as haystacks of entries with labelled questions."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from zomem_graph.conversations import Conversation, Message, Session, read_conversation
from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.stores.errors import InvalidInput

__all__ = ["Asked", "Entry", "EvaluationSet", "Haystack", "read_set", "unanswerable"]

Triples = Literal["mentions", "links"]
Unit = Literal["turn", "passage", "session"]

_FORMS = (
    "Accepted are folders in the form of LoCoMo (conv-*.json), of HotpotQA and MuSiQue (passages.jsonl, "
    "questions.jsonl) or of LongMemEval (sessions.jsonl, haystacks.json, questions.jsonl)."
)
_PICTURE = re.compile(r" ?\[shared a picture: .*\]$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One text to remember. `unit` names what a hit on it counts as: itself, or its whole session.

    `mentions` are names that the set itself says it speaks of, `ties` the ids of entries it says it is tied to.
    """

    id: str
    unit: str
    text: str
    title: str = ""
    role: str = "user"
    speaker: str | None = None
    session: str | None = None
    at: datetime | None = None
    mentions: tuple[str, ...] = field(default=(), repr=False)
    ties: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and the units that answer it; without one only where it cannot be answered."""

    text: str
    gold: tuple[str, ...]
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Haystack:
    """What is searched as one: a conversation, a collection of passages, a user's sessions."""

    name: str
    entries: tuple[Entry, ...]
    questions: tuple[Asked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSet:
    """A whole set. `headline` are the categories that its headline figure counts."""

    name: str
    unit: Unit
    haystacks: tuple[Haystack, ...]
    headline: tuple[str, ...]

    @property
    def questions(self) -> int:
        """How many questions have usable evidence."""
        return sum(len(haystack.questions) for haystack in self.haystacks)


def read_set(folder: Path, *, triples: Triples | None = None) -> EvaluationSet:
    """Return the set in a folder, told apart by its file names; raises InvalidInput with the forms.

    By the triples that the set gives for a passage it "mentions" their ends, or it is linked with ("links") the
    passages whose titles are an end.
    """
    if conversations := sorted(folder.glob("conv-*.json")):
        haystacks = tuple(_of_conversation(path) for path in conversations)
        # The evidence of an adversarial question tempts and does not answer.
        return _set(folder, "turn", haystacks, leave_out={"adversarial"})
    if (folder / "haystacks.json").is_file() and (folder / "sessions.jsonl").is_file():
        return _set(folder, "session", tuple(_of_sessions(folder)))
    if (folder / "passages.jsonl").is_file():
        return _set(folder, "passage", (_of_passages(folder, triples),))
    raise InvalidInput(f"{folder} holds no evaluation set. {_FORMS}")


def _set(
    folder: Path, unit: Unit, haystacks: tuple[Haystack, ...], *, leave_out: Iterable[str] = ()
) -> EvaluationSet:
    categories = dict.fromkeys(question.category for each in haystacks for question in each.questions)
    if not categories:
        raise InvalidInput(f"{folder} holds no question with evidence. {_FORMS}")
    headline = tuple(sorted(name for name in categories if name not in set(leave_out)))
    return EvaluationSet(name=folder.resolve().name, unit=unit, haystacks=haystacks, headline=headline)


def _of_conversation(path: Path) -> Haystack:
    conversation = read_conversation(path)
    return Haystack(
        name=path.stem,
        entries=tuple(_turns(conversation)),
        questions=tuple(
            Asked(text=question.text, gold=question.evidence, category=question.kind)
            for question in conversation.questions
            if question.evidence
        ),
    )


def _turns(conversation: Conversation) -> Iterator[Entry]:
    for session in conversation.sessions:
        for message in session.messages:
            yield _turn(message, session)


def _turn(message: Message, session: Session) -> Entry:
    # Captions are a model's words about a picture: published figures leave them out.
    text = _PICTURE.sub("", message.content)
    return Entry(
        id=message.id,
        unit=message.id,
        text=text or message.content,
        role=message.role,
        speaker=message.name,
        session=session.id,
        at=message.at,
    )


def _of_passages(folder: Path, triples: Triples | None) -> Haystack:
    rows = list(_lines(folder / "passages.jsonl"))
    titled: dict[str, list[str]] = {}
    for row in rows if triples == "links" else ():
        titled.setdefault(entity_key(str(row["title"])), []).append(str(row.get("id", row["title"])))
    entries = [
        Entry(
            id=name,
            unit=name,
            text=str(row["text"]),
            title=str(row["title"]),
            mentions=tuple(dict.fromkeys(_ends(row))) if triples == "mentions" else (),
            ties=tuple(sorted({other for end in _ends(row) for other in titled.get(entity_key(end), ())} - {name})),
        )
        for row in rows
        for name in [str(row.get("id", row["title"]))]
    ]
    questions = [
        Asked(
            text=str(row["question"]),
            gold=tuple(dict.fromkeys(map(str, row["gold"]))),
            category=f"{row['hops']} hops" if "hops" in row else str(row.get("type", "question")),
        )
        for row in _lines(folder / "questions.jsonl")
        if row.get("gold")
    ]
    return Haystack(name="passages", entries=tuple(entries), questions=tuple(questions))


def unanswerable(folder: Path) -> tuple[Haystack, ...]:
    """Return the haystacks of a LongMemEval folder whose questions have no answer in them."""
    sessions = {str(row["session_id"]): row for row in _lines(folder / "sessions.jsonl")}
    haystacks: Mapping[str, list[str]] = json.loads((folder / "haystacks.json").read_text("utf-8"))
    return tuple(
        Haystack(
            name=str(row["haystack"]),
            entries=tuple(
                entry for id_ in haystacks[str(row["haystack"])] for entry in _session_turns(id_, sessions[id_])
            ),
            questions=(Asked(text=str(row["question"]), gold=(), category="abstention"),),
        )
        for row in _lines(folder / "questions.jsonl")
        if not row.get("gold")
    )


def _ends(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the subject and object of each triple of a passage."""
    for subject, _relation, object_ in row.get("triples", ()):
        yield from (str(subject), str(object_))


def _of_sessions(folder: Path) -> Iterator[Haystack]:
    sessions = {str(row["session_id"]): row for row in _lines(folder / "sessions.jsonl")}
    asked = [row for row in _lines(folder / "questions.jsonl") if row.get("gold")]
    haystacks: Mapping[str, list[str]] = json.loads((folder / "haystacks.json").read_text("utf-8"))
    for name, ids in haystacks.items():
        questions = [
            Asked(
                text=str(row["question"]),
                gold=tuple(row["gold"]),
                category=str(row.get("author", "question")),
            )
            for row in asked
            if row["haystack"] == name
        ]
        if questions:
            entries = [entry for id_ in ids for entry in _session_turns(id_, sessions[id_])]
            yield Haystack(name=name, entries=tuple(entries), questions=tuple(questions))


def _session_turns(id_: str, session: Mapping[str, Any]) -> Iterator[Entry]:
    at = _session_time(str(session.get("date", "")))
    for number, turn in enumerate(session["turns"]):
        if str(turn["content"]).strip():
            yield Entry(
                id=f"{id_}:{number}",
                unit=id_,
                text=str(turn["content"]),
                role=str(turn["role"]),
                session=id_,
                at=at,
            )


def _session_time(stamp: str) -> datetime | None:
    """Read "2023/05/30 (Tue) 21:48"."""
    found = re.match(r"(\d{4})/(\d\d)/(\d\d)\D+(\d\d):(\d\d)", stamp)
    return datetime(*map(int, found.groups()), tzinfo=UTC) if found else None  # type: ignore[misc, arg-type]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise InvalidInput(f"{path} is missing. {_FORMS}")
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise InvalidInput(f"{path}, line {number}: {error}.") from error
