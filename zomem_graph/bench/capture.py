"""Compare the facts that rules find in messages with the facts people marked in them.

The data is one JSON object a line: `id`, `text`, `role`, `speaker` (or null), `kind`, `lang`, and `facts`, a
list of {entity, key, value}, empty where there is nothing to learn.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zomem_graph.bench.conditions import conditions
from zomem_graph.bench.homes import Say, kept_folder
from zomem_graph.bench.scoring import mean
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.nodes.scope import Scope
from zomem_graph.stores.errors import InvalidInput

__all__ = ["run"]

_MOST_FACTS = 100
Triple = tuple[str, str, str]
Same = Callable[[Triple, Triple], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Learned:
    """What a message should teach, and what memory holds after it."""

    id: str
    kind: str
    language: str
    wanted: list[Triple]
    found: list[Triple]


def run(data: Path, *, say: Say = lambda _line: None) -> dict[str, Any]:
    """Capture every message without a model, each into a persona of its own, and compare what is stored."""
    messages = _messages(data)
    with kept_folder(None) as home, Memory.open(home, embeddings="none", chat_model=None) as memory:
        learned = [_capture(memory, message) for message in messages]
    say(f"{len(learned)} messages captured")
    return {
        "suite": "capture",
        "messages": len(learned),
        "without_a_fact": sum(not each.wanted for each in learned),
        "exact": _figures(learned, _exact),
        "value_overlaps": _figures(learned, _overlapping),
        "facts_where_there_are_none_by_kind": dict(
            Counter(each.kind for each in learned if each.found and not each.wanted)
        ),
        "recall_by_language": {
            language: mean(*_recalls([each for each in learned if each.language == language], _exact))
            for language in sorted({each.language for each in learned})
        },
        "conditions": conditions(embedder=None, options=MemoryOptions(), chat_model="none", matching=_MATCHING),
    }


_MATCHING = (
    "exact: entity, key and value equal but for case, width, blanks, hyphens and end punctuation; "
    "value_overlaps: entity and key equal, one value contained in the other"
)


def _messages(data: Path) -> list[Mapping[str, Any]]:
    path = data / "capture_messages.jsonl" if data.is_dir() else data
    try:
        return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, json.JSONDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as JSON lines: {error}.") from error


def _capture(memory: Memory, message: Mapping[str, Any]) -> _Learned:
    scope = Scope(persona=str(message["id"]))
    said = {"role": message["role"], "content": message["text"], "name": message.get("speaker")}
    memory.capture([said], scope=scope, source="bench")
    return _Learned(
        id=str(message["id"]),
        kind=str(message["kind"]),
        language=str(message["lang"]),
        wanted=[_triple(fact) for fact in message["facts"]],
        found=_stored(memory, scope, str(message["text"])),
    )


def _stored(memory: Memory, scope: Scope, text: str) -> list[Triple]:
    # A rule's fact is in words of its message, so the message finds all of them.
    hits = memory.search(text, scope=scope, kinds=("fact",), limit=_MOST_FACTS)
    return [_triple(hit.metadata) for hit in hits if hit.metadata["persona"] == scope.persona]


def _triple(fact: Mapping[str, Any]) -> Triple:
    entity, key, value = (_plain(str(fact[name] or "")) for name in ("entity", "key", "value"))
    return entity, key, value


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("-", " ").replace("_", " ")
    return " ".join(folded.split()).strip(" .,;:!?\"'。！？")


def _exact(one: Triple, other: Triple) -> bool:
    return one == other


def _overlapping(one: Triple, other: Triple) -> bool:
    values = one[2], other[2]
    return one[:2] == other[:2] and (values[0] in values[1] or values[1] in values[0])


def _figures(learned: Sequence[_Learned], same: Same) -> dict[str, Any]:
    right = [float(any(same(fact, wanted) for wanted in each.wanted)) for each in learned for fact in each.found]
    precision = mean(right, [""] * len(right))
    return {"precision": precision, "recall": mean(*_recalls(learned, same))}


def _recalls(learned: Iterable[_Learned], same: Same) -> tuple[list[float], list[str]]:
    found = [float(any(same(wanted, fact) for fact in each.found)) for each in learned for wanted in each.wanted]
    return found, [""] * len(found)
