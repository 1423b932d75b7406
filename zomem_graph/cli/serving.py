"""What `zomem serve` and `zomem mcp` share: where to listen, and the long-lived memory behind it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from zomem_graph import server
from zomem_graph.cli.call import Call
from zomem_graph.memory import Memory
from zomem_graph.settings import Settings

__all__ = ["HostWord", "PortWord", "own_command", "serve_here", "served_memory", "stdio_here"]

HostWord = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")]
PortWord = Annotated[
    int | None,
    typer.Option(
        "--port", metavar="N", min=0, max=65_535, help="Else PORT, else 48400; 0 is any.", show_default=False
    ),
]


def serve_here(call: Call, *, host: str, port: int | None, allowed: tuple[str, ...], upkeep_seconds: float) -> None:
    """Serve over HTTP until stopped."""
    settings = Settings.load(call.shared.home)
    note = server.check_token(settings.mcp_token, host=host)
    with server.listen(host, settings.port if port is None else port) as at, served_memory(call) as memory:
        options = server.ServeOptions(
            host=host,
            token=settings.mcp_token,
            allowed_hosts=allowed,
            persona=call.shared.persona,
            upkeep_seconds=upkeep_seconds,
        )
        call.notes([note] if note is not None else [])
        shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
        address = f"http://{shown}:{at.getsockname()[1]}"
        call.screen.note(f"memory at {memory.settings.home}; {address}/mcp, {address}/health, {address}/metrics")
        server.serve(server.create_app(memory, options, say=call.screen.note), at)


def stdio_here(call: Call) -> None:
    """Serve over standard input and output until the client goes away."""
    with served_memory(call) as memory:
        server.serve_stdio(memory, persona=call.shared.persona)


@contextmanager
def served_memory(call: Call) -> Iterator[Memory]:
    """Lend a memory that lives long: its background worker runs, and it is closed at the end."""
    with Memory.open(call.shared.home) as memory:
        yield memory


def own_command(home: Path, *words: str) -> list[str]:
    """Return the command line by which another program starts this very `zomem`."""
    beside = Path(sys.executable).with_name("zomem")
    start = [str(beside)] if beside.is_file() else [sys.executable, "-m", "zomem_graph"]
    return [*start, "--home", str(home.absolute()), *words]
