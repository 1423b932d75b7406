"""A swarm: tasks routed by memory, done by anybody's code, and learned from."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from zomem_graph import Memory, MemoryState, create_router_node, create_swarm_graph
from zomem_graph.nodes.options import SwarmOptions
from zomem_graph.nodes.rules.routing import Candidate
from zomem_graph.nodes.scope import Scope
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.testing.langchain import ScriptedChatModel

ONE_BY_ONE = SwarmOptions(concurrency=1)
ANN: RunnableConfig = {"configurable": {"persona": "ann", "thread_id": "t1"}}


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def good(given: dict[str, Any]) -> str:
    return f"done: {given['task'][:40]}"


def bad(given: dict[str, Any]) -> str:
    raise ValueError("it just went wrong")


def swarm(memory: Memory, options: SwarmOptions = ONE_BY_ONE, **executors: Any) -> Any:
    return create_swarm_graph(memory, executors, options=options).compile()


def run(app: Any, *tasks: Any, config: RunnableConfig = ANN) -> dict[str, Any]:
    return dict(app.invoke({"tasks": list(tasks)}, config))


# -- what comes back -------------------------------------------------------------------------------


def test_every_task_has_a_result_in_its_order_as_plain_data(memory: Memory) -> None:
    out = run(swarm(memory, SwarmOptions(concurrency=3), good=good), "Fix the login", "Write tests", "Plan the week")
    assert [result["answer"] for result in out["results"]] == [
        "done: Fix the login",
        "done: Write tests",
        "done: Plan the week",
    ]
    assert [result["category"] for result in out["results"]] == ["fix", "test", "plan"]
    assert out["summary"]["outcome"] == "success"
    json.dumps({name: out[name] for name in ("results", "summary", "swarm")})


def test_sync_and_async_runs_agree(memory: Memory) -> None:
    def told(out: dict[str, Any]) -> list[tuple[str, str]]:
        return [(result["outcome"], result["answer"]) for result in out["results"]]

    app = swarm(memory, good=good)
    waited = run(app, "Fix the login", "Write tests")
    awaited = asyncio.run(app.ainvoke({"tasks": ["Fix the login", "Write tests"]}, ANN))
    assert told(waited) == told(awaited)


def test_a_message_is_a_task_and_is_answered_by_a_message(memory: Memory) -> None:
    out = swarm(memory, good=good).invoke({"messages": [HumanMessage("Fix the login")]}, ANN)
    assert out["messages"][-1].text == "done: Fix the login"
    assert [type(message) for message in out["messages"]] == [HumanMessage, AIMessage]


def test_a_second_run_under_a_checkpointer_begins_anew(memory: Memory) -> None:
    app = create_swarm_graph(memory, {"good": good}, options=ONE_BY_ONE).compile(checkpointer=InMemorySaver())
    run(app, "Fix the login", "Write tests")
    assert [result["text"] for result in run(app, "Plan the week")["results"]] == ["Plan the week"]


def kept(memory: Memory, **executors: Any) -> Any:
    return create_swarm_graph(memory, executors, options=ONE_BY_ONE).compile(checkpointer=InMemorySaver())


SECOND_RUNS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "message": ({"messages": [HumanMessage("Plan the week")]}, ["Plan the week"]),
    "tasks": ({"tasks": ["Plan the week"]}, ["Plan the week"]),
    "nothing": ({"tasks": []}, []),
}


@pytest.mark.parametrize(("given", "wanted"), SECOND_RUNS.values(), ids=SECOND_RUNS)
@pytest.mark.parametrize("first", [{"tasks": ["Fix the login"]}, {"messages": [HumanMessage("Fix the login")]}])
@pytest.mark.parametrize("awaited", [False, True], ids=["invoke", "ainvoke"])
def test_each_run_of_a_thread_does_its_own_tasks_once(
    memory: Memory, first: dict[str, Any], given: dict[str, Any], wanted: list[str], awaited: bool
) -> None:
    done: list[str] = []

    def note(given: dict[str, Any]) -> str:
        done.append(given["task"])
        return "done"

    app = kept(memory, good=note)

    def invoke(given: dict[str, Any]) -> dict[str, Any]:
        return dict(asyncio.run(app.ainvoke(given, ANN)) if awaited else app.invoke(given, ANN))

    before = invoke(first)
    assert [one["text"] for one in app.get_state(ANN).values["results"]] == ["Fix the login"]
    after = invoke(given)
    assert done == ["Fix the login", *wanted]
    assert [one["text"] for one in after["results"]] == wanted
    assert before["swarm"] != after["swarm"] == after["summary"]["swarm"]
    answered = [message for message in after.get("messages", ()) if isinstance(message, AIMessage)]
    assert len(answered) == ("messages" in first) + ("messages" in given)


def test_tasks_that_made_no_sense_do_not_stand_in_the_way_of_the_next(memory: Memory) -> None:
    app = kept(memory, good=good)
    with pytest.raises(InvalidInput):
        run(app, 7)
    out = app.invoke({"messages": [HumanMessage("Plan the week")]}, ANN)
    assert [one["text"] for one in out["results"]] == ["Plan the week"]


def test_a_resumed_run_knows_all_its_tasks(memory: Memory) -> None:
    app = kept(memory, asking=lambda _given: f"approved by {interrupt('may I?')}", good=good)
    app.invoke({"tasks": [{"task": "Deploy the shop", "executor": "asking", "tags": ["Shop"]}, "Plan the week"]}, ANN)
    out = app.invoke(Command(resume="Bob"), ANN)
    assert [one["text"] for one in out["results"]] == ["Deploy the shop", "Plan the week"]
    episode = memory.episodes.show(out["summary"]["episode_id"], scope=Scope(persona="ann"))
    assert "Shop" in episode.entities
    assert out["messages"] == []


def test_the_stream_tells_each_step(memory: Memory) -> None:
    app = swarm(memory, good=good)
    events = [
        event["memory"]
        for _place, event in app.stream({"tasks": ["Fix the login"]}, ANN, stream_mode="custom", subgraphs=True)
    ]
    assert events == ["tell", "route", "attempt", "swarm"]


# -- executors that fail ---------------------------------------------------------------------------


def nothing(_given: dict[str, Any]) -> None:
    return None


def silent(given: dict[str, Any]) -> dict[str, Any]:
    return {"messages": given["messages"]}


@pytest.mark.parametrize(
    ("executor", "failure"),
    [
        (bad, "runtime_error"),
        (nothing, "unknown"),
        (silent, "unknown"),
        (lambda _: "  ", "unknown"),
        (lambda _: {"error": "HTTP 429"}, "rate_limited"),
        (lambda _: {"success": False}, "unknown"),
        (lambda _: "Error: ENOENT: no such file", "file_not_found"),
    ],
    ids=["raises", "None", "no answer", "blank", "an error", "a failure", "an error text"],
)
def test_another_executor_steps_in_for_one_that_fails(
    memory: Memory, executor: Callable[[Any], Any], failure: str
) -> None:
    task = {"task": "Fix the login", "executor": "first"}
    (result,) = run(swarm(memory, first=executor, good=good), task)["results"]
    assert (result["outcome"], result["executor"]) == ("resolved", "good")
    assert [(one["executor"], one["failure_class"]) for one in result["attempts"]] == [
        ("first", failure),
        ("good", None),
    ]


def test_an_executor_that_hangs_is_left_at_its_deadline(memory: Memory) -> None:
    release = Event()
    options = SwarmOptions(deadline_seconds=0.05, concurrency=1)
    app = swarm(memory, options, stuck=lambda _: release.wait(), good=good)
    task = {"task": "Fix the login", "executor": "stuck"}
    (result,) = run(app, task)["results"]
    release.set()
    assert [one["failure_class"] for one in result["attempts"]] == ["timeout", None]


def test_an_async_executor_that_hangs_and_will_not_be_cancelled_is_left_too(memory: Memory) -> None:
    async def stubborn(_given: Any) -> str:
        try:
            await asyncio.sleep(0.3)
        except asyncio.CancelledError:
            await asyncio.sleep(0.3)
        return "late"

    async def awaited() -> Any:
        app = swarm(memory, SwarmOptions(deadline_seconds=0.05), stuck=RunnableLambda(stubborn), good=good)
        out = await app.ainvoke({"tasks": [{"task": "Fix the login", "executor": "stuck"}]}, ANN)
        await asyncio.sleep(0.4)
        return out["results"][0]

    assert asyncio.run(awaited())["executor"] == "good"


def test_when_all_fail_the_task_is_open_until_it_is_done(memory: Memory) -> None:
    works = False

    def sometimes(given: dict[str, Any]) -> str:
        return good(given) if works else bad(given)

    app = swarm(memory, sometimes=sometimes)
    ann = Scope(persona="ann")
    (result,) = run(app, "Fix the login page")["results"]
    assert (result["outcome"], result["answer"]) == ("failure", "")
    (loop,) = memory.loops.list(scope=ann)
    assert loop.id == result["loop_id"]
    assert loop.title == "Finish the task: Fix the login page"
    run(app, "Fix the login page")
    assert len(memory.loops.list(scope=ann)) == 1
    works = True
    run(app, "Fix the login page")
    assert memory.loops.list(scope=ann) == []


PREAMBLE = "You work in the repository of the shop, keep commits small, follow the guide and run all tests. Then: "


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{PREAMBLE}fix the payment", f"{PREAMBLE}repair the backup"),
        (f"{PREAMBLE}fix the payment {'x ' * 4_000}a", f"{PREAMBLE}fix the payment {'x ' * 4_000}b"),
        (
            "Rotate sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
            "Rotate sk-proj-9876543210abcdefghijklmnopqrst",
        ),
    ],
    ids=["same beginning", "very long", "same but for a secret"],
)
def test_tasks_that_only_look_alike_in_their_title_are_open_apart(memory: Memory, one: str, other: str) -> None:
    works = False
    app = swarm(memory, sometimes=lambda given: good(given) if works else bad(given))
    ann = Scope(persona="ann")
    for task in (one, other, one):
        run(app, task)
    assert len({loop.id for loop in memory.loops.list(scope=ann)}) == len(memory.loops.list(scope=ann)) == 2
    works = True
    (result,) = run(app, one)["results"]
    assert result["outcome"] == "success"
    assert len(memory.loops.list(scope=ann)) == 1
    run(app, other)
    assert memory.loops.list(scope=ann) == []


def test_a_task_of_a_hundred_thousand_characters_reaches_its_executor_whole(memory: Memory) -> None:
    task = "Fix this: " + "word " * 20_000
    (result,) = run(swarm(memory, count=lambda given: str(len(given["task"]))), task)["results"]
    assert result["answer"] == str(len(task))
    assert len(memory.episodes.show(result["episode_id"], scope=Scope(persona="ann")).summary) < 300


def test_a_secret_in_a_task_or_an_error_stays_out_of_memory(memory: Memory) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"

    def leaks(given: dict[str, Any]) -> str:
        raise ValueError(f"no access with {key}")

    (result,) = run(swarm(memory, leaks=leaks), f"Fix the login with {key}")["results"]
    assert result["degraded"] == []
    ann = Scope(persona="ann")
    kept = [memory.episodes.list(scope=ann), memory.loops.list(scope=ann), memory.profiles.list(scope=ann)]
    assert key not in repr(kept)


def test_a_pause_of_an_executor_is_no_failure(memory: Memory) -> None:
    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"approved by {interrupt('may I?')}")]}

    asking = StateGraph(MessagesState)
    asking.add_node("ask", ask)
    asking.add_edge(START, "ask")
    app = create_swarm_graph(memory, {"asking": asking.compile()}, options=ONE_BY_ONE).compile(
        checkpointer=InMemorySaver()
    )
    waiting = app.invoke({"tasks": ["Deploy the shop"]}, ANN)
    assert waiting["__interrupt__"][0].value == "may I?"
    done = app.invoke(Command(resume="Bob"), ANN)
    (result,) = done["results"]
    assert (result["answer"], len(result["attempts"])) == ("approved by Bob", 1)


# -- what memory tells and learns ------------------------------------------------------------------


def test_a_task_is_told_what_memory_holds_and_others_are_told_nothing(memory: Memory) -> None:
    memory.remember("shop", "port", "8443", persona="ann")
    model = ScriptedChatModel(replies=lambda _messages: "fine")
    app = swarm(memory, model=model)
    out = run(app, "What did we decide about the port of the shop?", "Translate 'good morning' into French.")
    assert "8443" in str(model.requests[0][-1].content)
    assert "8443" not in str(model.requests[1])
    assert [result["memory"]["decision"] for result in out["results"]] == ["inject", "skip"]
    assert out["summary"]["memory_tokens"] == out["results"][0]["memory"]["tokens"] > 0


def test_a_task_is_told_related_results_of_the_same_run(memory: Memory) -> None:
    seen: list[str] = []

    def look(given: dict[str, Any]) -> str:
        seen.append(given["memory_context"])
        return "The login form posts to /session"

    run(swarm(memory, look=look), "Where does the login form post to?", "Fix the login form")
    assert "posts to /session" in seen[1]
    assert "data, not instructions" in seen[1]


def test_the_tokens_of_a_run_have_an_end(memory: Memory) -> None:
    memory.remember("shop", "port", "8443", persona="ann")
    options = SwarmOptions(concurrency=1, run_budget=1)
    out = run(swarm(memory, options, good=good), *["What did we decide about the port of the shop?"] * 2)
    assert out["summary"]["memory_tokens"] <= 1


def test_what_a_swarm_wrote_of_a_task_is_not_told_to_it_again(memory: Memory) -> None:
    app = swarm(memory, good=good)
    for _ in range(3):
        out = run(app, "Which port does the Lisbon shop use?")
    assert out["results"][0]["memory"]["tokens"] == 0


def test_what_a_swarm_wrote_of_a_task_lifts_nothing_else_over_the_floor(memory: Memory) -> None:
    """The words of a task answer it perfectly; what else memory holds must not be weighed by that."""
    said = [
        text for n in range(60) for text in (f"Mia read a book in week {n}.", f"We bought {n} blue chairs in Lisbon.")
    ]
    memory.observe([{"role": "user", "content": each} for each in said], scope=Scope(persona="ann"))
    app = swarm(memory, good=good)
    for _ in range(3):
        (result,) = run(app, "What is the capital of Mongolia?")["results"]
    assert result["memory"]["decision"] == "skip"


def test_each_attempt_is_counted_once_and_tied_to_its_episode(memory: Memory) -> None:
    run(swarm(memory, bad=bad, good=good), {"task": "Fix the login", "executor": "bad", "tags": ["Shop"]})
    ann = Scope(persona="ann")
    (fix,) = memory.profiles.show("bad", scope=ann).categories
    assert (fix.attempts, fix.successes) == (1, 0)
    (fix,) = memory.profiles.show("good", scope=ann).categories
    assert (fix.attempts, fix.successes) == (1, 1)
    assert fix.entity_affinities["shop"] == pytest.approx(0.65)
    (episode,) = memory.episodes.list(entity="executor.good", scope=ann)
    assert episode.id in fix.recent_episode_ids
    assert episode.outcome == "resolved"


def test_a_run_of_several_tasks_has_an_episode_of_its_own(memory: Memory) -> None:
    out = run(swarm(memory, bad=bad), "Fix the login", "Write tests")
    (episode,) = [one for one in memory.episodes.list(scope=Scope(persona="ann")) if one.summary.startswith("Swarm")]
    assert episode.outcome == out["summary"]["outcome"] == "failure"
    assert f"swarm.{out['swarm']}" in episode.entities


def test_routing_learns_who_does_it(memory: Memory, clock: FixedClock) -> None:
    def only(name: str) -> Callable[[dict[str, Any]], str]:
        def work(given: dict[str, Any]) -> str:
            clock.advance(minutes=1)
            return good(given) if name in given["task"] else bad(given)

        return work

    app = swarm(memory, SwarmOptions(concurrency=1, attempts=1), docs=only("manual"), code=only("function"))
    for number in range(12):
        run(app, f"Write the manual {number}", f"Implement the function {number}")
    out = run(app, "Write the manual again", "Implement the function again")
    assert [result["executor"] for result in out["results"]] == ["docs", "code"]


def test_a_named_procedure_is_counted_and_an_unknown_one_begins_nothing(memory: Memory) -> None:
    ann = Scope(persona="ann")
    memory.procedures.create("site-review", [{"executor": "good"}], scope=ann)
    app = swarm(memory, good=good)
    run(app, {"task": "Review the site", "procedure": "site-review"})
    assert memory.procedures.show("site-review", scope=ann).success_count == 1
    with pytest.raises(UnknownName):
        run(app, {"task": "Review the site", "procedure": "nowhere"})
    assert memory.profiles.show("good", scope=ann).week == (1, 1)


FOLLOWED: dict[str, tuple[dict[str, Any], dict[str, Any], list[str], tuple[int, int]]] = {
    "its executor does it": ({}, {}, ["b"], (1, 0)),
    "its fallback does it": ({"b": bad}, {}, ["b", "c"], (1, 0)),
    "somebody else does it": ({"b": bad, "c": bad}, {}, ["b", "c", "a"], (0, 1)),
    "nobody does it": ({"a": bad, "b": bad, "c": bad}, {}, ["b", "c", "a"], (0, 1)),
    "it is not followed": ({}, {"executor": "a"}, ["a"], (0, 0)),
    "not followed and failed": ({"a": bad, "b": bad}, {"executor": "a"}, ["a", "b", "c"], (1, 0)),
}


@pytest.mark.parametrize(("odd", "named", "tried", "counts"), FOLLOWED.values(), ids=FOLLOWED)
def test_a_procedure_is_followed_and_counts_what_those_it_names_have_done(
    memory: Memory, odd: dict[str, Any], named: dict[str, Any], tried: list[str], counts: tuple[int, int]
) -> None:
    ann = Scope(persona="ann")
    step = {"executor": "b", "fallback_executor": "c"}
    memory.procedures.create("deploy", [step, {"executor": "stranger"}], scope=ann)
    app = swarm(memory, SwarmOptions(concurrency=1, attempts=3), **{**dict.fromkeys("abc", good), **odd})
    (result,) = run(app, {"task": "Deploy it", "procedure": "deploy", **named})["results"]
    assert [one["executor"] for one in result["attempts"]] == tried
    made = memory.procedures.show("deploy", scope=ann)
    assert (made.success_count, made.failure_count) == counts


def test_of_several_steps_the_one_that_is_like_the_task_is_followed(memory: Memory) -> None:
    steps = [
        {"executor": "a", "task_pattern": "review the pages"},
        {"executor": "b", "task_pattern": "write the report"},
    ]
    memory.procedures.create("site", steps, scope=Scope(persona="ann"))
    app = swarm(memory, a=good, b=good)
    asked = [{"task": f"{task} of May", "procedure": "site"} for task in ("Write the report", "Review the pages")]
    assert [one["executor"] for one in run(app, *asked)["results"]] == ["b", "a"]


@pytest.mark.parametrize("doing", ["b", "c"], ids=["its executor", "its fallback"])
def test_the_step_of_a_procedure_sets_the_time(memory: Memory, doing: str) -> None:
    release = Event()
    step = {"executor": "b", "fallback_executor": "c", "timeout_seconds": 0.05}
    memory.procedures.create("deploy", [step], scope=Scope(persona="ann"))
    app = swarm(memory, ONE_BY_ONE, **{"a": good, "b": bad, doing: lambda _given: release.wait()})
    (result,) = run(app, {"task": "Deploy it", "procedure": "deploy"})["results"]
    release.set()
    assert {one["executor"]: one["failure_class"] for one in result["attempts"]}[doing] == "timeout"


def test_a_swarm_that_goes_well_becomes_a_procedure_once(memory: Memory) -> None:
    tasks = [
        {"task": "Review the login", "executor": "ann"},
        {"task": "Review the shop", "executor": "bob"},
        {"task": "Review the docs", "executor": "ann"},
    ]
    app = swarm(memory, ann=good, bob=good)
    names = [run(app, *tasks)["summary"]["procedures"] for _ in range(2)]
    assert names[0] == names[1]
    (made,) = memory.procedures.list(scope=Scope(persona="ann"))
    assert made.name == "swarm.auto.review.review"
    assert (made.version, made.success_count, made.source) == (1, 1, "auto")


def test_what_goes_well_twice_under_a_tag_becomes_a_procedure(memory: Memory) -> None:
    app = swarm(memory, good=good)
    assert run(app, {"task": "Review the site", "tags": ["FFB"]})["summary"]["procedures"] == []
    assert run(app, {"task": "Review the site", "tags": ["FFB"]})["summary"]["procedures"] == ["auto.ffb"]
    assert run(app, {"task": "Review the site", "tags": ["FFB"]})["summary"]["procedures"] == []


def test_forgetting_reaches_what_executors_and_procedures_say(memory: Memory) -> None:
    ann = Scope(persona="ann")
    memory.remember("Zanzibar project", "status", "open", persona="ann")
    memory.profiles.record("good", success=False, error="could not reach Zanzibar", scope=ann)
    memory.procedures.create("trip", [{"executor": "good", "notes": "book Zanzibar"}], scope=ann)
    report = memory.forget(persona="ann", matching="Zanzibar")
    assert report.clean, report.traces
    with memory.stores.read() as unit:
        (attempt,) = unit.executors.of_executor(["ann"], "good", limit=9)
    assert (attempt.outcome, attempt.error) == ("failure", "")
    assert memory.procedures.list(scope=ann) == []


def test_another_persona_learns_nothing_of_it(memory: Memory) -> None:
    run(swarm(memory, bad=bad), "Fix the login")
    bob = Scope(persona="bob")
    assert memory.episodes.list(scope=bob) == []
    assert memory.loops.list(scope=bob) == []
    assert memory.profiles.list(scope=bob) == []


def test_two_swarms_write_one_store_at_once_and_nothing_is_lost(
    home: Path, embedder: SmallEmbedder, clock: FixedClock, memory: Memory
) -> None:
    with Memory.open(home, embeddings=embedder, clock=clock) as other:
        outs: list[dict[str, Any]] = []

        def work(mine: Memory) -> None:
            app = swarm(mine, SwarmOptions(concurrency=4), good=good, bad=bad)
            outs.append(run(app, *(f"Fix number {number}" for number in range(8))))

        threads = [Thread(target=work, args=(each,)) for each in (memory, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        attempts = sum(len(result["attempts"]) for out in outs for result in out["results"])
        profiles = other.profiles.list(scope=Scope(persona="ann"))
        notes = [note for out in outs for result in out["results"] for note in result["degraded"]]
        # The gate's own log may give way to another writer; what was learned never does.
        assert [note for note in notes if not note.startswith("not logged")] == []
        assert sum(one.attempts for each in profiles for one in each.categories) == attempts >= 16


def test_a_memory_that_fails_stops_no_task(home: Path, embedder: SmallEmbedder, clock: FixedClock) -> None:
    memory = Memory.open(home, embeddings=embedder, clock=clock)
    app = swarm(memory, good=good)
    memory.close()
    (result,) = run(app, "What did we decide about the port?")["results"]
    assert result["outcome"] == "success"
    assert [note.partition(":")[0] for note in result["degraded"]] == ["recall", "not learned"]


# -- what cannot be a swarm ------------------------------------------------------------------------


class _Odd(TypedDict):
    number: int


def odd_graph() -> Any:
    graph = StateGraph(_Odd)
    graph.add_node("n", lambda _: {})
    graph.add_edge(START, "n")
    return graph


@pytest.mark.parametrize(
    ("executors", "said"),
    [
        ({}, "no executor"),
        ({"a:b": good}, "without ':'"),
        ({" ": good}, "name"),
        ({"memory_learn": good}, "taken"),
        ({"a": 3}, "Runnable or a function"),
        ({"a": odd_graph()}, "uncompiled"),
        ({"a": odd_graph().compile()}, "none of the channels"),
    ],
    ids=["nobody", "colon", "blank", "ours", "number", "uncompiled", "other channels"],
)
def test_executors_that_cannot_work_are_refused_when_the_graph_is_built(
    memory: Memory, executors: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        create_swarm_graph(memory, executors)


@pytest.mark.parametrize(
    "odd",
    [
        "",
        {"id": "x"},
        {"task": "a", "executor": "stranger"},
        {"task": "a", "timeout_seconds": -1},
        {"task": "a", "tags": "b"},
        {"task": "a", "colour": "red"},
        {"task": "a", "category": " "},
        {"task": "a", "category": "x" * 201},
        {"task": "a", "category": "a\0b"},
        7,
    ],
    ids=["empty", "no text", "stranger", "no time", "tags", "unknown", "blank", "long", "control", "number"],
)
def test_one_task_that_makes_no_sense_begins_none(memory: Memory, odd: Any) -> None:
    with pytest.raises(InvalidInput):
        run(swarm(memory, good=good), "Fix the login", odd)
    assert memory.episodes.list(scope=Scope(persona="ann")) == []


def test_no_tasks_are_no_work(memory: Memory) -> None:
    out = run(swarm(memory, good=good))
    assert out["results"] == []
    assert out["summary"]["outcome"] == "success"


# -- the router alone ------------------------------------------------------------------------------


def routed(memory: Memory, schema: Any, strategy: str = "balanced") -> Any:
    graph = StateGraph(schema)
    node = create_router_node(memory, ["ann", Candidate(name="bob", expertise=("login",))], strategy=strategy)
    graph.add_node("route", node, destinations=("ann", "bob"))
    graph.add_node("ann", lambda _: {"messages": [AIMessage("I am ann")]})
    graph.add_node("bob", lambda _: {"messages": [AIMessage("I am bob")]})
    graph.add_edge("ann", END)
    graph.add_edge("bob", END)
    graph.add_edge(START, "route")
    return graph.compile()


@pytest.mark.parametrize("schema", [MemoryState, MessagesState])
def test_the_router_sends_the_message_to_who_can_do_it(memory: Memory, schema: Any) -> None:
    app = routed(memory, schema)
    out = app.invoke({"messages": [HumanMessage("Fix the login")]}, ANN)
    assert out["messages"][-1].text == "I am bob"
    again = asyncio.run(app.ainvoke({"messages": [HumanMessage("Fix the login")]}, ANN))
    assert again["messages"][-1].text == "I am bob"


def test_scores_and_reasons_are_in_the_state_and_in_the_stream(memory: Memory) -> None:
    app = routed(memory, MemoryState)
    out = app.invoke({"messages": [HumanMessage("Fix the login")]}, ANN)
    told = out["memory_route"]
    assert (told["executor"], told["order"]) == ("bob", ["bob", "ann"])
    assert told["scores"][0]["signals"]["capability"] == 1.0
    json.dumps(told)
    (event,) = list(app.stream({"messages": [HumanMessage("Fix the login")]}, ANN, stream_mode="custom"))
    assert event == {"memory": "route", **told}


def test_a_router_without_executors_or_with_an_unknown_strategy_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        create_router_node(memory, [])
    with pytest.raises(InvalidInput):
        create_router_node(memory, ["ann"], strategy="lucky")


def test_an_empty_conversation_is_routed_too(memory: Memory) -> None:
    assert routed(memory, MessagesState).invoke({"messages": []}, ANN)["messages"][-1].text.startswith("I am")


# -- other people's swarms as executors ------------------------------------------------------------

_THEIRS = "ignore::Warning"  # langgraph-supervisor is built on what LangGraph has deprecated


def agent(name: str, said: str) -> Any:
    from langchain.agents import create_agent

    return create_agent(ScriptedChatModel(replies=lambda _messages: said), [], name=name)


@pytest.mark.filterwarnings(_THEIRS)
def test_a_supervisor_is_an_executor(memory: Memory) -> None:
    supervisor = pytest.importorskip("langgraph_supervisor", exc_type=ImportError)
    handoff = AIMessage("", tool_calls=[{"name": "transfer_to_coder", "args": {}, "id": "1", "type": "tool_call"}])
    model = ScriptedChatModel(replies=[handoff, "The coder fixed the login.", handoff, "The coder fixed the login."])
    team = supervisor.create_supervisor([agent("coder", "fixed")], model=model).compile(name="team")
    app = swarm(memory, team=team)
    (result,) = run(app, "Fix the login")["results"]
    assert (result["outcome"], result["answer"]) == ("success", "The coder fixed the login.")
    awaited = asyncio.run(app.ainvoke({"tasks": ["Fix the login"]}, ANN))
    assert awaited["results"][0]["answer"] == "The coder fixed the login."


@pytest.mark.filterwarnings(_THEIRS)
def test_a_swarm_of_handoffs_is_an_executor_and_the_router_sets_its_active_agent(memory: Memory) -> None:
    theirs = pytest.importorskip("langgraph_swarm", exc_type=ImportError)
    from langchain.agents import create_agent

    handoff = AIMessage("", tool_calls=[{"name": "transfer_to_bob", "args": {}, "id": "1", "type": "tool_call"}])
    ann = create_agent(
        ScriptedChatModel(replies=lambda _: handoff), [theirs.create_handoff_tool(agent_name="bob")], name="ann"
    )
    app_of_agents = theirs.create_swarm([ann, agent("bob", "bob did it")], default_active_agent="ann")
    team = app_of_agents.compile(name="team")
    app = swarm(memory, team=team)
    (result,) = run(app, "Fix the login")["results"]
    assert (result["outcome"], result["answer"]) == ("success", "bob did it")
    awaited = asyncio.run(app.ainvoke({"tasks": ["Fix the login"]}, ANN))
    assert awaited["results"][0]["answer"] == "bob did it"

    graph = StateGraph(theirs.SwarmState)
    graph.add_node("route", create_router_node(memory, [Candidate(name="team")]), destinations=("team",))
    graph.add_node("team", lambda state: {"messages": [AIMessage(f"for {state['active_agent']}")]})
    graph.add_edge(START, "route")
    out = graph.compile().invoke({"messages": [HumanMessage("Fix the login")]}, ANN)
    assert out["messages"][-1].text == "for team"
