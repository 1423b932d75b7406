"""Asks a LangChain chat model: within a deadline and a token cap, priced, logged, waiting or awaiting."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

from zomem_graph.models.call_log import CallLog, call_line
from zomem_graph.models.deadlines import await_blocking, await_within, wait_within
from zomem_graph.models.failures import RequestRefused, provider_errors
from zomem_graph.models.prices import cost_usd
from zomem_graph.nodes.ports import Ask, Clock, Reply
from zomem_graph.stores.errors import ZomemError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import Runnable, RunnableConfig

    _Answer = tuple[AIMessage, str]

__all__ = ["LangChainChat"]

# LangGraph shows every model's tokens in stream_mode="messages" but those tagged so.
_CONFIG: "RunnableConfig" = {"tags": ["nostream"]}
# What integrations call their token cap.
_CAPS = ("max_tokens", "max_output_tokens", "max_new_tokens", "num_predict")
# OpenAI's reasoning models refuse a temperature.
_REASONING = re.compile(r"o\d|gpt-5")
_IN_WORDS = "Reply with one JSON value that fits this JSON Schema, and with nothing else:\n"
_REFUSED_SCHEMA = "the model refused a JSON Schema and was asked in words"


@dataclass(slots=True)
class _Call:
    """One call under way: what was asked, since when, and what has to be said about it."""

    ask: Ask
    started: float = field(default_factory=perf_counter)
    notes: tuple[str, ...] = ()


class LangChainChat:
    """A `ChatModel` over any BaseChatModel, also one that is only sync or only async."""

    def __init__(
        self,
        build: "Callable[[], BaseChatModel]",
        *,
        identity: str,
        provider: str | None = None,
        log: CallLog | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Take how to build the model, so that nothing is imported before the first question.

        `provider` is who answers when the model's reply does not say so itself.
        """
        self._build = build
        self._built: BaseChatModel | None = None
        self._lock = Lock()
        self._identity = identity
        self._provider = provider
        self._log = log
        self._clock = clock or partial(datetime.now, UTC)
        self._without_schemas = False

    @property
    def identity(self) -> str:
        """The "provider:model" that was chosen."""
        return self._identity

    def model(self) -> "BaseChatModel":
        """Return the LangChain model itself, built at the first call; raises ModelError."""
        with self._lock:
            if self._built is None:
                with provider_errors(self._identity):
                    self._built = self._build()
            return self._built

    def ask(self, ask: Ask) -> Reply:
        """Return the model's reply; raises ModelTimeout after the deadline, ModelError when it fails."""
        model = self.model()
        call = _Call(ask)
        with self._failures_logged(call):
            answer = wait_within(partial(self._answer, model, call), seconds=ask.deadline_seconds, who=self._identity)
        return self._finished(call, answer)

    async def aask(self, ask: Ask) -> Reply:
        """Return the model's reply without blocking the event loop; promises what `ask` does."""
        # The first one imports the provider's client, which can take a second.
        model = self._built
        if model is None:
            model = await await_blocking(self.model, who=self._identity)
        call = _Call(ask)
        with self._failures_logged(call):
            answer = await await_within(self._aanswer(model, call), seconds=ask.deadline_seconds, who=self._identity)
        return self._finished(call, answer)

    def _answer(self, model: "BaseChatModel", call: _Call) -> "_Answer":
        try:
            with provider_errors(self._identity):
                return _read(_invoke(*self._prepared(model, call.ask)))
        except RequestRefused:
            if not self._may_ask_in_words(call.ask):
                raise
        with provider_errors(self._identity):
            answer = _read(_invoke(*self._prepared(model, call.ask, in_words=True)))
        self._schema_was_refused(call)
        return answer

    async def _aanswer(self, model: "BaseChatModel", call: _Call) -> "_Answer":
        if _is_only_sync(model):
            return await await_blocking(partial(self._answer, model, call), who=self._identity)
        try:
            with provider_errors(self._identity):
                return _read(await _ainvoke(*self._prepared(model, call.ask)))
        except RequestRefused:
            if not self._may_ask_in_words(call.ask):
                raise
        with provider_errors(self._identity):
            answer = _read(await _ainvoke(*self._prepared(model, call.ask, in_words=True)))
        self._schema_was_refused(call)
        return answer

    def _may_ask_in_words(self, ask: Ask) -> bool:
        return ask.json_schema is not None and not self._without_schemas

    def _schema_was_refused(self, call: _Call) -> None:
        self._without_schemas = True
        call.notes = (_REFUSED_SCHEMA,)

    def _prepared(
        self, model: "BaseChatModel", ask: Ask, *, in_words: bool = False
    ) -> "tuple[Runnable[Any, Any], Sequence[tuple[str, str]]]":
        bounded = _bounded(model, ask)
        schema = ask.json_schema
        if schema is None:
            return bounded, _messages(ask)
        if in_words or self._without_schemas or not _takes_schemas(model):
            return bounded, _messages(ask, then=_IN_WORDS + json.dumps(schema, ensure_ascii=False))
        titled = {"title": f"{ask.workload}_reply", **schema}
        return bounded.with_structured_output(titled, include_raw=True), _messages(ask)

    @contextmanager
    def _failures_logged(self, call: _Call) -> Iterator[None]:
        try:
            yield
        except ZomemError as error:
            self._write_log(call, self._reply(call, None), error=str(error))
            raise

    def _finished(self, call: _Call, answer: "_Answer") -> Reply:
        reply = self._reply(call, answer)
        self._write_log(call, reply)
        return reply

    def _reply(self, call: _Call, answer: "_Answer | None") -> Reply:
        provider, _, model = self._identity.partition(":")
        message, text = answer or (None, "")
        said: Mapping[str, Any] = message.response_metadata if message is not None else {}
        usage: Mapping[str, Any] = (message.usage_metadata if message is not None else None) or {}
        model = said.get("model_name") or model
        tokens_in, tokens_out = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
        return Reply(
            text=text,
            provider=self._provider or said.get("model_provider") or provider,
            model=model,
            latency_ms=(perf_counter() - call.started) * 1_000,
            prompt_tokens=tokens_in,
            completion_tokens=tokens_out,
            cost_usd=cost_usd(model, prompt_tokens=tokens_in, completion_tokens=tokens_out),
            notes=call.notes,
        )

    def _write_log(self, call: _Call, reply: Reply, **more: object) -> None:
        if self._log is None:
            return
        self._log(call_line(call.ask, reply, at=self._clock(), **more))


