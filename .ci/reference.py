"""Write docs/reference from the code: every command, JSON document, setting and MCP tool.

Run it after a command, setting or tool has changed: `make reference`. A test compares the pages with the code.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer
from mcp import Client
from typer.testing import CliRunner

from zomem_graph import Memory
from zomem_graph.cli import COMMANDS, app
from zomem_graph.cli.examples import EXAMPLES
from zomem_graph.server import create_server
from zomem_graph.settings import VARIABLES, Settings

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTE = "<!-- Written by .ci/reference.py; run `make reference` after a change. -->"

# Command -> why there is no JSON document to show.
NO_DOCUMENT = {
    "mcp run": "speaks the Model Context Protocol",
    "serve": "answers over HTTP until it is stopped",
    "models fetch": "needs the network; answers with `model` and `folder`",
    "summaries show": "answers with one entry of `summaries`; the sample has no episodes that are old enough",
    "conflicts resolve": "answers with one entry of `conflicts list`; the sample has no conflict",
    "maintain undo": "answers with `run_id`, `undone` and `left`; the sample has nothing to undo",
    "vault restore": "needs a fact that was archived long ago",
}
TALK = "Ana: My name is Ana. I live in Porto.\nAssistant: Noted.\nAna: I must fix the login page.\n"
PADDING = "Assistant: " + "Of course. " * 30 + "\n"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One command without commands below it."""

    path: str
    command: Any


@dataclass(frozen=True, slots=True)
class Sample:
    """One call whose JSON document is shown. `saves`: name -> where in the document it is found."""

    path: str
    words: str
    saves: Mapping[str, str] = field(default_factory=dict)
    exits: tuple[int, ...] = (0,)


