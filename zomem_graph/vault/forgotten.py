"""What was forgotten stays out of the session logs: which of their lines say again what was erased before.

A copy of a log that is older than the forgetting is the usual way back. A message with a time of its own after that
was said again, and is kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from zomem_graph.nodes.rules.keys import normal
from zomem_graph.nodes.rules.quotes import strip_recalled
from zomem_graph.nodes.rules.secrets import redact
from zomem_graph.nodes.rules.session_lines import SESSION_PREFIX
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.nodes.steps.observe import without_forgotten
from zomem_graph.nodes.steps.remember import stays_forgotten
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.records import Fact, Origin
from zomem_graph.stores.unit import Unit
from zomem_graph.vault.ground import Ground
from zomem_graph.vault.ingest import given_in

__all__ = ["forgotten_in", "quotes_nothing_of"]


def forgotten_in(
    ground: Ground,
    stem: str,
    *,
    messages: Mapping[int, Mapping[str, Any]],
    facts: Mapping[int, Mapping[str, Any]],
) -> dict[int, str]:
    """Return what was erased before among the lines of a log, by line number.

    `stem` is the name of the log. A message whose time nobody knows has no "at".
    """
    with ground.memory.stores.read() as unit:
        if not unit.tombstones.any:
            return {}
        said = {number: _said(message) for number, message in messages.items()}
        kept = without_forgotten(
            unit,
            [*said.values()],
            persona=ground.options.persona,
            session=f"{SESSION_PREFIX}{stem}",
            read_again=True,
        )
        held = {id(one) for one in kept}
        gone = {number: one.content for number, one in said.items() if id(one) not in held}
        return gone | dict(_forgotten_facts(unit, ground, facts))


def quotes_nothing_of(texts: Sequence[str], fact: Fact, origins: Iterable[Origin]) -> tuple[Fact, list[Origin]]:
    """Return a fact and where it came from without the words they quote of texts that were erased."""
    forms = [normal(text) for text in texts]

    def gone(quote: str | None) -> bool:
        form = normal(quote or "")
        return bool(form) and any(form in text for text in forms)

    if gone(fact.quote):
        fact = replace(fact, quote=None, turn_id=None)
    return fact, [replace(one, quote=None, turn_id="") if gone(one.quote) else one for one in origins]


def _said(message: Mapping[str, Any]) -> Said:
    """Return a message with the words that a capture keeps of it."""
    role = str(message["role"])
    return Said(
        role=role,
        speaker=str(message.get("name", role)),
        content=strip_recalled(redact(message["content"])[0]),
        at=message.get("at"),
        message_id=message.get("id"),
    )


def _forgotten_facts(unit: Unit, ground: Ground, facts: Mapping[int, Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    for number, line in facts.items():
        try:
            new = given_in(line, ground, "session").fact
        except InvalidInput:
            continue  # told where it is read
        if stays_forgotten(unit, ground.memory.options.write, new):
            yield number, new.sentence
