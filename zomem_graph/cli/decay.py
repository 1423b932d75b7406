"""`zomem decay`: one step of maintenance, the one called tiers."""

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.changes import DryRun, show_report

__all__ = ["decay"]


@command
def decay(call: Call, dry_run: DryRun = False) -> None:
    """Move facts one tier up or down by how they are used.

    Example: zomem decay --dry-run
    """
    with call.memory(dry_run=dry_run) as memory:
        report = memory.maintain(only="tiers", dry_run=dry_run)
    show_report(call, report)
