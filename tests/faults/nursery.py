"""Real processes for the tests of faults: forked from one that has loaded everything, so each starts at once.

Run as a program it reads one JSON line after the other: a job to start in a process of its own, or a
process to wait for. What a child prints goes to a file of its own, so nothing it said before it was killed
is lost. The jobs are in `jobs.py`.
"""

import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["LONG", "Nursery"]

ROOT = Path(__file__).resolve().parents[2]
LONG = os.environ.get("ZOMEM_LONG") == "1"  # `make faults` and `make fuzz` set it
_PROGRAM = "from tests.faults.nursery import tend; tend()"


class Nursery:
    """Starts jobs in processes of their own, kills them, and reads what they said."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._started = 0
        self._files: dict[int, Path] = {}
        self._ended: dict[int, int] = {}
        hidden = ("OPENAI_", "ZO_", "ZOMEM_", "LANGCHAIN_", "LANGSMITH_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        self._tender = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**environment, "HOME": str(folder), "OMP_NUM_THREADS": "1"},
            text=True,
        )
        assert self._answer() == {"ready": True}

    def start(self, job: str, **arguments: Any) -> int:
        """Start a job; return its process id."""
        self._started += 1
        file = self._folder / f"said-{self._started}.jsonl"
        file.touch()
        file.with_suffix(".err").touch()
        pid: int = self._ask({"job": job, "arguments": arguments, "file": str(file)})["born"]
        self._files[pid] = file
        return pid

    def kill(self, pid: int) -> None:
        """Kill it with SIGKILL and see it gone."""
        os.kill(pid, signal.SIGKILL)
        self.wait(pid)

    def wait(self, pid: int) -> int:
        """Wait until it is gone; return its exit code, negative for a signal."""
        if pid not in self._ended:
            self._ended[pid] = self._ask({"wait": pid})["gone"]
        return self._ended[pid]

    def said(self, pid: int) -> list[dict[str, Any]]:
        """Return what it has said so far; a last line that was cut short does not count."""
        lines = self._files[pid].read_text("utf-8").split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def complaint(self, pid: int) -> str:
        """Return what it wrote to its standard error."""
        return self._files[pid].with_suffix(".err").read_text("utf-8")

    def close(self) -> None:
        """End every process that is left."""
        for pid in self._files.keys() - self._ended.keys():
            self.kill(pid)
        assert self._tender.stdin is not None
        assert self._tender.stdout is not None
        self._tender.stdin.close()
        self._tender.wait(timeout=10)
        self._tender.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._tender.stdin is not None
        self._tender.stdin.write(json.dumps(request) + "\n")
        self._tender.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._tender.stdout is not None
        answer: dict[str, Any] = json.loads(self._tender.stdout.readline() or "{}")
        return answer


def tend() -> None:
    """Serve the requests on standard input until it ends; this is the other process."""
    import alembic.command  # noqa: F401  # so that no child has to
    import chromadb  # noqa: F401  # nothing is opened: a child of an open index could not use it
    import filelock  # noqa: F401
    import sqlmodel  # noqa: F401

    from tests.faults import jobs

    _reply({"ready": True})
    for request in _requests():
        if "wait" in request:
            _pid, status = os.waitpid(request["wait"], 0)
            _reply({"gone": os.waitstatus_to_exitcode(status)})
        elif child := os.fork():
            _reply({"born": child})
        else:
            _work(getattr(jobs, request["job"]), Path(request["file"]), request["arguments"])


def _requests() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


def _reply(answer: dict[str, Any]) -> None:
    os.write(1, (json.dumps(answer) + "\n").encode())


def _work(job: Any, file: Path, arguments: dict[str, Any]) -> None:
    code = 1
    try:
        for number, place in ((1, file), (2, file.with_suffix(".err"))):
            os.dup2(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_APPEND), number)
        job(**arguments)
        code = 0
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)
