"""Whether recall keeps to the budget of a long conversation, and leaves out what matters least."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from time import perf_counter
from typing import Any

from zomem_graph.bench.homes import Say
from zomem_graph.bench.made_up import COLOURS, KEYS, PLACES, START, a_value, made_up_memory
from zomem_graph.bench.marks import Mark, judged
from zomem_graph.memory import Memory
from zomem_graph.nodes.rules.budget import MESSAGE_TOKENS, tokens
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.values import Hit, Recollection

__all__ = ["budget"]

_THREAD = Scope(persona="ann", thread="long")
_ELSEWHERE = Scope(persona="ann")  # the same memory without the thread's budget
_SMALL_TALK = (
    "the walls were painted again|the roof held through the storm|somebody left the gate open|the cat came back"
    "|two visitors asked for the way|the old boiler is loud at night|the cellar smells of apples|nobody was in"
    "|the stairs creak|a parcel arrived for the neighbours|the clock is slow|they planted beans behind the shed"
).split("|")
_EVERY = 3  # turns from one question to the next
_TRIMMED_TO = 0.5  # what a host keeps of its conversation when the alarm rings
_ROOM = 1_000  # tokens of a block where there is no shortage


@dataclass(slots=True)
class _Told:
    """What was told and may be asked for."""

    entity: str
    key: str
    fact_id: str


@dataclass(slots=True)
class _Talk:
    """A conversation as a host keeps it."""

    messages: list[str] = field(default_factory=list)

    def size(self, *more: str) -> int:
        """Return the tokens of the conversation, and of more messages."""
        return sum(tokens(text) + MESSAGE_TOKENS for text in (*self.messages, *more))

    def trim(self, most: int) -> None:
        """Drop the oldest messages until no more than `most` tokens are left."""
        while self.messages and self.size() > most:
            self.messages.pop(0)


@dataclass(slots=True)
class _Counts:
    questions: int = 0
    over: int = 0
    over_the_line: int = 0
    crowded: int = 0
    found: int = 0
    shown: int = 0
    left_out_before_a_lesser: int = 0
    warnings: int = 0
    criticals: int = 0
    largest: int = 0


def budget(*, turns: int = 200, size: int = 8_000, seed: int = 1, say: Say = lambda _line: None) -> dict[str, Any]:
    """Talk for many turns with a budget of tokens and ask for what was told.

    `over` counts prompts beyond the budget, `over_the_line` blocks that carried one past the critical line,
    `left_out_before_a_lesser` needed facts that found no room while a less relevant one did.
    """
    chance, began = random.Random(seed), perf_counter()
    talk, counts = _Talk(), _Counts()
    told: dict[tuple[str, str], _Told] = {}
    with made_up_memory() as (memory, clock):
        memory.budget.init(size, scope=_THREAD)
        for turn in range(turns):
            clock.set(START + timedelta(minutes=turn))
            said = _tell(memory, chance, told)
            talk.messages += [said, " ".join(chance.choices(_SMALL_TALK, k=chance.randint(4, 24)))]
            asked = chance.choice(list(told.values())) if turn % _EVERY == _EVERY - 1 else None
            message = f"Do you remember the {asked.key} of {asked.entity}?" if asked else "Thanks!"
            found = memory.recall(message, scope=_THREAD, history=_messages(talk), token_budget=_ROOM)
            _count(counts, found, talk.size(message), size)
            if asked is not None:
                _compare(memory, counts, message, talk, asked, found)
            if any(one.get("alarm") == "critical" for one in found.trace):
                talk.trim(int(size * _TRIMMED_TO))
        checkpoints = memory.checkpoints.list(kind="budget", limit=1_000, scope=_THREAD)
        say(f"{counts.questions} questions in {turns} turns")
    figures = {
        "budget": size,
        **{name: getattr(counts, name) for name in _Counts.__slots__},
        "checkpoints": len(checkpoints),
        "seconds": round(perf_counter() - began, 1),
    }
    # Without alarms and full prompts the suite would prove nothing.
    marks: dict[str, Mark] = {
        "over": 0,
        "over_the_line": 0,
        "left_out_before_a_lesser": 0,
        "crowded": (1, None),
        "criticals": (1, None),
    }
    return judged("budget", n=turns, seed=seed, figures=figures, marks=marks)


def _tell(memory: Memory, chance: random.Random, told: dict[tuple[str, str], _Told]) -> str:
    """Store a fact with some small talk around it, and return what was said."""
    entity = f"{chance.choice(PLACES)} {chance.choice(COLOURS)}"
    key, kind, sayings = chance.choice(KEYS)
    said = chance.choice(sayings).format(e=entity, v=a_value(kind, chance))
    text = ". ".join([said, *chance.choices(_SMALL_TALK, k=chance.randint(2, 14))])
    fact = memory.remember(entity, key, said, text=text, persona="ann")
    told[entity, key] = _Told(entity, key, fact.id)
    return text


def _messages(talk: _Talk) -> list[dict[str, str]]:
    return [
        {"role": "assistant" if number % 2 else "user", "content": text} for number, text in enumerate(talk.messages)
    ]


def _count(counts: _Counts, found: Recollection, conversation: int, size: int) -> None:
    prompt = conversation + tokens(found.text)
    counts.largest = max(counts.largest, prompt)
    counts.over += prompt > size
    counts.over_the_line += bool(found.text) and prompt > int(size * 0.9)
    alarms = [one["alarm"] for one in found.trace if one["step"] == "budget"]
    counts.warnings += alarms.count("warning")
    counts.criticals += alarms.count("critical")


def _compare(memory: Memory, counts: _Counts, message: str, talk: _Talk, asked: _Told, found: Recollection) -> None:
    """Compare what was shown with what would have been, had there been room."""
    free = memory.recall(message, scope=_ELSEWHERE, history=_messages(talk), token_budget=100_000)
    needed = next((hit for hit in free.hits if hit.id == asked.fact_id), None)
    counts.questions += 1
    counts.crowded += len(found.hits) < len(free.hits)
    if needed is None:
        return
    shown = _ids(found.hits)
    counts.found += 1
    counts.shown += needed.id in shown
    if needed.id not in shown:
        lesser = {hit.id for hit in free.hits if hit.score < needed.score}
        counts.left_out_before_a_lesser += bool(shown & lesser)


def _ids(hits: Sequence[Hit]) -> set[str]:
    return {hit.id for hit in hits}
