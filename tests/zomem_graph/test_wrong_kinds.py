"""Nonsense in any argument of any public verb: a ZomemError says what is wrong, and nothing is half done.

Verbs and their arguments are found by inspection, so that a new one is held to this when it is written. What it is
usually called with stands in USUAL: nonsense in one argument tells nothing while another one is wrong too.
"""

import asyncio
import enum
import inspect
import re
import typing
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from langgraph.store.base import ListNamespacesOp, PutOp, SearchOp

import zomem_graph
from zomem_graph import Memory, MemoryOptions, MemoryStore, Scope, ZomemError, create_swarm_graph, nodes
from zomem_graph.middleware import MemoryMiddleware
from zomem_graph.nodes import options as every_option
from zomem_graph.nodes.options import (
    CaptureOptions,
    ContinuationOptions,
    GateOptions,
    RetrieveOptions,
    SummaryOptions,
    WriteOptions,
)
from zomem_graph.nodes.rules.routing import Candidate
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.vault import Vault, VaultOptions


class Odd:
    """Cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


DEEP: list[Any] = []
for _ in range(2_000):
    DEEP = [DEEP]

NONSENSE: dict[str, Any] = {
    "None": None,
    "a number past all bounds": 10**30,
    "NaN": float("nan"),
    "bytes": b"x",
    "NUL and half a sign": "\x00 \ud800",
    "a long text": "x" * 5_000,
    "a list of None": [None],
    "a dict": {"a": 1},
    "a deep list": DEEP,
    "what cannot be shown": Odd(),
}
TIMES: dict[str, Any] = {
    "the last of all times": datetime.max,
    "a time before all others": datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
}

APART: Mapping[str, str] = {
    "memory.close": "ends what is tested",
    "memory.open": "opens another one: has its own test",
    "vault.close": "ends what is tested",
    "vault.open": "opens another one: has its own test",
    "stream.close": "ends what is tested",
    "store.start_ttl_sweeper": "is LangGraph's",
    "store.stop_ttl_sweeper": "is LangGraph's",
}
LANGGRAPHS = ("namespace", "namespace_prefix", "prefix", "suffix", "key")
"""What LangGraph's BaseStore reads by itself and refuses with its own errors before our store is asked."""


@dataclass
class World:
    """A memory, a folder, and what verbs are usually called with."""

    memory: Memory
    folder: Path
    vault: Vault | None = None
    ready: dict[str, Any] = field(default_factory=dict)
    made: int = 0

    def usual(self, verb: str, argument: str) -> Any:
        """Return what an argument usually is; the same until `renew`."""
        known = (f"{verb}.{argument}", f"{verb.rpartition('.')[0]}.{argument}", argument)
        name = next((each for each in known if each in USUAL), None)
        assert name is not None, f"say in USUAL what {verb} is called with as {argument}"
        if name not in self.ready:
            value = USUAL[name]
            self.ready[name] = value(self) if inspect.isfunction(value) else value
        return self.ready[name]

    def renew(self) -> None:
        """Forget what a verb may have used up."""
        self.ready.clear()

    def new(self, what: str) -> str:
        """Return a name that nothing has yet."""
        self.made += 1
        return f"{what} {self.made}"

    def fact(self) -> str:
        return self.memory.remember(self.new("lamp"), "room", "hall").id

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def folder_of_conversations(self) -> Path:
        place = self.folder / "con_1"
        place.mkdir(exist_ok=True)
        return place

    def tied(self, end: int) -> str:
        """Return one end of a link."""
        if "tied" not in self.ready:
            self.ready["tied"] = (self.fact(), self.fact())
            self.memory.link(*self.ready["tied"])
        return str(self.ready["tied"][end])

    def conflict(self) -> str:
        name = self.new("ana")
        for place in ("Lyon", "Bonn"):
            self.memory.remember(name, "city", place, on_conflict="pending")
        return self.memory.conflicts.list()[0].conflict.id

    def loop(self) -> str:
        return self.memory.loops.create(self.new("call the plumber number")).id

    def pool(self) -> str:
        name = self.new("pool")
        self.memory.personas.pools.create(name, members=["ana"])
        return name

    def child(self) -> str:
        name = self.new("child")
        self.memory.personas.inherit(name, "bob")
        return name

    def procedure(self) -> str:
        return self.memory.procedures.create(self.new("deploy"), [{"executor": "codex"}]).name

    def work_that_went_well(self) -> str:
        name = self.new("site")
        for _ in range(2):
            self.memory.profiles.record("codex", success=True, entities=[name])
        return name

    def summary(self) -> str:
        for _ in range(3):
            self.memory.episodes.create(self.new("went well"), happened_at="40d")
        self.memory.summaries.run()
        return self.memory.summaries.list()[0].id


