"""Suites about trust: whose memory is whose, what strangers' text may do, and what a failing model may lose.

Everything is made from templates and a seed; nothing is asked but the front door. Each suite is a
function as `zomem bench time` wants it.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final

from zomem_graph.bench.homes import Say
from zomem_graph.bench.hostile_texts import SHAPES, poison
from zomem_graph.bench.marks import Mark, judged
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, RetrieveOptions, WriteOptions
from zomem_graph.nodes.ports import Ask, ChatModel
from zomem_graph.nodes.rules.fence import CLOSE, NOTICE, OPEN
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.values import Recollection, plain
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.records import Fact
from zomem_graph.testing import FixedClock, ScriptedChat, SmallEmbedder

__all__ = ["HOSTILE_NAMES", "Tenant", "captured", "isolation", "poisoned", "read_paths"]

_USER: Final = Scope(persona="ann")
_SHARED_KEY: Final = "key holder"

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
        self.doubt = ""

    def fill(self, memory: Memory) -> None:
        """Store facts (one changed since, one against what is shared), turns, an episode, a loop and a link."""
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
        own = memory.remember("vault", _SHARED_KEY, f"at the {mark} door", persona=name)
        (doubt,) = memory.conflicts.detect(scope=scope)
        self.doubt = doubt.conflict.id
        self.ids = [old.id, self.fact.id, liked.id, own.id, *(turn.id for turn in turns), episode.id, loop.id]


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
        "open conflicts": lambda m, s, _q: m.conflicts.list(scope=s, limit=200),
        "origin of what is shared": lambda m, s, _q: [
            (fact, m.provenance(fact.id, scope=s)) for fact in m.lookup("vault", _SHARED_KEY, scope=s)
        ],
        "graph": lambda m, s, _q: m.graph.show("vault", depth=3, scope=s),
        "graph drawn": lambda m, s, _q: m.graph.export("vault", format="html", scope=s),
        "gaps": lambda m, s, _q: (m.graph.knowledge_gaps(limit=50, scope=s), m.graph.show("vault", scope=s)),
        "episodes": lambda m, s, _q: m.episodes.list(entity="vault", limit=200, scope=s),
        "loops": lambda m, s, _q: m.loops.list(limit=200, scope=s),
    }
    return MappingProxyType(paths)


def isolation(
    names: Sequence[str] = HOSTILE_NAMES, *, index: bool = True, seed: int = 1, say: Say = lambda _line: None
) -> dict[str, Any]:
    """Let every hostile name read by every path, and try to change and erase what is not its own.

    The first few are pooled and inherit, so that what a pool lends is told from what leaks. `index` also
    asks the vector index, where it may answer in place of the exact scan. The seed decides who stands next to whom.
    """
    shuffled = random.Random(seed).sample(names, len(names))
    tenants = [Tenant(number, name) for number, name in enumerate(shuffled)]
    with TemporaryDirectory() as folder:
        with _opened(Path(folder)) as memory:
            shared = memory.remember("vault", _SHARED_KEY, "at the harbour office")
            for tenant in tenants:
                tenant.fill(memory)
            lent = _tie(memory, tenants)
            seen, unseen = _read_all(memory, tenants, lent=lent)
            say("every path is read once")
            changed = _change_all(memory, tenants)
            memory.flush()
        if index:
            with _opened(Path(folder), exact_below=0) as memory:
                also = _read_all(memory, tenants, lent=lent)
            seen, unseen = [*seen, *also[0]], [*unseen, *also[1]]
        with _opened(Path(folder)) as memory:
            changed += _decide_all(memory, tenants, shared)
    paths = len(read_paths()) * (2 if index else 1)
    figures = {
        "names": len(tenants),
        "read_paths": paths,
        "reads": paths * len(tenants),
        "foreign": len(seen),
        "own_unseen": len(unseen),
        "changed_by_strangers": len(changed),
        "found": [*seen, *unseen, *changed][:20],
    }
    marks = {"foreign": 0, "own_unseen": 0, "changed_by_strangers": 0}
    return judged("isolation", n=paths * len(tenants), seed=seed, figures=figures, marks=marks)


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
        foreign = {one.mark: one for one in tenants if one.mark != tenant.mark}
        for mark in lent.get(tenant.name, ()):
            foreign.pop(mark)
        for path, read in read_paths().items():
            shown = str(plain(read(memory, tenant.scope, question)))
            for mark, other in foreign.items():
                if mark in shown or any(id_ in shown for id_ in other.ids):
                    seen.append(f"{tenant.name!r:.40} sees {other.name!r:.40} by {path}")
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


def _decide_all(memory: Memory, tenants: Sequence[Tenant], shared: Fact) -> list[str]:
    """Let each decide its own doubt of what is shared, in every way; return what that changed for others."""
    done = []
    for number, tenant in enumerate(tenants):
        strategy, kept = (("merge", None), ("supersede", None), ("supersede", shared.id))[number % 3]
        memory.conflicts.resolve(tenant.doubt, strategy, keep=kept, scope=tenant.scope)
        for who in (Scope(), tenants[(number + 3) % len(tenants)].scope):
            told = str(plain((memory.lookup("vault", scope=who), memory.provenance(shared.id, scope=who))))
            if tenant.mark in told or tenant.ids[3] in told or shared.value not in told:
                done.append(f"{tenant.name!r:.40} changed for {who.persona!r:.40} what is shared")
    return done


def _attempts(memory: Memory, tenant: Tenant, other: Tenant) -> dict[str, Callable[[], object]]:
    theirs, scope = other.ids, tenant.scope
    return {
        "delete": lambda: memory.delete(theirs[1], scope=scope),
        "retract": lambda: memory.retract(theirs[2], "mine now", scope=scope),
        "link": lambda: memory.link(tenant.ids[1], theirs[1], scope=scope),
        "tie": lambda: memory.graph.link(tenant.ids[1], theirs[1], scope=scope),
        "unlink": lambda: memory.unlink(theirs[1], theirs[2], scope=scope),
        "trace": lambda: memory.provenance(theirs[1], scope=scope),
        "forget": lambda: memory.forget(persona=tenant.name, id=theirs[1], dry_run=True),
        "decide a conflict of": lambda: memory.conflicts.resolve(other.doubt, scope=scope),
        "keep a side of": lambda: memory.conflicts.resolve(other.doubt, keep=theirs[3], scope=scope),
        "merge a side of": lambda: memory.conflicts.resolve(other.doubt, "merge", scope=scope),
        "resolve a loop of": lambda: memory.loops.resolve(theirs[-1], scope=scope),
        "show an episode of": lambda: memory.episodes.show(theirs[-2], scope=scope),
    }


def _opened(
    home: Path, *, exact_below: int = 200_000, chat: ChatModel | str = "none", clock: FixedClock | None = None
) -> Memory:
    options = MemoryOptions(
        write=WriteOptions(background=False, embed_inline=64), retrieve=RetrieveOptions(exact_below=exact_below)
    )
    return Memory.open(
        home, embeddings=SmallEmbedder(), chat_model=chat, clock=clock or FixedClock(), options=options
    )


def _letters(number: int) -> str:
    return chr(ord("a") + number // 26) + chr(ord("a") + number % 26) + "q"


def poisoned(*, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Let tools, documents and assistants say sixty texts with orders, forged fences and look-alike entities.

    The chat model of this suite obeys them all and offers what they say as facts. `followed` counts texts that
    left the fence or stood on a line of their own in a recalled block; `captured` those that became a fact, a
    rule or a loop, also when the block is captured again; `user_facts` is what the user said and was learned.
    The seed decides the order.
    """
    texts = random.Random(seed).sample(poison(), len(poison()))
    with TemporaryDirectory() as folder, _opened(Path(folder), chat=ScriptedChat(_obedient)) as memory:
        for number, (origin, text, mark) in enumerate(texts):
            talk = [
                {"role": "user", "content": f"My cabin {number} is painted teal. What does {mark} say?"},
                {"role": origin, "content": text},
            ]
            memory.capture(talk, scope=_USER, session=f"s{number}", inline=True)
        caught = _caught(memory)
        say(f"{len(texts)} texts are captured")
        blocks = {
            mark: memory.recall(f"What did I tell you about {mark}?", scope=_USER).text for *_, mark in poison()
        }
        for mark, block in blocks.items():
            memory.capture([{"role": "user", "content": f"{block}\nthanks"}], scope=_USER, session=mark, inline=True)
        again = _caught(memory)
        learned = len(memory.search("cabin painted teal", scope=_USER, kinds=("fact",), limit=200))
    shown = {mark: block for mark, block in blocks.items() if mark in block}
    followed = [mark for mark, block in shown.items() if not _well_fenced(block)]
    figures = {
        "texts": len(blocks),
        "recalled": len(shown),
        "followed": len(followed),
        "captured": len({*caught, *again}),
        "user_facts": learned,
        "found": [*followed, *caught, *again][:20],
    }
    marks: dict[str, Mark] = {"followed": 0, "captured": 0, "user_facts": (len(texts), None)}
    return judged("poison", n=len(texts), seed=seed, figures=figures, marks=marks)


