"""The verbs of `Memory` that look after it by themselves: maintenance and its undo. `Memory` inherits them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from zomem_graph.nodes.care_values import MOST_CHANGES, MaintenanceReport, UndoReport
from zomem_graph.nodes.flow import arun, run
from zomem_graph.nodes.ports import Embedder, Services
from zomem_graph.nodes.rules.given import callback
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.journal import EMBEDDER_KEY
from zomem_graph.stores.vector_cache import SqlVectorCache

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

__all__ = ["Care"]


class _Opened(Services, Protocol):
    """What these verbs need of the memory they are part of."""

    settings: Settings

    def _change_over(self, embedder: Embedder) -> None: ...

    def flush(self, *, progress: Callable[[int, int], None] | None = None) -> int: ...

    def _check_open(self) -> None: ...


class Care:
    """Let time do its work, and take it back. `Memory` inherits it."""

    def maintain(
        self: _Opened,
        *,
        dry_run: bool = False,
        only: str | Sequence[str] | None = None,
        max_changes: int = MOST_CHANGES,
        allow_permanent: bool = False,
    ) -> MaintenanceReport:
        """Run maintenance once: expire, tiers, merge, loops, summaries, reconcile; `only` names some of them.

        Archives and never deletes; the report has every change with its reason, and `maintain_undo` takes them
        back. Running it daily, weekly or twice leads to the same. Raises MaintenanceBusy when it runs already.
        """
        from zomem_graph.nodes.steps.maintain import Upkeep, maintain

        self._check_open()
        wanted = Upkeep.read(dry_run=dry_run, only=only, max_changes=max_changes, allow_permanent=allow_permanent)
        return run(maintain(self, wanted))

    async def amaintain(
        self: _Opened,
        *,
        dry_run: bool = False,
        only: str | Sequence[str] | None = None,
        max_changes: int = MOST_CHANGES,
        allow_permanent: bool = False,
    ) -> MaintenanceReport:
        """Do the same as `maintain` without blocking the event loop."""
        from zomem_graph.nodes.steps.maintain import Upkeep, maintain

        self._check_open()
        wanted = Upkeep.read(dry_run=dry_run, only=only, max_changes=max_changes, allow_permanent=allow_permanent)
        return await arun(maintain(self, wanted))

    def maintain_undo(self: _Opened) -> UndoReport:
        """Take back the last run of maintenance that changed something; calling it again goes one run further.

        What was changed since stays as it is and is told. Raises InvalidInput when there is nothing to undo.
        """
        from zomem_graph.nodes.steps.undo import undo_last

        self._check_open()
        return undo_last(self)

    def change_embedder(
        self: _Opened,
        embeddings: "str | Embedder | Embeddings",
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Make the vectors of everything anew with another embedder, which is this store's from now on.

        Return how many changes the index took; `progress` is called with (done, total) texts. It is asked before
        anything is changed; what is interrupted goes on with the next `flush`. Memories that other processes have
        open search by words until they are opened again. Raises InvalidInput, ModelMissing or ModelError.
        """
        from zomem_graph.models import resolve_embedder

        self._check_open()
        callback("progress", progress)
        if embeddings is None:
            raise InvalidInput("name an embedder, as provider:model or as an object.")
        embedder, _notes = resolve_embedder(
            embeddings, self.settings, cache=SqlVectorCache(self.stores.database, self.clock)
        )
        if embedder is None:
            raise InvalidInput('"none" makes no vectors. To go by words only set ZO_MODEL_EMBEDDING=none.')
        with self.stores.read() as unit:
            recorded = unit.journal.meta(EMBEDDER_KEY)
        if embedder.identity == recorded and not isinstance(embeddings, str):
            raise InvalidInput(
                f"the vectors are of {recorded} already; an object of that name cannot be told from it."
            )
        embedder.embed_documents(["Does it answer?"])
        with self.stores.write() as unit:
            unit.journal.set_meta(EMBEDDER_KEY, embedder.identity)
        self._change_over(embedder)
        return self.flush(progress=progress)
