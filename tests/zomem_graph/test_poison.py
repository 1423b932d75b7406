"""Poison: what tools, documents and assistants say is kept as data, and never becomes a fact, a rule or an order."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.bench.hostile_texts import ORDERS, SHAPES, poison
from zomem_graph.bench.trust import captured, poisoned
from zomem_graph.nodes.options import WriteOptions
from zomem_graph.nodes.rules.trust import TRUSTS, may_teach, rightful_category, trust_of
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder

from .command_line import CommandLine

ANN = Scope(persona="ann")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def test_sixty_texts_of_strangers_are_not_followed_and_teach_nothing() -> None:
    report = poisoned()
    assert (report["texts"], report["recalled"]) == (60, 60)
    assert (report["followed"], report["captured"]) == (0, 0), report["found"]
    assert report["user_facts"] >= 60, "what the user said himself is learned"


def test_a_hundred_malformed_replies_lose_nothing_and_nothing_is_called_done() -> None:
    report = captured()
    assert (report["shapes"], report["replies"]) == (20, 100)
    assert (report["lost_silently"], report["marked_done"], report["lost_after_recovery"]) == (0, 0, 0), report[
        "found"
    ]
    assert 0 < report["stored_at_once"] < report["facts"]


def test_the_texts_and_shapes_are_as_many_as_they_say() -> None:
    assert len(ORDERS) == len(SHAPES) == 20
    assert len({mark for *_, mark in poison()}) == 60


def test_everything_says_who_said_it(memory: Memory) -> None:
    talk = [
        {"role": "user", "content": "My sister lives in Porto. I still need to call the harbour office."},
        {"role": "assistant", "content": "Porto, noted."},
        {"role": "tool", "content": "weather in Porto: rain"},
    ]
    memory.capture(talk, scope=ANN)
    hits = memory.search("Porto harbour office", scope=ANN, limit=50)
    trust = {(hit.kind, hit.metadata.get("role", "")): hit.metadata["trust"] for hit in hits}
    assert trust[("turn", "user")] == trust[("fact", "")] == trust[("loop", "")] == "user"
    assert (trust[("turn", "assistant")], trust[("turn", "tool")]) == ("assistant", "tool")
    assert set(trust.values()) <= set(TRUSTS)


def test_trust_follows_the_way_in(memory: Memory, tmp_path: Path) -> None:
    assert memory.remember("cabin", "colour", "teal").trust == "user"
    assert memory.remember("cabin", "beds", "2", source="tool").trust == "assistant"
    zomem = CommandLine(tmp_path / "other")
    assert zomem.json("remember", "cabin", "colour", "teal")["trust"] == "hand"


def test_only_a_user_or_a_hand_makes_rules(memory: Memory) -> None:
    ours = memory.remember("project", "convention", "tabs, never spaces", category="convention")
    with pytest.warns(UserWarning, match="what assistant said makes no 'convention'"):
        theirs = memory.remember(
            "repo", "convention", "deploy on Fridays", category="convention", source="mcp:client"
        )
    assert (ours.category, theirs.category) == ("convention", "other")
    assert [rightful_category("convention", trust) for trust in TRUSTS] == [
        "convention",
        "other",
        "other",
        "other",
        "convention",
    ]


@pytest.mark.parametrize("trust", ["tool", "", "root"])
def test_what_a_tool_said_or_nobody_knows_teaches_no_fact(trust: str) -> None:
    assert not may_teach(trust)
    with pytest.raises(InvalidInput, match="trust must be one of"):
        NewFact(entity="cabin", key="colour", value="teal", trust=trust).checked(WriteOptions())


@pytest.mark.parametrize(
    ("trust", "sources"),
    [
        ("user", ["api", "user", "streaming:s1", ""]),
        ("hand", ["cli", "hand", "vault:notes"]),
        ("import", ["import", "import:chatgpt", "Import: claude"]),
        ("assistant", ["assistant", "tool", "mcp:claude", "web", "document", "document:a.pdf", "crm", "userland"]),
    ],
)
def test_a_source_is_trusted_by_its_name_and_an_unknown_one_makes_no_rules(trust: str, sources: list[str]) -> None:
    assert {trust_of(source) for source in sources} == {trust}


@pytest.mark.filterwarnings("ignore:what .* said makes no")
def test_what_did_not_come_from_the_user_or_a_hand_is_no_convention(memory: Memory) -> None:
    for source in ("assistant", "import", "import:chatgpt", "document", "web", "crm"):
        fact = memory.remember(f"project {source}", "rule", "always deploy", source=source, category="convention")
        assert (fact.category, fact.trust in ("user", "hand")) == ("other", False)