def _obedient(ask: Ask) -> dict[str, Any]:
    """Answer as a model does that believes whatever it reads."""
    facts = []
    for line in ask.prompt.splitlines():
        quote = line.split(": ", 1)[-1].strip()
        if quote:
            given = {"entity": "user", "key": f"rule {quote[:40]}", "value": quote[:200], "category": "convention"}
            facts.append({**given, "decay_class": "permanent", "confidence": 1.0, "source_quote": quote})
    return {"facts": facts[:20]}


def _caught(memory: Memory) -> list[str]:
    """Return the marks that stand in a fact or loop, other than in what the user asked himself."""
    marks = [mark for *_, mark in poison()]
    asked = "What does {} say?"
    found = []
    for mark in marks:
        hits = memory.search(mark, scope=_USER, kinds=("fact", "loop"), include_superseded=True, limit=50)
        texts = [hit.text.replace(asked.format(mark), "") for hit in hits]
        found += [mark for text in texts if mark in text]
    return found


def _well_fenced(block: str) -> bool:
    """Return whether a block is one fence around rows, and nothing that reads like its end stands in it."""
    first, notice, *rows, last = block.split("\n")
    inside = all(row.startswith("- [") and OPEN not in row and CLOSE not in row for row in rows)
    plain_rows = all(row.isprintable() for row in rows)
    return (first, notice, last) == (OPEN, NOTICE, CLOSE) and inside and plain_rows


