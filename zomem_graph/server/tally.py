"""How often each tool was called, how often it failed and how long it took; shown by /metrics."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

__all__ = ["Tally"]

_BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Tally:
    """Counts of one server; all of them are changed on its event loop alone."""

    def __init__(self) -> None:
        self.running = 0
        self._calls: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self._within: Counter[tuple[str, float]] = Counter()

    @property
    def calls(self) -> int:
        """How many calls have ended."""
        return self._calls.total()

    @contextmanager
    def call(self, tool: str) -> Iterator[None]:
        """Count one call, and its error when the block raises."""
        began = perf_counter()
        self.running += 1
        failed = True
        try:
            yield
            failed = False
        finally:
            self.running -= 1
            taken = perf_counter() - began
            self._calls[tool] += 1
            self._errors[tool] += failed
            self._seconds[tool] += taken  # type: ignore[assignment]  # a Counter of seconds
            for bound in _BOUNDS:
                self._within[tool, bound] += taken <= bound

    def lines(self) -> Iterator[str]:
        """Yield the counts as Prometheus reads them."""
        yield "# HELP zomem_mcp_running Tool calls that are being answered."
        yield "# TYPE zomem_mcp_running gauge"
        yield f"zomem_mcp_running {self.running}"
        yield "# HELP zomem_mcp_errors_total Tool calls that ended with an error."
        yield "# TYPE zomem_mcp_errors_total counter"
        yield from (f'zomem_mcp_errors_total{{tool="{tool}"}} {self._errors[tool]}' for tool in sorted(self._calls))
        yield "# HELP zomem_mcp_call_seconds How long tool calls took."
        yield "# TYPE zomem_mcp_call_seconds histogram"
        for tool in sorted(self._calls):
            for bound in _BOUNDS:
                yield f'zomem_mcp_call_seconds_bucket{{tool="{tool}",le="{bound}"}} {self._within[tool, bound]}'
            yield f'zomem_mcp_call_seconds_bucket{{tool="{tool}",le="+Inf"}} {self._calls[tool]}'
            yield f'zomem_mcp_call_seconds_sum{{tool="{tool}"}} {self._seconds[tool]:.6f}'
            yield f'zomem_mcp_call_seconds_count{{tool="{tool}"}} {self._calls[tool]}'
