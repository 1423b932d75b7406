"""A chat model that says what it was told to say, and remembers what it was asked."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from threading import Lock
from typing import Any

from zomem_graph.nodes.ports import Ask, Reply
from zomem_graph.stores.errors import ModelTimeout

__all__ = ["Line", "Script", "ScriptedChat"]

# What is said once: a text, a value sent as JSON, an error to raise, or a function of the question.
Line = str | Mapping[str, Any] | Exception | Callable[[Ask], "Line"]
# One line again and again, lines one after the other, or either of them for each workload.
Script = Line | Sequence[Line]


class ScriptedChat:
    """A `ChatModel` that follows a script; counts four characters as a token and costs nothing.

    `by_workload` holds a script for each workload and wins over `script`. A list that has come to
    its end raises AssertionError, as does a workload nobody wrote a script for.
    """

    identity = "testing:scripted"

    def __init__(
        self,
        script: Script | None = None,
        *,
        by_workload: Mapping[str, Script] | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Follow a script; each answer takes `seconds`, and one past the deadline is a ModelTimeout."""
        self.asks: list[Ask] = []
        self.seconds = seconds
        self._lock = Lock()
        self._default = _lines(script) if script is not None else None
        self._lines = {workload: _lines(each) for workload, each in (by_workload or {}).items()}

    def ask(self, ask: Ask) -> Reply:
        """Return the next line of the script."""
        line = self._next(ask)
        time.sleep(min(self.seconds, ask.deadline_seconds))
        return self._said(ask, line)

    async def aask(self, ask: Ask) -> Reply:
        """Return the next line of the script without blocking the event loop."""
        line = self._next(ask)
        await asyncio.sleep(min(self.seconds, ask.deadline_seconds))
        return self._said(ask, line)

    def asked(self, workload: str) -> list[Ask]:
        """Return the questions of one workload, in order."""
        return [ask for ask in self.asks if ask.workload == workload]

    def _next(self, ask: Ask) -> Line:
        with self._lock:
            self.asks.append(ask)
            lines = self._lines.get(ask.workload, self._default)
            assert lines is not None, f"nobody wrote a script for the workload {ask.workload!r}"
            line = next(lines, None)
        assert line is not None, f"the script is at its end, and {ask.workload!r} asks on"
        return line

    def _said(self, ask: Ask, line: Line) -> Reply:
        if self.seconds > ask.deadline_seconds:
            raise ModelTimeout(f"{self.identity} did not answer within {ask.deadline_seconds:g} s.")
        while callable(line):
            line = line(ask)
        if isinstance(line, Exception):
            raise line
        text = line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
        return Reply(
            text=text,
            provider="testing",
            model="scripted",
            latency_ms=self.seconds * 1_000,
            prompt_tokens=(len(ask.system) + len(ask.prompt)) // 4,
            completion_tokens=len(text) // 4,
        )


def _lines(script: Script) -> Iterator[Line]:
    if isinstance(script, Sequence) and not isinstance(script, str):
        return iter(script)
    return repeat(script)
