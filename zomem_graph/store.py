"""LangGraph's key-value store over the same tables: `graph.compile(store=MemoryStore(memory))`.

What graphs keep here and what a memory knows are apart: neither shows in the searches of the other, and
forgetting a persona leaves documents alone. `erase` is for those.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    validate_op_namespace,
)

from zomem_graph.memory import Memory
from zomem_graph.nodes.ports import Vector, services_given
from zomem_graph.nodes.rules.documents import checked_filter, plain_json, said_in
from zomem_graph.nodes.rules.given import flag, if_given, listed, names, number, of_kind, shown, text, whole
from zomem_graph.nodes.steps.documents import (
    DocumentQuery,
    embed_question,
    erase_documents,
    find_documents,
    keep_documents,
)
from zomem_graph.stores.documents import NewDocument, labels_of, path_of
from zomem_graph.stores.errors import InvalidOperation
from zomem_graph.stores.records import Document
from zomem_graph.stores.unit import Unit

__all__ = ["MemoryStore"]

_NAMESPACE = '("notes", "ana")'
_MOST_MINUTES = 1_000_000_000  # as far as calendars go, about


class MemoryStore(BaseStore):
    """A BaseStore in a memory's database; search with a query goes by words and meaning.

    `fields` are the paths that are searched when `put` names none; by default every text and number of a
    value is. `ttl` is LangGraph's TTLConfig, in minutes. Values are JSON: others raise InvalidInput, and then
    nothing of the batch was written.
    """

    supports_ttl = True

    def __init__(self, memory: Memory, *, fields: Sequence[str] | None = None, ttl: TTLConfig | None = None) -> None:
        services_given(memory).stores.check_open()
        self._memory = memory
        self._fields = if_given(names, "fields", fields, such_as='["title", "tags[*]"]')
        self.ttl_config = if_given(of_kind, "ttl", ttl, kind=dict)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the reads on the state before, then the writes in one transaction; results in the order of `ops`."""
        asked = listed("ops", ops, of="operations")
        for op in asked:
            _check(op)
        writes = {(path_of(op.namespace), str(op.key)): op for op in asked if isinstance(op, PutOp)}
        new = [self._new(path, key, op) for (path, key), op in writes.items() if op.value is not None]
        gone = [place for place, op in writes.items() if op.value is None]
        vectors = {
            op.query: embed_question(self._memory, op.query) for op in asked if isinstance(op, SearchOp) and op.query
        }
        touched: list[str] = []
        results: list[Result] = [None] * len(asked)
        if len(writes) < len(asked):
            with self._memory.stores.read() as unit:
                results = [self._read(unit, op, vectors, touched) for op in asked]
        if writes or touched:
            keep_documents(self._memory, new, gone=gone, read=touched, now=self._memory.clock())
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same without blocking the event loop."""
        return await asyncio.to_thread(self.batch, listed("ops", ops, of="operations"))

    def sweep_ttl(self) -> int:
        """Remove the documents whose time is over; return how many. They are never returned, swept or not."""
        with self._memory.stores.write() as unit:
            return unit.documents.sweep(now=self._memory.clock())

    def erase(self, namespace: tuple[str, ...]) -> int:
        """Erase everything under a namespace for good and return how many documents that were; () is all.

        Gone from tables, full text, index and free pages; backups keep what they have.
        """
        _check(SearchOp(namespace))
        return erase_documents(self._memory, path_of(namespace))

    def _new(self, path: str, key: str, op: PutOp) -> NewDocument:
        value = plain_json(op.value)
        ttl = None if op.ttl is None else float(op.ttl)
        return NewDocument(namespace=path, key=key, value=value, text=self._text(value, op), ttl=ttl)

    def _text(self, value: dict[str, Any], op: PutOp) -> str | None:
        """Return what search shall see of a value, None for nothing."""
        if op.index is False:
            return None
        fields = self._fields if op.index is None else list(op.index)
        if fields is None or list(fields) == ["$"]:
            said = list(said_in(value))
        else:
            said = [text for field in fields for text in get_text_at_path(value, field)]
        return "\n".join(said) or None

    def _read(self, unit: Unit, op: Op, vectors: Mapping[str, Vector | None], touched: list[str]) -> Result:
        if isinstance(op, PutOp):
            return None
        now = self._memory.clock()
        if isinstance(op, GetOp):
            document = unit.documents.get(path_of(op.namespace), str(op.key), now=now)
            if document is None:
                return None
            touched += _timed([document]) if op.refresh_ttl else []
            return Item(**_fields_of(document))
        if isinstance(op, SearchOp):
            query = DocumentQuery(
                path=path_of(op.namespace_prefix),
                text=op.query or "",
                wanted=checked_filter(op.filter),
                limit=max(0, int(op.limit)),
                offset=max(0, int(op.offset)),
            )
            found = find_documents(self._memory, unit, query, vectors.get(query.text), now=now)
            touched += _timed([document for document, _score in found]) if op.refresh_ttl else []
            return [SearchItem(**_fields_of(document), score=score) for document, score in found]
        if isinstance(op, ListNamespacesOp):
            return _namespaces(unit.documents.namespaces(now=now), op)
        raise _unknown(op)


def _check(op: Any) -> None:
    """Raise InvalidInput for an operation that makes no sense, and InvalidNamespaceError as LangGraph does."""
    if isinstance(op, GetOp | PutOp):
        names("namespace", op.namespace, such_as=_NAMESPACE)
        text("key", op.key)
    elif isinstance(op, SearchOp):
        names("namespace_prefix", op.namespace_prefix, such_as=_NAMESPACE)
        if_given(text, "query", op.query)
        checked_filter(op.filter)
        whole("limit", op.limit)
        whole("offset", op.offset)
    elif isinstance(op, ListNamespacesOp):
        for condition in if_given(listed, "match_conditions", op.match_conditions, of="conditions") or ():
            of_kind("each of match_conditions", condition, MatchCondition)
            if not isinstance(condition.match_type, str) or condition.match_type not in ("prefix", "suffix"):
                raise InvalidOperation(f"Unsupported match type: {shown(condition.match_type)}")
            names(condition.match_type, condition.path, such_as=_NAMESPACE)
        if_given(whole, "max_depth", op.max_depth, least=0)
        whole("limit", op.limit, least=0)
        whole("offset", op.offset, least=0)
    else:
        raise _unknown(op)
    if isinstance(op, GetOp | SearchOp):
        if_given(flag, "refresh_ttl", op.refresh_ttl)
    if isinstance(op, PutOp):
        if_given(number, "ttl", op.ttl, least=0, most=_MOST_MINUTES)
        if op.index is not None and op.index is not False:
            names("index", op.index, such_as='["title"]')
    validate_op_namespace(op)


def _unknown(op: Any) -> InvalidOperation:
    return InvalidOperation(f"Unknown operation type: {type(op)}")


def _fields_of(document: Document) -> dict[str, Any]:
    return {
        "namespace": labels_of(document.namespace),
        "key": document.key,
        "value": document.value,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
    }


def _timed(documents: Sequence[Document]) -> list[str]:
    return [document.id for document in documents if document.ttl is not None]


def _namespaces(known: Sequence[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    conditions = op.match_conditions or ()
    kept = [namespace for namespace in known if all(_fits(namespace, condition) for condition in conditions)]
    if op.max_depth is not None:
        kept = sorted({namespace[: op.max_depth] for namespace in kept})
    return kept[op.offset : op.offset + op.limit]


def _fits(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))
