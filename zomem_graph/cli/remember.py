"""`zomem remember`: one fact by position or by name, or many from JSON."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.words import json_array_in, text_given
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.records import Fact

__all__ = ["remember"]

_SOURCE = "cli"
# Names that other programs use in their batches.
_ALSO = {"decay": "tier", "decay_class": "tier", "decayClass": "tier"}


@command
def remember(
    call: Call,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="ENTITY KEY VALUE", help="The fact; - reads the value.")
    ] = None,
    entity: Annotated[str | None, typer.Option("--entity", help="What it is about.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="Which property of it.")] = None,
    value: Annotated[str | None, typer.Option("--value", help="What is known; - reads standard input.")] = None,
    tier: Annotated[
        str, typer.Option("--tier", "--decay", help="permanent, stable, active, session or checkpoint.")
    ] = "stable",
    category: Annotated[str, typer.Option("--category", help="fact, preference, decision, …")] = "fact",
    importance: Annotated[
        float | None, typer.Option("--importance", help="0 to 2; 1 is ordinary, and what a new fact has.")
    ] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", help="0 to 1; a new fact has 1.")] = None,
    source: Annotated[str, typer.Option("--source", help="Where it comes from.")] = _SOURCE,
    text: Annotated[str | None, typer.Option("--text", help="A sentence to show instead of the three.")] = None,
    many: Annotated[
        bool | None, typer.Option("--many/--one", help="Whether the key may hold several values.")
    ] = None,
    allow_secret: Annotated[bool, typer.Option("--allow-secret", help="Store what looks like a secret.")] = False,
    batch: Annotated[
        str | None, typer.Option("--batch", "--input", metavar="FILE|-", help="A JSON array of facts.")
    ] = None,
) -> None:
    """Store one fact, or many with --batch. A new value of a single-valued key takes the old one's place."""
    given = words or []
    if batch is not None:
        if given or entity or key or value or text:
            raise InvalidInput("--batch stands alone: the facts are in the file.")
        _remember_many(call, json_array_in(batch))
        return
    named = _placed(given, entity=entity, key=key, value=value)
    with call.memory() as memory:
        fact = memory.remember(
            named["entity"],
            named["key"],
            text_given(named["value"]),
            persona=call.persona(memory),
            category=category,
            tier=tier,
            importance=importance,
            confidence=confidence,
            source=source,
            text=text,
            many=many,
            allow_secret=allow_secret,
        )
    call.answer(fact, lambda screen: screen.line(_shown(fact)))


def _placed(words: list[str], **named: str | None) -> dict[str, Any]:
    """Return entity, key and value: the named ones, and the words in the places that are left."""
    free = [name for name, value in named.items() if value is None]
    if len(words) > len(free):
        raise InvalidInput(f"there are {len(words)} words for {len(free)} places. Write ENTITY KEY VALUE, quoted.")
    found = named | dict(zip(free, words, strict=False))
    missing = [name.upper() for name in ("entity", "value") if found[name] is None]
    if missing or (words and len(words) != len(free)):
        missing = missing or [free[-1].upper()]
        raise InvalidInput(f"{' and '.join(missing)} missing. Write: zomem remember ENTITY KEY VALUE.")
    return found


def _remember_many(call: Call, items: list[Mapping[str, Any]]) -> None:
    with call.memory() as memory:
        usual = {"persona": call.persona(memory), "source": _SOURCE}
        facts = memory.remember_many(
            usual | {_ALSO.get(name, name): value for name, value in item.items()} for item in items
        )
    call.answer(facts, lambda screen: screen.line("\n".join(_shown(fact) for fact in facts)))
    call.screen.note(number_of(len(facts), "facts"))


def _shown(fact: Fact) -> str:
    return f"{fact.id}  {fact.text}"
