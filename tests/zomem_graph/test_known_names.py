"""The gate and names: whom memory knows is asked for however the name is written, also by what a talk leans on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope, create_recall_graph
from zomem_graph.nodes.steps.access import reach
from zomem_graph.nodes.steps.names import known_names
from zomem_graph.nodes.steps.query import Query
from zomem_graph.testing import FixedClock, SmallEmbedder

QUESTIONS = ["where does ana live?", "Where does Ana live?", "what does ana do?", "WHO IS ANA?", "what is ana's job?"]


@pytest.fixture(params=[1, 2, 10])
def memory(
    request: pytest.FixtureRequest, home: Path, clock: FixedClock, embedder: SmallEmbedder
) -> Iterator[Memory]:
    """A memory with so many facts, all about Ana."""
    facts = [("job", "nurse"), ("city", "Porto"), *((f"hobby {number}", f"rowing {number}") for number in range(8))]
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        for key, value in facts[: request.param]:
            opened.remember("ana", key, value)
        yield opened


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_that_names_what_memory_knows_reaches_it(question: str, memory: Memory) -> None:
    found = memory.recall(question)
    assert found.decision == "inject", found.reason
    assert "ana job: nurse" in found.text


@pytest.mark.parametrize("question", ["where does bob live?", "what is entropy?", "how does a rose grow?"])
def test_what_memory_does_not_know_stays_general_knowledge(question: str, memory: Memory) -> None:
    found = memory.recall(question)
    assert (found.decision, found.reason) == ("skip", "general knowledge")


def test_a_name_that_only_others_know_opens_nothing(memory: Memory) -> None:
    memory.remember("carl", "city", "Faro", persona="eve")
    assert memory.recall("where does carl live?", scope=Scope(persona="ann")).decision == "skip"


@pytest.mark.parametrize("before", ["where does ana live?", "Where does Ana live?"])
def test_a_follow_up_is_asked_about_the_name_of_its_talk(before: str, memory: Memory) -> None:
    history = [{"role": "user", "content": before}, {"role": "assistant", "content": "She lives in Porto."}]
    found = memory.recall("And what does she do?", history=history)
    assert found.decision == "inject", found.reason
    assert "ana job: nurse" in found.text


@pytest.mark.parametrize(("name", "asked"), [("東京塔", "昨日東京塔で何をした"), ("서울", "서울에서 뭐 했어")])
def test_a_name_is_known_in_text_without_spaces(name: str, asked: str, memory: Memory) -> None:
    memory.remember(name, "height", "333 m")
    with memory.stores.read() as unit:
        assert known_names(unit, Query(text=asked), reach(unit, Scope()), ()) == (name,)


def test_the_graph_sees_the_name_as_well(memory: Memory) -> None:
    app = create_recall_graph(memory).compile()
    state = app.invoke({"messages": [{"role": "user", "content": "where does ana live?"}]})
    assert "ana job: nurse" in state["memory_context"]
