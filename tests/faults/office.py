"""Clerks: processes that have one home open and do what they are asked, one call after the other."""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.faults.nursery import Nursery

__all__ = ["Office"]


class Office:
    """Starts clerks on a home and asks them; they run `jobs.serve`."""

    def __init__(self, nursery: Nursery, home: Path, *, clerks: int) -> None:
        self._nursery = nursery
        self._pids = []
        self._lines = []
        for number in range(clerks):
            paths = [home.parent / f"clerk-{number}-{way}" for way in ("asked", "answered")]
            for path in paths:
                os.mkfifo(path)
            asked, answered = map(str, paths)
            self._pids.append(nursery.start("serve", home=str(home), asked=asked, answered=answered))
            questions = Path(asked).open("w", encoding="utf-8")  # noqa: SIM115  # closed with the office
            answers = Path(answered).open(encoding="utf-8")  # noqa: SIM115
            self._lines.append((questions, answers))

    def ask(self, clerk: int, call: str, *arguments: Any) -> Any:
        """Have a clerk make one call; return what it answered."""
        asked, answered = self._lines[clerk]
        asked.write(json.dumps([call, *arguments]) + "\n")
        asked.flush()
        line = answered.readline()
        assert line, self._nursery.complaint(self._pids[clerk])
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for lines in self._lines:
            for file in lines:
                file.close()
        codes = [self._nursery.wait(pid) for pid in self._pids]
        assert error is not None or codes == [0] * len(codes)
