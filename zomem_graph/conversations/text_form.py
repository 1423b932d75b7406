"""Chats as text or Markdown: lines `Name: …` or `**Name:** …`, headings, rules and dates between sessions.

Nothing that was said may be lost: a line that opens no message belongs to the message before it;
what stands before the first one is listed in `Conversation.skipped`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from zomem_graph.conversations.dates import find_datetime, is_only_a_date
from zomem_graph.conversations.labels import Label, fenced_lines, label_in, labels_in, speakers_in
from zomem_graph.conversations.transcript import (
    Conversation,
    Message,
    Session,
    conversation_of,
    is_role,
    speaker,
)
from zomem_graph.stores.errors import InvalidInput

__all__ = ["conversation_from_text", "has_labels", "has_speaker_lines"]

_HEADING = re.compile(r"#{1,6}[ \t](?P<text>.*)")
_SESSION_WORD = re.compile(r"(?:session|conversation|chat|thread|day|part)\b", re.IGNORECASE)
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}")
_RULE_WITH_TEXT = re.compile(r"\s*[-*_=]{3,}\s*(?P<text>[^-*_=\s].*?)\s*[-*_=]*\s*")
_LONGEST_HEADING = 200
_FRONT_MATTER = re.compile(r"(?P<key>[a-z][a-z0-9_-]*):(?:\s+(?P<value>.*))?|\s.*|- .*|")


def has_speaker_lines(text: str) -> bool:
    """Tell whether somebody speaks in a text that may as well be a note or a list."""
    return bool(speakers_in(_lines(text)))


def has_labels(text: str) -> bool:
    """Tell whether a text has at least one line that may open a message."""
    return bool(labels_in(_lines(text)))


def conversation_from_text(text: str, *, title: str) -> Conversation:
    """Return the conversation in a text or Markdown chat, in which any label will do if no speaker is sure.

    Raises InvalidInput when nobody speaks in it.
    """
    lines = _lines(text)
    reading = _Reading(lines, speakers=speakers_in(lines) or labels_in(lines), fenced=fenced_lines(lines))
    for number in range(reading.skip_front_matter(), len(lines)):
        reading.take(number)
    if not any(session.turns for session in reading.sessions):
        raise InvalidInput("has no line of the form `Name: …`")
    sessions = [
        draft.finished(f"s{n}", skipped=reading.skipped) for n, draft in enumerate(reading.told_sessions(), 1)
    ]
    return conversation_of(reading.title or title, sessions, skipped=reading.skipped)


def _lines(text: str) -> list[str]:
    # Not splitlines: a form feed or a line separator inside a message is part of what was said.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or _RULE.fullmatch(lines[-1])):
        lines.pop()
    return lines


@dataclass(slots=True)
class _DraftTurn:
    label: str
    at: datetime | None
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n").rstrip()


@dataclass(slots=True)
class _DraftSession:
    at: datetime | None = None
    turns: list[_DraftTurn] = field(default_factory=list)

    def finished(self, session_id: str, *, skipped: list[str]) -> Session:
        messages = []
        for n, turn in enumerate(self.turns, 1):
            role, name = speaker(turn.label)
            message = Message(role, turn.text, name, turn.at or self.at, f"{session_id}:{n}")
            if message.content:
                messages.append(message)
            else:
                skipped.append(f"message {message.id}: {turn.label} says nothing")
        return Session(session_id, self.at, tuple(messages))


class _Reading:
    """Goes through the lines once and sorts each: title, session, new message, or more of the last one."""

    def __init__(self, lines: Sequence[str], *, speakers: frozenset[str], fenced: frozenset[int]) -> None:
        self.lines, self.speakers, self.fenced = lines, speakers, fenced
        self.title: str | None = None
        self.sessions = [_DraftSession()]
        self.skipped: list[str] = []
        self.speech_follows = self._lines_before_speech()

    def skip_front_matter(self) -> int:
        """Read title and date from a YAML block at the top; return the number of the first line after it."""
        end = next((n for n, line in enumerate(self.lines[1:60], 1) if line.strip() == "---"), 0)
        if self.lines[0].strip() != "---" or not end:
            return 0
        matches = [_FRONT_MATTER.fullmatch(line) for line in self.lines[1:end]]
        keys = {match["key"]: (match["value"] or "").strip("\"' ") for match in matches if match and match["key"]}
        if not all(matches) or not keys or any(is_role(key) for key in keys):
            return 0
        self.title = keys.get("title") or None
        self.sessions[0].at = find_datetime(keys.get("date", ""))
        return end + 1

    def take(self, number: int) -> None:
        line = self.lines[number]
        if number in self.fenced:
            self._continue(number)
        elif label := self._label(line):
            self._open_message(label)
        elif self._is_session_break(number):
            self._open_session(find_datetime(line))
        elif heading := self._opening_heading(line):
            self.title = self.title or heading
            self._open_session(find_datetime(heading))
        else:
            self._continue(number)

    def told_sessions(self) -> list[_DraftSession]:
        """Return the sessions in which something was said."""
        told = [session for session in self.sessions if session.turns]
        if len(told) > 2 and all(len(session.turns) == 1 and session.at is None for session in told):
            # A rule after every single message is decoration, not the end of a sitting.
            return [_DraftSession(None, [session.turns[0] for session in told])]
        return told

    def _label(self, line: str) -> Label | None:
        heading = _HEADING.fullmatch(line[:_LONGEST_HEADING])
        if heading and is_role(name := heading["text"].strip("*_: ")):
            return Label(name=name, rest="", bold=False, stamp="")
        label = label_in(line)
        return label if label and label.name in self.speakers else None

    def _is_session_break(self, number: int) -> bool:
        return number in self.speech_follows and self._may_divide(self.lines[number])

    def _may_divide(self, line: str) -> bool:
        if len(line) > _LONGEST_HEADING:
            return False
        if heading := _HEADING.fullmatch(line):
            text = heading["text"].strip()
            return bool(_SESSION_WORD.match(text) or find_datetime(text))
        if _RULE.fullmatch(line) or is_only_a_date(line):
            return True
        rule = _RULE_WITH_TEXT.fullmatch(line)
        return bool(rule and find_datetime(rule["text"]))

    def _lines_before_speech(self) -> frozenset[int]:
        """Return the lines after which, empty lines and dividers aside, somebody speaks.

        A heading or a rule inside an answer is followed by more of the answer; one between sittings is not.
        """
        before, follows = [], False
        for number in range(len(self.lines) - 1, -1, -1):
            line = self.lines[number]
            if follows:
                before.append(number)
            if self._label(line):
                follows = True
            elif line.strip() and not self._may_divide(line):
                follows = False
        return frozenset(before)

    def _open_session(self, at: datetime | None) -> None:
        current = self.sessions[-1]
        if current.turns:
            self.sessions.append(_DraftSession(at))
        else:
            current.at = at or current.at

    def _opening_heading(self, line: str) -> str | None:
        heading = _HEADING.fullmatch(line)
        nothing_said = len(self.sessions) == 1 and not self.sessions[0].turns
        return heading["text"].strip() if heading and nothing_said else None

    def _open_message(self, label: Label) -> None:
        session = self.sessions[-1]
        at = find_datetime(label.stamp, day=session.at) if label.stamp else None
        session.turns.append(_DraftTurn(label.name, at, [label.rest] if label.rest else []))

    def _continue(self, number: int) -> None:
        line = self.lines[number]
        if turns := self.sessions[-1].turns:
            turns[-1].lines.append(line)
        elif line.strip():
            self.skipped.append(f"line {number + 1}: {line.strip()[:60]}")
