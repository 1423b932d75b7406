"""`zomem consolidate`: one step of maintenance, the one called merge."""

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.changes import DryRun, show_report

__all__ = ["consolidate"]


@command
def consolidate(call: Call, dry_run: DryRun = False) -> None:
    """Merge facts of one entity and key that say the same.

    Example: zomem consolidate --dry-run
    """
    with call.memory(dry_run=dry_run) as memory:
        report = memory.maintain(only="merge", dry_run=dry_run)
    show_report(call, report)
