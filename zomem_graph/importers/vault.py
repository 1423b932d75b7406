"""A folder of Markdown notes, an Obsidian vault or not: properties, pieces by heading, links and tags."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from zomem_graph.importers.decoding import decode
from zomem_graph.importers.front_matter import (
    FrontMatter,
    flat,
    iso,
    read_front_matter,
    split_front_matter,
    tags_in,
)
from zomem_graph.importers.links import NoteNames, WikiLink, inline_tags, links_in, without_code
from zomem_graph.importers.markdown import sections_of
from zomem_graph.importers.places import File, Place
from zomem_graph.importers.records import Note, Passed, Read, Section
from zomem_graph.nodes.rules.tiers import CATEGORIES
from zomem_graph.stores.errors import InvalidInput

__all__ = ["NOTE_SUFFIXES", "note_of", "read_vault"]

NOTE_SUFFIXES: Final = (".md", ".markdown")
_LARGEST_NOTE: Final = 32_000_000
_PROPERTIES: Final = "properties"
_ATTACHMENT = re.compile(r"\.(?!md$)[a-z][a-z0-9]{1,5}$", re.IGNORECASE)


def read_vault(place: Place) -> Iterator[Read]:
    """Yield every note of a folder, archive or file; what cannot be read is passed over with its reason."""
    files = place.with_suffix(*NOTE_SUFFIXES)
    names = NoteNames(file.name for file in files)
    for file in files:
        try:
            text, note = decode(place.content(file, most=_LARGEST_NOTE))
        except (InvalidInput, OSError) as error:
            reason = str(getattr(error, "strerror", None) or error)
            yield Passed(id=_id(place, file), title=file.name, kind="note", outcome="failed", reason=reason)
            continue
        yield note_of(place, file, text, names=names, warnings=(note,) if note else ())


def note_of(place: Place, file: File, text: str, *, names: NoteNames, warnings: tuple[str, ...] = ()) -> Read:
    """Return a note from its text, or why there is nothing in it."""
    raw, body = split_front_matter(text)
    front = read_front_matter(raw) if raw is not None else FrontMatter()
    title = names.title(file.name)
    sections = (*_properties(front, title), *sections_of(body, title=file.stem))
    if not sections:
        reason = "it has properties without values" if front.values else "it is empty"
        reason = "it has nothing but its title" if body.strip() else reason
        return Passed(id=_id(place, file), title=title, kind="note", outcome="skipped", reason=reason)
    links = _links(raw or "", body, names, of=file.name)
    tags = _unique([*tags_in(front.first("tags", "tag")), *inline_tags(without_code(body))])
    aliases = _unique([*flat(front.first("aliases", "alias")), *_other_title(front, file.stem)])
    return Note(
        id=_id(place, file),
        names=_names(front, title, place, file),
        sections=sections,
        mentions=tuple(_unique([title, file.stem, *aliases, *links, *tags])),
        category=_category(front),
        metadata=_metadata(front, file, tags=tags, aliases=aliases, links=links),
        warnings=(*warnings, *((front.warning,) if front.warning else ())),
    )


def _id(place: Place, file: File) -> str:
    return f"{place.name}/{file.name}"


def _properties(front: FrontMatter, title: str) -> Iterator[Section]:
    if lines := list(front.lines()):
        yield Section((_PROPERTIES,), "\n".join(lines))


def _names(front: FrontMatter, title: str, place: Place, file: File) -> tuple[str, ...]:
    """Return what the note may be called: by itself, its title, then longer names that tell it apart."""
    own = front.first("entity")
    path = str(PurePosixPath(file.name).with_suffix(""))
    candidates = [own.strip() if isinstance(own, str) else "", title, path, f"{place.name}/{path}"]
    return tuple(_unique(candidates))


def _category(front: FrontMatter) -> str:
    said = front.first("category")
    return said if isinstance(said, str) and said in CATEGORIES else "reference"


def _other_title(front: FrontMatter, stem: str) -> Iterator[str]:
    said = front.first("title")
    if isinstance(said, str) and said.strip() and said.strip().casefold() != stem.casefold():
        yield said.strip()


def _links(raw: str, body: str, names: NoteNames, *, of: str) -> list[str]:
    """Return what the linked notes are called; one that does not exist goes by the name in the link."""
    found = [*links_in(raw), *links_in(without_code(body))]
    return _unique(_called(link, names, of) for link in found if link.target)


def _called(link: WikiLink, names: NoteNames, of: str) -> str:
    """Return what a linked note is called, "" for a picture or another attachment."""
    path = names.resolve(link.target, of=of)
    if path is not None:
        return names.title(path)
    name = PurePosixPath(link.target).name
    return "" if _ATTACHMENT.search(name) else name.removesuffix(".md")


def _metadata(front: FrontMatter, file: File, **lists: list[str]) -> dict[str, Any]:
    dates = {
        "created": iso(front.first("created", "date", "created_at", "date created")),
        "updated": iso(front.first("updated", "modified", "updated_at", "date modified")),
    }
    return {"path": file.name, **{name: value for name, value in {**dates, **lists}.items() if value}}


def _unique(names: Iterable[str]) -> list[str]:
    """Return the names that say something, each once whatever its case, in order."""
    kept: dict[str, str] = {}
    for name in names:
        if name := " ".join(name.split()):
            kept.setdefault(name.casefold(), name)
    return list(kept.values())
