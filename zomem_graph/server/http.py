"""Memory over HTTP, one app: /mcp, /health, /metrics, and the upkeep beside them."""

import asyncio
import json
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from time import monotonic
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from zomem_graph.memory import Memory
from zomem_graph.metrics import as_prometheus
from zomem_graph.nodes.values import plain
from zomem_graph.server.guard import TRUSTED, Guard, names_of
from zomem_graph.server.prometheus import counted_lines
from zomem_graph.server.tally import Tally
from zomem_graph.server.toolbox import TOOLS, create_server
from zomem_graph.server.upkeep import Upkeep
from zomem_graph.stores.errors import InvalidInput

__all__ = ["ServeOptions", "create_app", "listen", "serve"]

_HEALTH_SECONDS = 5.0  # how long an answer of /health is good for
_GRACE_SECONDS = 5
_LARGEST_BODY = 8 * 1024 * 1024  # bytes
_STOPS = (signal.SIGINT, signal.SIGTERM)
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_STATUS = {"green": "ok", "yellow": "degraded", "red": "failing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Where and how to serve. `upkeep_seconds` 0 leaves the upkeep to others; `persona` holds all calls to it."""

    host: str = "127.0.0.1"
    token: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    persona: str | None = None
    upkeep_seconds: float = 3_600.0


def create_app(
    memory: Memory, options: ServeOptions | None = None, *, say: Callable[[str], None] = lambda _line: None
) -> Starlette:
    """Return the ASGI app over one memory, which stays the caller's to close."""
    chosen = options or ServeOptions()
    tally = Tally()
    server = create_server(memory, persona=chosen.persona, tally=tally)
    # Without sessions a client survives a restart of the server, and one that goes away leaves nothing behind.
    inner = server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=_LARGEST_BODY,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard does it
    )
    upkeep = Upkeep(memory, every_seconds=chosen.upkeep_seconds, say=say) if chosen.upkeep_seconds else None
    pages = _Pages(memory, tally, upkeep)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with inner.router.lifespan_context(inner):
            rounds = asyncio.create_task(upkeep.run()) if upkeep is not None else None
            try:
                yield
            finally:
                if rounds is not None:
                    rounds.cancel()
                    with suppress(asyncio.CancelledError):
                        await rounds

    guard = Middleware(
        Guard,
        token=chosen.token,
        hosts=names_of(chosen.host, chosen.allowed_hosts),
        open_paths=frozenset({"/health"}),
    )
    routes = [
        Route("/health", pages.health),
        Route("/metrics", pages.metrics),
        Route("/mcp", _nothing_to_follow, methods=["GET"]),
        Mount("/", inner),
    ]
    return Starlette(routes=routes, middleware=[guard], lifespan=lifespan)


async def _nothing_to_follow(_request: Request) -> Response:
    """Refuse a stream of the server's own messages, as the protocol lets a server that sends none."""
    return PlainTextResponse("There is no stream to follow here: send each request by POST.", 405, {"Allow": "POST"})


class _Pages:
    """The two pages beside /mcp."""

    def __init__(self, memory: Memory, tally: Tally, upkeep: Upkeep | None) -> None:
        self._memory = memory
        self._tally = tally
        self._upkeep = upkeep
        self._asking = asyncio.Lock()
        self._known: tuple[float, str, list[Any]] | None = None

    async def health(self, request: Request) -> Response:
        """Answer whether memory works; who has no token learns no more than that."""
        status, checks = await self._checked()
        document: dict[str, Any] = {"status": _STATUS[status], "version": version("zomem-graph")}
        if request.scope[TRUSTED]:
            document |= {
                "db": self._memory.stores.database.place,
                "tools": len(TOOLS),
                "running": self._tally.running,
                "calls": self._tally.calls,
                "upkeep": self._upkeep_told(),
                "checks": checks,
            }
        body = json.dumps(document, indent=2, default=str)
        return Response(body, 503 if status == "red" else 200, media_type="application/json")

    async def metrics(self, _request: Request) -> Response:
        """Answer counts as Prometheus reads them."""
        lines = await asyncio.to_thread(
            lambda: [*counted_lines(self._memory), *as_prometheus(self._memory.metrics()).splitlines()]
        )
        return PlainTextResponse("\n".join([*lines, *self._tally.lines(), ""]), media_type=_PROMETHEUS)

    async def _checked(self) -> tuple[str, list[Any]]:
        async with self._asking:  # a hundred probes at once are one look
            if self._known is None or monotonic() - self._known[0] > _HEALTH_SECONDS:
                report = await asyncio.to_thread(self._memory.health, quick=True)
                self._known = (monotonic(), report.status, plain(list(report.checks)))
            return self._known[1:]

    def _upkeep_told(self) -> dict[str, Any] | None:
        if self._upkeep is None:
            return None
        return {"rounds": self._upkeep.rounds, "last": self._upkeep.last, "error": self._upkeep.error}


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 is any free one. Raises InvalidInput with what to do."""
    if not 0 <= port <= 65_535:
        raise InvalidInput(f"port must be from 0 to 65535, not {port}.")
    bare = host.strip("[]")
    try:
        family = socket.getaddrinfo(bare, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((bare, port), family=family, backlog=256)
    except socket.gaierror as error:
        raise InvalidInput(f"host {host!r:.80} is not an address of this machine: {error.strerror}.") from error
    except PermissionError as error:
        raise InvalidInput(f"port {port} may not be used by this user. Choose one from 1024 on.") from error
    except OSError as error:
        raise InvalidInput(
            f"port {port} on {host} cannot be used: {error.strerror}. Stop what listens there, or give --port."
        ) from error


def serve(app: Starlette, at: socket.socket) -> None:
    """Answer on a socket until the process is told to stop (Ctrl-C, SIGTERM)."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = uvicorn.Server(config)
    with at, _stopping_is_no_error():
        server.run(sockets=[at])
    if not server.started:
        raise InvalidInput("the server could not start; the lines above say why.")


@contextmanager
def _stopping_is_no_error() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the block and nothing more: uvicorn raises them once again after its own end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda _number, _frame: None) for number in _STOPS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
