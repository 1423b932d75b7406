"""What a store does with namespaces, searches and filters, check by check."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from langgraph.store.base import BaseStore, PutOp

from zomem_graph.testing.store_expecting import NS, keys, refused, same

__all__ = ["SEARCH_CHECKS"]


def _a_search_reaches_below_its_namespace(store: BaseStore) -> None:
    store.put(("a",), "top", {})
    store.put(("a", "b", "c"), "deep", {})
    store.put(("z",), "else", {})
    same([keys(store, ("a",)), keys(store, ("a", "b")), keys(store, ())], [
        ["deep", "top"], ["deep"], ["deep", "else", "top"]
    ])  # fmt: skip


def _a_search_matches_whole_labels(store: BaseStore) -> None:
    store.put(("foo",), "foo", {})
    store.put(("foobar",), "foobar", {})
    store.put(("xfoo",), "xfoo", {})
    same(keys(store, ("foo",)), ["foo"])


def _wildcard_signs_of_databases_are_letters(store: BaseStore) -> None:
    for name in ("d_v", "dev", "d%", "%", "_"):
        store.put((name,), name, {})
    same([keys(store, (name,)) for name in ("d_v", "d%", "%", "_")], [["d_v"], ["d%"], ["%"], ["_"]])


def _labels_tell_upper_from_lower_case(store: BaseStore) -> None:
    store.put(("Ann",), "upper", {})
    store.put(("ann",), "lower", {})
    same([keys(store, ("Ann",)), keys(store, ("ann",))], [["upper"], ["lower"]])


def _a_label_with_a_period_is_refused(store: BaseStore) -> None:
    refused(lambda: store.put(("a.b",), "k", {}), ValueError)


def _a_label_with_a_period_is_refused_in_a_batch(store: BaseStore) -> None:
    refused(lambda: store.batch([PutOp(("a.b",), "k", {})]), ValueError)


def _an_empty_label_is_refused(store: BaseStore) -> None:
    refused(lambda: store.put(("a", ""), "k", {}), ValueError)


def _an_empty_namespace_is_refused(store: BaseStore) -> None:
    refused(lambda: store.put((), "k", {}), ValueError)


def _limit_and_offset_cut_without_gap_or_double(store: BaseStore) -> None:
    for number in range(7):
        store.put(NS, f"k{number}", {})
    pages = [store.search(NS, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    same([len(page) for page in pages], [3, 3, 1, 0])
    same(len({item.key for page in pages for item in page}), 7)


def _ten_is_the_usual_limit(store: BaseStore) -> None:
    store.batch([PutOp(NS, f"k{number}", {}) for number in range(12)])
    same(len(store.search(NS)), 10)


def _a_filter_asks_for_equal_values(store: BaseStore) -> None:
    _three(store)
    same([keys(store, filter={"n": 2}), keys(store, filter={"n": 2, "s": "x"})], [["b"], []])


def _eq_and_ne_say_the_same_in_words(store: BaseStore) -> None:
    _three(store)
    same([keys(store, filter={"s": {"$eq": "x"}}), keys(store, filter={"n": {"$ne": 2}})], [["a"], ["a", "c"]])


def _numbers_are_compared_as_numbers(store: BaseStore) -> None:
    _three(store)
    asked = ({"$gt": 2}, {"$gte": 2}, {"$lt": 10}, {"$lte": 10}, {"$gt": 1, "$lt": 10})
    found = [keys(store, filter={"n": condition}) for condition in asked]
    same(found, [["c"], ["b", "c"], ["a", "b"], ["a", "b", "c"], ["b"]])


def _a_comparison_leaves_out_what_has_no_such_field(store: BaseStore) -> None:
    store.put(NS, "with", {"n": 5})
    store.put(NS, "without", {"m": 5})
    same(keys(store, filter={"n": {"$gt": 1}}), ["with"])


def _a_filter_may_ask_for_a_truth_value(store: BaseStore) -> None:
    store.put(NS, "yes", {"done": True})
    store.put(NS, "no", {"done": False})
    same(keys(store, filter={"done": False}), ["no"])


def _a_filter_may_ask_inside_a_dict(store: BaseStore) -> None:
    store.put(NS, "a", {"who": {"name": "ann", "age": 3}})
    store.put(NS, "b", {"who": {"name": "bob"}})
    same(keys(store, filter={"who": {"name": "ann"}}), ["a"])


def _an_unknown_operator_is_refused(store: BaseStore) -> None:
    _three(store)
    refused(lambda: store.search(NS, filter={"n": {"$like": 1}}), ValueError)


def _a_filter_cannot_smuggle_a_statement(store: BaseStore) -> None:
    _three(store)
    for name in ("n') or 1=1 --", "'; drop table store; --", "n\\' or ''='"):
        with suppress(ValueError):
            same(store.search(NS, filter={name: 1}), [])
    same(len(store.search(NS)), 3)


def _a_filter_comes_before_the_limit(store: BaseStore) -> None:
    store.batch([PutOp(NS, f"k{number}", {"odd": number % 2}) for number in range(30)])
    same(len(store.search(NS, filter={"odd": 1}, limit=15)), 15)


def _a_query_leaves_the_namespace_and_filter_in_force(store: BaseStore) -> None:
    store.put(NS, "mine", {"text": "tuna for the cat", "n": 1})
    store.put(NS, "other", {"text": "tuna for the cat", "n": 2})
    store.put(("users", "bob"), "his", {"text": "tuna for the cat", "n": 1})
    same(keys(store, query="tuna for the cat", filter={"n": 1}), ["mine"])


def _any_string_is_a_legal_query(store: BaseStore) -> None:
    store.put(NS, "k", {"text": "tuna"})
    for query in ('"', "AND OR NOT", "a* (b", "%_", "猫", "x" * 5_000, "'; --", "\x00"):
        store.search(NS, query=query)


def _three(store: BaseStore) -> None:
    store.put(NS, "a", {"n": 1, "s": "x"})
    store.put(NS, "b", {"n": 2, "s": "y"})
    store.put(NS, "c", {"n": 10, "s": "z"})


def _tree(store: BaseStore) -> None:
    for namespace in (("a", "b", "c"), ("a", "x", "c"), ("a", "b", "d"), ("ab",), ("z", "c")):
        store.put(namespace, "k", {})


def _every_namespace_is_listed_once_in_order(store: BaseStore) -> None:
    _tree(store)
    store.put(("z", "c"), "another", {})
    same(store.list_namespaces(), [("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("ab",), ("z", "c")])


def _a_prefix_matches_whole_labels(store: BaseStore) -> None:
    _tree(store)
    same(store.list_namespaces(prefix=("a",)), [("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c")])


def _a_suffix_matches_whole_labels(store: BaseStore) -> None:
    _tree(store)
    same(store.list_namespaces(suffix=("c",)), [("a", "b", "c"), ("a", "x", "c"), ("z", "c")])


def _a_star_stands_for_one_label(store: BaseStore) -> None:
    _tree(store)
    same(store.list_namespaces(prefix=("a", "*", "c")), [("a", "b", "c"), ("a", "x", "c")])
    same(store.list_namespaces(suffix=("b", "*")), [("a", "b", "c"), ("a", "b", "d")])


def _prefix_and_suffix_hold_together(store: BaseStore) -> None:
    _tree(store)
    same(store.list_namespaces(prefix=("a",), suffix=("d",)), [("a", "b", "d")])


def _max_depth_cuts_and_lists_once(store: BaseStore) -> None:
    _tree(store)
    same(store.list_namespaces(max_depth=1), [("a",), ("ab",), ("z",)])


def _namespaces_are_cut_by_limit_and_offset(store: BaseStore) -> None:
    _tree(store)
    same(store.list_namespaces(limit=2, offset=1), [("a", "b", "d"), ("a", "x", "c")])


def _an_emptied_namespace_is_not_listed(store: BaseStore) -> None:
    store.put(NS, "k", {})
    store.delete(NS, "k")
    same(store.list_namespaces(), [])


SEARCH_CHECKS: Final[tuple[Callable[[BaseStore], None], ...]] = (
    _a_search_reaches_below_its_namespace,
    _a_search_matches_whole_labels,
    _wildcard_signs_of_databases_are_letters,
    _labels_tell_upper_from_lower_case,
    _a_label_with_a_period_is_refused,
    _a_label_with_a_period_is_refused_in_a_batch,
    _an_empty_label_is_refused,
    _an_empty_namespace_is_refused,
    _limit_and_offset_cut_without_gap_or_double,
    _ten_is_the_usual_limit,
    _a_filter_asks_for_equal_values,
    _eq_and_ne_say_the_same_in_words,
    _numbers_are_compared_as_numbers,
    _a_comparison_leaves_out_what_has_no_such_field,
    _a_filter_may_ask_for_a_truth_value,
    _a_filter_may_ask_inside_a_dict,
    _an_unknown_operator_is_refused,
    _a_filter_cannot_smuggle_a_statement,
    _a_filter_comes_before_the_limit,
    _a_query_leaves_the_namespace_and_filter_in_force,
    _any_string_is_a_legal_query,
    _every_namespace_is_listed_once_in_order,
    _a_prefix_matches_whole_labels,
    _a_suffix_matches_whole_labels,
    _a_star_stands_for_one_label,
    _prefix_and_suffix_hold_together,
    _max_depth_cuts_and_lists_once,
    _namespaces_are_cut_by_limit_and_offset,
    _an_emptied_namespace_is_not_listed,
)
