"""What a step needs from outside: a clock, an embedder, a chat model.

Protocols only. The implementations are in `zomem_graph.models`; tests and demos use
`zomem_graph.testing`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from zomem_graph.stores.errors import InvalidInput

if TYPE_CHECKING:
    from zomem_graph.nodes.options import MemoryOptions
    from zomem_graph.nodes.steps.hyde import ImaginedAnswers
    from zomem_graph.stores.store import Stores

__all__ = [
    "Ask",
    "ChatModel",
    "Clock",
    "Embedder",
    "RemembersQuestions",
    "Reply",
    "Services",
    "TextTokens",
    "TokenModel",
    "Vector",
    "lift_of",
    "services_given",
    "token_model",
]

Vector = NDArray[np.float32]
Clock = Callable[[], datetime]


class Embedder(Protocol):
    """Turns text into unit vectors of one space.

    `identity` is "provider:model"; two embedders with another identity never share an index.
    A question has ten seconds, after which words alone are searched; stored texts take what they take.
    `spread` is the tau of the recipe: about five standard deviations of the cosine between
    unrelated texts, so that cosine / spread is comparable between embedders.
    """

    @property
    def identity(self) -> str:
        """Return "provider:model"."""
        ...

    @property
    def width(self) -> int:
        """Return the number of dimensions."""
        ...

    @property
    def spread(self) -> float:
        """Return the tau of this space."""
        ...

    @property
    def usual(self) -> float:
        """Return the cosine of two texts that have nothing to do with each other in this space."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, shape (width,). Raises ModelError."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts, shape (len(texts), width). Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The telling tokens of one text: word pieces, shape (n,), and their unit vectors, shape (n, width)."""

    pieces: NDArray[np.uint16]
    vectors: NDArray[np.float32]


class TokenModel(Protocol):
    """Turns text into one vector a token, for late interaction.

    `identity` names the space of these vectors; `vectors_of` is the identity of the embedder whose
    vectors come out of the same pass.
    """

    @property
    def identity(self) -> str:
        """Return the name of the space."""
        ...

    @property
    def vectors_of(self) -> str:
        """Return the identity of the embedder whose vectors `documents` gives too."""
        ...

    def question(self, text: str) -> TextTokens:
        """Return the tokens of a question; none when it has no word of its own. Raises ModelError."""
        ...

    def documents(self, texts: Sequence[str]) -> tuple[list[TextTokens], NDArray[np.float32]]:
        """Return the tokens of stored texts and, from one pass, their unit vectors. Raises ModelError."""
        ...


@runtime_checkable
class RemembersQuestions(Protocol):
    """An embedder that keeps questions, and so must forget them with the rest."""

    def forget_questions(self) -> None:
        """Drop every question and its vector."""
        ...


def lift_of(embedder: Embedder | None) -> float:
    """Return how much too high the chances come out with an embedder, in log-odds; 0 where nobody measured it."""
    return float(getattr(embedder, "lift", 0.0))


def token_model(embedder: Embedder | None) -> TokenModel | None:
    """Return the token model that goes with an embedder, None where there is none."""
    found: TokenModel | None = getattr(embedder, "tokens", None)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question to a chat model, with its limits (spec F139, F146)."""

    workload: str
    system: str
    prompt: str
    temperature: float = 0.1
    max_tokens: int = 300
    deadline_seconds: float = 60.0
    json_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model said, who really said it, and what it took."""

    text: str
    provider: str
    model: str
    latency_ms: float
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    notes: tuple[str, ...] = field(default=())


class ChatModel(Protocol):
    """Answers an `Ask` within its deadline; raises ModelError or ModelTimeout."""

    @property
    def identity(self) -> str:
        """Return "provider:model" as configured; the reply says what really answered."""
        ...

    def ask(self, ask: Ask) -> Reply:
        """Return the reply; wait at most the deadline."""
        ...

    async def aask(self, ask: Ask) -> Reply:
        """Return the reply without blocking the event loop."""
        ...


class Services(Protocol):
    """What every step works with: the stores, the models, the clock. `Memory` is one."""

    @property
    def stores(self) -> "Stores":
        """Return where everything is kept."""
        ...

    @property
    def embedder(self) -> Embedder | None:
        """Return the embedder, or None when search goes by words only."""
        ...

    @property
    def clock(self) -> Clock:
        """Return the clock; it gives aware datetimes."""
        ...

    @property
    def options(self) -> "MemoryOptions":
        """Return the options of every step."""
        ...

    @property
    def strict_scope(self) -> bool:
        """Return whether a run that names no persona is refused."""
        ...

    @property
    def imagined(self) -> "ImaginedAnswers":
        """Return the answers imagined lately."""
        ...

    def chat(self, workload: str, *, named: str | None = None) -> ChatModel | None:
        """Return the chat model of a workload (spec F139), or None when there is none.

        `named` is a "provider:model" that wins over the settings; raises ModelMissing when it cannot be had. A model
        of the settings that cannot be had raises it when it is asked.
        """
        ...

    def standing_notes(self) -> tuple[str, ...]:
        """Return what is missing for good in this memory, for `degraded`."""
        ...

    def wrote(self, ids: Sequence[str]) -> None:
        """Tell the background worker which items were written: a few have their vectors when this returns."""
        ...

    def wake_worker(self) -> None:
        """Tell the background worker that something waits to be embedded, indexed or extracted."""
        ...


def services_given(memory: Any) -> Services:
    """Return the memory that a node or graph is to work with; raise InvalidInput for what is none."""
    if not all(hasattr(memory, name) for name in ("stores", "options", "clock")):
        raise InvalidInput(f"memory must be a Memory, such as Memory.open() gives, not {type(memory).__name__}.")
    services: Services = memory
    return services
