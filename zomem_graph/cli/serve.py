"""`zomem serve`: one app with /mcp, /health and /metrics, and the upkeep beside them."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.serving import HostWord, PortWord, serve_here
from zomem_graph.cli.words import seconds_in

__all__ = ["serve"]


@command
def serve(
    call: Call,
    host: HostWord = "127.0.0.1",
    port: PortWord = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Another name it may be called by; repeatable."),
    ] = None,
    every: Annotated[
        str, typer.Option("--upkeep", metavar="TIME", help="How often to look after memory; 0 never.")
    ] = "1h",
) -> None:
    """Serve memory over HTTP. With --persona, every call is held to that persona.

    The token is read from ZO_MEMORY_MCP_TOKEN; without one only 127.0.0.1 is served.

    Example: zomem serve --port 48400
    """
    serve_here(
        call, host=host, port=port, allowed=tuple(allow_host or ()), upkeep_seconds=seconds_in("--upkeep", every)
    )
