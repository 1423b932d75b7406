"""What readers hand on: a conversation, a note, or something passed over and why. Plain and frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from zomem_graph.nodes.steps.messages import Said

__all__ = ["Note", "Passed", "Read", "Section", "Talk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation, or one part of a long one.

    `id` is stable in its source. `session` names where its turns go; all parts of one conversation share
    it. `thread` is set when the source knows the thread the turns belong to. `skipped` counts messages that
    are not taken, by reason.
    """

    id: str
    title: str
    messages: tuple[Said, ...]
    session: str = ""
    thread: str | None = None
    part: int = 1
    skipped: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a note: the headings above it, and its text as written.

    A `sentence` says by itself what it is about, so that no title needs to stand before it. `known_by` is
    what the piece is known by where its heading has a number that may be another the next time.
    """

    path: tuple[str, ...]
    text: str
    sentence: bool = False
    known_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something written: a note, a document, a memory of another program.

    `id` is stable in its source; `names` are what it may be called, the shortest first: the first one that
    nobody else goes by becomes the entity of its facts. `mentions` are names it points to. `part_of` names
    what it is one document of, where there may be several.
    """

    id: str
    names: tuple[str, ...]
    sections: tuple[Section, ...]
    mentions: tuple[str, ...] = ()
    category: str = "reference"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    part_of: str = ""

    @property
    def title(self) -> str:
        """What it is called."""
        return self.names[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """Something that was not read: skipped on purpose, or failed; the reason says why."""

    id: str
    title: str
    kind: Literal["conversation", "note", "file"]
    outcome: Literal["skipped", "failed"]
    reason: str
    skipped: Mapping[str, int] = field(default_factory=dict)
    part_of: str = ""


Read = Talk | Note | Passed
