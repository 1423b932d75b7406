"""Suites about trust: whose memory is whose, what strangers' text may do, and what a failing model may lose.

Everything is made from templates and a seed; nothing is asked but the front door. Each suite is a function
without arguments that need thought, and returns plain data.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final

from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, RetrieveOptions, WriteOptions
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.values import Recollection, plain
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.records import Fact
from zomem_graph.testing import FixedClock, SmallEmbedder

__all__ = ["HOSTILE_NAMES", "SUITES", "Tenant", "isolation", "read_paths"]

HOSTILE_NAMES: Final = (
    "dev", "dev2", "d_v", "%", "DEV", "dev ", " dev", "dev%", "dev_", "d%", "de", "devv", "dеv", "ｄｅｖ",
    "dev\u200b", "dév", "de\u0301v", "dev'", 'dev"', "dev'; drop table facts; --", "dev\n", "dev\nshared", "dev\t",
    "Dev", "SHARED", "shared ", "shared\u200b", "*", "?", "../dev", "dev/../dev2", "dev\\", "dev:fact", "x" * 200,
    "x" * 199, "null", "dev OR 1=1", "\x00dev", "ſ", "🧑‍💻",
)  # fmt: skip
"""Persona names that begin, end, fold, fold apart, match or break like others."""

Path_ = Callable[[Memory, Scope, str], Any]


class Tenant:
    """One persona with one of everything, each thing carrying a word that nobody else has."""

    def __init__(self, number: int, name: str) -> None:
        self.name = name
        self.scope = Scope(persona=name, thread=f"talk{number}")
        self.mark = f"zor{_letters(number)}"
        self.ids: list[str] = []
        self.fact: Fact | None = None

    def fill(self, memory: Memory) -> None:
        """Store facts (one of them changed since), turns, an episode, a loop and a link."""
        mark, name, scope = self.mark, self.name, self.scope
        old = memory.remember("vault", "code name", f"old {mark}", persona=name)
        self.fact = memory.remember("vault", "code name", f"new {mark}", persona=name)
        liked = memory.remember("vault", "likes", f"the {mark} lamp", persona=name, many=True)
        said = [
            {"role": "user", "content": f"The vault code name talk is about {mark}, we still must fix the door."},
            {"role": "assistant", "content": f"Noted: {mark} and the vault."},
        ]
        turns = memory.observe(said, scope=scope)
        episode = memory.episodes.create(f"Opened the vault with {mark}", entities=["vault"], scope=scope)
        loop = memory.loops.create(f"Fix the vault door of {mark}", entity="vault", scope=scope)
        memory.link(self.fact.id, liked.id, scope=scope)
        self.ids = [old.id, self.fact.id, liked.id, *(turn.id for turn in turns), episode.id, loop.id]


def read_paths() -> Mapping[str, Path_]:
    """Return every way to read: name → function of memory, scope and question."""
    paths: dict[str, Path_] = {f"search {kind}": _search_of(kind) for kind in ("fact", "turn", "episode", "loop")}
    paths |= {
        "search past values": lambda m, s, q: m.search(q, scope=s, include_superseded=True, limit=50),
        "search as of": lambda m, s, q: m.search(q, scope=s, as_of=m.clock() + timedelta(minutes=1), limit=50),
        "search without links": lambda m, s, q: m.search(q, scope=s, graph=False, limit=50),
        "recall": lambda m, s, q: _told(m.recall(f"What did I tell you about the vault? {q}", scope=s, limit=50)),
        "continuation": lambda m, s, q: _told(m.continuation(f"go on with {q}", scope=s, limit=50)),
        "bare continuation": lambda m, s, _q: _told(m.continuation("go on", scope=s, limit=50)),
        "lookup": lambda m, s, _q: m.lookup("vault", scope=s),
        "history": lambda m, s, _q: m.conflicts.history("vault", scope=s),
        "conflicts": lambda m, s, _q: m.conflicts.list(resolution="superseded", scope=s),
        "episodes": lambda m, s, _q: m.episodes.list(entity="vault", limit=200, scope=s),
        "loops": lambda m, s, _q: m.loops.list(limit=200, scope=s),
    }
    return MappingProxyType(paths)


def isolation(names: Sequence[str] = HOSTILE_NAMES, *, index: bool = True) -> dict[str, Any]:
    """Let every hostile name read by every path, and try to change and erase what is not its own.

    The first few are pooled and inherit, so that what a pool lends is told from what leaks. `index` also
    asks the vector index, where it may answer in place of the exact scan.
    """
    tenants = [Tenant(number, name) for number, name in enumerate(names)]
    with TemporaryDirectory() as folder:
        with _opened(Path(folder)) as memory:
            for tenant in tenants:
                tenant.fill(memory)
            lent = _tie(memory, tenants)
            seen, unseen = _read_all(memory, tenants, lent=lent)
            changed = _change_all(memory, tenants)
            memory.flush()
        if index:
            with _opened(Path(folder), exact_below=0) as memory:
                also = _read_all(memory, tenants, lent=lent)
            seen, unseen = [*seen, *also[0]], [*unseen, *also[1]]
    paths = len(read_paths()) * (2 if index else 1)
    return {
        "suite": "isolation",
        "names": len(tenants),
        "read_paths": paths,
        "reads": paths * len(tenants),
        "foreign": len(seen),
        "own_unseen": len(unseen),
        "changed_by_strangers": len(changed),
        "found": [*seen, *unseen, *changed][:20],
    }


def _search_of(kind: str) -> Path_:
    return lambda memory, scope, question: memory.search(question, scope=scope, kinds=(kind,), limit=50)


def _told(found: Recollection) -> tuple[object, ...]:
    """Return what a recall hands over; its trace repeats the question."""
    return found.text, found.hits, found.reason


def _tie(memory: Memory, tenants: Sequence[Tenant]) -> dict[str, set[str]]:
    """Pool the first two, let the third inherit from the first; return whose marks each may now read."""
    first, second, third = tenants[:3]
    memory.personas.pools.create("%", members=[first.name, second.name])
    memory.personas.inherit(third.name, first.name)
    return {
        first.name: {second.mark},
        second.name: {first.mark},
        third.name: {first.mark, second.mark},
    }


def _read_all(
    memory: Memory, tenants: Sequence[Tenant], *, lent: Mapping[str, set[str]]
) -> tuple[list[str], list[str]]:
    """Return each sight of something foreign (who, by which path, whose), and where one's own was not seen."""
    seen, unseen = [], []
    for number, tenant in enumerate(tenants):
        near = [tenants[(number + step) % len(tenants)].mark for step in range(2)]
        question = f"vault code name {' '.join(near)}"
        foreign = {one.mark: one.name for one in tenants if one.mark != tenant.mark}
        for mark in lent.get(tenant.name, ()):
            foreign.pop(mark)
        for path, read in read_paths().items():
            shown = str(plain(read(memory, tenant.scope, question)))
            seen += [f"{tenant.name!r:.40} sees {foreign[mark]!r:.40} by {path}" for mark in foreign if mark in shown]
            if tenant.mark not in shown:
                unseen.append(f"{tenant.name!r:.40} does not see its own by {path}")
    return seen, unseen


