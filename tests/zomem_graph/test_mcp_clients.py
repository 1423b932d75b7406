"""What `zomem mcp config` prints for each client."""

import json
import tomllib
from pathlib import Path

import pytest

from zomem_graph.server.names import TOOL_NAMES
from zomem_graph.server.toolbox import TOOLS

from .command_line import CommandLine

URL = "http://127.0.0.1:48400/mcp"
JSON_CLIENTS = ["claude-code", "claude-desktop", "cursor", "gemini"]


def text(home: Path, *words: str, **variables: str) -> str:
    return CommandLine(home, **variables).ok("mcp", "config", *words)


@pytest.mark.parametrize("client", JSON_CLIENTS)
def test_a_client_is_told_how_to_start_this_very_zomem(client: str, home: Path) -> None:
    entry = json.loads(text(home, client, "--persona", "ann"))["mcpServers"]["zomem"]

    assert Path(entry["command"]).is_file()
    assert entry["args"][-5:] == ["--home", str(home), "--persona", "ann", "mcp"]
    assert not home.exists()


def test_codex_gets_toml(home: Path) -> None:
    entry = tomllib.loads(text(home, "codex"))["mcp_servers"]["zomem"]
    served = tomllib.loads(text(home, "codex", "--url", URL, ZO_MEMORY_MCP_TOKEN="a secret"))["mcp_servers"]["zomem"]

    assert entry["args"][-1] == "mcp"
    assert (served["url"], served["bearer_token_env_var"]) == (URL, "ZO_MEMORY_MCP_TOKEN")


@pytest.mark.parametrize("client", [*JSON_CLIENTS, "codex", "systemd", "allowed-tools"])
def test_no_settings_hold_the_token_itself(client: str, home: Path) -> None:
    assert "hush-hush" not in text(home, client, "--url", URL, ZO_MEMORY_MCP_TOKEN="hush-hush")


def test_a_served_memory_is_named_by_its_address(home: Path) -> None:
    entries = {
        client: json.loads(text(home, client, "--url", URL))["mcpServers"]["zomem"]
        for client in ("claude-code", "cursor", "gemini")
    }

    assert entries["claude-code"] == {"type": "http", "url": URL}
    assert entries["cursor"] == {"url": URL}
    assert entries["gemini"] == {"httpUrl": URL}


def test_the_list_to_approve_beforehand_names_every_tool(home: Path) -> None:
    assert text(home, "allowed-tools").strip().split(",") == [f"mcp__zomem__{name}" for name in TOOL_NAMES]
    assert tuple(line.name for line in TOOLS) == TOOL_NAMES


def test_the_unit_starts_the_server_and_keeps_it_in_its_folder(home: Path) -> None:
    unit = text(home, "systemd")

    assert f"--home {home} serve" in unit
    assert f"ReadWritePaths={home}" in unit


def test_the_unit_holds_a_home_with_blanks_and_signs(tmp_path: Path) -> None:
    unit = text(tmp_path / "my 100% $home", "systemd")

    assert f'--home "{tmp_path}/my 100%% $$home" serve' in unit
    assert f'ReadWritePaths="{tmp_path}/my 100%% $home"' in unit
    assert f"EnvironmentFile=-{tmp_path}/my 100%% $home/serve.env" in unit


def test_an_unknown_client_is_told_the_known_ones(home: Path) -> None:
    result = CommandLine(home)("mcp", "config", "emacs")

    assert result.exit_code == 1
    assert "claude-code" in result.stderr
