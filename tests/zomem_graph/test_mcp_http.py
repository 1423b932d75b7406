"""The MCP server over HTTP: a real process, real sockets, and everything a stranger may try."""

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from zomem_graph.server.names import TOOL_NAMES

from .command_line import CommandLine
from .serving import TOKEN, served

RIGHT = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
SEARCH = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "memory_search", "arguments": {"query": "ana city"}},
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("served") / "home"
    CommandLine(home).ok("remember", "ana", "city", "Porto")
    with served(home) as at:
        yield at


def get(url: str, **headers: str) -> httpx2.Response:
    return httpx2.get(url, headers=headers, timeout=60)


def post(address: str, body: bytes | str, **headers: str) -> httpx2.Response:
    return httpx2.post(f"{address}/mcp", content=body, headers={**JSON, **RIGHT, **headers}, timeout=60)


async def search(address: str, token: str | None = TOKEN) -> Any:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client:
            return await client.call_tool("memory_search", {"query": "ana city"})


def works(address: str) -> bool:
    found = asyncio.run(search(address)).structured_content
    return [item["text"] for item in found["items"]] == ["ana city: Porto"]


def test_a_client_with_the_token_finds_what_is_stored(address: str) -> None:
    assert works(address)


@pytest.mark.parametrize("token", [None, "x", "wrong", TOKEN[:-1], TOKEN + "x", "ключ"])
def test_without_the_token_nothing_but_the_state_is_told(token: str | None, address: str) -> None:
    headers = [] if token is None else [(b"Authorization", f"Bearer {token}".encode())]
    accepted = [(name.encode(), value.encode()) for name, value in JSON.items()]
    refused = httpx2.post(f"{address}/mcp", content=json.dumps(SEARCH), headers=[*accepted, *headers])
    hidden = httpx2.get(f"{address}/metrics", headers=headers)
    state = httpx2.get(f"{address}/health", headers=headers)

    assert (refused.status_code, hidden.status_code, state.status_code) == (401, 401, 200)
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert "ZO_MEMORY_MCP_TOKEN" in refused.json()["error_description"]
    assert set(state.json()) == {"status", "version"}


def test_a_token_under_another_scheme_is_none(address: str) -> None:
    assert get(f"{address}/metrics", Authorization=f"Basic {TOKEN}").status_code == 401


def test_health_tells_who_may_know_what_was_tried(address: str) -> None:
    state = get(f"{address}/health", **RIGHT).json()

    assert state["status"] in {"ok", "degraded"}
    assert state["tools"] == len(TOOL_NAMES)
    assert state["db"].endswith("zomem.db")
    assert {"database", "round trip", "index"} <= {check["name"] for check in state["checks"]}


def test_metrics_count_what_is_stored_and_what_was_asked(address: str) -> None:
    assert works(address)
    lines = get(f"{address}/metrics", **RIGHT).text.splitlines()

    assert 'zomem_items{kind="fact",state="current"} 1' in lines
    counted = next(line for line in lines if line.startswith('zomem_mcp_call_seconds_count{tool="memory_search"}'))
    assert int(counted.split()[1]) >= 1
    assert not any("Porto" in line for line in lines)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"])
def test_a_foreign_host_name_is_refused_everywhere(host: str, address: str) -> None:
    for path in ("/health", "/metrics", "/mcp"):
        assert get(f"{address}{path}", Host=host, **RIGHT).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://localhost.evil.example"])
def test_a_foreign_page_is_refused(origin: str, address: str) -> None:
    assert get(f"{address}/health", Origin=origin, **RIGHT).status_code == 403
    assert post(address, json.dumps(SEARCH), Origin=origin).status_code == 403


def test_a_page_of_this_machine_is_let_in(address: str) -> None:
    assert get(f"{address}/health", Origin="http://localhost:3000").status_code == 200


@pytest.mark.parametrize(
    "body",
    ['{"jsonrpc', "", "null", "[]", "{}", '{"jsonrpc":"2.0","id":1}', '"' + "\\ud800" + '"', "[" * 50_000],
    ids=["cut", "empty", "null", "list", "object", "no method", "surrogate", "deep"],
)
def test_what_is_no_request_is_answered_as_one_and_breaks_nothing(body: str, address: str) -> None:
    assert 400 <= post(address, body).status_code < 500
    assert works(address)


