"""What LangGraph asks of a BaseStore, as checks that you can run on yours; no test runner is needed.

    from zomem_graph.testing.store_suite import store_suite
    for check in store_suite(lambda: MyStore()):
        assert check.passed, f"{check.name}: {check.detail}"

LangGraph publishes such a suite for checkpointers only. `KNOWN_QUIRKS` says where its own stores differ.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from langgraph.store.base import BaseStore

from zomem_graph.testing.store_search_checks import SEARCH_CHECKS
from zomem_graph.testing.store_value_checks import VALUE_CHECKS

__all__ = ["KNOWN_QUIRKS", "Check", "store_suite"]

KNOWN_QUIRKS: Final[Mapping[str, Mapping[str, str]]] = {
    "InMemoryStore": {
        "created at stays and updated at moves": "overwriting resets created_at",
        "what is handed out is a copy": "the stored dict itself is handed out",
        "what is taken in is a copy": "only the outer dict is copied",
        "what json cannot keep is refused": "any object is kept",
        "a time is refused or kept as text": "any object is kept",
        "a label with a period is refused in a batch": "labels are checked by put and search only",
        "a comparison leaves out what has no such field": "float(None) raises TypeError",
        "a batch that is refused writes nothing": "any object is kept",
        "an emptied namespace is not listed": "the namespace stays when its last key goes",
    },
    "SqliteStore": {
        "times are aware": "times come back without a zone",
        "created at stays and updated at moves": "overwriting resets created_at",
        "a filter may ask inside a dict": "every dict is taken for operators",
        "async calls do the same": "AsyncSqliteStore is for that",
        "what has run out is not returned": "returned until sweep_ttl() has run",
    },
    "PostgresStore": {
        "numbers are compared as numbers": "compared as texts",
        "a filter may ask inside a dict": "every dict is taken for operators",
        "what has run out is not returned": "returned until sweep_ttl() has run",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One expectation by name, whether it was met, and what came instead."""

    name: str
    passed: bool
    detail: str = ""


def store_suite(make_store: Callable[[], BaseStore]) -> list[Check]:
    """Run every check on a new, empty store each and return what came of them; a fault of the store never raises.

    `make_store` may return stores over one database as long as each is empty. Time to live is tried with real
    time, a fifth of a second, so a store with a clock of its own needs one that runs.
    """
    return [_tried(probe, make_store) for probe in (*VALUE_CHECKS, *SEARCH_CHECKS)]


def _tried(probe: Callable[[BaseStore], None], make_store: Callable[[], BaseStore]) -> Check:
    name = probe.__name__.strip("_").replace("_", " ")
    store = make_store()
    try:
        probe(store)
    except Exception as error:
        return Check(name=name, passed=False, detail=f"{type(error).__name__}: {error}"[:500])
    return Check(name=name, passed=True)
