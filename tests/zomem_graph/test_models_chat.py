"""How a chat model is chosen and asked: deadlines, caps, schemas, failures, the log, waiting or awaiting."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph

from zomem_graph.models import LangChainChat, resolve_chat
from zomem_graph.nodes.ports import Ask, ChatModel, Reply
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import InvalidInput, ModelError, ModelMissing, ModelTimeout
from zomem_graph.testing import (
    Answer,
    FixedClock,
    Garbage,
    Hang,
    Refusal,
    ScriptedChat,
    ScriptedOpenAIServer,
    rate_limited,
)
from zomem_graph.testing.langchain import ScriptedChatModel
from zomem_graph.testing.server import Scripted

SCHEMA = {
    "type": "object",
    "properties": {"needed": {"type": "boolean"}},
    "required": ["needed"],
    "additionalProperties": False,
}


def ask(**more: Any) -> Ask:
    return Ask(**({"workload": "gate", "system": "Decide.", "prompt": "Who is Ada?"} | more))


def used(chat: ChatModel | None) -> ChatModel:
    assert chat is not None
    return chat


def waited(chat: ChatModel, question: Ask) -> Reply:
    return chat.ask(question)


def awaited(chat: ChatModel, question: Ask) -> Reply:
    return asyncio.run(chat.aask(question))


Asked = Callable[[ChatModel, Ask], Reply]
both_ways = pytest.mark.parametrize("asked", [waited, awaited])


class Served:
    """A chat model of the settings, in front of a scripted server."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log: list[str] = []

    def by(self, server: ScriptedOpenAIServer, spec: str = "openai:gpt-4o-mini") -> ChatModel:
        settings = Settings.load(self.home, openai_base_url=server.base_url, openai_api_key="sk-the-key")
        return used(resolve_chat(spec, settings, "gate", log=self.log.append, clock=FixedClock()))


@pytest.fixture
def served(home: Path) -> Served:
    return Served(home)


class OnlySync(BaseChatModel):
    """A program's own model that blocks for a while."""

    seconds: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "only sync"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        time.sleep(self.seconds)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("said at once"))])


class OnlyAsync(OnlySync):
    """A program's own model that can only be awaited."""

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        await asyncio.sleep(self.seconds)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("said at last"))])


# -- the choice ------------------------------------------------------------------------------------


def test_without_a_key_there_is_no_chat_model(home: Path) -> None:
    assert resolve_chat(None, Settings.load(home), "gate") is None


def test_with_a_key_the_small_openai_model_is_used(home: Path) -> None:
    chat = resolve_chat(None, Settings.load(home, openai_api_key="sk-none"), "gate")

    assert used(chat).identity == "openai:gpt-4o-mini"


def test_each_workload_takes_its_own_model_and_an_argument_wins(home: Path) -> None:
    settings = Settings.load(home, openai_api_key="sk-none", model_gate="none", model_hyde="gpt-4.1-nano")

    assert resolve_chat(None, settings, "gate") is None
    assert used(resolve_chat(None, settings, "hyde")).identity == "openai:gpt-4.1-nano"
    assert used(resolve_chat("openai:other", settings, "hyde")).identity == "openai:other"
    assert resolve_chat("none", settings, "hyde") is None


@pytest.mark.parametrize(
    ("spec", "error", "said"),
    [
        ("openai:gpt-4o-mini", ModelMissing, "OPENAI_API_KEY"),
        ("ollama:qwen3", ModelMissing, "langchain-ollama"),
        ("anthropic:", InvalidInput, "names no model"),
        ("nobody:nothing", ModelMissing, "nobody"),
        (":", InvalidInput, "names no model"),
        (3, InvalidInput, "int is no chat model"),
    ],
)
def test_a_choice_that_cannot_be_had_says_what_to_do(
    spec: Any, error: type[Exception], said: str, home: Path
) -> None:
    with pytest.raises(error, match=said):
        resolve_chat(spec, Settings.load(home), "gate")


def test_an_object_that_speaks_our_protocol_is_taken_as_it_is(home: Path) -> None:
    chat = ScriptedChat("yes")

    assert resolve_chat(chat, Settings.load(home), "gate") is chat


# -- asking ----------------------------------------------------------------------------------------


@both_ways
def test_a_reply_says_who_answered_what_it_took_and_what_it_cost(asked: Asked, served: Served) -> None:
    with ScriptedOpenAIServer(Answer(text="yes", model="gpt-4o-mini-2024-07-18")) as server:
        reply = asked(served.by(server), ask(temperature=0.3, max_tokens=42))
        body = server.requests[0].body

    assert reply.text == "yes"
    assert reply.model == "gpt-4o-mini-2024-07-18"
    assert reply.provider.startswith("openai@127.0.0.1:")
    assert min(reply.latency_ms, reply.prompt_tokens, reply.completion_tokens, reply.cost_usd) > 0
    assert (body["temperature"], body["max_completion_tokens"]) == (0.3, 42)
    assert body["messages"] == [
        {"role": "system", "content": "Decide."},
        {"role": "user", "content": "Who is Ada?"},
    ]


