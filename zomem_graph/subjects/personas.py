"""`memory.personas`: who there is, who reads whom, and the files people write (spec F86-F88, F142)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import of_kind, text
from zomem_graph.nodes.rules.persona_text import persona_lines
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import reach, stranger
from zomem_graph.nodes.steps.personas import (
    create_pool,
    inherit,
    join_pool,
    leave_pool,
    pool_named,
)
from zomem_graph.personas import DEFAULT_ROLE, add_persona, hint_for
from zomem_graph.stores.errors import UnknownName
from zomem_graph.stores.persona_files import persona_file, read_persona_file
from zomem_graph.stores.personas import PoolSize
from zomem_graph.stores.unit import Unit

__all__ = ["AddedPersona", "PersonaCard", "Personas", "Pools"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedPersona:
    """Where a persona's file is, whether it was written now, and what to add to the agent's instructions."""

    name: str
    file: str
    written: bool
    add_this: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaCard:
    """One persona: how many current facts it has, who its parents are, its pools, and whom it may read.

    `reads` is the path to each readable persona, `weights` what its hits count. `note` is there when nobody
    knows the persona.
    """

    name: str
    facts: int
    parents: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    reads: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    file: str | None = None
    lines: tuple[str, ...] = ()
    note: str | None = None


_Cards = list[PersonaCard]  # inside the class `list` is the verb


class Personas:
    """Who there is and who reads whom."""

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    @property
    def pools(self) -> "Pools":
        """Circles of personas that read each other: create, add, remove, list, drop."""
        return Pools(self._memory)

    def add(self, name: str, role: str = DEFAULT_ROLE) -> AddedPersona:
        """Write HOME/personas/NAME.md from the template unless it is there, and say what to add (spec F142)."""
        Scope(persona=name)
        path, written = add_persona(self._folder, name, role)
        return AddedPersona(name=name, file=str(path), written=written, add_this=hint_for(name, path))

    def list(self) -> _Cards:
        """Return everybody who has something stored, a pool, a parent, a child or a file, by name."""
        with self._memory.stores.read() as unit:
            names = set(unit.personas.names()) | self._with_files()
            return [self._card(unit, name) for name in sorted(names)]

    def show(self, name: str) -> PersonaCard:
        """Return one persona; raise UnknownName, with those of much the same name, when nobody knows it."""
        scope = Scope(persona=name)
        with self._memory.stores.read() as unit:
            card = self._card(unit, name)
            if reach(unit, scope).known or card.file is not None:
                return card
            note = stranger(unit, self._memory.stores, scope)
        raise UnknownName(f"{note or f'unknown persona {name!r:.80}.'} See `zomem personas list`.")

    def inherit(self, child: str, parent: str) -> bool:
        """Let a child read what its parent and the parent's pools have; return whether it did not yet.

        A child may have several parents. Raises InvalidInput for a ring; then nothing was changed.
        """
        with self._memory.stores.write() as unit:
            return inherit(unit, child, parent, now=self._memory.clock())

    def disinherit(self, child: str, parent: str) -> None:
        """End what `inherit` began. Raises UnknownName when there was nothing."""
        with self._memory.stores.write() as unit:
            if not unit.personas.disinherit(text("child", child), text("parent", parent)):
                raise UnknownName(f"{child!r:.80} does not inherit from {parent!r:.80}.")

    def note(self, scope: Scope) -> str | None:
        """Return "unknown persona, did you mean …" for a name nobody knows that is much like known ones."""
        of_kind("scope", scope, Scope)
        with self._memory.stores.read() as unit:
            return None if reach(unit, scope).known else stranger(unit, self._memory.stores, scope)

    @property
    def _folder(self) -> Path:
        return self._memory.stores.home.personas

    def _with_files(self) -> set[str]:
        """Return the names that files have; a name with a hash in it is listed by what else is known of it."""
        names = {path.stem for path in self._folder.glob("*.md")}
        return {name for name in names if persona_file(self._folder, name).stem == name}

    def _card(self, unit: Unit, name: str) -> PersonaCard:
        reached = reach(unit, Scope(persona=name))
        said = read_persona_file(self._folder, name)
        path = persona_file(self._folder, name)
        return PersonaCard(
            name=name,
            facts=unit.facts.count(persona=name),
            parents=tuple(parent for child, parent in unit.personas.lines() if child == name),
            pools=tuple(size.pool.name for size in unit.personas.pools() if name in size.members),
            reads=dict(reached.paths),
            weights=dict(reached),
            file=str(path) if path.is_file() else None,
            lines=tuple(persona_lines(said)),
        )


class Pools:
    """Circles of personas that read each other."""

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    def create(self, name: str, *, description: str = "", members: Sequence[str] = ()) -> None:
        """Create a pool with its first members. Raises InvalidInput when there is one of that name."""
        with self._memory.stores.write() as unit:
            create_pool(unit, name, description, members, now=self._memory.clock())

    def add(self, name: str, persona: str) -> bool:
        """Let a persona and the members read each other; return whether it was not in the pool yet."""
        with self._memory.stores.write() as unit:
            return join_pool(unit, pool_named(unit, name), persona, now=self._memory.clock())

    def remove(self, name: str, persona: str) -> None:
        """End that. Raises UnknownName for a pool that is not there or a persona that is not in it."""
        with self._memory.stores.write() as unit:
            leave_pool(unit, pool_named(unit, name), persona)

    def list(self) -> Sequence[PoolSize]:
        """Return every pool by name, with its members and how many current facts each has (spec F86)."""
        with self._memory.stores.read() as unit:
            return unit.personas.pools()

    def drop(self, name: str) -> None:
        """Dissolve a pool; nothing of what its members have is touched."""
        with self._memory.stores.write() as unit:
            unit.personas.drop_pool(pool_named(unit, name).id)
