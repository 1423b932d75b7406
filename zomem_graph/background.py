"""What a memory does between calls and at its end: embed, feed the index, mend it, let the model read."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic

from zomem_graph.nodes.flow import run
from zomem_graph.nodes.ports import Services, token_model
from zomem_graph.nodes.rules.given import names
from zomem_graph.nodes.steps.vault_following import tell_vault
from zomem_graph.stores.errors import ZomemError
from zomem_graph.worker import Soon, Worker

__all__ = ["Background"]


class Background:
    """The work that waits; done by one thread where the options let it, and by `close`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._worker = Worker(self._work_once)
        self._soon = Soon()
        self._wrote = False
        self._healed = False
        self._unfed = 0
        self._before = 0  # the number of the newest item when this memory was opened

    @property
    def error(self) -> ZomemError | None:
        """What failed last, None when nothing did since; health shows it."""
        return self._worker.last_error

    def begin(self) -> None:
        """Go on with what another process left; called when a memory is opened."""
        with self._services.stores.read() as unit:
            self._before = unit.unembedded.newest()
        if self._services.options.write.background and self._something_waits():
            self._worker.wake()

    def wake(self) -> None:
        """Say that something was written and waits."""
        tell_vault(self._services)
        self._wake()

    def _wake(self) -> None:
        self._wrote = True
        self._unfed = 0
        if self._services.options.write.background:
            self._worker.wake()

    def wrote(self, ids: Sequence[str]) -> None:
        """Embed a small write before it returns, so that meaning finds it at once; leave the rest.

        At most `embed_seconds`: with a long text, or a model that is slow, it goes on without the caller.
        """
        ids = names("ids", ids)
        tell_vault(self._services)
        write, first = self._services.options.write, not self._wrote
        self._wrote = True
        self._unfed += len(ids)
        if 0 < len(ids) <= write.embed_inline:
            done = self._soon.done(lambda: self._embed(ids), seconds=write.embed_seconds)
            if done and not first and self._unfed < write.drain_at:
                return
        self._wake()

    def unembedded(self) -> int:
        """Return how many texts wait for a vector."""
        embedder = self._services.embedder
        if embedder is None:
            return 0
        with self._services.stores.read() as unit:
            return unit.unembedded.count(embedder=embedder.identity)

    def embed_everything(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Embed what waits; `progress` is called with (done, total). Raises ModelError."""
        total = self.unembedded() if progress is not None else 0
        done = 0
        while (step := self._embed_some()) > 0:
            done += step
            if progress is not None:
                progress(done, max(total, done))

    def close(self) -> None:
        """Go on with what this memory wrote, for about `close_seconds`; a model that hangs is left."""
        until = monotonic() + self._services.options.write.close_seconds
        self._worker.stop(seconds=until - monotonic())
        self._soon.end(seconds=until - monotonic())
        if not self._wrote:
            return
        from zomem_graph.nodes.steps.embed import feed_index

        def over() -> bool:
            return monotonic() >= until

        def embed_own() -> None:
            while not over() and self._embed_some(after=self._before):
                pass

        def feed() -> int:
            return feed_index(self._services, everything=True, enough=over)

        def embed_in_time() -> None:
            self._soon.done(embed_own, seconds=max(0.0, until - monotonic()))

        for step in (embed_in_time, feed, self._tend):
            with suppress(ZomemError):  # what is left waits in the database; the next open converges
                step()

    def _embed(self, ids: Sequence[str]) -> None:
        """Embed these and no others."""
        from zomem_graph.nodes.steps.embed import embed_pending

        left = len(ids)
        while left > 0 and (step := embed_pending(self._services, limit=left, ids=ids)) > 0:
            left -= step

    def _embed_some(self, *, after: int = 0) -> int:
        from zomem_graph.nodes.steps.embed import embed_pending

        return embed_pending(self._services, limit=self._services.options.write.embed_batch, after=after)

    def _something_waits(self) -> bool:
        if self.unembedded():
            return True
        model = token_model(self._services.embedder)
        with self._services.stores.read() as unit:
            if model is not None and unit.tokens.pending(model=model.identity, limit=1):
                return True
            due = unit.outbox.depth() >= self._services.options.write.drain_at
            return due or bool(unit.journal.queue_depth().get("waiting"))

    def _work_once(self) -> bool:
        """Do one round of what waits; return whether there may be more. What fails stops nothing else."""
        from zomem_graph.nodes.steps.embed import feed_index

        return _each(self._embed_some, lambda: feed_index(self._services), self._tend)

    def _tend(self) -> bool:
        """Do one round of what is neither embedding nor indexing."""
        from zomem_graph.nodes.steps.embed import add_missing_tokens
        from zomem_graph.nodes.steps.metrics import write_metrics

        return _each(
            lambda: add_missing_tokens(self._services, limit=self._services.options.write.embed_batch),
            self._heal_once,
            lambda: write_metrics(self._services),
            self._extract_one,
        )

    def _heal_once(self) -> None:
        """Rebuild what of the index is damaged; once a process, so that a bad disk is not rebuilt for ever."""
        index = self._services.stores.index
        if not self._healed and index.state().faults:
            self._healed = True
            index.heal()

    def _extract_one(self) -> bool:
        from zomem_graph.nodes.steps.extract import extract_due

        return bool(run(extract_due(self._services, limit=1)).model)


def _each(*steps: Callable[[], object]) -> bool:
    """Do each step, whatever fails before it; return whether one did something. Raises the first failure."""
    failures: list[ZomemError] = []
    more = False
    for step in steps:
        try:
            more = bool(step()) or more
        except ZomemError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return more
