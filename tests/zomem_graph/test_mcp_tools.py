"""The tools of the MCP server through the SDK's own client, in one process."""

import asyncio
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from mcp import Client
from mcp_types import CallToolResult, TextContent

from zomem_graph import Memory
from zomem_graph.server import create_server
from zomem_graph.server.names import TOOL_NAMES
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.testing.langchain import ScriptedChatModel

TALK = [{"role": "user", "content": "I live in Porto. I must fix the login page."}]


@pytest.fixture
def memory(home: Path, clock: FixedClock, embedder: SmallEmbedder) -> Iterator[Memory]:
    with Memory.open(home, embeddings=embedder, clock=clock) as opened:
        yield opened


def called(memory: Memory, tool: str, persona_of_server: str | None = None, **words: Any) -> CallToolResult:
    async def call() -> CallToolResult:
        async with Client(create_server(memory, persona=persona_of_server)) as client:
            return await client.call_tool(tool, words)

    return asyncio.run(call())


def answer(memory: Memory, tool: str, **words: Any) -> dict[str, Any]:
    result = called(memory, tool, **words)
    assert not result.is_error, result.content
    content: dict[str, Any] | None = result.structured_content
    assert content is not None
    return content


def said(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextContent))


def test_every_tool_says_what_it_does_what_it_answers_and_whether_it_changes_anything(memory: Memory) -> None:
    async def listed() -> Any:
        async with Client(create_server(memory)) as client:
            return (await client.list_tools()).tools

    tools = asyncio.run(listed())

    assert tuple(tool.name for tool in tools) == TOOL_NAMES
    for tool in tools:
        assert tool.description, tool.name
        assert tool.title, tool.name
        assert tool.output_schema, tool.name
        assert tool.annotations.read_only_hint is not None, tool.name
        assert tool.annotations.open_world_hint is False, tool.name
    removing = {tool.name for tool in tools if tool.annotations.destructive_hint}
    assert {"memory_forget", "memory_delete"} <= removing
    assert not removing & {tool.name for tool in tools if tool.annotations.read_only_hint}


def test_what_is_stored_is_found_with_score_category_and_source(memory: Memory) -> None:
    stored = answer(memory, "memory_store", entity="ana", key="city", value="Porto", category="preference")
    result = called(memory, "memory_search", query="ana city")

    assert result.structured_content is not None
    (found,) = result.structured_content["items"]
    assert stored["embedding"] == "stored"
    assert (found["id"], found["category"], found["source"]) == (stored["fact"]["id"], "preference", "mcp")
    assert 0 < found["score"] <= 1
    assert said(result).startswith("<recalled-memory>")


def test_a_category_is_looked_for_beyond_the_first_hits(memory: Memory) -> None:
    for number in range(30):
        memory.remember("harbour", f"note {number}", f"harbour harbour note {number}")
    memory.remember("ana", "choice", "we moved the long tale of the old boats into the harbour", category="decision")

    found = answer(memory, "memory_search", query="harbour", category="decision", limit=1)

    assert [each["category"] for each in found["items"]] == ["decision"]


def test_a_conversation_teaches_facts_loops_and_an_episode_once(memory: Memory) -> None:
    first = answer(memory, "memory_capture", conversation=TALK, session="s1")
    again = answer(memory, "memory_capture", conversation=TALK, session="s1")

    assert (first["turns"], first["loops"], again["turns"]) == (1, 1, 0)
    assert "fix the login page" in answer(memory, "memory_open_loops")["loops"][0]["title"].lower()
    assert len(answer(memory, "memory_episodes")["episodes"]) == 1
    closed = answer(memory, "memory_resolve_loop", text="The login page is fixed now")
    assert [loop["status"] for loop in closed["loops"]] == ["resolved"]


def test_a_transcript_is_read_too_and_a_dry_run_changes_nothing(memory: Memory) -> None:
    dry = answer(memory, "memory_capture", conversation="Ana: I live in Porto.", dry_run=True)

    assert dry["preview"]
    assert answer(memory, "memory_stats")["turns"] == 0


def test_recall_decides_and_continuation_takes_up_what_is_open(memory: Memory) -> None:
    answer(memory, "memory_capture", conversation=TALK)

    skipped = called(memory, "memory_recall", message="hello")
    taken_up = answer(memory, "memory_continuation", message="where did we leave off?")

    assert skipped.structured_content is not None
    assert skipped.structured_content["decision"] == "skip"
    assert said(skipped).startswith("Nothing to recall")
    assert taken_up["decision"] == "inject"
    assert "login page" in taken_up["text"]


