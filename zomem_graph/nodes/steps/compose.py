"""Choose what fits the token budget and lay it out for the model, each line with its source."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from zomem_graph.nodes.rules.budget import Passage, fit, tokens
from zomem_graph.nodes.rules.fence import Line, fence, harmless
from zomem_graph.nodes.values import Hit
from zomem_graph.stores.words import terms

__all__ = ["Block", "compose"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What is injected: its text, its price, the hits that are in it, and how many were left out."""

    text: str = ""
    tokens: int = 0
    hits: tuple[Hit, ...] = ()
    dropped: int = 0


def compose(hits: Sequence[Hit], question: str, *, token_budget: int, zone: ZoneInfo) -> Block:
    """Return the block of the best hits that fit, cut around the answer where they are long."""
    frame = tokens(fence([Line(text="")], zone=zone))
    passages = [
        Passage(key=hit.id, text=harmless(hit.text), relevance=hit.score, overhead=_overhead(hit, zone))
        for hit in hits
    ]
    chosen = fit(passages, token_budget - frame, terms=terms(question))
    shown = {passage.key: passage.text for passage in chosen.kept}
    kept = tuple(replace(hit, text=shown[hit.id]) for hit in hits if hit.id in shown)
    if not kept:
        return Block(dropped=len(hits))
    text = fence([_line(hit) for hit in kept], zone=zone)
    return Block(text=text, tokens=tokens(text), hits=kept, dropped=len(hits) - len(kept))


def _line(hit: Hit) -> Line:
    return Line(
        text=hit.text,
        at=hit.created_at,
        kind="" if hit.kind == "turn" else hit.kind,
        state=str(hit.metadata.get("state", "")),
        id=hit.id,
    )


def _overhead(hit: Hit, zone: ZoneInfo) -> int:
    """Return what a line costs besides its text, a line break included."""
    return tokens(fence([replace(_line(hit), text="")], zone=zone) + "\n") - tokens(
        fence([Line(text="")], zone=zone)
    )