SAMPLES = (
    Sample("init", "init"),
    Sample("remember", "remember ana city Porto --category preference", {"fact": "id"}),
    Sample("remember", "remember site name Harbour", {"site": "id"}),
    Sample("remember", "remember host place Lyon", {"host": "id"}),
    Sample("observe", "observe {talk} --session monday"),
    Sample("capture file", "capture {talk} --session tuesday"),
    Sample("capture stats", "capture stats"),
    Sample("capture retry", "capture retry"),
    Sample("conversations", "conversations --root {root}"),
    Sample("import", "import text {note}"),
    Sample("search", "search city"),
    Sample("recall", "recall 'what did I say about my city?'"),
    Sample("gate", "gate 'what did I say about my city?'", exits=(0, 2, 3)),
    Sample("continuation", "continuation 'where did we leave off?'"),
    Sample("hop", "hop 'which city'"),
    Sample("lookup", "lookup ana"),
    Sample("provenance", "provenance {fact}"),
    Sample("loops create", "loops create 'Paint the boat' --entity boat", {"loop": "id"}),
    Sample("loops list", "loops"),
    Sample("loops show", "loops show {loop}"),
    Sample("loops snooze", "loops snooze {loop} --until 'in 2 hours'"),
    Sample("loops wake", "loops wake {loop}"),
    Sample("resolve-loop", "resolve-loop --id {loop} 'the boat is painted'"),
    Sample("loops reopen", "loops reopen {loop}"),
    Sample("episodes create", "episodes create --summary 'Deployed the site' --entity site", {"episode": "id"}),
    Sample("episodes list", "episodes"),
    Sample("episodes show", "episodes show {episode}"),
    Sample("episodes finish", "episodes finish {episode} --outcome success"),
    Sample("trends", "trends site"),
    Sample("summaries run", "summaries run"),
    Sample("summaries list", "summaries"),
    Sample("link", "link --source {site} --target {host} --relation depends_on"),
    Sample("unlink", "unlink --source {site} --target {host}"),
    Sample("graph link", "graph link --source {site} --target {host} --relation depends_on"),
    Sample("graph show", "graph show --entity site"),
    Sample("graph find-connections", "graph find-connections --from site --to host"),
    Sample("graph knowledge-gaps", "graph knowledge-gaps"),
    Sample("graph ancestors", "graph ancestors site"),
    Sample("graph descendants", "graph descendants host"),
    Sample("graph cycles", "graph cycles"),
    Sample("graph infer", "graph infer site"),
    Sample("graph articulation", "graph articulation"),
    Sample("graph communities", "graph communities --least 1"),
    Sample("graph relations", "graph relations"),
    Sample("graph export", "graph export --format mermaid"),
    Sample("graph unlink", "graph unlink --source {site} --target {host}"),
    Sample("procedures create", "procedures create deploy {steps}", {"procedure": "id"}),
    Sample("procedures list", "procedures"),
    Sample("procedures show", "procedures show deploy"),
    Sample("procedures feedback", "procedures feedback deploy --failure"),
    Sample("procedures evolve", "procedures evolve deploy"),
    Sample("procedures learn", "procedures learn site", exits=(0, 1)),
    Sample("profile record", "profile record codex --success --category build"),
    Sample("profile show", "profile codex"),
    Sample("profile export", "profile export {history}"),
    Sample("profile import", "profile import {history}"),
    Sample("route", "route 'build the site' --executors codex,gemini"),
    Sample("conflicts detect", "conflicts detect"),
    Sample("conflicts list", "conflicts"),
    Sample("conflicts history", "conflicts history ana city"),
    Sample("conflicts resolve-all", "conflicts resolve-all"),
    Sample("conflicts stats", "conflicts stats"),
    Sample("personas add", "personas add ann Gardener"),
    Sample("personas list", "personas"),
    Sample("personas show", "personas show ann"),
    Sample("personas inherit", "personas inherit ann bob"),
    Sample("personas pool create", "personas pool create garden ann"),
    Sample("personas pool add", "personas pool add garden bob"),
    Sample("personas pool remove", "personas pool remove garden bob"),
    Sample("personas pool list", "personas pool list"),
    Sample("mcp config", "mcp config claude-code"),
    Sample("schedule show", "schedule show"),
    Sample("schedule install", "schedule install --cron {table}"),
    Sample("schedule remove", "schedule remove --cron {table}"),
    Sample("prune", "prune"),
    Sample("decay", "decay"),
    Sample("consolidate", "consolidate"),
    Sample("maintain run", "maintain"),
    Sample("migrate", "migrate --dry-run"),
    Sample("rollback", "rollback --dry-run"),
    Sample("briefing", "briefing"),
    Sample("index", "index"),
    Sample("models list", "models"),
    Sample("flush", "flush"),
    Sample("stats", "stats"),
    Sample("health", "health", exits=(0, 1)),
    Sample("verify", "verify"),
    Sample("repair", "repair"),
    Sample("config", "config"),
    Sample("metrics", "metrics"),
    Sample("budget init", "budget init --max-tokens 4000"),
    Sample("budget track", "budget track 100 20"),
    Sample("budget status", "budget status"),
    Sample("budget reset", "budget reset"),
    Sample("checkpoint save", "checkpoint save 'paint the boat'", {"checkpoint": "id"}),
    Sample("checkpoint list", "checkpoint list"),
    Sample("checkpoint load", "checkpoint load {checkpoint}"),
    Sample("checkpoint restore", "checkpoint restore {checkpoint}"),
    Sample("vault init", "vault init --data-path {vault}"),
    Sample("vault ingest", "vault ingest {facts} --data-path {vault}"),
    Sample("vault recall", "vault recall tea --data-path {vault}"),
    Sample("vault summarize", "vault summarize --data-path {vault}"),
    Sample("vault consolidate", "vault consolidate --data-path {vault}"),
    Sample("vault status", "vault status --data-path {vault}"),
    Sample("vault health-check", "vault health-check --data-path {vault}", exits=(0, 1)),
    Sample("vault quality-probe", "vault quality-probe --data-path {vault}", exits=(0, 1)),
    Sample("vault install-cron", "vault install-cron --data-path {vault}"),
    Sample("vault rebuild", "vault rebuild --data-path {vault} --replace"),
    Sample("vault smoke-test", "vault smoke-test --data-path {vault}", exits=(0, 1)),
    Sample("retract", "retract {host} --reason 'a mistake'"),
    Sample("delete", "delete {site}"),
    Sample("forget", "forget --entity ana --yes"),
    Sample("demo", "demo {talk} --ask 'Where do I live?'"),
)


def leaves() -> Iterator[Leaf]:
    """Yield every command in the order of the overview."""
    root = typer.main.get_command(app)
    for name, entry in COMMANDS.items():
        if not entry.hidden:
            yield from _below(root.get_command(typer.Context(root), name), name)