def test_a_reasoning_model_is_sent_no_temperature(served: Served) -> None:
    with ScriptedOpenAIServer("yes") as server:
        served.by(server, "openai:gpt-5-mini").ask(ask())

    assert "temperature" not in server.requests[0].body


@both_ways
def test_a_schema_goes_to_a_provider_that_takes_it(asked: Asked, served: Served) -> None:
    with ScriptedOpenAIServer(Answer(text={"needed": True})) as server:
        reply = asked(served.by(server), ask(json_schema=SCHEMA))
        sent = server.requests[0].body["response_format"]["json_schema"]

    assert json.loads(reply.text) == {"needed": True}
    assert sent["schema"]["properties"] == SCHEMA["properties"]
    assert reply.notes == ()


@both_ways
def test_a_server_that_refuses_schemas_is_asked_in_words_from_then_on(asked: Asked, served: Served) -> None:
    script: list[Scripted] = [
        Refusal(status=400, message="no response_format here"),
        '{"needed": true}',
        "{}",
    ]
    with ScriptedOpenAIServer(script) as server:
        chat = served.by(server)
        first, second = asked(chat, ask(json_schema=SCHEMA)), asked(chat, ask(json_schema=SCHEMA))
        bodies = [request.body for request in server.requests]

    assert (first.text, second.text) == ('{"needed": true}', "{}")
    assert "in words" in first.notes[0]
    assert ["response_format" in body for body in bodies] == [True, False, False]
    assert '"needed"' in bodies[1]["messages"][0]["content"]


@both_ways
def test_a_request_that_is_refused_either_way_fails(asked: Asked, served: Served) -> None:
    with ScriptedOpenAIServer(Refusal(status=400, message="context too long")) as server:
        with pytest.raises(ModelError, match="context too long"):
            asked(served.by(server), ask(json_schema=SCHEMA))


@both_ways
def test_a_model_without_schemas_is_asked_in_words_and_may_answer_badly(asked: Asked, home: Path) -> None:
    model = ScriptedChatModel(replies=["I would say yes."])
    chat = used(resolve_chat(model, Settings.load(home), "gate"))

    assert asked(chat, ask(json_schema=SCHEMA)).text == "I would say yes."
    assert '"needed"' in str(model.requests[0][0].content)


@both_ways
@pytest.mark.parametrize(
    ("step", "said"),
    [
        (rate_limited(20), r"refused the call: rate limit .*\(429\).* wait 20 s"),
        (
            Refusal(status=401, message="Incorrect key: sk-the-key"),
            r"refused the key \(401\)",
        ),
        (
            Refusal(status=500, message="sk-the-key is overloaded"),
            r"failed: .*\*\*\* is over",
        ),
        (Garbage(), r"failed: "),
        (Hang(seconds=0.01), r"failed: .*onnection"),
    ],
)
def test_a_providers_failure_is_a_model_error_that_names_it(
    asked: Asked, step: Scripted, said: str, served: Served
) -> None:
    with ScriptedOpenAIServer(step) as server:
        with pytest.raises(ModelError, match=f"^openai:gpt-4o-mini {said}") as raised:
            asked(served.by(server), ask())

    assert "sk-the-key" not in str(raised.value)
    assert len(server.requests) == 1
    assert json.loads(served.log[0])["error"] == str(raised.value)


@both_ways
def test_a_model_that_hangs_is_given_up_at_the_deadline(asked: Asked, served: Served) -> None:
    with ScriptedOpenAIServer(["warm", Hang()]) as server:
        chat = served.by(server)
        asked(chat, ask())
        started = time.monotonic()
        with pytest.raises(ModelTimeout, match=r"openai:gpt-4o-mini did not answer within 0\.2 s"):
            asked(chat, ask(deadline_seconds=0.2))

    assert time.monotonic() - started < 3
    assert "did not answer" in json.loads(served.log[1])["error"]


def test_a_server_that_is_not_there_is_a_model_error(home: Path) -> None:
    settings = Settings.load(home, openai_base_url="http://127.0.0.1:9/v1")

    with pytest.raises(ModelError, match=r"openai:m failed: .*Connection"):
        used(resolve_chat("openai:m", settings, "gate")).ask(ask())


def test_one_json_line_is_logged_for_each_call(served: Served) -> None:
    with ScriptedOpenAIServer("yes") as server:
        served.by(server).ask(ask())

    line = json.loads(served.log[0])
    assert line.keys() >= {"ts", "workload", "provider", "model", "latency_ms", "cost_usd", "prompt_tokens"}
    assert (line["ts"], line["workload"]) == ("2026-01-05T12:00:00+00:00", "gate")
    assert "Who is Ada?" not in served.log[0]


