"""`zomem profile`: which executor did what how well."""

from collections.abc import Sequence
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.steps.executors import ExecutorProfile

__all__ = ["profile"]

profile = group(
    "What is known of an executor. Example: zomem profile claude-code",
    usage="[EXECUTOR] | COMMAND [ARGS]...",
)

_SHOWN = 5
File = Annotated[str, typer.Argument(metavar="FILE", help="An executor-history.json.")]


@sub_command(profile, "show")
def _show(
    call: Call,
    executor: Annotated[str | None, typer.Argument(metavar="EXECUTOR", help="All when left out.")] = None,
    named: Annotated[str | None, typer.Option("--executor", metavar="NAME", hidden=True)] = None,
) -> None:
    """Show what an executor did in each category."""
    name = executor or named
    with call.memory() as memory:
        scope = call.scope(memory)
        found = [memory.profiles.show(name, scope=scope)] if name else memory.profiles.list(scope=scope)
    call.answer(found[0] if name else found, lambda screen: _show_all(screen, found))


@sub_command(profile, "record")
def _record(
    call: Call,
    executor: Annotated[str, typer.Argument(metavar="EXECUTOR")],
    success: Annotated[bool, typer.Option("--success", help="It went well.")] = False,
    failure: Annotated[bool, typer.Option("--failure", help="It failed.")] = False,
    category: Annotated[str, typer.Option("--category", help="The class of the task.")] = "general",
    error: Annotated[str | None, typer.Option("--error", help="What it said when it failed.")] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", help="How long it took.")] = None,
) -> None:
    """Write down one attempt.

    Example: zomem profile record codex --failure --category fix --error "timed out"
    """
    if success == failure:
        raise typer.BadParameter("say one of --success and --failure.", param_hint="record")
    with call.memory() as memory:
        stored = memory.profiles.record(
            executor,
            success=success,
            category=category,
            error=error,
            duration_ms=None if seconds is None else seconds * 1_000,
            scope=call.scope(memory),
        )
    call.answer(stored, lambda screen: screen.line(f"{stored.executor}: {stored.outcome} in {stored.category}"))


@sub_command(profile, "import")
def _import(call: Call, file: File) -> None:
    """Take in the original's history file; taken in again, it counts once."""
    with call.memory() as memory:
        count = memory.profiles.import_file(file, scope=call.scope(memory))
    call.answer({"entries": count}, lambda screen: screen.line(f"took in {number_of(count, 'entries')}"))


@sub_command(profile, "export")
def _export(call: Call, file: File) -> None:
    """Write all profiles in the original's form."""
    with call.memory() as memory:
        count = memory.profiles.export_file(file, scope=call.scope(memory))
    call.answer({"entries": count}, lambda screen: screen.line(f"wrote {number_of(count, 'entries')} to {file}"))


def _show_all(screen: Screen, found: Sequence[ExecutorProfile]) -> None:
    if not found:
        screen.note("memory knows no executor yet")
        return
    rows = [
        (
            each.executor,
            one.category,
            f"{one.successes} of {one.attempts}",
            f"{one.rate:.0%}",
            "" if one.average_ms is None else f"{one.average_ms / 1_000:,.1f} s",
            ", ".join(one.failure_patterns),
            ", ".join(
                f"{name} {value:.2f}"
                for name, value in sorted(one.entity_affinities.items(), key=lambda pair: -pair[1])[:_SHOWN]
            ),
        )
        for each in found
        for one in each.categories
    ]
    screen.table(("executor", "category", "went well", "expect", "takes", "failed by", "affinities"), rows)
    for each in found:
        if each.breaker.state != "closed":
            screen.line(f"{each.executor}: {each.breaker.state} after {each.breaker.failures} failures")
