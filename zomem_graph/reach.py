"""The verb of `Memory` that reaches further than one search. `Memory` inherits it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from zomem_graph.nodes.flow import Flow, arun, run
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import whole
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.uses import count_returned

if TYPE_CHECKING:
    from zomem_graph.nodes.steps.multihop import Hopped

__all__ = ["Reach"]


class _Opened(Services, Protocol):
    """What this verb needs of the memory it is part of."""

    def _check_open(self) -> None: ...


class Reach:
    """Multi-hop search. `Memory` inherits it."""

    def hop(
        self: _Opened, query: str, *, scope: Scope | None = None, max_hops: int | None = None, limit: int = 5
    ) -> "Hopped":
        """Search and hop over links and shared names until the question is covered; every hop is told.

        How far and how long is by default what `MultiHopOptions` say.
        """
        self._check_open()
        return run(_hop(self, query, limit, scope_given(scope), max_hops))

    async def ahop(
        self: _Opened, query: str, *, scope: Scope | None = None, max_hops: int | None = None, limit: int = 5
    ) -> "Hopped":
        """Do the same as `hop` without blocking the event loop."""
        self._check_open()
        return await arun(_hop(self, query, limit, scope_given(scope), max_hops))


def _hop(services: Services, text: str, limit: int, scope: Scope, max_hops: int | None) -> "Flow[Hopped]":
    from zomem_graph.nodes.steps.multihop import hop_far
    from zomem_graph.nodes.steps.query import Query

    options = services.options.multi_hop
    if max_hops is not None:
        options = replace(options, max_hops=whole("max_hops", max_hops, least=0))

    found = yield from hop_far(services, Query(text=text, limit=limit), scope, options=options)
    note = yield from count_returned(services, found.hits, asked=text, kind="hop", scope=scope)
    return found if note is None else replace(found, degraded=(*found.degraded, note))
