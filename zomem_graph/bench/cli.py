"""`zomem bench …`: one JSON document a suite on standard output, progress on standard error."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from zomem_graph.bench import capture as capture_suite
from zomem_graph.bench import embedders as embedders_suite
from zomem_graph.bench import followups as followups_suite
from zomem_graph.bench import gate as gate_suite
from zomem_graph.bench import graph as graph_suite
from zomem_graph.bench import hops as hops_suite
from zomem_graph.bench import hyde as hyde_suite
from zomem_graph.bench import imports as import_suite
from zomem_graph.bench import knowledge as knowledge_suite
from zomem_graph.bench import latency as latency_suite
from zomem_graph.bench import mcp as mcp_suite
from zomem_graph.bench import recall as recall_suite
from zomem_graph.bench import startup as startup_suite
from zomem_graph.bench import suites as time_suites
from zomem_graph.bench import swarm as swarm_suite
from zomem_graph.bench import through as through_suite
from zomem_graph.bench import vault as vault_suite
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.paths import path_given

__all__ = ["app"]


class _Suites(TyperGroup):
    """The suites, which answer in JSON whether `--json` is said or not."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # Typer's own context
        return super().parse_args(ctx, [word for word in args if word != "--json"])


app = typer.Typer(
    name="bench",
    cls=_Suites,
    help="Measure this memory: each command prints one JSON document.",
    no_args_is_help=True,
    add_completion=False,
)


def _existing(word: str) -> Path:
    path = path_given("--data", word)
    if not path.exists():
        raise InvalidInput(f"There is no file or folder {path}.")
    return path