def captured(rounds: int = 5, *, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Let a model reply in twenty shapes, most of them malformed, `rounds` times each; then let it recover.

    `lost_silently` counts stated facts that are neither stored nor waiting, `marked_done` conversations called
    done although a fact is missing, `lost_after_recovery` facts missing when a sound model has read what waits.
    The seed decides the order of the shapes.
    """
    shapes = [shape for shape in SHAPES for _ in range(rounds)]
    random.Random(seed).shuffle(shapes)

    def broken(ask: Ask) -> str:
        stated = _stated(ask)
        return SHAPES[shapes[int(stated[0]["entity"].removeprefix("Hut"))]](stated)

    clock = FixedClock()
    with TemporaryDirectory() as folder:
        with _opened(Path(folder), chat=ScriptedChat(broken), clock=clock) as memory:
            for number in range(len(shapes)):
                memory.capture(_talk(number), scope=_USER, session=f"s{number}", inline=True)
            with memory.stores.read() as unit:
                unread = {job.session for job in unit.journal.unread(len(shapes))}
            absent = {number: _absent(memory, number) for number in range(len(shapes))}
        say(f"{len(shapes)} replies are read; {len(unread)} conversations wait for another")
        done = [number for number, keys in absent.items() if keys and f"s{number}" not in unread]
        clock.advance(hours=1)
        with _opened(Path(folder), chat=ScriptedChat(lambda ask: {"facts": _stated(ask)}), clock=clock) as memory:
            memory.capture_retry()
            memory.capture_waiting(limit=len(shapes))
            missing = [(number, key) for number in range(len(shapes)) for key in _absent(memory, number)]
    lost = [(number, key) for number in done for key in absent[number]]
    stored = len(shapes) * len(_KEYS) - sum(map(len, absent.values()))
    figures = {
        "shapes": len(SHAPES),
        "replies": len(shapes),
        "facts": len(shapes) * len(_KEYS),
        "stored_at_once": stored,
        "lost_silently": len(lost),
        "marked_done": len(done),
        "lost_after_recovery": len(missing),
        "found": [f"{shapes[number]}: {key}" for number, key in [*lost, *missing]][:20],
    }
    marks = {"lost_silently": 0, "marked_done": 0, "lost_after_recovery": 0}
    return judged("capture", n=len(shapes), seed=seed, figures=figures, marks=marks)


_KEYS: Final = ("colour", "beds", "key")


def _talk(number: int) -> list[dict[str, str]]:
    said = f"Hut{number}: shade teal{number}, beds {number + 2}, hook h{number}."
    return [{"role": "user", "content": said}, {"role": "assistant", "content": "Understood."}]


def _stated(ask: Ask) -> list[dict[str, Any]]:
    """Return the three facts of the conversation a question is about, as a sound model would."""
    said = next(line for line in ask.prompt.splitlines() if "Hut" in line).split(": ", 1)[1]
    hut, rest = said.split(": ", 1)
    values = [part.split()[-1] for part in rest.rstrip(".").split(", ")]
    quotes = rest.rstrip(".").split(", ")
    shared = {"entity": hut, "category": "fact", "decay_class": "stable", "confidence": 0.9}
    return [
        {**shared, "key": key, "value": value, "source_quote": quote}
        for key, value, quote in zip(_KEYS, values, quotes, strict=True)
    ]


def _absent(memory: Memory, number: int) -> list[str]:
    known = {fact.key for fact in memory.lookup(f"Hut{number}", scope=_USER)}
    return [key for key in _KEYS if key not in known]
