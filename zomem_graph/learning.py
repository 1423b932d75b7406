"""The verbs of `Memory` that learn from conversations: capture, and how far the model is with reading them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from zomem_graph.asking import CaptureWords, capture_request, session_given
from zomem_graph.nodes.flow import arun, run
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import if_given, name_of, whole
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.values import CaptureReport
from zomem_graph.settings import Settings

if TYPE_CHECKING:
    from zomem_graph.streaming import CaptureStream
    from zomem_graph.subjects.conversations import Conversations

__all__ = ["Learning"]


class _Opened(Services, Protocol):
    """What these verbs need of the memory they are part of."""

    @property
    def settings(self) -> Settings: ...

    def _check_open(self) -> None: ...


class Learning:
    """Learn from conversations, and see what waits. `Memory` inherits it."""

    @property
    def conversations(self: _Opened) -> "Conversations":
        """What agents left in their workspaces: find, capture, stats."""
        from zomem_graph.subjects.conversations import Conversations

        self._check_open()
        return Conversations(self, self.settings)

    def capture(
        self: _Opened,
        conversation: Iterable[Any] | str,
        *,
        scope: Scope | None = None,
        source: str = "api",
        session: str | None = None,
        dry_run: bool = False,
        inline: bool = False,
        model: str | None = None,
    ) -> CaptureReport:
        """Learn from a conversation: turns, facts by rule at once, facts by model through the queue.

        `conversation` is messages, or plain text with `Name: …` lines; messages without words count as skipped.
        `inline` waits for the model; `model` ("provider:model") reads in place of the one that is set. A dry run
        writes nothing, and asks the model too when `inline` or `model` is given.
        """
        from zomem_graph.nodes.steps.capture import capture

        self._check_open()
        words = CaptureWords(scope=scope, source=source, session=session, dry_run=dry_run, inline=inline, model=model)
        return run(capture(self, capture_request(conversation, words)))

    async def acapture(
        self: _Opened, conversation: Iterable[Any] | str, **words: Unpack[CaptureWords]
    ) -> CaptureReport:
        """Do the same as `capture` without blocking the event loop."""
        from zomem_graph.nodes.steps.capture import capture

        self._check_open()
        return await arun(capture(self, capture_request(conversation, words)))

    def capture_stream(
        self: _Opened,
        *,
        scope: Scope | None = None,
        source: str = "api",
        session: str | None = None,
        model: str | None = None,
    ) -> "CaptureStream":
        """Return a stream that learns while a conversation goes on, provisionally until it is closed (spec F49)."""
        from zomem_graph.streaming import CaptureStream

        self._check_open()
        return CaptureStream(
            self,
            scope=scope_given(scope),
            source=name_of("source", source),
            session=session_given(session),
            model=if_given(name_of, "model", model),
        )

    def capture_stats(self: _Opened) -> dict[str, Any]:
        """Return what captures brought, what no model has read yet and why, and the last five (spec F44)."""
        from zomem_graph.nodes.steps.extract import capture_state

        self._check_open()
        return capture_state(self)

    def capture_waiting(self: _Opened, *, limit: int = 100) -> CaptureReport:
        """Let the model read up to `limit` conversations that wait, now; `queued` counts those that still do."""
        from zomem_graph.nodes.steps.extract import extract_due

        self._check_open()
        return run(extract_due(self, limit=whole("limit", limit, least=0)))

    def capture_retry(self: _Opened) -> int:
        """Let conversations whose reading failed be due again now; return how many there are."""
        from zomem_graph.nodes.steps.extract import retry_failed

        self._check_open()
        return retry_failed(self)
