"""Compare the tokens of a question with the tokens of what was found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zomem_graph.nodes.flow import Flow, Work
from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Services, TextTokens, token_model
from zomem_graph.nodes.rules.late import late_scores, most_similar, token_weights
from zomem_graph.nodes.steps.query import Query
from zomem_graph.stores.unit import Unit

__all__ = ["LATE_IS_OFF", "Comparison", "compare", "late_note", "question_tokens"]

LATE_IS_OFF = "late interaction is off: run `zomem models fetch minilm`"

_LONGEST_QUESTION = 2_000  # characters, as words are looked at


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """How near each token of a question comes to each item, shape (tokens, items).

    `columns` says where an item stands; one without tokens stands nowhere.
    """

    model: str
    question: TextTokens
    weights: NDArray[np.float64]
    columns: dict[int, int]
    similarities: NDArray[np.float32]

    def scores(self, nums: Sequence[int]) -> NDArray[np.float64]:
        """Return the late score of each of these items, NaN where there is none."""
        found = np.append(late_scores(self.similarities, self.weights), np.nan)
        return found[[self.columns.get(num, -1) for num in nums]]

    def extended(self, unit: Unit, nums: Sequence[int]) -> "Comparison":
        """Return the comparison with these items too."""
        more = _similarities(unit, self.model, self.question, [n for n in nums if n not in self.columns])
        columns = {num: len(self.columns) + place for place, num in enumerate(more[0])}
        return replace(
            self,
            columns=self.columns | columns,
            similarities=np.concatenate([self.similarities, more[1]], axis=1),
        )


def question_tokens(services: Services, query: Query, options: RetrieveOptions) -> Flow[TextTokens | None]:
    """Return the tokens of the question; None when late interaction is off or no word tells anything."""
    model = token_model(services.embedder)
    asked = " ".join([query.text[:_LONGEST_QUESTION], *query.history_terms])
    if model is None or not options.late or not asked.strip():
        return None
    tokens: TextTokens = yield Work(lambda: model.question(asked))
    return tokens if len(tokens.pieces) else None


def compare(unit: Unit, services: Services, question: TextTokens | None, nums: Sequence[int]) -> Comparison | None:
    """Compare a question with items; None when there is nothing to compare."""
    model = token_model(services.embedder)
    if model is None or question is None or not nums:
        return None
    pieces = question.pieces.tolist()
    weights = token_weights(
        pieces,
        unit.tokens.frequencies(pieces, model=model.identity),
        total=unit.tokens.total(model=model.identity),
    )
    found, similarities = _similarities(unit, model.identity, question, nums)
    if not found:
        return None
    columns = {num: place for place, num in enumerate(found)}
    return Comparison(model.identity, question, weights, columns, similarities)


def late_note(services: Services, options: RetrieveOptions, late: Comparison | None) -> str:
    """Return what came of late interaction, for the trace."""
    if not options.late:
        return "switched off"
    if token_model(services.embedder) is None:
        return LATE_IS_OFF
    return f"{0 if late is None else len(late.columns)} candidates compared"


def _similarities(
    unit: Unit, model: str, question: TextTokens, nums: Sequence[int]
) -> tuple[list[int], NDArray[np.float32]]:
    rows = unit.tokens.of(nums, model=model)
    tokens = rows.tokens
    return rows.nums, most_similar(question.vectors, tokens["vector"], tokens["scale"], rows.counts)
