"""What every embedder around another one says of it."""

from zomem_graph.nodes.ports import Embedder, RemembersQuestions, lift_of

__all__ = ["AroundEmbedder"]


class AroundEmbedder:
    """Says of the space what the embedder inside says; the vectors are up to the class that derives from it."""

    def __init__(self, embedder: Embedder) -> None:
        """Wrap `embedder`; its numbers are read when they are asked for."""
        self._embedder = embedder

    @property
    def identity(self) -> str:
        """The identity of the embedder inside."""
        return self._embedder.identity

    @property
    def width(self) -> int:
        """The width of the embedder inside."""
        return self._embedder.width

    @property
    def spread(self) -> float:
        """The spread of the embedder inside."""
        return self._embedder.spread

    @property
    def lift(self) -> float:
        """The lift of the embedder inside."""
        return lift_of(self._embedder)

    @property
    def usual(self) -> float:
        """The usual cosine of the embedder inside."""
        return self._embedder.usual

    def forget_questions(self) -> None:
        """Have the embedder inside forget what it was asked, where it keeps that."""
        if isinstance(self._embedder, RemembersQuestions):
            self._embedder.forget_questions()
