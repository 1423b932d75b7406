"""The kit that tests stand on is itself tested: by real clients, as its users use it."""

import asyncio
import json
import socket
import time
from datetime import UTC, datetime, timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from openai import APIConnectionError, APIError, APITimeoutError, AuthenticationError, OpenAI, RateLimitError
from pydantic import SecretStr
from pytest_socket import SocketConnectBlockedError

from zomem_graph.nodes.ports import Ask
from zomem_graph.stores.errors import ModelError, ModelTimeout
from zomem_graph.testing import (
    Answer,
    FixedClock,
    Garbage,
    Hang,
    Refusal,
    ScriptedChat,
    ScriptedOpenAIServer,
    SmallEmbedder,
    rate_limited,
)
from zomem_graph.testing.langchain import ScriptedChatModel


def ask(workload: str = "gate", **more: float) -> Ask:
    return Ask(workload=workload, system="Decide.", prompt="Is this a test?", **more)  # type: ignore[arg-type]


def openai_client(server: ScriptedOpenAIServer, **more: float) -> OpenAI:
    return OpenAI(base_url=server.base_url, api_key="none", max_retries=0, **more)  # type: ignore[arg-type]


def chat_openai(server: ScriptedOpenAIServer) -> ChatOpenAI:
    return ChatOpenAI(base_url=server.base_url, api_key=SecretStr("none"), model="m", max_retries=0)


# -- clock and embedder ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_no_test_reaches_beyond_loopback() -> None:
    with pytest.raises(SocketConnectBlockedError):
        socket.create_connection(("192.0.2.1", 80), timeout=1)


def test_a_fixed_clock_moves_only_when_told(clock: FixedClock) -> None:
    before = clock()

    assert clock() == before
    assert clock.advance(days=1, hours=2) == before + timedelta(hours=26)
    assert clock.set(datetime(2020, 2, 2, tzinfo=UTC)) == clock()


def test_a_clock_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        FixedClock(datetime(2026, 1, 1))


def test_texts_with_the_same_words_are_near(embedder: SmallEmbedder) -> None:
    question = embedder.embed_query("Where is the office of the company?")
    near, far = embedder.embed_documents(["The company has its office in Lyon.", "Anna plays the violin."])

    assert question @ near > question @ far + 0.2
    assert embedder.embed_query("cars") @ embedder.embed_query("car") > 0.2


@pytest.mark.parametrize("text", ["", " \n", "?!", "日本語のテキスト", "a\x00b", "\ud800", "x" * 50_000])
def test_any_text_has_a_unit_vector(text: str, embedder: SmallEmbedder) -> None:
    vector = embedder.embed_query(text)

    assert vector.shape == (embedder.width,)
    assert vector @ vector == pytest.approx(1.0, abs=1e-5)


def test_another_name_makes_another_space() -> None:
    one, other = SmallEmbedder(name="one"), SmallEmbedder(name="other")

    assert one.width == other.width
    assert one.identity != other.identity
    assert one.embed_query("the same text") @ other.embed_query("the same text") < 0.9


# -- the scripted chat model -----------------------------------------------------------------------


def test_a_scripted_chat_says_its_lines_and_remembers_the_questions() -> None:
    chat = ScriptedChat(["yes", {"needed": False}, lambda ask: ask.prompt.upper()])

    assert [chat.ask(ask()).text for _ in range(3)] == ["yes", '{"needed": false}', "IS THIS A TEST?"]
    assert len(chat.asks) == 3
    with pytest.raises(AssertionError, match="at its end"):
        chat.ask(ask())


def test_each_workload_may_have_a_script_and_one_line_is_said_for_ever() -> None:
    chat = ScriptedChat("otherwise", by_workload={"gate": "yes", "hyde": ["a", ModelError("broken")]})

    said = [chat.ask(ask(workload)).text for workload in ("gate", "gate", "capture")]
    assert said == ["yes", "yes", "otherwise"]
    assert chat.ask(ask("hyde")).text == "a"
    with pytest.raises(ModelError, match="broken"):
        chat.ask(ask("hyde"))
    assert len(chat.asked("hyde")) == 2


def test_a_slow_scripted_chat_keeps_the_deadline() -> None:
    chat = ScriptedChat("late", seconds=30)
    started = time.monotonic()

    with pytest.raises(ModelTimeout):
        chat.ask(ask(deadline_seconds=0.05))
    with pytest.raises(ModelTimeout):
        asyncio.run(chat.aask(ask(deadline_seconds=0.05)))
    assert time.monotonic() - started < 5


