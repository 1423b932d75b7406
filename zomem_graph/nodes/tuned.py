"""A memory with other options for one node: everything else is the memory's own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from zomem_graph.nodes.options import GateOptions
from zomem_graph.nodes.ports import Services, services_given
from zomem_graph.nodes.rules.option_kinds import options_given
from zomem_graph.nodes.state import decision_of
from zomem_graph.nodes.values import known

__all__ = ["as_gated", "tuned"]


class _Tuned:
    def __init__(self, services: Services, changed: Mapping[str, Any]) -> None:
        self._services = services
        self.options = replace(services.options, **changed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._services, name)


def tuned(services: Services, **options: Any) -> Services:
    """Return the services with these options in place of their own; those that are None stay as they are.

    Raises InvalidInput for options of another kind, and for what is no memory.
    """
    usual = services_given(services).options
    changed = {
        name: options_given(chosen, getattr(usual, name)) for name, chosen in options.items() if chosen is not None
    }
    return cast("Services", _Tuned(services, changed)) if changed else services


def as_gated(services: Services, state: Mapping[str, Any]) -> Services:
    """Return the services with the options of the gate that stands before, if it has any of its own."""
    chosen = decision_of(state).get("options")
    return tuned(services, gate=GateOptions(**known(GateOptions, chosen)) if isinstance(chosen, Mapping) else None)
