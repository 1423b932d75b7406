"""Where the recalled block goes in a request: at its tail, so that the prefix stays the same and caches survive."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, SystemMessage, convert_to_messages

__all__ = ["Placement", "place_block"]

Placement = Literal["system", "user"]


def place_block(messages: Sequence[AnyMessage], block: str, *, placement: Placement = "system") -> list[AnyMessage]:
    """Return the messages with the block at the latest user message; the given ones are left as they are.

    "system": as a system message right before it. "user": at the head of its own text, for models that take
    system messages at the beginning only.
    """
    if not all(isinstance(message, BaseMessage) for message in messages):
        messages = cast("list[AnyMessage]", convert_to_messages(messages))
    place = next((i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], HumanMessage)), None)
    if not block or place is None:
        return list(messages)
    before, after = list(messages[:place]), list(messages[place + 1 :])
    if placement == "system":
        return [*before, SystemMessage(block), messages[place], *after]
    return [*before, _headed(messages[place], block), *after]


def _headed(message: BaseMessage, block: str) -> HumanMessage:
    content: Any = message.content
    if isinstance(content, str):
        headed: Any = f"{block}\n\n{content}"
    else:
        blocks: Sequence[str | Mapping[str, Any]] = content
        headed = [{"type": "text", "text": block}, *blocks]
    return HumanMessage(headed, id=message.id, name=message.name, additional_kwargs=message.additional_kwargs)
