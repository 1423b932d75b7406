"""The MCP server as a client starts it: over standard input and output, in a process of its own."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from .serving import environment

BEGIN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def test_a_client_stores_and_finds_over_stdio(home: Path) -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "zomem_graph", "mcp"], env=environment(home))

    async def talk() -> Any:
        async with Client(server) as client:
            await client.call_tool("memory_store", {"entity": "ana", "key": "city", "value": "Porto"})
            return await client.call_tool("memory_search", {"query": "ana city"})

    found = asyncio.run(talk()).structured_content
    assert [item["text"] for item in found["items"]] == ["ana city: Porto"]


def started(home: Path, **more: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "always", "-m", "zomem_graph", "mcp"],
        env=environment(home, PYTHONUNBUFFERED="1", **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_every_line_on_stdout_is_protocol_whatever_comes_in(home: Path) -> None:
    calls: list[Any] = [
        BEGIN,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/nope"},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {
                "name": "memory_store",
                # A value that swings warns; a warning must not reach the client.
                "arguments": {"entity": "ana", "key": "city", "value": "Porto"},
            },
        },
    ]
    lines = [json.dumps(call).encode() for call in calls]
    lines[2:2] = [b'{"jsonrpc', b"not json \xff\xfe", b"[]", b"{}"]
    with started(home) as process:
        out, _err = process.communicate(b"\n".join(lines) + b"\n", timeout=120)

    answers = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 0
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert {1, 2, 3} <= {answer.get("id") for answer in answers}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_keeps_what_it_was_told(number: signal.Signals, home: Path) -> None:
    store = {"name": "memory_store", "arguments": {"entity": "ana", "key": "city", "value": "Porto"}}
    with started(home) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for call in (BEGIN, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": store}):
            process.stdin.write(json.dumps(call).encode() + b"\n")
            process.stdin.flush()
            process.stdout.readline()
        process.send_signal(number)
        assert process.wait(60) == 128 + number

    found = subprocess.run(
        [sys.executable, "-m", "zomem_graph", "lookup", "ana", "--json"],
        env=environment(home),
        capture_output=True,
        check=True,
    )
    assert [fact["value"] for fact in json.loads(found.stdout)] == ["Porto"]
