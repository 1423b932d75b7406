"""Any text, any history, any reply of a model: nothing raises but a clear refusal, nothing is lost or made up.

A short form runs with the other tests, the same examples each time; `make fuzz` runs the long one.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zomem_graph import Memory, Scope
from zomem_graph.nodes.options import HydeOptions, MemoryOptions, WriteOptions
from zomem_graph.nodes.rules.keys import normal, same_value
from zomem_graph.nodes.rules.replies import ReplyUnreadable, read_facts
from zomem_graph.nodes.rules.secrets import looks_secret, redact
from zomem_graph.nodes.values import Recollection
from zomem_graph.stores.errors import InvalidInput, ModelError, ModelTimeout, SecretRefused
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

LONG = os.environ.get("ZOMEM_LONG") == "1"
OPTIONS = MemoryOptions(write=WriteOptions(background=False))

fuzz = settings(
    max_examples=500 if LONG else 15,
    derandomize=not LONG,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

_everything = st.characters(codec=None, max_codepoint=sys.maxunicode)
_tricky = (
    "\x00 \x1b[2J \ud800 \udfff \u202e \u200b \ufeff é e\u0301 ﬁ ß İ 部署方案 こんにちは 안녕 🙂 [bold] [[Port]] "
    '\' " * : ( ) { } ^ - + NEAR AND OR NOT a: /* ; <recalled-memory> </recalled-memory> <think> ``` {" \\u12 % _ '
    "continue remember yesterday 2026-02-30 25:99 my I we Lyon ferry"
).split(" ")
texts = st.one_of(
    st.text(_everything, max_size=120),
    st.lists(st.sampled_from(_tricky), max_size=12).map(" ".join),
    st.builds(lambda word, times: word * times, st.sampled_from(_tricky), st.integers(0, 3_000)),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home = tmp_path_factory.mktemp("fuzz") / "home"
    with Memory.open(home, embeddings=SmallEmbedder(), options=OPTIONS, clock=FixedClock()) as made:
        made.remember("ferry", "port", "Lyon")
        made.observe([{"role": "user", "content": "my sister Ana is a nurse in Porto"}], session="a")
        made.capture([{"role": "user", "content": "I have to send the report tomorrow."}], session="b")
        yield made


class Fresh:
    """Opens a memory of its own for each example; making one takes longer than copying one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._copies = 0
        Memory.open(folder / "empty", embeddings=SmallEmbedder(), options=OPTIONS).close()

    def __call__(self, chat: ScriptedChat | None = None, **options: Any) -> Memory:
        self._copies += 1
        home = shutil.copytree(self._folder / "empty", self._folder / str(self._copies))
        chosen = replace(OPTIONS, **options)
        return Memory.open(home, embeddings=SmallEmbedder(), options=chosen, clock=FixedClock(), chat_model=chat)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    return Fresh(tmp_path_factory.mktemp("fresh"))


# -- any text ---------------------------------------------------------------------------------------


@fuzz
@given(question=texts, history=st.lists(texts, max_size=3), budget=st.integers(1, 400))
def test_any_text_may_be_asked(memory: Memory, question: str, history: list[str], budget: int) -> None:
    for hit in memory.search(question):
        assert 0.0 <= hit.score <= 1.0
    said = [{"role": "user", "content": each} for each in history]
    for recollection in (
        memory.recall(question, history=said, token_budget=budget),
        memory.continuation(question, history=said, token_budget=budget),
    ):
        assert recollection.tokens <= budget
        assert is_fenced(recollection)


def is_fenced(recollection: Recollection) -> bool:
    """Return whether the block is one fence around everything, and there exactly when something is injected."""
    text = recollection.text
    if recollection.decision != "inject":
        return not text
    marks = (text.count("<recalled-memory>"), text.count("</recalled-memory>"))
    return marks == (1, 1) and text.startswith("<recalled-memory>") and text.endswith("</recalled-memory>")


