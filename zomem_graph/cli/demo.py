"""`zomem demo`: an agent lives through a conversation and is asked about it in a new thread."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import TimeZone, conversation_in
from zomem_graph.cli.zone import machine_zone
from zomem_graph.conversations import Conversation
from zomem_graph.demo import bundled_conversation
from zomem_graph.demo.run import Answered, Demo, questions_for
from zomem_graph.memory import Memory
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.values import plain
from zomem_graph.stores.errors import ModelError

__all__ = ["demo"]

_PERSONA = "demo"


@command
def demo(
    call: Call,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE|-", help="A conversation of yours; else one that comes with us."),
    ] = None,
    ask: Annotated[list[str] | None, typer.Option("--ask", metavar="TEXT", help="Your question; may repeat.")] = None,
    chat_model: Annotated[
        str | None,
        typer.Option("--chat-model", metavar="P:M", help="Also answer, such as openai:gpt-4o-mini."),
    ] = None,
    time_zone: TimeZone = None,
) -> None:
    """Let an agent live through a conversation, then ask it in a new thread and show what memory gave it.

    The memory is a folder that is removed at the end; with --home it stays.
    """
    conversation = conversation_in(file) if file is not None else bundled_conversation()
    questions = questions_for(conversation, ask or ())
    persona = call.shared.persona or _PERSONA
    with _home(call) as home, Memory.open(home, chat_model=chat_model) as memory:
        agent = Demo(memory, conversation, persona=persona, time_zone=time_zone or machine_zone())
        _introduce(call, conversation, memory)
        _live(call, agent, memory)
        answered = _ask(call, agent, memory, questions)
        document = _document(conversation, memory, answered)
    call.answer(document, lambda screen: screen.line(_summary(document["summary"])))
    call.notes([f"skipped {line}" for line in conversation.skipped])
    labelled = [each for each in answered if each.question.evidence]
    raise typer.Exit(int(bool(labelled) and not any(each.sources for each in labelled)))


@contextmanager
def _home(call: Call) -> Iterator[Path]:
    """Lend the folder that --home names, else one that is gone afterwards; never the user's own memory."""
    if call.shared.home is not None:
        yield call.shared.home
        return
    with tempfile.TemporaryDirectory(prefix="zomem-demo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _introduce(call: Call, conversation: Conversation, memory: Memory) -> None:
    embedder = memory.embedder.identity if memory.embedder else "words only"
    messages = sum(1 for _ in conversation.messages)
    said = f"{number_of(messages, 'messages')} in {number_of(len(conversation.sessions), 'sessions')}"
    call.screen.note(f"{conversation.title}: {said}, one thread. Memory: {memory.settings.home}, {embedder}.")
    call.notes(memory.standing_notes())


def _live(call: Call, agent: Demo, memory: Memory) -> None:
    with call.screen.progress("living through it", agent.turns) as advance:
        for _turn in agent.live():
            advance(1)
    try:
        with call.screen.progress("embedding and indexing"):
            memory.flush()
    except ModelError as error:
        call.screen.note(f"{error} What has no vector yet is found by its words.")


def _ask(call: Call, agent: Demo, memory: Memory, questions: Sequence[Any]) -> list[Answered]:
    answered: list[Answered] = []
    told = set(memory.standing_notes())
    for one in agent.ask(questions, model=memory.chat("conversation")):
        answered.append(one)
        if not call.shared.as_json:
            _show(call.screen, one)
        call.notes([note for note in one.degraded if note not in told])
        told.update(one.degraded)
    return answered


def _show(screen: Screen, one: Answered) -> None:
    screen.line(f"\n? {one.question.text}")
    screen.line(f"  {one.decision}, {one.milliseconds:.0f} ms ({one.method}): {one.reason}")
    for line in one.block.splitlines():
        screen.line(f"  | {line}")
    for number, source in enumerate(one.sources, start=1):
        found = "+".join(source.found_by) or "link"
        said = f" learned from {source.said_in}" if source.kind == "fact" else f" {source.said_in}"
        screen.line(f"    {number}. {source.kind}{said if source.said_in else ''}, {source.score:.2f} by {found}")
    if one.answer is not None:
        screen.line(f"  > {one.answer}")
    if one.question.evidence:
        missing = [turn for turn in one.question.evidence if turn not in one.evidence_found]
        said = "not all found" if missing else "found, but behind its old value" if one.stale_first else "found"
        screen.line(f"  evidence {', '.join(one.question.evidence)}: {said}")


def _document(conversation: Conversation, memory: Memory, answered: Sequence[Answered]) -> dict[str, Any]:
    labelled = [one for one in answered if one.question.evidence]
    needless = [one for one in answered if not one.question.needs_memory]
    times = [one.milliseconds for one in answered]
    return {
        "title": conversation.title,
        "sessions": len(conversation.sessions),
        "turns": memory.stats()["turns"],
        "facts": memory.stats()["facts"],
        "embedder": memory.embedder.identity if memory.embedder else None,
        "questions": [_plain(one) for one in answered],
        "summary": {
            "asked": len(answered),
            "labelled": len(labelled),
            "found": sum(bool(one.right) for one in labelled),
            "stale_first": sum(one.stale_first for one in labelled),
            "needless": len(needless),
            "left_alone": sum(bool(one.right) for one in needless),
            "mean_ms": sum(times) / len(times) if times else 0.0,
        },
    }


def _plain(one: Answered) -> dict[str, Any]:
    question = one.question
    return {
        "question": question.text,
        "kind": question.kind,
        "needs_memory": question.needs_memory,
        "expected": question.answer,
        "evidence": list(question.evidence),
        "evidence_found": list(one.evidence_found),
        "stale": list(question.stale),
        "stale_first": one.stale_first,
        "right": one.right,
        **plain({name: getattr(one, name) for name in Answered.__slots__ if name != "question"}),
    }


def _summary(counted: dict[str, Any]) -> str:
    asked = f"{counted['asked']} question{'' if counted['asked'] == 1 else 's'}"
    parts = [f"\n{asked}, {counted['mean_ms']:.0f} ms on average"]
    if counted["labelled"]:
        parts.append(f"{counted['found']} of {counted['labelled']} labelled questions found their evidence")
    if counted["stale_first"]:
        parts.append(f"{counted['stale_first']} met an old value first")
    if counted["needless"]:
        parts.append(f"{counted['left_alone']} of {counted['needless']} that need no memory were left alone")
    return "; ".join(parts) + "."
