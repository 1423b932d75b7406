"""A real `zomem serve` in a process of its own, on a free port."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["TOKEN", "environment", "served"]

TOKEN = "a-long-and-random-token"


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a process that remembers there, by words only."""
    return {**os.environ, "ZOMEM_HOME": str(home), "ZO_MODEL_EMBEDDING": "none", **more}


@contextmanager
def served(home: Path, *options: str, token: str | None = TOKEN) -> Iterator[str]:
    """Run a server and lend its address; fail unless it stops with exit code 0 when told to."""
    more = {} if token is None else {"ZO_MEMORY_MCP_TOKEN": token}
    command = [sys.executable, "-m", "zomem_graph", "serve", "--port", "0", *options]
    process = subprocess.Popen(command, env=environment(home, **more), stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        lines = []
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r"(http://\S+)/mcp", line):
                break
        else:
            raise AssertionError("".join(lines))
        yield found[1]
    finally:
        process.terminate()
        process.stderr.read()
        process.stderr.close()
        code = process.wait(60)
    assert code == 0
