"""What a store does with keys, values, batches and time, check by check."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from langgraph.store.base import BaseStore, GetOp, ListNamespacesOp, PutOp, SearchOp

from zomem_graph.testing.store_expecting import NS, keys, refused, same, value

__all__ = ["VALUE_CHECKS"]

_SHORT_MINUTES: Final = 0.002
_LONG_ENOUGH_SECONDS: Final = 0.2


def _a_value_comes_back_as_it_went_in(store: BaseStore) -> None:
    given = {"text": "ä 猫 \U0001f408", "n": 1, "f": 1.5, "yes": True, "none": None, "list": [1, {"a": []}], "": {}}
    store.put(NS, "k", given)
    same(value(store), given)


def _what_is_not_there_is_none(store: BaseStore) -> None:
    store.put(NS, "k", {})
    same([store.get(NS, "other"), store.get(("users",), "k")], [None, None])


def _an_item_knows_its_place(store: BaseStore) -> None:
    store.put(NS, "k", {})
    found = store.get(NS, "k")
    assert found is not None
    same((found.namespace, found.key), (NS, "k"))


def _times_are_aware(store: BaseStore) -> None:
    store.put(NS, "k", {})
    found = store.get(NS, "k")
    assert found is not None
    same([found.created_at.tzinfo is None, found.updated_at.tzinfo is None], [False, False])


def _a_put_replaces_the_whole_value(store: BaseStore) -> None:
    store.put(NS, "k", {"a": 1, "b": 2})
    store.put(NS, "k", {"a": 3})
    same(value(store), {"a": 3})


def _created_at_stays_and_updated_at_moves(store: BaseStore) -> None:
    store.put(NS, "k", {"a": 1})
    first = store.get(NS, "k")
    time.sleep(1.1)  # a store may keep whole seconds
    store.put(NS, "k", {"a": 2})
    second = store.get(NS, "k")
    assert first is not None
    assert second is not None
    same((second.created_at, second.updated_at > first.updated_at), (first.created_at, True))


def _a_deleted_value_is_gone(store: BaseStore) -> None:
    store.put(NS, "k", {})
    store.delete(NS, "k")
    same([store.get(NS, "k"), store.search(NS)], [None, []])


def _deleting_what_is_not_there_is_no_error(store: BaseStore) -> None:
    store.delete(NS, "nothing")


def _the_same_key_lives_in_two_namespaces(store: BaseStore) -> None:
    store.put(("a",), "k", {"in": "a"})
    store.put(("b",), "k", {"in": "b"})
    store.delete(("a",), "k")
    same(value(store, namespace=("b",)), {"in": "b"})


def _odd_keys_are_kept_apart(store: BaseStore) -> None:
    keys = ["", " ", "a", "A", "a.b", "%", "_", "'", '"', "猫", "a/b", "a\\b", "x" * 1_000]
    for key in keys:
        store.put(NS, key, {"key": key})
    same([value(store, key) for key in keys], [{"key": key} for key in keys])


def _what_is_handed_out_is_a_copy(store: BaseStore) -> None:
    store.put(NS, "k", {"tags": ["a"]})
    value(store)["tags"].append("b")
    store.search(NS)[0].value["tags"].append("c")
    same(value(store), {"tags": ["a"]})


def _what_is_taken_in_is_a_copy(store: BaseStore) -> None:
    given: dict[str, Any] = {"tags": ["a"]}
    store.put(NS, "k", given)
    given["tags"].append("b")
    same(value(store), {"tags": ["a"]})


def _what_json_cannot_keep_is_refused(store: BaseStore) -> None:
    refused(lambda: store.put(NS, "k", {"what": object()}), Exception)
    same(store.get(NS, "k"), None)


def _a_time_is_refused_or_kept_as_text(store: BaseStore) -> None:
    def kept_as_time() -> None:
        store.put(NS, "k", {"at": datetime(2026, 1, 5, tzinfo=UTC)})
        if isinstance(value(store)["at"], str):
            raise TypeError

    refused(kept_as_time, Exception)


def _results_stand_in_the_order_of_the_operations(store: BaseStore) -> None:
    store.put(NS, "k", {"n": 1})
    results: list[Any] = store.batch(
        [ListNamespacesOp(), PutOp(NS, "new", {}), GetOp(NS, "k"), SearchOp(NS), GetOp(NS, "none")]
    )
    same([results[0], results[1], results[2].value, [item.key for item in results[3]], results[4]], [
        [NS], None, {"n": 1}, ["k"], None
    ])  # fmt: skip


def _reads_see_the_state_before_the_writes_of_their_batch(store: BaseStore) -> None:
    store.put(NS, "k", {"n": 1})
    results: list[Any] = store.batch([PutOp(NS, "k", {"n": 2}), GetOp(NS, "k"), SearchOp(NS)])
    same([results[1].value, results[2][0].value, value(store)], [{"n": 1}, {"n": 1}, {"n": 2}])


def _the_last_write_of_a_key_in_a_batch_wins(store: BaseStore) -> None:
    store.batch([PutOp(NS, "k", {"n": 1}), PutOp(NS, "k", None), PutOp(NS, "k", {"n": 3})])
    store.batch([PutOp(NS, "gone", {"n": 1}), PutOp(NS, "gone", None)])
    same([value(store), value(store, "gone")], [{"n": 3}, None])


def _an_empty_batch_gives_nothing(store: BaseStore) -> None:
    same(store.batch([]), [])


def _a_batch_may_be_an_iterator(store: BaseStore) -> None:
    store.batch(PutOp(NS, f"k{number}", {}) for number in range(3))
    same(keys(store), ["k0", "k1", "k2"])


def _a_batch_that_is_refused_writes_nothing(store: BaseStore) -> None:
    refused(lambda: store.batch([PutOp(NS, "good", {}), PutOp(NS, "bad", {"what": object()})]), Exception)
    same(store.get(NS, "good"), None)


def _async_calls_do_the_same(store: BaseStore) -> None:
    async def calls() -> list[Any]:
        await store.aput(NS, "k", {"n": 1})
        found = await store.aget(NS, "k")
        searched = await store.asearch(NS, filter={"n": 1})
        listed = await store.alist_namespaces()
        await store.adelete(NS, "k")
        return [found and found.value, [item.key for item in searched], listed, await store.aget(NS, "k")]

    same(asyncio.run(calls()), [{"n": 1}, ["k"], [NS], None])


def _a_time_to_live_is_kept_or_refused(store: BaseStore) -> None:
    if not store.supports_ttl:
        refused(lambda: store.put(NS, "k", {}, ttl=1), NotImplementedError)
        return
    store.put(NS, "k", {}, ttl=1)
    same(value(store), {})


def _what_has_run_out_is_not_returned(store: BaseStore) -> None:
    if not store.supports_ttl:
        return
    store.put(NS, "short", {}, ttl=_SHORT_MINUTES)
    store.put(NS, "long", {}, ttl=10)
    store.put(NS, "ever", {})
    time.sleep(_LONG_ENOUGH_SECONDS)
    same([value(store, "short"), keys(store)], [None, ["ever", "long"]])


def _index_false_still_gets_and_searches(store: BaseStore) -> None:
    store.put(NS, "k", {"text": "tuna"}, index=False)
    same([value(store), keys(store)], [{"text": "tuna"}, ["k"]])


def _index_fields_may_be_named(store: BaseStore) -> None:
    store.put(NS, "k", {"a": {"b": "tuna"}, "list": ["x", "y"]}, index=["a.b", "list[*]", "missing"])
    same(value(store), {"a": {"b": "tuna"}, "list": ["x", "y"]})


VALUE_CHECKS: Final[tuple[Callable[[BaseStore], None], ...]] = (
    _a_value_comes_back_as_it_went_in,
    _what_is_not_there_is_none,
    _an_item_knows_its_place,
    _times_are_aware,
    _a_put_replaces_the_whole_value,
    _created_at_stays_and_updated_at_moves,
    _a_deleted_value_is_gone,
    _deleting_what_is_not_there_is_no_error,
    _the_same_key_lives_in_two_namespaces,
    _odd_keys_are_kept_apart,
    _what_is_handed_out_is_a_copy,
    _what_is_taken_in_is_a_copy,
    _what_json_cannot_keep_is_refused,
    _a_time_is_refused_or_kept_as_text,
    _results_stand_in_the_order_of_the_operations,
    _reads_see_the_state_before_the_writes_of_their_batch,
    _the_last_write_of_a_key_in_a_batch_wins,
    _an_empty_batch_gives_nothing,
    _a_batch_may_be_an_iterator,
    _a_batch_that_is_refused_writes_nothing,
    _async_calls_do_the_same,
    _a_time_to_live_is_kept_or_refused,
    _what_has_run_out_is_not_returned,
    _index_false_still_gets_and_searches,
    _index_fields_may_be_named,
)
