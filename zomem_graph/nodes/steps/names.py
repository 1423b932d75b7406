"""Which names in a question memory knows, however they are written."""

from collections.abc import Sequence

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.cue_words import WORLD_NAMES
from zomem_graph.nodes.rules.entities import entity_key, runs_of_words
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.nodes.steps.access import Reach, reach
from zomem_graph.nodes.steps.query import Query
from zomem_graph.stores.unit import Unit

__all__ = ["known_names", "names_of_ones_own"]


def known_names(unit: Unit, query: Query, personas: Reach, speakers: Sequence[str]) -> tuple[str, ...]:
    """Return the names that a question, or what it leans on, shares with memory, as `entity_key` writes them.

    Names are those of who spoke, who may be read and what items mention; "ana" is Ana.
    """
    asked = query.text if query.meaning is None else query.meaning
    runs = dict.fromkeys([*runs_of_words(asked), *runs_of_words(" ".join(query.history_terms))])
    people = {entity_key(name) for name in (*speakers, *personas) if name != SHARED}
    mentioned = unit.items.mentioned(list(runs), list(personas))
    return tuple(dict.fromkeys([*(run for run in runs if run in people), *mentioned]))


def names_of_ones_own(services: Services, message: str, scope: Scope) -> tuple[str, ...]:
    """Return the known names in a message that not all the world knows: Ana, not France."""
    with services.stores.read() as unit:
        personas = reach(unit, scope)
        names = known_names(unit, Query(text=message), personas, unit.items.speakers(list(personas)))
    return tuple(name for name in names if not WORLD_NAMES.issuperset(name.split()))
