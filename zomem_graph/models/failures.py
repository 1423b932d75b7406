"""Turns whatever a provider's client raises into one of our errors, naming provider and cure."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from zomem_graph.nodes.rules.controls import without_controls
from zomem_graph.stores.errors import ModelError, ModelTimeout, ZomemError

__all__ = ["RequestRefused", "provider_errors", "timed_out"]

_LONGEST_DETAIL = 300
_SECRETS = re.compile(r"\b(sk|pk|key)-[\w*\-.]{4,}|Bearer\s+\S+", re.IGNORECASE)


class RequestRefused(ModelError):
    """The provider understood the request and will not serve it as it is (400, 422)."""


@contextmanager
def provider_errors(who: str) -> Iterator[None]:
    """Turn every failure inside into a ModelError that names `who`; our own errors pass."""
    try:
        yield
    except ZomemError:
        raise
    # Foreign code: each provider's client has errors of its own, and they share no root.
    except Exception as error:
        raise _translated(error, who) from error


def timed_out(who: str, *, seconds: float) -> ModelTimeout:
    """Return the error for a model that did not answer within its deadline."""
    return ModelTimeout(f"{who} did not answer within {seconds:g} s. Try again or allow it more time.")


def _translated(error: Exception, who: str) -> ModelError:
    status = getattr(error, "status_code", None)
    if status == 429:
        wait = _retry_after(error)
        when = f" It asks to wait {wait} s." if wait else " Wait a little or raise the limit."
        return ModelError(f"{who} refused the call: rate limit or quota reached (429).{when}")
    if status in {401, 403}:
        return ModelError(f"{who} refused the key ({status}). Check the API key and what it may use.")
    if status == 404:
        return ModelError(f"{who} is not known there (404). Check the model's name and the base URL.")
    if any("Timeout" in kind.__name__ for kind in type(error).__mro__):
        return ModelTimeout(f"{who} did not answer in time ({type(error).__name__}). Try again.")
    kind = RequestRefused if status in {400, 422} else ModelError
    return kind(f"{who} failed: {_detail(error)}")


def _retry_after(error: Exception) -> str:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return str(headers.get("retry-after", "")) if headers is not None else ""


def _detail(error: Exception) -> str:
    said = " ".join(without_controls(str(error)).split()) or "no reason given"
    return f"{type(error).__name__}: {_SECRETS.sub('***', said)[:_LONGEST_DETAIL]}"
