"""Who writes to a vault when its disk is on two machines: a small file with the name of the one that does.

The system's lock keeps processes of one machine apart; it may not reach across machines.
"""

import json
import os
import platform
import socket
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from zomem_graph.stores.errors import StoreLocked
from zomem_graph.stores.paths import told_clearly
from zomem_graph.stores.vault_files import replace_file

__all__ = ["Lease", "this_host"]


def this_host() -> str:
    """Return an id of this machine that survives restarts but not a redeployment."""
    for path in (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id")):
        if path.is_file() and (found := path.read_text("utf-8", "replace").strip()):
            return f"{platform.node()}-{found[:12]}"
    return f"{platform.node() or socket.gethostname()}-{uuid.getnode():012x}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The lease of one machine on one vault. `take_over` takes it from another that seems alive."""

    path: Path
    host: str
    minutes: int
    take_over: bool = False

    def take(self, now: datetime) -> None:
        """Take or renew the lease; raise StoreLocked while another machine has it."""
        other, at = self.holder()
        if other not in (None, self.host) and not self.take_over and at is not None:
            left = timedelta(minutes=self.minutes) - abs(now - at)
            if left > timedelta():
                raise StoreLocked(
                    f"This vault is in use by {other} (last at {at.isoformat(timespec='seconds')}), and two machines "
                    f"must not write to one disk. Stop it there and wait {left / timedelta(minutes=1):.0f} minutes, "
                    "or pass --take-over when that machine is gone."
                )
        if other == self.host and at is not None and timedelta() <= now - at < timedelta(minutes=self.minutes / 4):
            return
        replace_file(self.path, json.dumps({"host": self.host, "pid": os.getpid(), "at": now.isoformat()}) + "\n")

    def holder(self) -> tuple[str | None, datetime | None]:
        """Return who has the lease and when it was last renewed; a file that cannot be read counts as none."""
        with told_clearly(self.path):
            if not self.path.is_file():
                return None, None
            text = self.path.read_text("utf-8", "replace")
        try:
            said = json.loads(text)
            at = datetime.fromisoformat(said["at"])
            return str(said["host"]), at if at.tzinfo is not None else None
        except (ValueError, KeyError, TypeError):
            return None, None
