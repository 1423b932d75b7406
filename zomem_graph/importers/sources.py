"""Every source by its name, and which one a file holds when nobody said: that is read from its content."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final

from zomem_graph.importers.chatgpt import read_chatgpt
from zomem_graph.importers.claude import read_claude
from zomem_graph.importers.claude_code import json_lines, read_claude_code
from zomem_graph.importers.fields import mapping
from zomem_graph.importers.json_stream import BrokenJson, JsonValues
from zomem_graph.importers.mem0 import read_mem0
from zomem_graph.importers.messages import read_messages
from zomem_graph.importers.places import File, Place
from zomem_graph.importers.records import Passed, Read
from zomem_graph.importers.text import TEXT_SUFFIXES, read_text
from zomem_graph.importers.vault import NOTE_SUFFIXES, read_vault
from zomem_graph.nodes.rules.given import shown
from zomem_graph.stores.errors import InvalidInput, UnknownName

__all__ = [
    "AUTO",
    "SOURCES",
    "Source",
    "detect",
    "left_for",
    "looks_like",
    "read_source",
    "source_named",
    "taken_by",
]

AUTO: Final = "auto"
_MOST_LOOKED_AT: Final = 200  # files of a folder that are opened to see what they are


@dataclass(frozen=True, slots=True)
class Source:
    """How a source is read, what its items are recorded under, and what it wants to be given.

    The items of one `by_path` have no ids of their own: they are known by their place and path.
    """

    name: str
    family: str
    read: Callable[[Place], Iterator[Read]]
    wants: str
    by_path: bool = False


def _table(*sources: Source) -> Mapping[str, Source]:
    return MappingProxyType({source.name: source for source in sources})


# A vault read once as "obsidian" and once as "markdown" is the same vault: one family.
SOURCES: Final = _table(
    Source("chatgpt", "chatgpt", read_chatgpt, "the export's zip, folder or conversations.json"),
    Source("claude", "claude", read_claude, "the export's zip, folder or conversations.json"),
    Source("claude-code", "claude-code", read_claude_code, "a session .jsonl or a folder of them"),
    Source("obsidian", "vault", read_vault, "a vault: a folder or zip of .md files, or one note", by_path=True),
    Source("markdown", "vault", read_vault, "a folder or zip of .md files, or one of them", by_path=True),
    Source("text", "text", read_text, "a .txt file or a folder of them", by_path=True),
    Source("mem0", "mem0", read_mem0, "a JSON export of memories"),
    Source("messages", "messages", read_messages, "a .json or .jsonl of messages, or a folder of them"),
)


def source_named(name: str) -> Source | None:
    """Return the source of a name, None for "auto". Raises UnknownName with the nearest ones."""
    wanted = name.strip().lower().replace("_", "-") if isinstance(name, str) else ""
    if wanted == AUTO:
        return None
    if wanted in SOURCES:
        return SOURCES[wanted]
    near = get_close_matches(wanted, SOURCES, n=2, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise UnknownName(f"There is no source {shown(name)}.{hint} Known are {', '.join(SOURCES)} and {AUTO}.")


def read_source(source: Source, place: Place) -> Iterator[Read]:
    """Yield all that a place holds for a source. Raises InvalidInput when nothing there is for it."""
    yield from source.read(place)
    if not place.taken and not place.passed:
        other = looks_like(place, source)
        cure = f"Try another source: {', '.join(SOURCES)}." if other is None else taken_by(place, other)
        raise InvalidInput(f"{place.path} holds nothing for {source.name!r}. It wants {source.wants}. {cure}")
    for name, reason in place.passed:
        yield Passed(id=f"{place.name}/{name}", title=name, kind="file", outcome="skipped", reason=reason)


def taken_by(place: Place, other: str) -> str:
    """Say which source a place looks like, and the command that imports it."""
    return f"It looks like {other}: `zomem import {other} {shlex.quote(str(place.path))}` imports it."


def detect(place: Place) -> Source:
    """Return the source that a place holds. Raises InvalidInput when none fits, naming what there is."""
    if ".obsidian/" in place.ignored:
        return SOURCES["obsidian"]
    if place.is_single:
        name = _in_file(place, place.files[0])
        return SOURCES[name or "text"]
    for file in place.files:
        if file.suffix in (".json", ".jsonl") and (name := _in_file(place, file)):
            return SOURCES[name]
        if file.suffix in NOTE_SUFFIXES:
            break
    suffixes = {file.suffix for file in place.files}
    if suffixes.intersection(NOTE_SUFFIXES):
        return SOURCES["markdown"]
    if suffixes & {".txt", ".text"}:
        return SOURCES["text"]
    found = ", ".join(sorted(suffixes)[:8]) or "nothing"
    raise InvalidInput(f"{place.path} holds {found}; no source fits. Name one: {', '.join(SOURCES)}.")


def left_for(place: Place, source: Source) -> dict[str, int]:
    """Return how many of the files that a source left are for which other source."""
    return _others(place, place.left, source)


def looks_like(place: Place, source: Source) -> str | None:
    """Return the other source that most of a place is for, going by its content, None when it is for none."""
    return next(iter(_others(place, place.files, source)), None)


def _others(place: Place, files: Sequence[File], source: Source) -> dict[str, int]:
    found = Counter(name for file in files[:_MOST_LOOKED_AT] if (name := _of_file(place, file)))
    return {name: count for name, count in found.most_common() if SOURCES[name].family != source.family}


def _of_file(place: Place, file: File) -> str | None:
    if file.suffix in TEXT_SUFFIXES:
        return "text"
    is_known = file.suffix in (".json", ".jsonl", ".ndjson", *NOTE_SUFFIXES)
    return _in_file(place, file) if is_known else None


def _in_file(place: Place, file: File) -> str | None:
    """Return the source of one file by its beginning, None for plain text and JSON of unknown shape."""
    if file.suffix in NOTE_SUFFIXES:
        return "markdown"
    before = place.bytes_read
    try:
        with place.reading(file) as stream:
            if file.suffix in (".jsonl", ".ndjson"):
                return next((_shape(line) for _n, line in json_lines(stream) if _shape(line)), None)
            values = JsonValues(stream, lists=_ALL_LISTS)
            for value in values:
                return _LIST_SHAPES.get(values.list_name) or _shape(value)
    except (BrokenJson, InvalidInput, OSError):
        return None
    finally:
        place.bytes_read = before
    return None


_LIST_SHAPES: Final = {"results": "mem0", "memories": "mem0", "relations": "mem0", "messages": "messages"}
_ALL_LISTS: Final = (*_LIST_SHAPES, "conversations", "chat_conversations", "threads")


def _shape(value: Any) -> str | None:
    """Return which source an element of a list comes from."""
    if isinstance(value, list):
        return "messages" if value and _shape(value[0]) == "messages" else None
    names = mapping(value).keys()
    if "mapping" in names:
        return "chatgpt"
    if names & {"chat_messages", "prompt_template", "docs", "conversations_memory", "email_address"}:
        return "claude"
    if "sessionId" in names or names >= {"type", "leafUuid"}:
        return "claude-code"
    if "memory" in names:
        return "mem0"
    if names & {"messages", "sessions", "values", "channel_values", "lc"}:
        return "messages"
    return "messages" if names & {"role", "type"} and names & {"content", "data"} else None
