"""Who may talk to the server over HTTP: the right Host and Origin, and the token where one is set."""

import hmac
from ipaddress import ip_address

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from zomem_graph.stores.errors import InvalidInput

__all__ = ["TRUSTED", "Guard", "check_token", "is_loopback", "names_of"]

TRUSTED = "zomem.trusted"  # in a request's scope: whether it carried the token, or none is needed
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ANYWHERE = frozenset({"0.0.0.0", "::", ""})
_SHORT = 16


class Guard:
    """Stands before every path: 421 for a foreign Host, 403 for a foreign Origin, 401 without the token.

    A page in a browser can make it call a loopback address under another name; Host and Origin give it away.
    """

    def __init__(
        self, app: ASGIApp, *, token: str | None, hosts: tuple[str, ...], open_paths: frozenset[str]
    ) -> None:
        self._app = app
        self._token = token
        self._open = open_paths
        self._names = TransportSecurityMiddleware(
            TransportSecuritySettings(
                allowed_hosts=[name for host in hosts for name in (host, f"{host}:*")],
                allowed_origins=[
                    f"{scheme}://{name}"
                    for scheme in ("http", "https")
                    for host in hosts
                    for name in (host, f"{host}:*")
                ],
            )
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal = await self._names.validate_request(Request(scope)) or self._without_token(scope)
        await (refusal or self._app)(scope, receive, send)

    def _without_token(self, scope: Scope) -> Response | None:
        trusted = self._token is None or _carries(Headers(scope=scope).get("authorization", ""), self._token)
        scope[TRUSTED] = trusted
        if trusted or scope["path"] in self._open:
            return None
        message = "Send the header `Authorization: Bearer TOKEN` with the value of ZO_MEMORY_MCP_TOKEN."
        return JSONResponse(
            {"error": "invalid_token", "error_description": message},
            401,
            {"WWW-Authenticate": 'Bearer realm="zomem"'},
        )


def _carries(header: str, token: str) -> bool:
    kind, _, given = header.partition(" ")
    # Compared in constant time, so that the answer's delay tells nothing of the token.
    right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode("utf-8", "replace"))
    return kind.lower() == "bearer" and right


def check_token(token: str | None, *, host: str) -> str | None:
    """Return a note about a token, None when it is fine. Raises InvalidInput where it must not be so."""
    if token is not None and not token.strip():
        raise InvalidInput("ZO_MEMORY_MCP_TOKEN is blank. Unset it, or set a long random text.")
    if token is None and not is_loopback(host):
        raise InvalidInput(
            f"{host} can be reached from other machines, so a token is needed. Set ZO_MEMORY_MCP_TOKEN to a long "
            "random text, or listen on 127.0.0.1."
        )
    if token is not None and len(token) < _SHORT:
        return f"ZO_MEMORY_MCP_TOKEN has {len(token)} characters and can be guessed; {_SHORT} or more are better"
    return None


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def names_of(host: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names under which a server may be called: loopback, its own address and what was allowed."""
    own = () if host in _ANYWHERE else (f"[{host}]" if ":" in host and not host.startswith("[") else host,)
    return tuple(dict.fromkeys((*_LOOPBACK, *own, *allowed)))
