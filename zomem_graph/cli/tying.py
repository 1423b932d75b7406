"""What `link` and `unlink` do, under both of their words."""

import warnings
from typing import Annotated

import typer

from zomem_graph.cli.call import Call
from zomem_graph.memory import Memory
from zomem_graph.nodes.scope import Scope

__all__ = ["Relation", "Source", "Target", "Weight", "link_words", "unlink_words"]

_ENDS = "An id, its first characters, an entity or entity.key."

Source = Annotated[str, typer.Option("--source", metavar="ID", help=f"Where the arrow begins. {_ENDS}")]
Target = Annotated[str, typer.Option("--target", metavar="ID", help=f"Where it ends. {_ENDS}")]
Relation = Annotated[str, typer.Option("--relation", metavar="R", help="Such as depends_on.")]
Weight = Annotated[float, typer.Option("--weight", metavar="W", help="How much it counts, from 0 on.")]


def link_words(call: Call, source: str, target: str, relation: str, weight: float) -> None:
    """Tie two things together and say so."""
    with call.memory() as memory, warnings.catch_warnings(record=True) as odd:
        warnings.simplefilter("always")
        tied = memory.graph.link(source, target, relation, weight, scope=_scope(call, memory))
    said = f"linked {tied.source_id} -> {tied.target_id} ({tied.relation}, {tied.weight:g})"
    call.answer(tied, lambda screen: screen.line(said))
    call.notes([str(each.message) for each in odd if each.category is UserWarning])


def unlink_words(call: Call, source: str, target: str, relation: str | None) -> None:
    """Untie two things and say how many links went."""
    with call.memory() as memory:
        gone = memory.graph.unlink(source, target, relation, scope=_scope(call, memory))
    call.answer(
        {"source_id": source, "target_id": target, "relation": relation, "removed": gone},
        lambda screen: screen.line(f"removed {gone} link{'s' if gone != 1 else ''}"),
    )


def _scope(call: Call, memory: Memory) -> Scope | None:
    """Return who asks; nobody in particular where neither the line nor the settings name a persona."""
    return call.scope(memory) if call.shared.persona or memory.settings.persona else None
