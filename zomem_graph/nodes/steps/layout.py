"""A recalled block as it was laid out, and how to lay it out again in less room."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.values import Hit, Recollection

__all__ = ["Layout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A result with its block, made of `hits`.

    `counted` gives the tokens of the conversation, None when it is not known; `limit` is a budget to begin
    where none was set.
    """

    scope: Scope
    result: Recollection
    hits: Sequence[Hit]
    again: Callable[[int], Recollection]
    counted: Callable[[], int | None]
    limit: int | None = None
