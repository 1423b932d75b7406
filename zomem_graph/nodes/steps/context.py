"""Keep account of how full a prompt is while memory adds to it (spec F76-F78)."""

from dataclasses import dataclass, replace
from datetime import datetime

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.context import Alarms, Level, is_much, level_of, room, rung
from zomem_graph.nodes.rules.given import is_number, shown, whole
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.checkpoints import checkpoint_budget
from zomem_graph.nodes.steps.layout import Layout
from zomem_graph.nodes.values import Recollection
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.summary_records import ContextBudget
from zomem_graph.stores.unit import Unit

__all__ = ["BudgetStatus", "new_budget", "status_of", "with_use", "within_budget"]

_LEAST = 100  # tokens; less is no prompt
_MOST = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStatus:
    """How full the prompt of a thread is. `alarm` is what rings just now, `available` what memory may take."""

    persona: str
    thread: str
    max_tokens: int
    used: int
    share: float
    level: Level
    available: int
    warn_at: float
    critical_at: float
    updated_at: datetime
    alarm: Level | None = None


def new_budget(
    scope: Scope, *, max_tokens: int, now: datetime, warn_at: float = 0.7, critical_at: float = 0.9
) -> ContextBudget:
    """Return an empty budget; raise InvalidInput for what makes no sense."""
    max_tokens = whole("max_tokens", max_tokens, least=_LEAST, most=_MOST)
    numbers = all(is_number(at) for at in (warn_at, critical_at))
    if not numbers or not 0 < warn_at < critical_at <= 1:
        raise InvalidInput(
            f"0 < warn_at < critical_at <= 1 must hold, not {shown(warn_at)} and {shown(critical_at)}."
        )
    return ContextBudget(
        persona=scope.persona,
        thread=scope.thread or "",
        max_tokens=max_tokens,
        warn_at=float(warn_at),
        critical_at=float(critical_at),
        used=0,
        warning_fired=False,
        critical_fired=False,
        saved=False,
        updated_at=now,
    )


def within_budget(unit: Unit, services: Services, layout: Layout) -> Recollection:
    """Return the layout that fits beside the conversation, and write down what the prompt holds now.

    Without a budget nothing is counted and the layout stays as it is. When the critical line is crossed, or
    much found no room above the warning line, what memory has is saved once.
    """
    scope, now = layout.scope, services.clock()
    budget = _of_size(unit.budgets.find(scope.persona, scope.thread), scope, layout.limit, now)
    if budget is None:
        return layout.result
    counted = layout.counted()
    context = budget.used if counted is None else counted
    left = room(context, max_tokens=budget.max_tokens, critical_at=budget.critical_at)
    cramped = left < layout.result.tokens
    result = layout.again(left) if cramped else layout.result
    changed, alarm = with_use(budget, context + result.tokens, now)
    kept, dropped = _laid_out(result)
    saved = None
    due = alarm == "critical" or (changed.warning_fired and cramped and is_much(dropped, kept + dropped))
    if due and not changed.saved:
        saved = checkpoint_budget(
            unit, services, scope, layout.hits, result.hits, used=changed.used, limit=changed.max_tokens
        )
        changed = replace(changed, saved=saved is not None)
    unit.budgets.put(changed)
    status = status_of(changed, alarm)
    said = {
        "step": "budget",
        "level": status.level,
        "used": status.used,
        "max_tokens": status.max_tokens,
        "available": status.available,
        "alarm": alarm,
        "checkpoint": saved.id if saved is not None else None,
    }
    notes = [f"context budget {alarm}: {changed.used:,} of {changed.max_tokens:,} tokens"] if alarm else []
    return replace(result, trace=(*result.trace, said), degraded=(*result.degraded, *notes))


def _laid_out(result: Recollection) -> tuple[int, int]:
    """Return how many hits found room in a block and how many did not."""
    steps = [one for one in result.trace if one.get("step") == "compose"]
    return (int(steps[-1]["kept"]), int(steps[-1]["dropped"])) if steps else (0, 0)


def with_use(budget: ContextBudget, used: int, now: datetime) -> tuple[ContextBudget, Level | None]:
    """Return a budget with a new use, and the alarm that rings."""
    before = Alarms(warning=budget.warning_fired, critical=budget.critical_fired)
    after, alarm = rung(
        before, used, max_tokens=budget.max_tokens, warn_at=budget.warn_at, critical_at=budget.critical_at
    )
    changed = replace(
        budget,
        used=used,
        warning_fired=after.warning,
        critical_fired=after.critical,
        saved=budget.saved and after.warning,
        updated_at=now,
    )
    return changed, alarm


def status_of(budget: ContextBudget, alarm: Level | None = None) -> BudgetStatus:
    """Return how full a prompt is."""
    limits = {"max_tokens": budget.max_tokens, "critical_at": budget.critical_at}
    return BudgetStatus(
        persona=budget.persona,
        thread=budget.thread,
        max_tokens=budget.max_tokens,
        used=budget.used,
        share=round(budget.used / budget.max_tokens, 4),
        level=level_of(
            budget.used, max_tokens=budget.max_tokens, warn_at=budget.warn_at, critical_at=budget.critical_at
        ),
        available=room(budget.used, **limits),  # type: ignore[arg-type]  # an int and a float by name
        warn_at=budget.warn_at,
        critical_at=budget.critical_at,
        updated_at=budget.updated_at,
        alarm=alarm,
    )


def _of_size(found: ContextBudget | None, scope: Scope, limit: int | None, now: datetime) -> ContextBudget | None:
    if limit is None or (found is not None and found.max_tokens == limit):
        return found
    fresh = new_budget(scope, max_tokens=limit, now=now)
    return fresh if found is None else replace(found, max_tokens=limit)
