"""The front door of the vault: open it, then ingest, recall, summarize, consolidate, and look after it.

A vault is a folder that people can read and an ordinary memory whose facts it mirrors. The memory is opened without
chat models and with an embedder of this machine only, whatever keys the environment holds.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from zomem_graph.memory import Memory
from zomem_graph.nodes.options import HydeOptions, MemoryOptions, RetrieveOptions, WriteOptions
from zomem_graph.nodes.ports import Clock, Embedder
from zomem_graph.nodes.rules.given import callback, flag, if_given, name_of, names, number, text
from zomem_graph.nodes.rules.vault_lines import file_id
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.vault_erasing import vault_of
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import InvalidInput, StoreError, StoreLocked, StoreReadOnly, ZomemError
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.journal import EMBEDDER_KEY
from zomem_graph.stores.lock import FolderLock
from zomem_graph.stores.paths import path_given
from zomem_graph.stores.store import Home, Stores
from zomem_graph.stores.vault_place import Place
from zomem_graph.vault import consolidation, health, ingest, sessions, smoke, summaries
from zomem_graph.vault.embedding import choose_embedder
from zomem_graph.vault.following import catch_up, rewrite, stored_already
from zomem_graph.vault.given import GivenLines, read_given
from zomem_graph.vault.ground import Ground
from zomem_graph.vault.hand import touched
from zomem_graph.vault.lease import Lease, this_host
from zomem_graph.vault.mirror import write_memory_page
from zomem_graph.vault.options import VaultOptions, read_options
from zomem_graph.vault.probe import plant_usual_canaries, probe
from zomem_graph.vault.rebuild import files_id, rebuild
from zomem_graph.vault.recall import VaultHits, recall
from zomem_graph.vault.restoring import restore_facts, restore_files

__all__ = ["Vault"]

# Reading the vectors from SQL is faster than loading Chroma, up to far more facts than a vault has.
_OPTIONS = MemoryOptions(
    write=WriteOptions(background=False),
    retrieve=RetrieveOptions(exact_below=200_000),
    hyde=HydeOptions(on=False),
)


class Vault:
    """One vault; made by `Vault.open`. Safe to use from several processes, one writes at a time."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        home: str | Path | None = None,
        config: str | Path | None = None,
        embeddings: "str | Embedder | None" = None,
        clock: Clock | None = None,
        host: str | None = None,
        take_over: bool = False,
        usual_zone: str = "UTC",
        make: bool | Literal["home"] = True,
        **options: Any,
    ) -> "Vault":
        """Open a vault, and make it where there is none, or with `make` False refuse to; also a context manager.

        With `make` "home" its files have to be there, as on a new machine.

        `path`: the argument, else ZOMEM_VAULT_DATA_PATH, else `memory_oracle.data_path` in `config` (the home's
        zomem.yaml unless given), else /data/memory where that can be written. `home` is the memory's folder as
        everywhere. `options` are those of VaultOptions; days are those of `usual_zone` unless `time_zone` is set
        anywhere. Raises ZomemError with what to do.
        """
        if "data_path" in options:
            raise InvalidInput("data_path is the first argument: Vault.open(path, …).")
        take_over = flag("take_over", take_over)
        if_given(name_of, "host", host)
        make = "home" if isinstance(make, str) and make == "home" else flag("make", make)
        found = Settings.load(home)
        file = found.home / "zomem.yaml" if config is None else path_given("config", config, of="a file")
        if config is not None and not file.is_file():
            raise InvalidInput(f"There is no file {file}.")
        chosen = read_options(file, usual_zone=usual_zone, data_path=path, **options)
        settings = found if home is not None or chosen.home is None else Settings.load(chosen.home)
        _refuse_servers(settings)
        place = Place(chosen.data_path)
        if make == "home" and not place.holds_facts:
            raise StoreError(_no_vault(place))
        if not make and not _home_is_there(settings):
            raise StoreError(_unknown(place, settings.home) if place.holds_facts else _no_vault(place))
        embedder = choose_embedder(chosen, settings, _recorded(settings), embeddings)
        memory = Memory.open(settings.home, embeddings=embedder, chat_model="none", clock=clock, options=_OPTIONS)
        lease = Lease(path=place.lease, host=host or this_host(), minutes=chosen.lease_minutes, take_over=take_over)
        vault = cls(Ground(memory=memory, place=place, options=chosen, lock=FolderLock(place.lock), lease=lease))
        try:
            vault._begin(make=make is True)
        except ZomemError:
            memory.close()
            raise
        return vault

    # -- what it is ----------------------------------------------------------------------------

    @property
    def memory(self) -> Memory:
        """The memory whose facts this vault mirrors."""
        return self.ground.memory

    @property
    def place(self) -> Place:
        """Where the files are."""
        return self.ground.place

    @property
    def options(self) -> VaultOptions:
        """The figures of this vault."""
        return self.ground.options

    def status(self) -> dict[str, Any]:
        """Return where everything is and how it stands, without writing a report."""
        ground = self.ground
        self.check()
        shown = {one.name: getattr(ground.options, one.name) for one in fields(VaultOptions)}
        holder, at = ground.lease.holder()
        waiting = ground.days_to_tell()
        return {
            "data_path": str(ground.place.root),
            "home": str(ground.memory.settings.home),
            "vault": ground.id(),
            "embedder": None if ground.memory.embedder is None else ground.memory.embedder.identity,
            "degraded": list(ground.memory.standing_notes()),
            "lease": {"host": holder, "at": None if at is None else at.isoformat()},
            "days_to_summarize": [f"{day}" for day in waiting],
            "other_files": [str(path.relative_to(ground.place.root)) for path in ground.place.strangers()],
            "options": {name: str(value) if isinstance(value, Path) else value for name, value in shown.items()},
            "health": health.measure(ground),
        }

    # -- the verbs -----------------------------------------------------------------------------

    def init(self) -> dict[str, Any]:
        """Make what is missing and never overwrite what is there; safe to repeat.

        On a new machine the facts are read back from the files; where the files are gone, they are written anew.
        """
        ground = self.ground
        read_back: dict[str, Any] | None = None
        with ground.held("init"):
            ground.place.make()
            if self._state() == "of another home" and ground.id() is None:
                read_back = rebuild(ground)
            elif self._state() == "of another home":
                self.check()
            if ground.id() is None:
                ground.set_id(new_id())
                ground.note(made=ground.now().isoformat())
            self._stay_local()
            ground.note_place()
            notes = [str(one) for one in catch_up(ground).told]
            self._write_missing()
        root, home = str(ground.place.root), str(ground.memory.settings.home)
        return {"data_path": root, "home": home, "read_back": read_back, "notes": notes}

    def ingest(
        self,
        given: "str | Path | GivenLines | Iterable[Mapping[str, Any]] | None" = None,
        *,
        source: str = "vault",
        tell: Callable[[str, int], None] | None = None,
    ) -> dict[str, Any]:
        """Take in facts or a session log; without an argument, every session log that is new or has grown.

        `given`: the path of a file, or dicts: facts with subject, predicate and object, or messages with role and
        content. Facts are stored all or none, logs piece by piece; `tell` is called with a log's name and how many
        of its bytes are read. Raises InvalidInput that names the bad line, SecretRefused.
        """
        self.check()
        name_of("source", source)
        callback("tell", tell)
        lines = read_given(given)
        facts, said = lines.parted()
        with self.ground.held("ingest"):
            notes = [str(one) for one in catch_up(self.ground).told]
            if facts:
                came = ingest.read_facts(self.ground, facts, source=source, where=lines.where)
            else:
                path = Path(given) if isinstance(given, str | Path) else None
                gone = sessions.keep_log(self.ground, [line.said for line in said], path) if said else {}
                came = sessions.read_sessions(self.ground, tell)
                if gone:
                    came.keep_out(lines.where, gone)
                if came.fact_ids or came.sessions:
                    with stored_already():
                        catch_up(self.ground)
        report = came.plain()
        report["notes"] = [*notes, *report["notes"]]
        return report

    def recall(self, query: str, *, limit: int = 10, scope: Scope | None = None, probe: bool = False) -> VaultHits:
        """Return what answers a question, from the vault and the rest of the memory; the best are used and raised."""
        self.check()
        who = self.ground.scope if scope is None else scope_given(scope)
        late: tuple[str, ...] = ()
        if touched(self.ground) or self.ground.untold():
            try:
                with self.ground.held("recall", wait_seconds=5.0):
                    late = tuple(map(str, catch_up(self.ground).told))
            except (StoreLocked, StoreReadOnly) as error:
                late = (f"files that were edited are not taken in yet: {error}",)
        found = recall(self.ground, query, limit=limit, scope=who, probe=probe)
        return replace(found, degraded=(*found.degraded, *late))

    def summarize(self, day: date | str | None = None) -> dict[str, Any]:
        """Write the daily page of each day that has something new, and of `day` when it is given."""
        self.check()
        named = [] if day is None else [_day(day)]
        with self.ground.held("summarize"):
            catch_up(self.ground)
            came = sessions.read_sessions(self.ground)
            written = summaries.write_days(self.ground, [*self.ground.days_to_tell(), *named])
        return {
            "days": [f"{one}" for one in written],
            "sessions": came.sessions,
            "facts": came.facts,
            "notes": [*map(str, came.told)],
        }

    def consolidate(
        self, *, tell: Callable[[str], None] | None = None, wait_seconds: float = consolidation.PATIENCE
    ) -> dict[str, Any]:
        """Do the night's work and return what was done.

        It waits so long for an ingest or another run to end, then raises StoreLocked that says who holds the vault.
        `tell` is called with the name of each step and of each file before it is written.
        """
        self.check()
        callback("tell", tell)
        wait_seconds = number("wait_seconds", wait_seconds, least=0)
        return consolidation.consolidate(self.ground, tell=tell, wait_seconds=wait_seconds)

    def health_check(self) -> dict[str, Any]:
        """Measure everything, write health.json and health.prom, and return the report.

        Where they cannot be written, the report says so, and is critical.
        """
        self.check()
        try:
            with self.ground.held("health-check"):
                return health.check_health(self.ground)
        except StoreReadOnly as error:
            return health.measure(self.ground, unwritten=str(error))

    def quality_probe(self) -> dict[str, Any]:
        """Ask for the canaries and return how many came back; health.json has the figure too."""
        self.check()
        with self.ground.held("quality-probe"):
            try:
                return probe(self.ground)
            finally:  # canaries that cannot be read are news too
                health.check_health(self.ground)

    def restore(self, *ids: str, backup: str | Path | None = None) -> dict[str, Any]:
        """Bring archived facts back by id, or everything from an archive; without either, list what there is.

        An archive takes the place of the files, which are packed first ("kept"), and the home is made equal to them.
        Raises UnknownName.
        """
        self.check()
        if ids and backup is not None:
            raise InvalidInput("Name facts or an archive, not both.")
        if backup is not None:
            with self.ground.held("restore"):
                return restore_files(self.ground, path_given("backup", backup, of="an archive"))
        if names("ids", ids):
            with self.ground.held("restore"):
                return restore_facts(self.ground, ids)
        with self.ground.memory.stores.read() as unit:
            gone = [(fact, row) for fact, row in unit.vault.everything() if fact.state == "archived"]
        return {
            "archives": [path.name for _day, path in self.place.archives()],
            "archived": [
                {"id": file_id(fact.id), "text": fact.text, "since": f"{fact.ended_at}"} for fact, _ in gone
            ],
        }

    def rebuild(self, *, replace: bool = False) -> dict[str, Any]:
        """Fill the home from the files alone; with `replace`, in place of the vault it holds.

        Raises StoreError where there are no files.
        """
        replace = flag("replace", replace)
        if not self.place.holds_facts:
            raise StoreError(_no_vault(self.place))
        with self.ground.held("rebuild"):
            self.place.make()
            self._stay_local()
            found = rebuild(self.ground, instead=replace)
            self.ground.note_place()
            self._write_missing()
        return found

    def smoke_test(self, *, cron: str | Path | None = None, strict: bool = False) -> list[smoke.Finding]:
        """Look whether everything is in place; `strict` also asks for a disk of its own and a cron table."""
        if not self.place.root.is_dir():
            self.check()
        table = if_given(path_given, "cron", cron, of="a file")
        return smoke.smoke_test(self.ground, cron=table, strict=flag("strict", strict))

    def unread_bytes(self, given: object = None) -> int:
        """Return how many bytes `ingest` of this would have to read."""
        path = path_given("given", given, of="a file") if isinstance(given, str | Path) else None
        more = path.stat().st_size if path is not None and path.is_file() else 0
        return more + sessions.unread_bytes(self.ground)

    def check(self) -> None:
        """Raise StoreError, with the cure, unless home and files belong together."""
        state, root, home = self._state(), self.place.root, self.memory.settings.home
        known = self._mirrored()
        if state == "without files" and known is not None and known != root.absolute():
            raise StoreError(
                f"There is no vault in {root}: the home {home} mirrors the one in {known}. Name that folder with "
                "--data-path; or, to write the files anew here, run `zomem vault init`."
            )
        if state == "without files":
            raise StoreError(
                f"{root} has no files of a vault, but the home {home} mirrors one. Is its disk mounted? "
                "Mount it; or, to write the files anew from the database, run `zomem vault init`."
            )
        if state == "of another home" and self.ground.id() is None:
            raise StoreError(_unknown(self.place, home))
        if state == "of another home":
            raise StoreError(
                f"{root} was last written for another home than {home}, on this machine or another. Nothing was "
                "changed. Use that home (--home DIR), or take over what the files say: "
                "`zomem vault rebuild --replace`."
            )

    def close(self) -> None:
        """Release everything."""
        self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- how -----------------------------------------------------------------------------------

    def _begin(self, *, make: bool) -> None:
        """Make a vault where neither the folder nor the home has one, unless that is not wanted."""
        if self._state() == "nowhere" and not make:
            raise StoreError(_no_vault(self.place))
        if self._state() == "nowhere":
            self.init()
        elif self._state() == "together":
            self.ground.note_place()

    def _state(self) -> str:
        """Return how home and files stand to each other: nowhere, together, without files, or of another home."""
        place, ours = self.place, self.ground.id()
        if not place.holds_facts:
            return "nowhere" if ours is None else "without files"
        theirs = files_id(self.ground)
        return "together" if ours is not None and theirs in (ours, None) else "of another home"

    def _mirrored(self) -> Path | None:
        """Return the folder of the vault that the home was last opened with."""
        with self.memory.stores.read() as unit:
            known = vault_of(unit)
        return None if known is None else known.root

    def _stay_local(self) -> None:
        """Record the embedder, so that whoever opens this home by itself never chooses a remote one for it."""
        embedder = self.memory.embedder
        with self.memory.stores.write() as unit:
            if embedder is not None and unit.journal.meta(EMBEDDER_KEY) is None:
                unit.journal.set_meta(EMBEDDER_KEY, embedder.identity)

    def _write_missing(self) -> None:
        """Write the files that are not there yet; what is there stays."""
        ground = self.ground
        plant_usual_canaries(ground)
        knowledge = (self.place.facts, self.place.archived, self.place.entities, self.place.relations)
        if not all(path.is_file() for path in (*knowledge, self.place.activation)):
            rewrite(ground)
        if not self.place.memory_md.is_file():
            write_memory_page(ground)
        if not self.place.health.is_file():
            health.check_health(ground)


