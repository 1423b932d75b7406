"""Runs Python in new processes: what starts cold can only be timed cold."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from zomem_graph.stores.errors import ZomemError

__all__ = ["ProcessFailed", "python", "seconds_of", "zomem_command"]

_PATIENCE = 300.0  # seconds


class ProcessFailed(ZomemError):
    """A process that was to be measured ended with an error; the message holds what it said."""


def python(
    arguments: Sequence[str], *, allowed: Sequence[int] = (0,), errors: bool = False, seconds: float = _PATIENCE
) -> str:
    """Run this interpreter for at most so long and return what it printed, with `errors` what it said on stderr.

    Raises ProcessFailed.
    """
    done = _run([sys.executable, *arguments], allowed=allowed, seconds=seconds)
    return done.stderr if errors else done.stdout


def seconds_of(command: Sequence[str], *, allowed: Sequence[int] = (0,)) -> float:
    """Return how long a command takes from start to end; raises ProcessFailed for other exits."""
    began = perf_counter()
    _run(command, allowed=allowed)
    return perf_counter() - began


def zomem_command() -> list[str]:
    """Return the `zomem` that belongs to this interpreter."""
    script = Path(sys.executable).with_name("zomem")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "zomem_graph"]


def _run(
    command: Sequence[str], *, allowed: Sequence[int], seconds: float = _PATIENCE
) -> subprocess.CompletedProcess[str]:
    shown = " ".join(command)[:200]
    try:
        done = subprocess.run(list(command), capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise ProcessFailed(f"`{shown}` was not done after {seconds:.0f} seconds. Try a smaller n.") from error
    if done.returncode not in allowed:
        raise ProcessFailed(f"`{shown}` ended with {done.returncode}: {done.stderr.strip()[-1_000:]}")
    return done