def test_things_are_linked_deleted_retracted_and_forgotten(memory: Memory) -> None:
    ana, bea = memory.remember("ana", "city", "Porto"), memory.remember("bea", "city", "Lyon")

    assert answer(memory, "memory_link", source=ana.id, target=bea.id, relation="depends_on")["weight"] == 1
    assert answer(memory, "memory_unlink", source=ana.id, target=bea.id)["removed"] == 1
    answer(memory, "memory_delete", id=ana.id)
    assert answer(memory, "memory_lookup", entity="ana")["facts"] == []
    answer(memory, "memory_retract", id=bea.id, reason="a mistake")
    memory.remember("cleo", "city", "Rome")
    assert answer(memory, "memory_forget", entity="cleo", dry_run=True)["dry_run"]
    assert answer(memory, "memory_forget", entity="cleo")["clean"]
    assert answer(memory, "memory_search", query="cleo city Rome")["items"] == []


def test_personas_are_kept_apart_and_a_misspelt_one_is_told(memory: Memory) -> None:
    answer(memory, "memory_store", entity="ana", key="city", value="Porto", persona="anna")

    assert answer(memory, "memory_search", query="ana city", persona="bob")["items"] == []
    assert "anna" in " ".join(answer(memory, "memory_search", query="ana city", persona="ana")["degraded"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"entity": "ana", "value": "x", "importance": 9}, "importance must be at most 2, not 9."),
        ({"entity": "ana", "value": ["x"]}, "value must be a text, not ['x']."),
        ({"entity": "ana"}, "value is missing."),
        ({"entity": "ana", "value": "x", "decay_class": "soon"}, "'session' or 'checkpoint', not 'soon'."),
    ],
)
def test_a_wrong_argument_is_told_with_its_value_and_what_is_allowed(
    words: dict[str, Any], told: str, memory: Memory
) -> None:
    result = called(memory, "memory_store", **words)
    assert result.is_error
    assert told in said(result)
    assert not any(word in said(result) for word in ("validation error", "pydantic", "Input should"))


def test_a_misspelt_argument_is_refused_before_anything_is_done(memory: Memory) -> None:
    memory.remember("ana", "city", "Porto")
    result = called(memory, "memory_forget", entity="ana", dryRun=True)
    assert result.is_error
    assert "memory_forget: 'dryRun' is no argument of it. It takes " in said(result)
    assert [fact.value for fact in memory.lookup("ana", "city")] == ["Porto"]


def test_the_schemas_allow_no_other_arguments(memory: Memory) -> None:
    async def listed() -> Any:
        async with Client(create_server(memory)) as client:
            return (await client.list_tools()).tools

    assert all(tool.input_schema["additionalProperties"] is False for tool in asyncio.run(listed()))


def test_a_server_of_one_persona_serves_no_other(memory: Memory) -> None:
    stored = called(memory, "memory_store", persona_of_server="ann", entity="ana", key="city", value="Porto")
    refused = called(memory, "memory_search", persona_of_server="ann", query="ana", persona="bob")

    assert not stored.is_error
    assert [fact.value for fact in memory.lookup("ana")] == []
    assert refused.is_error
    assert "serves the persona 'ann' alone" in said(refused)


@pytest.mark.parametrize(
    ("tool", "words", "told"),
    [
        ("memory_search", {"query": "x", "kinds": ["book"]}, "'fact', 'turn'"),
        ("memory_search", {"query": "x", "since": "the other day"}, "cannot be read as a time"),
        ("memory_search", {"query": "x", "time_zone": "Moon"}, "IANA name"),
        ("memory_search", {"query": "x", "limit": 0}, "at least 1, not"),
        ("memory_search", {}, "is missing."),
        ("memory_delete", {"id": "nothing"}, "has the id 'nothing'"),
        ("memory_store", {"entity": "ana", "value": "sk-" + "a1B2" * 12}, "secret"),
        ("memory_store", {"entity": " ", "value": "x"}, "entity"),
        ("memory_forget", {}, "Say what to forget"),
        ("memory_resolve_loop", {}, "Say what is done"),
        ("memory_resolve_loop", {"id": "abcdef"}, "No loop has the id"),
        ("memory_fly", {}, "Unknown tool"),
    ],
)
def test_a_wrong_call_is_told_in_words_a_model_can_act_on(
    tool: str, words: dict[str, Any], told: str, memory: Memory
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = called(memory, tool, **words)

    assert result.is_error
    assert told in said(result)


def test_many_calls_at_once_do_not_hold_up_the_event_loop(memory: Memory) -> None:
    for number in range(50):
        memory.remember("ana", f"fact {number}", f"value {number}")

    async def together() -> tuple[int, int]:
        ticks = 0
        async with Client(create_server(memory)) as client:

            async def tick() -> None:
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0)

            ticking = asyncio.create_task(tick())
            calls = [client.call_tool("memory_search", {"query": f"fact {number}"}) for number in range(40)]
            results = await asyncio.gather(*calls)
            ticking.cancel()
        return sum(not result.is_error for result in results), ticks

    good, ticks = asyncio.run(together())
    assert good == 40
    assert ticks > 200  # other work went on between and during the calls


