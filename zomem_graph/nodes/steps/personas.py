"""Pools and parents: who is let in to read what, with every name checked and no ring ever closed."""

from collections.abc import Sequence
from datetime import datetime
from difflib import get_close_matches

from zomem_graph.nodes.rules.given import names, shown, text
from zomem_graph.nodes.rules.inheritance import longest_line, ring
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.personas import LONGEST_LINE
from zomem_graph.stores.records import Inheritance, Pool, PoolMember
from zomem_graph.stores.unit import Unit

__all__ = ["checked_persona", "create_pool", "inherit", "join_pool", "leave_pool", "pool_named"]

_LONGEST_POOL = 100
_LONGEST_DESCRIPTION = 2_000


def checked_persona(persona: str) -> str:
    """Return the name of a persona that others may be tied to; raise InvalidInput.

    "shared" is refused: everybody reads it already, and what it read, everybody who names nobody would read.
    """
    Scope(persona=persona)
    if persona == SHARED:
        raise InvalidInput('Everybody reads "shared" already, and it reads nobody. Name another persona.')
    return persona


def create_pool(unit: Unit, name: str, description: str, members: Sequence[str], *, now: datetime) -> Pool:
    """Create a pool with its first members; raise InvalidInput when the name is taken or no name."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_POOL or not name.isprintable():
        raise InvalidInput(f"A pool's name must be a text of 1 to {_LONGEST_POOL} characters, not {shown(name)}.")
    text("description", description, most=_LONGEST_DESCRIPTION)
    joining = names("members", members, such_as='["ana", "bob"]')
    name = name.strip()
    if unit.personas.pool(name) is not None:
        raise InvalidInput(f"There is a pool {name!r} already. Add to it with `zomem personas pool add`.")
    pool = Pool(id=new_id(), name=name, description=description, created_at=now)
    unit.personas.add_pool(pool)
    for persona in joining:
        join_pool(unit, pool, persona, now=now)
    return pool


def pool_named(unit: Unit, name: str) -> Pool:
    """Return the pool of this name; raise UnknownName with the nearest."""
    found = unit.personas.pool(text("name", name).strip())
    if found is not None:
        return found
    names = unit.personas.pool_names()
    near = get_close_matches(name, names, 3, 0.4) or names[:3]
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else "Make it with `zomem personas pool create`."
    raise UnknownName(f"There is no pool {name!r:.80}. {hint}")


def join_pool(unit: Unit, pool: Pool, persona: str, *, now: datetime) -> bool:
    """Let a persona and the members of a pool read each other; return whether it was not in it yet."""
    member = PoolMember(pool_id=pool.id, persona=checked_persona(persona), added_at=now)
    return unit.personas.join_pool(member)


def leave_pool(unit: Unit, pool: Pool, persona: str) -> None:
    """End that; raise UnknownName when the persona was not in the pool."""
    if not unit.personas.leave_pool(pool.id, text("persona", persona)):
        raise UnknownName(f"{persona!r:.80} is not in the pool {pool.name!r}.")


def inherit(unit: Unit, child: str, parent: str, *, now: datetime) -> bool:
    """Let a child read what its parent has; return whether it did not yet.

    Raises InvalidInput for a ring and for a line of more than 32 generations; then nothing was changed.
    """
    checked_persona(child)
    checked_persona(parent)
    unit.personas.hold()
    lines = unit.personas.lines()
    if closed := ring(child, parent, lines):
        way = " -> ".join(repr(name)[:80] for name in closed)
        raise InvalidInput(f"{child!r:.80} cannot inherit from {parent!r:.80}: that would be a ring ({way}).")
    if longest_line([*lines, (child, parent)]) > LONGEST_LINE:
        raise InvalidInput(f"The line of parents would have more than {LONGEST_LINE} generations. Use a pool.")
    return unit.personas.inherit(Inheritance(child_persona=child, parent_persona=parent, depth=1, created_at=now))