def test_a_scripted_chat_does_not_block_the_event_loop() -> None:
    chat = ScriptedChat("yes", seconds=0.2)

    async def twenty() -> list[str]:
        return [reply.text for reply in await asyncio.gather(*(chat.aask(ask()) for _ in range(20)))]

    started = time.monotonic()
    assert asyncio.run(twenty()) == ["yes"] * 20
    assert time.monotonic() - started < 2


def test_a_scripted_langchain_model_records_what_it_really_got() -> None:
    @tool
    def look_up(name: str) -> str:
        """Look a name up."""
        return name

    model = ScriptedChatModel(replies=["hello there", AIMessage("", tool_calls=[])])
    first = model.invoke([HumanMessage("hi")])
    model.bind_tools([look_up]).invoke("and now?")

    assert first.text == "hello there"
    assert [message.content for message in model.requests[1]] == ["and now?"]
    assert model.tools == [[], ["look_up"]]
    with pytest.raises(AssertionError, match="at their end"):
        model.invoke("more")


def test_a_scripted_langchain_model_streams_word_by_word_and_calls_tools() -> None:
    call = {"name": "look_up", "args": {"name": "Ada"}, "id": "1"}
    model = ScriptedChatModel(replies=lambda messages: AIMessage("one two three", tool_calls=[call]))

    chunks = list(model.stream("count"))

    assert [chunk.text for chunk in chunks] == ["one ", "two ", "three"]
    assert chunks[-1].tool_calls[0]["name"] == "look_up"
    assert asyncio.run(model.ainvoke("count")).text == "one two three"


# -- the scripted server ---------------------------------------------------------------------------


def test_the_server_follows_its_script_and_records_the_requests() -> None:
    with ScriptedOpenAIServer(["hello", Answer(text={"a": 1})]) as server:
        model = chat_openai(server)
        first, second = model.invoke("hi"), model.invoke("and?")

    assert (first.text, json.loads(second.text)) == ("hello", {"a": 1})
    assert first.usage_metadata is not None
    assert first.usage_metadata["output_tokens"] > 0
    assert [request.body["messages"][0]["content"] for request in server.requests] == ["hi", "and?"]


def test_the_server_streams_and_calls_tools() -> None:
    with ScriptedOpenAIServer(Answer(text="one two", tool_calls=[("look_up", {"name": "Ada"})])) as server:
        chunks = list(chat_openai(server).stream("count", stream_usage=True))

    assert "".join(str(chunk.text) for chunk in chunks) == "one two"
    assert [call["args"] for chunk in chunks for call in chunk.tool_calls] == [{"name": "Ada"}]
    assert any(chunk.usage_metadata for chunk in chunks)


def test_the_server_embeds_as_the_small_embedder_does(embedder: SmallEmbedder) -> None:
    with ScriptedOpenAIServer(embedding_script=[rate_limited()]) as server:
        client = OpenAIEmbeddings(
            model="e",
            openai_api_key=SecretStr("none"),
            openai_api_base=server.base_url,
            check_embedding_ctx_length=False,
            max_retries=0,
        )
        with pytest.raises(RateLimitError):
            client.embed_query("the first is refused")
        vectors = client.embed_documents(["a text", "another"])

    assert vectors[0] == pytest.approx(embedder.embed_query("a text").tolist())
    assert len(server.received("/embeddings")) == 2


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (rate_limited(7), RateLimitError),
        (Refusal(status=401), AuthenticationError),
        (Hang(seconds=0.01), APIConnectionError),
        (Hang(), APITimeoutError),
        (Garbage(), json.JSONDecodeError),
    ],
)
def test_the_server_fails_as_providers_fail(step: Refusal | Hang | Garbage, error: type[Exception]) -> None:
    with ScriptedOpenAIServer(step) as server, openai_client(server, timeout=0.5) as client:
        with pytest.raises(error):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])


def test_a_script_at_its_end_is_an_error_and_closing_does_not_wait_for_a_hang() -> None:
    started = time.monotonic()
    with ScriptedOpenAIServer([Hang(seconds=60)]) as server, openai_client(server, timeout=0.2) as client:
        for _ in range(2):
            with pytest.raises(APIError, match=r"timed out|at its end"):
                client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])

    assert time.monotonic() - started < 5
