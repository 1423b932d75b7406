"""The demo itself: a chat graph lives through a conversation in one thread and is asked about it in another.

Nothing here is special to the demo but the host's chat node, which says the lines of the file: memory,
graph and checkpointer are the ones an application uses.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from zomem_graph.conversations import Conversation, Message, Question
from zomem_graph.graphs import create_chat_graph, with_memory
from zomem_graph.memory import Memory
from zomem_graph.nodes.ports import Ask, ChatModel
from zomem_graph.nodes.rules.changed import since_then
from zomem_graph.nodes.rules.entities import entities, entity_key
from zomem_graph.nodes.rules.fence import CLOSE, OPEN
from zomem_graph.nodes.state import MemoryState
from zomem_graph.stores.errors import ZomemError

__all__ = ["Answered", "Demo", "Source", "questions_for"]

_MOST_QUESTIONS = 30
_MOST_NAMES = 3
_INSTRUCTION = "Answer in one or two sentences from what was recalled. Say so when it holds no answer."


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One line of a block and where it came from; `said_in` is the message's id in the file.

    `outdated`: the line itself says what has changed since.
    """

    line: str
    kind: str
    id: str
    score: float
    found_by: tuple[str, ...]
    said_in: str | None
    outdated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What happened to one question. `milliseconds` is from the question to the host's chat node."""

    question: Question
    decision: str
    method: str
    reason: str
    block: str
    sources: tuple[Source, ...]
    milliseconds: float
    degraded: tuple[str, ...] = ()
    answer: str | None = None

    @property
    def evidence_found(self) -> tuple[str, ...]:
        """Return the labelled turns that are in the block, as themselves or as a fact learned from them."""
        said_in = {source.said_in for source in self.sources}
        return tuple(turn for turn in self.question.evidence if turn in said_in)

    @property
    def right(self) -> bool | None:
        """Whether memory did what the label asks; None for a question without a label.

        A value that changed is to be there, and its old one must not stand before it without a word.
        """
        if not self.question.needs_memory:
            return self.decision == "skip"
        if not self.question.evidence:
            return None
        return len(self.evidence_found) == len(set(self.question.evidence)) and not self.stale_first

    @property
    def stale_first(self) -> bool:
        """Whether an old value stands before the evidence, and its line does not say that it has changed."""
        for source in self.sources:
            if source.said_in in self.question.evidence:
                return False
            if not source.outdated and any(old.casefold() in source.line.casefold() for old in self.question.stale):
                return True
        return False


class Demo:
    """One agent with a memory and a checkpointer, and the threads it talks in."""

    def __init__(self, memory: Memory, conversation: Conversation, *, persona: str, time_zone: str) -> None:
        self._memory = memory
        self._exchanges = tuple(_exchanges(conversation))
        self._host = _Host()
        self._app = create_chat_graph(memory, self._host).compile(checkpointer=InMemorySaver())
        # Threads are named by the moment, so that a home may see several demos.
        self._thread = f"demo {memory.clock().isoformat()}"
        self._who = {"persona": persona, "time_zone": time_zone}

    @property
    def turns(self) -> int:
        """How many times the graph runs to live through the conversation."""
        return len(self._exchanges)

    @property
    def last_request(self) -> Sequence[BaseMessage]:
        """What the host's chat node was last about to send to a model."""
        return self._host.requests[-1]

    def live(self) -> Iterator[None]:
        """Run the graph once for each thing that was said to the agent, in one thread."""
        config = self._config(self._thread)
        for said, replies in self._exchanges:
            self._host.lines = replies
            self._app.invoke({"messages": said}, config, durability="exit")
            yield

    def ask(self, questions: Sequence[Question], *, model: ChatModel | None = None) -> Iterator[Answered]:
        """Ask in a new thread; the answers are the model's, when there is one."""
        config = self._config(f"{self._thread}, later")
        said_in = self._messages_of_turns()
        self._host.lines, self._host.model = (), model
        for question in questions:
            started = time.perf_counter()
            state = self._app.invoke({"messages": [HumanMessage(question.text)]}, config, durability="exit")
            yield self._answered(question, state, said_in, self._host.called_at - started)

    def _answered(
        self, question: Question, state: Mapping[str, Any], said_in: Mapping[str, str | None], seconds: float
    ) -> Answered:
        decision = state["memory_decision"]
        block = _block_in(self.last_request)
        lines = [line for line in block.splitlines() if line.startswith("- ")]
        return Answered(
            question=question,
            decision=decision["decision"],
            method=decision["method"],
            reason=decision["reason"],
            block=block,
            sources=tuple(
                _source(line, hit, said_in) for line, hit in zip(lines, state["memory_hits"], strict=False)
            ),
            milliseconds=seconds * 1_000,
            degraded=tuple(dict.fromkeys([*state["memory_degraded"], *self._host.notes])),
            answer=self._host.answer,
        )

    def _messages_of_turns(self) -> dict[str, str | None]:
        with self._memory.stores.read() as unit:
            turns = unit.turns.tail(self._who["persona"], self._thread, 1_000_000)
        return {turn.id: turn.message_id for turn in turns}

    def _config(self, thread: str) -> Any:
        return {"configurable": {"thread_id": thread, **self._who}}


