"""The verbs of `Memory` that ask whose something is: personas, and what is known of an entity."""

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import if_given, text
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.uses import count_uses, turn_key_of
from zomem_graph.stores.errors import StoreError
from zomem_graph.stores.records import Fact

if TYPE_CHECKING:
    from zomem_graph.subjects.personas import Personas

__all__ = ["Belonging"]


class _Opened(Services, Protocol):
    """What these verbs need of the memory they are part of."""

    def _check_open(self) -> None: ...


class Belonging:
    """Who there is and reads whom, and what is known within that reach. `Memory` inherits it."""

    @property
    def personas(self: _Opened) -> "Personas":
        """Who there is and who reads whom: add, list, show, inherit, disinherit, pools."""
        from zomem_graph.subjects.personas import Personas

        self._check_open()
        return Personas(self)

    def lookup(self: _Opened, entity: str, key: str | None = None, *, scope: Scope | None = None) -> list[Fact]:
        """Return the current facts of an entity, surest first (spec F7); counts as a use, where it can be written.

        Facts of pools and parents count .8 a hop.
        """
        from zomem_graph.nodes.rules.keys import address
        from zomem_graph.nodes.steps.access import readable
        from zomem_graph.nodes.steps.lapse import lapse

        self._check_open()
        where = address(text("entity", entity), if_given(text, "key", key))
        who, now = scope_given(scope), self.clock()
        lapse(self)
        with self.stores.read() as unit:
            weights = readable(unit, who)
            found = unit.facts.lookup([*weights], where, now=now)
        uses, turn = {fact.id: "fact" for fact in found}, turn_key_of(where, now)
        with suppress(StoreError), self.stores.write(hasty=True) as unit:
            count_uses(unit, uses, kind="lookup", persona=who.persona, turn_key=turn, now=now)
        return sorted(found, key=lambda fact: -fact.confidence * weights[fact.persona])
