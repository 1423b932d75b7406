"""Which names in a question memory knows, however they are written."""

from collections.abc import Collection, Sequence

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.cue_words import WORLD_NAMES
from zomem_graph.nodes.rules.entities import entity_key, runs_of_words
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.nodes.steps.access import Reach, reach
from zomem_graph.nodes.steps.query import Query
from zomem_graph.stores.unit import Unit

__all__ = ["known_names", "names_of_ones_own", "names_told"]

_LETTERS_A_WORD = 12  # more than words have, so that only long values are left out unread


def known_names(unit: Unit, query: Query, personas: Reach, speakers: Sequence[str]) -> tuple[str, ...]:
    """Return the names that a question, or what it leans on, shares with memory, as `entity_key` writes them.

    Names are those of who spoke, who may be read and what items mention; "ana" is Ana.
    """
    asked = query.text if query.meaning is None else query.meaning
    runs = dict.fromkeys([*runs_of_words(asked), *runs_of_words(" ".join(query.history_terms))])
    people = {entity_key(name) for name in (*speakers, *personas) if name != SHARED}
    mentioned = unit.items.mentioned(list(runs), list(personas))
    return tuple(dict.fromkeys([*(run for run in runs if run in people), *mentioned]))


def names_told(
    unit: Unit, things: Sequence[tuple[int, str, str]], personas: Collection[str], *, value_words: int
) -> dict[int, list[str]]:
    """Return what each of these things, given as (number, id, kind), names.

    That is what it mentions by the way it is written, and, of a fact whose value has at most `value_words` words,
    what memory knows in its value in any letter case.
    """
    found = unit.items.entities_of([num for num, _id, _kind in things])
    facts = {id_: num for num, id_, kind in things if kind == "fact"} if value_words else {}
    values = unit.facts.short_values(list(facts), longest=value_words * _LETTERS_A_WORD)
    runs = {id_: runs_of_words(value) for id_, value in values.items() if len(value.split()) <= value_words}
    known = frozenset(unit.items.mentioned(list({run for one in runs.values() for run in one}), list(personas)))
    for id_, one in runs.items():
        names = found.setdefault(facts[id_], [])
        names += [run for run in one if run in known and run not in names]
    return found


def names_of_ones_own(services: Services, message: str, scope: Scope) -> tuple[str, ...]:
    """Return the known names in a message that not all the world knows: Ana, not France."""
    with services.stores.read() as unit:
        personas = reach(unit, scope)
        names = known_names(unit, Query(text=message), personas, unit.items.speakers(list(personas)))
    return tuple(name for name in names if not WORLD_NAMES.issuperset(name.split()))