# langchain-mcp-adapters (0.3.2) asks for mcp<2, so an agent gets the tools through the SDK's own client here.
async def as_langchain(client: Client) -> list[BaseTool]:
    def one(name: str) -> Any:
        async def call(**words: Any) -> str:
            return said(
                await client.call_tool(name, {key: value for key, value in words.items() if value is not None})
            )

        return call

    return [
        StructuredTool.from_function(
            coroutine=one(tool.name),
            name=tool.name,
            description=tool.description or "",
            args_schema=tool.input_schema,
        )
        for tool in (await client.list_tools()).tools
    ]


def test_a_langgraph_agent_stores_and_finds_through_the_protocol(memory: Memory) -> None:
    def use(tool: str, **args: Any) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": tool, "args": args, "id": "call-1", "type": "tool_call"}])

    model = ScriptedChatModel(
        replies=[
            use("memory_store", entity="ana", key="city", value="Porto"),
            use("memory_search", query="where does ana live? city"),
            "She lives in Porto.",
        ]
    )

    async def talk() -> Any:
        async with Client(create_server(memory)) as client:
            agent = create_agent(model, await as_langchain(client))
            return await agent.ainvoke({"messages": [HumanMessage("Remember where Ana lives, then tell me.")]})

    messages = asyncio.run(talk())["messages"]

    stored, found = [message.content for message in messages if isinstance(message, ToolMessage)]
    assert json.loads(str(stored))["fact"]["value"] == "Porto"
    assert "ana city: Porto" in found
    assert messages[-1].content == "She lives in Porto."


def test_procedures_profiles_and_numbers_are_shown(memory: Memory) -> None:
    memory.procedures.create("deploy", [{"executor": "codex", "task_pattern": "build"}])
    memory.profiles.record("codex", success=True, category="build", duration_ms=2_000, entities=["site"])

    assert [one["name"] for one in answer(memory, "memory_procedures")["procedures"]] == ["deploy"]
    assert answer(memory, "memory_procedures", name="deploy")["procedures"][0]["steps"][0]["executor"] == "codex"
    (build,) = answer(memory, "cognitive_profile", executor_id="codex")["categories"]
    assert (build["category"], build["attempts"], build["average_seconds"]) == ("build", 1, 2.0)
    assert "operations" in answer(memory, "memory_metrics")["measured"]
    assert called(memory, "memory_metrics", persona_of_server="ann").is_error
    assert "codex" in said(called(memory, "cognitive_profile", executor_id="codez"))


def test_the_graph_is_looked_at_from_every_side(memory: Memory) -> None:
    site, host = memory.remember("site", "name", "The site"), memory.remember("host", "place", "Porto")
    memory.link(site.id, host.id, "depends_on")

    way = answer(memory, "memory_graph", look="find_connections", what="site", to="host")
    assert "Path found" in way["text"]
    assert "Knowledge Gap Analysis" in answer(memory, "memory_graph", look="knowledge_gaps")["text"]
    for look in ("show", "ancestors", "descendants", "cycles", "communities"):
        assert answer(memory, "memory_graph", look=look, what="site")["found"] is not None
    assert "needs what" in said(called(memory, "memory_graph"))
    assert "needs to" in said(called(memory, "memory_graph", look="find_connections", what="site"))


def test_time_does_its_work_and_says_what_it_would_do(memory: Memory, clock: FixedClock) -> None:
    memory.remember("tent", "place", "the meadow", tier="session")
    clock.advance(days=3)

    would = answer(memory, "memory_prune", dry_run=True)
    assert (would["dry_run"], would["changes"]) == (True, 1)
    assert answer(memory, "memory_lookup", entity="tent")["facts"] == [] or would["moved"][0]["why"]
    assert answer(memory, "memory_prune")["changes"] == 1
    assert answer(memory, "memory_maintain")["changes"] == 0
    assert called(memory, "memory_maintain", persona_of_server="ann").is_error
