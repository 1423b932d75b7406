"""The two methods of `Memory` that bring things in from elsewhere; readers are loaded when one is called."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypedDict, Unpack

from zomem_graph import importers
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.scope import Scope
from zomem_graph.stores.errors import InvalidInput

if TYPE_CHECKING:
    from zomem_graph.importers.documents import DocumentLoader
    from zomem_graph.importers.report import ImportReport
    from zomem_graph.importers.run import Progress

__all__ = ["ImportWords", "TakesImports"]


class ImportWords(TypedDict, total=False):
    """The keywords of an import. `progress` is told how many items are done, and which part was read."""

    scope: Scope | None
    dry_run: bool
    progress: "Progress | None"


class _OpenMemory(Services, Protocol):
    def _check_open(self) -> None: ...


class TakesImports:
    """Gives a memory its ways in for what was said and written elsewhere."""

    def import_from(self: _OpenMemory, source: str, path: str | Path, **words: Unpack[ImportWords]) -> "ImportReport":
        """Import a chat export, a vault, a dump or text files; return what became of each item.

        `source` is chatgpt, claude, claude-code, obsidian, markdown, text, mem0, messages or auto; `path` a
        file, folder or zip. A second import of the same changes nothing. Raises InvalidInput or UnknownName.
        """
        self._check_open()
        _check_words(words)
        return importers.import_into(self, source, path, **words)

    def import_documents(self: _OpenMemory, loader: "DocumentLoader", **words: Unpack[ImportWords]) -> "ImportReport":
        """Import what any LangChain document loader loads; each document stands and falls alone."""
        self._check_open()
        _check_words(words)
        return importers.import_documents(self, loader, **words)


def _check_words(words: Mapping[str, object]) -> None:
    """Raise InvalidInput for a keyword that is none, and say where that of a scope belongs."""
    known = ImportWords.__annotations__
    for name in words.keys() - known.keys():
        of_scope = name in {field.name for field in fields(Scope)}
        cure = f"It belongs to the scope: scope=Scope({name}=…)." if of_scope else f"Known are {', '.join(known)}."
        raise InvalidInput(f"An import has no argument {name}. {cure}")
