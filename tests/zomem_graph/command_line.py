"""Runs `zomem` in this process or in a real one, on a memory of its own that searches by words only."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from zomem_graph.cli import app

__all__ = ["CommandLine"]


class CommandLine:
    """One home and the ways to call `zomem` on it."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.home = home
        self.environment = {"ZOMEM_HOME": str(home), "ZO_MODEL_EMBEDDING": "none", **environment}

    def __call__(self, *arguments: str, given: str | bytes | None = None) -> Result:
        """Run in this process; fast."""
        return CliRunner().invoke(app, list(arguments), input=given, env=self.environment)

    def ok(self, *arguments: str, given: str | bytes | None = None) -> str:
        """Run in this process and return what was answered; fail unless the exit code is 0."""
        result = self(*arguments, given=given)
        assert result.exit_code == 0, result.output
        return result.stdout

    def json(self, *arguments: str, given: str | bytes | None = None) -> Any:
        """Run with --json and return the document."""
        return json.loads(self.ok(*arguments, "--json", given=given))

    def process(self, *arguments: str | bytes, **named: Any) -> "subprocess.CompletedProcess[bytes]":
        """Run in a process of its own."""
        usual: dict[str, Any] = {"capture_output": True, "timeout": 120, "check": False, "env": self.variables()}
        words: list[str | bytes] = [sys.executable, "-m", "zomem_graph", *arguments]
        finished: subprocess.CompletedProcess[bytes] = subprocess.run(words, **(usual | named))
        return finished

    def variables(self) -> Mapping[str, str]:
        """Return the environment of a process."""
        return {**os.environ, **self.environment}
