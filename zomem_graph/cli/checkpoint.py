"""`zomem checkpoint`: where tasks stand, saved and taken up again."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import Limit, text_given
from zomem_graph.stores.checkpoint_files import Checkpoint

__all__ = ["checkpoint"]

checkpoint = group('Where tasks stand, newest first. Example: zomem checkpoint save "Move the site to nginx"')

CheckpointId = Annotated[str, typer.Argument(metavar="ID", help="The id or its first characters.")]


@sub_command(checkpoint, "list")
def _list(
    call: Call,
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", help="task or budget; else both.")] = None,
    limit: Limit = 10,
) -> None:
    """List checkpoints: saved by hand, or because a prompt was filling up."""
    with call.memory() as memory:
        found = memory.checkpoints.list(kind=kind, limit=limit, scope=call.scope(memory))
    call.answer(found, lambda screen: _show_all(screen, found))


@sub_command(checkpoint, "save")
def _save(
    call: Call,
    intent: Annotated[str, typer.Argument(metavar="INTENT", help="What the task is; - reads standard input.")],
    state: Annotated[str, typer.Option("--state", metavar="TEXT", help="How far it is.")] = "",
    expected: Annotated[str, typer.Option("--expected", metavar="TEXT", help="What is to come of it.")] = "",
    file: Annotated[list[str] | None, typer.Option("--file", metavar="F", help="In use; may be repeated.")] = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="THREAD", help="Of which conversation.")] = None,
) -> None:
    """Save where a task stands, with what is open; recall knows it for four hours."""
    with call.memory() as memory:
        scope = replace(call.scope(memory), thread=thread)
        saved = memory.checkpoints.save(
            text_given(intent), state=state, expected_outcome=expected, working_files=file or [], scope=scope
        )
    call.answer(saved, lambda screen: _show_all(screen, [saved]))


@sub_command(checkpoint, "load")
def _load(call: Call, checkpoint_id: CheckpointId) -> None:
    """Show one checkpoint."""
    with call.memory() as memory:
        found = memory.checkpoints.load(checkpoint_id, scope=call.scope(memory))
    call.answer(found, lambda screen: _show_one(screen, found))


@sub_command(checkpoint, "restore")
def _restore(call: Call, checkpoint_id: CheckpointId) -> None:
    """Take a task up again: recall knows its state as of now."""
    with call.memory() as memory:
        found = memory.checkpoints.restore(checkpoint_id, scope=call.scope(memory))
    call.answer(found, lambda screen: _show_one(screen, found))


def _show_all(screen: Screen, found: Sequence[Checkpoint]) -> None:
    if not found:
        screen.note("no checkpoints")
        return
    rows = [(one.id, f"{one.created_at.astimezone():%Y-%m-%d %H:%M}", one.kind, one.intent) for one in found]
    screen.table(("id", "when", "kind", "task"), rows)


def _show_one(screen: Screen, found: Checkpoint) -> None:
    named = {
        "id": found.id,
        "when": f"{found.created_at.astimezone():%Y-%m-%d %H:%M}",
        "task": found.intent,
        "state": found.state,
        "expected": found.expected_outcome,
        "files": ", ".join(found.working_files),
        "thread": found.thread,
        "open": "; ".join(str(loop["text"]) for loop in found.open_loops),
        "going on": "; ".join(str(one["text"]) for one in found.pending_episodes),
    }
    screen.pairs({name: value for name, value in named.items() if value})
    rows = [("shown" if one.get("shown") else "left out", str(one["kind"]), str(one["text"])) for one in found.facts]
    screen.table(("recall", "kind", "text"), rows)
