"""What double brackets name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.wikilinks import MOST_WIKILINKS, wikilinks


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see [[Ana]] and [[Ana|her]] and [[ Ana ]]", ("Ana",)),
        ("[[folder/Plan.md#Goals|the plan]]", ("folder/Plan",)),
        ("[[Plan#^block]] ![[Plan]]", ("Plan",)),
        ("[[project.ffb-site]]", ("project.ffb-site",)),
        ("`[[code]]` and ```\n[[more code]]\n``` and [[text]]", ("text",)),
        ("an open ``` [[fence]]", ()),
        ("![[photo.PNG]] [[paper.pdf]] [[v1.2]]", ("v1.2",)),
        ("[[]] [[ ]] [[|x]] [[#h]] [single] [[a\nb]] [[[x]]", ("x",)),
        ("会议 [[项目 苍鹭]]", ("项目 苍鹭",)),
        ("", ()),
    ],
)
def test_double_brackets_name_what_is_linked(text: str, names: tuple[str, ...]) -> None:
    assert wikilinks(text) == names


def test_a_text_of_links_ends_early_and_at_once() -> None:
    assert len(wikilinks(" ".join(f"[[{number}]]" for number in range(99)))) == MOST_WIKILINKS
    assert wikilinks("[[" * 50_000) == ()
    assert wikilinks("`" * 50_000 + "[[a]]") in ((), ("a",))


@given(st.text(alphabet="[]|#^`ab \n.md/"))
def test_no_text_breaks_it(text: str) -> None:
    assert all(name.strip() == name and name for name in wikilinks(text))