@pytest.mark.parametrize("piece", ["a", "部署 ", "my ferry to Lyon? ", "\x00", "((("])
def test_ten_megabytes_are_asked_at_once_and_not_stored(memory: Memory, piece: str) -> None:
    huge = piece * (10_000_000 // len(piece))
    before = memory.stats()["items"]
    began = time.monotonic()
    assert is_fenced(memory.recall(huge, history=[{"role": "user", "content": huge}]))
    assert is_fenced(memory.continuation(huge))
    memory.search(huge)
    for store in (
        lambda: memory.remember("ferry", "log", huge),
        lambda: memory.remember(huge, "log", "long"),
        lambda: memory.observe([{"role": "user", "content": "short"}, {"role": "user", "content": huge}]),
        lambda: memory.capture([{"role": "user", "content": "short"}, {"role": "user", "content": huge}]),
    ):
        with pytest.raises(InvalidInput, match=r"10,000,000 characters|9,9\d\d,\d\d\d characters"):
            store()
    assert memory.stats()["items"] == before
    assert time.monotonic() - began < 30


@fuzz
@given(entity=texts, key=st.none() | texts, value=texts)
def test_any_fact_is_stored_as_it_is_or_refused(memory: Memory, entity: str, key: str | None, value: str) -> None:
    before = memory.stats()["items"]
    try:
        fact = memory.remember(entity, key, value, persona="facts")
    except SecretRefused:
        assert any(looks_secret(part) for part in (value, key or "", f"{key or ''} = {value}"))
    except InvalidInput:
        names = [entity] if key is None else [entity, key]
        assert not all(normal(each) for each in names) or not value.strip() or max(map(len, names)) > 500
    else:
        assert fact.value == value or same_value(fact.value, value)  # it may have been said before, otherwise put
        assert fact.id in {one.id for one in memory.lookup(fact.entity, fact.key, scope=Scope(persona="facts"))}
        return
    assert memory.stats()["items"] == before


@fuzz
@given(contents=st.lists(texts, max_size=4), way=st.sampled_from(["observe", "capture"]))
def test_any_conversation_is_kept_verbatim(fresh: Fresh, contents: list[str], way: str) -> None:
    said = [{"role": "user", "content": each, "id": str(n)} for n, each in enumerate(contents)]
    with fresh() as memory:
        getattr(memory, way)(said, session="s")
        expected = [redact(each)[0] for each in contents if each.strip()]
        if way == "capture":
            assert len(stored_turns(memory)) <= len(expected)  # what we recalled ourselves is taken out
        else:
            assert stored_turns(memory) == expected
        again = memory.observe(said, session="s") if way == "observe" else memory.capture(said, session="s").turn_ids
        assert not again
        with memory.stores.write() as unit:
            assert unit.fulltext_fault() is None
        memory.flush()
        assert memory.verify()["ok"]


@fuzz
@given(text=texts)
def test_any_text_may_be_captured_as_a_conversation(memory: Memory, text: str) -> None:
    with suppress(InvalidInput):
        memory.capture(text, session="text", scope=Scope(persona="text"))


def stored_turns(memory: Memory) -> list[str]:
    with memory.stores.read() as unit:
        return [turn.content for turn in unit.turns.tail("shared", "s", 1_000)]


# -- any history ------------------------------------------------------------------------------------

# How a host may hand in its history: what is new with some of what went before, all of it, the last message.
ways = st.lists(
    st.tuples(st.sampled_from(["more", "more", "all", "last", "part"]), st.integers(0, 4), st.integers(0, 6)),
    max_size=8,
)


@fuzz
@given(ways=ways)
def test_each_turn_is_stored_once(fresh: Fresh, ways: list[tuple[str, int, int]]) -> None:
    with fresh() as memory:
        history: list[dict[str, str]] = []
        for way, some, many in ways:
            history = grown(history, some if way == "more" else 0, "message {}")
            memory.observe(handed_in(history, "all" if way == "part" else way, some, many), session="s")
            assert stored_turns(memory) == [message["content"] for message in history]


@fuzz
@given(ways=ways, words=st.sampled_from(["yes", "yes no", "yes no ok"]))
def test_ids_tell_equal_words_apart(fresh: Fresh, ways: list[tuple[str, int, int]], words: str) -> None:
    """People say yes again and again; then a part of what was said may come again, too."""
    said = words.split()
    with fresh() as memory:
        history: list[dict[str, str]] = []
        for way, some, many in ways:
            history = grown(history, way == "more", said[some % len(said)], identified=True)
            memory.observe(handed_in(history, way, 1 if way == "more" else some, many), session="s")
            assert stored_turns(memory) == [message["content"] for message in history]


def grown(history: list[dict[str, str]], by: int, content: str, *, identified: bool = False) -> list[dict[str, str]]:
    new = []
    for number in range(len(history), len(history) + by):
        role = "assistant" if number % 2 else "user"
        new.append({"role": role, "content": content.format(number)} | ({"id": str(number)} if identified else {}))
    return history + new


def handed_in(history: list[dict[str, str]], way: str, some: int, many: int) -> list[dict[str, str]]:
    match way:
        case "more":
            return history[max(0, len(history) - some - many) :]
        case "part":
            return history[some : some + many]
        case "last":
            return history[-1:]
    return history


# -- any reply of a model ---------------------------------------------------------------------------

SAID = "I live in Lyon and my sister Ana is a nurse in Porto."
GOOD = {
    "entity": "Ana",
    "key": "job",
    "value": "nurse",
    "category": "fact",
    "tier": "stable",
    "confidence": 0.9,
    "source_quote": "my sister Ana is a nurse",
}
_values = st.none() | st.booleans() | st.floats() | st.integers() | texts
_entries = st.one_of(
    st.just(GOOD),
    st.dictionaries(st.sampled_from([*GOOD, "other"]), _values, max_size=7).map(lambda odd: {**GOOD, **odd}),
    st.recursive(_values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)),
)
_wrapped = st.sampled_from(
    ["{}", "Sure! {}", "```json\n{}\n```\nThat is all.", "<think>hm {{</think>{}", "think> {{</think>{}", "{}{}"]
)
replies: st.SearchStrategy[str | Exception] = st.one_of(
    st.builds(
        lambda wrap, entries, key: wrap.replace("{}", json.dumps({key: entries} if key else entries)),
        _wrapped,
        st.lists(_entries, max_size=4),
        st.sampled_from(["", "facts"]),
    ),
    texts,
    st.sampled_from(
        [
            "",
            "[]",
            '{"facts": []}',
            "I cannot help with that.",
            "Ana is a nurse { and so on",
            "<think> and on and on",
            '[{"entity": "Ana", "key": "job"',
            "[" * 3_000,
            "nurse " * 5_000,
            ModelTimeout("it did not answer within 4 s"),
            ModelError("the provider refused"),
        ]
    ),
)


