"""Documents of any LangChain loader. A loader is somebody else's code: what it breaks is told, not raised."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, Protocol

from zomem_graph.importers.fields import plain_text, text
from zomem_graph.importers.markdown import sections_of
from zomem_graph.importers.records import Note, Passed, Read, Section
from zomem_graph.importers.vault import NOTE_SUFFIXES
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.identity import content_hash

__all__ = ["DocumentLoader", "read_documents"]

_MOST_FAILURES: Final = 100  # in a row; then the loader is left alone


class DocumentLoader(Protocol):
    """What is needed of a loader; `langchain_core.document_loaders.BaseLoader` has it."""

    def lazy_load(self) -> Iterator[Any]:
        """Yield documents with `page_content` and `metadata`."""
        ...


def read_documents(loader: DocumentLoader) -> Iterator[Read]:
    """Yield each document as a note; one that cannot be loaded or read is passed over as failed."""
    label = type(loader).__name__
    load = getattr(loader, "lazy_load", None) or getattr(loader, "load", None)
    if load is None:
        raise InvalidInput(f"{label} is no document loader: it has no lazy_load(). Pass a LangChain loader.")
    seen: Counter[str] = Counter()
    failures = 0
    for number, document in enumerate(_documents(load), 1):
        where = f"{label} document {number}"
        if not isinstance(document, _Failure):
            failures = 0
            yield _note(document, seen, where)
            continue
        failures += 1
        yield Passed(id=where, title=where, kind="note", outcome="failed", reason=document.reason)
        if failures == _MOST_FAILURES:
            return


@dataclass(frozen=True, slots=True)
class _Failure:
    """What came instead of a document."""

    reason: str


def _documents(load: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Yield the documents; after one that fails the next is asked for, which an ordinary generator denies."""
    end = object()
    documents = _attempt(lambda: iter(load()))
    if isinstance(documents, _Failure):
        yield documents
        return
    while (document := _attempt(lambda: next(documents, end))) is not end:
        yield document


def _attempt(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return _Failure(f"the loader raised {type(error).__name__}: {' '.join(str(error).split())[:200]}")


def _note(document: Any, seen: Counter[str], where: str) -> Read:
    content = getattr(document, "page_content", None)
    metadata = getattr(document, "metadata", None)
    about: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    source = plain_text(about.get("source")) or plain_text(about.get("file_path"))
    name, key = _place_in_source(document, about, source, content, seen)
    title = text(about.get("title")).strip() or PurePath(source).stem or where
    if not isinstance(content, str) or not content.strip():
        known = isinstance(content, str)
        reason = "it is empty" if known else f"{type(document).__name__} has no page_content"
        return Passed(id=name, title=title, kind="note", outcome="skipped" if known else "failed", reason=reason)
    longer = (title, source, name)
    return Note(
        id=name,
        names=tuple(dict.fromkeys(one for one in longer if one)),
        sections=_sections(content, source, title, key),
        metadata=_plain(about),
    )


def _place_in_source(
    document: Any, about: Mapping[str, Any], source: str, content: Any, seen: Counter[str]
) -> tuple[str, str]:
    """Return the stable id of a document and the key its text goes under: its page, else its number."""
    given = plain_text(getattr(document, "id", None))
    base = source or given or content_hash(str(content))
    seen[base] += 1
    page = plain_text(about.get("page"))
    key = f"page {page}" if page else "text" if seen[base] == 1 else f"text {seen[base]}"
    return given or (base if key == "text" else f"{base}#{key}"), key


def _sections(content: str, source: str, title: str, key: str) -> tuple[Section, ...]:
    if source.lower().endswith(NOTE_SUFFIXES):
        return sections_of(content, title=title)
    return (Section(() if key == "text" else (key,), content.strip("\n")),)


def _plain(value: Any) -> Any:
    """Return metadata as JSON can hold it; dates in ISO form, anything unknown as its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)[:500]