class Loader:
    """A document loader with nothing in it."""

    def lazy_load(self) -> Iterator[Any]:
        return iter(())


USUAL: Mapping[str, Any] = {
    "ids": ["nothing-of-this-id"],
    "entity": "ana",
    "key": "city",
    "value": "Paris",
    "query": "which city?",
    "message": "where do I live?",
    "messages": [{"role": "user", "content": "I live in Rome."}],
    "conversation": "I live in Rome.",
    "items": [{"entity": "ana", "key": "car", "value": "none"}],
    "id": lambda world: world.fact(),
    "source_id": lambda world: world.fact(),
    "target_id": lambda world: world.fact(),
    "reason": "it was a joke",
    "task": "deploy the site",
    "executor": "codex",
    "success": True,
    "persona": "bob",
    "name": lambda world: world.new("name"),
    "workload": "gate",
    "memory": lambda world: world.memory,
    "home": lambda world: world.folder / "another",
    "embeddings": lambda _: SmallEmbedder(),
    "loader": lambda _: Loader(),
    "executors": ["codex"],
    "chat_node": lambda _: lambda state: {},
    "state": {"messages": [], "memory_context": ""},
    "data_path": lambda world: world.folder,
    "create_maintenance_node.name": "expire",
    "create_swarm_graph.executors": lambda _: {"codex": len},
    "memory.forget.entity": "nobody",
    "memory.unlink.source_id": lambda world: world.tied(0),
    "memory.unlink.target_id": lambda world: world.tied(1),
    "memory.change_embedder.embeddings": lambda world: SmallEmbedder(name=world.new("another")),
    "memory.import_from.source": "text",
    "memory.import_from.path": lambda world: world.file("note.txt", "The lamp is in the hall."),
    "memory.budget.tokens_in": 10,
    "memory.checkpoints.intent": "ship it",
    "memory.checkpoints.id": lambda world: world.memory.checkpoints.save(world.new("ship")).id,
    "memory.conflicts.id": lambda world: world.conflict(),
    "memory.conversations.roots": lambda world: [world.folder_of_conversations()],
    "memory.episodes.summary": "it went well",
    "memory.episodes.id": lambda world: world.memory.episodes.create(world.new("went well")).id,
    "memory.graph.source": lambda world: world.fact(),
    "memory.graph.target": lambda world: world.fact(),
    "memory.graph.what": lambda world: world.fact(),
    "memory.graph.start": lambda world: world.fact(),
    "memory.graph.end": lambda world: world.fact(),
    "memory.graph.unlink.source": lambda world: world.tied(0),
    "memory.graph.unlink.target": lambda world: world.tied(1),
    "memory.graph.links": lambda world: [{"source_id": world.fact(), "target_id": world.fact()}],
    "memory.graph.found": lambda world: world.memory.graph.knowledge_gaps(),
    "memory.loops.title": "call the plumber",
    "memory.loops.text": "called the plumber",
    "memory.loops.until": "tomorrow",
    "memory.loops.owner": "ana",
    "memory.loops.id": lambda world: world.loop(),
    "memory.loops.reopen.id": lambda world: world.memory.loops.resolve(world.loop()).id,
    "memory.personas.child": lambda world: world.new("child"),
    "memory.personas.parent": "bob",
    "memory.personas.disinherit.child": lambda world: world.child(),
    "memory.personas.scope": Scope(persona="ana"),
    "memory.personas.show.name": "ana",
    "memory.personas.pools.name": lambda world: world.pool(),
    "memory.personas.pools.create.name": lambda world: world.new("pool"),
    "memory.personas.pools.remove.persona": "ana",
    "memory.procedures.name": lambda world: world.procedure(),
    "memory.procedures.create.name": lambda world: world.new("deploy"),
    "memory.procedures.learn.entity": lambda world: world.work_that_went_well(),
    "memory.procedures.learn.name": lambda world: world.new("learned"),
    "memory.procedures.steps": [{"executor": "codex"}],
    "memory.profiles.import_file.path": lambda world: world.file("history.json", "{}"),
    "memory.profiles.export_file.path": lambda world: world.folder / "written.json",
    "memory.summaries.id": lambda world: world.summary(),
    "vault.rebuild.replace": True,
    "ComposeOptions.context_tokens": 8_000,
    "Memory.open.home": lambda world: world.folder / "another",
    "Memory.open.embeddings": lambda _: SmallEmbedder(),
    "Vault.open.path": lambda world: world.folder / "data",
    "Vault.open.home": lambda world: world.folder / "another",
    "Vault.open.embeddings": lambda _: SmallEmbedder(),
    "store.namespace": ("notes",),
    "store.namespace_prefix": ("notes",),
    "store.value": {"a": 1},
    "store.ops": [],
}


