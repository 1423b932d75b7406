"""A path that a caller gives, checked before anything is done with it."""

import errno
import os
from pathlib import Path
from typing import Any

from zomem_graph.stores.errors import InvalidInput

__all__ = ["path_given"]

_NO_NAME = frozenset({errno.ENAMETOOLONG, errno.EINVAL})  # too long, or signs that this system has in no name


def path_given(name: str, value: Any, *, of: str = "a file or folder") -> Path:
    """Return a path, which need not be there, with ~ as the user's folder; raise InvalidInput for what is none."""
    if not isinstance(value, str | Path):
        raise InvalidInput(f"{name} must be the path of {of}, not {type(value).__name__}.")
    if not str(value).strip():
        raise InvalidInput(f"{name} is empty. Give the path of {of}, or leave it out.")
    try:
        path = Path(value).expanduser()
        os.lstat(path)
    except (ValueError, RuntimeError) as error:  # a NUL or half a sign; ~ of a user there is not
        raise InvalidInput(f"{name} must be the path of {of}, not {str(value)!r:.80}: {error}.") from error
    except OSError as error:
        if error.errno in _NO_NAME:
            raise InvalidInput(
                f"{name} must be the path of {of}, not {str(value)!r:.80}: {error.strerror}."
            ) from error
        return path  # not there yet, or not to be seen: whoever opens it says so
    return path
