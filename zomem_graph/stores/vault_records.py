"""The frozen values of the vault: which facts are in it, how active they were, and which session logs it has read."""

from dataclasses import dataclass
from datetime import datetime

__all__ = ["VaultFact", "VaultSession"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultFact:
    """A fact of the vault: the `activation` (0-1) it had at `as_of`, and its band when it was last judged.

    Bands are active, fading and archived. Uses after `as_of` are in the access log.
    """

    fact_id: str
    activation: float
    as_of: datetime
    band: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultSession:
    """A session log that was read: its file name, its size and time of change then, and whether a summary holds it.

    `first_at` and `last_at` are when its first and last message were said, None for one without any.
    """

    name: str
    size: int
    changed: float
    turns: int
    first_at: datetime | None
    last_at: datetime | None
    read_at: datetime
