"""One page a day: what its sessions said, in four sections (spec F116).

A day is told from the database, from midnight to midnight in the vault's time zone, whenever the page is
written: at 23:00 of the day, in the night after it, or later when a log comes late. So no hour falls between two
jobs, and writing a page again gives the same page. After a rebuild the database knows less than the pages that were
there before it: what those say stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta

from zomem_graph.nodes.rules.daily import section_of
from zomem_graph.nodes.rules.loops import loops_in
from zomem_graph.nodes.rules.session_lines import SESSION_PREFIX
from zomem_graph.nodes.rules.vault_pages import SECTIONS, DayEntry, daily_block, told_in, with_block, without
from zomem_graph.stores.records import Fact, Turn
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_files import replace_file
from zomem_graph.vault.ground import Ground
from zomem_graph.vault.mirror import read_page

__all__ = ["entries_of", "strike", "write_days"]

_ACTIONS = SECTIONS[3]


def write_days(ground: Ground, days: Iterable[date]) -> list[date]:
    """Write the pages of these days on which something was said; what is written by hand around them stays."""
    written: list[date] = []
    listed = sorted(set(days))
    kept = ground.kept_pages()
    for day in listed:
        entries, sessions, turns = entries_of(ground, day)
        if not turns:
            continue
        path = ground.place.day_file(day)
        page = read_page(path)
        if day in kept:  # the database is younger than this page
            before, old_sessions, old_turns = told_in(page)
            entries, sessions, turns = [*before, *entries], max(sessions, old_sessions), max(turns, old_turns)
        page = with_block(page, daily_block(day, entries, sessions, turns))
        replace_file(path, page.encode("utf-8", "surrogateescape"))
        written.append(day)
    if listed:
        ground.told(listed)
    return written


def strike(ground: Ground, said: Sequence[str]) -> int:
    """Take what was forgotten out of every page's block; return how many pages changed."""
    changed = 0
    for _day, path in ground.place.days() if said else ():
        page = without(read_page(path), said)
        changed += replace_file(path, page.encode("utf-8", "surrogateescape"))
    return changed


def entries_of(ground: Ground, day: date) -> tuple[list[DayEntry], int, int]:
    """Return the entries of a day in the order they were said, and how many sessions and messages there were."""
    since, until = _bounds(ground, day)
    with ground.memory.stores.read() as unit:
        said = unit.vault.said_between(ground.options.persona, SESSION_PREFIX, since, until)
        ids = [turn_id for turn_id, _session in said]
        turns = {turn.id: turn for turn in unit.turns.find(ids)}
        facts = _facts_by_turn(unit, ids)
        closed = _closed(unit, ids)
    entries: list[DayEntry] = []
    for turn_id in ids:
        turn = turns.get(turn_id)
        if turn is not None:
            entries += _entries(turn, facts.get(turn_id, ()), closed)
    return entries, len({session for _id, session in said}), len(said)


def _entries(turn: Turn, facts: Sequence[Fact], closed: frozenset[str]) -> Iterable[DayEntry]:
    """Return what one message has for the page; a fact is there only when the graph has it."""
    session = turn.session.removeprefix(SESSION_PREFIX)
    for fact in facts:
        section, text = section_of(entity=fact.entity, key=fact.key, value=fact.value, category=fact.category)
        yield DayEntry(section=section, text=text, session=session)
    for loop in loops_in(turn.content, role=turn.role):
        mark = "x" if loop.title in closed else " "
        yield DayEntry(section=_ACTIONS, text=f"[{mark}] {loop.title}", session=session)


def _facts_by_turn(unit: Unit, turn_ids: Sequence[str]) -> Mapping[str, list[Fact]]:
    origins = unit.provenance.from_turns(turn_ids)
    facts = {fact.id: fact for fact in _found(unit, [origin.fact_id for origin in origins])}
    by_turn: dict[str, list[Fact]] = {}
    for origin in sorted(
        origins, key=lambda one: (one.captured_at, facts[one.fact_id].text if one.fact_id in facts else "")
    ):
        if origin.fact_id in facts:
            by_turn.setdefault(origin.turn_id, []).append(facts[origin.fact_id])
    return by_turn


def _found(unit: Unit, ids: Sequence[str]) -> list[Fact]:
    listed = list(dict.fromkeys(ids))
    return [fact for start in range(0, len(listed), 500) for fact in unit.facts.find(listed[start : start + 500])]


def _closed(unit: Unit, turn_ids: Sequence[str]) -> frozenset[str]:
    """Return the titles of what these messages opened and is done by now."""
    loops = unit.loops.find(unit.vault.loops_from(turn_ids))
    return frozenset(loop.title for loop in loops if loop.status == "resolved")


def _bounds(ground: Ground, day: date) -> tuple[datetime, datetime]:
    zone = ground.options.zone
    return (
        datetime.combine(day, time.min, zone),
        datetime.combine(day + timedelta(days=1), time.min, zone),
    )
