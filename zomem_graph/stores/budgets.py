"""How full the prompt of each thread is."""

from sqlalchemy import Connection, bindparam, delete, select

from zomem_graph.stores import sql
from zomem_graph.stores.dialect import Dialect
from zomem_graph.stores.summary_records import ContextBudget

__all__ = ["Budgets"]

_t = sql.context_budgets.c
_KEY = ["persona", "thread"]
_FIND = select(sql.context_budgets).where(_t.persona == bindparam("persona"), _t.thread == bindparam("thread"))


class Budgets:
    """Reads and writes `context_budgets` within one transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    def find(self, persona: str, thread: str | None) -> ContextBudget | None:
        """Return the budget of a thread, None when none was set."""
        row = self._connection.execute(_FIND, {"persona": persona, "thread": thread or ""}).mappings().first()
        return None if row is None else ContextBudget(**row)

    def put(self, budget: ContextBudget) -> None:
        """Save a budget in place of the one its thread had."""
        row = {name: getattr(budget, name) for name in ContextBudget.__slots__}
        changed = [name for name in row if name not in _KEY]
        self._connection.execute(self._dialect.upsert(sql.context_budgets, _KEY, changed), [row])

    def remove(self, persona: str, thread: str | None) -> int:
        """Let a thread have no budget; return whether it had one."""
        where = (_t.persona == persona, _t.thread == (thread or ""))
        return self._connection.execute(delete(sql.context_budgets).where(*where)).rowcount
