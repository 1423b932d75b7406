"""What one wish to forget takes in: what is named, what was learned from it, and whatever says the same."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from zomem_graph.nodes.rules.entities import entities, entity_key, named_in
from zomem_graph.nodes.rules.erasing import FactForms, Retold, shares_wording, shingles, telling
from zomem_graph.nodes.rules.given import flag, if_given, name_of, shown, strings_in
from zomem_graph.nodes.rules.keys import entity_prefix, normal
from zomem_graph.nodes.rules.sources import episode_label
from zomem_graph.nodes.rules.vault_lines import fact_id
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.parting import joined_from, parts_of
from zomem_graph.stores.erasure import Selection
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.graph import STUB
from zomem_graph.stores.records import Episode, Fact, Loop, Turn
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.work_records import Procedure

__all__ = [
    "Remembered",
    "Wanted",
    "is_namesake",
    "retold_of",
    "said_of",
    "select_wanted",
    "texts_of",
    "things_in",
]

_AT_ONCE = 5_000
_LONGEST = 1_000_000  # of a name or a piece of text

Remembered = Fact | Turn | Episode | Loop | Procedure


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be forgotten of one persona: ids, or an entity and/or a piece of text, or everything."""

    persona: str
    entity: str | None = None
    ids: tuple[str, ...] = ()
    matching: str | None = None
    everything: bool = False

    @classmethod
    def read(
        cls,
        *,
        persona: str,
        entity: str | None,
        ids: str | Sequence[str] | None,
        matching: str | None,
        everything: bool,
    ) -> "Wanted":
        """Return the wish as it was passed in; raise InvalidInput when it names nothing or too much."""
        Scope(persona=persona)
        for name, value in (("entity", entity), ("matching", matching)):
            if_given(name_of, name, value, most=_LONGEST)
        listed = _ids(ids)
        everything = flag("everything", everything)
        named = [bool(listed), entity is not None or matching is not None, everything]
        if not any(named):
            raise InvalidInput(
                "Nothing was named, so nothing was forgotten. Pass entity=, id=, matching= or everything=True."
            )
        if sum(named) > 1:
            raise InvalidInput("Name ids, or an entity and/or a text, or everything=True, not two of these.")
        return cls(
            persona=persona,
            entity=entity,
            ids=tuple(dict.fromkeys(listed)),
            matching=matching,
            everything=everything,
        )

    @property
    def key(self) -> str | None:
        """The entity as names are compared, None when none is wanted."""
        return None if self.entity is None else entity_key(self.entity) or normal(self.entity)

    @property
    def clear_name(self) -> str | None:
        """The key of the entity when it names that entity in any letter case: of several words, or with digits.

        A single word may be an ordinary one ("port", "mark"), so it names somebody only where it is written so.
        """
        key = self.key or ""
        return key if " " in key or any(sign.isdigit() for sign in key) else None

    @property
    def piece(self) -> str | None:
        """The text to find, without letter case."""
        return None if self.matching is None else self.matching.casefold()


def select_wanted(unit: Unit, wanted: Wanted) -> Selection:
    """Return all that goes with a wish, of that persona only; raise UnknownName for an id it does not own."""
    if wanted.ids:
        _check_owner(unit, wanted)
    everything = unit.erasure.everything_of(wanted.persona)
    if wanted.everything:
        return everything
    named = _named(unit, everything, wanted)
    if wanted.ids:
        named.facts.update(parts_of(unit, everything.facts, named.facts.values()))
    return _grown(unit, everything, named) if len(named) else named


def _ids(given: str | Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, Sequence) or not all(isinstance(one, str) and one for one in listed) or not listed:
        raise InvalidInput(f"id must be one id or several, not {shown(given)}.")
    return tuple(map(fact_id, listed))


def _check_owner(unit: Unit, wanted: Wanted) -> None:
    for item_id in wanted.ids:
        owner = unit.erasure.owner(item_id)
        if owner is None and unit.tombstones.of(wanted.persona, [("id", item_id)]) is not None:
            continue  # erased before: what is left is the proof
        if owner is None:
            raise UnknownName(f"Nothing has the id {item_id!r:.80}. Find ids with `zomem search`.")
        if owner[1] != wanted.persona:
            raise UnknownName(
                f"{item_id!r:.80} does not belong to the persona {wanted.persona!r:.80}, so it was not "
                "forgotten. Pass the persona that owns it."
            )


def _named(unit: Unit, everything: Selection, wanted: Wanted) -> Selection:
    if wanted.ids:
        return _only(everything, set(wanted.ids))
    ids: set[str] | None = None
    if wanted.entity is not None:
        ids = _about(unit, everything, wanted, wanted.entity)
    if wanted.matching is not None:
        holding = _holding(everything, wanted.piece or "")
        ids = holding if ids is None else ids & holding
    return _only(everything, ids or set())


