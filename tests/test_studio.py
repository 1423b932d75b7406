"""`langgraph dev` serves the graph of langgraph.json offline, as LangGraph Studio wants it."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = os.environ.get("ZOMEM_REQUIRE_STUDIO") == "1"  # read before the tests' own environment is made
PATIENCE = 120.0  # seconds for a server that takes twelve on an idle machine


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    if find_spec("langgraph_api") is None:
        if REQUIRED:
            pytest.fail("langgraph-cli[inmem] is missing: pip install --group studio")
        pytest.skip("needs langgraph-cli[inmem]; `make compat` installs it")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "LANG"))}
    home = {"ZOMEM_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=kept | home, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}/ok", process, tmp_path / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def wait_for(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            urlopen(url, timeout=5)
        except OSError:
            time.sleep(0.5)
        else:
            return
    pytest.fail(f"the server did not come up:\n{log.read_text()[-3_000:]}")


def said(server: str, text: str) -> dict[str, Any]:
    body = {
        "assistant_id": "memory",
        "input": {"messages": [{"role": "user", "content": text}]},
        "context": {"persona": "ann"},
    }
    headers = {"content-type": "application/json"}
    with urlopen(Request(f"{server}/runs/wait", json.dumps(body).encode(), headers), timeout=60) as reply:
        found: dict[str, Any] = json.load(reply)
    return found


def test_the_dev_server_serves_the_graph_and_remembers_from_run_to_run(server: str) -> None:
    said(server, "My sister Mia moved to Lisbon, she is a nurse there.")
    state = said(server, "Where does my sister live now?")
    assert "Lisbon" in state["memory_context"]
    assert "Lisbon" in state["messages"][-1]["content"]
