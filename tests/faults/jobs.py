"""What the processes of the fault tests do; each says in JSON lines what is committed, after it is."""

import ctypes
import json
import os
import resource
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from zomem_graph import Memory
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.stores.errors import ZomemError
from zomem_graph.testing import SmallEmbedder

__all__ = [
    "as_home_becomes_read_only",
    "first_open_on_a_full_disk",
    "fork_while_open",
    "in_read_only_home",
    "on_a_full_disk",
    "open_and_write",
    "opened",
    "serve",
    "word",
    "write_on",
    "write_so_many",
]

_LETTERS = "bcdfghjklm"  # whatever the stemmer does, no two words of these become one


def word(*numbers: int) -> str:
    """Return a word that nothing else contains, one for each series of numbers."""
    digits = "x".join(f"{number:03d}" for number in numbers)
    return "z" + "".join(_LETTERS[int(digit)] if digit.isdigit() else "q" for digit in digits)


def say(**said: Any) -> None:
    """Say something that no later kill can take back."""
    os.write(1, (json.dumps(said) + "\n").encode())


def opened(home: str, *, drain_at: int = 100) -> Memory:
    """Open a home as every process of these tests does."""
    options = MemoryOptions(write=WriteOptions(drain_at=drain_at))
    return Memory.open(home, embeddings=SmallEmbedder(), options=options)


def open_and_write(home: str) -> None:
    """Open a home, store one thing, and hold on."""
    memory = opened(home)
    fact = memory.remember("harbour", "depth", word(0))
    say(kept=fact.id, word=word(0))
    memory.close()
    say(closed=True)


def write_so_many(home: str, name: int, times: int, *, embedded: bool = True) -> None:
    """Store `times` facts one by one."""
    memory = opened(home) if embedded else Memory.open(home, embeddings="none")
    for number in range(times):
        memory.remember(word(name, number), "number", str(number))
    memory.close()


def serve(home: str, asked: str, answered: str) -> None:
    """Have a home open and answer one call after the other, each a JSON line."""
    with open(asked, encoding="utf-8") as questions, open(answered, "w", encoding="utf-8") as answers:
        memory = opened(home)
        for question in questions:
            call, *arguments = json.loads(question)
            answers.write(json.dumps(_served(memory, call, arguments)) + "\n")
            answers.flush()
        memory.close()


def _served(memory: Memory, call: str, arguments: list[str]) -> Any:
    match call:
        case "remember":
            return memory.remember(*arguments).id
        case "observe":
            content, session = arguments
            return len(memory.observe([{"role": "user", "content": content}], session=session))
        case "search":
            return [hit.id for hit in memory.search(*arguments)]
        case "recall":
            return memory.recall(*arguments).text
        case "delete":
            return memory.delete(*arguments)
        case "flush":
            return memory.flush()
        case "verify":
            return memory.verify()["ok"]
    raise AssertionError(f"nobody can {call}")


def fork_while_open(home: str) -> None:
    """Have a home open with its index loaded, fork, and write on both sides."""
    memory = opened(home)
    memory.remember("before", "number", word(1))
    memory.flush()
    if child := os.fork():
        memory.remember("parent", "number", word(2))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        memory.close()  # not before: docs/operations.md, Safety
    else:
        memory.remember("child", "number", word(3))
        assert memory.search(word(1))
        os._exit(0)


def write_on(home: str, seed: int) -> None:
    """Do what agents do, in a random order and for ever."""
    _Writer(opened(home, drain_at=30), seed).go_on()