def _change_all(memory: Memory, tenants: Sequence[Tenant]) -> list[str]:
    """Let each try to change, tie, trace and erase what is the next one's; return what was let through."""
    done = []
    for tenant, other in zip(tenants, [*tenants[3:], *tenants[:3]], strict=True):
        for what, attempt in _attempts(memory, tenant, other).items():
            try:
                attempt()
            except (UnknownName, InvalidInput):
                continue
            done.append(f"{tenant.name!r:.40} could {what} what is {other.name!r:.40}'s")
        if memory.forget(persona=tenant.name, matching=other.mark, dry_run=True).listed:
            done.append(f"{tenant.name!r:.40} could forget what is {other.name!r:.40}'s")
    return done


def _attempts(memory: Memory, tenant: Tenant, other: Tenant) -> dict[str, Callable[[], object]]:
    theirs, scope = other.ids, tenant.scope
    return {
        "delete": lambda: memory.delete(theirs[1], scope=scope),
        "retract": lambda: memory.retract(theirs[2], "mine now", scope=scope),
        "link": lambda: memory.link(tenant.ids[1], theirs[1], scope=scope),
        "unlink": lambda: memory.unlink(theirs[1], theirs[2], scope=scope),
        "trace": lambda: memory.provenance(theirs[1], scope=scope),
        "forget": lambda: memory.forget(persona=tenant.name, id=theirs[1], dry_run=True),
        "resolve a loop of": lambda: memory.loops.resolve(theirs[-1], scope=scope),
        "show an episode of": lambda: memory.episodes.show(theirs[-2], scope=scope),
    }


def _opened(home: Path, *, exact_below: int = 200_000) -> Memory:
    options = MemoryOptions(
        write=WriteOptions(background=False, embed_inline=64), retrieve=RetrieveOptions(exact_below=exact_below)
    )
    return Memory.open(home, embeddings=SmallEmbedder(), chat_model="none", clock=FixedClock(), options=options)


def _letters(number: int) -> str:
    return chr(ord("a") + number // 26) + chr(ord("a") + number % 26) + "q"


SUITES: Mapping[str, Callable[[], dict[str, Any]]] = MappingProxyType({"isolation": isolation})
