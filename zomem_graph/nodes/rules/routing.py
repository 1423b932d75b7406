"""Who gets a task: six signals from memory, weighed by a strategy (spec F134). The same input, the same choice.

`fast`, `reliable` and `balanced` weigh the signals. `explore` lets the signals be the guess before any run and
draws each executor's worth for the task's category from what its runs say (Thompson sampling), so that what
is hardly tried gets tried, and what has changed is noticed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2s
from typing import Final, Literal, get_args

import numpy as np

from zomem_graph.nodes.rules.breaker import Breaker
from zomem_graph.nodes.rules.small_samples import expected_share
from zomem_graph.stores.stems import stem
from zomem_graph.stores.words import terms

__all__ = [
    "SIGNALS",
    "STRATEGIES",
    "WEIGHTS",
    "Candidate",
    "Choice",
    "Score",
    "Standing",
    "Strategy",
    "choose",
    "tier_of",
]

Strategy = Literal["fast", "reliable", "balanced", "explore"]
Tier = Literal["trivial", "simple", "moderate", "complex"]
STRATEGIES: Final[tuple[str, ...]] = get_args(Strategy)
SIGNALS: Final = ("capability", "health", "complexity_fit", "history", "procedure", "temporal")

WEIGHTS: Final[Mapping[str, Mapping[str, float]]] = {
    name: dict(zip(SIGNALS, weights, strict=True))
    for name, weights in {
        "fast": (0.12, 0.20, 0.40, 0.12, 0.08, 0.08),
        "reliable": (0.15, 0.35, 0.12, 0.18, 0.12, 0.08),
        "balanced": (0.25, 0.28, 0.16, 0.15, 0.10, 0.06),
        "explore": (0.35, 0.16, 0.18, 0.16, 0.10, 0.05),
    }.items()
}
_TIERS: Final = ((100, "trivial"), (300, "simple"), (800, "moderate"))  # characters, spec F134
_FITS: Final = {
    "codex": (0.90, 0.85, 0.55, 0.30),
    "gemini": (0.75, 0.80, 0.90, 0.85),
    "hermes": (0.70, 0.75, 0.85, 0.80),
    "claude-code": (0.65, 0.75, 0.90, 1.00),
}
_NEUTRAL: Final = 0.5
_ENOUGH_MATCHES: Final = 3
_FAILURE_COSTS: Final = 0.3
_HALF_OPEN: Final = 0.1
_RECENT: Final = 0.2
_LEAST_RUNS: Final = 2
_MOST_NAMED: Final = 3
_FLOOR: Final = 0.1
_GUESS: Final = 2.0
"""How many runs the signals are worth to `explore`."""
_NARROWED: Final = 2.0
"""Each run counts twice when `explore` draws: on made-up work, that wins more than trying out for longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An executor as its owner describes it: what it is good at, and how well it fits each tier (0-1)."""

    name: str
    expertise: tuple[str, ...] = ()
    fit: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What memory holds of an executor for one task.

    `history` and `drawn_from` are (successes, runs) in the task's category as they count now, for the weighing
    strategies and for `explore`; `procedure` those of procedures it has a step in, `temporal` those of the last
    seven days. `success_hours` is how long ago it last succeeded. `affinity` and `repeats` (how often its latest
    failure class came) only break ties.
    """

    history: tuple[float, float] = (0.0, 0.0)
    drawn_from: tuple[float, float] = (0.0, 0.0)
    procedure: tuple[float, float] = (0.0, 0.0)
    temporal: tuple[float, float] = (0.0, 0.0)
    breaker: Breaker = field(default_factory=Breaker)
    pressure: float = 0.0
    success_hours: float | None = None
    affinity: float = _NEUTRAL
    repeats: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How an executor came off. `drawn` is the worth that `explore` drew, None for the other strategies."""

    executor: str
    total: float
    signals: Mapping[str, float]
    state: str
    reason: str
    drawn: float | None = None
    affinity: float = _NEUTRAL
    repeats: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Who gets the task, and who would be next; `scores` has the best first."""

    executor: str
    reason: str
    strategy: str
    tier: str
    scores: tuple[Score, ...]
    category: str = ""

    @property
    def order(self) -> tuple[str, ...]:
        """The executors in the order they should be tried, the chosen one first."""
        others = (score.executor for score in self.scores if score.executor != self.executor)
        return (self.executor, *others)


def tier_of(task: str) -> str:
    """Return how complex a task is, by its length."""
    return next((name for most, name in _TIERS if len(task) < most), "complex")


def choose(
    task: str,
    candidates: Sequence[Candidate],
    standings: Mapping[str, Standing],
    *,
    strategy: str,
    seed: int,
    fallback: str | None = None,
) -> Choice:
    """Return the choice among at least one candidate; `seed` decides what `explore` draws for each name.

    Ties go to who worked on what the task names, then to who failed less often in the same way, then by a hash of
    task and name: the same task to the same executor, other tasks to others.
    An executor whose breaker is open comes last. When even the best is below .1, `fallback` gets the task.
    """
    tier, said = tier_of(task), {stem(word) for word in terms(task)}
    scored: list[Score] = []
    for candidate in candidates:
        standing = standings.get(candidate.name, Standing())
        signals = _signals(candidate, standing, tier, said)
        scored.append(_scored(candidate, standing, signals, strategy, seed))
    scores = tuple(sorted(scored, key=lambda score: (*_rank(score), _lot(task, score.executor))))
    best = scores[0]
    if best.total < _FLOOR and any(candidate.name == fallback for candidate in candidates):
        reason = f"nobody reaches {_FLOOR}, so the fallback gets it"
        return Choice(executor=str(fallback), reason=reason, strategy=strategy, tier=tier, scores=scores)
    reason = "; ".join(part for part in (best.reason, _tie(scores)) if part)
    return Choice(executor=best.executor, reason=reason, strategy=strategy, tier=tier, scores=scores)