Data = Annotated[
    Path, typer.Option("--data", help="Folder (or file) of the evaluation set.", metavar="PATH", parser=_existing)
]
Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        parser=partial(path_given, "--home", of="a folder"),
        help="Keep the filled memories here, so that the next run need not embed again.",
    ),
]
Embeddings = Annotated[
    str | None, typer.Option("--embeddings", help="provider:model; the memory's own choice when left out.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="An option by name, such as fusion.session=0; repeatable.")
]


@app.command("recall")
def recall(
    data: Data,
    home: Home = None,
    embeddings: Embeddings = None,
    set_: Settings = None,
    ablate: Annotated[bool, typer.Option("--ablate", help="Also take away one ingredient at a time.")] = False,
    through: Annotated[
        Literal["search", "recall"], typer.Option("--through", help="search, or recall with gate and block.")
    ] = "search",
    limit: Annotated[int | None, typer.Option("--limit", help="Most hits in a block (--through recall).")] = None,
    token_budget: Annotated[
        int | None, typer.Option("--token-budget", help="Most tokens of a block (--through recall).")
    ] = None,
) -> None:
    """Find the evidence of labelled questions: recall@k, all@k, MRR, beside plain words and meaning alone."""
    settings = set_ or []
    if through == "search":
        result = recall_suite.run(data, home=home, embeddings=embeddings, settings=settings, ablate=ablate, say=_say)
    else:
        result = through_suite.run(
            data,
            home=home,
            embeddings=embeddings,
            settings=settings,
            limit=limit,
            token_budget=token_budget,
            say=_say,
        )
    _show(result)


@app.command("hops")
def hops(data: Data, home: Home = None, embeddings: Embeddings = None, set_: Settings = None) -> None:
    """Find what stands in several passages: without hops, with the hop of search, and by `zomem hop`."""
    _show(hops_suite.run(data, home=home, embeddings=embeddings, settings=set_ or [], say=_say))


@app.command("hyde")
def hyde(
    data: Data,
    home: Home = None,
    embeddings: Embeddings = None,
    set_: Settings = None,
    questions: Annotated[
        int | None, typer.Option("--questions", help="Ask so many, drawn by a seed; all when left out.", min=1)
    ] = None,
) -> None:
    """Search without and with an imagined answer: useless ones, and the chat model's where there is one."""
    _show(hyde_suite.run(data, home=home, embeddings=embeddings, settings=set_ or [], questions=questions, say=_say))


@app.command("followups")
def followups(data: Data, home: Home = None, embeddings: Embeddings = None, set_: Settings = None) -> None:
    """Find the answers to messages that lean on their conversation: alone, with history, rewritten by hand."""
    _show(followups_suite.run(data, home=home, embeddings=embeddings, settings=set_ or [], say=_say))


@app.command("gate")
def gate(
    data: Data,
    continuations: Annotated[
        Path | None, typer.Option("--continuations", help="Labelled messages that may go on with past work.")
    ] = None,
    home: Home = None,
    embeddings: Embeddings = None,
    set_: Settings = None,
) -> None:
    """Judge the gate: follow-ups, past work, needing memory, abstention. --data is the folder of all sets."""
    _show(
        gate_suite.run(
            data, continuations=continuations, home=home, embeddings=embeddings, settings=set_ or [], say=_say
        )
    )


@app.command("latency")
def latency(
    n: Annotated[int, typer.Option("--n", help="How many turns the store holds.", min=100)] = 10_000,
    questions: Annotated[int, typer.Option("--questions", help="How many questions are timed.", min=10)] = 200,
    embeddings: Embeddings = None,
    set_: Settings = None,
) -> None:
    """Time search, recall and writes on made-up texts, beside the bare parts in the same run."""
    _show(latency_suite.run(n, questions=questions, embeddings=embeddings, settings=set_ or [], say=_say))


@app.command("graph")
def graph(
    turns: Annotated[int, typer.Option("--turns", help="How long the long thread is.", min=10)] = 1_000,
    calls: Annotated[int, typer.Option("--calls", help="How many turns are timed each way.", min=5)] = 100,
) -> None:
    """Time memory inside a LangGraph graph: overhead, fifty runs at once, a long thread, stable prompt prefixes."""
    _show(graph_suite.run(turns=turns, calls=calls, say=_say))


@app.command("knowledge")
def knowledge(
    facts: Annotated[int, typer.Option("--facts", help="How many facts the store holds.", min=10)] = 100_000,
    links: Annotated[int, typer.Option("--links", help="How many links tie them.", min=10)] = 300_000,
    paths: Annotated[int, typer.Option("--paths", help="How many ways are looked for.", min=1)] = 200,
    home: Home = None,
) -> None:
    """Time ways, gaps, lineage, clusters and pictures of the knowledge graph on made-up facts."""
    _show(knowledge_suite.run(facts, links, paths=paths, home=home, say=_say))


@app.command("capture")
def capture(data: Data) -> None:
    """Compare the facts that rules find in labelled messages with the labels."""
    _show(capture_suite.run(data, say=_say))


@app.command("startup")
def startup(
    rounds: Annotated[int, typer.Option("--rounds", help="How often each command is started.", min=1)] = 7,
) -> None:
    """Time the import, the help, a gate decision and every command that only reads, each in a new process."""
    _show(startup_suite.run(rounds=rounds, say=_say))


@app.command("time")
def time(
    suite: Annotated[
        list[str] | None, typer.Option("--suite", help="One of them by name, repeatable; all when left out.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="What the made-up texts and orders are drawn from.")] = 1,
) -> None:
    """Check that memory stays true and safe over time, on made-up histories; exit 1 when a mark is missed."""
    result = time_suites.run(suite or (), seed=seed, say=_say)
    _show(result)
    if not result["passed"]:
        raise typer.Exit(1)


@app.command("mcp")
def mcp(
    n: Annotated[int, typer.Option("--n", help="How many facts the store holds.", min=100)] = 10_000,
    calls: Annotated[int, typer.Option("--calls", help="How many searches at once.", min=1)] = 200,
    embeddings: Embeddings = None,
) -> None:
    """Ask an MCP server many searches at once, over HTTP: calls a second, errors, times."""
    _show(mcp_suite.run(n, calls=calls, embeddings=embeddings, say=_say))


@app.command("import")
def import_(
    n: Annotated[int, typer.Option("--n", help="How many notes.", min=10)] = 10_000,
) -> None:
    """Import a vault of made-up notes: notes a second, peak memory, found by words and by meaning."""
    _show(import_suite.run(n, say=_say))


@app.command("swarm")
def swarm(
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder of LoCoMo, for the tokens of memory.", metavar="PATH", parser=_existing),
    ] = None,
    tasks: Annotated[int, typer.Option("--tasks", help="How many tasks a seed.", min=20)] = 500,
    seeds: Annotated[int, typer.Option("--seeds", help="How many seeds.", min=1)] = 20,
    runs: Annotated[int, typer.Option("--runs", help="How many runs of 11 tasks a conversation.", min=1)] = 10,
    home: Home = None,
    embeddings: Embeddings = None,
) -> None:
    """Simulate routing against chance, and count the tokens of memory that the gate saves a swarm."""
    _show(swarm_suite.run(data, tasks=tasks, seeds=seeds, runs=runs, home=home, embeddings=embeddings, say=_say))


@app.command("embedders")
def embedders(
    data: Data,
    home: Home = None,
    embeddings: Annotated[
        list[str] | None,
        typer.Option("--embeddings", help="provider:model, repeatable; all known when left out."),
    ] = None,
) -> None:
    """Compare the installed embedders by meaning alone, and what a text costs."""
    _show(embedders_suite.run(data, names=embeddings or embedders_suite.KNOWN, home=home, say=_say))


@app.command("vault")
def vault(
    data: Data,
    night_count: Annotated[int, typer.Option("--nights", help="Nights to live through; 0 for none.", min=0)] = 30,
    a_night: Annotated[int, typer.Option("--sessions", help="Session logs a night.", min=1)] = 20,
    kill_count: Annotated[int, typer.Option("--kills", help="Consolidations to kill; 0 for none.", min=0)] = 40,
    facts: Annotated[int, typer.Option("--facts", help="Facts to consolidate and read back.", min=0)] = 10_000,
) -> None:
    """Simulate nights of a vault, kill its consolidation, read it back; --data is a file of labelled sessions."""
    _show(
        vault_suite.run(data, night_count=night_count, a_night=a_night, kill_count=kill_count, facts=facts, say=_say)
    )


def _say(line: str) -> None:
    typer.echo(line, err=True)


def _show(result: dict[str, Any]) -> None:
    typer.echo(json.dumps(result, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    app()
