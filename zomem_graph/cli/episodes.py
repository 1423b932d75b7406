"""`zomem episodes`: what happened and how it ended."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.screen import Screen
from zomem_graph.cli.words import Limit, TimeZone, listed, text_given
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.records import Episode

__all__ = ["episodes"]

episodes = group(
    'What happened and how it ended, newest first. Example: zomem episodes --outcome failure --since "30 days ago"',
    usage="| COMMAND [ARGS]...",
)

_OUTCOMES = "success, failure, resolved or ongoing."
_ENDINGS = "success, failure or resolved."
_MARKS = {"success": "✓", "failure": "✗", "resolved": "~", "ongoing": "…"}

Entities = Annotated[str | None, typer.Option("--entities", metavar="A,B", help="Several of them, with commas.")]
Duration = Annotated[float | None, typer.Option("--duration", metavar="MS", help="How long it took.", min=0.0)]
Metadata = Annotated[str | None, typer.Option("--metadata", metavar="JSON", help="More, as a JSON object.")]


@sub_command(episodes, "list")
def _list(
    call: Call,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Not after.")] = None,
    outcome: Annotated[str | None, typer.Option("--outcome", metavar="OUTCOME", help=_OUTCOMES)] = None,
    entity: Annotated[str | None, typer.Option("--entity", metavar="E", help="Who or what took part.")] = None,
    limit: Limit = 20,
    create: Annotated[bool, typer.Option("--create", help="The same as `episodes create`.", hidden=True)] = False,
    summary: Annotated[str | None, typer.Option("--summary", help="With --create.", hidden=True)] = None,
    entities: Annotated[str | None, typer.Option("--entities", help="With --create.", hidden=True)] = None,
    duration: Annotated[float | None, typer.Option("--duration", help="With --create.", hidden=True, min=0.0)] = None,
    metadata: Annotated[str | None, typer.Option("--metadata", help="With --create.", hidden=True)] = None,
    time_zone: TimeZone = None,
) -> None:
    """List episodes."""
    if create:
        named = [*([entity] if entity is not None else []), *listed(entities)]
        more = {"duration_ms": duration, "metadata": _object(metadata)}
        _store(call, summary, outcome=outcome or "success", entities=named, time_zone=time_zone, **more)
        return
    given = {"--summary": summary, "--entities": entities, "--duration": duration, "--metadata": metadata}
    for option in (name for name, value in given.items() if value is not None):
        raise typer.BadParameter("belongs to `zomem episodes create`.", param_hint=option)
    with call.memory() as memory:
        scope = call.scope(memory, time_zone)
        found = memory.episodes.list(
            since=since, until=until, outcome=outcome, entity=entity, limit=limit, scope=scope
        )
        note = None if found else memory.personas.note(scope)
    call.answer(found, lambda screen: _show_all(screen, found))
    call.notes([note] if note is not None else [])


@sub_command(episodes, "create")
def _create(
    call: Call,
    summary: Annotated[str | None, typer.Option("--summary", help="A sentence; - reads standard input.")] = None,
    outcome: Annotated[str, typer.Option("--outcome", metavar="OUTCOME", help=_OUTCOMES)] = "success",
    entity: Annotated[
        list[str] | None, typer.Option("--entity", metavar="E", help="Who or what took part; may be repeated.")
    ] = None,
    entities: Entities = None,
    duration: Duration = None,
    metadata: Metadata = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="When it happened; else now.")] = None,
    time_zone: TimeZone = None,
) -> None:
    """Store what happened.

    Example: zomem episodes create --summary "Deployed the site" --outcome success --entity site
    """
    named = [*(entity or []), *listed(entities)]
    more = {"duration_ms": duration, "metadata": _object(metadata), "happened_at": at}
    _store(call, summary, outcome=outcome, entities=named, time_zone=time_zone, **more)


@sub_command(episodes, "show")
def _show(
    call: Call,
    episode: Annotated[str, typer.Argument(metavar="ID", help="The id or its first characters.")],
) -> None:
    """Show one episode."""
    with call.memory() as memory:
        found = memory.episodes.show(episode, scope=call.scope(memory))
    call.answer(found, lambda screen: _show_one(screen, found))


@sub_command(episodes, "finish")
def _finish(
    call: Call,
    episode: Annotated[str, typer.Argument(metavar="ID", help="The id or its first characters.")],
    outcome: Annotated[str, typer.Option("--outcome", metavar="OUTCOME", help=_ENDINGS)] = "success",
    duration: Duration = None,
) -> None:
    """Say how an ongoing episode has ended.

    Example: zomem episodes finish 4f3a91c2 --outcome failure
    """
    with call.memory() as memory:
        found = memory.episodes.finish(episode, outcome, duration_ms=duration, scope=call.scope(memory))
    call.answer(found, lambda screen: _show_all(screen, [found]))


def _store(
    call: Call, summary: str | None, *, outcome: str, entities: Sequence[str], time_zone: str | None, **more: Any
) -> None:
    if summary is None:
        raise typer.BadParameter("missing. Say in a sentence what happened.", param_hint="--summary")
    with call.memory() as memory:
        stored = memory.episodes.create(
            text_given(summary),
            outcome=outcome,
            entities=entities,
            source="cli",
            scope=call.scope(memory, time_zone),
            **more,
        )
    call.answer(stored, lambda screen: _show_all(screen, [stored]))


def _object(text: str | None) -> Mapping[str, Any] | None:
    """Return the JSON object in a text. Raises InvalidInput."""
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f'--metadata is no JSON: {error}. Write it like {{"ticket": 7}}.') from error
    if not isinstance(found, dict):
        raise InvalidInput('--metadata must be a JSON object, such as {"ticket": 7}.')
    return found


def _show_all(screen: Screen, found: Sequence[Episode]) -> None:
    if not found:
        screen.note("no episodes")
        return
    rows = [
        (
            episode.id[:8],
            f"{episode.happened_at.astimezone():%Y-%m-%d %H:%M}",
            f"{_MARKS[episode.outcome]} {episode.outcome}",
            ", ".join(episode.entities),
            episode.summary,
        )
        for episode in found
    ]
    screen.table(("id", "when", "outcome", "entities", "summary"), rows)


def _show_one(screen: Screen, episode: Episode) -> None:
    named = {
        "id": episode.id,
        "summary": episode.summary,
        "outcome": episode.outcome,
        "when": f"{episode.happened_at.astimezone():%Y-%m-%d %H:%M}",
        "entities": ", ".join(episode.entities),
        "took": f"{episode.duration_ms / 1_000:,.1f} s" if episode.duration_ms is not None else None,
        "persona": episode.persona,
        "session": episode.session,
        "source": episode.source,
        "metadata": json.dumps(dict(episode.metadata), ensure_ascii=False) if episode.metadata else None,
    }
    screen.pairs({name: value for name, value in named.items() if value})
