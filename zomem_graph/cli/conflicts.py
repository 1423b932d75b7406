"""`zomem conflicts`: what cannot both hold, looked for, listed and decided."""

from collections.abc import Sequence
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import Limit
from zomem_graph.nodes.rules.conflict import Strategy
from zomem_graph.nodes.values import FactConflict
from zomem_graph.stores.records import Fact

__all__ = ["conflicts", "fact_row"]

conflicts = group("What cannot both hold. Example: zomem conflicts resolve 1f2e3d4c --strategy merge")

Choice = Annotated[Strategy, typer.Option("--strategy", help="With supersede the newer one wins.")]


@sub_command(conflicts, "list")
def _list(
    call: Call,
    resolution: Annotated[
        str | None,
        typer.Option("--resolution", metavar="R", help="superseded, merged, flagged or pending; else what waits."),
    ] = None,
    limit: Limit = 100,
) -> None:
    """List what is still to be decided, newest first."""
    with call.memory() as memory:
        found = memory.conflicts.list(
            resolution=resolution, scope=call.note_stranger(memory, call.scope(memory)), limit=limit
        )
    call.answer(found, lambda screen: _show_all(screen, found, nothing="no conflicts"))


@sub_command(conflicts, "detect")
def _detect(
    call: Call,
    by_meaning: Annotated[
        bool, typer.Option("--by-meaning", help="Without a chat model: also list what lies near each other.")
    ] = False,
) -> None:
    """Look through all current facts, with the chat model if there is one; what is found waits to be decided."""
    with call.memory() as memory:
        found = memory.conflicts.detect(by_meaning=by_meaning or None, scope=call.scope(memory))
    call.answer(found, lambda screen: _show_all(screen, found, nothing="nothing new"))
    call.notes(found.degraded)


@sub_command(conflicts, "history")
def _history(
    call: Call,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="What is asked about.")],
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="One property of it.")] = None,
) -> None:
    """List every value there ever was, oldest first. Example: zomem conflicts history ana city."""
    with call.memory() as memory:
        found = memory.conflicts.history(entity, key, scope=call.note_stranger(memory, call.scope(memory)))
    call.answer(found, lambda screen: _show_history(screen, found))


@sub_command(conflicts, "resolve")
def _resolve(
    call: Call,
    conflict: Annotated[str, typer.Argument(metavar="ID", help="The id or its first characters.")],
    strategy: Choice = "supersede",
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="ID", help="The fact that wins; else the newer one.")
    ] = None,
) -> None:
    """Decide one conflict. Example: zomem conflicts resolve 1f2e3d4c --strategy supersede."""
    with call.memory() as memory:
        decided = memory.conflicts.resolve(conflict, strategy, keep=keep, scope=call.scope(memory))
    call.answer(decided, lambda screen: _show_all(screen, [decided]))


@sub_command(conflicts, "resolve-all")
def _resolve_all(call: Call, strategy: Choice = "supersede") -> None:
    """Decide everything that waits in the same way, oldest first."""
    with call.memory() as memory:
        decided = memory.conflicts.resolve_all(strategy, scope=call.scope(memory))
    call.answer(decided, lambda screen: _show_all(screen, decided, nothing="nothing was decided"))
    call.notes([f"{decided.left} cannot be decided so and wait still"] if decided.left else [])


@sub_command(conflicts, "stats")
def _stats(call: Call) -> None:
    """Count conflicts by resolution, type and detector."""
    with call.memory() as memory:
        stats = memory.conflicts.stats(scope=call.scope(memory))
    counted = {
        f"{name} {each}".strip(): count
        for name, value in stats.items()
        for each, count in (value.items() if isinstance(value, dict) else [("", value)])
    }
    call.answer(stats, lambda screen: screen.pairs(counted))


def _show_all(screen: Screen, found: Sequence[FactConflict], *, nothing: str = "no conflicts") -> None:
    if not found:
        screen.note(nothing)
        return
    rows = [
        (
            each.conflict.id[:8],
            each.conflict.conflict_type,
            each.conflict.resolution,
            _said(each.older),
            _said(each.newer),
            each.conflict.note,
        )
        for each in found
    ]
    screen.table(("id", "type", "resolution", "older", "newer", "note"), rows)


def _show_history(screen: Screen, found: Sequence[Fact]) -> None:
    if not found:
        screen.note("nothing was ever known")
        return
    screen.table(("since", "until", "state", "key", "value", "id"), [fact_row(fact) for fact in found])


def fact_row(fact: Fact) -> tuple[str, ...]:
    """Return since when and until when a fact held, its state, key, value and id."""
    ended = f"{fact.ended_at.astimezone():%Y-%m-%d %H:%M}" if fact.ended_at is not None else ""
    return f"{fact.created_at.astimezone():%Y-%m-%d %H:%M}", ended, fact.state, fact.key or "", fact.value, fact.id


def _said(fact: Fact | None) -> str:
    return "(erased)" if fact is None else f"{fact.entity} {fact.key or ''}: {fact.value} ({fact.id[:8]})"