def _below(command: Any, path: str) -> Iterator[Leaf]:
    inner = getattr(command, "commands", None)
    if not inner:
        yield Leaf(path, command)
        return
    for name, each in inner.items():
        if not each.hidden:
            yield from _below(each, f"{path} {name}")


def example_of(leaf: Leaf) -> str:
    """Return the example in a command's help, without the word before it."""
    text = f"{leaf.command.help or ''}\n\n{leaf.command.epilog or ''}"
    found = re.search(r"Example: (.+?)(?:\n\s*\n|$)", text, re.DOTALL)
    return " ".join(found[1].split()).rstrip(".") if found else ""


def commands_page() -> str:
    """Return the page of every command, with its options and example."""
    everywhere = (
        "`--home`, `--persona` and `--json` go with each of them. The suites of `bench` fill memories of their "
        "own, so they take no persona, and answer in JSON whether `--json` is said or not."
    )
    lines = [NOTE, "# Every command", "", everywhere, ""]
    panel = ""
    for leaf in leaves():
        entry = COMMANDS[leaf.path.split()[0]]
        if entry.panel != panel:
            panel = entry.panel
            lines += [f"## {panel}", ""]
        words = " ".join(each.metavar or each.name.upper() for each in leaf.command.params if _is_argument(each))
        help_text = (leaf.command.help or "").split("Example:")[0].split("\f")[0]
        lines += [
            f"### zomem {leaf.path}",
            "",
            *(" ".join(part.split()) + "\n" for part in help_text.split("\n\n") if part.strip()),
        ]
        lines += ["```bash", example_of(leaf), "```", ""]
        lines += [f"- `{words}`"] if words else []
        lines += [_option_line(each) for each in leaf.command.params if _is_own(each)]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _is_own(parameter: Any) -> bool:
    shared = {"home", "persona", "as_json", "help"}
    return not _is_argument(parameter) and parameter.name not in shared and not getattr(parameter, "hidden", False)


def _option_line(parameter: Any) -> str:
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    value = "" if parameter.is_flag else f" {parameter.metavar or parameter.name.upper()}"
    return f"- `{names}{value}`: {' '.join((parameter.help or '').split())}"


# -- JSON documents ----------------------------------------------------------------------------------


def documents(folder: Path) -> dict[str, Any]:
    """Run every sample in a fresh home and return the first document of each command."""
    hidden = dict.fromkeys(name for name in os.environ if name.startswith(("ZO", "OPENAI")))
    variables = {**hidden, "ZOMEM_HOME": str(folder / "home"), "ZO_MODEL_EMBEDDING": "none"}
    known = _files(folder)
    found: dict[str, Any] = {}
    for sample in SAMPLES:
        if sample.path.split()[0] not in COMMANDS:
            continue
        words = [part.format(**known) for part in _words(sample.words)]
        result = CliRunner().invoke(app, [*words, "--json"], env=variables)
        if result.exit_code not in sample.exits:
            raise SystemExit(f"{words} ended with {result.exit_code}: {result.output}")
        document = json.loads(result.stdout) if result.stdout.strip() else None
        known |= {name: document[key] for name, key in sample.saves.items()}
        found.setdefault(sample.path, document)
    return found


def _words(text: str) -> list[str]:
    return [quoted or plain for quoted, plain in re.findall(r"'([^']*)'|(\S+)", text)]


def _files(folder: Path) -> dict[str, str]:
    texts = {
        "talk": ("chat.md", TALK),
        "note": ("note.txt", "The harbour opens at nine. " * 10),
        "steps": ("steps.json", json.dumps([{"executor": "codex", "task_pattern": "build"}])),
        "facts": ("facts.jsonl", json.dumps({"subject": "ana", "predicate": "likes", "object": "tea"}) + "\n"),
    }
    for name, text in texts.values():
        (folder / name).write_text(text, "utf-8")
    workspace = folder / "workspaces" / "con_a"
    workspace.mkdir(parents=True)
    (workspace / "chat.md").write_text("Bea: I live in Lyon.\n" + PADDING, "utf-8")
    return {key: str(folder / name) for key, (name, _text) in texts.items()} | {
        "root": str(folder / "workspaces"),
        "history": str(folder / "history.json"),
        "table": str(folder / "crontab"),
        "vault": str(folder / "vault"),
    }


