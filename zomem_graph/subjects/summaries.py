"""`memory.summaries`: what happened, in short (spec F79, F80)."""

from zomem_graph.nodes.flow import run
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import flag, if_given, text, whole
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.access import readable
from zomem_graph.nodes.steps.summaries import Summarised, summarise_due
from zomem_graph.stores.summary_records import Summary
from zomem_graph.subjects.picking import pick

__all__ = ["Summaries"]

_ANY = 200
_Listed = list[Summary]  # inside the class `list` is the verb


class Summaries:
    """Summaries of episodes and of summaries; every verb but `run` reads only what the scope may see."""

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    def list(
        self, *, level: int | None = None, source: str | None = None, limit: int = 20, scope: Scope | None = None
    ) -> _Listed:
        """Return summaries, those of the latest times first.

        `level` 1 sums up episodes, 2 and above summaries; `source` is the id of what one was made from.
        """
        level = if_given(whole, "level", level, least=1)
        if_given(text, "source", source)
        limit = whole("limit", limit, least=1)
        with self._memory.stores.read() as unit:
            personas = [*readable(unit, scope_given(scope))]
            return unit.summaries.newest(personas, level=level, source=source, limit=limit)

    def show(self, id: str, *, scope: Scope | None = None) -> Summary:  # noqa: A002  # the name users know
        """Return one summary, by its id or how that begins. Raises UnknownName with the nearest."""
        with self._memory.stores.read() as unit:
            personas = [*readable(unit, scope_given(scope))]
            return pick(
                id,
                what="summary",
                starting_with=lambda prefix: unit.summaries.starting_with(personas, prefix),
                known=lambda: unit.summaries.newest(personas, limit=_ANY),
                title=lambda summary: summary.summary,
            )

    def run(self, *, limit: int = 10, dry_run: bool = False) -> Summarised:
        """Write what is due, of every persona, at most `limit`; maintenance does it too.

        A dry run writes nothing and shows what rules would say.
        """
        limit = whole("limit", limit, least=1)
        return run(summarise_due(self._memory, limit, dry_run=flag("dry_run", dry_run)))
