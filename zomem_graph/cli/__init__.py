"""The command line: `zomem COMMAND …`. One small file a command; a file is loaded when its word is typed.

To add a command, write its file and one line in `COMMANDS`.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from importlib.metadata import version
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from zomem_graph.cli.edge import exit_code_of
from zomem_graph.cli.examples import with_examples
from zomem_graph.cli.shared import HomeOption, JsonOption, PersonaOption, Shared

__all__ = ["COMMANDS", "app", "main"]

_TRY, _WRITE, _READ, _SERVE, _CARE = "Try it", "Remember", "Recall", "Lend it to others", "Look after it"


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command is ("module:app") and what the overview says of it; an alias is not listed."""

    target: str
    about: str
    panel: str = ""
    hidden: bool = False


def _alias(target: str) -> Entry:
    return Entry(target, "", hidden=True)


COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {
        "demo": Entry("cli.demo:demo", "Live through a conversation, then ask about it anew.", _TRY),
        "init": Entry("cli.init:init", "Make the memory if there is none; say where it is.", _TRY),
        "remember": Entry("cli.remember:remember", "Store one fact, or many with --batch.", _WRITE),
        "observe": Entry("cli.observe:observe", "Store what was said, word for word and once.", _WRITE),
        "capture": Entry("cli.capture:capture", "Learn from a conversation: turns and facts.", _WRITE),
        "conversations": Entry("cli.conversations:conversations", "Learn from what agents left in folders.", _WRITE),
        "import": Entry("cli.import_:import_", "Bring in chats, notes and memories from elsewhere.", _WRITE),
        "resolve-loop": Entry("cli.resolve_loop:resolve_loop", "Close what a text says is done.", _WRITE),
        "checkpoint": Entry("cli.checkpoint:checkpoint", "Where tasks stand: save, list, load, restore.", _WRITE),
        "link": Entry("cli.link:link", "Tie two things together.", _WRITE),
        "unlink": Entry("cli.unlink:unlink", "Untie two things.", _WRITE),
        "delete": Entry("cli.delete:delete", "Take one thing out of memory.", _WRITE),
        "retract": Entry("cli.retract:retract", "Say that something was never true.", _WRITE),
        "forget": Entry("cli.forget:forget", "Erase for good, and prove it.", _WRITE),
        "search": Entry("cli.search:search", "Find what answers a question.", _READ),
        "recall": Entry("cli.recall:recall", "Return the block to inject before a message.", _READ),
        "gate": Entry("cli.gate:gate", "Recall for scripts: exit 0 inject, 2 not needed, 3 empty.", _READ),
        "lookup": Entry("cli.lookup:lookup", "List the current facts of an entity.", _READ),
        "continuation": Entry("cli.continuation:continuation", "Recall what goes on with earlier work.", _READ),
        "loops": Entry("cli.loops:loops", "What is unfinished: list, open, snooze, reopen.", _READ),
        "episodes": Entry("cli.episodes:episodes", "What happened and how it ended.", _READ),
        "trends": Entry("cli.trends:trends", "How often something went well, over time.", _READ),
        "briefing": Entry("cli.briefing:briefing", "What to know before a session begins.", _READ),
        "summaries": Entry("cli.summaries:summaries", "What happened, in short; summaries of summaries.", _READ),
        "procedures": Entry("cli.procedures:procedures", "How things are done, and how often that works.", _READ),
        "profile": Entry("cli.profile:profile", "Which executor did what how well.", _READ),
        "route": Entry("cli.route:route", "Say who should get a task, and why.", _READ),
        "hop": Entry("cli.hop:hop", "Search over several steps, along links and shared names.", _READ),
        "graph": Entry("cli.graph:graph", "What is tied to what: ways, gaps, clusters, pictures.", _READ),
        "provenance": Entry("cli.provenance:provenance", "Where a fact came from, down to turn and quote.", _READ),
        "conflicts": Entry("cli.conflicts:conflicts", "What cannot both hold: look, list, decide.", _CARE),
        "personas": Entry("cli.personas:personas", "Who there is, who reads whom, in which pools.", _CARE),
        "mcp": Entry("cli.mcp:mcp", "Lend this memory to MCP clients; print their settings.", _SERVE),
        "serve": Entry("cli.serve:serve", "Serve /mcp, /health and /metrics, and look after memory.", _SERVE),
        "schedule": Entry("cli.schedule:schedule", "Upkeep by the clock: cron lines and timers.", _CARE),
        "index": Entry("cli.index:index", "Embed and index what waits, or rebuild the index.", _CARE),
        "models": Entry("cli.models:models", "List local models; fetch one into the home.", _CARE),
        "maintain": Entry("cli.maintain:maintain", "Let time do its work; undo takes it back.", _CARE),
        "prune": Entry("cli.prune:prune", "Take what is past its time out of recall.", _CARE),
        "decay": Entry("cli.decay:decay", "Promote what is used, demote what is not.", _CARE),
        "consolidate": Entry("cli.consolidate:consolidate", "Let facts that say the same be one.", _CARE),
        "flush": Entry("cli.flush:flush", "Wait until the index holds everything.", _CARE),
        "budget": Entry("cli.budget:budget", "How full the prompt is: status, init, reset.", _CARE),
        "metrics": Entry("cli.metrics:metrics", "How memory fares: times, hit rates, the gate, cost.", _CARE),
        "stats": Entry("cli.stats:stats", "Count what is stored.", _CARE),
        "health": Entry("cli.health:health", "Try everything memory needs and name each cure.", _CARE),
        "verify": Entry("cli.verify:verify", "Compare full text and index with the tables.", _CARE),
        "repair": Entry("cli.repair:repair", "Rebuild full text and index from the tables.", _CARE),
        "migrate": Entry("cli.migrate:migrate", "Bring the tables to another schema, or look.", _CARE),
        "rollback": Entry("cli.migrate:rollback", "Take back steps of the schema.", _CARE),
        "config": Entry("cli.config:config", "List the settings and where each comes from.", _CARE),
        "vault": Entry("cli.vault:vault", "Memory in readable files, fully local, with nightly care.", _CARE),
        "bench": Entry("bench.cli:app", "Measure recall, speed and capture.", _CARE),
        "store": _alias("cli.remember:remember"),
        "batch-store": _alias("cli.remember:remember"),
        "hybrid": _alias("cli.search:search"),
        "open-loops": _alias("cli.loops:loops"),
        "auto-capture": _alias("cli.capture:capture"),
        "conversation-capture": _alias("cli.conversations:conversations"),
    }
)