@both_ways
@pytest.mark.parametrize(("kind", "said"), [(OnlySync, "said at once"), (OnlyAsync, "said at last")])
def test_a_model_that_is_only_sync_or_only_async_works_both_ways(
    asked: Asked, kind: type[OnlySync], said: str, home: Path
) -> None:
    chat = used(resolve_chat(kind(), Settings.load(home), "gate"))

    reply = asked(chat, ask())

    assert (reply.text, reply.model, reply.cost_usd) == (said, "", 0.0)
    assert (chat.identity, reply.provider) == (kind.__name__, kind.__name__)


@both_ways
@pytest.mark.parametrize("kind", [OnlySync, OnlyAsync])
def test_a_programs_own_model_is_given_up_at_the_deadline_too(asked: Asked, kind: type[OnlySync], home: Path) -> None:
    chat = used(resolve_chat(kind(seconds=1.5), Settings.load(home), "gate"))
    started = time.monotonic()

    with pytest.raises(ModelTimeout):
        asked(chat, ask(deadline_seconds=0.1))

    assert time.monotonic() - started < 1.2


def test_fifty_questions_at_once_take_as_long_as_one(home: Path, served: Served) -> None:
    async def fifty(chat: ChatModel) -> float:
        await chat.aask(ask())
        started = time.monotonic()
        await asyncio.gather(*(chat.aask(ask()) for _ in range(50)))
        return time.monotonic() - started

    blocking = used(resolve_chat(OnlySync(seconds=0.5), Settings.load(home), "gate"))
    assert asyncio.run(fifty(blocking)) < 3
    with ScriptedOpenAIServer(Answer(text="yes", seconds=0.5)) as server:
        assert asyncio.run(fifty(served.by(server))) < 6


@pytest.mark.parametrize("waiting", [True, False])
def test_asking_in_a_graph_shows_no_tokens_to_the_user(waiting: bool, home: Path) -> None:
    inner, loud = (ScriptedChatModel(replies=lambda _, text=text: text) for text in ("psst", "spoken aloud"))
    chat = used(resolve_chat(inner, Settings.load(home), "hyde"))

    def think(state: MessagesState) -> dict[str, Any]:
        chat.ask(ask(workload="hyde"))
        return {"messages": [loud.invoke(state["messages"])]}

    async def athink(state: MessagesState) -> dict[str, Any]:
        await chat.aask(ask(workload="hyde"))
        return {"messages": [await loud.ainvoke(state["messages"])]}

    async def ashown(graph: Any) -> list[Any]:
        return [piece async for piece, _ in graph.astream(given, stream_mode="messages")]

    given = {"messages": [("human", "hi")]}
    node = RunnableLambda(think, athink)
    graph: Any = StateGraph(MessagesState).add_node("think", node).add_edge(START, "think").compile()
    if waiting:
        pieces = [piece for piece, _ in graph.stream(given, stream_mode="messages")]
    else:
        pieces = asyncio.run(ashown(graph))

    assert len(inner.requests) == 1
    assert "".join(piece.text for piece in pieces) == "spoken aloud"


# -- a real model on loopback ----------------------------------------------------------------------


@pytest.fixture
def small(small_model: str, home: Path) -> LangChainChat:
    settings = Settings.load(home, openai_base_url=small_model)
    chat = resolve_chat("openai:smollm2", settings, "gate")
    assert isinstance(chat, LangChainChat)
    return chat


@pytest.mark.model
@both_ways
def test_a_real_model_answers_and_keeps_the_cap(asked: Asked, small: LangChainChat) -> None:
    reply = asked(small, ask(prompt="Count from one to fifty.", max_tokens=8))

    assert reply.text
    assert 0 < reply.completion_tokens <= 8
    assert reply.prompt_tokens > 0


@pytest.mark.model
@both_ways
def test_a_real_model_keeps_to_a_schema(asked: Asked, small: LangChainChat) -> None:
    reply = asked(small, ask(json_schema=SCHEMA, max_tokens=40))

    assert isinstance(json.loads(reply.text)["needed"], bool)


@pytest.mark.model
def test_a_real_model_streams(small: LangChainChat) -> None:
    chunks = list(small.model().stream("Say hello.", max_tokens=12))

    assert len([chunk for chunk in chunks if chunk.text]) > 1


@pytest.mark.model
@both_ways
def test_a_real_model_is_given_up_at_the_deadline(asked: Asked, small: LangChainChat) -> None:
    asked(small, ask(max_tokens=1))

    with pytest.raises(ModelTimeout):
        asked(small, ask(prompt="Write a long story.", max_tokens=100, deadline_seconds=0.3))