def shape(value: Any) -> Any:
    """Return what kind of thing stands where in a document; a mapping of free names is one kind."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        kinds = [shape(each) for each in value]
        return [_merged(kinds)] if kinds else []
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "number"
    if value is None:
        return "null"
    return "text"


def _merged(kinds: Sequence[Any]) -> Any:
    if all(isinstance(kind, dict) for kind in kinds):
        names = dict.fromkeys(name for kind in kinds for name in kind)
        return {name: _merged([kind[name] for kind in kinds if name in kind]) for name in names}
    told = list(dict.fromkeys(json.dumps(kind) for kind in kinds))
    return json.loads(told[0]) if len(told) == 1 else " or ".join(sorted(part.strip('"') for part in told))


def names_in(document: Any) -> Any:
    """Return the stable part of a document: the names at its top, or those of each of its entries."""
    if isinstance(document, list):
        return ["list", *sorted({name for each in document if isinstance(each, dict) for name in each})]
    return sorted(document) if isinstance(document, dict) else type(document).__name__


def json_page() -> str:
    """Return the page of what each command answers with --json."""
    with tempfile.TemporaryDirectory() as folder:
        found = documents(Path(folder))
    lines = [NOTE, "# What --json answers", ""]
    lines += [
        "Names that are listed here stay; new ones may come. `null` stands for what was empty in the sample.",
        "",
    ]
    for leaf in leaves():
        if leaf.path in found:
            lines += [
                f"## zomem {leaf.path}",
                "",
                "```json",
                json.dumps(shape(found[leaf.path]), indent=1),
                "```",
                "",
            ]
    lines += ["## Without a document", ""]
    known = {leaf.path for leaf in leaves()}
    lines += [f"- `{path}`: {why}" for path, why in NO_DOCUMENT.items() if path in known]
    lines.append("- `bench …`: always one document, whose form is that of its suite")
    return "\n".join(lines) + "\n"


# -- settings and tools ------------------------------------------------------------------------------


def settings_page() -> str:
    """Return the page of every setting."""
    lines = [NOTE, "# Every setting", ""]
    lines += ["An argument beats a variable, a variable beats `HOME/zomem.yaml`, and that the default.", ""]
    lines += ["| in zomem.yaml | variable | default |", "|---|---|---|"]
    for name, variables in VARIABLES.items():
        default = "~/.zomem" if name == "home" else Settings.__dataclass_fields__[name].default
        lines.append(f"| {name} | {', '.join(variables)} | {'' if default is None else default} |")
    return "\n".join(lines) + "\n"


def tools_page() -> str:
    """Return the page of every MCP tool."""

    async def listed() -> Any:
        with tempfile.TemporaryDirectory() as folder, Memory.open(folder, embeddings="none") as memory:
            async with Client(create_server(memory)) as client:
                return (await client.list_tools()).tools

    lines = [NOTE, "# Every MCP tool", ""]
    for tool in asyncio.run(listed()):
        hints = tool.annotations
        kind = "reads" if hints.read_only_hint else "removes" if hints.destructive_hint else "writes"
        needed = set(tool.input_schema.get("required", ()))
        lines += [f"## {tool.name}", "", f"{' '.join(tool.description.split())} ({kind})", ""]
        for name, about in tool.input_schema["properties"].items():
            star = "*" if name in needed else ""
            lines.append(f"- `{name}`{star}: {about.get('description', '')}".rstrip(": "))
        answers = ", ".join(f"`{name}`" for name in tool.output_schema["properties"])
        lines += ["", f"Answers: {answers}.", ""]
    return "\n".join(lines).rstrip() + "\n"


PAGES = {"cli.md": commands_page, "settings.md": settings_page, "mcp-tools.md": tools_page, "cli-json.md": json_page}


def main(arguments: Sequence[str]) -> None:
    """Write every page, or those that are named."""
    FOLDER.mkdir(exist_ok=True)
    for name in arguments or PAGES:
        (FOLDER / name).write_text(PAGES[name](), "utf-8")


__all__ = ["EXAMPLES", "NO_DOCUMENT", "PAGES", "SAMPLES", "documents", "example_of", "leaves", "names_in"]

if __name__ == "__main__":
    main(sys.argv[1:])
