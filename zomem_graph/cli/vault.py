"""`zomem vault`: memory in files people can read, with nightly care; everything on this machine."""

import getpass
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Concatenate, Literal, ParamSpec

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.shared import not_empty, path_in
from zomem_graph.cli.words import Limit, text_given
from zomem_graph.cli.zone import machine_zone
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.scope import Scope
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.vault import Vault
from zomem_graph.vault.consolidation import PATIENCE
from zomem_graph.vault.cron import install, table, uninstall
from zomem_graph.vault.given import lines_in
from zomem_graph.vault.health import as_prometheus
from zomem_graph.vault.options import known_option

__all__ = ["vault"]

vault = group(
    "Memory in files people can read, fully local. Example: zomem vault init --data-path /data/memory",
    usage="COMMAND [ARGS]...",
)

DataPath = Annotated[
    Path | None,
    typer.Option(
        "--data-path",
        metavar="DIR",
        parser=path_in,
        help="Folder of the vault; else data_path under memory_oracle, else /data/memory.",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", parser=path_in, help="YAML with memory_oracle; else zomem.yaml in the home."
    ),
]
Sets = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A figure, such as half_life_days=20.")
]
TakeOver = Annotated[bool, typer.Option("--take-over", help="Take the vault from another machine that is gone.")]


