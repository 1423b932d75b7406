"""Single nodes in a graph of their own: hyde before retrieve, options of a node, hosts that hold too little."""

import operator
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict

from zomem_graph import Memory, MemoryState, Scope, create_recall_graph, gate_route, with_memory
from zomem_graph.nodes import (
    create_briefing_node,
    create_capture_node,
    create_compose_node,
    create_continuation_node,
    create_gate_node,
    create_hyde_node,
    create_multi_hop_node,
    create_retrieve_node,
    create_router_node,
)
from zomem_graph.nodes.options import CaptureOptions, GateOptions, HydeOptions, MemoryOptions, RoutingOptions
from zomem_graph.stores.errors import InvalidInput, ModelTimeout
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

ANN: RunnableConfig = {"configurable": {"thread_id": "t1", "persona": "ann"}}
OTHER: RunnableConfig = {"configurable": {"thread_id": "t2", "persona": "ann"}}
QUESTION = "how do we get paid?"
ASKING = "what did I tell you about our billing process?"
IMAGINED = "How we get paid: invoices are sent by Stripe each month."
OPTIONS = MemoryOptions(hyde=HydeOptions(least_nearness=0.1))
Opened = Callable[..., tuple[Memory, ScriptedChat]]


@pytest.fixture
def opened(home: Path, clock: FixedClock) -> Iterator[Opened]:
    memories: list[Memory] = []

    def make(*lines: Any, gate: Sequence[Any] = (), options: MemoryOptions = OPTIONS) -> tuple[Memory, ScriptedChat]:
        chat = ScriptedChat([], by_workload={"hyde": list(lines), "gate": list(gate), "extraction": []})
        model = chat if lines else "none"
        memory = Memory.open(home, embeddings=SmallEmbedder(), chat_model=model, options=options, clock=clock)
        memories.append(memory)
        memory.remember("billing", "process", "invoices are sent by Stripe each month", persona="ann")
        for number in range(5):
            memory.remember(f"note {number}", "text", f"the garden has {number} apple trees", persona="ann")
        return memory, chat

    yield make
    for memory in memories:
        memory.close()


