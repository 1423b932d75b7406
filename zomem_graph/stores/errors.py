"""Every failure a caller may meet, under one root.

ZomemError
├── InvalidInput        what was passed in cannot be used; nothing was changed
│   ├── InvalidOperation   an operation on a key-value store makes no sense; also a ValueError, as in LangGraph
│   ├── SecretRefused   the value looks like a secret
│   └── UnknownName     no such id, persona, source, …; says what is near
├── StoreError          the database or its folder cannot do what was asked
│   ├── StoreLocked     another process holds it for too long
│   │   └── MaintenanceBusy   maintenance runs already
│   ├── StoreReadOnly   the folder, disk or file cannot be written
│   ├── StoreDamaged    the file is not a healthy database
│   └── SchemaMismatch  the store was made by another version
├── IndexUnavailable    the vector index cannot answer; words still can
├── ModelError          a chat model or an embedder failed
│   ├── ModelTimeout    it did not answer within its deadline
│   └── ModelMissing    it is not installed, not configured or not known
└── Closed              the memory was closed
"""

__all__ = [
    "Closed",
    "IndexUnavailable",
    "InvalidInput",
    "InvalidOperation",
    "MaintenanceBusy",
    "ModelError",
    "ModelMissing",
    "ModelTimeout",
    "SchemaMismatch",
    "SecretRefused",
    "StoreDamaged",
    "StoreError",
    "StoreLocked",
    "StoreReadOnly",
    "UnknownName",
    "ZomemError",
]


class ZomemError(Exception):
    """The root of everything this package raises on purpose."""


class InvalidInput(ZomemError):
    """What was passed in cannot be used; nothing was changed."""


class InvalidOperation(InvalidInput, ValueError):
    """An operation on a key-value store makes no sense; LangGraph's own stores raise ValueError for it."""


class SecretRefused(InvalidInput):
    """The value looks like a key, token or password. `found` says so without the cure."""

    def __init__(self, found: str, cure: str = "") -> None:
        super().__init__(f"{found} {cure}".rstrip())
        self.found = found


class UnknownName(InvalidInput):
    """No such id or name; the message lists the nearest known ones."""


class StoreError(ZomemError):
    """The database or its folder cannot do what was asked."""


class StoreLocked(StoreError):
    """Another process holds the store for longer than we wait."""


class MaintenanceBusy(StoreLocked):
    """Maintenance runs already; nothing was changed."""


class StoreReadOnly(StoreError):
    """The folder, the disk or the file cannot be written."""


class StoreDamaged(StoreError):
    """The file is not a healthy database."""


class SchemaMismatch(StoreError):
    """The store was made by another version of this package."""


class IndexUnavailable(ZomemError):
    """The vector index cannot answer; search by words still can."""


class ModelError(ZomemError):
    """A chat model or an embedder failed."""


class ModelTimeout(ModelError):
    """A model did not answer within its deadline."""


class ModelMissing(ModelError):
    """A model is not installed, not configured or not known."""


class Closed(ZomemError):
    """The memory was closed and cannot be used any more."""
