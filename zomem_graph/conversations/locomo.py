"""LoCoMo's JSON (Maharana et al., ACL 2024): two friends, many sessions, questions with evidence.

The loader mends what is known to be malformed: several ids in one string, ids with leading zeros,
ids that name no turn, an id named twice, answers that are numbers or missing.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from zomem_graph.conversations.dates import find_datetime
from zomem_graph.conversations.transcript import (
    Conversation,
    Message,
    Question,
    Session,
    conversation_of,
    speaker,
)
from zomem_graph.stores.errors import InvalidInput

__all__ = ["locomo_conversation", "looks_like_locomo"]

_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D(\d+):(\d+)")
# The numbers do not follow the order in the paper (task_eval/evaluation.py, the maintainers' issue 29).
_KINDS = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop", 5: "adversarial"}


def looks_like_locomo(document: Mapping[str, Any]) -> bool:
    """Tell whether a JSON object is a LoCoMo sample or the conversation inside one."""
    return bool(_numbered_sessions(_dialogue(document)))


def locomo_conversation(document: Mapping[str, Any]) -> Conversation:
    """Return a LoCoMo sample as a conversation; ids are its dia_ids, times are UTC. Raises InvalidInput."""
    dialogue = _dialogue(document)
    sessions = [_session(number, dialogue) for number in _numbered_sessions(dialogue)]
    known = {_plain_id(message.id): message.id for session in sessions for message in session.messages}
    questions = document.get("qa", [])
    if not isinstance(questions, list) or not all(isinstance(entry, dict) for entry in questions):
        raise InvalidInput("has a qa that is not a list of objects")
    speakers = " and ".join(str(dialogue[key]) for key in ("speaker_a", "speaker_b") if key in dialogue)
    return conversation_of(
        str(document.get("sample_id") or speakers or "LoCoMo"),
        sessions,
        questions=[_question(entry, known=known) for entry in questions],
    )


def _dialogue(document: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = document.get("conversation", document)
    return inner if isinstance(inner, dict) else {}


def _numbered_sessions(dialogue: Mapping[str, Any]) -> list[int]:
    # There are more dates than sessions, so the lists of turns decide, in the order of their numbers.
    matches = (_SESSION.fullmatch(key) for key, turns in dialogue.items() if isinstance(turns, list))
    return sorted(int(match[1]) for match in matches if match)


def _session(number: int, dialogue: Mapping[str, Any]) -> Session:
    stamp = dialogue.get(f"session_{number}_date_time")
    at = find_datetime(stamp) if isinstance(stamp, str) else None
    turns = dialogue[f"session_{number}"]
    messages = (_message(turn, where=f"session_{number}, turn {n}", at=at) for n, turn in enumerate(turns, 1))
    return Session(f"D{number}", at, tuple(messages))


def _message(turn: object, *, where: str, at: datetime | None) -> Message:
    if not isinstance(turn, dict) or not {"speaker", "dia_id"} <= turn.keys():
        raise InvalidInput(f"has a turn without speaker and dia_id ({where})")
    caption = turn.get("blip_caption")
    parts = [str(turn.get("text") or ""), f"[shared a picture: {caption}]" if caption else ""]
    role, name = speaker(str(turn["speaker"]))
    return Message(role, " ".join(part for part in parts if part), name, at, str(turn["dia_id"]))


def _question(entry: Mapping[str, Any], *, known: Mapping[str, str]) -> Question:
    answer, category = entry.get("answer"), entry.get("category")
    return Question(
        text=str(entry.get("question", "")),
        answer=None if answer is None else str(answer),
        evidence=_evidence(entry.get("evidence") or [], known=known),
        kind=_KINDS.get(category, f"category {category}") if isinstance(category, int) else "unlabelled",
    )


def _evidence(entries: object, *, known: Mapping[str, str]) -> tuple[str, ...]:
    listed: Iterable[object] = entries if isinstance(entries, list) else [entries]
    ids = (_plain_id(match[0]) for entry in listed for match in _TURN_ID.finditer(str(entry)))
    return tuple(dict.fromkeys(known[found] for found in ids if found in known))


def _plain_id(turn_id: str) -> str:
    match = _TURN_ID.fullmatch(turn_id)
    return f"D{int(match[1])}:{int(match[2])}" if match else turn_id
