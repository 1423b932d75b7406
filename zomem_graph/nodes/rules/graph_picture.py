"""The graph as one page to look at: everything is inside it, and nothing of what is stored can become code.

Labels travel as JSON in which no sign can end the script element, and reach the page as text only. The page's
own policy lets nothing run but its one script, known by its hash, and nothing be loaded at all.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from typing import Any, Final

from zomem_graph.nodes.rules._graph_page import SCRIPT, STYLE
from zomem_graph.nodes.rules.graph_export import Drawing, seen
from zomem_graph.nodes.rules.relations import RELATION_TYPES

__all__ = ["picture"]

_LONGEST: Final = 2_000
_CATEGORIES: Final = ("dependency", "structural", "causal", "temporal", "reference", "general")
_DANGEROUS: Final = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&'\u2028\u2029"})


def picture(drawing: Drawing, *, title: str) -> str:
    """Return one HTML page with boxes and arrows; hover, click, drag, zoom and filter work without a network."""
    shown = escape(seen(title))
    boxes, arrows = len(drawing.boxes), len(drawing.arrows)
    said = f"{_many(boxes, 'thing')}, {_many(arrows, 'link')}"
    if drawing.left_out:
        said += f"; {_many(drawing.left_out, 'more link')} not shown"
    used = {_category(arrow.relation) for arrow in drawing.arrows}
    keys = "".join(f'<span class="key {name}">{name}</span>' for name in _CATEGORIES if name in used)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{_policy()}">
<title>{shown}</title>
<style>{STYLE}</style>
</head>
<body>
<header><h1>{shown}</h1><p>{said}</p><input type="search" placeholder="Filter" aria-label="Filter"></header>
<svg role="group" aria-label="{shown}"></svg>
<aside><p>{"Choose a thing to see what is known of it." if boxes else "Nothing is linked yet."}</p></aside>
<footer>{keys}<span>drag to move, wheel to zoom, double click to fit</span></footer>
<noscript><ul>{_plain_list(drawing)}</ul></noscript>
<script type="application/json" id="graph">{_data(drawing)}</script>
<script>{SCRIPT}</script>
</body>
</html>
"""


def _policy() -> str:
    style, script = _hash(STYLE), _hash(SCRIPT)
    return f"default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _data(drawing: Drawing) -> str:
    inside: dict[str, list[str]] = {}
    labels = {thing.id: thing.label for box in drawing.boxes for thing in box.things}
    for link in drawing.inside:
        told = f"{labels[link.source_id]} {link.relation} {labels[link.target_id]}"
        inside.setdefault(link.source_id, []).append(_text(told))
    boxes = [
        {
            "name": _text(box.name, most=200) or box.kind,
            "centre": box.centre,
            "things": [
                {
                    "id": thing.id,
                    "label": _text(thing.label, most=200),
                    "text": _text(thing.text),
                    "persona": _text(thing.persona, most=200),
                    "state": thing.state,
                }
                for thing in box.things
            ],
            "inside": [told for thing in box.things for told in inside.get(thing.id, ())],
        }
        for box in drawing.boxes
    ]
    arrows: list[Mapping[str, Any]] = [
        {
            "source": arrow.source,
            "target": arrow.target,
            "relation": _text(arrow.relation, most=200),
            "weight": arrow.weight,
            "count": arrow.count,
            "directed": arrow.directed,
            "category": _category(arrow.relation),
        }
        for arrow in drawing.arrows
    ]
    return json.dumps({"boxes": boxes, "arrows": arrows}, ensure_ascii=True).translate(_DANGEROUS)


def _plain_list(drawing: Drawing) -> str:
    rows = (
        f"{drawing.boxes[arrow.source].name} {arrow.relation} {drawing.boxes[arrow.target].name}"
        for arrow in drawing.arrows
    )
    return "".join(f"<li>{escape(seen(row, most=400))}</li>" for row in rows)


def _text(text: str, *, most: int = _LONGEST) -> str:
    return seen(text, most=most)


def _category(relation: str) -> str:
    known = RELATION_TYPES.get(relation)
    return "general" if known is None else known.category


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
