"""Documents of any LangChain loader. A loader is somebody else's code: what it breaks is told, not raised."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, Protocol

from zomem_graph.importers.fields import plain_text, text
from zomem_graph.importers.markdown import section_key, sections_of
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
    if isinstance(loader, type):
        raise InvalidInput(f"{loader.__name__} is a class. Make a loader of it first: {loader.__name__}(…).")
    label = type(loader).__name__
    load = getattr(loader, "lazy_load", None) or getattr(loader, "load", None)
    if load is None:
        raise InvalidInput(f"{label} is no document loader: it has no lazy_load(). Pass a LangChain loader.")
    seen: Counter[str] = Counter()
    failures = 0
    for number, (document, following) in enumerate(_with_next(_documents(load)), 1):
        where = f"{label} document {number}"
        if not isinstance(document, _Failure):
            failures = 0
            yield _note(document, following, seen, where)
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


def _with_next(documents: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each document with the one after it; what comes after the last is no document."""
    end = _Failure("there is no more")
    waiting = next(documents, end)
    while waiting is not end:
        following = next(documents, end)
        yield waiting, following
        waiting = following


def _note(document: Any, following: Any, seen: Counter[str], where: str) -> Read:
    content = getattr(document, "page_content", None)
    about = _about(document)
    source = _source(about)
    place = _place(document)
    seen[place] += 1
    alone = seen[place] == 1 and _place(following) != place
    name = _given_id(document) or (place if alone else f"{place}#{content_hash(str(content))}")
    title = text(about.get("title")).strip() or PurePath(source).stem or where
    if not isinstance(content, str) or not content.strip():
        known = isinstance(content, str)
        return Passed(
            id=name,
            title=title,
            kind="note",
            outcome="skipped" if known else "failed",
            reason="it is empty" if known else f"{type(document).__name__} has no page_content",
            part_of=source,
        )
    longer = (title, source, name)
    return Note(
        id=name,
        names=tuple(dict.fromkeys(one for one in longer if one)),
        sections=_sections(content, source, title, page=_page(about), number=seen[place]),
        metadata=_plain(about),
        part_of=source,
    )


def _about(document: Any) -> Mapping[str, Any]:
    metadata = getattr(document, "metadata", None)
    return metadata if isinstance(metadata, Mapping) else {}


def _source(about: Mapping[str, Any]) -> str:
    return plain_text(about.get("source")) or plain_text(about.get("file_path"))


def _page(about: Mapping[str, Any]) -> str:
    page = plain_text(about.get("page"))
    return f"page {page}" if page else ""


def _given_id(document: Any) -> str:
    return plain_text(getattr(document, "id", None))


def _place(document: Any) -> str:
    """Return where a document is from: its source and page. One that is alone there is known by it.

    Several at one place are known by their text as well: their numbers shift when one goes.
    """
    about = _about(document)
    content = getattr(document, "page_content", None)
    base = _source(about) or _given_id(document) or content_hash(str(content))
    return "#".join(filter(None, (base, _page(about))))


def _sections(content: str, source: str, title: str, *, page: str, number: int) -> tuple[Section, ...]:
    if source.lower().endswith(NOTE_SUFFIXES):
        return sections_of(content, title=title)
    key = section_key((page,) if page else (), number=number)
    path = () if key == section_key(()) else (key,)
    return (Section(path, content.strip("\n"), known_by=page or section_key(())),)


def _plain(value: Any) -> Any:
    """Return metadata as JSON can hold it; dates in ISO form, anything unknown as its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)[:500]
