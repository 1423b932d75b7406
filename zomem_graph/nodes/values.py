"""What steps hand to callers: hits, recollections, reports. Frozen, and plain data on request."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from zomem_graph.stores.records import Conflict, Fact, Origin, Turn

__all__ = [
    "CaptureReport",
    "Decided",
    "Detected",
    "ErasureReport",
    "Explanation",
    "FactConflict",
    "GateVerdict",
    "Hit",
    "Hits",
    "ProvenanceReport",
    "Recollection",
    "Said",
    "Trace",
    "known",
    "plain",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a hit ranks where it does. Ranks count from 1; None: that leg did not find it.

    `late` is how well the question's words are met one by one, None without token vectors.
    `raw_score` is the recipe's own sum, comparable within one query only. Of a fact of today, `activation` is
    how awake it is, 0-1, and `band` says it in a word: active, fading, or archived by the next maintenance.
    """

    words_rank: int | None = None
    words_score: float = 0.0
    meaning_rank: int | None = None
    cosine: float | None = None
    late: float | None = None
    speaker: bool = False
    session: bool = False
    raw_score: float = 0.0
    boosts: Mapping[str, float] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    state: str = "current"
    age_days: float = 0.0
    activation: float | None = None
    band: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Something found. `score` in [0, 1]: how likely this hit helps with the question."""

    kind: str
    id: str
    text: str
    score: float
    found_by: frozenset[str]
    metadata: Mapping[str, Any]
    created_at: datetime
    explanation: Explanation

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "Hit | None":
        """Return the hit that `plain` turned into data, as it stands in a graph's state.

        Another version may have saved it: what this one has no field for is left out, and a hit that lacks its
        kind, id, text, score or time is None.
        """
        told = known(Explanation, data.get("explanation") or {})
        found = {
            "metadata": {},
            **known(cls, data),
            "found_by": frozenset(data.get("found_by") or ()),
            "explanation": Explanation(**{**told, "path": tuple(told.get("path", ()))}),
        }
        if {"kind", "id", "text", "score", "created_at"} - found.keys():
            return None
        return cls(**{**found, "created_at": datetime.fromisoformat(found["created_at"])})


class Hits(list[Hit]):
    """What a search found, best first; `degraded` names what could not be asked, `trace` what was done."""

    def __init__(
        self, hits: Iterable[Hit] = (), *, degraded: Sequence[str] = (), trace: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        super().__init__(hits)
        self.degraded = tuple(degraded)
        self.trace = tuple(trace)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """Whether a message needs memory, by which method, and why.

    `unless_named`: it is skipped as long as memory knows no name in it. `degraded` says what could not be looked up.
    """

    decision: Literal["recall", "look", "skip"]
    method: str
    reason: str
    continuation: bool = False
    question: bool = False
    unless_named: bool = False
    keywords: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The answer of `recall`: what to inject, and how it came about.

    `decision` is "inject", "skip" (not needed) or "empty" (needed, nothing found). `text` is the block
    for the model, "" unless injected; `tokens` its estimate (UTF-8 bytes / 4).
    """

    decision: Literal["inject", "skip", "empty"]
    method: str
    reason: str
    hits: tuple[Hit, ...] = ()
    text: str = ""
    tokens: int = 0
    degraded: tuple[str, ...] = ()
    trace: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureReport:
    """What a capture did. `queued` counts extraction jobs a model has yet to read.

    `known` counts the messages that were kept before, by a capture or by `observe`: they are not learned from again.
    `loops` counts the open loops it began, `resolved_loops` those it closed. `links` are ties between facts
    that a dry run would make.
    """

    turns: int = 0
    known: int = 0
    facts: int = 0
    unchanged: int = 0
    superseded: int = 0
    skipped: int = 0
    redacted: int = 0
    queued: int = 0
    loops: int = 0
    resolved_loops: int = 0
    links: int = 0
    episode_id: str | None = None
    model: str = "rules"
    fact_ids: tuple[str, ...] = ()
    turn_ids: tuple[str, ...] = ()
    preview: tuple[Mapping[str, Any], ...] = ()
    skipped_because: Mapping[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FactConflict:
    """A conflict with its two facts; a fact that was erased since is None."""

    conflict: Conflict
    newer: Fact | None
    older: Fact | None


class Detected(list[FactConflict]):
    """The conflicts that a look found anew; `asked` counts the pairs a model judged, `degraded` what it left open."""

    def __init__(self, found: Iterable[FactConflict] = (), *, asked: int = 0, degraded: Sequence[str] = ()) -> None:
        super().__init__(found)
        self.asked = asked
        self.degraded = tuple(degraded)


class Decided(list[FactConflict]):
    """The conflicts that were decided; `left` counts those that could not be decided that way and wait still."""

    def __init__(self, decided: Iterable[FactConflict] = (), *, left: int = 0) -> None:
        super().__init__(decided)
        self.left = left


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One saying behind a fact: the origin, and the turn itself while it is kept."""

    origin: Origin
    turn: Turn | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceReport:
    """Where a fact came from, down to turn and quote, and the values before and after it.

    `chain` is oldest first and holds the fact itself; `conflicts` are those it takes part in.
    """

    fact: Fact
    said: tuple[Said, ...]
    chain: tuple[Fact, ...]
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Where something erased was still found: a file of the home (`place`), and how it is written there."""

    place: str
    form: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReport:
    """What was erased, and the proof: what was scanned and what was still found there.

    `clean` says that the scan looked at everything and found nothing. `named` are the places that name what was
    forgotten still and are not ours to erase: pages of a vault, documents of a store, memories with a single word
    that may mean something else; each with what to do. `listed` names what went (or, in a dry run, what would go and
    its text). `shared` counts texts that kept memories say as well, which are
    no traces.
    """

    persona: str
    dry_run: bool
    clean: bool
    counts: Mapping[str, int] = field(default_factory=dict)
    listed: tuple[Mapping[str, str], ...] = ()
    scanned: Mapping[str, int] = field(default_factory=dict)
    traces: tuple[Trace, ...] = ()
    named: tuple[str, ...] = ()
    shared: int = 0
    notes: tuple[str, ...] = ()


def known(record: type[Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of saved data a dataclass has fields for; another version of this package may have saved more."""
    return {name: data[name] for name in record.__dataclass_fields__ if name in data}


_PLAIN = frozenset((str, int, float, bool))


def plain(value: Any) -> Any:
    """Return a value as JSON would hold it: dicts, lists, texts, numbers."""
    if value is None or type(value) in _PLAIN:
        return value
    if (fields := getattr(value, "__dataclass_fields__", None)) is not None:
        return {name: plain(getattr(value, name)) for name in fields}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(plain(part) for part in value)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value
