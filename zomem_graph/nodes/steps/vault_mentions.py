"""Where the files of a vault still name somebody who was forgotten: what is no copy of a memory is not ours to cut.

People name somebody on their pages, and a session log that waits to be read says what no memory holds yet.
"""

from collections.abc import Iterator
from pathlib import Path

from zomem_graph.nodes.rules.erasing import names_in
from zomem_graph.nodes.rules.given import strings_in
from zomem_graph.nodes.rules.vault_lines import writer
from zomem_graph.nodes.rules.vault_pages import own_lines
from zomem_graph.stores.vault_files import json_object, unpacked
from zomem_graph.stores.vault_place import Place

__all__ = ["still_named"]

_BY_HAND = "edit it by hand"
_TAKE_IN = "`zomem vault ingest` takes it in, then forget again; edit by hand what is left"
_MOST_LINES = 10


def still_named(place: Place, name: str) -> list[str]:
    """Return the places that name somebody still, each with its lines and what to do."""
    found: list[str] = []
    pages = [path for path in (place.memory_md, *(path for _day, path in place.days())) if path.is_file()]
    lines = [path for path in (place.facts, place.archived, place.unreadable) if path.is_file()]
    for path in (*pages, *lines, *place.session_files()):
        found += _told(str(path), path.relative_to(place.root).as_posix(), path.read_bytes(), name)
    for _day, path in place.archives():
        for member, data in unpacked(path):
            found += _told(f"{path}!{member}", member, data, name, cure=f"delete {path.name} by hand")
    return found


def _told(where: str, member: str, data: bytes, name: str, *, cure: str | None = None) -> Iterator[str]:
    numbers = [number for number, line in _lines(member, data) if names_in(name, line)]
    if numbers:
        listed = ", ".join(map(str, numbers[:_MOST_LINES])) + (" …" if len(numbers) > _MOST_LINES else "")
        taken_in = member.startswith(("sessions/", "knowledge-graph/facts"))
        yield f"{where}: line {listed}: {cure or (_TAKE_IN if taken_in else _BY_HAND)}"


def _lines(member: str, data: bytes) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that somebody else wrote, with their numbers."""
    text = data.decode("utf-8", "replace")
    if member.endswith(".md"):
        yield from own_lines(text)
        return
    if not (member.startswith("sessions/") or Path(member).name in _BY_ANYBODY):
        return
    for number, line in enumerate(text.split("\n"), start=1):
        said = json_object(line)
        if said is None:
            yield number, line
        elif member.startswith("sessions/") or writer(said) != "us":
            yield number, "\n".join(strings_in(said))


_BY_ANYBODY = frozenset({"facts.jsonl", "archived-facts.jsonl", "unreadable-lines.txt"})
