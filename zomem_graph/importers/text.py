"""Plain text: a transcript with lines `Name: …` becomes a conversation, prose becomes a note."""

from collections.abc import Iterator
from typing import Final

from zomem_graph.conversations import Conversation, Session, read_conversation
from zomem_graph.importers.decoding import decode
from zomem_graph.importers.places import File, Place
from zomem_graph.importers.records import Note, Passed, Read, Section, Talk
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.stores.errors import InvalidInput

__all__ = ["TEXT_SUFFIXES", "read_text", "talks_of"]

TEXT_SUFFIXES: Final = (".txt", ".text", ".log")
_LARGEST: Final = 64_000_000
_SPEAKERS_IN: Final = 100_000  # characters that are looked at to tell a transcript from prose
_FEWEST_LINES: Final = 3


def read_text(place: Place) -> Iterator[Read]:
    """Yield each text file as conversations or as a note; what cannot be read is passed over."""
    for file in place.with_suffix(*TEXT_SUFFIXES):
        try:
            text, note = decode(place.content(file, most=_LARGEST))
            yield from _read(place, file, text, (note,) if note else ())
        except (InvalidInput, OSError) as error:
            reason = str(getattr(error, "strerror", None) or error)
            yield Passed(id=_id(place, file), title=file.name, kind="file", outcome="failed", reason=reason)


def _read(place: Place, file: File, text: str, warnings: tuple[str, ...]) -> Iterator[Read]:
    if not text.strip():
        yield Passed(id=_id(place, file), title=file.name, kind="note", outcome="skipped", reason="it is empty")
    elif _is_transcript(text):
        yield from talks_of(read_conversation(f"{text}\n"), _id(place, file), file.stem, warnings)
    else:
        names = (file.stem, f"{place.name}/{file.stem}", f"{place.name}/{file.name}")
        yield Note(
            id=_id(place, file),
            names=tuple(dict.fromkeys(names)),
            sections=(Section((), text.strip("\n")),),
            metadata={"path": file.name},
            warnings=warnings,
        )


def talks_of(conversation: Conversation, name: str, title: str, warnings: tuple[str, ...] = ()) -> Iterator[Talk]:
    """Yield one talk a session of a conversation; what was read past becomes a warning of the first."""
    told = (*warnings, *conversation.skipped)
    for session in conversation.sessions:
        where = name if len(conversation.sessions) == 1 else f"{name}/{session.id}"
        messages = tuple(_said(session))
        silent = {"it is a system message": len(session.messages) - len(messages)}
        yield Talk(
            id=where,
            title=title,
            messages=messages,
            skipped={reason: count for reason, count in silent.items() if count},
            warnings=told,
        )
        told = ()


def _said(session: Session) -> Iterator[Said]:
    for message in session.messages:
        if message.role != "system":
            yield Said(
                role=message.role,
                speaker=message.name or message.role,
                content=message.content,
                at=message.at,
            )


def _is_transcript(text: str) -> bool:
    """Return whether two lines or more of the beginning are said by somebody."""
    try:
        found = read_conversation(f"{text[:_SPEAKERS_IN]}\n")
    except InvalidInput:
        return False
    said = list(found.messages)
    return len(said) >= _FEWEST_LINES or len({message.name for message in said}) > 1


def _id(place: Place, file: File) -> str:
    return f"{place.name}/{file.name}"
