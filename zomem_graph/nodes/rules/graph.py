"""What the knowledge graph hands out: things and the ways between them. Frozen values, no behaviour of their own."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from zomem_graph.stores.records import Link

__all__ = [
    "Bridge",
    "Cluster",
    "Community",
    "Connection",
    "Cycle",
    "EntityTie",
    "Gap",
    "KnowledgeGaps",
    "Lineage",
    "Neighbourhood",
    "Relative",
    "Suggestion",
    "Thing",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A fact, episode, loop or turn as the graph shows it.

    `label` is entity.key of a fact, else its kind; `text` is a fact's value, else what it says. The state
    "stub" is an entity that a [[wikilink]] names and of which nothing is known yet.
    """

    id: str
    kind: str
    persona: str
    label: str
    text: str
    entity: str | None = None
    key: str | None = None
    state: str = "current"


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """What lies around the centre: everything within some hops and the links among it, heaviest first.

    `left_out` counts links that lead on to what was too much to show.
    """

    centre: tuple[Thing, ...]
    things: tuple[Thing, ...]
    links: tuple[Link, ...]
    left_out: int = 0

    @property
    def outbound(self) -> tuple[Link, ...]:
        """Return the links that begin at the centre."""
        ids = {thing.id for thing in self.centre}
        return tuple(link for link in self.links if link.source_id in ids)

    @property
    def inbound(self) -> tuple[Link, ...]:
        """Return the links that lead to the centre from elsewhere."""
        ids = {thing.id for thing in self.centre}
        return tuple(link for link in self.links if link.target_id in ids and link.source_id not in ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A shortest way between two entities: `things` in order, and the link between each two of them.

    Nothing in `things`: there is none within `max_depth` hops. `direct` counts the links of each end.
    """

    start: str
    end: str
    max_depth: int
    things: tuple[Thing, ...] = ()
    links: tuple[Link, ...] = ()
    direct: Mapping[str, int] = field(default_factory=dict)

    @property
    def found(self) -> bool:
        """Return whether there is a way."""
        return bool(self.things)

    @property
    def hops(self) -> int | None:
        """Return how many links the way has, None when there is none."""
        return len(self.links) if self.things else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A fact that the graph holds badly, with how many links lead to it and from it."""

    thing: Thing
    inbound: int
    outbound: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Things that hang together; `hub` is the one with the most neighbours, `links` how many that is."""

    size: int
    facts: int
    hub: Thing
    links: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeGaps:
    """Where the graph of the current facts is thin (spec F29). Lists hold the first ones; the counts count all.

    `connectable` counts orphans that share an entity with a linked fact, `orphans` names some of them.
    `wanted` are entities that a [[wikilink]] names and of which nothing is known.
    """

    total: int = 0
    linked: int = 0
    dead_end_count: int = 0
    dead_ends: tuple[Gap, ...] = ()
    weak_count: int = 0
    weak: tuple[Gap, ...] = ()
    cluster_count: int = 0
    clusters: tuple[Cluster, ...] = ()
    connectable: int = 0
    orphans: tuple[Thing, ...] = ()
    wanted_count: int = 0
    wanted: tuple[Thing, ...] = ()

    @property
    def orphan_count(self) -> int:
        """Return how many facts have no link at all."""
        return self.total - self.linked

    @property
    def linked_share(self) -> float:
        """Return which share of the facts is linked, 0 for an empty memory."""
        return self.linked / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative:
    """An ancestor or descendant; `path` leads to it from the nearest thing that was asked about."""

    thing: Thing
    depth: int
    path: tuple[str, ...]
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """What something comes from (`direction` "ancestors") or what comes from it ("descendants"), nearest first.

    `cut` says that there is more beyond the depth or the number asked for.
    """

    of: tuple[Thing, ...]
    direction: str
    found: tuple[Relative, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityTie:
    """A link between facts of two entities, read so that it leads from what comes later to what comes first."""

    source: str
    target: str
    relation: str
    source_id: str
    target_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Entities that lead back to the first of them; `ties[i]` leads from `entities[i]` to the next."""

    entities: tuple[str, ...]
    ties: tuple[EntityTie, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """A thing without which its cluster would fall apart, and how many neighbours it has."""

    thing: Thing
    links: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """Things that are linked more closely among each other than to the rest; the first have the most links."""

    size: int
    hub: Thing
    entities: tuple[str, ...]
    things: tuple[Thing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Two entities that come up together (spec F32); `written` when the link was made.

    `shared` counts what mentions both. `confidence` is shared / (mentions of the rarer one + 1); `lift` how
    many times more often than by chance.
    """

    entity: str
    other: str
    shared: int
    confidence: float
    lift: float
    linked: bool = False
    source_id: str | None = None
    target_id: str | None = None
    written: bool = False