def _rank(score: Score) -> tuple[bool, float, float, int]:
    return score.state == "open", -round(score.total, 9), -score.affinity, score.repeats


def _lot(task: str, executor: str) -> bytes:
    return blake2s(f"{task}\0{executor}".encode("utf-8", "surrogatepass")).digest()


def _tie(scores: Sequence[Score]) -> str:
    """Say who is as good as the first and what decided between them; "" when nobody is."""
    best = scores[0]
    equal = [one for one in scores[1:] if _rank(one)[:2] == _rank(best)[:2]]
    if not equal:
        return ""
    names = ", ".join(sorted(one.executor for one in equal)[:_MOST_NAMED])
    if any(_rank(one) == _rank(best) for one in equal):
        return f"as good as {names}, taken by a lot that falls the same way each time for this task"
    if any(one.affinity != best.affinity for one in equal):
        return f"as good as {names}, but it worked before on what the task names"
    return f"as good as {names}, but it failed less often in the same way"


def _signals(candidate: Candidate, standing: Standing, tier: str, said: set[str]) -> dict[str, float]:
    return {
        "capability": _capability(candidate, said),
        "health": _health(standing),
        "complexity_fit": _complexity_fit(candidate, tier),
        "history": expected_share(*standing.history),
        "procedure": _share(standing.procedure),
        "temporal": _share(standing.temporal),
    }


def _scored(
    candidate: Candidate,
    standing: Standing,
    signals: Mapping[str, float],
    strategy: str,
    seed: int,
) -> Score:
    weights = WEIGHTS[strategy]
    drawn = None
    total = sum(weights[name] * value for name, value in signals.items())
    if strategy == "explore":
        drawn = total = _draw(signals, standing, _chance(seed, candidate.name))
    if standing.breaker.state == "open":
        total = 0.0
    return Score(
        executor=candidate.name,
        total=total,
        signals=signals,
        state=standing.breaker.state,
        reason=_reason(signals, weights, standing, drawn),
        drawn=drawn,
        affinity=standing.affinity,
        repeats=standing.repeats,
    )


def _chance(seed: int, executor: str) -> np.random.Generator:
    """Return what draws for one executor: by its name, so that the order of the names decides nothing."""
    return np.random.default_rng(int.from_bytes(_lot(str(seed), executor)[:8], "big"))


def _draw(signals: Mapping[str, float], standing: Standing, chance: np.random.Generator) -> float:
    """Draw how often an executor succeeds at such tasks; the signals but history and health are the guess."""
    weights = {name: weight for name, weight in WEIGHTS["explore"].items() if name not in ("history", "health")}
    guess = sum(weight * signals[name] for name, weight in weights.items()) / sum(weights.values())
    successes, runs = (_NARROWED * count for count in standing.drawn_from)
    return float(chance.beta(successes + _GUESS * guess + 1e-6, runs - successes + _GUESS * (1 - guess) + 1e-6))


def _capability(candidate: Candidate, said: set[str]) -> float:
    able = {stem(word) for phrase in candidate.expertise for word in terms(phrase)}
    if not able:
        return _NEUTRAL
    return min(1.0, len(able & said) / min(_ENOUGH_MATCHES, len(able)))


def _health(standing: Standing) -> float:
    if standing.breaker.state == "open":
        return 0.0
    if standing.breaker.state == "half-open":
        return _HALF_OPEN
    well = max(0.0, 1.0 - _FAILURE_COSTS * standing.breaker.failures) * (1.0 - 0.5 * standing.pressure)
    recent = 0.0 if standing.success_hours is None else _RECENT * 0.5 ** (standing.success_hours / 24)
    return min(1.0, well + recent)


def _complexity_fit(candidate: Candidate, tier: str) -> float:
    if tier in candidate.fit:
        return candidate.fit[tier]
    known = _FITS.get(candidate.name.lower())
    return _NEUTRAL if known is None else known[[*_tier_names()].index(tier)]


def _tier_names() -> tuple[str, ...]:
    return get_args(Tier)


def _share(counts: tuple[float, float]) -> float:
    successes, runs = counts
    return expected_share(successes, runs) if runs >= _LEAST_RUNS else _NEUTRAL


def _reason(
    signals: Mapping[str, float], weights: Mapping[str, float], standing: Standing, drawn: float | None
) -> str:
    """Say what spoke for and against it most, against a neutral .5."""
    if standing.breaker.state == "open":
        return f"left alone after {standing.breaker.failures} failures ({standing.breaker.because})"
    successes, runs = standing.drawn_from if drawn is not None else standing.history
    told = f"{successes:.1f} of {runs:.1f} such tasks went well" if runs > 0 else "no such task tried yet"
    if drawn is not None:
        return f"{told}; drew {drawn:.2f}"
    pulls = {name: weights[name] * (value - _NEUTRAL) for name, value in signals.items()}
    most = max(pulls, key=lambda name: abs(pulls[name]))
    return f"{told}; {most.replace('_', ' ')} {signals[most]:.2f} counts most"