P = ParamSpec("P")
_FLAGS = {"data_path": "--data-path", "home": "--home"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Which vault a command is about."""

    call: Call
    data_path: Path | None
    config: Path | None
    sets: Sequence[str]
    take_over: bool = False

    @contextmanager
    def opened(self, *, make: bool | Literal["home"] = True) -> Iterator[Vault]:
        """Lend the vault; with `make` False one that is not there is an error, with "home" its files have to be."""
        options: dict[str, Any] = dict(_named(one) for one in self.sets)
        if self.call.shared.persona is not None:
            options["persona"] = self.call.shared.persona
        with Vault.open(
            self.data_path,
            home=self.call.shared.home,
            config=self.config,
            take_over=self.take_over,
            usual_zone=machine_zone(),
            make=make,
            **options,
        ) as opened:
            yield opened

    @property
    def words(self) -> list[str]:
        """What of the options a job has to repeat beside path, home and settings file."""
        persona = self.call.shared.persona
        return [
            *(word for one in self.sets for word in ("--set", one)),
            *(() if persona is None else ("--persona", persona)),
        ]


def _action(
    name: str, *, writes: bool = True
) -> Callable[[Callable[Concatenate[Call, _Asked, P], None]], Callable[Concatenate[Call, _Asked, P], None]]:
    """Add a command that is about a vault; which one it is stands in the same options of each."""

    def add(
        function: Callable[Concatenate[Call, _Asked, P], None],
    ) -> Callable[Concatenate[Call, _Asked, P], None]:
        def run(
            call: Call,
            /,
            *,
            data_path: DataPath = None,
            config: Config = None,
            sets: Sets = None,
            take_over: TakeOver = False,
            **own: Any,
        ) -> None:
            asked = _Asked(call=call, data_path=data_path, config=config, sets=sets or (), take_over=take_over)
            function(call, asked, **own)  # type: ignore[call-arg]  # Typer passes what the signature says

        shared = [each for each in inspect.signature(run).parameters.values() if each.kind is not each.VAR_KEYWORD]
        theirs = list(inspect.signature(function, eval_str=True).parameters.values())[2:]
        after = [each for each in shared[1:] if writes or each.name != "take_over"]
        ordered = [shared[0], *(each.replace(kind=each.KEYWORD_ONLY) for each in (*theirs, *after))]
        run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]  # a function may have one
        run.__doc__, run.__name__ = function.__doc__, function.__name__
        sub_command(vault, name)(run)
        return function

    return add


def _named(word: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in word.partition("="))
    if not equals or not name:
        raise InvalidInput(f"--set {word!r:.60}: write NAME=VALUE, such as half_life_days=20.")
    if name in _FLAGS:
        raise InvalidInput(f"--set {name}=… is not how to choose a folder: pass {_FLAGS[name]} DIR.")
    known_option(name, but=_FLAGS)
    return name, value


@_action("status", writes=False)
def _status(call: Call, asked: _Asked) -> None:
    """Show where the vault is and how it stands; write nothing."""
    with asked.opened(make=False) as opened:
        found = opened.status()
    call.answer(found, lambda screen: _show_status(screen, found))


@_action("init")
def _init(
    call: Call,
    asked: _Asked,
) -> None:
    """Make the vault; safe to repeat. On a new machine, read the facts back from its files."""
    with asked.opened() as opened:
        done = opened.init()
    call.answer(done, lambda screen: _show_init(screen, done))
    call.notes(done["notes"])


@_action("ingest")
def _ingest(
    call: Call,
    asked: _Asked,
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE|-]", help="JSON lines of facts or messages; else the new session logs."),
    ] = None,
    source: Annotated[str, typer.Option("--source", metavar="NAME", help="Where the facts come from.")] = "vault",
) -> None:
    """Take in facts or session logs.

    Example: echo '{"subject": "gateway", "predicate": "port", "object": "8443"}' | zomem vault ingest -
    """
    given: Any = file
    if file == "-":
        given = lines_in(text_given("-"), "standard input")
    with asked.opened() as opened, call.screen.progress("reading", opened.unread_bytes(given)) as advance:
        done = opened.ingest(given, source=source, tell=_in_bytes(advance))
    said = (
        f"{number_of(done['facts'], 'new facts')}, {done['again']} known, {done['superseded']} replaced; "
        f"{number_of(done['turns'], 'messages')} from {number_of(done['sessions'], 'session logs')}"
    )
    call.answer(done, lambda screen: screen.line(said))
    call.notes(done["notes"])


@_action("recall", writes=False)
def _recall(
    call: Call,
    asked: _Asked,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question; - reads standard input.")],
    limit: Limit = 10,
    probe: Annotated[bool, typer.Option("--probe", help="Only look: count nothing as used.")] = False,
) -> None:
    """Find what answers a question, in the vault and the rest of the memory; the best are used and raised."""
    with asked.opened(make=False) as opened:
        scope = Scope(persona=opened.options.persona, time_zone=opened.options.time_zone)
        found = opened.recall(text_given(query), limit=limit, scope=scope, probe=probe)
    hits = found.plain()
    call.answer(hits, lambda screen: _show_hits(screen, hits))
    call.notes(found.degraded)


@_action("summarize")
def _summarize(
    call: Call,
    asked: _Asked,
    day: Annotated[str | None, typer.Option("--day", metavar="DAY", help="Write this day anew.")] = None,
) -> None:
    """Write the daily page of each day that has something new."""
    with asked.opened(make=False) as opened:
        done = opened.summarize(day)
    said = f"wrote {', '.join(done['days'])}" if done["days"] else "nothing new to tell"
    call.answer(done, lambda screen: screen.line(said))
    call.notes(done["notes"])


@_action("consolidate")
def _consolidate(
    call: Call,
    asked: _Asked,
    wait: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", min=0, help="Wait so long for whoever holds the vault.")
    ] = PATIENCE,
) -> None:
    """Do the night's work: take in, summarize, back up, decay, prune, index, MEMORY.md, clean, health."""
    with asked.opened(make=False) as opened, call.screen.progress("consolidating"):
        done = opened.consolidate(wait_seconds=wait)
    shown = {name.replace("_", " "): value for name, value in done.items() if name != "notes"}
    call.answer(done, lambda screen: screen.pairs(shown))
    call.notes(done["notes"])


@_action("health-check")
def _health(
    call: Call,
    asked: _Asked,
    form: Annotated[Literal["text", "json", "prometheus"], typer.Option("--format", help="How to show it.")] = "text",
) -> None:
    """Measure everything and write health.json; exit 1 when something is critical."""
    with asked.opened(make=False) as opened:
        report = opened.health_check()
    if form == "json":
        call.screen.document(report)
    elif form == "prometheus":
        call.screen.line(as_prometheus(report).rstrip("\n"))
    else:
        call.answer(report, lambda screen: _show_health(screen, report))
    if report["status"] == "critical":
        raise typer.Exit(1)


@_action("quality-probe")
def _probe(
    call: Call,
    asked: _Asked,
) -> None:
    """Ask for the canaries and say how many came back."""
    with asked.opened(make=False) as opened:
        found = opened.quality_probe()
    call.answer(found, lambda screen: screen.line(f"{found['passed']} of {found['total']} canaries came back"))
    call.notes([f"missed: {query}" for query in found["missed"]])


@_action("install-cron", writes=False)
def _install(
    call: Call,
    asked: _Asked,
    cron: Annotated[
        Path | None,
        typer.Option("--cron", metavar="FILE", parser=path_in, help="Write into this table; else it is only shown."),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(
            "--user",
            metavar="NAME",
            help="The user column of tables in /etc/cron.d; else you.",
        ),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the lines out of the table again.")] = False,
) -> None:
    """Show the cron table, or write it to the file that is named."""
    if remove:
        if cron is None:
            raise InvalidInput("Name the table to take the lines out of: --cron FILE.")
        changed = uninstall(cron)
        said = f"{cron}: {'lines removed' if changed else 'had no lines of ours'}"
        call.answer({"cron": str(cron), "changed": changed}, lambda screen: screen.line(said))
        return
    owner = user or (getpass.getuser() if cron is not None and cron.absolute().parent.name == "cron.d" else None)
    with asked.opened(make=False) as opened:
        opened.check()
        block = table(opened, owner=owner, config=asked.config, more=asked.words)
        changed = cron is not None and install(cron, block)
    if cron is None:
        call.answer({"cron": None, "table": block}, lambda screen: screen.line(block.rstrip("\n")))
        return
    said = f"{cron}: {'written' if changed else 'up to date'}"
    call.answer({"cron": str(cron), "changed": changed, "table": block}, lambda screen: screen.line(said))


@_action("restore")
def _restore(
    call: Call,
    asked: _Asked,
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Archived facts to bring back.")] = None,
    backup: Annotated[
        str | None,
        typer.Option("--backup", metavar="FILE", parser=not_empty, help="An archive of backups/, or latest."),
    ] = None,
) -> None:
    """Bring archived facts back, or everything from an archive; without either, list what there is."""
    with asked.opened(make=False) as opened:
        done = opened.restore(*(ids or ()), backup=backup)
    call.answer(done, lambda screen: _show_restored(screen, done))
    call.notes(done.get("notes", ()))


@_action("rebuild")
def _rebuild(
    call: Call,
    asked: _Asked,
    replace: Annotated[bool, typer.Option("--replace", help="In place of the vault the home holds.")] = False,
) -> None:
    """Fill the home from the files alone, as on a new machine."""
    with asked.opened(make="home") as opened:
        done = opened.rebuild(replace=replace)
    said = (
        f"{number_of(done['facts'], 'facts')} and {done['archived']} archived read back, "
        f"{number_of(done['sessions'], 'session logs')}"
    )
    call.answer(done, lambda screen: screen.line(said))
    call.notes(done["notes"])


@_action("smoke-test", writes=False)
def _smoke(
    call: Call,
    asked: _Asked,
    cron: Annotated[
        Path | None, typer.Option("--cron", metavar="FILE", parser=path_in, help="Must have our jobs.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Ask for a disk of its own and a cron table too.")] = False,
) -> None:
    """Look whether everything is in place; exit 1 when something is not."""
    with asked.opened(make=False) as opened:
        found = opened.smoke_test(cron=cron, strict=strict)
    rows = [("ok" if one.ok else "FAILED" if one.must else "note", one.name, one.said) for one in found]
    call.answer(found, lambda screen: screen.table(("ok", "what", "found"), rows))
    if any(one.must and not one.ok for one in found):
        raise typer.Exit(1)


def _in_bytes(advance: Callable[[int], None]) -> Callable[[str, int], None]:
    """Return what moves a bar on by the bytes that were read since it was called last for a log."""
    reached: dict[str, int] = {}

    def tell(name: str, read: int) -> None:
        advance(read - reached.get(name, read))
        reached[name] = read

    return tell


def _show_status(screen: Screen, found: Mapping[str, Any]) -> None:
    health = found["health"]
    screen.pairs(
        {
            "vault": found["data_path"],
            "home": found["home"],
            "embedder": found["embedder"] or "none: search goes by words",
            "facts": f"{health['active_facts']} active, {health['fading_facts']} fading, "
            f"{health['archived_facts']} archived",
            "status": health["status"],
            "last consolidation": health["last_consolidation"] or "never",
            "waits for a summary": ", ".join(found["days_to_summarize"]) or "nothing",
        }
    )
    for line in health["warnings"]:
        screen.line(f"! {line}")


def _show_init(screen: Screen, done: Mapping[str, Any]) -> None:
    screen.pairs({"vault": done["data_path"], "home": done["home"]})
    if done["read_back"]:
        screen.line(f"read back {number_of(done['read_back']['facts'], 'facts')} from the files")


def _show_hits(screen: Screen, hits: Sequence[Mapping[str, Any]]) -> None:
    if not hits:
        screen.note("nothing found")
    for hit in hits:
        active = "" if hit["activation"] is None else f"  activation {hit['activation']:.2f}"
        screen.line(f"{hit['score']:.2f}  {hit['kind']:<7}  {hit['text']}{active}  {hit['id']}")


def _show_health(screen: Screen, report: Mapping[str, Any]) -> None:
    flat = {name.replace("_", " "): value for name, value in report.items() if not isinstance(value, list | dict)}
    probe = report["quality_probe"]
    screen.pairs({**flat, "quality probe": f"{probe['passed']} of {probe['total']}"})
    for line in report["warnings"]:
        screen.line(f"! {line}")


def _show_restored(screen: Screen, done: Mapping[str, Any]) -> None:
    if "restored" in done:
        for one in done["restored"]:
            screen.line(f"{one['id']}  {one['text']}")
    elif "archive" in done:
        screen.line(f"{done['archive']}: {number_of(done['files'], 'files')}, {number_of(done['facts'], 'facts')}")
    else:
        if not (done["archives"] or done["archived"]):
            screen.note("nothing to restore: no fact is archived and there is no archive yet")
        for name in done["archives"]:
            screen.line(f"archive  {name}")
        for one in done["archived"]:
            screen.line(f"{one['id']}  {one['text']}")
