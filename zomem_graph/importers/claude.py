"""Claude's export: conversations, projects with their documents, and what it remembers of the account."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from zomem_graph.importers.branches import TreeNode, current_branch
from zomem_graph.importers.exports import Entry, entries
from zomem_graph.importers.fields import listing, mapping, moment, plain_text, text
from zomem_graph.importers.markdown import sections_of
from zomem_graph.importers.places import File, Place
from zomem_graph.importers.records import Note, Passed, Read, Section, Talk
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.stores.identity import content_hash

__all__ = ["read_claude"]

_ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant"}
_STEMS: Final = ("conversations", "projects", "memories", "users")
_THOUGHT: Final = frozenset({"thinking", "redacted_thinking"})


def read_claude(place: Place) -> Iterator[Read]:
    """Yield the conversations, project documents and memories of an export; broken ones are passed over."""
    files = place.chosen(lambda file: place.is_single or _is_export(file))
    for entry in entries(place, files, lists=("conversations", "chat_conversations"), kind="conversation"):
        if isinstance(entry, Passed):
            yield entry
        elif "chat_messages" in entry.value:
            yield _talk(entry)
        elif "docs" in entry.value or "prompt_template" in entry.value:
            yield from _project(entry)
        elif "conversations_memory" in entry.value or "project_memories" in entry.value:
            yield from _memories(entry)
        else:
            account = "email_address" in entry.value or entry.file.stem == "users"
            reason = "it describes the account" if account else "it has no messages and no documents"
            yield _passed(plain_text(entry.value.get("uuid")), entry.where, "file", reason)


def _is_export(file: File) -> bool:
    return file.suffix == ".json" and file.stem.startswith(_STEMS)


def _passed(name: str, title: str, kind: Any, reason: str, skipped: Mapping[str, int] | None = None) -> Passed:
    return Passed(
        id=name or content_hash(title), title=title, kind=kind, outcome="skipped", reason=reason,
        skipped=skipped or {},
    )  # fmt: skip


def _talk(entry: Entry) -> Read:
    conversation = entry.value
    title = text(conversation.get("name")).strip()
    raw = [mapping(message) for message in listing(conversation.get("chat_messages"))]
    name = plain_text(conversation.get("uuid")) or content_hash(
        title, plain_text(conversation.get("created_at")), *(text(one.get("uuid")) for one in raw[:3])
    )
    branch = _current(raw, text(conversation.get("current_leaf_message_uuid")) or None)
    skipped = Counter({"on another branch": len(raw) - len(branch)})
    messages: list[Said] = []
    begun = moment(conversation.get("created_at"), conversation.get("updated_at"))
    for message in branch:
        said = list(_said_in(message, begun))
        if not said:
            skipped[_why_silent(message)] += 1
        for one in said:
            messages.append(one)
            begun = one.at and one.at + timedelta(microseconds=1)
    skipped = +skipped
    if not messages:
        reason = "nothing was said in it" if raw else "it is empty"
        return _passed(name, title or entry.where, "conversation", reason, skipped)
    return Talk(id=name, title=title, messages=tuple(messages), skipped=skipped)


def _current(messages: Sequence[Mapping[str, Any]], leaf: str | None) -> list[Mapping[str, Any]]:
    """Return the messages of the current branch; all of them when the export says nothing of branches."""
    by_id = {text(one.get("uuid")): one for one in messages}
    if len(by_id) < len(messages) or not any(one.get("parent_message_uuid") for one in messages):
        return list(messages)
    nodes = {
        name: TreeNode(text(one.get("parent_message_uuid")) or None, moment(one.get("created_at")))
        for name, one in by_id.items()
    }
    return [by_id[name] for name in current_branch(nodes, leaf)]


def _said_in(message: Mapping[str, Any], before: datetime | None) -> Iterator[Said]:
    """Yield the message, and each file that came with it as a document of its own."""
    role = _ROLES.get(text(message.get("sender")) or text(message.get("role")))
    if role is None:
        return
    at = moment(message.get("created_at"), message.get("updated_at")) or before
    name = text(message.get("uuid")) or None
    for number, attached in enumerate(listing(message.get("attachments"))):
        if (content := text(mapping(attached).get("extracted_content"))).strip():
            speaker = text(mapping(attached).get("file_name")).strip() or "attachment"
            yield Said(
                role="document",
                speaker=speaker,
                content=content,
                at=at,
                message_id=f"{name}/{number}" if name else None,
            )
            at = at and at + timedelta(microseconds=1)
    if (content := _text_of(message)).strip():
        yield Said(role=role, speaker=role, content=content, at=at, message_id=name)


def _text_of(message: Mapping[str, Any]) -> str:
    """Return the text blocks; older exports have none and only the field `text`."""
    content = message.get("content")
    if isinstance(content, str) and content.strip():
        return content
    blocks = [mapping(block) for block in listing(content)]
    said = [text(block.get("text")) for block in blocks if block.get("type", "text") == "text"]
    joined = "\n".join(part for part in said if part.strip())
    # With blocks there, `text` repeats them and says of the others that they cannot be shown.
    return joined if joined or blocks else text(message.get("text"))


def _why_silent(message: Mapping[str, Any]) -> str:
    if (text(message.get("sender")) or text(message.get("role"))) not in _ROLES:
        return "nobody is named who said it"
    kinds = {text(mapping(block).get("type")) for block in listing(message.get("content"))}
    if kinds & {"tool_use", "tool_result"}:
        return "it only calls a tool"
    if kinds & _THOUGHT:
        return "it is what the model thought"
    return "it holds files without words" if message.get("files") else "it is empty"


def _project(entry: Entry) -> Iterator[Read]:
    project = entry.value
    title = text(project.get("name")).strip() or "Project"
    name = plain_text(project.get("uuid")) or content_hash(title)
    about = [
        Section((label,), said)
        for label in ("description", "prompt_template")
        if (said := text(project.get(label)).strip())
    ]
    about_it = {"created": text(project.get("created_at"))}
    if about:
        yield Note(id=name, names=(title,), sections=tuple(about), metadata=about_it)
    else:
        yield _passed(name, title, "note", "the project has no description")
    for number, doc in enumerate(map(mapping, listing(project.get("docs"))), 1):
        file_name = text(doc.get("filename")).strip() or f"document {number}"
        doc_id = f"{name}/{plain_text(doc.get('uuid')) or file_name}"
        content = text(doc.get("content"))
        if not content.strip():
            yield _passed(doc_id, f"{title}/{file_name}", "note", "its text is not in the export")
            continue
        yield Note(
            id=doc_id,
            names=(file_name, f"{title}/{file_name}", f"{title}/{file_name} {number}"),
            sections=sections_of(content, title=file_name),
            mentions=(title,),
            metadata={"project": title, "created": text(doc.get("created_at"))},
        )


def _memories(entry: Entry) -> Iterator[Read]:
    """Yield what Claude kept of the account and of each project."""
    told = {"": entry.value.get("conversations_memory"), **mapping(entry.value.get("project_memories"))}
    account = text(entry.value.get("account_uuid")) or "account"
    for project, said in told.items():
        name = f"memories/{account}/{project}"
        title = "Claude's memory" if not project else f"Claude's memory of project {project}"
        if isinstance(said, str) and said.strip():
            yield Note(id=name, names=(title,), sections=sections_of(said, title=title))
        else:
            yield _passed(name, title, "note", "it is empty")
