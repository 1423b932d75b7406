"""`zomem config`: every setting, its value and where it comes from; secrets are never shown."""

from zomem_graph.cli.call import Call, command
from zomem_graph.settings import VARIABLES, Settings

__all__ = ["config"]


@command
def config(call: Call) -> None:
    """List the settings and where each comes from; secrets are masked."""
    settings = Settings.load(call.shared.home)
    values = settings.masked()
    document = {
        name: {"value": value, "source": settings.sources[name], "variables": VARIABLES[name]}
        for name, value in values.items()
    }
    rows = [
        (name, "" if value is None else str(value), settings.sources[name], ", ".join(VARIABLES[name]))
        for name, value in values.items()
    ]
    call.answer(document, lambda screen: screen.table(("setting", "value", "from", "variable"), rows))
