"""One report: can it be reached, is it in step, is there room. Every check is a real try."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from zomem_graph.nodes.ports import Ask, ChatModel, token_model
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import readable
from zomem_graph.nodes.steps.late import LATE_IS_OFF
from zomem_graph.stores.dialect import WordsQuery
from zomem_graph.stores.errors import IndexUnavailable, StoreLocked, ZomemError
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.journal import EMBEDDER_KEY
from zomem_graph.stores.schema import HEAD, schema_version
from zomem_graph.stores.words import terms

if TYPE_CHECKING:
    from zomem_graph.memory import Memory

__all__ = ["Check", "HealthReport", "count_everything", "count_readable", "examine", "repair_store", "verify_store"]

Status = Literal["green", "yellow", "red"]
_MODEL_SECONDS = 5.0  # spec F15
_NOBODY = "zomem health"  # no persona's name: nothing of it is ever committed
_PROBE = "a probe of zomem health"
_LEAST_FREE = 200 * 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was tried. `cure` says what to do when it is not green."""

    name: str
    status: Status
    said: str
    cure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """All checks; the worst decides."""

    checks: tuple[Check, ...]

    @property
    def status(self) -> Status:
        """Red when anything is broken, yellow when something is missing, else green."""
        found = {check.status for check in self.checks}
        return "red" if "red" in found else "yellow" if "yellow" in found else "green"


# What asks a model or reads every row; left out of a quick look.
_SLOW = frozenset({"chat model", "embedder", "full text"})


def examine(memory: "Memory", *, quick: bool = False) -> HealthReport:
    """Try everything the memory needs and say what is wrong and what to do; what cannot be tried is red.

    A quick look asks no model and reads no table whole.
    """
    tries: dict[str, Callable[[Memory], Check]] = {
        "key": _key,
        "chat model": _chat,
        "embedder": _embedder,
        "database": _database,
        "schema": _schema,
        "round trip": _round_trip,
        "full text": _fulltext,
        "index": _index,
        "extraction": _queue,
        "background": _background,
        "disk": _disk,
    }
    chosen = {name: check for name, check in tries.items() if not (quick and name in _SLOW)}
    return HealthReport(checks=tuple(_tried(memory, name, check) for name, check in chosen.items()))


def _tried(memory: "Memory", name: str, check: "Callable[[Memory], Check]") -> Check:
    try:
        return check(memory)
    except (ZomemError, OSError) as error:
        return Check(name=name, status="red", said=str(error), cure="See the message.")


def _key(memory: "Memory") -> Check:
    if memory.settings.openai_api_key:
        return Check(name="key", status="green", said="OPENAI_API_KEY is set")
    return Check(name="key", status="green", said="no key is set; none is needed for local models")


def _chat(memory: "Memory") -> Check:
    try:
        model = memory.chat("gate")
        if model is None:
            return Check(name="chat model", status="green", said="none; rules decide, capture goes by rules")
        model.ask(
            Ask(
                workload="health",
                system="Answer with one word.",
                prompt="Say ok.",
                max_tokens=5,
                deadline_seconds=_MODEL_SECONDS,
            )
        )
    except ZomemError as error:
        return Check(
            name="chat model", status="red", said=str(error), cure="Check the model's name, key and network."
        )
    return Check(name="chat model", status="green", said=_name(model))


def _name(model: ChatModel) -> str:
    return f"{model.identity} answers"


def _embedder(memory: "Memory") -> Check:
    if memory.embedder is None:
        said, _, cure = ("; ".join(memory.standing_notes()) or "none").partition(". Run ")
        cure = f"Run {cure}" if cure else 'pip install "zomem-graph[local]"'
        return Check(name="embedder", status="yellow", said=said, cure=cure)
    try:
        memory.embedder.embed_documents(["health check"])  # a question might be answered by the cache
    except ZomemError as error:
        return Check(name="embedder", status="red", said=str(error), cure="Search goes by words until it answers.")
    late = "compares token by token" if token_model(memory.embedder) is not None else LATE_IS_OFF
    return Check(name="embedder", status="green", said=f"{memory.embedder.identity} answers; {late}")


def _database(memory: "Memory") -> Check:
    with memory.stores.write(hasty=True) as unit:
        fault = unit.database_fault()
        unit.journal.set_meta("health_checked", memory.clock().isoformat())
    if fault is not None:
        return Check(
            name="database",
            status="red",
            said=fault,
            cure="Restore a copy: yours, or one in the backups folder.",
        )
    return Check(name="database", status="green", said=f"{memory.stores.database.place} reads and writes")


def _schema(memory: "Memory") -> Check:
    found = schema_version(memory.stores.database)
    if found == HEAD:
        return Check(name="schema", status="green", said=f"version {found}")
    return Check(name="schema", status="red", said=f"version {found}, needed {HEAD}", cure="Open the memory again.")


