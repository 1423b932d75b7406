"""The outermost edge: whatever happens below becomes one clear line and an exit code."""

import re
import sys
from collections.abc import Callable

import typer

from zomem_graph.cli.screen import Screen, harmless, silence
from zomem_graph.nodes.rules.secrets import redact
from zomem_graph.stores.errors import ZomemError

__all__ = ["exit_code_of"]

_DONE, _FAILED = 0, 1
_ERRNO = re.compile(r"\[Errno \d+\] ")  # a number of the system says nothing to people
_INTERRUPTED = 130  # what Typer answers to Ctrl-C


def exit_code_of(run: Callable[[], object]) -> int:
    """Run a command and return its exit code: its own, 0 for done, 1 for any failure, told in one line.

    With `python -X dev` an unexpected error is raised again, so that it can be found.
    """
    try:
        code = run()
        if sys.stdout is not None:  # it is None when it was closed before the start
            sys.stdout.flush()
    except typer.TyperException as error:
        return _wrong_use(error)
    except ZomemError as error:
        return _failure(redact(str(error))[0])  # it may name what was given
    except (KeyboardInterrupt, typer.Abort):
        return _failure("stopped")
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # Typer noticed first
            return _DONE
        raise
    except OSError as error:
        _give_up_output()
        return _DONE if isinstance(error, BrokenPipeError) else _failure(str(error))
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        kind = type(error).__name__
        return _failure(f"unexpected {kind}: {error}. Please report it; PYTHONDEVMODE=1 shows where it comes from.")
    if code == _INTERRUPTED:
        return _failure("stopped")
    return code if isinstance(code, int) else _DONE


def _give_up_output() -> None:
    """Drop what standard output does not take, so that the interpreter can end in peace."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        silence(sys.stdout)


def _failure(message: str) -> int:
    Screen().note(f"zomem: {' '.join(_ERRNO.sub('', harmless(message)).split())}")
    return _FAILED


def _wrong_use(error: typer.TyperException) -> int:
    if not error.format_message().strip():  # the help has been shown in place of a message
        return _FAILED
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "zomem"
    _failure(error.format_message())
    Screen().note(f"See {path} --help.")
    return _FAILED
