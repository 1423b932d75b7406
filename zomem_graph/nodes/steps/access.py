"""Who may read what, and who may change it: the personas a scope reaches, each with the weight of its hits."""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from zomem_graph.nodes.rules.inheritance import Access, access
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.stores.persona_files import read_persona_file
from zomem_graph.stores.store import Stores
from zomem_graph.stores.unit import Unit

__all__ = ["Reach", "reach", "readable", "stranger", "writable"]

_NEAR = 3
_LIKENESS = 0.6


class Reach(dict[str, float]):
    """The readable personas with the weight of their hits; `paths` says how each is reached.

    `known` is False when nothing is stored for the persona and nobody is tied to it.
    """

    def __init__(self, found: Mapping[str, Access], *, known: bool) -> None:
        super().__init__((persona, one.weight) for persona, one in found.items())
        self.paths: Mapping[str, str] = MappingProxyType({persona: one.path for persona, one in found.items()})
        self.known = known


def reach(unit: Unit, scope: Scope) -> Reach:
    """Return what a scope may read and how it comes to it; one query (spec F87, F88)."""
    kin, known = unit.personas.kin(scope.persona)
    return Reach(access(scope.persona, SHARED, kin), known=known or scope.persona == SHARED)


def readable(unit: Unit, scope: Scope) -> dict[str, float]:
    """Return the readable personas and the weight of each: one's own and "shared" in full, .8 a hop."""
    return reach(unit, scope)


def writable(scope: Scope) -> tuple[str, ...]:
    """Return the personas whose memory a scope may change: pools and parents are for reading only."""
    return tuple(dict.fromkeys((scope.persona, SHARED)))


def stranger(unit: Unit, stores: Stores, scope: Scope) -> str | None:
    """Return a note when a persona nobody knows has a name much like known ones; None for a plain first use."""
    if read_persona_file(stores.home.personas, scope.persona):
        return None
    names = [name for name in unit.personas.names() if name not in (SHARED, scope.persona)]
    by_form = {name.casefold().strip(): name for name in names}
    near = get_close_matches(scope.persona.casefold().strip(), by_form, _NEAR, _LIKENESS)
    if not near:
        return None
    meant = " or ".join(repr(by_form[name]) for name in near)
    return f"unknown persona {scope.persona!r:.80}, did you mean {meant:.240}?"