class _Commands(TyperGroup):
    """The root group: knows every word and loads only the one that was typed."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # Typer's own context
        return [name for name, entry in COMMANDS.items() if not entry.hidden]

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # as above
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, name = entry.target.partition(":")
        command = typer.main.get_command(getattr(import_module(f"zomem_graph.{module}"), name))
        command.name = cmd_name
        return with_examples(command, cmd_name)

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]  # as above
        word = args[0]
        if word not in COMMANDS and not word.startswith("-"):
            near = get_close_matches(word, COMMANDS, n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"There is no command {word!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # as above
        self._overview().format_help(ctx, formatter)

    def shell_complete(self, ctx: typer.Context, incomplete: str) -> Any:  # type: ignore[override]  # as above
        return self._overview().shell_complete(ctx, incomplete)

    def main(self, *arguments: Any, standalone_mode: bool = True, **named: Any) -> Any:
        """Run a command line; every failure ends as one line on standard error and exit code 1."""
        run = partial(super().main, *arguments, **{**named, "standalone_mode": False})
        code = exit_code_of(run)
        if standalone_mode:
            sys.exit(code)
        return code

    def _overview(self) -> TyperGroup:
        """Return a group of the same words with nothing behind them, so that listing loads no module."""
        words = {
            name: TyperCommand(name, help=entry.about, rich_help_panel=entry.panel)
            for name, entry in COMMANDS.items()
            if not entry.hidden
        }
        return TyperGroup(
            name=self.name,
            commands=dict(words),
            params=self.params,
            help=self.help,
            rich_markup_mode=self.rich_markup_mode,
        )


app = typer.Typer(
    cls=_Commands,
    help="Persistent memory for agents, from the command line. `-` reads standard input.",
    rich_markup_mode="markdown",
)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(version("zomem-graph"))
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _everywhere(
    context: typer.Context,
    *,
    home: HomeOption = None,
    persona: PersonaOption = None,
    as_json: JsonOption = False,
    told: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    context.obj = Shared(home=home, persona=persona, as_json=as_json)
    if context.invoked_subcommand is None:
        if text := context.get_help():  # empty when Rich has shown it
            typer.echo(text)
        raise typer.Exit(1)


def main() -> None:
    """Run `zomem` with the arguments of the process and exit."""
    app()
