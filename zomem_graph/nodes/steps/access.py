"""Who may read what: the personas a scope reaches, each with the weight of its hits."""

from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.stores.unit import Unit

__all__ = ["readable"]


def readable(unit: Unit, scope: Scope) -> dict[str, float]:
    """Return the readable personas and the weight of each: one's own and "shared" count in full."""
    return {scope.persona: 1.0, SHARED: 1.0}
