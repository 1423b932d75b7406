"""What the checks of a store are written with."""

from collections.abc import Callable
from typing import Any, Final

from langgraph.store.base import BaseStore

__all__ = ["NS", "keys", "refused", "same", "value"]

NS: Final = ("users", "ann")


def same(found: object, wanted: object) -> None:
    """Raise AssertionError when two things differ."""
    if found != wanted:
        raise AssertionError(f"expected {wanted!r}, got {found!r}")


def refused(call: Callable[[], Any], *kinds: type[Exception]) -> None:
    """Raise AssertionError when a call does not raise one of these errors."""
    try:
        call()
    except kinds:
        return
    raise AssertionError("expected to be refused")


def value(store: BaseStore, key: str = "k", namespace: tuple[str, ...] = NS) -> Any:
    """Return the value under a key, None when there is none."""
    found = store.get(namespace, key)
    return None if found is None else found.value


def keys(store: BaseStore, namespace: tuple[str, ...] = NS, **words: Any) -> list[str]:
    """Return the keys that a search finds, in order."""
    return sorted(item.key for item in store.search(namespace, **words))
