"""What mem0 exports: a list of memories, or an object with `results`, `memories` and `relations`."""

from collections.abc import Iterator, Mapping
from typing import Any

from zomem_graph.importers.exports import entries
from zomem_graph.importers.fields import flat_texts, mapping, plain_text, text
from zomem_graph.importers.places import Place
from zomem_graph.importers.records import Note, Passed, Read, Section
from zomem_graph.stores.identity import content_hash

__all__ = ["read_mem0"]

_LISTS = ("results", "memories", "relations")
_OWNERS = ("user_id", "agent_id", "run_id")


def read_mem0(place: Place) -> Iterator[Read]:
    """Yield each memory and each relation as a note of one piece."""
    for entry in entries(place, place.with_suffix(".json"), lists=_LISTS, kind="note"):
        if isinstance(entry, Passed):
            yield entry
        elif "relationship" in entry.value or "relation" in entry.value:
            yield _relation(entry.value, entry.where)
        else:
            yield _memory(entry.value, entry.where)


def _memory(memory: Mapping[str, Any], where: str) -> Read:
    said = next((found for name in ("memory", "text", "data") if (found := text(memory.get(name)))), "")
    name = plain_text(memory.get("id")) or content_hash(said)
    if not said.strip():
        reason = "it has no text"
        return Passed(id=name, title=where, kind="note", outcome="skipped", reason=reason)
    owner = next((found for key in _OWNERS if (found := plain_text(memory.get(key)))), "mem0")
    times = {"created": memory.get("created_at"), "updated": memory.get("updated_at")}
    return Note(
        id=name,
        names=(owner,),
        sections=(Section((f"memory {name}",), said.strip(), sentence=True),),
        mentions=(owner,),
        category="fact",
        metadata={
            **{key: text(value) for key, value in times.items() if text(value)},
            **({"tags": tags} if (tags := list(flat_texts(memory.get("categories")))) else {}),
            **({"mem0": dict(about)} if (about := mapping(memory.get("metadata"))) else {}),
        },
    )


def _relation(relation: Mapping[str, Any], where: str) -> Read:
    kind = plain_text(relation.get("relationship")) or plain_text(relation.get("relation"))
    source = plain_text(relation.get("source"))
    target = plain_text(relation.get("destination")) or plain_text(relation.get("target"))
    name = content_hash(source, kind, target)
    if not (source and kind and target):
        reason = "a relation needs a source, a relationship and a destination"
        return Passed(id=name, title=where, kind="note", outcome="failed", reason=reason)
    said = f"{source} {kind.replace('_', ' ')} {target}"
    return Note(
        id=name,
        names=(source,),
        sections=(Section((kind, target), said, sentence=True),),
        mentions=(source, target),
        category="fact",
    )
