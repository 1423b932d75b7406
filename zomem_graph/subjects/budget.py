"""`memory.budget`: how full the prompt of a thread is (spec F76)."""

from dataclasses import replace

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import whole
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.context import BudgetStatus, new_budget, status_of, with_use
from zomem_graph.stores.errors import UnknownName

__all__ = ["ContextBudgets"]

_MOST = 1_000_000_000  # tokens of one operation


class ContextBudgets:
    """The budgets of threads; each verb is about the thread of its scope, or about all that name none.

    Recall keeps to a budget that is set: its block takes what is left below the critical line, and the
    conversation it is given is counted.
    """

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    def init(
        self, max_tokens: int = 8_000, *, warn_at: float = 0.7, critical_at: float = 0.9, scope: Scope | None = None
    ) -> BudgetStatus:
        """Set a budget, empty, in place of the one there was."""
        fresh = new_budget(
            scope_given(scope),
            max_tokens=max_tokens,
            warn_at=warn_at,
            critical_at=critical_at,
            now=self._memory.clock(),
        )
        with self._memory.stores.write() as unit:
            unit.budgets.put(fresh)
        return status_of(fresh)

    def status(self, *, scope: Scope | None = None) -> BudgetStatus | None:
        """Return how full the prompt is, None when no budget is set."""
        who = scope_given(scope)
        with self._memory.stores.read() as unit:
            found = unit.budgets.find(who.persona, who.thread)
        return None if found is None else status_of(found)

    def track(self, tokens_in: int, tokens_out: int = 0, *, scope: Scope | None = None) -> BudgetStatus:
        """Add what an operation put into the prompt, and return the state with the alarm that rings.

        Raises UnknownName when no budget is set.
        """
        tokens_in = whole("tokens_in", tokens_in, least=0, most=_MOST)
        tokens_out = whole("tokens_out", tokens_out, least=0, most=_MOST)
        who, now = scope_given(scope), self._memory.clock()
        with self._memory.stores.write() as unit:
            found = unit.budgets.find(who.persona, who.thread)
            if found is None:
                raise UnknownName(_none_is_set(who))
            changed, alarm = with_use(found, found.used + tokens_in + tokens_out, now)
            unit.budgets.put(changed)
        return status_of(changed, alarm)

    def reset(self, *, scope: Scope | None = None) -> BudgetStatus:
        """Count from zero again, with the alarms armed. Raises UnknownName when no budget is set."""
        who, now = scope_given(scope), self._memory.clock()
        with self._memory.stores.write() as unit:
            found = unit.budgets.find(who.persona, who.thread)
            if found is None:
                raise UnknownName(_none_is_set(who))
            unarmed = replace(found, used=0, warning_fired=False, critical_fired=False, saved=False, updated_at=now)
            unit.budgets.put(unarmed)
        return status_of(unarmed)


def _none_is_set(scope: Scope) -> str:
    thread = f" in the thread {scope.thread!r:.80}" if scope.thread else ""
    return f"No budget is set for {scope.persona!r:.80}{thread}. Set one: memory.budget.init(), or zomem budget init."
