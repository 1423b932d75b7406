"""`memory.conflicts`: what cannot both hold, listed, looked for and decided (spec F83, F84)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from zomem_graph.nodes.flow import run
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import choice, flag, if_given, name_of, whole
from zomem_graph.nodes.rules.keys import entity_prefix, slot
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.access import readable, writable
from zomem_graph.nodes.steps.conflicts import check_strategy, resolve_conflict, with_facts
from zomem_graph.nodes.steps.semantic_conflicts import look_for_conflicts
from zomem_graph.nodes.values import Decided, Detected, FactConflict
from zomem_graph.stores.conflicts import OPEN
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.records import Conflict, Fact, Resolution
from zomem_graph.stores.unit import Unit

__all__ = ["RESOLUTIONS", "FactConflicts"]

RESOLUTIONS = get_args(Resolution)
_Listed = list[FactConflict]  # inside the class `list` is the verb
_Facts = list[Fact]
_MOST = 10_000


class FactConflicts:
    """What cannot both hold; every verb sees only what the scope's personas may see.

    A conflict between two personas is seen by who may read both sides, and decided by who may change both.
    """

    def __init__(self, memory: Services) -> None:
        self._memory = memory

    def list(self, *, resolution: str | None = None, scope: Scope | None = None, limit: int = 100) -> _Listed:
        """Return conflicts, newest first; those still to be decided unless a resolution is named."""
        if_given(choice, "resolution", resolution, known=RESOLUTIONS)
        limit = whole("limit", limit, least=1)
        wanted = OPEN if resolution is None else (resolution,)
        with self._memory.stores.read() as unit:
            found = unit.conflicts.listed(_personas(unit, scope), resolutions=wanted, limit=limit)
            return with_facts(unit, found)

    def show(self, id: str, *, scope: Scope | None = None) -> FactConflict:  # noqa: A002  # the name users know
        """Return one conflict by its id or the first characters of it. Raises UnknownName."""
        with self._memory.stores.read() as unit:
            return with_facts(unit, [_pick(unit, id, scope)])[0]

    def detect(self, *, by_meaning: bool | None = None, scope: Scope | None = None) -> Detected:
        """Look through all current facts for what cannot both hold, and return what was not known yet.

        Rules come first. With a chat model the nearest statements about one thing are put to it, each pair once;
        `by_meaning` lets nearness alone speak where there is none. Nothing is retired: what is found is flagged
        or waits as pending.
        """
        options = self._memory.options.conflicts
        if by_meaning is not None:
            options = replace(options, by_meaning=flag("by_meaning", by_meaning))
        return run(look_for_conflicts(self._memory, writable(scope_given(scope)), options=options))

    def history(self, entity: str, key: str | None = None, *, scope: Scope | None = None) -> _Facts:
        """Return every value an entity's key (or any of its keys) ever had, in any state, oldest first.

        Values of one instant come in the order of storing.
        """
        longest = self._memory.options.write.longest_name
        start = entity_prefix(name_of("entity", entity, most=longest))
        if if_given(name_of, "key", key, most=longest) is not None:
            start = slot(entity, key, "", many=False)
        with self._memory.stores.read() as unit:
            found = [
                fact
                for persona in _personas(unit, scope)
                for fact in reversed(unit.conflicts.about(persona, start, live_only=False, most=_MOST))
            ]
        return sorted(found, key=lambda fact: fact.created_at)

    def resolve(
        self,
        id: str,  # noqa: A002  # the name users know
        strategy: str = "supersede",
        *,
        keep: str | None = None,
        scope: Scope | None = None,
    ) -> FactConflict:
        """Decide one conflict by supersede, merge, flag or pending (spec F84).

        With supersede the newer fact wins, or the one whose id is `keep`, from now on. Merging joins two values of
        one key. Flag and pending leave both as they are. Between a persona's own fact and a shared one only the own
        side ends or takes the merged value; the shared one stays as it is for everybody. Raises InvalidInput, and
        UnknownName for what is not the scope's to decide.
        """
        with self._memory.stores.write() as unit:
            found = _pick(unit, id, scope)
            _check_may_decide(unit, found, scope)
            decided = resolve_conflict(unit, found, strategy, keep=keep, now=self._memory.clock())
            (shown,) = with_facts(unit, [decided])
        self._memory.wake_worker()
        return shown

    def resolve_all(self, strategy: str = "supersede", *, scope: Scope | None = None) -> Decided:
        """Decide everything that waits in the same way, oldest first; return what was decided, and how many are left.

        What cannot be decided that way (a merge of different keys) is left as it is.
        """
        check_strategy(strategy)
        decided: _Listed = []
        with self._memory.stores.write() as unit:
            mine = writable(scope_given(scope))
            for conflict in reversed(unit.conflicts.listed(mine, limit=_MOST)):
                try:
                    done = resolve_conflict(unit, conflict, strategy, keep=None, now=self._memory.clock())
                except (UnknownName, InvalidInput):
                    continue
                decided += with_facts(unit, [done])
            known = {one.conflict.id for one in decided}
            left = sum(one.id not in known for one in unit.conflicts.listed(mine, limit=_MOST))
        self._memory.wake_worker()
        return Decided(decided, left=left)

    def stats(self, *, scope: Scope | None = None) -> dict[str, Any]:
        """Return how many conflicts there are by resolution, type and detector."""
        with self._memory.stores.read() as unit:
            personas = _personas(unit, scope)
            by = {
                name: unit.conflicts.counts(personas, column)
                for name, column in (
                    ("resolutions", "resolution"),
                    ("types", "conflict_type"),
                    ("detectors", "detector"),
                )
            }
        waiting = sum(by["resolutions"].get(name, 0) for name in OPEN)
        return {"total": sum(by["resolutions"].values()), "open": waiting, **by}


def _personas(unit: Unit, scope: Scope | None) -> Sequence[str]:
    return [*readable(unit, scope_given(scope))]


def _check_may_decide(unit: Unit, conflict: Conflict, scope: Scope | None) -> None:
    mine = writable(scope_given(scope))
    (pair,) = with_facts(unit, [conflict])
    for side in (pair.newer, pair.older):
        if side is not None and side.persona not in mine:
            raise UnknownName(f"The conflict {conflict.id!r:.80} is {side.persona!r:.80}'s to decide.")


def _pick(unit: Unit, wanted: str, scope: Scope | None) -> Conflict:
    name_of("id", wanted)
    found = unit.conflicts.starting_with(_personas(unit, scope), wanted.strip())
    exact = [one for one in found if one.id == wanted.strip()]
    if exact or len(found) == 1:
        return (exact or found)[0]
    many = "More than one conflict has" if found else "No conflict has"
    raise UnknownName(f"{many} the id {wanted!r:.80}. See `zomem conflicts list`.")
