"""The verb of `Memory` that reaches further than one search. `Memory` inherits it."""

from typing import TYPE_CHECKING, Protocol

from zomem_graph.nodes.flow import arun, run
from zomem_graph.nodes.options import MultiHopOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.scope import Scope

if TYPE_CHECKING:
    from zomem_graph.nodes.steps.multihop import Hopped

__all__ = ["Reach"]


class _Opened(Services, Protocol):
    """What this verb needs of the memory it is part of."""

    def _check_open(self) -> None: ...


class Reach:
    """Multi-hop search. `Memory` inherits it."""

    def hop(self: _Opened, query: str, *, scope: Scope | None = None, max_hops: int = 3, limit: int = 5) -> "Hopped":
        """Search and hop over links and shared names until the question is covered; every hop is told."""
        from zomem_graph.nodes.steps.multihop import hop_far
        from zomem_graph.nodes.steps.query import Query

        self._check_open()
        options = MultiHopOptions(max_hops=max_hops)
        return run(hop_far(self, Query(text=query, limit=limit), scope or Scope(), options=options))

    async def ahop(
        self: _Opened, query: str, *, scope: Scope | None = None, max_hops: int = 3, limit: int = 5
    ) -> "Hopped":
        """Do the same as `hop` without blocking the event loop."""
        from zomem_graph.nodes.steps.multihop import hop_far
        from zomem_graph.nodes.steps.query import Query

        self._check_open()
        options = MultiHopOptions(max_hops=max_hops)
        return await arun(hop_far(self, Query(text=query, limit=limit), scope or Scope(), options=options))
