"""How many searches at once the MCP server answers: a server and a client, each in a process of its own.

`python -m zomem_graph.bench.mcp HOME EMBEDDINGS` is that server; it prints its address on standard error.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from zomem_graph import server
from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Say, kept_folder
from zomem_graph.bench.processes import ProcessFailed
from zomem_graph.bench.scoring import latency
from zomem_graph.bench.synthetic import Chat, ProjectionEmbedder, chat
from zomem_graph.memory import Memory
from zomem_graph.models import resolve_embedder
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.nodes.scope import SHARED
from zomem_graph.settings import Settings

__all__ = ["main", "run"]

_BATCH = 1_000
_NONE = "none"


def run(
    n: int = 10_000, *, calls: int = 200, embeddings: str | None = None, say: Say = lambda _line: None
) -> dict[str, Any]:
    """Store n facts, then ask `calls` searches at once over streamable HTTP and once more one by one.

    `embeddings` names the embedder whose time a question costs; its vectors are not used. "none" leaves it out.
    """
    made = chat(n, calls)
    with kept_folder(None) as folder:
        say(f"storing {n} facts")
        _fill(folder, made)
        with _served(folder, embeddings or "auto") as (address, process):
            say(f"{calls} calls at once")
            # The first ones load what a server loads once.
            asyncio.run(_asked(address, made.questions[:5]))
            before = _cpu_seconds(process)
            together = asyncio.run(_asked(address, made.questions))
            spent = None if before is None else (_cpu_seconds(process) or before) - before
            say("one by one")
            alone = asyncio.run(_asked(address, made.questions[:50], at_once=1))
        pace, _notes = resolve_embedder(embeddings, Settings.load(folder / "pace"))
    return {
        "suite": "mcp",
        "n": n,
        "calls": calls,
        "at_once": together,
        "server_cpu_ms_per_call": None if spent is None else round(1_000 * spent / calls, 1),
        "one_by_one": alone,
        "conditions": conditions(embedder=None if pace is None else pace.identity, options=MemoryOptions()),
    }


def main(arguments: Sequence[str]) -> None:
    """Serve a home until told to stop; a question costs what the named embedder costs."""
    home, embeddings = arguments
    named = None if embeddings == "auto" else embeddings
    pace, _notes = resolve_embedder(named, Settings.load(Path(home) / "pace"))
    with server.listen("127.0.0.1", 0) as at, Memory.open(home, embeddings=ProjectionEmbedder(pace=pace)) as memory:
        app = server.create_app(memory, server.ServeOptions(upkeep_seconds=0))
        sys.stderr.write(f"http://127.0.0.1:{at.getsockname()[1]}/mcp\n")
        sys.stderr.flush()
        server.serve(app, at)


def _fill(home: Path, made: Chat) -> None:
    facts = [
        {"entity": f"{said.speaker} {number % 500}", "key": f"note {number}", "value": said.text, "persona": SHARED}
        for number, said in enumerate(said for session in made.sessions for said in session)
    ]
    options = MemoryOptions(write=WriteOptions(background=False))
    with Memory.open(home, embeddings=ProjectionEmbedder(), options=options) as memory:
        for start in range(0, len(facts), _BATCH):
            memory.remember_many(facts[start : start + _BATCH])
        memory.flush()


@contextmanager
def _served(home: Path, embeddings: str) -> Iterator[tuple[str, int]]:
    command = [sys.executable, "-m", "zomem_graph.bench.mcp", str(home), embeddings]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = ""
            for line in process.stderr or ():
                said += line
                if found := re.search(r"http://\S+/mcp", line):
                    break
            else:
                raise ProcessFailed(f"the server did not start: {said[-1_000:]}")
            yield found[0], process.pid
        finally:
            process.terminate()


def _cpu_seconds(process: int) -> float | None:
    """Return the processor time of a process, which other work on the machine does not stretch; Linux only."""
    state = Path(f"/proc/{process}/stat")
    if not state.is_file():
        return None
    fields = state.read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _asked(address: str, questions: Sequence[str], *, at_once: int = 1_000) -> dict[str, Any]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    room, seconds, errors = asyncio.Semaphore(at_once), list[float](), 0
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(timeout=300, limits=limits) as http:
        async with Client(streamable_http_client(address, http_client=http), read_timeout_seconds=300) as client:

            async def ask(question: str) -> None:
                nonlocal errors
                async with room:
                    began = perf_counter()
                    result = await client.call_tool("memory_search", {"query": question})
                    seconds.append(perf_counter() - began)
                    errors += bool(result.is_error) or not (result.structured_content or {}).get("items")

            began = perf_counter()
            await asyncio.gather(*(ask(question) for question in questions))
            taken = perf_counter() - began
    return {
        "n": len(questions),
        "errors": errors,
        "seconds": round(taken, 2),
        "calls_per_second": round(len(questions) / taken, 1),
        **latency(seconds),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
