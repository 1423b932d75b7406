"""Persona files: HOME/personas/NAME.md, written by people, read before recall.

A name that is a plain file name is the file's name. Any other name (a path, a letter that looks like
another one, a name that a file system would fold) gets a hash in it, so that two personas never share a file.
"""

import contextlib
import os
import re
import unicodedata
from pathlib import Path

from zomem_graph.stores.errors import StoreReadOnly
from zomem_graph.stores.identity import content_hash

__all__ = ["LONGEST_FILE", "add_persona_file", "persona_file", "read_persona_file"]

LONGEST_FILE = 64_000
"""Bytes that are read of a persona file; it is meant for 20 to 30 facts."""

_PLAIN = re.compile(r"\w[\w .@+-]{0,79}")
_DEVICES = frozenset({"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)})
_SHORT_HASH = 10


def persona_file(folder: Path, persona: str) -> Path:
    """Return where a persona's file is, or would be."""
    plain = (
        _PLAIN.fullmatch(persona) is not None
        and persona[-1] not in " ."
        and persona.split(".")[0].casefold() not in _DEVICES
        and unicodedata.is_normalized("NFKC", persona)
    )
    if plain and _taken_by_another(folder, f"{persona}.md"):
        plain = False
    if plain:
        return folder / f"{persona}.md"
    shown = re.sub(r"[^A-Za-z0-9]+", "-", persona).strip("-")[:40]
    return folder / f"{shown or 'persona'}-{content_hash(persona)[:_SHORT_HASH]}.md"


def read_persona_file(folder: Path, persona: str) -> str:
    """Return the text of a persona's file, "" when there is none; what is no UTF-8 is shown as such."""
    path = persona_file(folder, persona)
    try:
        with path.open("rb") as file:
            return file.read(LONGEST_FILE).decode("utf-8", "replace")
    except OSError:
        return ""


def add_persona_file(folder: Path, persona: str, text: str) -> tuple[Path, bool]:
    """Write a persona's file unless there is one; return where it is and whether it was written.

    Raises StoreReadOnly with the cure.
    """
    path = persona_file(folder, persona)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
            return path, True
    except OSError as error:
        raise StoreReadOnly(f"{path} cannot be written ({error}). Check the rights of {folder}.") from error
    return path, False


def _taken_by_another(folder: Path, name: str) -> bool:
    """Return whether the file system folds this name into that of another persona's file."""
    if not (folder / name).exists():
        return False
    return name not in {unicodedata.normalize("NFC", one) for one in os.listdir(folder)}
