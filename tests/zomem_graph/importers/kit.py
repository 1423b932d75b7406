"""Small files as other programs write them, and short ways to read them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from zomem_graph.importers.places import open_place
from zomem_graph.importers.records import Note, Passed, Read, Talk
from zomem_graph.importers.sources import SOURCES, read_source

__all__ = ["chatgpt", "node", "note", "notes", "passed", "read", "said", "talk", "talks", "write"]


def write(folder: Path, name: str, content: object) -> Path:
    """Write a file: bytes and text as they are, anything else as JSON."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, "utf-8", newline="")
    return path


def read(source: str, path: Path) -> list[Read]:
    """Read everything a source finds at a path."""
    with open_place(path) as place:
        return list(read_source(SOURCES[source], place))


def talks(reads: Iterable[Read]) -> list[Talk]:
    return [each for each in reads if isinstance(each, Talk)]


def talk(reads: Iterable[Read]) -> Talk:
    (only,) = talks(reads)
    return only


def notes(reads: Iterable[Read]) -> dict[str, Note]:
    return {each.title: each for each in reads if isinstance(each, Note)}


def note(reads: Iterable[Read]) -> Note:
    (only,) = notes(reads).values()
    return only


def passed(reads: Iterable[Read]) -> dict[str, str]:
    """Return why items were passed over, by title."""
    return {each.title: each.reason for each in reads if isinstance(each, Passed)}


def said(reads: Iterable[Read]) -> list[tuple[str, str]]:
    """Return (role, content) of the one conversation there is."""
    return [(message.role, message.content) for message in talk(reads).messages]


def node(text: str | Mapping[str, Any] | None, parent: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a node of a ChatGPT export; a text is what the user said, a mapping the whole content."""
    message: dict[str, Any] | None = None
    if text is not None:
        content = {"content_type": "text", "parts": [text]} if isinstance(text, str) else dict(text)
        message = {"author": {"role": "user"}, "content": content, **more}
        if "role" in message:
            message["author"] = {"role": message.pop("role"), "name": message.pop("name", None)}
    return {"parent": parent, "message": message}


def chatgpt(mapping: object, **more: Any) -> dict[str, Any]:
    """Return a conversation of a ChatGPT export."""
    return {"id": "c1", "title": "Trip", "create_time": 1_700_000_000.5, "mapping": mapping, **more}
