"""Chooses the chat model of a workload: what was asked for, else the settings, else OpenAI with a key."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, TypeGuard, cast
from urllib.parse import urlsplit

from zomem_graph.models.call_log import CallLog, LoggedChat
from zomem_graph.models.chat import LangChainChat
from zomem_graph.models.deadlines import MODEL_DEADLINE_SECONDS
from zomem_graph.models.integrations import integrated_chat
from zomem_graph.models.specs import ModelSpec
from zomem_graph.nodes.ports import ChatModel, Clock
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import InvalidInput, ModelMissing

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["check_chat_model", "resolve_chat"]

_OPENAI_DEFAULT = "openai:gpt-4o-mini"


def resolve_chat(
    spec: "str | ChatModel | BaseChatModel | None",
    settings: Settings,
    workload: str,
    *,
    log: CallLog | None = None,
    clock: Clock | None = None,
) -> ChatModel | None:
    """Return the chat model of a workload ("gate", "hyde", …), None when there is none.

    `spec` is "provider:model", "none", an object, or None for the settings' choice; without one it
    is gpt-4o-mini when a key is set. Nothing heavy is imported before the first question. Raises
    ModelMissing when a choice cannot be had, InvalidInput when it makes no sense.
    """
    wanted = settings.model_for(workload) if spec is None else spec
    if wanted is None:
        if not settings.openai_api_key:
            return None
        wanted = _OPENAI_DEFAULT
    connected = partial(LangChainChat, log=log, clock=clock)
    if isinstance(wanted, str):
        return _named(ModelSpec.read(wanted), settings, connected)
    if _speaks_our_protocol(wanted):
        return wanted if log is None else LoggedChat(wanted, log, clock or partial(datetime.now, UTC))
    return _wrapped(cast("BaseChatModel", wanted), connected)


def check_chat_model(given: object) -> None:
    """Raise InvalidInput for what can be no chat model; nothing heavy is imported for it."""
    if isinstance(given, str):
        ModelSpec.read(given)
    elif given is not None and not hasattr(given, "ask") and not hasattr(given, "invoke"):
        raise InvalidInput(_no_chat_model(given))


def _no_chat_model(given: object) -> str:
    return f"{type(given).__name__} is no chat model: pass provider:model or a LangChain chat model."


def _named(spec: ModelSpec, settings: Settings, connected: Callable[..., LangChainChat]) -> LangChainChat | None:
    if spec.is_none:
        return None
    if spec.provider != "openai":
        model = integrated_chat(spec)
        return connected(lambda: model, identity=str(spec))
    key, base_url = settings.openai_api_key, settings.openai_base_url
    if not key and not base_url:
        raise ModelMissing(f"{spec} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of yours.")
    build = partial(_openai_chat, spec.model, api_key=key or "none", base_url=base_url)
    # An OpenAI-compatible server calls itself openai too; the log names the one that answers.
    provider = f"openai@{urlsplit(base_url).netloc.rpartition('@')[2]}" if base_url else "openai"
    return connected(build, identity=str(spec), provider=provider)


def _openai_chat(model: str, *, api_key: str, base_url: str | None) -> "BaseChatModel":
    import openai
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    # A connection that was kept from an event loop that is gone cannot be used again.
    limits = type(openai.DEFAULT_CONNECTION_LIMITS)(max_keepalive_connections=0)
    return ChatOpenAI(
        model=model,
        api_key=SecretStr(api_key),
        base_url=base_url,
        timeout=MODEL_DEADLINE_SECONDS,
        # The step that asks has a fallback at hand; waiting out a limit would only eat its deadline.
        max_retries=0,
        http_async_client=openai.DefaultAsyncHttpxClient(limits=limits),
    )


def _wrapped(given: "BaseChatModel", connected: Callable[..., LangChainChat]) -> LangChainChat:
    from langchain_core.language_models import BaseChatModel

    if not isinstance(given, BaseChatModel):
        raise InvalidInput(_no_chat_model(given))
    name = getattr(given, "model_name", None) or getattr(given, "model", None)
    kind = type(given).__name__
    return connected(lambda: given, identity=f"{kind}:{name}" if isinstance(name, str) else kind)


def _speaks_our_protocol(given: "ChatModel | BaseChatModel") -> TypeGuard[ChatModel]:
    return hasattr(given, "ask") and hasattr(given, "aask")