def _named_only_by(unit: Unit, everything: Selection, going: Set[str]) -> dict[str, Fact]:
    """Return the stubs of names that only what goes has pointed to with [[brackets]]: a name is a trace too."""
    stubs = {one.id: one for one in everything.facts.values() if one.state == STUB}
    ids, pointed, kept = list(stubs), set[str](), set[str]()
    for start in range(0, len(ids), _AT_ONCE):
        for link in unit.links.touching(ids[start : start + _AT_ONCE]):
            for end, other in ((link.source_id, link.target_id), (link.target_id, link.source_id)):
                (pointed if other in going else kept).add(end)
    return {id_: stub for id_, stub in stubs.items() if id_ in pointed - kept}


def _about(unit: Unit, everything: Selection, wanted: Wanted, entity: str) -> set[str]:
    """Return the ids of the facts of an entity, of what mentions it, and of what is named after it.

    A clear name is found in any letter case; a single word where it is written as a name. What belongs to a
    namesake stays: "Apple (firm)" when "Apple (cat)" is meant.
    """
    prefix, key, form = entity_prefix(entity), entity_key(entity), normal(entity)
    ids = {fact.id for fact in everything.facts.values() if fact.slot.startswith(prefix)}
    ids |= {loop.id for loop in everything.loops.values() if normal(loop.entity or "") == form}
    mentioned = unit.erasure.mentioning(wanted.persona, [name for name in {key, form} if name])
    mentioned |= {item.id for item in things_in(everything) if _names(item, wanted)}
    owners: list[Fact | Loop] = [*everything.facts.values(), *everything.loops.values()]
    return ids | mentioned - {one.id for one in owners if is_namesake(one, entity)}


def _names(item: Remembered, wanted: Wanted) -> bool:
    """Return whether a thing has a clear name in any text, or, of what has few words, any name written as one."""
    if wanted.clear_name is not None:
        return any(named_in(wanted.clear_name, text) for text in texts_of(item))
    if not isinstance(item, Loop | Procedure | Episode):
        return False  # search knows the names in facts and turns
    return any(named_in(wanted.key or "", text) and wanted.key in entities(text) for text in texts_of(item))


def is_namesake(item: Remembered, entity: str) -> bool:
    """Return whether a thing belongs to another of the same name, told apart by what stands in parentheses."""
    if not isinstance(item, Fact | Loop):
        return False
    owner, key, form = normal(item.entity or ""), entity_key(entity), normal(entity)
    if form == key or owner == form or "(" not in owner or entity_key(owner) != key:
        return False
    return not any(form in normal(text) for text in texts_of(item))


def _holding(everything: Selection, piece: str) -> set[str]:
    """Return the ids of what has a piece of text (folded) in anything that was said or written of it."""
    holding = set()
    for item in things_in(everything):
        if any(piece in text.casefold() for text in texts_of(item)):
            holding.add(item.id)
    return holding


def _grown(unit: Unit, everything: Selection, named: Selection) -> Selection:
    """Return what is named with what was learned from it, the turns behind it, and who says the same."""
    facts = dict(named.facts)
    facts.update(_learned_only_from(unit, everything, set(named.turns)))
    same = {(fact.slot, normal(fact.value)) for fact in facts.values()}
    facts.update({one.id: one for one in everything.facts.values() if (one.slot, normal(one.value)) in same})
    facts.update(joined_from(unit, everything.facts, facts.values()))
    facts.update(_named_only_by(unit, everything, facts.keys()))
    turns = dict(named.turns)
    turns.update(_behind(unit, everything, facts))
    turns.update(_saying(everything, facts.values(), named.turns.values()))
    going = Selection(facts, turns, named.episodes, named.loops, named.procedures)
    runs = _runs_of(going)
    pieces = [fact.value for fact in facts.values() if telling(fact.value)]
    pieces += [fact.text for fact in facts.values()]
    episodes = {**named.episodes, **_retelling(everything.episodes, runs, pieces)}
    # An episode tells of everything its session opened: that a loop is told of there makes it no trace.
    loops = {**named.loops, **_retelling(everything.loops, _runs_of(replace(going, episodes={})), pieces)}
    loops.update({one.id: one for one in everything.loops.values() if one.turn_id in turns})
    retold = _retold(replace(going, episodes={}), pieces)
    procedures = {
        id_: one
        for id_, one in everything.procedures.items()
        if id_ in named.procedures or any(map(retold.told_in, texts_of(one)))
    }
    return Selection(facts, turns, episodes, loops, procedures)


def retold_of(going: Selection, wanted: Wanted) -> Retold:
    """Return how a line of a log is recognised that tells what goes."""
    facts = going.facts.values()
    pieces = [fact.value for fact in facts] + [fact.text for fact in facts]
    pieces += [turn.content for turn in going.turns.values()]
    retold = _retold(going, pieces)
    if wanted.entity is not None and wanted.matching is not None:
        return retold  # neither of the two alone is what was named
    return replace(retold, name=wanted.clear_name, piece=wanted.piece)


