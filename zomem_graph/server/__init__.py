"""Memory over the Model Context Protocol: tools, the two transports, and what runs beside them.

The names here are loaded when first used; they need the extra `mcp` and say so when it is missing.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from zomem_graph.stores.errors import InvalidInput

if TYPE_CHECKING:
    from zomem_graph.server.guard import check_token
    from zomem_graph.server.http import ServeOptions, create_app, listen, serve
    from zomem_graph.server.stdio import serve_stdio
    from zomem_graph.server.toolbox import create_server

__all__ = [
    "ServeOptions",
    "check_token",
    "create_app",
    "create_server",
    "listen",
    "serve",
    "serve_stdio",
    "what_is_missing",
]

_HOMES = {
    "ServeOptions": "http",
    "check_token": "guard",
    "create_app": "http",
    "create_server": "toolbox",
    "listen": "http",
    "serve": "http",
    "serve_stdio": "stdio",
}
_NEEDED = ("mcp", "starlette", "uvicorn")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if (missing := what_is_missing()) is not None:
        raise InvalidInput(missing)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def what_is_missing() -> str | None:
    """Return which packages a server lacks here, with the cure; None when it can start."""
    missing = [package for package in _NEEDED if find_spec(package) is None]
    return f'{", ".join(missing)} not installed. Run: pip install "zomem-graph[mcp]"' if missing else None
