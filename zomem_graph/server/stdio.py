"""Memory over standard input and output: one client, which starts and ends the process."""

import os
import signal
from types import FrameType

import anyio

from zomem_graph.memory import Memory
from zomem_graph.server.toolbox import create_server

__all__ = ["serve_stdio"]


def serve_stdio(memory: Memory, *, persona: str | None = None) -> None:
    """Answer until standard input ends. Nothing but the protocol reaches standard output.

    SIGINT and SIGTERM close the memory and end the process at once: a thread that waits for input cannot be woken.
    """
    stops = (signal.SIGINT, signal.SIGTERM)

    def leave(number: int, _frame: FrameType | None) -> None:
        for each in stops:
            signal.signal(each, signal.SIG_DFL)  # a second one ends the process whatever it does
        memory.close()
        os._exit(128 + number)

    for each in stops:
        signal.signal(each, leave)
    anyio.run(create_server(memory, persona=persona).run_stdio_async)
