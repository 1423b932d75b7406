"""One engine in a process of its own: fill it, ask everything once for the answers, ask again for the time."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.peers.engines import ENGINES, Engine
from benchmarks.peers.vectors import Recorded, load
from benchmarks.peers.workload import Fact, Question, Workload
from zomem_graph.bench.footprint import resident_mib
from zomem_graph.bench.scoring import mean, score_ranking

__all__ = ["Row", "main", "measured", "read_workload", "write_workload"]

LIMIT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one engine did: milliseconds of processor time and on the clock, MiB, and recall@10 with its interval."""

    engine: str
    fill_cpu_ms: float  # a fact
    search_cpu_ms: float  # mean: processor time comes in steps
    search_wall_ms: float  # median
    timed: int
    resident_mib: float | None
    resident_before_mib: float | None
    recall: dict[str, Any]


def measured(engine: str, workload: Workload, vectors: Recorded, *, timed: int) -> Row:
    """Fill an engine in a fresh folder and ask it everything."""
    before = resident_mib()
    with TemporaryDirectory(prefix="zomem-peers-", ignore_cleanup_errors=True) as folder:
        with ENGINES[engine](Path(folder), vectors) as opened:
            began = process_time()
            opened.fill(workload.facts)
            filled = process_time() - began
            answers = [opened.search(each.user, each.text, LIMIT) for each in workload.questions]
            cpu, wall = _times(opened, workload.questions[:timed])
            resident = resident_mib()
    scores = [
        score_ranking(found, question.gold)["recall@10"]
        for found, question in zip(answers, workload.questions, strict=True)
    ]
    return Row(
        engine=engine,
        fill_cpu_ms=round(1_000 * filled / len(workload.facts), 3),
        search_cpu_ms=round(1_000 * float(np.mean(cpu)), 2),
        search_wall_ms=round(1_000 * float(np.median(wall)), 2),
        timed=len(cpu),
        resident_mib=resident,
        resident_before_mib=before,
        recall=mean(scores, [question.user for question in workload.questions]),
    )


def _times(opened: Engine, questions: Sequence[Question]) -> tuple[list[float], list[float]]:
    cpu, wall = [], []
    for question in questions:
        began, ran = perf_counter(), process_time()
        opened.search(question.user, question.text, LIMIT)
        cpu.append(process_time() - ran)
        wall.append(perf_counter() - began)
    return cpu, wall


def write_workload(workload: Workload, path: Path) -> None:
    """Write what is stored and asked, for the processes of the engines."""
    path.write_text(json.dumps(asdict(workload), default=datetime.isoformat), "utf-8")


def read_workload(path: Path) -> Workload:
    """Read what `write_workload` wrote."""
    held = json.loads(path.read_text("utf-8"))
    return Workload(
        held["name"],
        tuple(Fact(**{**fact, "at": datetime.fromisoformat(fact["at"])}) for fact in held["facts"]),
        tuple(Question(each["user"], each["text"], tuple(each["gold"])) for each in held["questions"]),
    )


def main(arguments: Sequence[str]) -> dict[str, Any]:
    """Measure the engine of that name with the workload and the vectors of two files."""
    engine, workload, vectors, timed = arguments
    return asdict(measured(engine, read_workload(Path(workload)), load(Path(vectors)), timed=int(timed)))


if __name__ == "__main__":
    json.dump(main(sys.argv[1:]), sys.stdout)
