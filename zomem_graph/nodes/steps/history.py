"""What the conversation so far adds to a message that leans on it; no model rewrites anything."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.followup import is_followup
from zomem_graph.nodes.rules.ordinals import pointed_at
from zomem_graph.nodes.rules.query_terms import query_terms
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.access import readable
from zomem_graph.nodes.steps.query import Query, just_after
from zomem_graph.stores.records import Turn
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import terms

__all__ = ["last_talk", "leaning_on", "stored_talk", "with_history"]

_MOST_TERMS = 60
_QUESTION_CHARACTERS = 500


def leaning_on(query: Query, message: str, history: Sequence[str]) -> Query:
    """Return the query of a message within its conversation; one that stands alone is asked as it is."""
    query = replace(query, visible=frozenset((*history, message)))
    return with_history(query, message, history) if is_followup(message, history) else query


def with_history(query: Query, message: str, history: Sequence[str]) -> Query:
    """Return the query with the words and the last question of the conversation (oldest first) added.

    "The second one" is searched for as the thing the conversation listed second.
    """
    if not history:
        return query
    own = set(terms(query.text))
    if (thing := pointed_at(message, history)) is not None:
        named = tuple(word for word in terms(thing) if word not in own)
        return replace(query, history_terms=named, meaning=f"{query.text}\n{thing}")
    weighted = query_terms(message, history)
    exchange = [text[:_QUESTION_CHARACTERS] for text in history[-2:]]
    # Of the last question and answer the question says what is wanted; a bare "go on" needs both.
    said = [query.text, exchange[0]] if query.text.strip() else exchange
    names = [word for word in terms(" ".join(weighted.history), limit=_MOST_TERMS) if word not in own]
    context = terms(" ".join(weighted.context), limit=_MOST_TERMS)
    return replace(
        query,
        history_terms=tuple(names),
        context_terms=tuple(word for word in context if word not in own and word not in set(names)),
        meaning="\n".join(part for part in said if part.strip()),
    )


def stored_talk(
    services: Services, message: str, scope: Scope, *, as_of: datetime | None = None
) -> Flow[tuple[str, ...]]:
    """Return what was last said in the scope's thread, oldest first, for a message that leans on it; else nothing.

    Where a host has stored the message already, it is no part of what came before.
    """
    thread, most = scope.thread, services.options.continuation.history
    if thread is None or not is_followup(message):
        return ()

    until = None if as_of is None else just_after(as_of)

    def read() -> tuple[str, ...]:
        with services.stores.read() as unit:
            said = [turn.content for turn in unit.turns.said(scope.persona, thread, most + 1, until=until)]
        before = said[:-1] if said and said[-1].strip() == message.strip() else said
        return tuple(before[-most:])

    return (yield from work(read))


def last_talk(unit: Unit, scope: Scope, *, since: datetime, until: datetime, limit: int) -> list[Turn]:
    """Return the last turns of the scope's thread, else of its latest session, oldest first.

    One's own sessions come before those of other readable personas; imported archives are left out.
    """
    if scope.thread is not None:
        turns = unit.turns.said(scope.persona, scope.thread, limit)
        if turns and since <= turns[-1].at < until:
            return turns
    own = [scope.persona]
    others = [persona for persona in readable(unit, scope) if persona != scope.persona]
    for personas in (own, others):
        latest = unit.turns.latest(personas, since=since, until=until, without_trust="import")
        if latest is not None:
            said = unit.turns.said(latest.persona, latest.session, limit)
            return [turn for turn in said if since <= turn.at < until]
    return []
