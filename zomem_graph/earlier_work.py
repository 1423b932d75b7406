"""The verbs of `Memory` for work that goes on: what is open, what happened, and taking it up again."""

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, Unpack

from zomem_graph.asking import RecallWords, recall_request
from zomem_graph.nodes.flow import Flow, arun, run
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.values import Recollection

if TYPE_CHECKING:
    from zomem_graph.nodes.steps.briefing import Briefing
    from zomem_graph.subjects.budget import ContextBudgets
    from zomem_graph.subjects.checkpoints import Checkpoints
    from zomem_graph.subjects.episodes import EpisodeLog
    from zomem_graph.subjects.loops import OpenLoops
    from zomem_graph.subjects.summaries import Summaries

__all__ = ["EarlierWork"]


class _Opened(Services, Protocol):
    """What these verbs need of the memory they are part of."""

    def _check_open(self) -> None: ...


class EarlierWork:
    """Open loops, episodes, and the recall that goes on with them. `Memory` inherits it."""

    @property
    def loops(self: _Opened) -> "OpenLoops":
        """What is unfinished: list, show, create, resolve, resolve_from, supersede, reopen, snooze, assign, tend."""
        from zomem_graph.subjects.loops import OpenLoops

        self._check_open()
        return OpenLoops(self)

    @property
    def episodes(self: _Opened) -> "EpisodeLog":
        """What happened: list, show, create, trends."""
        from zomem_graph.subjects.episodes import EpisodeLog

        self._check_open()
        return EpisodeLog(self)

    @property
    def summaries(self: _Opened) -> "Summaries":
        """What happened, in short: list, show, run."""
        from zomem_graph.subjects.summaries import Summaries

        self._check_open()
        return Summaries(self)

    @property
    def budget(self: _Opened) -> "ContextBudgets":
        """How full prompts are: init, status, track, reset."""
        from zomem_graph.subjects.budget import ContextBudgets

        self._check_open()
        return ContextBudgets(self)

    @property
    def checkpoints(self: _Opened) -> "Checkpoints":
        """Where tasks stand: save, list, load, restore."""
        from zomem_graph.subjects.checkpoints import Checkpoints

        self._check_open()
        return Checkpoints(self)

    def briefing(self: _Opened, *, domain: str | None = None, scope: Scope | None = None) -> "Briefing":
        """Return what to know before a session begins, in a few lines, and what to begin with (spec F149)."""
        from zomem_graph.nodes.steps.briefing import brief

        self._check_open()
        return run(brief(self, scope_given(scope), domain=domain))

    async def abriefing(self: _Opened, *, domain: str | None = None, scope: Scope | None = None) -> "Briefing":
        """Do the same as `briefing` without blocking the event loop."""
        from zomem_graph.nodes.steps.briefing import brief

        self._check_open()
        return await arun(brief(self, scope_given(scope), domain=domain))

    def continuation(self: _Opened, message: str, **words: Unpack[RecallWords]) -> Recollection:
        """Recall what goes on with earlier work, whatever the gate thinks of the message (spec F62).

        Facts, episodes, open loops and turns of the last 14 days; the keywords are those of `recall`. How many is by
        default what `ContinuationOptions` say.
        """
        self._check_open()
        return run(_gone_on(self, message, words))

    async def acontinuation(self: _Opened, message: str, **words: Unpack[RecallWords]) -> Recollection:
        """Do the same as `continuation` without blocking the event loop."""
        self._check_open()
        return await arun(_gone_on(self, message, words))


def _gone_on(services: Services, message: str, words: RecallWords) -> Flow[Recollection]:
    from zomem_graph.nodes.steps.recall import recall_continuation

    request = recall_request(message, words, services.options.compose)
    options = services.options.continuation
    if words.get("limit") is not None:
        options = replace(options, limit=request.limit)
    return recall_continuation(services, request, options=options)
