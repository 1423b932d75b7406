"""What is asked of retrieval, and what it gives."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from zomem_graph.nodes.rules.given import in_order, text, whole
from zomem_graph.nodes.values import Hit
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.words import terms

__all__ = ["ALL_KINDS", "KINDS", "MOST_HITS", "Query", "Retrieved", "just_after"]

MOST_HITS = 1_000
"""As many as a search may be asked for."""

KINDS = ("fact", "turn", "episode", "loop")
"""What answers unless told otherwise."""
ALL_KINDS = (*KINDS, "summary")
"""What may be asked for: summaries say again what episodes say, so they come only when they are named."""

_INSTANT = timedelta(milliseconds=1)  # messages of one instant are kept microseconds apart, in their order


def just_after(moment: datetime) -> datetime:
    """Return the end, exclusive, of what had come to be at a moment: what came at that very instant counts."""
    return moment + _INSTANT


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One search. `since`/`until` bound the creation time, closed-open; `as_of` asks the past.

    What a conversation adds to a message that leans on it: `history_terms` count as words of the question,
    `context_terms` half as much, and `meaning` is embedded in place of `text`. `hyde` is the caller's word
    on an imagined answer, or that answer itself; `imagined_terms` are its words. `graph` lets links help.
    `visible` are the messages that the reader has before him anyway: such turns are not brought up again,
    nor is the episode of the `running` thread, nor are episodes and loops of one source (`without_source`).
    """

    text: str
    limit: int = 10
    kinds: Sequence[str] = KINDS
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    include_superseded: bool = False
    history_terms: tuple[str, ...] = ()
    context_terms: tuple[str, ...] = ()
    meaning: str | None = None
    hyde: bool | str | None = None
    imagined_terms: tuple[str, ...] = ()
    graph: bool = True
    visible: frozenset[str] = frozenset()
    running: str | None = None
    without_source: str | None = None

    def __post_init__(self) -> None:
        unknown = sorted(set(self.kinds) - set(ALL_KINDS))
        if unknown or not self.kinds:
            raise InvalidInput(
                f"kinds must be some of {', '.join(ALL_KINDS)}, not {', '.join(unknown) or 'nothing'}."
            )
        text("query", self.text)
        in_order(self.since, self.until)
        object.__setattr__(self, "limit", whole("limit", self.limit, least=1, most=MOST_HITS))

    @property
    def asked(self) -> tuple[str, ...]:
        """The words that are looked for at full weight."""
        return tuple(dict.fromkeys((*terms(self.text), *self.history_terms)))

    def naming(self, names: Sequence[str]) -> "Query":
        """Return the query with these names in full where the conversation alone brings them in."""
        named = {word for name in names for word in name.split()}
        told = tuple(term for term in self.context_terms if term in named)
        if not told:
            return self
        context = tuple(term for term in self.context_terms if term not in named)
        return replace(self, history_terms=(*self.history_terms, *told), context_terms=context)

    @property
    def before(self) -> datetime | None:
        """The end, exclusive, of when what may answer came to be."""
        return self.until if self.as_of is None else just_after(self.as_of)

    @property
    def live_only(self) -> bool:
        """Whether only what is current may answer."""
        return self.as_of is None and not self.include_superseded


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """Hits, best first but for what is outdated; what was missing; and how many candidates each leg gave."""

    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()
    trace: dict[str, Any] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """The best score, 0 when nothing was found."""
        return max((hit.score for hit in self.hits), default=0.0)