@dataclass(frozen=True)
class Verb:
    """Something public that can be called, and the same without blocking the event loop where that exists."""

    name: str
    call: Callable[..., Any]
    twin: Callable[..., Any] | None = None

    def arguments(self) -> Mapping[str, inspect.Parameter]:
        """Return the arguments by name, with those of `**words: Unpack[Words]`."""
        found: dict[str, inspect.Parameter] = {}
        for one in inspect.signature(self.call).parameters.values():
            if one.kind is not one.VAR_KEYWORD:
                found[one.name] = one
                continue
            for words in typing.get_args(one.annotation):
                for name, kind in words.__annotations__.items():
                    found[name] = inspect.Parameter(name, one.KEYWORD_ONLY, default=None, annotation=kind)
        return found

    def ordered(self, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return what is given as it is passed: by place where it must be, else by name."""
        first: list[Any] = []
        named: dict[str, Any] = {}
        for name, one in self.arguments().items():
            if name in given and one.kind is one.VAR_POSITIONAL:
                first.extend(given[name])
            elif name in given and one.kind is one.POSITIONAL_ONLY:
                first.append(given[name])
            elif name in given:
                named[name] = given[name]
        return first, named


def verbs_of(thing: Any, name: str) -> Iterator[Verb]:
    methods = {
        each: method for each, method in inspect.getmembers(thing, inspect.ismethod) if not each.startswith("_")
    }
    for each, method in methods.items():
        is_twin = each.startswith("a") and each[1:] in methods
        if not is_twin and f"{name}.{each}" not in APART:
            assert not inspect.iscoroutinefunction(method), f"{each} has no twin that blocks"
            yield Verb(f"{name}.{each}", method, methods.get(f"a{each}"))


def subjects_of(thing: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield a thing and what of ours it has: memory, memory.loops, memory.personas.pools."""
    yield name, thing
    for each, _ in inspect.getmembers(type(thing), lambda member: isinstance(member, property)):
        if not each.startswith("_") and type(getattr(thing, each)).__module__.startswith("zomem_graph.subjects"):
            yield from subjects_of(getattr(thing, each), f"{name}.{each}")


@dataclass
class Trial:
    """Calls verbs with nonsense and notes what is not as it should be."""

    world: World
    counts: Callable[[], Any]
    loop: asyncio.Runner
    broken: list[str] = field(default_factory=list)

    def of(self, verb: Verb) -> None:
        arguments = verb.arguments()
        needed = [
            name
            for name, one in arguments.items()
            if f"{verb.name}.{name}" in USUAL
            or f"{verb.name.rpartition('.')[0]}.{name}" in USUAL
            or (one.default is one.empty and one.kind is not one.VAR_POSITIONAL)
        ]
        if arguments and (error := self._error(verb, self._usual(verb, needed))) is not None:
            self.broken.append(f"{verb.name} refuses what is usual: {error!r}")
        for name, one in arguments.items():
            self._argument(verb, needed, name, one)

    def _argument(self, verb: Verb, needed: Iterable[str], name: str, one: inspect.Parameter) -> None:
        others = [each for each in needed if each != name]
        usual, before, refused = self._usual(verb, others), self.counts(), True
        values = NONSENSE | (TIMES if any(word in f"{one.annotation}" for word in ("datetime", "When")) else {})
        for label, value in values.items():
            if value is None and one.default is None:
                continue
            given = {**usual, name: [value] if one.kind is one.VAR_POSITIONAL else value}
            error = self._error(verb, given)
            if error is None:
                refused, usual = False, self._usual(verb, others)
            elif not isinstance(error, ZomemError) and not (verb.name.startswith("store.") and name in LANGGRAPHS):
                self.broken.append(f"{verb.name}, {name} is {label}: {type(error).__name__}: {error}")
            elif verb.twin is not None:
                self._same(verb, given, error, f"{verb.name}, {name} is {label}")
        if refused and self.counts() != before:
            self.broken.append(f"{verb.name} refused every {name} and wrote something all the same")

    def _usual(self, verb: Verb, names: Iterable[str]) -> dict[str, Any]:
        self.world.renew()
        return {name: self.world.usual(verb.name, name) for name in names}

    def _error(self, verb: Verb, given: Mapping[str, Any]) -> Exception | None:
        first, named = verb.ordered(given)
        try:
            result = verb.call(*first, **named)
            if isinstance(result, Memory | Vault):
                result.close()
        except Exception as error:
            return error
        return None

    def _same(self, verb: Verb, given: Mapping[str, Any], error: Exception, where: str) -> None:
        """Note when the async verb says something else than the other."""
        first, named = verb.ordered(given)
        assert verb.twin is not None
        try:
            self.loop.run(verb.twin(*first, **named))
        except Exception as other:
            if (type(other), f"{other}") == (type(error), f"{error}"):
                return
            self.broken.append(f"{where}: {error!r}, but without blocking {other!r}")
        else:
            self.broken.append(f"{where}: {error!r}, but without blocking nothing")


@dataclass
class Kin(Trial):
    """Calls verbs with NumPy's numbers and truth values where Python's stand, and notes which are refused."""

    tried: int = 0

    def _argument(self, verb: Verb, needed: Iterable[str], name: str, one: inspect.Parameter) -> None:
        usual = self._usual(verb, needed)
        stands = one.default if isinstance(one.default, int | float) else usual.get(name)
        kinds = set(re.findall(r"\w+", getattr(one.annotation, "__name__", None) or f"{one.annotation}"))
        if "Callable" in kinds:
            return
        for kind, kin in ((bool, np.bool_), (int, np.int64), (float, np.float32)):
            if kind.__name__ not in kinds or (kind is not bool and isinstance(stands, bool)):
                continue
            self.tried += 1
            value = kin(kind(stands) if isinstance(stands, int | float) else 1)
            if (error := self._error(verb, {**self._usual(verb, needed), name: value})) is not None:
                self.broken.append(f"{verb.name}, {name} is {value!r}: {type(error).__name__}: {error}")


def try_all(world: World, verbs: Iterable[Verb], counts: Callable[[], Any] | None = None) -> None:
    with asyncio.Runner() as loop:
        trial = Trial(world, counts or world.memory.stats, loop)
        for verb in verbs:
            trial.of(verb)
    assert not trial.broken, "\n".join(trial.broken)
    assert world.memory.verify()["ok"]


def try_kin(world: World, verbs: Iterable[Verb]) -> int:
    """Try NumPy's numbers on every verb; return how many arguments that were."""
    with asyncio.Runner() as loop:
        kin = Kin(world, world.memory.stats, loop)
        for verb in verbs:
            kin.of(verb)
    assert not kin.broken, "\n".join(kin.broken)
    return kin.tried


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.chdir(tmp_path)  # a long text may be the name of a file
    options = MemoryOptions(
        write=WriteOptions(background=False), summaries=SummaryOptions(threshold=1, most=2, older_days=1)
    )
    opened = Memory.open(tmp_path / "home", embeddings=SmallEmbedder(), clock=FixedClock(), options=options)
    with warnings.catch_warnings(), opened as memory:
        warnings.simplefilter("ignore")
        for name in ("ana", "bob"):
            memory.remember("lamp", "room", "hall", persona=name)
        memory.budget.init()
        memory.profiles.record("codex", success=True)
        yield World(memory, tmp_path)


def test_every_verb_of_a_memory_answers_nonsense_clearly(world: World) -> None:
    subjects = subjects_of(world.memory, "memory")
    try_all(world, (verb for name, subject in subjects for verb in verbs_of(subject, name)))


def test_a_stream_of_captures_does_too(world: World) -> None:
    try_all(world, verbs_of(world.memory.capture_stream(), "stream"))


def test_a_key_value_store_does_too(world: World) -> None:
    try_all(world, [Verb("MemoryStore", MemoryStore), *verbs_of(MemoryStore(world.memory), "store")])


def test_a_vault_does_too(world: World) -> None:
    place = world.folder / "data"
    with Vault.open(place, home=world.folder / "other", embeddings=SmallEmbedder(), clock=FixedClock()) as vault:
        vault.ingest([{"subject": "ana", "predicate": "city", "object": "Lyon"}])
        try_all(world, verbs_of(vault, "vault"), vault.memory.stats)
        assert vault.memory.verify()["ok"]


def test_opening_a_memory_or_a_vault_does_too(world: World) -> None:
    try_all(world, [Verb("Memory.open", Memory.open), Verb("Vault.open", Vault.open)])


def test_all_that_builds_graphs_does_too(world: World) -> None:
    offered = {name: getattr(module, name) for module in (zomem_graph, nodes) for name in module.__all__}
    builders = [Verb(name, each) for name, each in offered.items() if inspect.isfunction(each)]
    assert len(builders) > 12
    try_all(world, [*builders, Verb("MemoryMiddleware", MemoryMiddleware)])


def test_scopes_and_options_do_too(world: World) -> None:
    kinds = [kind for name, kind in vars(every_option).items() if inspect.isclass(kind) and name.endswith("Options")]
    assert len(kinds) > 14
    try_all(world, [Verb(kind.__name__, kind) for kind in (Scope, VaultOptions, *kinds)])


def with_field(call: Callable[[dict[str, Any]], Any], usual: dict[str, Any], name: str) -> Callable[[Any], Any]:
    return lambda value: call({**usual, name: value})


def inner_parts(world: World, vault: Vault) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Yield what stands inside of arguments: one field of a dict, one entry of a list."""
    memory, store = world.memory, MemoryStore(world.memory)
    fact = {"entity": "ana", "value": "Paris"}
    message = {"role": "user", "content": "I live in Rome."}
    tie = {"source_id": world.fact(), "target_id": world.fact()}
    line = {"subject": "ana", "object": "Lyon"}
    task = {"task": "deploy the site"}
    swarm = create_swarm_graph(memory, {"codex": lambda _: "done"}).compile()
    fields: dict[str, tuple[dict[str, Any], Iterable[str], Callable[[dict[str, Any]], Any]]] = {
        "a fact": (fact, inspect.signature(memory.remember).parameters, lambda one: memory.remember_many([one])),
        "a message": (
            message,
            ("role", "content", "name", "at", "metadata", "id"),
            lambda one: (memory.observe([one]), memory.recall("hi", history=[one])),
        ),
        "a link": (tie, ("relation", "weight"), lambda one: memory.graph.link_many([one])),
        "a step": (
            {"executor": "codex"},
            ("task_pattern", "timeout_seconds", "fallback_executor", "notes"),
            lambda one: memory.procedures.create(world.new("deploy"), [one]),
        ),
        "a candidate": (
            {"name": "codex"},
            ("expertise", "fit"),
            lambda one: memory.route("deploy the site", executors=[Candidate(**one), "claude"]),
        ),
        "a task": (
            task,
            ("id", "category", "tags", "executor", "procedure", "timeout_seconds"),
            lambda one: swarm.invoke({"tasks": [one]}),
        ),
        "a line of a vault": (
            line,
            (
                "predicate",
                "tier",
                "activation",
                "created",
                "source",
                "confidence",
                "importance",
                "category",
                "persona",
            ),
            lambda one: vault.ingest([one]),
        ),
        "a search of a store": (
            {"namespace_prefix": ("notes",)},
            ("filter", "limit", "offset", "query", "refresh_ttl"),
            lambda one: store.batch([SearchOp(**one)]),
        ),
        "a list of a store": (
            {},
            ("match_conditions", "max_depth", "limit", "offset"),
            lambda one: store.batch([ListNamespacesOp(**one)]),
        ),
        "a value of a store": (
            {"namespace": ("notes",), "key": "k", "value": {"a": 1}},
            ("index", "ttl"),
            lambda one: store.batch([PutOp(**one)]),
        ),
    }
    for what, (usual, more, call) in fields.items():
        for name in dict.fromkeys([*usual, *more]):
            yield f"{name} of {what}", with_field(call, usual, name)
    yield "a root", lambda value: memory.conversations.find([value])
    yield "a kind", lambda value: memory.search("who?", kinds=[value])
    yield "a member", lambda value: memory.personas.pools.create(world.new("pool"), members=[value])
    yield "a file", lambda value: memory.checkpoints.save("ship it", working_files=[value])


def test_what_stands_in_lists_and_dicts_is_answered_clearly_too(world: World) -> None:
    place = world.folder / "data"
    with Vault.open(place, home=world.folder / "other", embeddings=SmallEmbedder(), clock=FixedClock()) as vault:
        broken: list[str] = []
        for name, call in inner_parts(world, vault):
            for label, value in (NONSENSE | TIMES).items():
                try:
                    call(value)
                except ZomemError:
                    pass
                except Exception as error:
                    broken.append(f"{name} is {label}: {type(error).__name__}: {error}")
        assert not broken, "\n".join(broken)
        assert world.memory.verify()["ok"]
        assert vault.memory.verify()["ok"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: CaptureOptions(window_characters=0),
            "CaptureOptions.window_characters must be a whole number from 1",
        ),
        (lambda: ContinuationOptions(window_days=0), "ContinuationOptions.window_days must be a number above 0"),
        (
            lambda: GateOptions(deadline_seconds=-1),
            "GateOptions.deadline_seconds must be a number from 0 to 4,000,000",
        ),
        (lambda: RetrieveOptions(pool=-1), "RetrieveOptions.pool must be a whole number from 0 on, not -1"),
        (lambda: RetrieveOptions(column_weights=(1, 1)), "must be a tuple of 5 values"),  # type: ignore[arg-type]
        (lambda: WriteOptions(toggles=0), "WriteOptions.toggles must be a whole number from 1 on"),
        (lambda: WriteOptions(on_conflict="guess"), "must be one of supersede, merge, flag, pending"),  # type: ignore[arg-type]
    ],
)
def test_options_that_no_step_could_work_with_are_refused(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        make()


def test_a_word_that_a_verb_does_not_know_is_a_fault_of_the_call_as_in_python(world: World) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: world.memory.continuation("what was open?", limt=3),  # type: ignore[call-arg]
        lambda: asyncio.run(world.memory.asearch("which city?", limt=3)),  # type: ignore[call-arg]
        lambda: asyncio.run(world.memory.arecall("which city?", limt=3)),  # type: ignore[call-arg]
        lambda: asyncio.run(world.memory.acapture("I live in Rome.", limt=3)),  # type: ignore[call-arg]
        lambda: asyncio.run(world.memory.aremember("ana", "city", "Rome", limt=3)),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="limt"):
            call()


@pytest.mark.parametrize("at", [datetime(9999, 12, 29, tzinfo=UTC), datetime(1, 1, 3, tzinfo=UTC)])
def test_times_near_the_ends_of_the_calendar_are_kept_as_they_are(at: datetime, world: World) -> None:
    episode = world.memory.episodes.create("the clock stood still", happened_at=at)
    loop = world.memory.loops.create("wind up the clock", expires_at=datetime(9999, 12, 29, tzinfo=UTC))
    (turn,) = world.memory.observe([{"role": "user", "content": "the clock stands", "at": at}])
    assert at == turn.at == world.memory.episodes.show(episode.id).happened_at
    assert world.memory.loops.show(loop.id) == loop
    assert turn.id in {hit.id for hit in world.memory.search("which clock stands?")}


@pytest.mark.parametrize(
    "at",
    [
        datetime.max,
        datetime.min,
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=9))),
        "9999-12-31T23:59:59",
        "0001-01-01",
    ],
)
def test_a_time_that_some_zone_has_no_room_for_is_refused_and_never_moved(at: Any, world: World) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: world.memory.observe([{"role": "user", "content": "the clock stands", "at": at}]),
        lambda: world.memory.capture([{"role": "user", "content": "I live in Rome.", "at": at}]),
        lambda: world.memory.episodes.create("the clock stood still", happened_at=at),
        lambda: world.memory.loops.create("wind up the clock", expires_at=at),
        lambda: world.memory.loops.create("wind up the clock", snooze_until=at),
    ]
    before = world.memory.stats()
    for call in calls:
        with pytest.raises(InvalidInput, match=r"9999-12-29|outside the years 1 to 9999"):
            call()
    assert world.memory.stats() == before
    if isinstance(at, datetime):
        assert world.memory.search("clock", until=datetime.max, since=datetime.min) is not None


@pytest.mark.parametrize(
    "clock",
    [
        5,
        "noon",
        lambda: 5,
        lambda: None,
        lambda: 1_700_000_000.0,
        lambda: datetime(2026, 1, 5),
        datetime.now,
        lambda zone: datetime.now(zone),
        lambda: datetime.max.replace(tzinfo=UTC),
    ],
)
def test_a_clock_that_tells_no_aware_time_is_refused_before_anything_is_made(clock: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="clock"):
        Memory.open(tmp_path / "home", embeddings="none", clock=clock)
    assert not (tmp_path / "home").exists()


def test_a_clock_that_breaks_later_changes_nothing(tmp_path: Path) -> None:
    times: list[Any] = [datetime(2026, 1, 5, tzinfo=UTC)]
    with Memory.open(tmp_path / "home", embeddings="none", clock=lambda: times[-1]) as memory:
        times.append(datetime(2026, 1, 5))
        with pytest.raises(InvalidInput, match="clock must return an aware datetime"):
            memory.remember("ana", "city", "Rome")
        times.append(datetime(2026, 1, 6, tzinfo=UTC))
        assert memory.stats()["facts"] == 0


def test_every_verb_takes_numpys_numbers_for_pythons(world: World) -> None:
    subjects = [*subjects_of(world.memory, "memory"), ("store", MemoryStore(world.memory))]
    assert try_kin(world, (verb for name, subject in subjects for verb in verbs_of(subject, name))) > 60
    assert world.memory.verify()["ok"]


def test_options_and_builders_take_them_too(world: World) -> None:
    kinds = [kind for name, kind in vars(every_option).items() if inspect.isclass(kind) and name.endswith("Options")]
    offered = {name: getattr(module, name) for module in (zomem_graph, nodes) for name in module.__all__}
    builders = [Verb(name, each) for name, each in offered.items() if inspect.isfunction(each)]
    assert try_kin(world, [*builders, *(Verb(kind.__name__, kind) for kind in kinds)]) > 60


def test_options_hold_pythons_numbers(world: World) -> None:
    given: Any = {"toggles": np.int64(3), "toggle_hours": np.float32(1.5), "background": np.bool_(False)}
    kept = WriteOptions(**given)

    assert [type(each) for each in (kept.toggles, kept.toggle_hours, kept.background)] == [int, float, bool]


@pytest.mark.parametrize(
    "value",
    [True, np.bool_(True), float("nan"), np.float32("inf"), Decimal("NaN"), Decimal("sNaN"), 10**400, "1", 1j],
)
def test_what_is_no_finite_number_is_still_refused(world: World, value: Any) -> None:
    with pytest.raises(InvalidInput, match="importance must be a number from 0 to 2"):
        world.memory.remember("ana", "city", "Lyon", importance=value)
    with pytest.raises(InvalidInput, match="limit must be a whole number from 1 to 1,000"):
        world.memory.search("ana", limit=value)


@pytest.mark.parametrize("value", [1, np.int64(1), "yes", np.array([True, False]), None])
def test_only_a_truth_value_is_one(world: World, value: Any) -> None:
    with pytest.raises(InvalidInput, match="allow_secret must be True or False"):
        world.memory.remember("ana", "city", "Lyon", allow_secret=value)


@pytest.mark.parametrize(("value", "kept"), [(Decimal("0.5"), 0.5), (Fraction(1, 2), 0.5), (np.float16(0.5), 0.5)])
def test_every_finite_number_weighs(world: World, value: Any, kept: float) -> None:
    assert world.memory.remember("ana", "city", "Lyon", importance=value).importance == kept


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.int64(3), 3),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.float32(0.5), 0.5),
        (np.float64(0.1), 0.1),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.datetime64("2024-05-01"), "2024-05-01"),
        (np.str_("x"), "x"),
        (np.float32("nan"), "nan"),
        (float("inf"), "inf"),
        (Decimal("1.10"), "1.10"),
        (Fraction(1, 3), "1/3"),
        (Colour.RED, "red"),
        (datetime(2024, 5, 1, 12, tzinfo=UTC), "2024-05-01T12:00:00+00:00"),
        (date(2024, 5, 1), "2024-05-01"),
        (timedelta(hours=1), "1:00:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        ("ä".encode(), "ä"),
        ({"inner": (np.int8(1), {np.int16(2)})}, {"inner": [1, [2]]}),
    ],
)
def test_metadata_is_plain_data_and_reads_back_as_it_was_returned(world: World, given: Any, kept: Any) -> None:
    returned = world.memory.remember("ana", "city", "Lyon", metadata={"x": given}).metadata["x"]

    assert (returned, type(returned)) == (kept, type(kept))
    assert world.memory.lookup("ana", "city")[0].metadata == {"x": kept}
