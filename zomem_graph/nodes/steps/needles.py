"""What may be looked for as proof: strings and vectors that nothing which is kept holds as well."""

from collections.abc import Iterator

from zomem_graph.stores.proof import Needles, as_indexed
from zomem_graph.stores.unit import Unit

__all__ = ["still_held", "still_told"]


def still_held(unit: Unit, needles: Needles) -> set[int]:
    """Return the sources of needles that kept memories hold as well, in their texts or as their vectors."""
    kept = still_told(unit, needles)
    for block in _joined(vector + as_indexed(vector) for vector in unit.erasure.vectors()):
        kept.update(needles.found_in(block))
    return kept


def still_told(unit: Unit, needles: Needles, *, persona: str | None = None) -> set[int]:
    """Return the sources of needles that texts hold which are kept, of everybody or of one persona."""
    kept: set[int] = set()
    for block in _joined(text.encode("utf-8", "surrogatepass") for text in unit.erasure.texts(persona=persona)):
        kept.update(needles.found_in(block))
    return kept


def _joined(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield blocks large enough that looking through each is worth its start."""
    waiting: list[bytes] = []
    size = 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size > 1_000_000:
            yield b"\n".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"\n".join(waiting)
