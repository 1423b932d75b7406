"""What a node reads out of a host's state: the latest question, what came before, and what to capture."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from zomem_graph.nodes.rules.budget import MESSAGE_TOKENS, tokens
from zomem_graph.nodes.state import gated
from zomem_graph.nodes.steps.messages import text_of, to_said
from zomem_graph.stores.errors import InvalidInput

__all__ = [
    "NO_MESSAGES",
    "context_tokens",
    "history_of",
    "latest_question",
    "messages_of",
    "messages_since_answer",
    "must_be_cleared",
    "must_hold",
    "query_of",
    "was_sent_back",
    "with_question",
]

NO_MESSAGES: Final = "the graph's state has nothing under 'messages', where memory looks for what was said"

_LONGEST_QUESTION = 1_000_000


def messages_of(state: Mapping[str, Any]) -> Sequence[Any]:
    """Return the host's messages; raise InvalidInput with the cure when its state has none."""
    messages = state.get("messages")
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise InvalidInput(
            "The graph's state has no list under 'messages'. Build it on MemoryState "
            "(from zomem_graph import MemoryState) or on LangGraph's MessagesState."
        )
    return messages


def latest_question(state: Mapping[str, Any]) -> tuple[str, Sequence[Any]]:
    """Return the text of the last message of the user, and the messages before it."""
    messages = messages_of(state)
    for place in range(len(messages) - 1, -1, -1):
        kind, content = _kind_and_content(messages[place])
        if kind in ("human", "user"):
            return text_of(content), messages[:place]
    return "", messages


def messages_since_answer(state: Mapping[str, Any]) -> list[Any]:
    """Return the messages after the last one of a model: what a run was begun with."""
    messages = messages_of(state)
    for place in range(len(messages) - 1, -1, -1):
        if _kind_and_content(messages[place])[0] in ("ai", "assistant"):
            return list(messages[place + 1 :])
    return list(messages)


def with_question(messages: Sequence[Any], question: Any) -> list[Any]:
    """Return messages, and before them the question that the gate noted where a node took out all of the user's."""
    if not isinstance(question, str) or not question.strip():
        return list(messages)
    if any(_kind_and_content(message)[0] in ("human", "user") for message in messages):
        return list(messages)
    return [{"role": "user", "content": question}, *messages]


def _kind_and_content(message: Any) -> tuple[Any, Any]:
    """Return what LangChain reads of a message in any of its forms: an object, a dict or a pair."""
    if isinstance(message, Mapping):
        return message.get("role", message.get("type")), message.get("content")
    if isinstance(message, tuple) and len(message) == 2:
        return message
    return getattr(message, "role", getattr(message, "type", None)), getattr(message, "content", None)


def query_of(state: Mapping[str, Any]) -> str:
    """Return what the gate wrote down as the question; raise InvalidInput with the cure when there is none."""
    must_hold(state, "memory_query")
    return state["memory_query"] or ""


def must_hold(state: Mapping[str, Any], *channels: str) -> None:
    """Raise InvalidInput with the cure when the state lacks what stands before or after a node of ours."""
    if missing := [name for name in channels if name not in state]:
        raise InvalidInput(
            f"The graph's state has no {missing[0]!r}: what memory finds would be lost. Build the graph on "
            "MemoryState (from zomem_graph import MemoryState), or derive your own state from it, and put a gate "
            "node first, which writes it."
        )


def must_be_cleared(state: Mapping[str, Any], channel: str) -> None:
    """Raise InvalidInput with the cure when the host's channel kept what the gate of this turn has cleared."""
    if gated(state) and state.get(channel):
        raise InvalidInput(
            f"{channel!r} still holds what the gate has cleared: your state annotates it with a reducer that adds, "
            "so old memories would come again. Leave memory's keys out of your state, or take them from MemoryState."
        )


def history_of(state: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts before the user's last message, oldest first; () when the state has no messages."""
    messages = state.get("messages")
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        return ()
    _question, before = latest_question(state)
    return tuple(said.content for said in to_said(before))


def was_sent_back(config: Mapping[str, Any]) -> bool:
    """Return whether a run was sent back to an earlier checkpoint, whose id LangGraph keeps as metadata."""
    return bool((config.get("metadata") or {}).get("checkpoint_id"))


def context_tokens(state: Mapping[str, Any]) -> int:
    """Return what the host's messages take in a prompt, whatever their role; 0 when its state has none."""
    messages = state.get("messages")
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        return 0
    contents = (one.get("content") if isinstance(one, Mapping) else getattr(one, "content", "") for one in messages)
    return sum(tokens(text_of(content)) + MESSAGE_TOKENS for content in contents)
