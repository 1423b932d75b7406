"""Search the key-value store of graphs by words and meaning, keep values in it, and erase from it for good."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np

from zomem_graph.nodes.ports import Services, Vector
from zomem_graph.nodes.rules.documents import matches
from zomem_graph.nodes.rules.inheritance import Access
from zomem_graph.nodes.steps.access import Reach
from zomem_graph.nodes.steps.embed import feed_index
from zomem_graph.nodes.steps.evidence import weigh
from zomem_graph.nodes.steps.legs import Look, cosines_of
from zomem_graph.nodes.steps.query import Query
from zomem_graph.nodes.steps.rank import rank
from zomem_graph.stores.dialect import WordsHit, WordsQuery
from zomem_graph.stores.documents import KIND, OWNER, NewDocument, within
from zomem_graph.stores.errors import IndexUnavailable, ModelError
from zomem_graph.stores.nearest import nearest
from zomem_graph.stores.records import Document
from zomem_graph.stores.remains import wipe_unused_vectors
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import terms

__all__ = ["DocumentQuery", "embed_question", "erase_documents", "find_documents", "keep_documents"]

_WIDE = 2_000  # candidates a leg when a filter will drop many of them
_MOST_OF = 4  # a namespace with a fourth of everything is searched by the index, which knows no namespaces
_SWEPT = 50  # documents whose time is over, removed along with each write


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentQuery:
    """One search under a path; without `text` the documents written last come first."""

    path: str
    text: str = ""
    wanted: Mapping[str, Any]
    limit: int = 10
    offset: int = 0


def embed_question(services: Services, text: str) -> Vector | None:
    """Return the vector of a question; None when there is no embedder or it fails, and words must do."""
    if services.embedder is None or not text.strip():
        return None
    try:
        return services.embedder.embed_query(text)
    except ModelError:
        return None


def find_documents(
    services: Services, unit: Unit, query: DocumentQuery, vector: Vector | None, *, now: datetime
) -> list[tuple[Document, float | None]]:
    """Return documents with their scores in [0, 1], best first; what neither leg found follows without one."""
    end = min(query.offset + query.limit, sys.maxsize)
    ranked = _ranked(services, unit, query, vector, now) if query.text.strip() else []
    found: list[tuple[Document, float | None]] = list(ranked[:end])
    if len(found) < end:
        seen = {document.id for document, _score in found}
        fitting = (
            id_
            for id_, value in unit.documents.under(query.path, now=now)
            if id_ not in seen and matches(value, query.wanted)
        )
        rest = list(islice(fitting, end - len(found)))
        known = unit.documents.find(rest, now=now)
        found += [(known[id_], None) for id_ in rest]
    return found[query.offset : end]


def _ranked(
    services: Services, unit: Unit, query: DocumentQuery, vector: Vector | None, now: datetime
) -> list[tuple[Document, float]]:
    options = services.options.retrieve
    pool = max(options.pool, query.offset + query.limit, _WIDE if query.wanted else 0)
    words = _by_words(unit, query, pool, options.column_weights)
    near = _by_meaning(services, unit, query, vector, pool)
    nums = list(dict.fromkeys([*(hit.num for hit in words), *near]))
    candidates = unit.items.candidates(nums)
    known = unit.documents.find([one.id for one in candidates], now=now)
    kept = [
        one
        for one in candidates
        if (document := known.get(one.id)) is not None
        and document.namespace.startswith(query.path)
        and matches(document.value, query.wanted)
    ]
    under = {one.num for one in kept}
    near = {num: cosine for num, cosine in near.items() if num in under}
    cosines = cosines_of(unit, services, kept, near, vector)
    seen = Look(words, near, cosines, kept, Reach({OWNER: Access(1.0, "")}, known=True), [], [])
    asked = Query(text=query.text)
    spread = services.embedder.spread if services.embedder is not None else 1.0
    places = weigh(unit, asked, rank(seen, asked, options, spread=spread), services.embedder)
    return [(known[place.candidate.id], place.chance) for place in places]


def _by_words(
    unit: Unit, query: DocumentQuery, pool: int, weights: tuple[float, float, float, float, float]
) -> list[WordsHit]:
    asked = terms(query.text)
    if not asked:
        return []
    return unit.items.by_words(
        WordsQuery(
            terms=asked, personas=[OWNER], kinds=[KIND], weights=weights, limit=pool, within=within(query.path)
        )
    )


def _by_meaning(
    services: Services, unit: Unit, query: DocumentQuery, vector: Vector | None, pool: int
) -> dict[int, float]:
    """Return the nearest by number: of a small namespace exactly, of most of the store by the index.

    The index answers for all namespaces, so it is asked for more; the caller drops what is not under the path.
    """
    if vector is None or services.embedder is None:
        return {}
    space = services.embedder.identity
    held = unit.documents.count(query.path)
    if held > services.options.retrieve.exact_below:
        whole = unit.documents.count("") if query.path else held
        try:
            if not query.path or (held * _MOST_OF >= whole and not query.wanted):
                index, limit = services.stores.index, pool * whole // held
                return nearest(unit, index, persona=OWNER, kind=KIND, embedder=space, vector=vector, limit=limit)
        except IndexUnavailable:
            pass  # the exact scan below needs none
    rows = unit.documents.vectors(query.path, embedder=space)
    if not rows.nums:
        return {}
    cosine = rows.matrix @ vector
    best = np.argsort(-cosine, kind="stable")[:pool]
    return {rows.nums[place]: float(cosine[place]) for place in best}


def keep_documents(
    services: Services,
    new: Sequence[NewDocument],
    *,
    gone: Sequence[tuple[str, str]] = (),
    read: Sequence[str] = (),
    now: datetime,
) -> None:
    """Write a batch in one transaction: keep values, remove others, let the time of those read begin anew."""

    def write(unit: Unit) -> list[str]:
        unit.documents.touch(read, now=now)
        unit.documents.remove(gone)
        fresh = unit.documents.put(new, now=now) if new else []
        unit.documents.sweep(now=now, limit=_SWEPT)
        return fresh

    fresh = written(services.stores, write)
    if new or gone:
        services.wrote(fresh)


def erase_documents(services: Services, path: str) -> int:
    """Erase everything under a path for good, from tables, full text, index and free pages; return how many."""
    with services.stores.write() as unit:
        ids = unit.documents.ids(path)
        places = unit.erasure.vanishing(ids).places
        count = unit.documents.empty(path)
        unit.erasure.clear_question_vectors()
        unit.scrub_fulltext()
        collections = unit.erasure.collections(places)
    if collections:
        services.stores.index.rebuild(collections)
        feed_index(services, everything=True)
        with services.stores.index_lock.held():
            wipe_unused_vectors(services.stores.home.chroma)
    services.stores.database.compact()
    return count
