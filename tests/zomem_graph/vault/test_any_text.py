"""Whatever text comes in, a night runs through, the pages can be read, and a rebuild gives the same."""

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.zomem_graph.vault.kit import Ground, facts_of, said
from zomem_graph.stores.errors import InvalidInput

LONG = os.environ.get("ZOMEM_LONG") == "1"
_odd = (
    "\ud83d \udc9f \udcff \ud800 \x00 \x1b[2J \x85 \u2028 \u202e \u200b \ufeff e\u0301 ß 部署方案 שלום 🙂 <!-- --> "
    "# - > good port I my name is Ana likes need to renew"
).split(" ")
_texts = st.one_of(
    st.text(st.characters(codec=None, max_codepoint=sys.maxunicode), max_size=60),
    st.lists(st.sampled_from(_odd), max_size=8).map(" ".join),
)
_facts = st.fixed_dictionaries(
    {"subject": _texts, "predicate": _texts, "object": _texts},
    optional={"persona": _texts, "source": _texts, "metadata": st.dictionaries(_texts, _texts, max_size=2)},
)


def _pages(ground: Ground) -> dict[str, str]:
    """Return every text file of a vault; each has to be UTF-8."""
    kinds = (".md", ".jsonl", ".json", ".txt", ".prom")
    files = sorted(path for path in ground.data.rglob("*") if path.suffix in kinds)
    return {path.name: path.read_bytes().decode("utf-8") for path in files}


@settings(
    max_examples=200 if LONG else 12,
    derandomize=not LONG,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(facts=st.lists(_facts, max_size=4), log=st.lists(_texts, max_size=3), by_hand=_facts)
def test_a_night_runs_through_and_a_rebuild_is_equal_whatever_is_said(
    facts: list[dict[str, Any]], log: list[str], by_hand: dict[str, Any]
) -> None:
    with TemporaryDirectory() as folder:
        ground = Ground(Path(folder))
        with ground.open() as vault:
            for fact in (said("Ana", "mood", "good \ud83d"), *facts):
                try:
                    vault.ingest([fact])
                except InvalidInput:
                    continue  # refused by name, such as a blank subject
            ground.session("2026-01-05-090000", *(("user", f"I prefer {text}. {text}") for text in log))
            with ground.facts.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(by_hand)}\n")
            vault.ingest()
            vault.summarize()
            vault.consolidate()
            before = facts_of(vault)
        pages = _pages(ground)
        with ground.open(home="second") as vault:
            vault.rebuild()
            after = facts_of(vault)

        assert "- mood: good \ufffd" in pages["MEMORY.md"]
        assert after == before


def test_what_pages_show_of_odd_text_is_forgotten_with_it(ground: Ground) -> None:
    with ground.open() as vault:
        ground.session("2026-01-05-090000", ("user", "I prefer the blue \ud83d teapot of\x1b Quimper."))
        vault.ingest([said("Bo", "keeps", "the \udc9f key\tunder\x00 the third flowerpot")])
        vault.consolidate()
        shown = _pages(ground)
        vault.memory.forget(matching="Quimper")
        vault.memory.forget(matching="flowerpot")

    assert "Quimper" in shown["2026-01-05.md"]
    assert "third flowerpot" in shown["MEMORY.md"]
    assert not [name for name, text in _pages(ground).items() if "Quimper" in text or "flowerpot" in text]