def _no_vault(place: Place) -> str:
    return (
        f"There is no vault in {place.root}. Make one with `zomem vault init --data-path DIR`, or name the folder of "
        "yours with --data-path."
    )


def _unknown(place: Place, home: Path) -> str:
    return (
        f"{place.root} is a vault that the home {home} does not know, as on a new machine. Read it back first: "
        "`zomem vault rebuild`."
    )


def _refuse_servers(settings: Settings) -> None:
    """Raise InvalidInput when the home's database or index would be on a server: a vault stays on its machine."""
    for name, url in (("ZOMEM_DATABASE_URL", settings.database_url), ("ZOMEM_CHROMA_URL", settings.chroma_url)):
        if url is not None and not url.startswith("sqlite:"):
            said = f"{name} points to a server, and a vault never uses the network. Run it without {name}."
            raise InvalidInput(said)


def _home_is_there(settings: Settings) -> bool:
    return settings.database_url is not None or settings.database_file.is_file()


def _recorded(settings: Settings) -> str | None:
    """Return the embedder a home was made with, None for a new home."""
    if not _home_is_there(settings):
        return None
    stores = Stores.open(Home(settings.home, settings.database_file), database_url=settings.database_url)
    try:
        with stores.read() as unit:
            return unit.journal.meta(EMBEDDER_KEY)
    finally:
        stores.close()


def _day(day: date | str) -> date:
    try:
        named = day if isinstance(day, date) else date.fromisoformat(text("day", day))
    except ValueError as error:
        raise InvalidInput(f"{day!r:.40} is no day; write 2027-03-01.") from error
    found = named.date() if isinstance(named, datetime) else named
    if not date.min < found < date.max - timedelta(days=1):
        raise InvalidInput(f"{found} is at the end of all calendars; nothing was said on it.")
    return found
