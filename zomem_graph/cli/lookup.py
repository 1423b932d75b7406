"""`zomem lookup`: the current facts of an entity."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen
from zomem_graph.stores.records import Fact

__all__ = ["lookup"]


@command
def lookup(
    call: Call,
    entity: Annotated[str | None, typer.Argument(metavar="ENTITY", help="What is asked about.")] = None,
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="One property of it.")] = None,
    entity_named: Annotated[str | None, typer.Option("--entity", help="The same by name.")] = None,
    key_named: Annotated[str | None, typer.Option("--key", help="The same by name.")] = None,
) -> None:
    """List the current facts of an entity, surest first."""
    asked = entity_named if entity_named is not None else entity
    if asked is None:
        raise typer.BadParameter("missing. Write: zomem lookup ENTITY [KEY].", param_hint="ENTITY")
    # With --entity the only word that is left is the key.
    word = entity if entity_named is not None else key
    with call.memory() as memory:
        scope = call.scope(memory)
        facts = memory.lookup(asked, key_named if key_named is not None else word, scope=scope)
        note = None if facts else memory.personas.note(scope)
    call.answer(facts, lambda screen: _show(screen, facts))
    call.notes([note] if note is not None else [])


def _show(screen: Screen, facts: list[Fact]) -> None:
    if not facts:
        screen.note("nothing is known")
        return
    rows = [
        (fact.entity, fact.key or "", fact.value, f"{fact.confidence:.2f}", fact.tier, fact.source, fact.id)
        for fact in facts
    ]
    screen.table(("entity", "key", "value", "confidence", "tier", "source", "id"), rows)