def say(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def row(*nodes: tuple[str, Any], state: Any = MemoryState) -> Any:
    """Return a graph of nodes one after the other."""
    graph: Any = StateGraph(state)
    graph.add_sequence(list(nodes))
    graph.add_edge(START, nodes[0][0])
    return graph.compile()


def with_hyde(memory: Memory, options: HydeOptions | None = None) -> Any:
    return row(
        ("gate", create_gate_node(memory)),
        ("hyde", create_hyde_node(memory, options=options)),
        ("retrieve", create_retrieve_node(memory)),
        ("compose", create_compose_node(memory)),
    )


def test_an_answer_imagined_by_its_own_node_is_searched_with(opened: Opened) -> None:
    memory, chat = opened(IMAGINED)
    app = row(
        ("gate", create_gate_node(memory)),
        ("hyde", create_hyde_node(memory)),
        ("retrieve", create_retrieve_node(memory)),
    )
    final = app.invoke(say(QUESTION), ANN)
    assert final["memory_hyde"] == IMAGINED
    assert final["memory_hits"][0]["text"].startswith("billing process")
    assert final["memory_trace"][0]["imagined"] == len(IMAGINED)
    assert len(chat.asked("hyde")) == 1
    assert final["memory_degraded"] == []


@pytest.mark.parametrize("how", ["late", "off", "no model"])
def test_without_an_imagined_answer_the_question_alone_is_searched_with(opened: Opened, how: str) -> None:
    lines: dict[str, list[Any]] = {"late": [ModelTimeout("too late")], "off": [IMAGINED], "no model": []}
    memory, chat = opened(*lines[how])
    app = with_hyde(memory, HydeOptions(on=how != "off"))
    final = app.invoke(say(ASKING), ANN)
    assert final["memory_hyde"] == ""
    assert "Stripe" in final["memory_context"]
    assert len(chat.asked("hyde")) == (how == "late"), "nobody asks a second time"
    (note,) = final["memory_degraded"]
    assert note.startswith("hyde: ")


def test_the_options_of_a_hyde_node_are_its_own(opened: Opened) -> None:
    memory, chat = opened(IMAGINED, options=MemoryOptions(hyde=HydeOptions(on=False)))
    final = with_hyde(memory, HydeOptions(max_tokens=33, deadline_seconds=0.7, longest=30)).invoke(say(QUESTION), ANN)
    (ask,) = chat.asked("hyde")
    assert (ask.max_tokens, ask.deadline_seconds) == (33, 0.7)
    assert final["memory_hyde"] == IMAGINED[:30]


def test_an_answer_imagined_in_one_turn_is_not_searched_with_in_the_next(opened: Opened) -> None:
    memory, chat = opened(IMAGINED, IMAGINED)
    app = with_hyde(memory)
    before = app.invoke(say(QUESTION), ANN)
    bare = row(("gate", create_gate_node(memory)), ("retrieve", create_retrieve_node(memory)))
    final = bare.invoke({**before, "messages": [HumanMessage("which apple trees did I mention?")]}, ANN)
    assert final["memory_hyde"] is None
    assert len(chat.asked("hyde")) == 2


def recalled(memory: Memory, options: GateOptions | None, text: str) -> dict[str, Any]:
    graph: Any = StateGraph(MemoryState)
    graph.add_node("gate", create_gate_node(memory, options=options))
    graph.add_node("retrieve", create_retrieve_node(memory))
    graph.add_node("continuation", create_continuation_node(memory))
    graph.add_node("compose", create_compose_node(memory))
    graph.add_edge(START, "gate")
    graph.add_conditional_edges("gate", gate_route, ["retrieve", "continuation", "compose"])
    graph.add_edge("retrieve", "compose")
    graph.add_edge("continuation", "compose")
    return dict(graph.compile().invoke(say(text), ANN))


def test_the_options_of_a_gate_decide_what_is_injected(opened: Opened) -> None:
    memory, _chat = opened()
    assert recalled(memory, None, ASKING)["memory_decision"]["decision"] == "inject"
    assert recalled(memory, GateOptions(), ASKING)["memory_decision"]["decision"] == "inject"
    assert recalled(memory, GateOptions(needed_floor=1.0), ASKING)["memory_decision"]["decision"] == "empty"
    assert recalled(memory, GateOptions(least_hit=1.0), ASKING)["memory_context"] == ""


def test_the_options_of_a_gate_decide_whether_a_model_is_asked(opened: Opened) -> None:
    memory, chat = opened(IMAGINED, gate=[{"needs_memory": False, "keywords": [], "reason": "no"}])
    doubtful = "Which boat is moored beside the granary?"
    assert recalled(memory, GateOptions(ask_model=False, uncertain=50.0), doubtful)["memory_decision"]
    assert chat.asked("gate") == []
    recalled(memory, GateOptions(uncertain=50.0, max_tokens=77), doubtful)
    assert [ask.max_tokens for ask in chat.asked("gate")] == [77]


def test_the_options_of_a_capture_decide_what_is_learned(opened: Opened) -> None:
    memory, _chat = opened()
    nothing = CaptureOptions(loops=False, episodes=False)
    ann = Scope(persona="ann")

    def learned() -> tuple[int, int]:
        return len(memory.loops.list(scope=ann)), len(memory.episodes.list(scope=ann))

    said = say("I live in Lyon. I still need to call the dentist.")
    row(("capture", create_capture_node(memory, options=nothing))).invoke(said, ANN)
    assert memory.stats()["turns"] == 1
    assert learned() == (0, 0)
    row(("capture", create_capture_node(memory))).invoke(said, OTHER)
    assert learned() == (1, 1)


def test_the_options_of_a_router_decide_who_is_drawn_and_who_falls_in(opened: Opened) -> None:
    memory, _chat = opened()
    names = ["ann", "bob", "eve"]

    def routed(options: RoutingOptions, task: str) -> str:
        graph: Any = StateGraph(MemoryState)
        node = create_router_node(memory, names, strategy="explore", options=options)
        graph.add_node("route", node, destinations=tuple(names))
        for name in names:
            graph.add_node(name, lambda _state: {})
        graph.add_edge(START, "route")
        return str(graph.compile().invoke(say(task), ANN)["memory_route"]["executor"])

    tasks = [f"count the boats of pier {number}" for number in range(12)]
    drawn = [[routed(RoutingOptions(seed=seed), task) for task in tasks] for seed in (1, 2)]
    assert drawn[0] != drawn[1]
    graph: Any = StateGraph(MemoryState)
    graph.add_node("route", create_router_node(memory, names, options=RoutingOptions(fallback="eve")))
    graph.add_node("eve", lambda _state: {"messages": [AIMessage("me")]})
    graph.add_edge(START, "route")
    app = graph.compile()
    memory.close()
    assert app.invoke(say("count"), ANN)["messages"][-1].content == "me"


class Half(MessagesState):
    """A host that holds the question and the hits, and not what is made of them."""

    memory_query: str
    memory_decision: dict[str, Any]
    memory_hits: list[dict[str, Any]]


class Question(MessagesState):
    memory_query: str
    memory_decision: dict[str, Any]
    memory_context: str


AFTER_A_GATE: dict[str, Callable[[Memory], Runnable[Any, Any]]] = {
    "retrieve": create_retrieve_node,
    "continuation": create_continuation_node,
    "hyde": create_hyde_node,
    "compose": create_compose_node,
}


@pytest.mark.parametrize("name", AFTER_A_GATE)
def test_a_node_without_the_gate_that_it_needs_says_so(opened: Opened, name: str) -> None:
    memory, _chat = opened()
    app = row((name, AFTER_A_GATE[name](memory)), state=MessagesState)
    with pytest.raises(InvalidInput, match=r"no 'memory_query'.*MemoryState"):
        app.invoke(say(QUESTION), ANN)


@pytest.mark.parametrize(("given", "lost"), [(Half, "memory_context"), (Question, "memory_hits")])
def test_a_node_that_is_given_only_half_of_the_state_says_so(opened: Opened, given: Any, lost: str) -> None:
    memory, _chat = opened()
    graph: Any = StateGraph(MessagesState)
    graph.add_node("gate", create_gate_node(memory))
    graph.add_node("retrieve", create_retrieve_node(memory), input_schema=given)
    graph.add_node("compose", create_compose_node(memory), input_schema=given)
    graph.add_edge(START, "gate")
    graph.add_edge("gate", "retrieve")
    graph.add_edge("retrieve", "compose")
    with pytest.raises(InvalidInput, match=f"no '{lost}'"):
        graph.compile().invoke(say(ASKING), ANN)


class Named(BaseModel):
    """A host's state of another kind, with a channel of ours under its own type."""

    messages: Annotated[list[Any], operator.add]
    memory_context: str = ""


@pytest.mark.parametrize("state", [MessagesState, Half, Question, Named])
def test_our_nodes_and_graphs_bring_the_channels_that_a_host_lacks(opened: Opened, state: Any) -> None:
    memory, _chat = opened()
    seen: list[str] = []

    def answer(state: MemoryState) -> dict[str, Any]:
        seen.append(str(with_memory(state)))
        return {"messages": [AIMessage("ok")]}

    def untyped(state: Any) -> dict[str, Any]:
        return answer(state)

    compose = ("compose", create_compose_node(memory))
    last = ("answer", untyped if state is Named else answer)
    for nodes in (
        [("gate", create_gate_node(memory)), ("retrieve", create_retrieve_node(memory)), compose],
        [("hops", create_multi_hop_node(memory)), compose],
        [("recall", create_recall_graph(memory).compile())],
    ):
        final = row(*nodes, last, state=state).invoke(say(ASKING), ANN)
        assert "Stripe" in seen.pop()
        assert set(final) <= set(get_type_hints(state))


def test_a_briefing_in_bare_messages_reaches_the_node_after_it(opened: Opened) -> None:
    memory, _chat = opened()
    seen: list[str] = []

    def answer(state: MemoryState) -> dict[str, Any]:
        seen.append(state["memory_briefing"])
        return {}

    memory.loops.create("Pay the crew", scope=Scope(persona="ann"))
    row(("briefing", create_briefing_node(memory)), ("answer", answer), state=MessagesState).invoke(say(ASKING), ANN)
    assert "Pay the crew" in seen[0]


def test_hits_without_a_gate_are_composed(opened: Opened) -> None:
    memory, _chat = opened()
    found = create_recall_graph(memory).compile().invoke(say(ASKING), ANN)
    app = row(("compose", create_compose_node(memory)))
    assert "Stripe" in app.invoke({"messages": [], "memory_hits": found["memory_hits"]}, ANN)["memory_context"]


def test_hops_without_a_gate_are_composed(opened: Opened) -> None:
    memory, _chat = opened()
    app = row(("hop", create_multi_hop_node(memory)), ("compose", create_compose_node(memory)))
    assert "Stripe" in app.invoke(say(ASKING), ANN)["memory_context"]


def two_turns(app: Any) -> None:
    app.invoke(say(ASKING), ANN)
    app.invoke(say(ASKING), ANN)


def test_a_key_of_ours_that_the_host_adds_up_is_refused_before_old_memories_come_again(opened: Opened) -> None:
    memory, _chat = opened()
    kinds: dict[str, Any] = {"memory_hits": list[Any], "memory_context": str, "memory_persona": list[str]}
    for key, kind in kinds.items():
        host: Any = TypedDict("host", {"messages": list[Any], key: Annotated[kind, operator.add]}, total=False)  # type: ignore[misc]  # its names are the cases
        graph: Any = StateGraph(host)
        graph.add_node("gate", create_gate_node(memory))
        graph.add_node("retrieve", create_retrieve_node(memory))
        graph.add_node("compose", create_compose_node(memory))
        graph.add_edge(START, "gate")
        graph.add_edge("gate", "retrieve")
        graph.add_edge("retrieve", "compose")
        with pytest.raises(InvalidInput, match=f"'{key}'.*MemoryState"):
            two_turns(graph.compile(checkpointer=InMemorySaver()))