def _messages(ask: Ask, *, then: str = "") -> list[tuple[str, str]]:
    system = "\n\n".join(part for part in (ask.system, then) if part)
    asked = ("human", ask.prompt)
    return [("system", system), asked] if system else [asked]


def _bounded(model: "BaseChatModel", ask: Ask) -> "BaseChatModel":
    """Return the model with this question's temperature and token cap, where it knows such a thing."""
    known = type(model).model_fields
    limits: dict[str, object] = {}
    name = getattr(model, "model_name", None) or getattr(model, "model", None) or ""
    if "temperature" in known and not _REASONING.match(str(name)):
        limits["temperature"] = ask.temperature
    if cap := next((cap for cap in _CAPS if cap in known), None):
        limits[cap] = ask.max_tokens
    return model.model_copy(update=limits) if limits else model


def _takes_schemas(model: "BaseChatModel") -> bool:
    from langchain_core.language_models import BaseChatModel

    return type(model).with_structured_output is not BaseChatModel.with_structured_output


def _is_only_sync(model: "BaseChatModel") -> bool:
    from langchain_core.language_models import BaseChatModel, SimpleChatModel

    # These two only hand the sync call to the loop's small thread pool.
    return type(model)._agenerate in {BaseChatModel._agenerate, SimpleChatModel._agenerate}


def _invoke(runnable: "Runnable[Any, Any]", messages: Sequence[tuple[str, str]]) -> object:
    try:
        return runnable.invoke(messages, config=_CONFIG)
    except NotImplementedError:
        # A model that is only async; this is a thread of its own, so it may have a loop of its own.
        return asyncio.run(_ainvoke(runnable, messages))


async def _ainvoke(runnable: "Runnable[Any, Any]", messages: Sequence[tuple[str, str]]) -> object:
    return await runnable.ainvoke(messages, config=_CONFIG)


def _read(result: Any) -> "_Answer":
    """Return message and text of a plain reply, or of the raw and parsed reply to a schema."""
    if not isinstance(result, dict):
        return result, str(result.text)
    message, parsed = result["raw"], result["parsed"]
    return message, str(message.text) if parsed is None else json.dumps(parsed, ensure_ascii=False)
