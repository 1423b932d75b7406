"""A LangChain chat model for graphs and agents that says what it was told to say."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

__all__ = ["ScriptedChatModel", "Spoken"]

Spoken = Exception | str | AIMessage


class ScriptedChatModel(BaseChatModel):
    """Answers with the next of `replies`, or with `replies(messages)`; streams word by word.

    `requests` holds the messages of each call as the model got them, `tools` the names of the tools
    that were bound then. Replies that have come to their end raise AssertionError.
    """

    replies: Sequence[Spoken] | Callable[[list[BaseMessage]], Spoken]
    requests: list[list[BaseMessage]] = Field(default_factory=list)
    tools: list[list[str]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return this model with the tools on every request."""
        described = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=described, tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages, kwargs))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        message = self._next(messages, kwargs)
        words = str(message.text).split(" ")
        pieces = [word if last else f"{word} " for word, last in _with_last(words)]
        for piece in pieces[:-1]:
            yield self._piece(AIMessageChunk(content=piece, id=message.id), run_manager)
        end = AIMessageChunk(
            content=pieces[-1],
            id=message.id,
            tool_calls=message.tool_calls,
            usage_metadata=message.usage_metadata,
            chunk_position="last",
        )
        yield self._piece(end, run_manager)

    def _piece(self, chunk: AIMessageChunk, run_manager: CallbackManagerForLLMRun | None) -> ChatGenerationChunk:
        generation = ChatGenerationChunk(message=chunk)
        if run_manager is not None:
            run_manager.on_llm_new_token(str(chunk.text), chunk=generation)
        return generation

    def _next(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        place = len(self.requests)
        self.requests.append(list(messages))
        self.tools.append([tool["function"]["name"] for tool in options.get("tools") or []])
        if callable(self.replies):
            spoken = self.replies(messages)
        else:
            assert place < len(self.replies), "the replies are at their end, and the model is asked on"
            spoken = self.replies[place]
        if isinstance(spoken, Exception):
            raise spoken
        return AIMessage(spoken) if isinstance(spoken, str) else spoken


def _with_last(words: list[str]) -> Iterator[tuple[str, bool]]:
    for place, word in enumerate(words, start=1):
        yield word, place == len(words)
