"""Reads the "provider:model" texts by which a model is chosen."""

from dataclasses import dataclass
from typing import Self

from zomem_graph.stores.errors import InvalidInput

__all__ = ["ModelSpec"]

_SHAPE = 'write provider:model, for example "openai:gpt-4o-mini" or "local:e5-small", or "none"'


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One provider and one of its models; printed as "provider:model"."""

    provider: str
    model: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Read "provider:model", "none", or a bare model name of OpenAI (spec F139); raises InvalidInput."""
        stripped = text.strip()
        if stripped.lower() == "none":
            return cls("none", "")
        provider, colon, model = stripped.partition(":")
        if not colon:
            provider, model = "openai", stripped
        if not provider.strip() or not model.strip():
            raise InvalidInput(f"{text!r} names no model: {_SHAPE}.")
        return cls(provider.strip().lower(), model.strip())

    @property
    def is_none(self) -> bool:
        """Whether no model is wanted."""
        return self.provider == "none"

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}" if self.model else self.provider
