"""The hop of ordinary retrieval: bring up what shares a rare name or a link with the best and answers the rest."""

from collections.abc import Mapping, Sequence

from zomem_graph.nodes.options import RetrieveOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.hop import (
    OUTSIDE,
    Gain,
    Lent,
    Tie,
    by_stems,
    by_tokens,
    lend,
    share_told,
    spread,
    tie_worth,
)
from zomem_graph.nodes.steps.legs import Look, allowed, unseen
from zomem_graph.nodes.steps.names import names_told
from zomem_graph.nodes.steps.query import Query
from zomem_graph.nodes.steps.rank import Place
from zomem_graph.stores.items import Candidate
from zomem_graph.stores.stems import stem
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import terms

__all__ = ["hop_once"]

_NOBODY = ("user", "project", "assistant")
_LOWEST_PLACE = 100  # the place whose score counts as zero activation


def hop_once(
    unit: Unit,
    services: Services,
    query: Query,
    look: Look,
    places: Sequence[Place],
    options: RetrieveOptions,
) -> list[Place]:
    """Return the places in their new order; newcomers included, each with the path it came by."""
    if not places or options.hop.seeds == 0:
        return list(places)
    activation = _activation(places)
    lent = _lent(unit, query, look, [place.candidate for place in places[: options.hop.seeds]], activation, options)
    if not lent:
        return list(places)
    newcomers = _newcomers(unit, services, query, look, lent, activation)
    known = {place.candidate.num: place for place in places}
    top = places[0].chance
    for candidate in newcomers:
        known[candidate.num] = Place(candidate, places[-1].score, 0.0, None)
    lent = {num: one for num, one in lent.items() if num in known}
    shares = {
        num: _share(known[num].candidate, options) * look.personas[known[num].candidate.persona] for num in lent
    }
    final = spread(activation, lent, shares)
    order = sorted(final, key=lambda num: -final[num])
    moved = [
        _moved(known[num], final[num] - activation.get(num, OUTSIDE), lent[num], known[lent[num].sender], top)
        if num in lent
        else known[num]
        for num in order
    ]
    return [moved[0]._replace(chance=top), *moved[1:]]  # whichever stands first, the evidence is for it


def _activation(places: Sequence[Place]) -> dict[int, float]:
    high = places[0].score
    low = places[min(_LOWEST_PLACE, len(places) - 1)].score
    width = high - low
    if width <= 0:
        return {place.candidate.num: 1.0 for place in places}
    return {place.candidate.num: max(0.0, (place.score - low) / width) for place in places}


def _lent(
    unit: Unit,
    query: Query,
    look: Look,
    seeds: Sequence[Candidate],
    activation: Mapping[int, float],
    options: RetrieveOptions,
) -> dict[int, Lent]:
    things = [(seed.num, seed.id, seed.kind) for seed in seeds]
    told = names_told(unit, things, look.personas, value_words=options.hop.value_words)
    # Whoever speaks, and "user" or "project", is named everywhere: no way from one thing to another.
    everywhere = {*(entity_key(name) for name in look.speakers), *_NOBODY}
    named = sorted({entity for found in told.values() for entity in found} - everywhere)
    sharing = unit.items.sharing(named, list(look.personas), most=options.hop.most, least=1)
    ties = _ties(unit, query, seeds, options)
    receivers = {num for found in sharing.values() for num in found}
    receivers |= {tie.receiver for found in ties.values() for tie in found}
    if not receivers:
        return {}
    return lend(
        [(seed.num, activation[seed.num]) for seed in seeds],
        entities_of=told,
        sharing=sharing,
        gain=_gain(unit, query, look, sorted(receivers | {seed.num for seed in seeds}), options),
        total=unit.items.total(),
        ties=ties,
    )


def _ties(unit: Unit, query: Query, seeds: Sequence[Candidate], options: RetrieveOptions) -> dict[int, list[Tie]]:
    """Return the links of these items as they stood at the time that is asked about."""
    if options.hop.links <= 0:
        return {}
    found = unit.links.of_each([seed.id for seed in seeds], most=options.hop.most)
    ends = {end for links in found.values() for link in links for end in (link.source_id, link.target_id)}
    numbers = unit.items.numbers_of(sorted(ends)) if ends else {}
    rarity = unit.items.rarity(_asked(query)) if numbers else {}
    ties: dict[int, list[Tie]] = {}
    for seed in seeds:
        links = [link for link in found.get(seed.id, ()) if query.as_of is None or link.created_at <= query.as_of]
        for link in links:
            other = numbers.get(link.target_id if link.source_id == seed.id else link.source_id)
            if other is not None and other != seed.num:
                worth = options.hop.links * tie_worth(link.weight, len(links), unit.items.total())
                said = options.hop.cover_gain * share_told(link.relation, rarity)
                ties.setdefault(seed.num, []).append(Tie(other, link.relation, worth, said))
    return ties


def _asked(query: Query) -> list[str]:
    return list(dict.fromkeys(stem(term) for term in terms(query.text)))


def _gain(unit: Unit, query: Query, look: Look, nums: Sequence[int], options: RetrieveOptions) -> Gain:
    """Return the measure of what these items cover of the question: by tokens where they have some."""
    asked = _asked(query)
    if look.late is None:
        return by_stems(unit.items.stems_of(nums, asked), unit.items.rarity(asked), options.hop)
    late = look.late.extended(unit, nums)
    bare = [num for num in nums if num not in late.columns]
    stems = unit.items.stems_of(nums, asked) if bare else {}
    otherwise = by_stems(stems, unit.items.rarity(asked) if bare else {}, options.hop)
    return by_tokens(late.similarities, late.columns, late.weights, options.hop, otherwise=otherwise)


def _newcomers(
    unit: Unit,
    services: Services,
    query: Query,
    look: Look,
    lent: dict[int, Lent],
    activation: dict[int, float],
) -> Sequence[Candidate]:
    """Return what the hop brings in from outside the pool, by the same rules as everything else."""
    fits = allowed(query, look.personas, services.clock())
    found = unit.items.candidates([num for num in lent if num not in activation])
    return unseen(unit, list(filter(fits, found)), query, look.hidden)


def _share(candidate: Candidate, options: RetrieveOptions) -> float:
    return options.hop.turn_share if candidate.kind == "turn" else options.hop.share


def _moved(place: Place, gained: float, lent: Lent, sender: Place, top: float) -> Place:
    """Return a place with what the hop gave it, and only that; its own score stays, for thresholds."""
    chance = min(top, place.chance + top * gained)
    path = (sender.candidate.id, lent.by, place.candidate.id)
    return place._replace(chance=chance, boosts={**place.boosts, "hop": round(gained, 4)}, path=path)
