"""Walk the knowledge graph: what a name means, what lies around it, the way between two, what comes before."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import shown
from zomem_graph.nodes.rules.graph import Connection, Lineage, Neighbourhood, Relative, Thing
from zomem_graph.nodes.rules.keys import address
from zomem_graph.nodes.rules.relations import RELATION_TYPES, upward
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.access import readable
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.graph import STUB, Seen, Sight
from zomem_graph.stores.records import Link
from zomem_graph.stores.unit import Unit

__all__ = ["connect", "lineage", "neighbourhood", "one_of", "resolve", "sight_of", "things_of"]

_ID = re.compile(r"[0-9a-f]{4,32}")
_LONGEST_NAME = 1_000
_FACTS_OF_ONE = 500  # of one entity
_COMPARED = 5_000  # known names that a mistyped one is compared with
_SHOWN = 5


def sight_of(unit: Unit, services: Services, scope: Scope | None, *, past: bool = False) -> Sight:
    """Return what a scope sees now; with `past` also what was superseded, merged or has expired."""
    return Sight(personas=tuple(readable(unit, scope_given(scope))), now=services.clock(), past=past)


def things_of(unit: Unit, ids: Sequence[str], sight: Sight) -> dict[str, Thing]:
    """Return the things in sight of these, by id."""
    return {id_: _thing(seen) for id_, seen in unit.graph.things(ids, sight).items()}


def resolve(unit: Unit, wanted: str, sight: Sight) -> list[Thing]:
    """Return what is meant: by an id, an entity (all its facts), entity.key, or the first characters of an id.

    Raises UnknownName with what is near.
    """
    if not isinstance(wanted, str) or not wanted.strip() or len(wanted) > _LONGEST_NAME:
        raise InvalidInput(f"Name a thing by its id or an entity, not by {shown(wanted)}.")
    wanted = wanted.strip()
    ids = [*unit.graph.things([wanted], sight)] or _facts_named(unit, wanted, sight)
    if not ids and _ID.fullmatch(wanted):
        ids = unit.graph.starting_with(wanted, sight, most=_SHOWN)
        if len(ids) > 1:
            choices = "; ".join(_shown(thing) for thing in things_of(unit, ids, sight).values())
            raise UnknownName(f"More than one id begins with {wanted!r}: {choices}. Write more of it.")
    if not ids:
        raise UnknownName(f"Nothing has the id {wanted!r:.80} or is called so. {_hint(unit, wanted, sight)}")
    found = things_of(unit, ids, sight)
    return [found[id_] for id_ in ids if id_ in found]


def one_of(unit: Unit, wanted: str, sight: Sight) -> Thing:
    """Return the one thing that is meant; raise InvalidInput with the choices when an entity has several facts."""
    found = resolve(unit, wanted, sight)
    if len(found) > 1:
        choices = "; ".join(_shown(thing) for thing in found[:_SHOWN])
        raise InvalidInput(f"{wanted!r:.80} has {len(found)} facts. Say which one is meant: {choices}.")
    return found[0]


def neighbourhood(
    unit: Unit, centre: Sequence[Thing], *, depth: int, most: int, sight: Sight, between: bool = False
) -> Neighbourhood:
    """Return what lies within some hops of the centre, at most so many things, the heaviest links first.

    With `between` the links among the outermost things are there too.
    """
    known = dict.fromkeys(thing.id for thing in centre)
    links: dict[tuple[str, str, str], Link] = {}
    frontier = list(known)
    for _hop in range(depth):
        around = unit.graph.around(frontier, sight)
        links.update({_key(link): link for link in around})
        reached = dict.fromkeys(end for link in around for end in (link.source_id, link.target_id))
        frontier = [id_ for id_ in reached if id_ not in known][: max(0, most - len(known))]
        known.update(dict.fromkeys(frontier))
    inside = {key: link for key, link in links.items() if key[0] in known and key[1] in known}
    left_out = len(links) - len(inside)
    if between and frontier:
        more = (
            link for link in unit.graph.around(frontier, sight) if {link.source_id, link.target_id} <= known.keys()
        )
        inside.update({_key(link): link for link in more})
    things = things_of(unit, list(known), sight)
    return Neighbourhood(
        centre=tuple(centre),
        things=tuple(things[id_] for id_ in known if id_ in things),
        links=tuple(sorted(inside.values(), key=lambda link: (-link.weight, link.created_at, *_key(link)))),
        left_out=left_out,
    )


@dataclass(slots=True)
class _Side:
    """One end of the search for a way: how each thing was reached, and those reached last."""

    reached: dict[str, tuple[int, Link | None]]
    frontier: list[str] = field(default_factory=list)
    depth: int = 0

    @classmethod
    def at(cls, ids: Iterable[str]) -> "_Side":
        reached: dict[str, tuple[int, Link | None]] = dict.fromkeys(ids, (0, None))
        return cls(reached, list(reached))

    def widen(self, unit: Unit, sight: Sight) -> list[str]:
        """Reach everything one hop further; return what is new, by the heaviest links first."""
        inside, new = set(self.frontier), []
        self.depth += 1
        for link in unit.graph.around(self.frontier, sight):
            for near, far in ((link.source_id, link.target_id), (link.target_id, link.source_id)):
                if near in inside and far not in self.reached:
                    self.reached[far] = (self.depth, link)
                    new.append(far)
        self.frontier = new
        return new

    def back(self, id_: str) -> tuple[list[str], list[Link]]:
        """Return the way from a thing back to where this side began."""
        ids, links = [id_], []
        while (link := self.reached[ids[-1]][1]) is not None:
            links.append(link)
            ids.append(link.source_id if link.target_id == ids[-1] else link.target_id)
        return ids, links


def connect(
    unit: Unit, start: tuple[str, Sequence[Thing]], end: tuple[str, Sequence[Thing]], *, max_depth: int, sight: Sight
) -> Connection:
    """Return a shortest way from any thing of the one to any of the other, over links in both directions."""
    one, other = _Side.at(thing.id for thing in start[1]), _Side.at(thing.id for thing in end[1])
    meeting = [id_ for id_ in one.reached if id_ in other.reached]
    while not meeting and one.depth + other.depth < max_depth and one.frontier and other.frontier:
        near, far = (one, other) if len(one.frontier) <= len(other.frontier) else (other, one)
        meeting = [id_ for id_ in near.widen(unit, sight) if id_ in far.reached]
    if not meeting:
        direct = {name: unit.graph.degrees([t.id for t in things], sight) for name, things in (start, end)}
        return Connection(start=start[0], end=end[0], max_depth=max_depth, direct=direct)
    middle = min(meeting, key=lambda id_: one.reached[id_][0] + other.reached[id_][0])
    before, after = one.back(middle), other.back(middle)
    ids = [*reversed(before[0]), *after[0][1:]]
    things = things_of(unit, ids, sight)
    return Connection(
        start=start[0],
        end=end[0],
        max_depth=max_depth,
        things=tuple(things[id_] for id_ in ids),
        links=(*reversed(before[1]), *after[1]),
    )


def lineage(
    unit: Unit,
    of: Sequence[Thing],
    *,
    ancestors: bool,
    max_depth: int,
    relations: Collection[str],
    most: int,
    sight: Sight,
) -> Lineage:
    """Return what things come from, or what comes from them, by what each relation means (spec F30).

    `relations` keeps to these and their inverses; empty means all that say something of before and after.
    """
    wanted = {*relations, *(RELATION_TYPES[name].inverse for name in relations if name in RELATION_TYPES)}
    paths: dict[str, tuple[str, ...]] = {thing.id: (thing.id,) for thing in of}
    by: dict[str, str] = {}
    frontier, cut = list(paths), False
    for _depth in range(max_depth + 1):
        new: list[str] = []
        inside = set(frontier)
        for link in unit.graph.around(frontier, sight) if frontier else ():
            step = _step(link, ancestors=ancestors, wanted=wanted)
            if step is None or step[0] not in inside or step[1] in paths:
                continue
            if _depth == max_depth or len(by) >= most:
                cut = True
                break
            paths[step[1]] = (*paths[step[0]], step[1])
            by[step[1]] = step[2]
            new.append(step[1])
        frontier = new
    things = things_of(unit, [*by], sight)
    found = (
        Relative(thing=things[id_], depth=len(paths[id_]) - 1, path=paths[id_], relation=relation)
        for id_, relation in by.items()
    )
    direction = "ancestors" if ancestors else "descendants"
    return Lineage(of=tuple(of), direction=direction, found=tuple(found), cut=cut)


def _step(link: Link, *, ancestors: bool, wanted: Collection[str]) -> tuple[str, str, str] | None:
    """Return (from, to, relation read that way) when a link leads on in this direction."""
    if wanted and link.relation not in wanted:
        return None
    up = upward(link.relation, named=wanted)
    if up is None:
        return None
    along = (up == "target") == ancestors
    if along:
        return link.source_id, link.target_id, link.relation
    known = RELATION_TYPES.get(link.relation)
    return link.target_id, link.source_id, known.inverse if known else f"inverse of {link.relation}"


def _facts_named(unit: Unit, wanted: str, sight: Sight) -> list[str]:
    """Return the facts of an entity; else those of an entity.key, tried at each dot from the right."""
    found = unit.graph.at(address(wanted), sight, most=_FACTS_OF_ONE)
    dots = [place for place, sign in enumerate(wanted) if sign == "."]
    for place in reversed(dots[-8:]):
        if found:
            break
        entity, key = wanted[:place].strip(), wanted[place + 1 :].strip()
        if entity and key:
            found = unit.graph.at(address(entity, key), sight, most=_FACTS_OF_ONE)
    return found


def _hint(unit: Unit, wanted: str, sight: Sight) -> str:
    names = {name.casefold(): name for name in unit.graph.entity_names(sight, most=_COMPARED)}
    folded = wanted.casefold()
    near = get_close_matches(folded, names, n=3, cutoff=0.6) or sorted(name for name in names if folded in name)[:3]
    if near:
        return f"Did you mean {' or '.join(repr(names[name][:80]) for name in near)}?"
    return "Find ids with `zomem search`." if names else "Nothing is known here yet."


def _shown(thing: Thing) -> str:
    return f"{thing.id[:8]} [{thing.label:.60}] {thing.text[:60]!r}"


def _key(link: Link) -> tuple[str, str, str]:
    return link.source_id, link.target_id, link.relation


def _thing(seen: Seen) -> Thing:
    parts: Mapping[str, str | None] = {"entity": seen.entity, "key": seen.key}
    if seen.entity is None:
        label, text = seen.kind, seen.text
    elif seen.state == STUB:
        label, text, parts = seen.entity, "(nothing known yet)", {"entity": seen.entity}
    else:
        label = f"{seen.entity}.{seen.key}" if seen.key else seen.entity
        text = seen.value if seen.value is not None else seen.text
    return Thing(id=seen.id, kind=seen.kind, persona=seen.persona, label=label, text=text, state=seen.state, **parts)
