"""ChatGPT's export: `conversations.json`, alone, in its folder or in the zip it came in."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from zomem_graph.importers.branches import TreeNode, current_branch
from zomem_graph.importers.chatgpt_content import Spoken, said_in
from zomem_graph.importers.exports import Entry, entries
from zomem_graph.importers.fields import listing, mapping, moment, plain_text, text
from zomem_graph.importers.places import File, Place
from zomem_graph.importers.records import Passed, Read, Talk
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.stores.identity import content_hash

__all__ = ["read_chatgpt"]

_ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool"}


def read_chatgpt(place: Place) -> Iterator[Read]:
    """Yield the conversations of an export, each along its current branch; broken ones are passed over."""
    files = place.chosen(lambda file: place.is_single or _is_export(file))
    for entry in entries(place, files, lists=("conversations",), kind="conversation"):
        yield entry if isinstance(entry, Passed) else _talk(entry)


def _is_export(file: File) -> bool:
    return file.suffix == ".json" and file.stem.startswith("conversations")


def _talk(entry: Entry) -> Read:
    conversation = mapping(entry.value)
    nodes = mapping(conversation.get("mapping"))
    title = text(conversation.get("title")).strip()
    name = _id_of(conversation, title, nodes)

    def passed(outcome: Any, reason: str, skipped: Mapping[str, int] | None = None) -> Passed:
        return Passed(
            id=name, title=title or entry.where, kind="conversation", outcome=outcome, reason=reason,
            skipped=skipped or {},
        )  # fmt: skip

    if not isinstance(conversation.get("mapping"), Mapping):
        return passed("failed", f"{entry.where} has no mapping of messages")
    if not nodes:
        return passed("skipped", "it is empty")
    messages, skipped = _messages(conversation, nodes)
    if not messages:
        return passed("skipped", "nothing was said in it", skipped)
    return Talk(id=name, title=title, messages=tuple(messages), skipped=skipped)


def _id_of(conversation: Mapping[str, Any], title: str, nodes: Mapping[str, Any]) -> str:
    given = plain_text(conversation.get("conversation_id")) or plain_text(conversation.get("id"))
    return given or content_hash(title, plain_text(conversation.get("create_time")), *list(nodes)[:3])


def _messages(conversation: Mapping[str, Any], nodes: Mapping[str, Any]) -> tuple[list[Said], Counter[str]]:
    begun = moment(conversation.get("create_time"), conversation.get("update_time"))
    spoken = {name: said_in(mapping(node).get("message")) for name, node in nodes.items()}
    branch = current_branch(_tree(nodes, spoken), text(conversation.get("current_node")) or None)
    skipped: Counter[str] = Counter()
    messages: list[Said] = []
    for name in branch:
        said = spoken[name]
        if said.reason:
            skipped[said.reason] += 1
        elif said.text:
            messages.append(_said(name, said, begun))
            begun = messages[-1].at and messages[-1].at + timedelta(microseconds=1)
    on_branch = set(branch)
    aside = sum(1 for name, said in spoken.items() if name not in on_branch and said.exists)
    return messages, skipped + Counter({"on another branch": aside})


def _said(name: str, said: Spoken, before: datetime | None) -> Said:
    role = _ROLES[said.role]
    return Said(
        role=role,
        speaker=said.speaker or role,
        content=said.text,
        at=said.at or before,
        message_id=said.id or name,
        metadata=said.metadata,
    )


def _tree(nodes: Mapping[str, Any], spoken: Mapping[str, Spoken]) -> dict[str, TreeNode]:
    """Return who answers whom: by the parents the nodes name, else by the children."""
    parents: dict[str, str] = {}
    for name, node in nodes.items():
        for child in listing(mapping(node).get("children")):
            if isinstance(child, str):
                parents.setdefault(child, name)
    return {
        name: TreeNode(
            text(mapping(node).get("parent")) or parents.get(name), spoken[name].at, bool(spoken[name].text)
        )
        for name, node in nodes.items()
    }
