"""A path that a caller gives, checked before anything is done with it, and what the system then says of it."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zomem_graph.stores.errors import InvalidInput, StoreReadOnly

__all__ = ["path_given", "told_clearly"]

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


@contextmanager
def told_clearly(path: Path) -> Iterator[None]:
    """Raise StoreReadOnly, with the cure, for whatever the system says of a file."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            said = f"The disk is full: {path} was not written and is as it was. Free some space and run it again."
        elif error.errno == errno.EROFS:
            said = f"{path} is on a disk that is mounted read-only. Mount it for writing."
        elif error.errno in (errno.ENOTDIR, errno.EISDIR, errno.EEXIST):
            said = f"{path}: something else stands there ({error.strerror}). Move it away."
        else:
            said = f"{path} cannot be used: {error.strerror or error}. Check the folder's owner and permissions."
        raise StoreReadOnly(said) from error
