"""`zomem personas`: who there is, who reads whom, and the file each one is told by."""

from typing import Annotated, Any

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.personas import DEFAULT_ROLE
from zomem_graph.stores.personas import PoolSize
from zomem_graph.subjects.personas import PersonaCard

__all__ = ["personas"]

personas = group("Who there is, who reads whom, and the file each one is told by.")
_pool = group("Circles of personas that read each other.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The persona.")]
PoolName = Annotated[str, typer.Argument(metavar="POOL", help="The pool.")]


@sub_command(personas, "list")
def _list(call: Call) -> None:
    """List every persona with its facts, parents and pools."""
    with call.memory() as memory:
        cards = memory.personas.list()
    call.answer(cards, lambda screen: _show_cards(screen, cards))


@sub_command(personas, "add")
def _add(
    call: Call,
    name: Name,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="What it is there for.")] = DEFAULT_ROLE,
) -> None:
    """Write the persona's file unless there is one, and print what to add to its instructions."""
    with call.memory() as memory:
        added = memory.personas.add(name, role)
    call.answer(added, lambda screen: screen.line(added.add_this))
    call.screen.note(f"{'wrote' if added.written else 'there already, left as it is:'} {added.file}")


@sub_command(personas, "show")
def _show(call: Call, name: Name) -> None:
    """Show one persona: whom it reads, by which way, for how much, and what its file says."""
    with call.memory() as memory:
        card = memory.personas.show(name)
    call.answer(card, lambda screen: _show_card(screen, card))


@sub_command(personas, "inherit")
def _inherit(
    call: Call,
    child: Annotated[str, typer.Argument(metavar="CHILD", help="Who reads.")],
    parent: Annotated[str, typer.Argument(metavar="PARENT", help="Who is read.")],
    end: Annotated[bool, typer.Option("--end", help="End it instead.")] = False,
) -> None:
    """Let a persona read what another one, its parents and its pools have; it may have several parents."""
    with call.memory() as memory:
        if end:
            memory.personas.disinherit(child, parent)
            new = False
        else:
            new = memory.personas.inherit(child, parent)
    said = "no longer reads" if end else "now reads" if new else "reads already"
    call.answer(
        {"child": child, "parent": parent, "new": new}, lambda screen: screen.line(f"{child} {said} {parent}")
    )


@sub_command(_pool, "list")
def _pool_list(call: Call) -> None:
    """List every pool with its members and how many current facts each has."""
    with call.memory() as memory:
        pools = memory.personas.pools.list()
    document = [_as_document(pool) for pool in pools]
    call.answer(document, lambda screen: _show_pools(screen, document))


@sub_command(_pool, "create")
def _pool_create(
    call: Call,
    pool: PoolName,
    members: Annotated[list[str] | None, typer.Argument(metavar="NAME…", help="First members.")] = None,
    description: Annotated[str, typer.Option("--description", help="What it is for.")] = "",
) -> None:
    """Create a pool."""
    with call.memory() as memory:
        memory.personas.pools.create(pool, description=description, members=members or ())
    call.answer({"created": pool, "members": members or []}, lambda screen: screen.line(f"created {pool}"))


@sub_command(_pool, "add")
def _pool_add(call: Call, pool: PoolName, name: Name) -> None:
    """Let a persona and the members of a pool read each other."""
    with call.memory() as memory:
        new = memory.personas.pools.add(pool, name)
    said = "is now in" if new else "is already in"
    call.answer({"pool": pool, "persona": name, "new": new}, lambda screen: screen.line(f"{name} {said} {pool}"))


@sub_command(_pool, "remove")
def _pool_remove(
    call: Call,
    pool: PoolName,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The persona; the whole pool if left out.")
    ] = None,
) -> None:
    """Take a persona out of a pool, or dissolve the pool; nothing that is remembered is touched."""
    with call.memory() as memory:
        if name is None:
            memory.personas.pools.drop(pool)
        else:
            memory.personas.pools.remove(pool, name)
    said = f"dissolved {pool}" if name is None else f"{name} is no longer in {pool}"
    call.answer({"pool": pool, "removed": name}, lambda screen: screen.line(said))


personas.add_typer(_pool, name="pool")


def _show_cards(screen: Screen, cards: list[PersonaCard]) -> None:
    if not cards:
        screen.note("nobody yet")
        return
    rows = [
        (card.name, str(card.facts), ", ".join(card.parents), ", ".join(card.pools), "yes" if card.file else "")
        for card in cards
    ]
    screen.table(("persona", "facts", "parents", "pools", "file"), rows)


def _show_card(screen: Screen, card: PersonaCard) -> None:
    screen.pairs({"persona": card.name, "facts": card.facts, "file": card.file or "none"})
    screen.table(
        ("reads", "by", "weight"),
        [(name, path, f"{card.weights[name]:.2f}") for name, path in card.reads.items()],
    )
    for line in card.lines:
        screen.line(line)


def _as_document(pool: PoolSize) -> dict[str, Any]:
    return {
        "name": pool.pool.name,
        "description": pool.pool.description,
        "facts": pool.facts,
        "members": pool.members,
    }


def _show_pools(screen: Screen, pools: list[dict[str, Any]]) -> None:
    if not pools:
        screen.note("no pools yet")
        return
    rows = [
        (
            pool["name"],
            str(pool["facts"]),
            ", ".join(f"{name} ({count})" for name, count in pool["members"].items()),
            pool["description"],
        )
        for pool in pools
    ]
    screen.table(("pool", "facts", "members", "description"), rows)
