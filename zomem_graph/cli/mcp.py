"""`zomem mcp`: memory as tools of an MCP client; `mcp config` prints what the client needs."""

from typing import Annotated, Literal

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.serving import HostWord, PortWord, own_command, serve_here, stdio_here
from zomem_graph.server import what_is_missing
from zomem_graph.server.clients import CLIENTS, client_settings, preapproved, systemd_unit
from zomem_graph.settings import Settings

__all__ = ["mcp"]

mcp = group(
    "Lend this memory to an MCP client, over standard input and output or over HTTP. "
    "Example: zomem mcp config claude-code",
    usage="| COMMAND [ARGS]...",
)

Client = Literal["claude-code", "claude-desktop", "cursor", "gemini", "codex", "allowed-tools", "systemd"]


@sub_command(mcp, "run")
def _run(
    call: Call,
    transport: Annotated[
        Literal["stdio", "http"], typer.Option("--transport", help="stdio is started by the client itself.")
    ] = "stdio",
    host: HostWord = "127.0.0.1",
    port: PortWord = None,
) -> None:
    """Serve tools over stdio (for one client) or HTTP (for several); `zomem serve` also looks after memory.

    Example: zomem mcp run --transport http --port 48400
    """
    if transport == "stdio":
        stdio_here(call)
    else:
        serve_here(call, host=host, port=port, allowed=(), upkeep_seconds=0)


@sub_command(mcp, "config")
def _config(
    call: Call,
    client: Annotated[Client, typer.Argument(metavar="CLIENT", help="Whose settings to print; see below.")],
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="Of a running server, such as http://127.0.0.1:48400/mcp."),
    ] = None,
) -> None:
    """Print what a client needs: claude-code, claude-desktop, cursor, gemini, codex, allowed-tools or systemd.

    Without --url the client starts `zomem mcp` itself. allowed-tools is the list a bridge pre-approves; systemd
    is a unit for `zomem serve`. Nothing is written.

    Example: zomem mcp config claude-code --url http://127.0.0.1:48400/mcp
    """
    settings = Settings.load(call.shared.home)
    persona = ["--persona", call.shared.persona] if call.shared.persona else []
    if client == "allowed-tools":
        text, where = preapproved(), "after --allowedTools"
    elif client == "systemd":
        text = systemd_unit(own_command(settings.home, *persona, "serve"), home=str(settings.home.absolute()))
        where = "~/.config/systemd/user/zomem.service"
    else:
        command = own_command(settings.home, *persona, "mcp")
        text = client_settings(client, url=url, command=command, with_token=settings.mcp_token is not None)
        where = CLIENTS[client]
    call.answer({"client": client, "goes_into": where, "text": text}, lambda screen: screen.line(text))
    if not call.shared.as_json:
        call.screen.note(f"goes into: {where}")
    if url is None and (missing := what_is_missing()) is not None:
        call.notes([f"the server cannot start here yet: {missing}"])
