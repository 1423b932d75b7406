"""What the tools answer: plain models, so that every tool carries a schema of its answer."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from zomem_graph.nodes.rules.changed import since_then
from zomem_graph.nodes.values import CaptureReport, ErasureReport, Hit
from zomem_graph.stores.records import Episode, Fact, Loop

__all__ = [
    "Captured",
    "Counts",
    "Deleted",
    "EpisodeList",
    "FactList",
    "Forgotten",
    "FoundFact",
    "FoundItem",
    "Linked",
    "LoopList",
    "OpenLoop",
    "PastEpisode",
    "Recalled",
    "SearchAnswer",
    "Stored",
]

_Degraded = Annotated[list[str], Field(description="What could not be asked while this was answered.")]


class FoundItem(BaseModel):
    """One thing found."""

    id: str
    kind: str = Field(description="fact, turn, episode or loop")
    text: str
    score: float = Field(description="0 to 1: how likely it helps with the question")
    category: str | None = None
    source: str | None = None
    found_by: list[str] = Field(description="words, meaning, hop")
    created_at: datetime
    since_then: str = Field(default="", description="what has changed since it was said; empty when nothing has")

    @classmethod
    def of(cls, hit: Hit) -> "FoundItem":
        """Return what is shown of a hit."""
        return cls(
            id=hit.id,
            kind=hit.kind,
            text=hit.text,
            score=round(hit.score, 3),
            category=hit.metadata.get("category"),
            source=hit.metadata.get("source"),
            found_by=sorted(hit.found_by),
            created_at=hit.created_at,
            since_then=since_then(hit.metadata),
        )


class SearchAnswer(BaseModel):
    """What a search found, best first."""

    items: list[FoundItem]
    degraded: _Degraded = []


class Recalled(BaseModel):
    """Whether a message needs memory, and the block to read before answering it."""

    decision: str = Field(description="inject, skip (not needed) or empty (nothing found)")
    reason: str
    text: str = Field(description="the block; empty unless decision is inject")
    tokens: int
    items: list[FoundItem]
    degraded: _Degraded = []


class FoundFact(BaseModel):
    """One fact that holds now."""

    id: str
    entity: str
    key: str | None
    value: str
    text: str
    category: str
    tier: str
    confidence: float
    source: str
    created_at: datetime

    @classmethod
    def of(cls, fact: Fact) -> "FoundFact":
        """Return what is shown of a fact."""
        return cls(**{name: getattr(fact, name) for name in cls.model_fields})


class FactList(BaseModel):
    """Facts of one entity, surest first."""

    facts: list[FoundFact]
    degraded: _Degraded = []


class Stored(BaseModel):
    """A fact that was stored, or was there already."""

    fact: FoundFact
    embedding: str = Field(description="stored, waiting (found by words at once, by meaning soon) or none")


class PastEpisode(BaseModel):
    """Something that happened."""

    id: str
    summary: str
    outcome: str = Field(description="success, failure, resolved or ongoing")
    happened_at: datetime
    entities: list[str]
    duration_ms: float | None = None
    source: str

    @classmethod
    def of(cls, episode: Episode) -> "PastEpisode":
        """Return what is shown of an episode."""
        return cls(
            **{name: getattr(episode, name) for name in cls.model_fields if name != "entities"},
            entities=[*episode.entities],
        )


class EpisodeList(BaseModel):
    """Episodes, newest first."""

    episodes: list[PastEpisode]


class OpenLoop(BaseModel):
    """Something unfinished."""

    id: str
    title: str
    summary: str
    kind: str
    status: str
    priority: float
    entity: str | None
    owner: str | None
    created_at: datetime
    updated_at: datetime
    resolution: str | None = None

    @classmethod
    def of(cls, loop: Loop) -> "OpenLoop":
        """Return what is shown of an open loop."""
        return cls(**{name: getattr(loop, name) for name in cls.model_fields})


class LoopList(BaseModel):
    """Open loops, last spoken of first."""

    loops: list[OpenLoop]


class Captured(BaseModel):
    """What a conversation taught."""

    turns: int
    facts: int
    superseded: int
    skipped: int
    redacted: int
    loops: int
    resolved_loops: int
    queued: int = Field(description="conversations that a chat model has yet to read")
    model: str
    episode_id: str | None
    fact_ids: list[str]
    preview: list[dict[str, Any]]
    degraded: _Degraded = []

    @classmethod
    def of(cls, report: CaptureReport) -> "Captured":
        """Return what is shown of a report."""
        plain = {name: getattr(report, name) for name in cls.model_fields}
        preview = [dict(each) for each in report.preview]
        return cls(**plain | {"fact_ids": [*report.fact_ids], "preview": preview, "degraded": [*report.degraded]})


class Linked(BaseModel):
    """A link that was made, or how many went."""

    source: str
    target: str
    relation: str | None
    weight: float | None = None
    removed: int = 0


class Deleted(BaseModel):
    """What was taken out of memory; it stays in the archive."""

    id: str


class Forgotten(BaseModel):
    """What was erased for good, or would be in a dry run."""

    dry_run: bool
    clean: bool = Field(description="everything was scanned afterwards and nothing of it was left")
    counts: dict[str, int]
    listed: list[dict[str, str]]
    named: list[str] = Field(description="what names it still and is not ours to erase, with what to do")
    notes: list[str]

    @classmethod
    def of(cls, report: ErasureReport) -> "Forgotten":
        """Return what is shown of a report."""
        return cls(
            dry_run=report.dry_run,
            clean=report.clean,
            counts=dict(report.counts),
            listed=[dict(each) for each in report.listed],
            named=[*report.named],
            notes=[*report.notes],
        )


class Counts(BaseModel):
    """How much there is."""

    personas: list[str]
    facts: int
    superseded: int
    turns: int
    items: dict[str, int]

    @classmethod
    def of(cls, counted: Mapping[str, Any]) -> "Counts":
        """Return what is shown of the counts of a scope."""
        return cls(**{name: counted[name] for name in cls.model_fields})
