"""All that one wish to forget takes with it, found before anything is changed, so that a dry run tells all of it."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from zomem_graph.nodes.rules.erasing import Retold
from zomem_graph.nodes.steps.selection import Wanted, retold_of, select_wanted
from zomem_graph.stores.erasure import LogLine, Selection
from zomem_graph.stores.summary_records import Summary
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import search_text

__all__ = ["Going", "going", "points_of", "telling_lines"]

_ALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """What goes: things, the summaries that tell of them, and lines of logs that are blanked."""

    things: Selection
    summaries: list[Summary]
    retold: Retold
    lines: list[LogLine]

    @property
    def counts(self) -> dict[str, int]:
        """How much of each kind goes."""
        counts = {
            "facts": len(self.things.facts),
            "turns": len(self.things.turns),
            "episodes": len(self.things.episodes),
            "loops": len(self.things.loops),
            "procedures": len(self.things.procedures),
            "summaries": len(self.summaries),
        }
        for line in self.lines:
            counts[f"{line.kind}s"] = counts.get(f"{line.kind}s", 0) + 1
        return counts

    def listed(self, *, with_text: bool) -> Iterator[Mapping[str, str]]:
        """Yield everything that goes, each thing with its kind and id."""
        things = self.things
        named = (
            ("fact", {id_: fact.text for id_, fact in things.facts.items()}),
            ("turn", {id_: turn.content for id_, turn in things.turns.items()}),
            ("episode", {id_: episode.summary for id_, episode in things.episodes.items()}),
            ("loop", {id_: loop.title for id_, loop in things.loops.items()}),
            ("procedure", {id_: f"{one.name} (version {one.version})" for id_, one in things.procedures.items()}),
            ("summary", {one.id: one.summary for one in self.summaries}),
        )
        for kind, texts in named:
            for id_, text in texts.items():
                yield {"kind": kind, "id": id_, **({"text": text} if with_text else {})}
        for line in self.lines:
            yield {"kind": line.kind, "id": line.id, **({"text": line.text} if with_text else {})}


def going(unit: Unit, wanted: Wanted) -> Going:
    """Return all that goes with a wish; raise UnknownName for an id that the persona does not own."""
    things = select_wanted(unit, wanted)
    retold = retold_of(things, wanted)
    # Of a persona that is emptied no line of a log stays anyway.
    lines = [] if wanted.everything else telling_lines(unit, wanted.persona, retold)
    return Going(things=things, summaries=_retelling(unit, wanted, things), retold=retold, lines=lines)


def telling_lines(unit: Unit, persona: str, retold: Retold, *, unheard: Set[str] = frozenset()) -> list[LogLine]:
    """Return the lines of a persona's logs that tell what goes; `unheard` are words that nothing kept has."""
    odd = {word for word in unheard if len(word) >= _ODD and any(sign.isdigit() for sign in word)}
    known: dict[str, bool] = {}

    def tells(text: str) -> bool:
        if text not in known:
            known[text] = retold.told_in(text) or bool(odd and not odd.isdisjoint(search_text(text).split()))
        return known[text]

    return unit.erasure.lines_telling(persona, tells, lone=unheard)


_ODD = 6  # letters and digits of a word that stands for itself


def points_of(summary: Summary) -> list[str]:
    """Return the texts of a summary."""
    return [summary.summary, *summary.key_decisions, *summary.key_outcomes]


def _retelling(unit: Unit, wanted: Wanted, gone: Selection) -> list[Summary]:
    """Return the summaries that tell of what goes; what else they were made from is summed up anew."""
    named = unit.summaries.find(wanted.ids)
    retold = Retold(name=wanted.clear_name, piece=wanted.piece)
    if (retold.name is None) != (retold.piece is None):
        told = unit.summaries.newest([wanted.persona], limit=_ALL)
        named += [one for one in told if any(map(retold.told_in, points_of(one)))]
    found = {one.id: one for one in (*named, *unit.summaries.above([*gone.episodes, *(one.id for one in named)]))}
    return list(found.values())
