"""The scope of a call, under the name users import: `from zomem_graph import Scope`."""

from zomem_graph.nodes.scope import SHARED, Scope, scope_from

__all__ = ["SHARED", "Scope", "scope_from"]