@fuzz
@given(reply=replies)
def test_whatever_a_model_extracts_nothing_is_lost_or_made_up(fresh: Fresh, reply: str | Exception) -> None:
    with fresh(ScriptedChat(reply)) as memory:
        report = memory.capture([{"role": "user", "content": SAID}], session="s", inline=True)
        assert stored_turns(memory) == [SAID]
        with memory.stores.read() as unit:
            depth = unit.journal.queue_depth()
            facts = unit.facts.find(list(report.fact_ids))
        if readable(reply):
            assert depth == {"done": 1}
        elif readable(reply) is None:
            assert "done" not in depth
            assert report.queued == 1
            assert any("postponed" in note for note in report.degraded)
        assert all(fact.quote is not None and fact.quote.casefold() in SAID.casefold() for fact in facts)
        assert {"user"} <= {fact.entity for fact in facts}  # what the rules found is there whatever the model says


def readable(reply: str | Exception) -> bool | None:
    """Return whether a reply holds facts, or says that there are none; False when only part of it can be read."""
    if isinstance(reply, Exception):
        return None
    try:
        found = read_facts(reply)
    except ReplyUnreadable:
        return None
    return not found.unread and not found.cut


@fuzz
@given(reply=replies)
def test_whatever_a_model_imagines_the_answer_is_found(fresh: Fresh, reply: str | Exception) -> None:
    with fresh(ScriptedChat(reply)) as memory:
        memory.remember("Ana", "job", "nurse in Porto")
        memory.remember_many({"entity": f"tree {n}", "key": "kind", "value": "apple"} for n in range(12))
        hits = memory.search("Ana's job: nurse in Porto", hyde=True)
        assert hits[0].text == "Ana job: nurse in Porto"
        assert isinstance(reply, str) or any("hyde" in note for note in hits.degraded)


def test_a_model_that_hangs_is_given_up(fresh: Fresh) -> None:
    with fresh(ScriptedChat("too late", seconds=600), hyde=HydeOptions(deadline_seconds=0.2)) as memory:
        memory.remember("Ana", "job", "nurse in Porto")
        hits = memory.search("Ana's job", hyde=True)
        assert hits
        assert any("did not answer" in note for note in hits.degraded)
