"""The circuit breaker: an executor that fails again and again is left alone for a while (spec F136)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from zomem_graph.stores.work_records import ExecutorRun

__all__ = ["Breaker", "breaker_of"]

_OPENS_AFTER: Final = {"timeout": 2, "rate_limited": 1, "permission_denied": 1, "context_overflow": 2}
_OTHERS_OPEN_AFTER: Final = 3
_COOLDOWNS: Final = {
    "timeout": 30.0,
    "rate_limited": 60.0,
    "permission_denied": 300.0,
    "context_overflow": 30.0,
    "mutation_failed": 15.0,
    "syntax_error": 15.0,
    "runtime_error": 15.0,
}
_COOLDOWN: Final = 30.0
_LONGEST: Final = 300.0
_FORGETS_AFTER: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """Closed: tasks may come. Open until a time: none may. Half-open: the next one is a probe.

    `failures` counts those since the last success.
    """

    state: Literal["closed", "open", "half-open"] = "closed"
    failures: int = 0
    until: datetime | None = None
    because: str | None = None


def breaker_of(runs: Sequence[ExecutorRun], *, now: datetime) -> Breaker:
    """Return the state after these runs of one executor, oldest first.

    A failed probe doubles the time, up to 300 s; what happened more than an hour ago is forgotten.
    """
    failures, until, cooldown, because, last = 0, None, 0.0, None, None
    for run in runs:
        if last is not None and run.at - last > _FORGETS_AFTER:
            failures, until, because = 0, None, None
        last = run.at
        if run.outcome == "success":
            failures, until, because = 0, None, None
            continue
        failures += 1
        kind = run.failure_class or "unknown"
        if until is not None:
            if run.at >= until:
                cooldown = min(_LONGEST, 2 * cooldown)
                until, because = run.at + timedelta(seconds=cooldown), kind
        elif failures >= _OPENS_AFTER.get(kind, _OTHERS_OPEN_AFTER):
            cooldown = _COOLDOWNS.get(kind, _COOLDOWN)
            until, because = run.at + timedelta(seconds=cooldown), kind
    if last is None or now - last > _FORGETS_AFTER:
        return Breaker()
    if until is None:
        return Breaker(failures=failures)
    state: Literal["open", "half-open"] = "open" if now < until else "half-open"
    return Breaker(state=state, failures=failures, until=until, because=because)
