"""Every model call, written down: one JSON line in the home, and its numbers for the metrics (spec F148)."""

import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from zomem_graph.nodes.ports import Ask, ChatModel, Clock, Reply
from zomem_graph.stores.errors import ZomemError
from zomem_graph.stores.metric_records import ModelCall

__all__ = ["CallLog", "FileLog", "LoggedChat", "Recorder", "call_line"]

# Takes one JSON line for each call (spec F139): ts, workload, provider, model, latency_ms, cost_usd,
# the tokens, and the error of a call that failed.
CallLog = Callable[[str], None]

_LARGEST = 10_000_000  # bytes; then the file moves aside, over the one from before


class FileLog:
    """Appends lines to a file that only its owner can read; a line that cannot be written is given up.

    A call log that fails must not take the answer of the call with it.
    """

    def __init__(self, path: Path, *, largest: int = _LARGEST) -> None:
        self.path = path
        self._largest = largest

    def __call__(self, line: str) -> None:
        """Append one line; a file that is full moves aside as `….1`."""
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{line}\n")
                full = file.tell() >= self._largest
            if full:
                os.replace(self.path, self.path.with_name(f"{self.path.name}.1"))
        except OSError:
            return


class Recorder:
    """A call log that also hands the numbers of each call to the metrics; no word of it."""

    def __init__(self, log: CallLog, note: Callable[[ModelCall], None]) -> None:
        self._log = log
        self._note = note

    def __call__(self, line: str) -> None:
        """Write one line and note its numbers."""
        self._log(line)
        said: dict[str, Any] = json.loads(line)
        names = ("workload", "provider", "model", "latency_ms", "prompt_tokens", "completion_tokens", "cost_usd")
        self._note(
            ModelCall(
                **{name: said[name] for name in names},
                failed="error" in said,
                created_at=datetime.fromisoformat(said["ts"]),
            )
        )


class LoggedChat:
    """A caller's own `ChatModel`, written down like ours; everything else of it is reached through this."""

    def __init__(self, model: ChatModel, log: CallLog, clock: Clock) -> None:
        self._model = model
        self._log = log
        self._clock = clock

    @property
    def identity(self) -> str:
        """The "provider:model" of the caller's model."""
        return self._model.identity

    def ask(self, ask: Ask) -> Reply:
        """Return the model's reply and write the call down, also one that fails."""
        started = perf_counter()
        try:
            reply = self._model.ask(ask)
        except ZomemError as error:
            self._failed(ask, started, error)
            raise
        self._log(call_line(ask, reply, at=self._clock()))
        return reply

    async def aask(self, ask: Ask) -> Reply:
        """Do the same without blocking the event loop."""
        started = perf_counter()
        try:
            reply = await self._model.aask(ask)
        except ZomemError as error:
            self._failed(ask, started, error)
            raise
        self._log(call_line(ask, reply, at=self._clock()))
        return reply

    def _failed(self, ask: Ask, started: float, error: ZomemError) -> None:
        provider, _, model = self.identity.partition(":")
        took = (perf_counter() - started) * 1_000
        reply = Reply(text="", provider=provider, model=model, latency_ms=took)
        self._log(call_line(ask, reply, at=self._clock(), error=str(error)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def call_line(ask: Ask, reply: Reply, *, at: datetime, **more: object) -> str:
    """Return the JSON line of one call."""
    line = {
        "ts": at.isoformat(),
        "workload": ask.workload,
        "provider": reply.provider,
        "model": reply.model,
        "latency_ms": round(reply.latency_ms, 1),
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "cost_usd": round(reply.cost_usd, 8),
    }
    return json.dumps(line | more, ensure_ascii=False)