class _Writer:
    """One writer; it says each id when it is committed, and announces what must be whole."""

    def __init__(self, memory: Memory, seed: int) -> None:
        self._memory = memory
        self._seed = seed
        self._chance = Random(seed)
        self._mine: list[str] = []
        self._talk: list[dict[str, str]] = []

    def go_on(self) -> None:
        steps = (self._fact, self._changed, self._batch, self._turns, self._capture, self._delete, self._flush)
        for number in count():
            step = self._chance.choices(steps, weights=(3, 2, 2, 3, 2, 1, 1))[0]
            step(word(self._seed, number))

    def _fact(self, token: str) -> None:
        fact = self._memory.remember(token, "number", f"the value of {token}")
        self._mine.append(fact.id)
        say(kept=fact.id, word=token)

    def _changed(self, token: str) -> None:
        fact = self._memory.remember(f"port {self._seed}", "number", token)
        say(current=fact.id, slot=fact.slot)

    def _batch(self, token: str) -> None:
        say(begun=token, size=12)
        facts = self._memory.remember_many(
            {"entity": f"{token} {n}", "key": "place", "value": f"{token} {n}"} for n in range(12)
        )
        for fact in facts[:2]:
            say(kept=fact.id, word=token)

    def _turns(self, token: str) -> None:
        self._talk += [
            {"role": "user", "content": f"what about {token}?"},
            {"role": "assistant", "content": f"nothing new about {token}"},
        ]
        say(begun=token, size=2)
        for turn in self._memory.observe(self._talk[-6:], session=str(self._seed)):
            say(kept=turn.id, word=token)

    def _capture(self, token: str) -> None:
        said = [{"role": "user", "content": f"I live in {token.title()}."}]
        say(captured=token)
        report = self._memory.capture(said, session=f"capture {self._seed}")
        for id_ in report.turn_ids:
            say(kept=id_, word=token)

    def _delete(self, _token: str) -> None:
        if self._mine:
            gone = self._mine.pop(self._chance.randrange(len(self._mine)))
            say(deleting=gone)
            self._memory.delete(gone)
            say(deleted=gone)

    def _flush(self, _token: str) -> None:
        self._memory.flush()
        say(flushed=True)


# -- unusable folders; each says what a call came to: a name and a value ----------------------------


def attempt(name: str, call: Callable[[], Any]) -> bool:
    """Make a call and say what it came to; return whether it did."""
    try:
        said = ["ok", call()]
    except ZomemError as error:
        said = [type(error).__name__, str(error)]
    say(**{name: said})
    return "ok" in said[:1]


def in_read_only_home(home: str) -> None:
    """Open a home that nobody may write to."""
    _make_read_only(Path(home))
    attempt("open", lambda: opened(home).stats())


def as_home_becomes_read_only(home: str) -> None:
    """Have a home open, then lose the right to write to it."""
    memory = opened(home)
    _make_read_only(Path(home))
    memory.stores.database._engine.dispose()  # so that the next call opens the file anew
    recollection = memory.recall("what did I tell you about the office in the city of Lyon?")
    say(recall=["ok", recollection.text], degraded=["ok", " ".join(recollection.degraded)])
    attempt("remember", lambda: memory.remember("office", "floor", "third").id)
    attempt("observe", lambda: len(memory.observe([{"role": "user", "content": "it has moved"}])))
    attempt("health", lambda: {check.name: check.status for check in memory.health().checks})
    memory.close()


def on_a_full_disk(home: str, most_bytes: int | None) -> None:
    """Store batches until the disk, or what a file may take, is full; then ask."""
    if most_bytes is None:
        _fill(Path(home).parent, but=900_000)
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    memory = Memory.open(
        home, embeddings=SmallEmbedder(), options=MemoryOptions(write=WriteOptions(background=False))
    )
    size, kept = 40, 0
    for number in range(1_000):
        batch = [{"entity": f"{word(number)} {n}", "key": "place", "value": "x" * 500} for n in range(size)]
        if not attempt("remember", lambda batch=batch: len(memory.remember_many(batch))):  # type: ignore[misc]
            break
        kept += size
    say(kept=["ok", kept], batch=["ok", size])
    attempt("search", lambda: bool(memory.search(word(0))))
    memory.close()


def first_open_on_a_full_disk(home: str) -> None:
    """Open a new home where no file may be larger than a few pages."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    attempt("open", lambda: opened(home).stats())


def _fill(disk: Path, *, but: int) -> None:
    status = os.statvfs(disk)
    (disk / "ballast").write_bytes(b"x" * (status.f_bavail * status.f_frsize - but))


def _make_read_only(home: Path) -> None:
    """Take the right to write from everybody; the superuser gives up what is beyond such rights first."""
    for path in (*home.rglob("*"), home):
        path.chmod(0o500 if path.is_dir() else 0o400)
    if os.geteuid() == 0:
        _give_up_file_capabilities()


def _give_up_file_capabilities() -> None:
    """Let permissions hold for this process although it is the superuser's (Linux, capabilities(7))."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, twice
    assert libc.capget(header, data) == 0
    for place in (0, 1):
        data[place] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(header, data) == 0