def test_an_unknown_method_is_told_by_its_name(address: str) -> None:
    answer = post(address, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/fly"})).json()

    assert answer["error"]["code"] == -32601


def test_a_body_of_fifty_megabytes_is_refused_before_it_is_read(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    for length in ("Content-Length: 52428800", "Transfer-Encoding: chunked"):
        with socket.create_connection((host, int(port)), timeout=60) as line:
            head = ["POST /mcp HTTP/1.1", f"Host: {host}", *(f"{k}: {v}" for k, v in (RIGHT | JSON).items()), length]
            line.sendall("\r\n".join([*head, "", ""]).encode())
            if "chunked" in length:
                for _ in range(9):
                    line.sendall(b"100000\r\n" + b" " * 1_048_576 + b"\r\n")
            assert b" 413 " in line.recv(200)
    assert works(address)


def test_a_stream_that_would_never_tell_anything_is_refused_at_once(address: str) -> None:
    answer = get(f"{address}/mcp", Accept="text/event-stream", **RIGHT)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert get(f"{address}/mcp", Accept="text/event-stream").status_code == 401


def test_a_client_that_goes_away_in_the_middle_leaves_nothing_behind(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    body = json.dumps(SEARCH)
    for part in (len(body) // 2, len(body)):
        head = ["POST /mcp HTTP/1.1", f"Host: {host}", *(f"{k}: {v}" for k, v in (RIGHT | JSON).items())]
        with socket.create_connection((host, int(port)), timeout=60) as line:
            line.sendall("\r\n".join([*head, f"Content-Length: {len(body)}", "", body[:part]]).encode())

    assert works(address)
    assert get(f"{address}/health", **RIGHT).json()["running"] == 0


def test_ten_clients_that_stay_keep_nobody_out(address: str) -> None:
    async def all_at_once() -> list[Any]:
        async with httpx2.AsyncClient(headers=RIGHT, timeout=60) as http:
            clients = [Client(streamable_http_client(f"{address}/mcp", http_client=http)) for _ in range(10)]
            for client in clients:
                await client.__aenter__()
            first = await asyncio.gather(*(c.call_tool("memory_search", {"query": "ana city"}) for c in clients))
            other = await search(address)
            for client in reversed(clients):
                await client.__aexit__(None, None, None)
        return [*first, other]

    assert all(not result.is_error for result in asyncio.run(all_at_once()))


# -- wrong use ---------------------------------------------------------------------------------------


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


def test_a_taken_port_is_told(zomem: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = zomem("serve", "--port", str(taken.getsockname()[1]))

    assert result.exit_code == 1
    assert "cannot be used: Address already in use" in result.stderr
    assert "--port" in result.stderr


@pytest.mark.parametrize(
    ("words", "variables", "told"),
    [
        (["--host", "0.0.0.0"], {}, "a token is needed"),
        (["--host", "::"], {}, "a token is needed"),
        (["--host", "192.0.2.1"], {}, "a token is needed"),
        (["--host", "0.0.0.0"], {"ZO_MEMORY_MCP_TOKEN": "  "}, "ZO_MEMORY_MCP_TOKEN is blank"),
        ([], {"ZO_MEMORY_MCP_TOKEN": "  "}, "ZO_MEMORY_MCP_TOKEN is blank"),
        (["--host", "192.0.2.1"], {"ZO_MEMORY_MCP_TOKEN": TOKEN}, "cannot be used"),
        (["--port", "70000"], {}, "--port"),
        (["--port", "-1"], {}, "--port"),
        (["--port", "x"], {}, "--port"),
        ([], {"PORT": "0"}, "a whole number from 1 to 65535"),
        (["--upkeep", "often"], {}, "--upkeep must be a span"),
    ],
)
def test_a_server_does_not_start_where_it_must_not(
    words: list[str], variables: dict[str, str], told: str, home: Path
) -> None:
    result = CommandLine(home, **variables)("serve", *words)

    assert result.exit_code == 1
    assert told in result.stderr
    assert not home.exists()
