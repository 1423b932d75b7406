"""The front door: what is remembered is found, once, by whom it belongs to, and survives."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.stores.errors import (
    Closed,
    InvalidInput,
    SecretRefused,
    StoreDamaged,
    StoreReadOnly,
    UnknownName,
)
from zomem_graph.testing import FixedClock, SmallEmbedder

pytestmark = pytest.mark.usefixtures("either_database")

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def texts(memory: Memory, question: str, **named: object) -> list[str]:
    return [hit.text for hit in memory.search(question, **named)]  # type: ignore[arg-type]


def test_a_fact_is_found_by_its_words(memory: Memory) -> None:
    memory.remember("office", "city", "Lyon")
    assert texts(memory, "which city is the office in?") == ["office city: Lyon"]


def test_a_changed_fact_replaces_the_old_one_in_search(memory: Memory) -> None:
    memory.remember("office", "city", "Lyon")
    memory.remember("office", "city", "Porto")
    assert texts(memory, "office city") == ["office city: Porto"]


def test_the_old_value_stays_for_history_and_the_past(memory: Memory, clock: FixedClock) -> None:
    memory.remember("office", "city", "Lyon")
    then = clock()
    clock.advance(days=30)
    memory.remember("office", "city", "Porto")
    assert set(texts(memory, "office city", include_superseded=True)) == {
        "office city: Lyon",
        "office city: Porto",
    }
    assert texts(memory, "office city", as_of=then + timedelta(days=1)) == ["office city: Lyon"]


def test_a_search_leans_on_the_messages_before_it(memory: Memory) -> None:
    memory.remember("order 5", "note", "the oak table comes from Borgholm Joiners in March")
    for number in range(20):
        memory.remember(f"order {number + 10}", "note", f"the parcel number {number} comes by post")
    history = [
        {"role": "user", "content": "Did we order from Borgholm?"},
        {"role": "assistant", "content": "Yes, an oak table of Borgholm Joiners."},
    ]
    for found in (
        memory.search("When does it arrive?", history=history, limit=1),
        asyncio.run(memory.asearch("When does it arrive?", history=history, limit=1)),
    ):
        assert [hit.metadata["entity"] for hit in found] == ["order 5"]


def test_what_the_history_says_is_not_found_again(memory: Memory) -> None:
    said = {"role": "user", "content": "The key of the boathouse hangs behind the clock."}
    memory.observe([said], scope=ANN, session="old")
    assert texts(memory, "where is the key?", scope=ANN)
    assert texts(memory, "where is the key?", scope=ANN, history=[said]) == []


def test_saying_the_same_again_adds_nothing(memory: Memory) -> None:
    first = memory.remember("server", "port", "8080")
    again = memory.remember("Server", "Port", " 8080 ")
    assert again.id == first.id
    assert memory.stats()["facts"] == 1


def test_list_like_keys_collect_values(memory: Memory) -> None:
    memory.remember("ann", "likes", "tea")
    memory.remember("ann", "likes", "jazz")
    assert {fact.value for fact in memory.lookup("ann", "likes")} == {"tea", "jazz"}


def test_one_person_never_sees_the_facts_of_another(memory: Memory) -> None:
    memory.remember("diary", "secret place", "the old mill", persona="ann")
    assert texts(memory, "secret place", scope=ANN) == ["diary secret place: the old mill"]
    assert texts(memory, "secret place old mill", scope=BOB) == []


def test_what_is_shared_is_seen_by_everybody(memory: Memory) -> None:
    memory.remember("wifi", "name", "harbour")
    assert texts(memory, "wifi name", scope=ANN) == texts(memory, "wifi name", scope=BOB) == ["wifi name: harbour"]


def test_growing_trimmed_and_replayed_histories_store_each_turn_once(memory: Memory) -> None:
    said = [{"role": "user", "content": text} for text in ("one fish", "two fish", "red fish", "blue fish")]
    assert len(memory.observe(said[:2], session="s")) == 2
    assert len(memory.observe(said[:3], session="s")) == 1
    assert len(memory.observe(said[1:], session="s")) == 1
    assert memory.observe(said[:3], session="s") == []
    assert memory.observe(said, session="s") == []
    assert memory.stats()["turns"] == 4


def test_the_same_word_said_twice_is_two_turns_when_its_time_differs(memory: Memory) -> None:
    memory.observe([{"role": "user", "content": "ok", "at": "2026-01-05T10:00:00Z"}], session="s")
    memory.observe([{"role": "user", "content": "ok", "at": "2026-01-05T10:05:00Z"}], session="s")
    memory.observe([{"role": "user", "content": "ok", "at": "2026-01-05T10:05:00Z"}], session="s")
    assert memory.stats()["turns"] == 2


def test_a_deleted_fact_leaves_search_and_the_index(memory: Memory) -> None:
    fact = memory.remember("office", "city", "Lyon")
    memory.flush()
    memory.delete(fact.id)
    memory.flush()
    assert texts(memory, "office city Lyon") == []
    assert memory.verify()["ok"]


def test_deleting_what_is_not_there_says_so(memory: Memory) -> None:
    with pytest.raises(UnknownName, match="zomem search"):
        memory.delete("nothing")


def test_a_secret_is_refused_and_nothing_is_stored(memory: Memory) -> None:
    with pytest.raises(SecretRefused):
        memory.remember("deploy", "token", "ghp_" + "a1B2" * 9)
    assert memory.stats()["facts"] == 0


def test_a_secret_in_a_conversation_is_cut_out(memory: Memory) -> None:
    token = "ghp_" + "a1B2" * 9
    memory.observe([{"role": "user", "content": f"my token is {token}, do not lose it"}])
    assert token not in str([hit.text for hit in memory.search("token")])
    assert memory.search("token")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"entity": "", "value": "x"}, "entity is empty"),
        ({"entity": "a", "value": "  "}, "value is empty"),
        ({"entity": "a", "value": 7}, "must be text"),
        ({"entity": "a", "value": "x", "importance": 9}, "importance"),
        ({"entity": "a", "value": "x", "confidence": float("nan")}, "confidence"),
        ({"entity": "a", "value": "x" * 1_000_001}, "at most"),
        ({"entity": "a", "value": "x", "colour": "red"}, "unknown names"),
        ({"entity": "a"}, "lacks value"),
    ],
)
def test_bad_facts_are_refused_whole(memory: Memory, named: dict[str, object], said: str) -> None:
    good = {"entity": "good", "value": "kept out too"}
    with pytest.raises(InvalidInput, match=said):
        memory.remember_many([good, named])
    assert memory.stats()["facts"] == 0


@pytest.mark.parametrize(
    "text", ["a\x00b", "lone \ud800 surrogate", "\x1b[31mred\x1b[0m", "[bold]x[/]", "部署方案", "🙂"]
)
def test_odd_texts_are_stored_faithfully(memory: Memory, text: str) -> None:
    fact = memory.remember("odd", "text", text)
    assert memory.lookup("odd", "text")[0].value == text == fact.value
    turns = memory.observe([{"role": "user", "content": text}], session="odd")
    assert turns[0].content == text


def test_two_characters_of_chinese_are_found(memory: Memory) -> None:
    memory.remember("doc", "title", "新的部署方案已经通过")
    assert texts(memory, "部署")


def test_a_search_for_nothing_finds_nothing_and_does_not_raise(home: Path) -> None:
    with Memory.open(home, embeddings="none") as memory:
        memory.remember("office", "city", "Lyon")
        for question in ("", "   ", "???", '"', "a AND", "NEAR(", "*", "\x00", "-", "col:x", "🙂" * 3000):
            assert memory.search(question) == []


def test_words_only_recall_says_what_is_missing(home: Path) -> None:
    with Memory.open(home, embeddings="none") as memory:
        memory.remember("office", "city", "Lyon")
        recollection = memory.recall("what did I tell you about the office?")
        assert recollection.decision == "inject"
        assert any("words only" in note for note in recollection.degraded)


def test_a_greeting_needs_no_memory(memory: Memory) -> None:
    assert memory.recall("hello").decision == "skip"


def test_the_recalled_block_is_fenced_and_within_the_budget(memory: Memory) -> None:
    memory.observe(
        [
            {"role": "user", "content": f"my note {n} about the garden: " + "my garden has roses " * 20}
            for n in range(20)
        ]
    )
    memory.flush()
    recollection = memory.recall("what did I tell you about my garden?", token_budget=300)
    assert recollection.decision == "inject"
    assert recollection.text.startswith("<recalled-memory>")
    assert recollection.text.endswith("</recalled-memory>")
    assert 0 < recollection.tokens <= 300


def test_a_recall_counts_each_fact_it_injects_once(memory: Memory) -> None:
    memory.remember("office", "city", "Lyon")
    memory.recall("what did I tell you about the office city?")
    assert memory.lookup("office", "city")[0].access_count == 1


def test_sync_and_async_give_the_same(memory: Memory) -> None:
    memory.remember("office", "city", "Lyon")
    question = "what did I tell you about the office?"

    async def asked() -> tuple[object, object]:
        found = await memory.asearch("office city")
        recalled = await memory.arecall(question)
        return [hit.text for hit in found], recalled.text

    plain = (texts(memory, "office city"), memory.recall(question).text)
    assert asyncio.run(asked()) == plain


def test_what_was_committed_is_there_after_reopening(home: Path, embedder: SmallEmbedder) -> None:
    with Memory.open(home, embeddings=embedder) as memory:
        memory.remember("office", "city", "Lyon")
    with Memory.open(home, embeddings=embedder) as memory:
        assert texts(memory, "office city") == ["office city: Lyon"]
        assert memory.verify()["ok"]


def test_a_closed_memory_says_so(home: Path, embedder: SmallEmbedder) -> None:
    memory = Memory.open(home, embeddings=embedder)
    memory.close()
    memory.close()
    with pytest.raises(Closed, match="Open it again"):
        memory.search("anything")


def test_another_embedder_never_mixes_its_vectors_in(home: Path) -> None:
    with Memory.open(home, embeddings=SmallEmbedder()) as memory:
        memory.remember("office", "city", "Lyon")

    with Memory.open(home, embeddings=SmallEmbedder(name="other")) as memory:
        assert texts(memory, "office city") == ["office city: Lyon"]
        assert memory.embedder is None
        assert any("testing:small" in note for note in memory.standing_notes())


@pytest.mark.sqlite_file
def test_a_file_that_is_no_database_is_named(home: Path) -> None:
    home.mkdir()
    (home / "zomem.db").write_bytes(b"this is not a database, " * 100)
    with pytest.raises(StoreDamaged, match=r"zomem\.db"):
        Memory.open(home, embeddings="none")


def test_a_home_that_is_a_file_is_named(tmp_path: Path) -> None:
    place = tmp_path / "home"
    place.write_text("x")
    with pytest.raises(StoreReadOnly, match="Choose another folder"):
        Memory.open(place, embeddings="none")


@pytest.mark.sqlite_file
def test_the_home_is_readable_by_its_owner_only(home: Path, embedder: SmallEmbedder) -> None:
    with Memory.open(home, embeddings=embedder) as memory:
        memory.remember("office", "city", "Lyon")
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "zomem.db").stat().st_mode & 0o777 == 0o600


def test_what_is_no_longer_used_is_over(memory: Memory) -> None:
    memory.capture([{"role": "user", "content": "We use Redis for the cache."}])
    assert "Redis" in {fact.value for fact in memory.lookup("project", "uses")}
    memory.capture([{"role": "user", "content": "We switched from Redis to Valkey."}])
    assert {fact.value for fact in memory.lookup("project", "uses")} == {"Valkey"}


def test_logs_in_a_message_are_stored_verbatim(memory: Memory) -> None:
    said = "Here is the log:\nAssistant: started\nERROR [db] connection refused at 10:02"
    memory.capture([{"role": "user", "content": said}])
    assert any("connection refused" in hit.text for hit in memory.search("connection refused log", kinds=["turn"]))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda memory: memory.search("a", scope="ann"), "scope must be a Scope"),
        (lambda memory: memory.recall("a", scope={"persona": "ann"}), "scope must be a Scope"),
        (lambda memory: memory.hop("a", scope="ann"), "scope must be a Scope"),
        (lambda memory: memory.search("a", limit=1.5), "limit must be a whole number from 1 to 1,000, not 1.5"),
        (lambda memory: memory.search("a", limit=None), "limit must be a whole number"),
        (lambda memory: memory.recall("a", token_budget="x"), "token_budget must be a whole number"),
        (lambda memory: memory.remember_many(None), "items must be a list of dicts, not NoneType"),
        (lambda memory: memory.remember_many({"entity": "a"}), "items must be a list of dicts, not dict"),
        (lambda memory: memory.remember("a", "b", "c", many="yes"), "many must be True or False"),
        (lambda memory: memory.remember("a", "b", "c", persona=None), "persona must be text"),
        (lambda memory: memory.observe([{"role": "user", "content": "a"}], session=4), "session must be text"),
        (
            lambda memory: memory.observe([{"role": "user", "content": "a", "at": "0001-01-01T00:00+14:00"}]),
            "outside",
        ),
        (lambda _memory: Scope(persona=None), "persona must be a text"),  # type: ignore[arg-type]  # so it is
        (lambda _memory: Memory.open(5), "home must be the path of a folder"),  # type: ignore[arg-type]  # so it is
    ],
)
def test_what_makes_no_sense_is_refused_with_its_name(ask: Any, said: str, memory: Memory) -> None:
    before = memory.stats()
    with pytest.raises(InvalidInput, match=said):
        ask(memory)
    assert memory.stats() == before


def test_a_clock_that_is_none_is_refused(home: Path) -> None:
    with pytest.raises(InvalidInput, match="clock must be a function"):
        Memory.open(home, clock=5)  # type: ignore[arg-type]  # so it is


@pytest.mark.parametrize("subject", ["loops", "episodes", "procedures", "profiles", "summaries", "checkpoints"])
def test_no_subject_takes_a_name_for_a_scope(subject: str, memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="scope must be a Scope"):
        getattr(memory, subject).list(scope="ann")
