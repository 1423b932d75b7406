"""How much of a name and of metadata is kept, wherever somebody gives one: the rest is refused or accounted for."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from tests.zomem_graph.command_line import CommandLine
from tests.zomem_graph.importers.kit import chatgpt, node, write
from zomem_graph import Memory, Scope
from zomem_graph.graphs import create_capture_graph, create_recall_graph
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock

LARGE = {"page": "x" * 100_000}
LONG = "s" * 501
SAID = [{"role": "user", "content": "I live in Rome."}]


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


def test_a_session_whose_name_is_a_text_of_its_own_is_refused_everywhere(memory: Memory) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: memory.observe(SAID, session=LONG),
        lambda: memory.capture(SAID, session=LONG),
        lambda: memory.capture("Ann: I live in Rome.", session=LONG, dry_run=True),
        lambda: memory.capture_stream(session=LONG),
    ]
    for call in calls:
        with pytest.raises(InvalidInput, match="session must be a text of at most 500 characters, not 501"):
            call()
    assert memory.stats()["turns"] == 0
    assert memory.observe(SAID, session=LONG[1:])[0].session == LONG[1:]


def test_so_it_is_on_the_command_line(zomem: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "talk.md").write_text("Ann: I live in Porto.\n", "utf-8")
    for verb in ("observe", "capture"):
        done = zomem(verb, str(tmp_path / "talk.md"), "--session", LONG)
        assert (done.exit_code, "at most 500 characters" in " ".join(done.stderr.split())) == (1, True)


def test_metadata_that_is_a_store_of_its_own_is_refused_everywhere(memory: Memory) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: memory.remember("ana", "city", "Rome", metadata=LARGE),
        lambda: memory.remember_many([{"entity": "ana", "key": "city", "value": "Rome", "metadata": LARGE}]),
        lambda: memory.episodes.create("the move", metadata=LARGE),
        lambda: memory.loops.create("pack the boxes", metadata=LARGE),
        lambda: memory.observe([{**SAID[0], "metadata": LARGE}]),
        lambda: memory.capture([{**SAID[0], "metadata": LARGE}]),
    ]
    before = memory.stats()
    for call in calls:
        with pytest.raises(InvalidInput, match=r"metadata.*100,000 bytes as JSON"):
            call()
    assert memory.stats() == before
    fitting = {"page": "x" * 99_000, "half": "\ud83d"}
    assert memory.remember("ana", "city", "Rome", metadata=fitting).metadata["page"] == fitting["page"]


def test_metadata_does_not_grow_past_its_bound_by_being_told_again(memory: Memory) -> None:
    memory.remember("ana", "city", "Rome", metadata={"one": "x" * 60_000})
    with pytest.raises(InvalidInput, match="with what the fact has already"):
        memory.remember("ana", "city", "Rome", metadata={"two": "x" * 60_000})
    assert set(memory.lookup("ana", "city")[0].metadata) == {"one"}


@pytest.mark.parametrize(
    "odd",
    [
        HumanMessage("The office is in Lyon.", additional_kwargs={"metadata": LARGE}),
        HumanMessage("The office is in Lyon.", name=LONG),
        HumanMessage("The office is in Lyon.", id=LONG),
    ],
)
def test_in_a_graph_a_message_with_too_much_beside_it_stops_no_other(odd: HumanMessage, memory: Memory) -> None:
    state: Any = {"messages": [HumanMessage("I live in Rome."), odd]}
    ana: Any = {"configurable": {"persona": "ana"}}
    done = create_capture_graph(memory).compile().invoke(state, ana)
    assert [line for line in done["memory_degraded"] if "1 message left out" in line]
    assert memory.lookup("user", "city", scope=Scope(persona="ana"))[0].value == "Rome"
    asked = create_recall_graph(memory).compile().invoke(state, ana)
    assert not any("message" in line for line in asked["memory_degraded"])


def test_an_import_leaves_out_the_largest_metadata_and_says_so(memory: Memory, tmp_path: Path) -> None:
    messages = [{**SAID[0], "metadata": {**LARGE, "mood": "calm"}}, {"role": "assistant", "content": "Noted."}]
    report = memory.import_from("messages", write(tmp_path, "talk.json", messages))
    assert (report.turns, report.failed) == (2, 0)
    assert any("largest parts of metadata" in line for line in report.warnings)


def test_an_import_shortens_the_name_of_a_session_and_knows_it_again(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path, "conversations.json", [chatgpt({"a": node("I live in Rome.", id="m1")}, id=LONG * 20)])
    assert memory.import_from("chatgpt", path).turns == 1
    assert memory.import_from("chatgpt", path).turns == 0
    (hit,) = memory.search("Rome", kinds=["turn"])
    assert len(hit.metadata["session"]) <= 500


def test_a_message_without_words_is_counted_and_keeps_nothing(memory: Memory) -> None:
    call = AIMessage("", tool_calls=[{"name": "weather", "args": {}, "id": "1"}])
    said: list[Any] = [{"role": "user", "content": "\n\n"}, {"role": "user", "content": []}, call, *SAID]
    preview = memory.capture(said, dry_run=True)
    report = memory.capture(said)
    for one in (preview, report):
        assert (one.turns, one.skipped, one.skipped_because) == (1, 2, {"message without words": 2})
    assert memory.observe([{"role": "user", "content": "\n\n"}], session="b") == []


def test_a_file_with_a_message_without_words_names_it(zomem: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_text('[{"role":"user","content":"\\n"},{"role":"user","content":"hi"}]', "utf-8")
    for verb in ("observe", "capture"):
        assert "no text" in zomem(verb, str(tmp_path / "talk.json")).stderr
