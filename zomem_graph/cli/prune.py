"""`zomem prune`: one step of maintenance, the one called expire."""

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.changes import DryRun, show_report

__all__ = ["prune"]


@command
def prune(call: Call, dry_run: DryRun = False) -> None:
    """Archive what is past its time: facts, loops, documents. Nothing is deleted.

    Example: zomem prune --dry-run
    """
    with call.memory(dry_run=dry_run) as memory:
        report = memory.maintain(only="expire", dry_run=dry_run)
    show_report(call, report)
