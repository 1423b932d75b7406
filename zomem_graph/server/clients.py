"""What to write into the settings of each MCP client, the pre-approval list and a systemd unit (spec F144, F145)."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from zomem_graph.server.names import TOOL_NAMES
from zomem_graph.timers import unit_word

__all__ = ["CLIENTS", "NAME", "client_settings", "preapproved", "systemd_unit"]

NAME = "zomem"
# Client -> where its settings are.
CLIENTS: Mapping[str, str] = MappingProxyType(
    {
        "claude-code": "~/.claude.json, or .mcp.json in the project",
        "claude-desktop": "claude_desktop_config.json",
        "cursor": "~/.cursor/mcp.json, or .cursor/mcp.json in the project",
        "gemini": "~/.gemini/settings.json",
        "codex": "~/.codex/config.toml",
    }
)
_TOKEN = "ZO_MEMORY_MCP_TOKEN"  # the name of a variable


def client_settings(client: str, *, url: str | None, command: list[str], with_token: bool) -> str:
    """Return the text to put into a client's settings: by `url` where one is given, else by `command`.

    With a token the text names its variable and never holds the token itself.
    """
    if client == "codex":
        return _codex(url, command, with_token=with_token)
    return json.dumps({"mcpServers": {NAME: _entry(client, url, command, with_token=with_token)}}, indent=2)


def _entry(client: str, url: str | None, command: list[str], *, with_token: bool) -> dict[str, Any]:
    if url is None or client == "claude-desktop":  # Claude Desktop starts programs; it takes no address here
        return {"command": command[0], "args": command[1:]}
    address = {"httpUrl": url} if client == "gemini" else {"url": url}
    kind = {"type": "http"} if client == "claude-code" else {}
    variable = {"cursor": f"${{env:{_TOKEN}}}"}.get(client, f"${{{_TOKEN}}}")
    headers = {"headers": {"Authorization": f"Bearer {variable}"}} if with_token else {}
    return {**kind, **address, **headers}


def _codex(url: str | None, command: list[str], *, with_token: bool) -> str:
    lines = [f"[mcp_servers.{NAME}]"]
    if url is None:
        lines += [f"command = {json.dumps(command[0])}", f"args = {json.dumps(command[1:])}"]
    else:
        lines.append(f"url = {json.dumps(url)}")
        if with_token:
            lines.append(f"bearer_token_env_var = {json.dumps(_TOKEN)}")
    return "\n".join([*lines, "startup_timeout_sec = 20"])


def preapproved() -> str:
    """Return the names a bridge passes to `--allowedTools` so that no call asks for leave."""
    return ",".join(f"mcp__{NAME}__{tool}" for tool in TOOL_NAMES)


def systemd_unit(command: list[str], *, home: str) -> str:
    """Return a unit that keeps `zomem serve` running, with as few rights as it needs."""
    return f"""\
[Unit]
Description=zomem memory server
After=network.target

[Service]
ExecStart={" ".join(unit_word(part, command=True) for part in command)}
# A line {_TOKEN}=… in this file protects the server; keep it readable by its user alone.
EnvironmentFile=-{home.replace("%", "%%")}/serve.env
Restart=on-failure
RestartSec=2
NoNewPrivileges=true
PrivateTmp=true
ProtectSystem=strict
ReadWritePaths={unit_word(home)}
UMask=0077

[Install]
WantedBy=default.target
"""