def _retold(going: Selection, pieces: Iterable[str]) -> Retold:
    return Retold(
        runs=frozenset(_runs_of(going)),
        pieces=tuple({normal(piece) for piece in pieces if telling(piece)}),
        forms=tuple(map(_forms_of, going.facts.values())),
    )


def _forms_of(fact: Fact) -> FactForms:
    return FactForms.of(entity=fact.entity, key=fact.key, value=fact.value, sentence=fact.text, quote=fact.quote)


def _runs_of(going: Selection) -> set[str]:
    return {run for item in things_in(going) for text in said_of(item) for run in shingles(text)}


def _learned_only_from(unit: Unit, everything: Selection, turn_ids: set[str]) -> dict[str, Fact]:
    """Return the facts that nothing but these turns says."""
    learned = {origin.fact_id for origin in unit.provenance.from_turns(sorted(turn_ids))}
    elsewhere = {
        origin.fact_id
        for origin in unit.provenance.of(sorted(learned))
        if origin.turn_id not in turn_ids and origin.capture_method != "merge"
    }
    return {id_: everything.facts[id_] for id_ in learned - elsewhere if id_ in everything.facts}


def _behind(unit: Unit, everything: Selection, facts: Mapping[str, Fact]) -> dict[str, Turn]:
    ids = {fact.turn_id for fact in facts.values()}
    ids |= {origin.turn_id for origin in unit.provenance.of(sorted(facts))}
    return {id_: everything.turns[id_] for id_ in ids if id_ is not None and id_ in everything.turns}


def _saying(everything: Selection, facts: Iterable[Fact], turns: Iterable[Turn]) -> dict[str, Turn]:
    """Return the turns that say one of these facts, or repeat one of these turns."""
    forms = [*map(_forms_of, facts)]
    repeated = [normal(turn.content) for turn in turns if telling(turn.content)]
    found = {}
    for turn in everything.turns.values():
        said = normal(turn.content)
        if any(form.said_in(said) for form in forms) or any(content in said for content in repeated):
            found[turn.id] = turn
    return found


def _retelling(things: Mapping[str, Any], runs: set[str], pieces: Sequence[str]) -> dict[str, Any]:
    """Return the episodes or loops that retell what goes, in its own words."""
    wanted = [normal(piece) for piece in pieces if telling(piece)]
    found = {}
    for item in things.values():
        for text in said_of(item):
            form = normal(text)
            if shares_wording(text, runs) or any(piece in form for piece in wanted):
                found[item.id] = item
    return found


def said_of(item: Remembered) -> list[str]:
    """Return the texts of one thing and the names in it; not the key it is filed under."""
    match item:
        case Fact():
            said = [item.value, item.text, item.quote, item.entity]
        case Turn():
            said = [item.content]
        case Episode():
            said = [item.summary, *_named_by(item)]
        case Loop():
            said = [item.title, item.summary, item.resolution, item.entity]
        case Procedure():
            return [text for text in (item.name, item.rationale, *strings_in(item.steps)) if text]
    return [text for text in (*said, *strings_in(item.metadata)) if text]


def texts_of(item: Remembered) -> list[str]:
    """Return everything that was said or written of one thing, names included."""
    match item:
        case Fact():
            named = [item.entity, item.key, item.value, item.text, item.quote]
        case Turn():
            named = [item.content]
        case Episode():
            named = [item.summary, *_named_by(item)]
        case Loop():
            named = [item.title, item.summary, item.entity, item.resolution]
        case Procedure():
            return [*said_of(item), *([item.category] if item.category else [])]
    return [text for text in (*named, *strings_in(item.metadata)) if text]


def _named_by(episode: Episode) -> list[str]:
    """Return the names in an episode that somebody gave it: not the label of where it was captured."""
    return [name for name in episode.entities if name != episode_label(episode.source)]


def things_in(selection: Selection) -> Iterator[Remembered]:
    """Yield everything in a selection, facts first."""
    yield from selection.facts.values()
    yield from selection.turns.values()
    yield from selection.episodes.values()
    yield from selection.loops.values()
    yield from selection.procedures.values()


def _only(everything: Selection, ids: set[str]) -> Selection:
    return Selection(
        {id_: one for id_, one in everything.facts.items() if id_ in ids},
        {id_: one for id_, one in everything.turns.items() if id_ in ids},
        {id_: one for id_, one in everything.episodes.items() if id_ in ids},
        {id_: one for id_, one in everything.loops.items() if id_ in ids},
        {id_: one for id_, one in everything.procedures.items() if id_ in ids},
    )
