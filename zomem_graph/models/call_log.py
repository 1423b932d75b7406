"""One JSON line a model call in the home: which provider really answered, how fast, for how much (spec F148)."""

import os
from pathlib import Path

__all__ = ["FileLog"]


class FileLog:
    """Appends lines to a file that only its owner can read; a line that cannot be written is given up.

    A call log that fails must not take the answer of the call with it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, line: str) -> None:
        """Append one line."""
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        except OSError:
            return
        with os.fdopen(handle, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
