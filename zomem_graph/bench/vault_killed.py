"""One consolidation in a process that kills itself: `python -m zomem_graph.bench.vault_killed ROOT AT N`.

It dies by SIGKILL at the N-th thing it does to the vault's files or says of its steps; with N 0 it lives and prints
how many there were. `AT` is the time its clock shows.
"""

import json
import os
import signal
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.vault import Vault

__all__ = ["main"]

_CHANGES = frozenset({"os.rename", "os.remove", "os.mkdir"})


class _Count:
    """Counts what happens and ends the process at one of the counts."""

    def __init__(self, data: str, last: int) -> None:
        self._data = data
        self._last = last
        self.done = 0

    def one(self, _what: object = None) -> None:
        """Count one thing that happened."""
        self.done += 1
        if self.done == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def audited(self, event: str, arguments: tuple[object, ...]) -> None:
        """Count what Python is about to do to a file of the vault."""
        if event == "open" and len(arguments) == 3 and isinstance(arguments[2], int):
            writes = arguments[2] & (os.O_WRONLY | os.O_RDWR)
        else:
            writes = int(event in _CHANGES)
        if writes and str(arguments[0]).startswith(self._data):
            self.one()


def main(arguments: Sequence[str]) -> dict[str, int]:
    """Consolidate; return how many things could be interrupted."""
    root, at, last = Path(arguments[0]), datetime.fromisoformat(arguments[1]), int(arguments[2])
    with Vault.open(
        root / "data", home=root / "home", embeddings=SmallEmbedder(), clock=FixedClock(at), max_facts=40
    ) as vault:
        count = _Count(str(root / "data"), last)
        sys.addaudithook(count.audited)
        vault.consolidate(tell=count.one)
        return {"points": count.done}


if __name__ == "__main__":
    json.dump(main(sys.argv[1:]), sys.stdout)
