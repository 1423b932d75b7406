"""Drawings of the graph: whatever a label holds stays a label, in DOT, in Mermaid and in the page."""

import json
import re
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.graph import Neighbourhood, Thing
from zomem_graph.nodes.rules.graph_export import dot, drawing_of, mermaid, seen
from zomem_graph.nodes.rules.graph_picture import picture
from zomem_graph.stores.records import Link

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
HOSTILE = (
    '"];\n evil [shape=none', '" -> n9 [label="x', "\\", 'back\\"slash', "</script><script>pwned=1</script>",
    "<img src=x onerror=pwned=1>", "<!--", "--><b>", "]]>", "&lt;b&gt; &amp;", "javascript:pwned=1", "\\N \\G", "end",
    '%%{init: {"theme":"dark"}}%%', 'n1["x"] --> n2', "click n0 call pwned()", "`**bold**`", "#quot;", "a|b|c",
    "{{x}}", "${pwned}", "\u2028\u2029\u202e\x00\x1b[31m", "\ud800", "🦊" * 40, "x" * 10_000, "", " ",
    "---\ntitle: x\n---",
    "'; drop table links; --", "<svg onload=pwned=1>", "</style><style>*{display:none}", "\r\n\t",
)  # fmt: skip


def thing(number: int, text: str) -> Thing:
    return Thing(id=f"{number:032x}", kind="fact", persona=text, label=f"{text}.{text}", text=text, entity=text)


def around(*texts: str, relation: str = "depends_on") -> Neighbourhood:
    """Return things with these texts everywhere, each tied to the next."""
    things = tuple(thing(number, text) for number, text in enumerate(texts))
    links = tuple(
        Link(source_id=one.id, target_id=two.id, relation=relation, weight=1.0, created_at=NOW)
        for one, two in pairwise(things)
    )
    return Neighbourhood(centre=things[:1], things=things, links=links, left_out=3)


class Page(HTMLParser):
    """Every element and attribute of a page, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.inside: dict[str, list[str]] = {}
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._open = f"{tag} {dict(attrs).get('type', '')}".strip()

    def handle_data(self, data: str) -> None:
        self.inside.setdefault(self._open, []).append(data)

    def handle_comment(self, data: str) -> None:
        self.tags.append(f"comment {data}")


USUAL = Page(picture(drawing_of(around("a", "b")), title="t"))


def check_dot(text: str) -> None:
    """Take a DOT text apart as Graphviz would: words, numbers, signs and quoted strings, one statement a line."""
    left = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    assert '"' not in left.replace('""', "")
    for line in left.splitlines()[4:-1]:
        assert re.fullmatch(r"  (// \d+ links lead on .*|n\d+( -> n\d+)? \[[a-z]+=\S*(, [a-z]+=\S*)*\];)", line), line


def check_mermaid(text: str) -> None:
    label = r'"[^"\[\]{}|<>%`\\]*"'
    known = rf"  (n\d+\[{label}\]|n\d+ (-->|---)\|{label}\| n\d+|%% \d+ links .*|class(Def)? .*)"
    assert [line for line in text.splitlines()[1:] if not re.fullmatch(known, line)] == []


def check_page(text: str, *names: str) -> None:
    page = Page(text)
    assert {tag for tag in page.tags if tag != "li"} == {tag for tag in USUAL.tags if tag != "li"}
    assert [tag for tag in page.tags if tag != "li" and tag != "span"] == [
        tag for tag in USUAL.tags if tag != "li" and tag != "span"
    ]
    assert not any(name.startswith("on") or name in ("src", "href", "style") for name, _value in page.attributes)
    data = json.loads("".join(page.inside["script application/json"]))
    assert [box["name"] for box in data["boxes"]] == [seen(name, most=200) or "fact" for name in names]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_label_stays_a_label_in_all_three(text: str) -> None:
    drawing = drawing_of(around("plain", text, relation=text or "related"))
    check_dot(dot(drawing))
    check_mermaid(mermaid(drawing))
    check_page(picture(drawing, title=text), "plain", text)


@given(st.text(), st.text(max_size=60))
def test_any_label_stays_a_label(text: str, relation: str) -> None:
    drawing = drawing_of(around("plain!", f"x{text}", relation=relation))
    check_dot(dot(drawing))
    check_mermaid(mermaid(drawing))
    check_page(picture(drawing, title=text), *(box.name for box in drawing.boxes))


def test_the_page_runs_only_its_own_script_and_loads_nothing() -> None:
    text = picture(drawing_of(around(*HOSTILE)), title="Everything")
    page = Page(text)
    (policy,) = [
        value or "" for name, value in page.attributes if name == "content" and "default-src" in (value or "")
    ]
    own = "".join(page.inside["script"]).partition("\n</body>")[0]
    script = text.partition("</script>\n<script>")[2].partition("</script>")[0]
    style = text.partition("<style>")[2].partition("</style>")[0]
    for source in (script, style):
        assert f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'" in policy
    assert own.strip().startswith('"use strict"')
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.findall(r"https?://[^\s\"'<]+", text.replace("http://www.w3.org/2000/svg", "")) == []
    assert "innerHTML" not in text
    assert "eval(" not in text


def test_facts_of_one_entity_share_a_box_and_links_of_one_relation_an_arrow() -> None:
    def fact(number: int, entity: str, key: str) -> Thing:
        return Thing(id=f"{number:032x}", kind="fact", persona="p", label=f"{entity}.{key}", text=key, entity=entity)

    things = (fact(1, "Site", "a"), fact(2, "site", "b"), fact(3, "zo", "c"))
    pairs = ((0, 2, "depends_on"), (1, 2, "depends_on"), (0, 1, "part_of"), (2, 0, "related"))
    links = tuple(
        Link(source_id=things[a].id, target_id=things[b].id, relation=relation, weight=1.0, created_at=NOW)
        for a, b, relation in pairs
    )
    drawing = drawing_of(Neighbourhood(centre=things[1:2], things=things, links=links))

    assert [(box.name, len(box.things), box.centre) for box in drawing.boxes] == [("Site", 2, True), ("zo", 1, False)]
    assert [(arrow.relation, arrow.count, arrow.directed) for arrow in drawing.arrows] == [
        ("depends_on", 2, True),
        ("related", 1, False),
    ]
    assert [link.relation for link in drawing.inside] == ["part_of"]
    assert 'n0 -> n1 [label="depends_on"];' in dot(drawing)
    assert 'n1 -> n0 [label="related", dir=none];' in dot(drawing)
    assert 'n1 ---|"related"| n0' in mermaid(drawing)


def test_what_is_no_fact_has_a_box_of_its_own_and_an_empty_drawing_is_one_too() -> None:
    loop = Thing(id="1" * 32, kind="loop", persona="p", label="loop", text="Fix the door")
    assert [box.name for box in drawing_of(Neighbourhood(centre=(loop,), things=(loop,), links=())).boxes] == [
        "loop: Fix the door"
    ]
    nothing = drawing_of(Neighbourhood(centre=(), things=(), links=()))
    assert dot(nothing).startswith("digraph memory_graph {\n  rankdir=LR;")
    assert mermaid(nothing) == "flowchart LR\n"
    assert "Nothing is linked yet." in picture(nothing, title="Empty")
