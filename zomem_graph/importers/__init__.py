"""Ways in for what was said and written elsewhere: chat exports, vaults, dumps and document loaders.

Readers turn files into plain records, a stream at a time; `import_into` writes the records through the
same steps as everything else. The names here are loaded when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zomem_graph.importers.report import ImportReport, ItemReport
    from zomem_graph.importers.run import import_documents, import_into
    from zomem_graph.importers.sources import SOURCES, read_source

__all__ = [
    "ImportReport",
    "ItemReport",
    "SOURCES",
    "import_documents",
    "import_into",
    "read_source",
]

_HOMES = {
    "ImportReport": "report",
    "ItemReport": "report",
    "SOURCES": "sources",
    "import_documents": "run",
    "import_into": "run",
    "read_source": "sources",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
