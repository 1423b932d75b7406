"""The verbs of `Memory` for work that is shared out: how it is done, who does it well, and who should."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from zomem_graph.nodes.flow import arun, run
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.settings import Settings

if TYPE_CHECKING:
    from zomem_graph.nodes.rules.routing import Candidate, Choice
    from zomem_graph.nodes.steps.routing import RouteRequest
    from zomem_graph.subjects.procedures import ProcedureBook
    from zomem_graph.subjects.profiles import Profiles

__all__ = ["Teamwork"]


class _Opened(Services, Protocol):
    """What these verbs need of the memory they are part of."""

    @property
    def settings(self) -> Settings: ...

    def _check_open(self) -> None: ...


class Teamwork:
    """Procedures, profiles and routing. `Memory` inherits it."""

    @property
    def procedures(self: _Opened) -> "ProcedureBook":
        """How things are done: list, show, create, feedback, evolve, versions, learn."""
        from zomem_graph.subjects.procedures import ProcedureBook

        self._check_open()
        return ProcedureBook(self)

    @property
    def profiles(self: _Opened) -> "Profiles":
        """Who did what how well: list, show, record, import_file, export_file."""
        from zomem_graph.subjects.profiles import Profiles

        self._check_open()
        return Profiles(self)

    def route(
        self: _Opened,
        task: str,
        *,
        executors: "Iterable[str | Candidate] | None" = None,
        strategy: str | None = None,
        category: str | None = None,
        scope: Scope | None = None,
    ) -> "Choice":
        """Return who should get a task, with every score and reason; nothing is written (spec F134).

        `executors` are names or `Candidate`s, by default all that memory knows; `strategy` is fast, reliable,
        balanced or explore, by default the settings' choice. Raises InvalidInput.
        """
        from zomem_graph.nodes.steps.routing import route

        self._check_open()
        return run(route(self, _request(self.settings, task, executors, strategy, category, scope)))

    async def aroute(
        self: _Opened,
        task: str,
        *,
        executors: "Iterable[str | Candidate] | None" = None,
        strategy: str | None = None,
        category: str | None = None,
        scope: Scope | None = None,
    ) -> "Choice":
        """Do the same as `route` without blocking the event loop."""
        from zomem_graph.nodes.steps.routing import route

        self._check_open()
        return await arun(route(self, _request(self.settings, task, executors, strategy, category, scope)))


def _request(
    settings: Settings,
    task: str,
    executors: "Iterable[str | Candidate] | None",
    strategy: str | None,
    category: str | None,
    scope: Scope | None,
) -> "RouteRequest":
    from zomem_graph.nodes.steps.routing import RouteRequest, candidates_of

    return RouteRequest(
        task=task,
        candidates=() if executors is None else candidates_of(executors),
        strategy=settings.routing_strategy if strategy is None else strategy,
        category=category,
        scope=scope_given(scope),
    )