def _round_trip(memory: "Memory") -> Check:
    """Store something, find it and remove it within one transaction, so that nobody ever sees it."""
    probe = NewItem(id=new_id(), kind="fact", persona=_NOBODY, text=_PROBE, created_at=memory.clock())
    asked = WordsQuery(terms=terms(_PROBE), personas=[_NOBODY], kinds=["fact"])
    with memory.stores.write(hasty=True) as unit:
        numbers = unit.items.add([probe])
        found = [hit.num for hit in unit.items.by_words(asked)]
        unit.items.purge([probe.id])
        left = unit.items.by_words(asked)
    if found == numbers and not left:
        return Check(name="round trip", status="green", said="what is stored is found and can be removed")
    said = "what was stored is not found" if found != numbers else "what was removed is still found"
    return Check(name="round trip", status="red", said=f"{said} by its words", cure="zomem repair")


def _fulltext(memory: "Memory") -> Check:
    with memory.stores.write(hasty=True) as unit:
        fault = unit.fulltext_fault()
    if fault is None:
        return Check(name="full text", status="green", said="agrees with the tables")
    return Check(name="full text", status="red", said=fault, cure="zomem repair")


def _index(memory: "Memory") -> Check:
    with memory.stores.read() as unit:
        waiting = unit.outbox.depth()
        unembedded = 0 if memory.embedder is None else unit.unembedded.count(embedder=memory.embedder.identity)
    unusable = _index_fault(memory)
    state = memory.stores.index.state()
    faults = [f"{name}: {fault}" for name, fault in state.faults.items()]
    faults += [f"the index refused {number_of(len(state.refusals), 'changes')}"] if state.refusals else []
    if unusable is not None and not state.faults:
        faults.append(unusable)
    if faults:
        return Check(name="index", status="red", said="; ".join(faults), cure="zomem repair")
    said = f"waiting: {number_of(unembedded, 'texts')} for a vector, {number_of(waiting, 'changes')} for the index"
    return Check(name="index", status="green", said=said)


def _index_fault(memory: "Memory") -> str | None:
    """Open the index and look into it; None when it is sound, or is being fed just now."""
    try:
        memory.stores.index.probe()
    except IndexUnavailable as error:
        return None if isinstance(error.__cause__, StoreLocked) else str(error)
    return None


def _queue(memory: "Memory") -> Check:
    with memory.stores.read() as unit:
        depth = unit.journal.queue_depth()
    failed = depth.get("failed", 0)
    said = f"waiting for the model: {number_of(depth.get('waiting', 0), 'conversations')}, {failed} failed"
    if failed:
        return Check(name="extraction", status="yellow", said=said, cure="zomem capture stats shows why")
    return Check(name="extraction", status="green", said=said)


def _background(memory: "Memory") -> Check:
    error = memory.background.error
    if error is None:
        return Check(name="background", status="green", said="nothing failed")
    said = f"{type(error).__name__}: {error}"
    return Check(name="background", status="yellow", said=said, cure="zomem flush tries again and tells")


def _disk(memory: "Memory") -> Check:
    free = shutil.disk_usage(memory.settings.home).free
    said = f"{free // 1024**2} MiB free"
    if free < _LEAST_FREE:
        return Check(name="disk", status="red", said=said, cure="Free some space; writes will fail soon.")
    return Check(name="disk", status="green", said=said)


def count_everything(memory: "Memory") -> dict[str, Any]:
    """Return how much of everything there is (spec F14)."""
    with memory.stores.read() as unit:
        return {
            "home": str(memory.settings.home),
            "facts": unit.facts.count(),
            "superseded": unit.facts.count(state="superseded"),
            "turns": unit.turns.count(),
            "links": unit.links.count(),
            "procedures": unit.procedures.count(),
            "attempts": unit.executors.count(),
            "items": unit.items.counts(),
            "embedder": unit.journal.meta(EMBEDDER_KEY),
            "waiting_for_index": unit.outbox.depth(),
            "extraction_queue": unit.journal.queue_depth(),
            "captures": unit.journal.capture_totals(),
        }


def count_readable(memory: "Memory", scope: Scope) -> dict[str, Any]:
    """Return how much there is of what a scope may read, and nothing about anybody else."""
    with memory.stores.read() as unit:
        personas = list(readable(unit, scope))
        items = unit.items.counts(personas)
    return {
        "personas": personas,
        "facts": items.get("fact:current", 0),
        "superseded": items.get("fact:superseded", 0),
        "turns": items.get("turn:current", 0),
        "items": items,
    }


def verify_store(memory: "Memory") -> dict[str, Any]:
    """Compare full text and index with the tables; `ok` says whether all is in step."""
    with memory.stores.write() as unit:
        fulltext = unit.fulltext_fault()
        waiting = unit.outbox.depth()
    report = memory.stores.index.verify()
    return {
        "ok": fulltext is None and report.sound,
        "fulltext": fulltext,
        "waiting": waiting,
        "index": report,
    }


def repair_store(memory: "Memory", *, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Rebuild the full text and the index from the tables and the stored vectors."""
    with memory.stores.write() as unit:
        unit.rebuild_fulltext()
    rebuilt = memory.stores.index.rebuild(progress=progress)
    return {"fulltext": "rebuilt", "index": rebuilt, "verify": verify_store(memory)}
