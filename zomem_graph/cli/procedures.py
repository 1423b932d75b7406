"""`zomem procedures`: how things are done, version by version."""

from collections.abc import Sequence
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import FileWord, Limit, json_array_in
from zomem_graph.nodes.rules.procedures import success_interval, success_rate
from zomem_graph.nodes.steps.procedures import Evolution
from zomem_graph.stores.work_records import Procedure

__all__ = ["procedures"]

procedures = group(
    "How things are done, and how often that works. Example: zomem procedures show site-review",
    usage="| COMMAND [ARGS]...",
)

Name = Annotated[str, typer.Argument(metavar="NAME|ID", help="The name, the id or its first characters.")]
Success = Annotated[bool, typer.Option("--success", help="It went well.")]
Failure = Annotated[bool, typer.Option("--failure", help="It failed.")]


@sub_command(procedures, "list")
def _list(
    call: Call,
    limit: Limit = 100,
    listed: Annotated[bool, typer.Option("--list", hidden=True)] = False,
    show: Annotated[str | None, typer.Option("--show", metavar="NAME", hidden=True)] = None,
    feedback: Annotated[str | None, typer.Option("--feedback", metavar="ID", hidden=True)] = None,
    evolve: Annotated[str | None, typer.Option("--evolve", metavar="NAME", hidden=True)] = None,
    success: Annotated[bool, typer.Option("--success", hidden=True)] = False,
    failure: Annotated[bool, typer.Option("--failure", hidden=True)] = False,
) -> None:
    """List the latest version of each procedure."""
    if sum(word is not None for word in (show, feedback, evolve)) + listed > 1:
        raise typer.BadParameter("only one of --list, --show, --feedback and --evolve.", param_hint="procedures")
    if show is not None:
        _show(call, show)
    elif feedback is not None:
        _feedback(call, feedback, success=success, failure=failure)
    elif evolve is not None:
        _evolve(call, evolve)
    else:
        with call.memory() as memory:
            found = memory.procedures.list(scope=call.scope(memory), limit=limit)
        call.answer(found, lambda screen: _show_all(screen, found))


@sub_command(procedures, "show")
def _show(
    call: Call,
    name: Name,
    version: Annotated[int | None, typer.Option("--version", metavar="N", help="Not the latest.")] = None,
) -> None:
    """Show the steps of a procedure and where it came from."""
    with call.memory() as memory:
        scope = call.scope(memory)
        found = memory.procedures.show(name, version=version, scope=scope)
        line = memory.procedures.versions(found.id, scope=scope)
    call.answer(found, lambda screen: _show_one(screen, found, line))


@sub_command(procedures, "create")
def _create(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name; one that is there gets its next version.")],
    file: FileWord,
    category: Annotated[str | None, typer.Option("--category", help="The class of tasks it is for.")] = None,
) -> None:
    """Store a procedure: a JSON array of steps, each with an executor.

    Example: zomem procedures create site-review steps.json
    """
    steps = json_array_in(file)
    with call.memory() as memory:
        made = memory.procedures.create(name, steps, category=category, source="cli", scope=call.scope(memory))
    call.answer(made, lambda screen: _show_all(screen, [made]))


@sub_command(procedures, "feedback")
def _feedback(
    call: Call,
    name: Name,
    success: Success = False,
    failure: Failure = False,
    episode: Annotated[str | None, typer.Option("--episode", metavar="ID", help="What happened then.")] = None,
) -> None:
    """Count how a run of it ended.

    Example: zomem procedures feedback site-review --success
    """
    if success == failure:
        raise typer.BadParameter("say one of --success and --failure.", param_hint="feedback")
    with call.memory() as memory:
        scope = call.scope(memory)
        episode_id = None if episode is None else memory.episodes.show(episode, scope=scope).id
        counted = memory.procedures.feedback(name, success=success, episode_id=episode_id, scope=scope)
    call.answer(counted, lambda screen: _show_all(screen, [counted]))


@sub_command(procedures, "evolve")
def _evolve(
    call: Call,
    name: Name,
    model: Annotated[str | None, typer.Option("--model", metavar="P:M", help="The chat model to ask.")] = None,
) -> None:
    """Make the next version from what failed."""
    with call.memory() as memory:
        done = memory.procedures.evolve(name, model=model, scope=call.scope(memory))
    call.answer(done, lambda screen: _show_evolution(screen, done))
    call.notes(done.degraded)


@sub_command(procedures, "learn")
def _learn(
    call: Call,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="What the work was about.")],
    name: Annotated[str | None, typer.Option("--name", help="What to call it.")] = None,
) -> None:
    """Make a procedure of what went well about something, at least twice in 30 days."""
    with call.memory() as memory:
        made = memory.procedures.learn(entity, name=name, scope=call.scope(memory))
    call.answer(made, lambda screen: _show_all(screen, [made]))


def _show_all(screen: Screen, found: Sequence[Procedure]) -> None:
    if not found:
        screen.note("no procedures")
        return
    rows = [
        (one.name, f"v{one.version}", str(len(one.steps)), _counts(one), one.id[:8], one.category or "")
        for one in found
    ]
    screen.table(("name", "version", "steps", "went well", "id", "category"), rows)


def _counts(one: Procedure) -> str:
    runs = one.success_count + one.failure_count
    if not runs:
        return "not tried"
    low, high = success_interval(one)
    return f"{one.success_count} of {runs}, expect {success_rate(one):.0%} ({low:.0%}-{high:.0%})"


def _show_one(screen: Screen, found: Procedure, line: Sequence[Procedure]) -> None:
    before = next((one for one in line if one.id == found.evolved_from), None)
    named = {
        "name": found.name,
        "version": f"{found.version} of {line[0].version}",
        "id": found.id,
        "category": found.category,
        "went well": _counts(found),
        "comes from": f"v{before.version} ({before.id[:8]})" if before else None,
        "why": found.rationale,
        "source": found.source,
    }
    screen.pairs({name: value for name, value in named.items() if value})
    rows = [
        (
            str(number),
            str(step["executor"]),
            f"{step['timeout_seconds']:g} s",
            step.get("fallback_executor") or "",
            " ".join(part for part in (step.get("task_pattern"), step.get("notes")) if part),
        )
        for number, step in enumerate(found.steps, start=1)
    ]
    screen.table(("step", "executor", "timeout", "fallback", "what"), rows)


def _show_evolution(screen: Screen, done: Evolution) -> None:
    if done.after is None:
        screen.line(f"{done.before.name} stays v{done.before.version}: {done.rationale}")
        return
    screen.line(
        f"{done.after.name} v{done.before.version} -> v{done.after.version} by {done.method}: {done.rationale}"
    )
