"""The frozen values of the vault: which facts are in it, how active they were, and which session logs it has read."""

from dataclasses import dataclass
from datetime import datetime

__all__ = ["VaultFact", "VaultSession"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultFact:
    """A fact of the vault: the `activation` (0-1) it had at `as_of`, and its band when it was last judged.

    Bands are active, fading and archived, and ended for what was deleted or replaced. Uses after
    `as_of` are in the access log.
    """

    fact_id: str
    activation: float
    as_of: datetime
    band: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultSession:
    """A session log that was read: its file name, how many bytes of it, and when it was last changed then.

    `changed` is -1 while it is being read. `turns` counts its messages, `first_at` and `last_at` are when the first
    and the last of them were said, None for a log without any.
    """

    name: str
    size: int
    changed: float
    turns: int
    first_at: datetime | None
    last_at: datetime | None
    read_at: datetime
