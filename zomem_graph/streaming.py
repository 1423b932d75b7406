"""A conversation captured while it goes on: `with memory.capture_stream(scope=…) as stream: stream.add(…)`."""

from collections.abc import Iterable
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from zomem_graph.nodes.flow import Flow, arun, run, work
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.budget import tokens
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.capture import CaptureRequest, capture
from zomem_graph.nodes.steps.messages import Said, to_said
from zomem_graph.nodes.steps.observe import session_of
from zomem_graph.nodes.steps.stream import learn_provisionally, settle_provisional
from zomem_graph.nodes.values import CaptureReport
from zomem_graph.stores.errors import Closed
from zomem_graph.stores.records import Fact

__all__ = ["CaptureStream"]

_STRETCH_TOKENS = 2_000  # spec F49
_STRETCH_TURNS = 3


class CaptureStream:
    """Learns provisionally as messages come, and for good when it is closed.

    Turns are stored when it is closed; what is stored before are the surest facts, marked as provisional.
    """

    def __init__(
        self, services: Services, *, scope: Scope, source: str, session: str | None, model: str | None
    ) -> None:
        self._services = services
        self._scope = scope
        self._source = source
        self._session = session_of(scope, session)
        self._model = model
        self._all: list[Said] = []
        self._stretch: list[Said] = []
        self._report: CaptureReport | None = None

    def add(self, messages: Iterable[Any]) -> list[Fact]:
        """Take messages as they come; return the provisional facts learned from a stretch that is full now.

        A stretch is three turns or 2,000 tokens.
        """
        return run(self._add(to_said(messages)))

    async def aadd(self, messages: Iterable[Any]) -> list[Fact]:
        """Do the same as `add` without blocking the event loop."""
        return await arun(self._add(to_said(messages)))

    def close(self) -> CaptureReport:
        """Capture the whole conversation, and confirm or retract what was provisional; the second time is free."""
        return run(self._close())

    async def aclose(self) -> CaptureReport:
        """Do the same as `close` without blocking the event loop."""
        return await arun(self._close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _add(self, said: list[Said]) -> Flow[list[Fact]]:
        if self._report is not None:
            raise Closed("This stream was closed. Begin another one with memory.capture_stream().")
        now = self._services.clock()
        said = [replace(message, heard=now) for message in said]
        self._all += said
        self._stretch += said
        full = sum(tokens(message.content) for message in self._stretch) >= _STRETCH_TOKENS
        if not full and len(self._stretch) < _STRETCH_TURNS:
            return []
        stretch, self._stretch = self._stretch, []
        learned = yield from learn_provisionally(
            self._services, stretch, scope=self._scope, session=self._session, model=self._model
        )
        return learned

    def _close(self) -> Flow[CaptureReport]:
        if self._report is not None:
            return self._report
        request = CaptureRequest(
            messages=self._all,
            scope=self._scope,
            session=self._session,
            source=self._source,
            model=self._model,
            inline=True,
        )
        report: CaptureReport = yield from capture(self._services, request)
        self._report = report
        if not report.queued:
            yield from work(lambda: self._settle(report))
        return report

    def _settle(self, report: CaptureReport) -> None:
        settle_provisional(self._services, scope=self._scope, session=self._session, turn_ids=report.turn_ids)
