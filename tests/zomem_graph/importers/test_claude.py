"""Claude's export and the sessions of Claude Code."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from zomem_graph.importers.records import Note, Passed

from .kit import note, notes, passed, read, said, talk, talks, write

WHEN = "2024-01-15T10:30:00.5Z"


def message(sender: str, text: str, **more: Any) -> dict[str, Any]:
    return {"uuid": f"{sender}-{text}", "sender": sender, "text": text, "created_at": WHEN, **more}


def conversation(*messages: object, **more: Any) -> dict[str, Any]:
    return {"uuid": "c1", "name": "Trip", "created_at": WHEN, "chat_messages": list(messages), **more}


def export(folder: Path, *conversations: object, name: str = "conversations.json") -> Path:
    return write(folder, name, list(conversations))


def test_both_forms_of_content_are_read(tmp_path: Path) -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Porto"}, {"type": "tool_use"}]
    answer = message("assistant", "This block is not supported", content=blocks)
    found = read("claude", export(tmp_path, conversation(message("human", "Where to?"), answer)))
    assert said(found) == [("user", "Where to?"), ("assistant", "Porto")]
    assert talk(found).messages[0].at == datetime(2024, 1, 15, 10, 30, 0, 500_000, UTC)


def test_an_attached_text_is_a_document_beside_the_message(tmp_path: Path) -> None:
    attached = [{"file_name": "plan.txt", "extracted_content": "Day one: Porto"}, {"file_name": "x.png"}]
    found = read("claude", export(tmp_path, conversation(message("human", "See this", attachments=attached))))
    assert said(found) == [("document", "Day one: Porto"), ("user", "See this")]
    assert talk(found).messages[0].speaker == "plan.txt"


def test_silent_messages_are_counted_with_their_reason(tmp_path: Path) -> None:
    silent = [
        message("assistant", "", content=[{"type": "tool_use"}]),
        message("assistant", "", content=[{"type": "thinking", "thinking": "hm"}]),
        message("human", "", files=[{"file_name": "x.png"}]),
        message("human", ""),
        message("nobody", "words"),
        7,
    ]
    found = read("claude", export(tmp_path, conversation(message("human", "Hello"), *silent)))
    assert dict(talk(found).skipped) == {
        "it only calls a tool": 1,
        "it is what the model thought": 1,
        "it holds files without words": 1,
        "it is empty": 1,
        "nobody is named who said it": 2,
    }


def test_the_newest_branch_is_taken_where_the_export_names_parents(tmp_path: Path) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    first = message("human", "Where?", uuid="a", parent_message_uuid=root)
    old = message("assistant", "Lyon", uuid="b", parent_message_uuid="a", created_at="2024-01-15T11:00Z")
    new = message("assistant", "Porto", uuid="c", parent_message_uuid="a", created_at="2024-01-15T12:00Z")
    found = read("claude", export(tmp_path, conversation(first, new, old)))
    assert [text for _role, text in said(found)] == ["Where?", "Porto"]
    assert talk(found).skipped == {"on another branch": 1}


def test_projects_and_memories_become_notes(tmp_path: Path) -> None:
    docs = [
        {"uuid": "d1", "filename": "plan.md", "content": "# Plan\n\n## Day one\nPorto"},
        {"filename": "b"},
    ]
    project = {"uuid": "p1", "name": "Trip", "description": "Going south", "docs": docs}
    bare = {"uuid": "p2", "name": "Bare", "description": "", "docs": []}
    export(tmp_path, project, bare, name="projects.json")
    remembered = {"conversations_memory": "Likes trains", "project_memories": {"p1": "Porto", "p2": ""}}
    export(tmp_path, remembered, name="memories.json")
    export(tmp_path, {"uuid": "u1", "email_address": "a@b.example"}, name="users.json")
    found = read("claude", tmp_path)
    assert {title: [part.text for part in one.sections] for title, one in notes(found).items()} == {
        "Trip": ["Going south"],
        "plan.md": ["Porto"],
        "Claude's memory": ["Likes trains"],
        "Claude's memory of project p1": ["Porto"],
    }
    assert passed(found) == {
        "Trip/b": "its text is not in the export",
        "Bare": "the project has no description",
        "Claude's memory of project p2": "it is empty",
        "number 1 of users.json": "it describes the account",
    }


def test_empty_and_broken_conversations_are_passed_over(tmp_path: Path) -> None:
    found = read("claude", export(tmp_path, conversation(), conversation(message("human", "")), {"x": 1}))
    assert [each.reason for each in found if isinstance(each, Passed)] == [
        "it is empty",
        "nothing was said in it",
        "it has no messages and no documents",
    ]


def line(kind: str, content: object, **more: Any) -> str:
    body = {"role": kind, "content": content}
    return json.dumps({"type": kind, "uuid": f"u{len(str(body))}", "sessionId": "s1", "message": body, **more})


def session(folder: Path, *lines: str) -> Path:
    return write(folder, "project/session.jsonl", "\n".join(lines))


def test_a_session_keeps_what_was_typed_and_answered(tmp_path: Path) -> None:
    tool = [{"type": "tool_result", "content": "a long dump"}]
    answer = [{"type": "text", "text": "Done."}, {"type": "tool_use", "name": "Write"}]
    lines = [
        json.dumps({"type": "summary", "summary": "Refactoring", "leafUuid": "x"}),
        line("user", "Refactor it", timestamp=WHEN, cwd="/src"),
        line("assistant", answer),
        line("user", tool),
        line("assistant", [{"type": "tool_use"}]),
        line("user", "<command-name>/clear</command-name>"),
        line("user", "caveat", isMeta=True),
        line("assistant", "inner", isSidechain=True),
        line("user", "so far…", isCompactSummary=True),
        "{broken",
        json.dumps({"type": "file-history-snapshot"}),
    ]
    found = read("claude-code", session(tmp_path, *lines).parent)
    assert said(found) == [("user", "Refactor it"), ("assistant", "Done.")]
    assert talk(found).id == "s1"
    assert talk(found).messages[0].metadata == {"folder": "/src"}
    assert sum(talk(found).skipped.values()) == 7


def test_a_session_file_with_two_sessions_gives_both(tmp_path: Path) -> None:
    lines = [line("user", "one"), line("user", "two", sessionId="s2")]
    assert [each.id for each in talks(read("claude-code", session(tmp_path, *lines)))] == ["s1", "s2"]


def test_an_empty_or_silent_session_says_why(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl", "")
    write(tmp_path, "b.jsonl", line("user", [{"type": "tool_result"}]))
    assert passed(read("claude-code", tmp_path)) == {"a.jsonl": "it is empty", "b": "nothing was said in it"}


def test_a_project_document_is_a_note_of_its_project(tmp_path: Path) -> None:
    docs = [{"filename": "plan.md", "content": "Porto"}]
    found = read("claude", export(tmp_path, {"uuid": "p", "name": "Trip", "docs": docs}, name="projects.json"))
    assert note([each for each in found if isinstance(each, Note)]).mentions == ("Trip",)
