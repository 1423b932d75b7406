"""`zomem migrate` and `zomem rollback`: bring the tables to another schema, or look which one they have."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.screen import Screen
from zomem_graph.migrating import Migrated, SchemaStatus, migrate_schema, schema_status

__all__ = ["migrate", "rollback"]

To = Annotated[str | None, typer.Option("--to", metavar="N", help="A schema by its number; 0 is none at all.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show which steps would run; change nothing.")]


@command
def migrate(
    call: Call,
    way: Annotated[str, typer.Argument(metavar="[up|down|to N|status]", help="Where to; else up.")] = "up",
    number: Annotated[str | None, typer.Argument(metavar="[N]", help="After `to`.", show_default=False)] = None,
    to: To = None,
    dry_run: DryRun = False,
) -> None:
    """Bring the tables to the newest schema, or to another one; a copy is written first.

    Opening a memory brings it up by itself; going down is for an older version of this package. What the
    older schema does not know is put aside and comes back with `zomem migrate up`.

    Example: zomem migrate down --dry-run
    """
    if way == "status":
        _tell_status(call)
        return
    if way == "to":
        if (number is None) == (to is None):
            raise typer.BadParameter("needs one number. Write: zomem migrate to 9.", param_hint="to")
        _run(call, number or to or "", dry_run=dry_run)
        return
    if way not in ("up", "down") or number is not None or (to is not None and way == "down"):
        raise typer.BadParameter("must be up, down, to N or status.", param_hint="WAY")
    _run(call, to or way, dry_run=dry_run)


@command
def rollback(call: Call, to: To = None, dry_run: DryRun = False) -> None:
    """Take back the last step of the schema, or all down to one; a copy is written first.

    Example: zomem rollback --to 7 --dry-run
    """
    _run(call, to or "down", dry_run=dry_run)


def _tell_status(call: Call) -> None:
    found = schema_status(call.shared.home)
    call.answer(found, lambda screen: _show_status(screen, found))


def _run(call: Call, to: str, *, dry_run: bool) -> None:
    done = migrate_schema(call.shared.home, to=to, dry_run=dry_run)
    call.answer(done, lambda screen: _show(screen, done))


def _show(screen: Screen, done: Migrated) -> None:
    if not done.steps:
        screen.note(f"nothing to do: the schema is {done.before or 'none'}")
        return
    screen.table(("step", "about"), [(step.number, step.about) for step in done.steps])
    would = "would go" if done.dry_run else "went"
    screen.note(f"the schema {would} from {done.before or 'none'} to {done.after}")
    if done.backup is not None:
        screen.note(f"the copy from before is {done.backup}")


def _show_status(screen: Screen, found: SchemaStatus) -> None:
    rows = [(step.number, "applied", step.about) for step in found.applied]
    rows += [(step.number, "waits", step.about) for step in found.waiting]
    screen.table(("step", "state", "about"), rows)
    screen.note(f"the schema is {found.schema or 'none'}, needed is {found.needed}")
