"""Measure a step and write it down: the one place where metrics come from (spec F81)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.scope import Scope
from zomem_graph.stores.errors import StoreError
from zomem_graph.stores.metric_records import Operation

__all__ = ["Measured", "measured", "write_metrics"]

_WRITE_AT = 500  # waiting notes at which the worker is told


@dataclass(slots=True)
class Measured:
    """What a step says about itself while it is measured. `name` may be made more precise on the way."""

    name: str
    results: int = 0
    imagined: bool = False


@contextmanager
def measured(services: Services, name: str, scope: Scope) -> Iterator[Measured]:
    """Time a block, waiting and asking included, and remember it; nothing is written here."""
    one, failed, started = Measured(name), True, perf_counter()
    try:
        yield one
        failed = False
    finally:
        ledger = services.stores.ledger
        ledger.add(
            Operation(
                name=one.name,
                persona=scope.persona,
                latency_ms=(perf_counter() - started) * 1_000,
                results=one.results,
                imagined=one.imagined,
                failed=failed,
                created_at=services.clock(),
            )
        )
        if len(ledger) % _WRITE_AT == 0:
            services.wake_worker()


def write_metrics(services: Services) -> None:
    """Write down what nobody has written along with something else; what cannot be written now waits."""
    if len(services.stores.ledger):
        try:
            with services.stores.write(hasty=True):
                pass
        except StoreError:
            return  # a memory that cannot be written still answers, and health says why
