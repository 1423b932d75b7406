"""What is stored and what is asked: real conversations among made-up users, or made-up facts alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from pathlib import Path
from random import Random

from zomem_graph.bench.sets import read_set
from zomem_graph.bench.synthetic import chat

__all__ = ["Fact", "Question", "Workload", "made_up", "one_user", "with_conversations"]

_USER_ITEMS = 600  # about what a conversation of the public set has
_SESSION_ITEMS = 25
_START = datetime(2025, 1, 6, 9, tzinfo=UTC)
_FRIENDS = "Ana Bruno Chidi Dora Emil Farah Goran Hana Ivo Jelena Kofi Lena Milan Nadia Otto Pia".split()
_THINGS = "bicycle boat cabin camera canoe desk drone garden guitar kettle laptop lamp rucksack tent van".split()
_SAYINGS = ("{friend} keeps the {thing} in {place}", "the {thing} of {friend} has been in {place} since spring")
_SYLLABLES = "ba cor del fen gar hol jen kam lor mer nil par quo ros sel tor ul ver wen zan".split()


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing a user's memory holds; `drawn` ones are there to be searched through, their vectors are drawn."""

    id: str
    user: str
    session: str
    speaker: str
    at: datetime
    said: str
    drawn: bool = False

    @property
    def text(self) -> str:
        """What an engine without a place for the speaker stores."""
        return f"{self.speaker}: {self.said}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of one user and the facts that answer it."""

    user: str
    text: str
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """Facts in the order of writing, one user after another, and questions, users taking turns."""

    name: str
    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]

    @property
    def users(self) -> int:
        """How many users there are."""
        return len({fact.user for fact in self.facts})


def with_conversations(folder: Path, items: int, *, conversations: int | None = None, seed: int = 1) -> Workload:
    """Return the (first) conversations of a LoCoMo folder, a user each, and made-up users up to `items` facts."""
    evaluation = read_set(folder)
    haystacks = evaluation.haystacks[:conversations]
    facts = [
        Fact(
            f"{haystack.name}/{entry.unit}",
            haystack.name,
            entry.session or "",
            entry.speaker or entry.role,
            entry.at or _START,
            entry.text,
        )
        for haystack in haystacks
        for entry in haystack.entries
    ]
    asked = [
        [
            Question(haystack.name, question.text, tuple(f"{haystack.name}/{unit}" for unit in question.gold))
            for question in haystack.questions
            if question.category in evaluation.headline
        ]
        for haystack in haystacks
    ]
    rest = _chatter(max(0, items - len(facts)), seed)
    return Workload(f"{evaluation.name} and made-up users", (*facts, *rest), tuple(_in_turns(asked)))


def made_up(items: int, *, questions: int = 200, seed: int = 1) -> Workload:
    """Return facts made from templates, several users who tell the like of each other; needs no data."""
    chance = Random(seed)
    users = max(2, -(-items // _USER_ITEMS))
    facts: list[Fact] = []
    asked: list[list[Question]] = []
    for number in range(users):
        user = f"user-{number}"
        mine = [
            _placed(user, place, chance) for place in range(items // users + (1 if number < items % users else 0))
        ]
        facts += [fact for fact, _question in mine]
        asked.append(chance.sample([question for _fact, question in mine], min(len(mine), questions // users + 1)))
    return Workload("made-up facts", tuple(facts), tuple(_in_turns(asked))[:questions])


def one_user(workload: Workload) -> Workload:
    """Return the same facts and questions as those of a single user."""
    return Workload(
        workload.name,
        tuple(
            Fact(fact.id, "all", f"{fact.user} {fact.session}", fact.speaker, fact.at, fact.said, fact.drawn)
            for fact in workload.facts
        ),
        tuple(Question("all", question.text, question.gold) for question in workload.questions),
    )


def _placed(user: str, number: int, chance: Random) -> tuple[Fact, Question]:
    """Return that a thing of a friend's is somewhere, and the question where."""
    friend = f"{chance.choice(_FRIENDS)} {''.join(chance.choices(_SYLLABLES, k=2)).capitalize()}"
    thing, place = chance.choice(_THINGS), "".join(chance.choices(_SYLLABLES, k=3)).capitalize()
    said = chance.choice(_SAYINGS).format(friend=friend, thing=thing, place=place)
    fact = Fact(
        f"{user}/{number}",
        user,
        f"session-{number // _SESSION_ITEMS}",
        chance.choice(("Sam", "Toni")),
        _START + timedelta(days=number // _SESSION_ITEMS, minutes=number % _SESSION_ITEMS),
        said,
    )
    return fact, Question(user, f"Where is the {thing} that belongs to {friend}?", (fact.id,))


def _chatter(items: int, seed: int) -> Iterator[Fact]:
    """Yield made-up turns of users with about 600 each."""
    for number, session in enumerate(chat(items, 0, seed=seed).sessions if items else ()):
        user = f"made-up-{number * _SESSION_ITEMS // _USER_ITEMS}"
        for place, said in enumerate(session):
            yield Fact(
                f"{user}/{number}:{place}", user, f"session-{number}", said.speaker, said.at, said.text, drawn=True
            )


def _in_turns(asked: Sequence[Sequence[Question]]) -> Iterator[Question]:
    for row in zip_longest(*asked):
        yield from (question for question in row if question is not None)
