"""What the server does beside answering: the memory's upkeep, every so often."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from zomem_graph.memory import Memory
from zomem_graph.stores.errors import ZomemError

__all__ = ["Upkeep"]


class Upkeep:
    """Runs the upkeep on a thread, again and again; what fails is told and tried again next time."""

    def __init__(self, memory: Memory, *, every_seconds: float, say: Callable[[str], None]) -> None:
        self._memory = memory
        self._every = every_seconds
        self._say = say
        self.rounds = 0
        self.last: datetime | None = None
        self.error: str | None = None

    async def run(self) -> None:
        """Go round until cancelled; the first round begins at once."""
        while True:
            try:
                await asyncio.to_thread(self._round)
                self.error = None
            except ZomemError as error:
                self.error = str(error)
                self._say(f"upkeep: {error}")
            self.rounds += 1
            self.last = self._memory.clock()
            await asyncio.sleep(self._every)

    def _round(self) -> None:
        self._memory.maintain()
