"""Dumps of messages: LangChain's, LangGraph's states and threads, or plain lists of role and content."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zomem_graph.conversations import read_conversation
from zomem_graph.importers.claude_code import json_lines
from zomem_graph.importers.fields import listing, mapping, moment, plain_text, text
from zomem_graph.importers.json_stream import BrokenJson, JsonValues, TooLarge
from zomem_graph.importers.places import File, Place
from zomem_graph.importers.records import Passed, Read, Talk
from zomem_graph.importers.text import talks_of
from zomem_graph.nodes.steps.messages import Said, to_said
from zomem_graph.stores.errors import InvalidInput

__all__ = ["read_messages"]

_LISTS: Final = ("messages", "threads", "conversations")
_INSIDE: Final = ("values", "channel_values", "checkpoint", "state")
_PART_MESSAGES: Final = 1_000
_PART_CHARACTERS: Final = 4_000_000
_CLASS_NAME = re.compile(r"(Human|AI|System|Tool|Function|Chat|Remove)Message(?:Chunk)?")


def read_messages(place: Place) -> Iterator[Read]:
    """Yield the conversations of each file; a long one comes in parts."""
    for file in place.with_suffix(".json", ".jsonl"):
        try:
            with place.reading(file) as stream:
                if file.suffix in (".jsonl", ".ndjson"):
                    yield from _conversations((line for _n, line in json_lines(stream)), {}, place, file)
                else:
                    values = JsonValues(stream, lists=_LISTS)
                    yield from _conversations(values, values.header, place, file)
        except BrokenJson as error:
            yield _failed(place, file, f"{error}; what came before it was read")
        except (InvalidInput, OSError) as error:
            yield _failed(place, file, str(getattr(error, "strerror", None) or error))


def _failed(place: Place, file: File, reason: str) -> Passed:
    return Passed(id=f"{place.name}/{file.name}", title=file.name, kind="file", outcome="failed", reason=reason)


@dataclass(slots=True)
class _Pending:
    """Messages that wait to become a talk or a part of one."""

    file: File
    name: str = ""
    thread: str | None = None
    part: int = 1
    messages: list[Said] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    size: int = 0

    def take(self, value: Any) -> None:
        said, reason = _said(value)
        if said is None:
            self.skipped[reason] += 1
            return
        self.messages.append(said)
        self.size += len(said.content)
        if not self.name:
            self.name = f"{self.file.stem}-{said.digest[:16]}"

    @property
    def is_full(self) -> bool:
        return len(self.messages) >= _PART_MESSAGES or self.size >= _PART_CHARACTERS

    def talk(self) -> Talk:
        name = self.name or self.file.stem
        talk = Talk(
            id=name if self.part == 1 else f"{name}#{self.part}",
            title=self.thread or self.file.stem,
            messages=tuple(self.messages),
            session=self.thread or f"messages:{name}",
            thread=self.thread,
            part=self.part,
            skipped=self.skipped,
        )
        self.messages, self.skipped, self.size, self.part = [], Counter(), 0, self.part + 1
        return talk


def _conversations(values: Iterable[Any], header: Mapping[str, Any], place: Place, file: File) -> Iterator[Read]:
    """Yield a talk for each element that holds messages, and one for all elements that are messages."""
    loose = _Pending(file)
    for number, value in enumerate(values, 1):
        inside = _messages_inside(value)
        if inside is not None:
            yield from _whole(value, inside, file, number)
        elif isinstance(mapping(value).get("sessions"), list):
            yield from _bundled(value, place, file)
        else:
            if loose.thread is None and (thread := _thread_of(header) or _thread_of(mapping(value))):
                loose.thread = loose.name = thread
            loose.take(value)
            if loose.is_full:
                yield loose.talk()
    if loose.messages or loose.skipped:
        yield loose.talk()


def _whole(value: Any, inside: Iterable[Any], file: File, number: int) -> Iterator[Talk]:
    thread = _thread_of(mapping(value)) or None
    pending = _Pending(file, thread or "", thread)
    for message in inside:
        pending.take(message)
        if pending.is_full:
            yield pending.talk()
    if pending.messages or pending.skipped or pending.part == 1:
        pending.name = pending.name or f"{file.stem}-{number}"
        yield pending.talk()


def _bundled(value: Mapping[str, Any], place: Place, file: File) -> Iterator[Read]:
    try:
        conversation = read_conversation(json.dumps(value))
    except InvalidInput as error:
        yield _failed(place, file, str(error))
        return
    yield from talks_of(conversation, f"{place.name}/{file.name}", conversation.title)


def _messages_inside(value: Any) -> list[Any] | None:
    """Return the messages that an element holds: a list, a thread, a state or a checkpoint."""
    if isinstance(value, list):
        return value
    fields = mapping(value)
    if isinstance(fields.get("messages"), list):
        return list(fields["messages"])
    for name in _INSIDE:
        if isinstance(fields.get(name), Mapping) and (inside := _messages_inside(fields[name])) is not None:
            return inside
    return None


def _thread_of(value: Mapping[str, Any]) -> str:
    configurable = mapping(mapping(value.get("config")).get("configurable"))
    for place in (value, configurable, mapping(value.get("configurable")), mapping(value.get("metadata"))):
        for name in ("thread_id", "session_id"):
            if (found := plain_text(place.get(name))) and len(found) <= 200:
                return found
    return ""


def _said(value: Any) -> tuple[Said | None, str]:
    """Return one message, or the reason why it is none."""
    if isinstance(value, TooLarge):
        return None, f"it is {value.reason}"
    fields = _plain(value)
    extra = mapping(fields.get("additional_kwargs"))
    at = moment(*(fields.get(name) for name in ("at", "created_at", "timestamp", "time")), extra.get("at"))
    try:
        said = to_said([{**fields, "at": at, "metadata": mapping(fields.get("metadata"))}])
    except InvalidInput:
        return None, "it is no message that can be read"
    if said:
        return said[0], ""
    if (text(fields.get("role")) or text(fields.get("type"))).lower() in ("system", "developer"):
        return None, "it is a system message"
    return None, "it only calls a tool" if listing(fields.get("tool_calls")) else "it holds no words"


def _plain(value: Any) -> dict[str, Any]:
    """Return the fields of a message, however it was dumped."""
    fields = dict(mapping(value))
    if isinstance(fields.get("kwargs"), Mapping) and isinstance(fields.get("id"), list):
        kind = _CLASS_NAME.fullmatch(text(fields["id"][-1]) if fields["id"] else "")
        return {"type": kind[1].lower() if kind else "", **fields["kwargs"]}
    if isinstance(fields.get("data"), Mapping):
        return {"type": fields.get("type"), **fields["data"]}
    return fields
