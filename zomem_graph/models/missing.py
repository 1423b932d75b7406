"""The chat model that was chosen and cannot be had: it fails when it is asked, as a model that is down does."""

from dataclasses import dataclass

from zomem_graph.nodes.ports import Ask, Reply
from zomem_graph.stores.errors import ModelMissing

__all__ = ["MissingChat"]


@dataclass(frozen=True, slots=True)
class MissingChat:
    """Says at each question why there is no answer; `why` ends with the cure."""

    why: str
    identity: str = "no chat model"

    def ask(self, ask: Ask) -> Reply:
        """Raise ModelMissing."""
        raise ModelMissing(self.why)

    async def aask(self, ask: Ask) -> Reply:
        """Raise ModelMissing."""
        return self.ask(ask)
