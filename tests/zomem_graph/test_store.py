"""The key-value store for graphs: what LangGraph asks of one, and what is ours on top."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

from tests.postgres import PostgresServer
from zomem_graph import Memory, MemoryOptions, MemoryStore, Scope
from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.stores.documents import labels_of, path_of
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.testing.store_suite import KNOWN_QUIRKS, store_suite

pytestmark = pytest.mark.usefixtures("either_database")

NOTES = ("ann", "notes")


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def store(memory: Memory) -> MemoryStore:
    return MemoryStore(memory)


def keys(found: list[Any]) -> list[str]:
    return [item.key for item in found]


def test_a_namespace_is_never_the_beginning_of_a_name(store: MemoryStore) -> None:
    for name in ("foo", "foobar", "f_o", "f%", "%", "FOO", "foo "):
        store.put((name, "x"), "k", {"owner": name})
    for name in ("foo", "f_o", "f%", "%", "FOO", "foo "):
        assert [item.value["owner"] for item in store.search((name,))] == [name]
        assert [item.value["owner"] for item in store.search((name,), query="owner foo")] == [name]
    assert store.list_namespaces(prefix=("foo",)) == [("foo", "x")]


@given(st.lists(st.text(st.characters(exclude_characters="."), min_size=1, max_size=8), max_size=4))
def test_any_labels_come_back_from_their_path(labels: list[str]) -> None:
    assert labels_of(path_of(labels)) == tuple(labels)


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
))  # fmt: skip
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_json_comes_back_as_it_went_in(store: MemoryStore, part: Any) -> None:
    store.put(NOTES, "any", {"part": part})
    found = store.get(NOTES, "any")
    assert found is not None
    assert found.value == {"part": part}


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"at": datetime(2026, 1, 5)}, "value.at is of type datetime"),
        ({"a": {1: "x"}}, "value.a has the key 1"),
        ({"n": [1.0, float("nan")]}, r"value.n\[1\] is nan"),
        ({"s": {1, 2}}, "value.s is of type set"),
        (["list"], "must be a dict"),
    ],
)
def test_what_json_cannot_keep_is_named_and_nothing_is_written(store: MemoryStore, value: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        store.batch([PutOp(NOTES, "good", {"a": 1}), PutOp(NOTES, "bad", value)])
    assert store.search(()) == []


def test_a_value_that_holds_itself_is_refused(store: MemoryStore) -> None:
    value: dict[str, Any] = {}
    value["self"] = value
    with pytest.raises(InvalidInput, match="holds itself"):
        store.put(NOTES, "k", value)


def test_nothing_the_caller_holds_changes_what_is_kept(store: MemoryStore) -> None:
    value = {"tags": ["a"]}
    store.put(NOTES, "k", value)
    value["tags"].append("b")
    first = store.get(NOTES, "k")
    assert first is not None
    first.value["tags"].append("c")
    again = store.get(NOTES, "k")
    assert again is not None
    assert again.value == {"tags": ["a"]}


def test_the_time_of_the_first_writing_stays(store: MemoryStore, clock: FixedClock) -> None:
    store.put(NOTES, "k", {"a": 1})
    first = clock()
    clock.advance(minutes=5)
    store.put(NOTES, "k", {"a": 2})
    found = store.get(NOTES, "k")
    assert found is not None
    assert (found.created_at, found.updated_at) == (first, clock())


def test_the_newest_comes_first_without_a_query(store: MemoryStore) -> None:
    for key in ("a", "b", "c"):
        store.put(NOTES, key, {})
    store.put(NOTES, "a", {"again": True})
    assert keys(store.search(NOTES)) == ["a", "c", "b"]
    assert keys(store.search(NOTES, limit=1, offset=1)) == ["c"]


def test_reads_of_a_batch_see_the_state_before_its_writes(store: MemoryStore) -> None:
    store.put(NOTES, "k", {"n": 1})
    results = store.batch(
        [
            PutOp(NOTES, "k", {"n": 2}),
            GetOp(NOTES, "k"),
            PutOp(NOTES, "k", {"n": 3}),
            SearchOp(NOTES),
            PutOp(("bob",), "new", {}),
            ListNamespacesOp(),
        ]
    )
    before: Any = results[1]
    assert before.value == {"n": 1}
    assert results[5] == [NOTES]
    after = store.get(NOTES, "k")
    assert after is not None
    assert after.value == {"n": 3}


def test_a_query_ranks_by_words_and_meaning(store: MemoryStore) -> None:
    store.put(NOTES, "cat", {"text": "the cat likes tuna", "stars": 3})
    store.put(NOTES, "dog", {"text": "the dog chews old bones", "stars": 5})
    store.put(NOTES, "hidden", {"text": "tuna tuna tuna"}, index=False)
    found = store.search(NOTES, query="which fish does the cat like, tuna?")
    assert keys(found)[0] == "cat"
    assert found[0].score is not None
    assert 0 < found[0].score <= 1
    assert {item.key: item.score for item in found}["hidden"] is None
    assert keys(store.search(NOTES, query="tuna", filter={"stars": {"$gt": 4}})) == ["dog"]


def test_a_large_namespace_is_found_by_meaning_and_keeps_to_itself(
    home: Path, clock: FixedClock, embedder: SmallEmbedder
) -> None:
    options = MemoryOptions(retrieve=RetrieveOptions(exact_below=10, words=False))
    with Memory.open(home, embeddings=embedder, clock=clock, options=options) as memory:
        store = MemoryStore(memory)
        for number in range(30):
            store.put(("large",), str(number), {"said": f"the tool of number {number} is blue"})
            store.put((f"small{number % 3}",), str(number), {"said": f"the tool of number {number} is red"})
        memory.flush()

        for name in ("large", "small0"):
            found = store.search((name,), query="the tool of number 21", limit=5)
            assert found[0].key == "21"
            assert {item.namespace for item in found} == {(name,)}


def test_only_the_named_fields_are_searched(store: MemoryStore) -> None:
    store.put(NOTES, "a", {"title": "tuna", "body": {"text": "sailing"}}, index=["body.text"])
    store.put(NOTES, "b", {"title": "harbour", "body": {"text": "knitting"}})
    assert store.search(NOTES, query="sailing", limit=1)[0].key == "a"
    with store._memory.stores.read() as unit:
        known = [item.text for item in unit.items.find(unit.documents.ids(""))]
    assert sorted(known) == ["harbour\nknitting", "sailing"]


def test_a_changed_value_is_found_by_its_new_words_only(store: MemoryStore) -> None:
    store.put(NOTES, "k", {"text": "tuna"})
    store.put(NOTES, "other", {"text": "bread and butter"})
    store.put(NOTES, "k", {"text": "sailing"})
    assert store.search(NOTES, query="sailing")[0].key == "k"
    with store._memory.stores.read() as unit:
        assert unit.items.counts() == {"document:current": 2}


def test_an_unknown_operator_is_refused_even_when_nothing_is_stored(store: MemoryStore) -> None:
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(NOTES, filter={"n": {"$like": 1}})


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"n": 2}, ["b"]),
        ({"n": {"$ne": 2}}, ["c", "a"]),
        ({"n": {"$gt": 1, "$lte": 2}}, ["b"]),
        ({"n": {"$gte": 1}}, ["b", "a"]),
        ({"s": {"$lt": "y"}}, ["a"]),
        ({"deep": {"in": 1}}, ["a"]),
        ({"tags": ["x", "y"]}, ["b"]),
        ({"missing": None}, ["c", "b", "a"]),
        ({}, ["c", "b", "a"]),
    ],
)
def test_filters_choose_by_value(store: MemoryStore, wanted: dict[str, Any], found: list[str]) -> None:
    store.put(NOTES, "a", {"n": 1, "s": "x", "deep": {"in": 1}})
    store.put(NOTES, "b", {"n": 2, "s": "y", "tags": ["x", "y"]})
    store.put(NOTES, "c", {"n": "three", "s": None})
    assert keys(store.search(NOTES, filter=wanted)) == found


def test_what_has_run_out_is_never_returned(store: MemoryStore, clock: FixedClock) -> None:
    store.put(NOTES, "short", {"text": "tuna"}, ttl=10)
    store.put(("bob",), "gone", {}, ttl=10)
    store.put(NOTES, "long", {"text": "tuna"})
    clock.advance(minutes=9)
    assert store.get(NOTES, "short", refresh_ttl=True) is not None
    clock.advance(minutes=9)
    assert store.get(NOTES, "short", refresh_ttl=False) is not None
    assert store.get(("bob",), "gone") is None
    assert store.list_namespaces() == [NOTES]
    clock.advance(minutes=2)
    assert store.get(NOTES, "short") is None
    assert keys(store.search(NOTES, query="tuna")) == ["long"]
    assert store.sweep_ttl() == 2
    assert store.sweep_ttl() == 0


def test_a_default_time_to_live_is_taken_from_the_config(memory: Memory, clock: FixedClock) -> None:
    store = MemoryStore(memory, ttl={"default_ttl": 1, "refresh_on_read": False})
    store.put(NOTES, "k", {})
    store.put(NOTES, "kept", {}, ttl=None)
    clock.advance(seconds=50)
    assert store.get(NOTES, "k") is not None
    clock.advance(seconds=20)
    assert keys(store.search(NOTES)) == ["kept"]


def test_what_comes_again_after_its_time_is_new(store: MemoryStore, clock: FixedClock) -> None:
    store.put(NOTES, "k", {"a": 1}, ttl=1)
    clock.advance(minutes=2)
    store.put(NOTES, "k", {"a": 1})
    found = store.get(NOTES, "k")
    assert found is not None
    assert found.created_at == clock()


def test_namespaces_are_listed_by_prefix_suffix_and_depth(store: MemoryStore) -> None:
    for namespace in [("a", "b", "c"), ("a", "x", "c"), ("a", "b", "d"), ("z",)]:
        store.put(namespace, "k", {})
    assert store.list_namespaces(prefix=("a", "*"), suffix=("c",)) == [("a", "b", "c"), ("a", "x", "c")]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("z",)]
    assert store.list_namespaces(limit=1, offset=3) == [("z",)]
    store.delete(("z",), "k")
    assert ("z",) not in store.list_namespaces()


def test_a_label_with_a_dot_is_refused_in_a_batch_too(store: MemoryStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])


def test_documents_and_memories_do_not_show_in_each_other(memory: Memory, store: MemoryStore) -> None:
    store.put(("ann",), "k", {"text": "my sister Ana is a nurse"})
    memory.remember("sister", "job", "nurse", persona="ann")
    scope = Scope(persona="ann")
    assert [hit.kind for hit in memory.search("sister nurse", scope=scope)] == ["fact"]
    assert "my sister Ana" not in memory.recall("what is the job of my sister?", scope=scope).text
    assert keys(store.search((), query="sister nurse")) == ["k"]
    with memory.stores.read() as unit:
        assert "" not in unit.personas.names()


def test_forgetting_a_persona_leaves_documents_alone(memory: Memory, store: MemoryStore) -> None:
    store.put(("ann",), "k", {"text": "my sister Ana is a nurse"})
    memory.remember("sister", "job", "nurse", persona="ann")
    report = memory.forget(persona="ann", everything=True)
    assert report.clean, report
    assert keys(store.search(("ann",), query="sister")) == ["k"]


def test_an_erased_namespace_leaves_no_trace(memory: Memory, store: MemoryStore, home: Path) -> None:
    store.put(("ann",), "k", {"text": "the heron sleeps at Vouzela"})
    store.put(("ann", "deep"), "k", {"text": "the heron wakes at Vouzela"})
    store.put(("anna",), "k", {"text": "bread"})
    memory.flush()
    assert store.erase(("ann",)) == 2
    assert store.list_namespaces() == [("anna",)]
    assert memory.verify()["ok"]
    assert not [path for path in home.rglob("*") if path.is_file() and b"Vouzela" in path.read_bytes()]


def test_the_event_loop_goes_on_while_the_store_works(memory: Memory) -> None:
    class Slow(SmallEmbedder):
        def embed_query(self, text: str) -> Any:
            threads.add(threading.get_ident())
            time.sleep(0.01)
            return super().embed_query(text)

    threads: set[int] = set()
    memory.embedder = Slow()
    store = MemoryStore(memory)

    async def work() -> list[Any]:
        await asyncio.gather(*(store.aput(NOTES, f"k{n}", {"text": f"note {n}"}) for n in range(4)))
        return list(await store.asearch(NOTES, query="note 3"))

    assert asyncio.run(work())[0].key == "k3"
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("awaited", [False, True])
def test_a_graph_compiled_with_it_reaches_it_from_its_nodes(store: MemoryStore, awaited: bool) -> None:
    def note(_state: MessagesState, runtime: Runtime[Any]) -> dict[str, Any]:
        assert runtime.store is not None
        runtime.store.put(NOTES, "seen", {"text": "yes"})
        return {}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("note", note)
    graph.add_edge(START, "note")
    app = graph.compile(store=store)
    if awaited:
        asyncio.run(app.ainvoke({"messages": []}))
    else:
        app.invoke({"messages": []})
    assert keys(store.search(NOTES)) == ["seen"]


def test_two_threads_that_write_one_key_leave_one_document(store: MemoryStore) -> None:
    def write(number: int) -> None:
        for turn in range(5):
            store.put(NOTES, "k", {"text": f"{number} {turn}"})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.search(NOTES)) == 1
    with store._memory.stores.read() as unit:
        assert unit.items.counts() == {"document:current": 1}


def test_it_is_all_there_after_opening_again(home: Path, embedder: SmallEmbedder) -> None:
    with Memory.open(home, embeddings=embedder) as memory:
        MemoryStore(memory).put(NOTES, "k", {"text": "tuna"})
    with Memory.open(home, embeddings=embedder) as memory:
        assert keys(MemoryStore(memory).search(NOTES, query="tuna")) == ["k"]


def failures(make_store: Callable[[], BaseStore]) -> dict[str, str]:
    return {check.name: check.detail for check in store_suite(make_store) if not check.passed}


def test_it_passes_every_check_of_the_published_suite(home: Path, embedder: SmallEmbedder) -> None:
    with Memory.open(home, embeddings=embedder) as memory:

        def emptied() -> MemoryStore:
            with memory.stores.write() as unit:
                unit.documents.empty("")
            return MemoryStore(memory)

        assert failures(emptied) == {}


def test_the_stores_of_langgraph_differ_just_where_it_is_published() -> None:
    assert failures(InMemoryStore).keys() == KNOWN_QUIRKS["InMemoryStore"].keys()
    with closing(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)) as connection:

        def emptied() -> SqliteStore:
            made = SqliteStore(connection)
            made.setup()
            connection.execute("delete from store")
            return made

        assert failures(emptied).keys() == KNOWN_QUIRKS["SqliteStore"].keys()


@pytest.mark.sqlite_file
def test_langgraphs_own_store_on_postgresql_fails_only_where_it_is_known_to(postgres: PostgresServer) -> None:
    with postgres.empty_database() as url, PostgresStore.from_conn_string(url.replace("+psycopg", "")) as there:
        there.setup()

        def emptied() -> PostgresStore:
            with there._cursor() as cursor:
                cursor.execute("delete from store")
            return there

        failed = failures(emptied)
    assert failed.keys() == KNOWN_QUIRKS["PostgresStore"].keys(), failed


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_langmem_keeps_and_finds_its_memories_in_it(store: MemoryStore) -> None:
    langmem = pytest.importorskip("langmem", reason="langmem is not installed")
    namespace = ("memories", "{user_id}")
    keep = langmem.create_manage_memory_tool(namespace, store=store)
    find = langmem.create_search_memory_tool(namespace, store=store)
    for user, fact in (("ann", "likes tuna"), ("bob", "likes bones")):
        keep.invoke({"content": fact, "action": "create"}, {"configurable": {"user_id": user}})
    found = str(find.invoke({"query": "what is liked?"}, {"configurable": {"user_id": "ann"}}))
    assert "likes tuna" in found
    assert "bones" not in found
    key = store.search(("memories", "ann"))[0].key
    keep.invoke({"action": "delete", "id": key}, {"configurable": {"user_id": "ann"}})
    assert store.list_namespaces() == [("memories", "bob")]
