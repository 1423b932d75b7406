"""How a memory fades: one pure fold from its life, its uses and the days the store was in use (design §5).

Nothing here remembers when it was last asked. Whoever writes the answer down daily, twice or never gets the
same answer, because a move happens at the moment its reason is complete and not when somebody looks.

- Activation halves every 30 calendar days from its own `as_of`; a use raises it by .3 of what is missing to 1.
- Tiers move one rung at a time, at most once in 24 hours (spec F11). A use starts a stable or active fact's
  lifetime anew (T3, F8), and a demotion never brings the end nearer than it was promised.
- Demotion and the lifetimes of stable and active facts count days on which the store was in use, so that one
  left alone wakes up whole. Session and checkpoint facts live by the clock.
- What is permanent or important neither falls below .15 nor is demoted nor archived for its age.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import takewhile
from typing import Final, Literal

from zomem_graph.nodes.rules.calendar_days import LATEST, to_utc
from zomem_graph.nodes.rules.tiers import LIFETIMES, WALL_CLOCK_TIERS
from zomem_graph.stores.errors import InvalidInput

__all__ = ["Fading", "Fate", "Life", "Move", "Use", "activation_at", "fate"]

Band = Literal["active", "fading", "archived"]
Turn = Literal["promoted", "demoted", "archived", "expired"]

_DAY: Final = timedelta(days=1)
_RESOLUTION: Final = 1e-9  # what counts as "at" a threshold of activation
_RUNGS: Final = ("session", "active", "stable")  # permanent and checkpoint are never moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """The figures of fading; the defaults are the store's.

    A vault passes `archive_below=.05` and no active days: then activation alone archives, by the calendar.
    """

    half_life_days: float = 30.0
    boost: float = 0.3
    floor: float = 0.15
    fading_below: float = 0.15
    archive_below: float | None = None
    important_from: float = 1.5
    allow_permanent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What fading needs to know of a fact.

    `as_of` is when it came into the store or was last said again, and `activation` what it had then;
    `tier` is the one it was given (None or an unknown one never moves and never ends). `protected` facts
    hold parts of the graph together.
    """

    as_of: datetime
    tier: str | None = "stable"
    importance: float = 1.0
    activation: float = 1.0
    protected: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """One time it was injected or returned to a caller. Uses of the same `turn` count once, probes never."""

    at: datetime
    turn: str = ""
    probe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One step of a fact down or up the ladder, or out of recall, with its reason in words."""

    at: datetime
    kind: Turn
    tier: str | None
    to: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """How a fact stands now. `ended_at` is set for archived ones; `moves` are all since `as_of`, oldest first.

    `ends_at` is when it will leave recall if nothing more happens, None when that cannot be told yet or never is.
    """

    activation: float
    state: Band
    tier: str | None
    ended_at: datetime | None = None
    ends_at: datetime | None = None
    moves: tuple[Move, ...] = ()


def activation_at(activation: float, as_of: datetime, now: datetime, *, half_life_days: float = 30.0) -> float:
    """Return what is left of an activation after the days from `as_of` to `now`; a clock set back takes nothing."""
    days = max(0.0, (now - as_of) / _DAY)
    return activation * math.pow(0.5, days / half_life_days)


def fate(
    fact: Life,
    accesses: Iterable[Use],
    active_days: Sequence[date] | None,
    now: datetime,
    *,
    rules: Fading | None = None,
) -> Fate:
    """Return how a fact stands at `now`, and every move that brought it there.

    `active_days` are UTC days in order, each once: those with a user's observe, remember or recall. None counts
    calendar days throughout. Uses after `now` have not happened; uses up to `as_of` are in `activation` already.
    Raises InvalidInput for a time without a zone.
    """
    until = _aware(now)
    life = replace(fact, as_of=_aware(fact.as_of))
    course = _Course(life, _Days(active_days, until), rules or Fading())
    for at in _counted(accesses, life.as_of, until):
        course.live_to(at)
        if course.ended_at is not None:
            break
        course.use(at)
    course.live_to(until)
    return course.fate(until)


@dataclass(slots=True)
class _Course:
    """A life from one event to the next; never looks further than it was asked to live."""

    life: Life
    days: "_Days"
    rules: Fading
    used: list[datetime] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    ended_at: datetime | None = None
    activation: float = field(init=False)
    as_of: datetime = field(init=False)
    tier: str | None = field(init=False)
    since: datetime = field(init=False)
    ends: datetime = field(init=False)
    promised: str | None = field(init=False)  # the tier whose lifetime ends then

    def __post_init__(self) -> None:
        self.activation = min(1.0, max(0.0, self.life.activation))
        self.as_of = self.since = self.life.as_of
        self.tier = self.promised = self.life.tier
        self.ends = self._end_from(self.since)

    @property
    def _firm(self) -> bool:
        return self.tier == "permanent" or self.life.importance >= self.rules.important_from

    @property
    def _by_clock(self) -> bool:
        """Whether it still lives by the clock: session and checkpoint facts that never moved."""
        return self.tier in WALL_CLOCK_TIERS and not self.moves

    def live_to(self, stop: datetime) -> None:
        """Let everything happen that is due at or before `stop`."""
        while self.ended_at is None:
            faded, move = self._faded(stop), self._next_move()
            first = min(self.ends, move.at if move else LATEST, faded or LATEST)
            if first > stop or first == LATEST:
                return
            if first == self.ends:
                self._leave(first, "expired" if self._by_clock else "archived", self._why_over())
            elif first == faded:
                self._leave(first, "archived", f"activation fell below {self.rules.archive_below}")
            elif move is not None:
                self._move(move)

    def use(self, at: datetime) -> None:
        """Count one use."""
        left = self._left(at)
        self.activation, self.as_of = left + self.rules.boost * (1.0 - left), max(at, self.as_of)
        self.used.append(at)
        if not self._by_clock:
            self._promise(self._end_from(at))
        promotion = self._promotion(at)
        if promotion is not None and promotion.at <= at:
            self._move(promotion)

    def fate(self, now: datetime) -> Fate:
        left = self._left(now)
        archived = self.ended_at is not None
        band: Band = "fading" if left < self.rules.fading_below - _RESOLUTION else "active"
        return Fate(
            activation=left,
            state="archived" if archived else band,
            tier=self.tier,
            ended_at=self.ended_at,
            ends_at=None if archived or self.ends == LATEST else self.ends,
            moves=tuple(self.moves),
        )

    def _left(self, at: datetime) -> float:
        left = activation_at(self.activation, self.as_of, at, half_life_days=self.rules.half_life_days)
        return max(left, self.rules.floor) if self._firm else left

    def _faded(self, stop: datetime) -> datetime | None:
        """Return when activation fell below what archives, if it has by `stop`."""
        least = self.rules.archive_below
        if least is None or self._firm or self._left(stop) >= least - _RESOLUTION:
            return None
        days = self.rules.half_life_days * math.log2(max(self.activation, least) / least)
        return _later(self.as_of, timedelta(days=days))

    def _end_from(self, start: datetime) -> datetime:
        """Return when a lifetime that starts now is over; LATEST when it never is or cannot be told yet."""
        lifetime = LIFETIMES.get(self.tier) if self.tier is not None else None
        if lifetime is None:
            return LATEST
        if self._by_clock:
            return _later(start, lifetime)
        return LATEST if self._firm else self.days.reach(start, lifetime.days)

    def _next_move(self) -> Move | None:
        """Return the move that comes next if nothing is used before."""
        last = self.used[-1] if self.used else None
        return (self._promotion(last) if last is not None else None) or self._demotion()

    def _promotion(self, at: datetime) -> Move | None:
        """Return the promotion that the uses up to `at` have earned: then, or a day after the last move."""
        when = at if not self.moves else max(at, _later(self.since, _DAY))
        match self.tier:
            case "session":
                often = len(self._used_within(when, 1))
                return self._up(when, "active", f"{often} uses in 24 hours") if often >= 3 else None
            case "active":
                used = self._used_within(when, 14)
                days = len({one.date() for one in used})
                if len(used) >= 5 and days >= 3:
                    return self._up(when, "stable", f"{len(used)} uses on {days} days in 14 days")
            case "stable" if self.rules.allow_permanent and self.life.importance >= 0.9:
                used = self._used_within(when, 90)
                days = len({one.date() for one in used})
                if len(used) >= 20 and days >= 10:
                    return self._up(when, "permanent", f"{len(used)} uses on {days} days in 90 days")
        return None

    def _demotion(self) -> Move | None:
        if self._firm or self.life.protected or self.tier not in ("stable", "active"):
            return None
        stable = self.tier == "stable"
        idle, window, spared = (60, 90, 2) if stable else (10, 14, 1)
        start = max([self.since, *self.used[-1:]])
        when = self.days.reach(start, idle)
        if len(self.used) >= spared:
            when = max(when, self.days.reach(self.used[-spared], window))
        if self.moves:
            when = max(when, _later(self.since, _DAY))
        if when == LATEST:
            return None
        why = f"unused for {idle} days" + (f", fewer than {spared} uses in {window} days" if stable else "")
        return Move(at=when, kind="demoted", tier=self.tier, to="active" if stable else "session", why=why)

    def _up(self, when: datetime, to: str, why: str) -> Move:
        return Move(at=when, kind="promoted", tier=self.tier, to=to, why=why)

    def _used_within(self, when: datetime, days: int) -> list[datetime]:
        """Return the uses in the calendar days before `when`, both ends included."""
        span = timedelta(days=days)
        return list(takewhile(lambda at: when - at <= span, reversed(self.used)))

    def _move(self, move: Move) -> None:
        """Take a rung: a promotion's lifetime runs from the last use, a demotion's from now (spec F11)."""
        by_clock = self._by_clock
        self.moves.append(move)
        self.tier, self.since = move.to, move.at
        fresh = self._end_from(self.used[-1] if move.kind == "promoted" else move.at)
        self._promise(fresh, anew=by_clock)

    def _promise(self, end: datetime, *, anew: bool = False) -> None:
        """Let it live until then, unless it was promised longer."""
        if anew or end >= self.ends:
            self.ends, self.promised = end, self.tier

    def _leave(self, at: datetime, kind: Turn, why: str) -> None:
        self.moves.append(Move(at=at, kind=kind, tier=self.tier, to=None, why=why))
        self.ended_at = at

    def _why_over(self) -> str:
        lifetime = LIFETIMES[self.promised or ""] or _DAY
        if self._by_clock:
            return f"a {self.tier} fact lives {lifetime / timedelta(hours=1):.0f} hours"
        counted = "days" if self.days.active is None else "days of use"
        return f"unused for the {max(1, lifetime.days)} {counted} that {self.promised} facts live"


class _Days:
    """Counts days: those of the calendar, or the active ones that are over."""

    def __init__(self, active: Sequence[date] | None, until: datetime) -> None:
        self.active = active
        self._until = until

    def reach(self, start: datetime, count: int) -> datetime:
        """Return when `count` days have passed since `start`; LATEST when they have not by now.

        An active day counts when it is over, so that what happens later on it cannot change what was.
        """
        if self.active is None:
            return _later(start, count * _DAY)
        place = bisect_right(self.active, start.date()) + count - 1
        if place >= len(self.active) or self.active[place] == date.max:
            return LATEST
        over = datetime.combine(self.active[place] + _DAY, time.min, UTC)
        return over if over <= self._until else LATEST


def _counted(accesses: Iterable[Use], after: datetime, until: datetime) -> list[datetime]:
    """Return when it was used, oldest first: no probes, each turn once, nothing outside of the time in question."""
    turns: dict[str, datetime] = {}
    alone: set[datetime] = set()
    for use in accesses:
        at = _aware(use.at)
        if use.probe:
            continue
        if use.turn:
            turns[use.turn] = min(at, turns.get(use.turn, at))
        else:
            alone.add(at)
    return sorted(at for at in (*turns.values(), *alone) if after < at <= until)


def _later(moment: datetime, amount: timedelta) -> datetime:
    return LATEST if moment > LATEST - amount else moment + amount


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise InvalidInput(f"{moment.isoformat()} says no time zone. Give an aware datetime, such as one in UTC.")
    return moment if moment.tzinfo is UTC else to_utc(moment)
