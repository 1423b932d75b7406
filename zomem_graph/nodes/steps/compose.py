"""Choose what fits the token budget and lay it out for the model, each line with its source."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from zomem_graph.nodes.rules.budget import BYTES_PER_TOKEN, Passage, fit, tokens
from zomem_graph.nodes.rules.changed import since_then
from zomem_graph.nodes.rules.fence import Line, fence, harmless, row
from zomem_graph.nodes.values import Hit
from zomem_graph.stores.words import terms

__all__ = ["Block", "compose"]

_ABOUT = "persona file"
_SHORTEST_PIECE = 24  # bytes; less than that says nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What is injected: its text, its price, the hits that are in it, and the ids of those without room."""

    text: str = ""
    tokens: int = 0
    hits: tuple[Hit, ...] = ()
    dropped: tuple[str, ...] = ()


def compose(
    hits: Sequence[Hit], question: str, *, token_budget: int, zone: ZoneInfo, about: Sequence[str] = ()
) -> Block:
    """Return the block of the best hits that fit, cut around the answer where they are long.

    `about` are the lines of the persona file: they come first and take at most half of the budget, or all
    of it when there is nothing else (spec F143).
    """
    frame = tokens(fence([Line(text="")], zone=zone))
    own = _about(about, (token_budget - frame) // 2 if hits else token_budget - frame)
    frame += sum(_price(line, zone) for line in own)
    passages = [
        Passage(key=hit.id, text=harmless(hit.text), relevance=hit.score, overhead=_overhead(hit, zone))
        for hit in hits
    ]
    chosen = fit(passages, token_budget - frame, terms=terms(question))
    shown = {passage.key: passage.text for passage in chosen.kept}
    kept = tuple(replace(hit, text=shown[hit.id]) for hit in hits if hit.id in shown)
    if not kept and not own:
        return Block(dropped=tuple(hit.id for hit in hits))
    text = fence([*own, *(_line(hit) for hit in kept)], zone=zone)
    dropped = tuple(hit.id for hit in hits if hit.id not in shown)
    return Block(text=text, tokens=tokens(text), hits=kept, dropped=dropped)


def _about(lines: Sequence[str], budget: int) -> list[Line]:
    """Return what fits of a persona file, from its beginning; the line that does not fit is cut."""
    kept: list[Line] = []
    for text in map(harmless, lines):
        line = Line(text=text, kind=_ABOUT)
        price = _price(line, UTC)
        if price > budget:
            room = (budget - _price(replace(line, text="…"), UTC)) * BYTES_PER_TOKEN
            if room >= _SHORTEST_PIECE:
                cut = text.encode("utf-8")[:room].decode("utf-8", "ignore").rsplit(" ", 1)[0]
                kept.append(replace(line, text=f"{cut}…"))
            break
        kept.append(line)
        budget -= price
    return kept


def _price(line: Line, zone: tzinfo) -> int:
    return tokens(row(line, zone=zone) + "\n")


def _line(hit: Hit) -> Line:
    return Line(
        text=hit.text,
        at=hit.created_at,
        kind="" if hit.kind == "turn" else hit.kind,
        state=str(hit.metadata.get("state", "")),
        id=hit.id,
        since=since_then(hit.metadata),
    )


def _overhead(hit: Hit, zone: ZoneInfo) -> int:
    """Return what a line costs besides its text, a line break included."""
    return _price(replace(_line(hit), text=""), zone)