class _Host:
    """The chat node of a host: says the lines of the file or asks its model, and keeps what it was given."""

    def __init__(self) -> None:
        self.lines: Sequence[BaseMessage] = ()
        self.model: ChatModel | None = None
        self.requests: list[Sequence[BaseMessage]] = []
        self.called_at = 0.0
        self.answer: str | None = None
        self.notes: tuple[str, ...] = ()

    def __call__(self, state: MemoryState) -> dict[str, Any]:
        """Answer the latest message of a state."""
        self.called_at = time.perf_counter()
        request = with_memory(state)
        self.requests.append(request)
        self.answer, self.notes = None, ()
        if self.model is None:
            return {"messages": list(self.lines)}
        try:
            self.answer = self.model.ask(_to_ask(request)).text
        except ZomemError as error:
            self.notes = (f"no answer: {error}",)
            return {}
        return {"messages": [AIMessage(self.answer)]}


def questions_for(conversation: Conversation, asked: Sequence[str]) -> tuple[Question, ...]:
    """Return what to ask: the given texts, else a sample of the file's questions, else about its names."""
    if asked:
        return tuple(Question(text=text, answer=None, evidence=()) for text in asked)
    if conversation.questions:
        return _sample(conversation.questions)
    names = _names(conversation)
    return tuple(Question(text=f"What did I tell you about {name}?", answer=None, evidence=()) for name in names)


def _sample(questions: Sequence[Question]) -> tuple[Question, ...]:
    if len(questions) <= _MOST_QUESTIONS:
        return tuple(questions)
    # Adversarial questions are answered by nothing in the file.
    fit = [each for each in questions if each.evidence and each.kind != "adversarial"]
    step = max(1.0, len(fit) / _MOST_QUESTIONS)
    places = (round(number * step) for number in count())
    return tuple(fit[place] for _, place in zip(range(min(_MOST_QUESTIONS, len(fit))), places, strict=False))


def _names(conversation: Conversation) -> list[str]:
    """Return the names that people who spoke mention most, themselves left out."""
    speakers = {entity_key(message.name) for message in conversation.messages if message.name}
    named = (name for message in conversation.messages for name in entities(message.content))
    counted = Counter(name for name in named if name not in speakers)
    return [name for name, _times in counted.most_common(_MOST_NAMES)]


def _exchanges(conversation: Conversation) -> Iterator[tuple[list[BaseMessage], list[BaseMessage]]]:
    """Yield what is said to the agent and what it says then; in a talk of two people it listens."""
    said: list[BaseMessage] = []
    replies: list[BaseMessage] = []
    for message in conversation.messages:
        if message.role in ("user", "system") and (said or replies):
            yield said, replies
            said, replies = [], []
        (said if message.role in ("user", "system") else replies).append(_as_langchain(message))
    yield said, replies


def _as_langchain(message: Message) -> BaseMessage:
    more: dict[str, Any] = {"id": message.id, "name": message.name}
    if message.at is not None:
        more["additional_kwargs"] = {"at": message.at.isoformat()}
    match message.role:
        case "user":
            return HumanMessage(message.content, **more)
        case "assistant":
            return AIMessage(message.content, **more)
        case "system":
            return SystemMessage(message.content, **more)
        case "tool":
            return ToolMessage(message.content, tool_call_id=message.id, **more)


def _block_in(request: Sequence[BaseMessage]) -> str:
    """Return our block out of what a host was about to send, "" when it holds none."""
    for message in request:
        text = str(message.content)
        if isinstance(message, SystemMessage) and OPEN in text:
            return text[text.index(OPEN) : text.index(CLOSE) + len(CLOSE)]
    return ""


def _to_ask(request: Sequence[BaseMessage]) -> Ask:
    recalled = [str(message.content) for message in request if isinstance(message, SystemMessage)]
    return Ask(
        workload="conversation",
        system="\n\n".join([_INSTRUCTION, *recalled]),
        prompt=str(request[-1].content),
    )


def _source(line: str, hit: Mapping[str, Any], said_in: Mapping[str, str | None]) -> Source:
    turn = hit["metadata"].get("turn_id") if hit["kind"] == "fact" else hit["id"]
    return Source(
        line=line,
        kind=hit["kind"],
        id=hit["id"],
        score=hit["score"],
        found_by=tuple(hit["found_by"]),
        said_in=said_in.get(turn) if turn else None,
        outdated=bool(since_then(hit["metadata"])),
    )
