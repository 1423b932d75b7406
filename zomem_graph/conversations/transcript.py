"""What a conversation is, independent of the file it came from, and who its speakers are."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from zomem_graph.stores.errors import InvalidInput

__all__ = ["Conversation", "Message", "Question", "Role", "Session", "conversation_of", "is_role", "speaker"]

Role = Literal["user", "assistant", "system", "tool"]

# "Named speakers are users unless called assistant, AI or bot"; the rest are the role words of chat formats.
_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "me": "user",
    "you": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}


@dataclass(frozen=True, slots=True)
class Message:
    """One turn, verbatim; `id` is unique in its conversation, `at` is aware or unknown."""

    role: Role
    content: str
    name: str | None
    at: datetime | None
    id: str


@dataclass(frozen=True, slots=True)
class Session:
    """Messages of one sitting, in order; never empty."""

    id: str
    at: datetime | None
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A labelled question: the ids of the turns that answer it and the old values that must not.

    `kind` is the label of the file (for LoCoMo: multi_hop, temporal, open_domain, single_hop or
    adversarial; the evidence of an adversarial question tempts and does not answer).
    """

    text: str
    answer: str | None
    evidence: tuple[str, ...]
    stale: tuple[str, ...] = ()
    needs_memory: bool = True
    kind: str = "fact"


@dataclass(frozen=True, slots=True)
class Conversation:
    """Sessions in order, the questions that came with them, and what was read past (a line each)."""

    title: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def messages(self) -> Iterator[Message]:
        """Every message of every session, in order."""
        return (message for session in self.sessions for message in session.messages)


def conversation_of(
    title: str,
    sessions: Iterable[Session],
    *,
    questions: Iterable[Question] = (),
    skipped: Iterable[str] = (),
) -> Conversation:
    """Return the conversation, empty sessions left out. Raises InvalidInput if none is left or ids repeat."""
    told = tuple(session for session in sessions if session.messages)
    if not told:
        raise InvalidInput("holds no messages")
    seen: set[str] = set()
    for message in (message for session in told for message in session.messages):
        if message.id in seen:
            raise InvalidInput(f"gives two messages the id {message.id!r}")
        seen.add(message.id)
    return Conversation(title, told, tuple(questions), tuple(skipped))


def is_role(name: str) -> bool:
    """Tell whether a label is a role word (user, assistant, AI, bot, …) and not a person's name."""
    return name.casefold() in _ROLES


def speaker(label: str) -> tuple[Role, str | None]:
    """Return role and name behind a label: a role word has no name, everyone else is a user."""
    role = _ROLES.get(label.casefold())
    return (role, None) if role else ("user", label)
