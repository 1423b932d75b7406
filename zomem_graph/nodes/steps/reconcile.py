"""Bring everything derived back in step with the tables: vectors, index, unread conversations, caches."""

from collections.abc import Callable, Iterator

from zomem_graph.nodes.care_values import StepReport
from zomem_graph.nodes.flow import Failed, Flow, attempt, work
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.steps.embed import add_missing_tokens, embed_pending, feed_and_heal
from zomem_graph.nodes.steps.extract import extract_due
from zomem_graph.nodes.steps.forget import finish_erasures
from zomem_graph.nodes.steps.upkeep import Round

__all__ = ["reconcile"]

_VECTORS_CACHED = 50_000  # spec T11
_MOST_READ = 100  # conversations a run that wait for the model


def reconcile(services: Services, this: Round) -> Flow[StepReport]:
    """Finish what was cut short, embed, feed and mend the index, let the model read; nothing here is a change.

    What fails is noted and stops nothing else.
    """
    if this.dry_run:
        waiting = yield from work(lambda: _waiting(services))
        return StepReport(step="reconcile", counts=waiting)
    counts: dict[str, int] = {}
    notes: list[str] = []
    for name, call in _calls(services):
        done = yield from attempt(work(call))
        if isinstance(done, Failed):
            notes.append(f"{name}: {done.error}")
        elif done:
            counts[name] = done
    read = yield from attempt(extract_due(services, limit=_MOST_READ))
    if isinstance(read, Failed):
        notes.append(f"conversations read: {read.error}")
    elif read.model:
        counts["facts read"] = read.facts
        notes += read.degraded
    return StepReport(step="reconcile", counts=counts, notes=tuple(notes))


def _calls(services: Services) -> Iterator[tuple[str, Callable[[], int]]]:
    batch = services.options.write.embed_batch
    yield "erasures finished", lambda: finish_erasures(services)
    yield "texts embedded", lambda: _all_of(lambda: embed_pending(services, limit=batch))
    yield "token vectors added", lambda: _all_of(lambda: add_missing_tokens(services, limit=batch))
    yield "changes indexed", lambda: feed_and_heal(services)
    yield "cached vectors dropped", lambda: _cap_cache(services)


def _all_of(step: Callable[[], int]) -> int:
    total = 0
    while (done := step()) > 0:
        total += done
    return total


def _cap_cache(services: Services) -> int:
    with services.stores.write() as unit:
        return unit.care.cap_vector_cache(_VECTORS_CACHED)


def _waiting(services: Services) -> dict[str, int]:
    embedder = services.embedder
    with services.stores.read() as unit:
        counts = {
            "changes wait for the index": unit.outbox.depth(),
            "conversations wait for the model": unit.journal.queue_depth().get("waiting", 0),
            "texts wait for a vector": 0 if embedder is None else unit.unembedded.count(embedder=embedder.identity),
        }
    return {name: count for name, count in counts.items() if count}
