"""`memory.checkpoints`: where tasks stand, saved and taken up again (spec F78)."""

from collections.abc import Sequence

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import choice, if_given, whole
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.checkpoints import NewCheckpoint, readable_checkpoints, save_task, take_up
from zomem_graph.stores.checkpoint_files import Checkpoint
from zomem_graph.subjects.picking import pick

__all__ = ["Checkpoints"]

_KINDS = ("task", "budget")
_Listed = list[Checkpoint]  # inside the class `list` is the verb


class Checkpoints:
    """Saved states of tasks, one file each in HOME/checkpoints; every verb sees only what the scope may read."""

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    def save(
        self,
        intent: str,
        *,
        state: str = "",
        expected_outcome: str = "",
        working_files: Sequence[str] = (),
        scope: Scope | None = None,
    ) -> Checkpoint:
        """Save where a task stands, with what is open; recall knows it for four hours.

        Raises InvalidInput or SecretRefused; then nothing was saved.
        """
        new = NewCheckpoint(
            intent=intent, state=state, expected_outcome=expected_outcome, working_files=working_files
        ).checked(self._memory.options.write)
        return save_task(self._memory, new, scope_given(scope))

    def list(self, *, kind: str | None = None, limit: int = 10, scope: Scope | None = None) -> _Listed:
        """Return checkpoints, newest first; `kind` is task (saved by hand) or budget (the prompt was filling up)."""
        if_given(choice, "kind", kind, known=_KINDS)
        limit = whole("limit", limit, least=1)
        found = readable_checkpoints(self._memory, scope_given(scope))
        return [one for one in found if kind in (None, one.kind)][:limit]

    def load(self, id: str, *, scope: Scope | None = None) -> Checkpoint:  # noqa: A002  # the name users know
        """Return one checkpoint, by its id or how that begins. Raises UnknownName with the nearest."""
        found = readable_checkpoints(self._memory, scope_given(scope))
        return pick(
            id,
            what="checkpoint",
            starting_with=lambda prefix: [one for one in found if one.id.startswith(prefix)][:2],
            known=lambda: found,
            title=lambda one: one.intent,
        )

    def restore(self, id: str, *, scope: Scope | None = None) -> Checkpoint:  # noqa: A002  # as above
        """Take a task up again: recall knows its state as of now. Returns it, with `text` for a prompt."""
        who = scope_given(scope)
        checkpoint = self.load(id, scope=who)
        take_up(self._memory, checkpoint, who)
        return checkpoint
