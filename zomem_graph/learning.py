"""The verbs of `Memory` that learn from conversations: observe, capture, and how far a model is with reading."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from zomem_graph.asking import CaptureWords, capture_request, session_given
from zomem_graph.nodes.flow import arun, run
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import flag, if_given, name_of, whole
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.values import CaptureReport
from zomem_graph.settings import Settings
from zomem_graph.stores.records import Turn
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit

if TYPE_CHECKING:
    from zomem_graph.streaming import CaptureStream
    from zomem_graph.subjects.conversations import Conversations

__all__ = ["Learning"]


class _Opened(Services, Protocol):
    """What these verbs need of the memory they are part of."""

    @property
    def settings(self) -> Settings: ...

    def _check_open(self) -> None: ...

    def wrote(self, ids: Sequence[str]) -> None: ...


class Learning:
    """Learn from conversations, and see what waits. `Memory` inherits it."""

    @property
    def conversations(self: _Opened) -> "Conversations":
        """What agents left in their workspaces: find, capture, stats."""
        from zomem_graph.subjects.conversations import Conversations

        self._check_open()
        return Conversations(self, self.settings)

    def observe(
        self: _Opened,
        messages: Iterable[Any],
        *,
        scope: Scope | None = None,
        session: str | None = None,
        read_again: bool = False,
    ) -> list[Turn]:
        """Store what was said, verbatim and once; return the turns that were new.

        Messages are LangChain messages or {"role", "content", "name"?, "at"?, "metadata"?}; system messages and those
        without words are left out. A history that grew, was trimmed or is replayed is laid over what the session
        holds; only the rest is new. What is observed is not learned from by a later `capture`: give one of them.
        `read_again` says that they stand in a file, which may say again what was forgotten since: that stays out.
        """
        from zomem_graph.nodes.steps.messages import to_said
        from zomem_graph.nodes.steps.observe import clean, store_turns

        self._check_open()
        who, session, read_again = scope_given(scope), session_given(session), flag("read_again", read_again)
        said, _redacted = clean(to_said(messages), self.options.write)

        def store(unit: Unit) -> list[Turn]:
            now = self.clock()
            unit.care.in_use(now)
            return store_turns(unit, said, scope=who, session=session, now=now, read_again=read_again)

        turns = written(self.stores, store)
        self.wrote([turn.id for turn in turns])
        return turns

    async def aobserve(
        self: _Opened,
        messages: Iterable[Any],
        *,
        scope: Scope | None = None,
        session: str | None = None,
        read_again: bool = False,
    ) -> list[Turn]:
        """Do the same as `observe` without blocking the event loop."""
        return await asyncio.to_thread(
            Learning.observe, self, messages, scope=scope, session=session, read_again=read_again
        )

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
        read_again: bool = False,
    ) -> CaptureReport:
        """Learn from a conversation: turns, facts by rule at once, facts by model through the queue.

        `conversation` is messages, or plain text with `Name: …` lines; messages without words count as skipped.
        `inline` waits for the model; `model` ("provider:model") reads in place of the one that is set. A dry run
        writes nothing, and asks the model too when `inline` or `model` is given. `read_again` says that it stands in
        a file, which may say again what was forgotten since: that stays out, however short it is.
        """
        from zomem_graph.nodes.steps.capture import capture

        self._check_open()
        words = CaptureWords(
            scope=scope,
            source=source,
            session=session,
            dry_run=dry_run,
            inline=inline,
            model=model,
            read_again=read_again,
        )
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
