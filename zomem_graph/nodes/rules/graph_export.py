"""The graph for other programs: DOT, Mermaid, and the entities behind every picture. Any label is legal.

A box is an entity with all its facts; what is no fact has a box of its own. Links between the same two boxes
of one relation are one arrow.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from zomem_graph.nodes.rules.graph import Neighbourhood, Thing
from zomem_graph.nodes.rules.keys import address
from zomem_graph.nodes.rules.relations import RELATION_TYPES
from zomem_graph.stores.records import Link

__all__ = ["Arrow", "Box", "Drawing", "dot", "drawing_of", "mermaid", "seen"]

_LONGEST: Final = 80
_PLAIN: Final = frozenset(" .,:/_-+()@")


@dataclass(slots=True)
class Box:
    """One entity of a drawing and what is known of it."""

    name: str
    kind: str
    centre: bool = False
    things: list[Thing] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Arrow:
    """All links of one relation from one box to another, by their places; `weight` is the heaviest."""

    source: int
    target: int
    relation: str
    weight: float
    count: int

    @property
    def directed(self) -> bool:
        """Return whether it has a head."""
        known = RELATION_TYPES.get(self.relation)
        return known is None or known.directed


@dataclass(frozen=True, slots=True)
class Drawing:
    """Boxes and arrows; `inside` are links within one box, which have no arrow."""

    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    inside: Sequence[Link]
    left_out: int


def drawing_of(around: Neighbourhood) -> Drawing:
    """Return the boxes and arrows of a neighbourhood."""
    boxes: list[Box] = []
    at: dict[str, int] = {}  # entity -> place of its box
    place: dict[str, int] = {}  # id -> the same
    centre = {thing.id for thing in around.centre}
    for thing in around.things:
        if thing.entity is None:
            key, name = f"\x1f{thing.id}", f"{thing.kind}: {thing.text}"
        else:
            key, name = address(thing.entity), thing.entity
        if key not in at:
            at[key] = len(boxes)
            boxes.append(Box(name, thing.kind))
        place[thing.id] = at[key]
        boxes[at[key]].things.append(thing)
        boxes[at[key]].centre |= thing.id in centre
    arrows: dict[tuple[int, int, str], Arrow] = {}
    inside = []
    for link in around.links:
        source, target = place[link.source_id], place[link.target_id]
        if source == target:
            inside.append(link)
            continue
        key_ = (source, target, link.relation)
        known = arrows.get(key_)
        weight = max(link.weight, known.weight) if known else link.weight
        arrows[key_] = Arrow(source, target, link.relation, weight, known.count + 1 if known else 1)
    return Drawing(boxes, list(arrows.values()), inside, around.left_out)


def dot(drawing: Drawing) -> str:
    """Return a Graphviz graph, left to right, boxes for entities, relations on the edges (spec F35)."""
    return "\n".join(_dot_lines(drawing)) + "\n"


def mermaid(drawing: Drawing) -> str:
    """Return a Mermaid flowchart, left to right."""
    return "\n".join(_mermaid_lines(drawing)) + "\n"


def seen(text: str, *, most: int = _LONGEST) -> str:
    """Return a text as one short line of signs that can be seen."""
    shown = "".join(sign if unicodedata.category(sign)[0] != "C" else " " for sign in text)
    line = " ".join(shown.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _dot_lines(drawing: Drawing) -> Iterator[str]:
    yield "digraph memory_graph {"
    yield "  rankdir=LR;"
    yield '  node [shape=box, style="rounded", fontname="Helvetica"];'
    yield '  edge [fontname="Helvetica", fontsize=10];'
    if drawing.left_out:
        yield f"  // {drawing.left_out} links lead on to what is not shown"
    for number, box in enumerate(drawing.boxes):
        told = "; ".join(seen(f"{thing.key or ''}: {thing.text}".lstrip(": ")) for thing in box.things[:5])
        bold = ', style="rounded,bold"' if box.centre else ""
        yield f"  n{number} [label={_dot_text(box.name)}, tooltip={_dot_text(told, most=400)}{bold}];"
    for arrow in drawing.arrows:
        head = "" if arrow.directed else ", dir=none"
        yield f"  n{arrow.source} -> n{arrow.target} [label={_dot_text(arrow.relation)}{head}];"
    yield "}"


def _dot_text(text: str, *, most: int = _LONGEST) -> str:
    # A doubled backslash is one sign in a label; &, < and > are signs of their own in every output but HTML entities.
    told = seen(text, most=most).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{told}"'


def _mermaid_lines(drawing: Drawing) -> Iterator[str]:
    yield "flowchart LR"
    if drawing.left_out:
        yield f"  %% {drawing.left_out} links lead on to what is not shown"
    for number, box in enumerate(drawing.boxes):
        yield f'  n{number}["{_mermaid_text(box.name)}"]'
    for arrow in drawing.arrows:
        line = "-->" if arrow.directed else "---"
        yield f'  n{arrow.source} {line}|"{_mermaid_text(arrow.relation)}"| n{arrow.target}'
    centre = [f"n{number}" for number, box in enumerate(drawing.boxes) if box.centre]
    if centre:
        yield "  classDef centre stroke-width:3px"
        yield f"  class {','.join(centre)} centre"


def _mermaid_text(text: str) -> str:
    """Return a label in which every sign that could mean something is written as its number."""
    return "".join(sign if sign.isalnum() or sign in _PLAIN else f"#{ord(sign)};" for sign in seen(text) or " ")
