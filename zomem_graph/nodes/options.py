"""Every option of every step in one frozen tree, with defaults that were measured."""

from dataclasses import dataclass, field

from zomem_graph.nodes.rules.closeness import ConflictOptions
from zomem_graph.nodes.rules.fusion import FusionOptions
from zomem_graph.nodes.rules.hop import HopOptions
from zomem_graph.nodes.rules.option_kinds import LONGEST, Options, bounded, span
from zomem_graph.stores.records import Strategy

__all__ = [
    "BriefingOptions",
    "CaptureOptions",
    "ComposeOptions",
    "ConflictOptions",
    "ContinuationOptions",
    "GateOptions",
    "HydeOptions",
    "MemoryOptions",
    "MultiHopOptions",
    "RetrieveOptions",
    "SummaryOptions",
    "RoutingOptions",
    "SwarmOptions",
    "WriteOptions",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions(Options):
    """When memory is worth a look, and when what it holds is worth injecting; all are values of `Hit.score`.

    Where words do not decide, `named_floor` is for questions that name somebody or something memory knows,
    `short_floor` for messages of fewer than `telling_words`, which anything covers, and `floor` for the others.
    `needed_floor` is for messages whose words ask for memory, and for questions whose best hit is a fact about
    what they name; `least_hit` is for each single hit, and in a store of few items so is `least_share` of the best.
    Where the best hit is less than `uncertain` log-odds from its floor, a chat model is asked, if there is one
    and `ask_model`; it has `deadline_seconds`, and without a readable answer what was found is injected.
    """

    floor: float = 0.5
    named_floor: float = 0.16
    short_floor: float = 0.85
    telling_words: int = 3
    needed_floor: float = 0.05
    least_hit: float = 0.02
    least_share: float = 0.3
    ask_model: bool = True
    uncertain: float = 1.0
    deadline_seconds: float = span(1.5, "seconds")
    max_tokens: int = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveOptions(Options):
    """How widely to look. `pool` candidates a leg; `column_weights`: self, prev, next, date, title.

    `late` compares token by token where there are token vectors; its weights are in `fusion`.
    """

    pool: int = 200
    fusion: FusionOptions = field(default_factory=FusionOptions)
    column_weights: tuple[float, float, float, float, float] = (1.0, 0.5, 0.3, 1.0, 2.0)
    words: bool = True
    meaning: bool = True
    late: bool = True
    exact_below: int = 1_000
    hop: HopOptions = field(default_factory=HopOptions)
    collapse_alike: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiHopOptions(Options):
    """How far a multi-hop search goes (spec F82).

    `frontier` items are followed a hop, at most `fan_out` links of each; a name in more than `most` items is
    no link. It stops when it is `enough` sure, and after `deadline_seconds` with what it has. A hop keeps `fade` of
    its parent's score; `base_gain` and `cover_gain` weigh what an item covers of what is still open.
    """

    max_hops: int = 3
    frontier: int = 10
    fan_out: int = 20
    most: int = 40
    enough: float = 0.75
    fade: float = 0.9
    base_gain: float = 0.6
    cover_gain: float = 3.0
    deadline_seconds: float = span(6.0, "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class HydeOptions(Options):
    """When and how an imagined answer helps the search (spec F22).

    `on` is for calls that do not say; without a chat model it is off by itself. `blend` is the answer's share
    of the vector, `words` the weight of its words; an answer nearer than `least_nearness` to the question, as
    (cosine - usual) / spread, counts as about it. Shorter than `shortest` characters says nothing.
    """

    on: bool = True
    blend: float = 0.25
    words: float = 0.25
    least_nearness: float = 0.4
    max_tokens: int = 80
    deadline_seconds: float = span(4.0, "seconds")
    shortest: int = 10
    longest: int = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuationOptions(Options):
    """What going on with earlier work brings back (spec F62).

    `window_days` bounds facts, episodes and turns; `history` is how many stored turns stand in for a
    conversation that the caller did not pass, `last_turns` how many of them are brought back; `looks` how
    many candidates of each kind are weighed.
    """

    window_days: float = bounded(14.0, above=0, most=LONGEST["days"])
    limit: int = 6
    history: int = 8
    last_turns: int = 4
    looks: int = bounded(20, least=1, most=1_000)
    loops: int = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeOptions(Options):
    """How the recalled block is laid out.

    `context_tokens` is the most the whole prompt may hold; None leaves it to `memory.budget` (spec F76).
    """

    token_budget: int = 1_000
    limit: int = bounded(10, least=1, most=1_000)
    context_tokens: int | None = bounded(None, least=100, most=100_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOptions(Options):
    """How a conversation becomes memory (spec F36-F47).

    A pause of more than `episode_gap_hours` within a session begins another episode.
    """

    least_confidence: float = 0.6
    most_facts_a_window: int = 20
    window_characters: int = bounded(6_000, least=1)
    window_overlap: int = 500
    link_pairs: int = 30
    loops: bool = True
    episodes: bool = True
    episode_gap_hours: float = span(6.0, "hours")


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefingOptions(Options):
    """How many things of each kind a briefing names (spec F149), and how often the node gives one.

    Episodes are those of the last `days`; `looks` is how many of a kind are looked through for a domain.
    """

    conventions: int = 5
    episodes: int = 5
    loops: int = 5
    inherited: int = 3
    summaries: int = 1
    days: float = span(14.0, "days")
    looks: int = 50
    every_minutes: float = span(10.0, "minutes")
    max_tokens: int = 200
    deadline_seconds: float = span(8.0, "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryOptions(Options):
    """When episodes, and then summaries, are summed up (spec F79).

    More than `threshold` loose ones: the oldest of them, at most `most` a summary; episodes only when they are
    `older_days` old. A summary takes at most `max_tokens`.
    """

    threshold: int = 20
    older_days: float = span(14.0, "days")
    most: int = 50
    max_tokens: int = 400
    deadline_seconds: float = span(60.0, "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions(Options):
    """What may be stored and when it is embedded.

    Up to `embed_inline` new texts are embedded before a write returns, which waits for them at most `embed_seconds`;
    the rest is the worker's. `close` goes on with what this memory wrote for at most `close_seconds`; what is left
    waits in the database.
    `drain_at` pending changes the index is fed. `background` lets a thread do what waits. `on_conflict` is
    what a new value of a single-valued key does to the current one: supersede, merge, flag or pending
    (spec F84). A value that was there and gone `toggles` times within `toggle_hours` is flagged.
    """

    longest_text: int = 1_000_000
    longest_name: int = 500
    embed_inline: int = 8
    embed_seconds: float = span(0.5, "seconds")
    embed_batch: int = 64
    drain_at: int = 100
    many_keys: tuple[str, ...] = ()
    on_conflict: Strategy = "supersede"
    toggles: int = bounded(3, least=1)
    toggle_hours: float = span(24.0, "hours")
    background: bool = True
    close_seconds: float = span(10.0, "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingOptions(Options):
    """How a task finds its executor: `seed` decides what `explore` draws; `fallback` gets what nobody is good for.

    Without a fallback it is the first executor named; `explore` then goes by its draws.
    """

    seed: int = bounded(0, least=-(2**63))
    fallback: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmOptions(Options):
    """How a swarm works through its tasks (spec F136-F138).

    Each task gets at most `attempts` executors, each at most `deadline_seconds`; `concurrency` tasks run side by
    side. What it is told of: `working` latest results of the same run, `long_term` items of memory, each cut to
    `item_tokens` around the task's words, in at most `token_budget` tokens a task and `run_budget` in all.
    `always` tells every task what a search finds, without gate, floor or cut: what to compare with.
    """

    attempts: int = 2
    deadline_seconds: float = span(300.0, "seconds")
    concurrency: int = 4
    working: int = 2
    long_term: int = 6
    item_tokens: int = 40
    token_budget: int = 1_000
    run_budget: int = 8_000
    always: bool = False
    loops: bool = True
    procedures: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions(Options):
    """All of it."""

    gate: GateOptions = field(default_factory=GateOptions)
    retrieve: RetrieveOptions = field(default_factory=RetrieveOptions)
    hyde: HydeOptions = field(default_factory=HydeOptions)
    multi_hop: MultiHopOptions = field(default_factory=MultiHopOptions)
    continuation: ContinuationOptions = field(default_factory=ContinuationOptions)
    compose: ComposeOptions = field(default_factory=ComposeOptions)
    capture: CaptureOptions = field(default_factory=CaptureOptions)
    summaries: SummaryOptions = field(default_factory=SummaryOptions)
    briefing: BriefingOptions = field(default_factory=BriefingOptions)
    write: WriteOptions = field(default_factory=WriteOptions)
    routing: RoutingOptions = field(default_factory=RoutingOptions)
    swarm: SwarmOptions = field(default_factory=SwarmOptions)
    conflicts: ConflictOptions = field(default_factory=ConflictOptions)
