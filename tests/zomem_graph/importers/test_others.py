"""Plain text, mem0, dumps of messages and document loaders."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, messages_to_dict

from zomem_graph.importers.documents import read_documents
from zomem_graph.importers.records import Note, Passed, Read
from zomem_graph.stores.errors import InvalidInput

from .kit import note, notes, passed, read, said, talk, talks, write


def test_a_transcript_becomes_a_conversation(tmp_path: Path) -> None:
    path = write(tmp_path, "chat.txt", "Ana: Where to?\nAssistant: Porto.\nAna: Good.\n")
    found = read("text", path)
    assert said(found) == [("user", "Where to?"), ("assistant", "Porto."), ("user", "Good.")]
    assert talk(found).messages[0].speaker == "Ana"


def test_prose_becomes_a_note(tmp_path: Path) -> None:
    path = write(tmp_path, "story.txt", "Once upon a time: there was a river.\n\nAnd then it was not.\n")
    found = note(read("text", path))
    assert found.title == "story"
    assert found.sections[0].text.startswith("Once upon a time")


def test_a_folder_of_text_files_accounts_for_each(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "some prose")
    write(tmp_path, "b.txt", "")
    write(tmp_path, "c.txt", b"\x00\x01")
    write(tmp_path, "d.txt", "na\xefve".encode("latin-1"))
    found = read("text", tmp_path)
    assert list(notes(found)) == ["a", "d"]
    assert passed(found) == {"b.txt": "it is empty", "c.txt": "is binary, not text"}


MEMORY = {"id": "m1", "memory": "Likes trains", "user_id": "ana", "created_at": "2026-01-01", "hash": "x"}


@pytest.mark.parametrize("export", [[MEMORY], {"results": [MEMORY]}, {"memories": [MEMORY], "relations": []}, MEMORY])
def test_mem0_memories_are_read_in_every_form(export: object, tmp_path: Path) -> None:
    found = note(read("mem0", write(tmp_path, "export.json", export)))
    assert (found.id, found.title, found.sections[0].text) == ("m1", "ana", "Likes trains")
    assert found.metadata == {"created": "2026-01-01"}


def test_mem0_relations_and_broken_entries_are_accounted_for(tmp_path: Path) -> None:
    relations = [{"source": "ana", "relationship": "lives_in", "destination": "porto"}, {"relation": "x"}]
    export = {"results": [{"id": 1, "memory": ""}, "odd"], "relations": relations}
    found = read("mem0", write(tmp_path, "export.json", export))
    assert note(found).sections[0].text == "ana lives in porto"
    assert note(found).mentions == ("ana", "porto")
    assert sorted(passed(found).values()) == [
        "a relation needs a source, a relationship and a destination",
        "is no object",
        "it has no text",
    ]


MESSAGES = [
    SystemMessage("You are kind"),
    HumanMessage("Where to?", id="h1", additional_kwargs={"at": "2026-01-05T12:00:00Z"}),
    AIMessage([{"type": "text", "text": "Porto"}], id="a1"),
    AIMessage("", tool_calls=[{"name": "book", "args": {}, "id": "t1"}]),
    ToolMessage("booked", tool_call_id="t1", id="t1"),
]
PLAIN = [{"role": "user", "content": "Where to?"}, {"role": "assistant", "content": "Porto"}]


@pytest.mark.parametrize(
    "dump",
    [
        messages_to_dict(MESSAGES),
        [message.model_dump() for message in MESSAGES],
        [dumpd(message) for message in MESSAGES],
        {"values": {"messages": messages_to_dict(MESSAGES)}, "next": []},
        {"messages": [message.model_dump() for message in MESSAGES]},
        [{"channel_values": {"messages": messages_to_dict(MESSAGES)}}],
        [messages_to_dict(MESSAGES)],
    ],
    ids=["to_dict", "model_dump", "dumpd", "state", "object", "checkpoint", "nested"],
)
def test_messages_are_read_in_every_form(dump: object, tmp_path: Path) -> None:
    found = read("messages", write(tmp_path, "dump.json", json.loads(json.dumps(dump))))
    assert said(found) == [("user", "Where to?"), ("assistant", "Porto"), ("tool", "booked")]
    first = talk(found).messages[0]
    assert (first.message_id, first.at) == ("h1", datetime(2026, 1, 5, 12, tzinfo=UTC))
    assert dict(talk(found).skipped) == {"it is a system message": 1, "it only calls a tool": 1}


def test_threads_keep_their_names_and_stay_apart(tmp_path: Path) -> None:
    threads = [{"thread_id": name, "values": {"messages": PLAIN}} for name in ("t1", "t2")]
    state = {"config": {"configurable": {"thread_id": "t3"}}, "values": {"messages": PLAIN}}
    path = write(tmp_path, "threads.json", {"threads": [*threads, state]})
    assert [(each.thread, each.session) for each in talks(read("messages", path))] == [
        ("t1", "t1"),
        ("t2", "t2"),
        ("t3", "t3"),
    ]


def test_lines_of_json_are_a_conversation(tmp_path: Path) -> None:
    lines = "\n".join([*map(json.dumps, PLAIN), "{broken", "7"])
    found = read("messages", write(tmp_path, "dump.jsonl", lines))
    assert said(found) == [("user", "Where to?"), ("assistant", "Porto")]
    assert talk(found).skipped == {"it is no message that can be read": 2}


def test_a_long_dump_comes_in_parts_of_one_session(tmp_path: Path) -> None:
    many = [{"role": "user", "content": f"message {n}"} for n in range(2_500)]
    found = talks(read("messages", write(tmp_path, "dump.json", many)))
    assert [len(each.messages) for each in found] == [1_000, 1_000, 500]
    assert len({each.id for each in found}) == 3
    assert len({each.session for each in found}) == 1
    assert [each.part for each in found] == [1, 2, 3]


def test_a_growing_dump_keeps_its_identity_and_two_dumps_of_one_name_do_not_share_it(tmp_path: Path) -> None:
    first = talk(read("messages", write(tmp_path, "a/dump.json", PLAIN[:1])))
    grown = talk(read("messages", write(tmp_path, "b/dump.json", PLAIN)))
    other = talk(read("messages", write(tmp_path, "c/dump.json", PLAIN[1:])))
    assert first.id == grown.id != other.id


@pytest.mark.parametrize("value", [{}, {"a": 1}, [], [1, None, "x"], [[]], {"messages": []}, "text", 7])
def test_anything_else_is_accounted_for(value: object, tmp_path: Path) -> None:
    found = read("messages", write(tmp_path, "dump.json", json.dumps(value)))
    assert all(not each.messages for each in talks(found))
    expected = len(value) if isinstance(value, list) and [] not in value else 0
    assert sum(sum(each.skipped.values()) for each in talks(found)) >= expected


class ListLoader(BaseLoader):
    """Loads what it was given; an exception among it is raised in its place."""

    def __init__(self, *documents: object) -> None:
        self.documents = documents

    def lazy_load(self) -> Iterator[Document]:
        for each in self.documents:
            if isinstance(each, Exception):
                raise each
            yield each  # type: ignore[misc]  # the point is what is no document


class PatientLoader:
    """Goes on after a document that fails, as a loader that is its own iterator can."""

    def __init__(self, *documents: object) -> None:
        self.waiting = list(documents)

    def load(self) -> "PatientLoader":
        return self

    def __iter__(self) -> "PatientLoader":
        return self

    def __next__(self) -> object:
        if not self.waiting:
            raise StopIteration
        each = self.waiting.pop(0)
        if isinstance(each, Exception):
            raise each
        return each


def loaded(loader: Any) -> list[Read]:
    return list(read_documents(loader))


def test_documents_of_any_loader_become_notes() -> None:
    about = {"source": "notes/plan.md", "created": datetime(2026, 1, 1), "odd": {1, 2}, "n": 3}
    found = note(loaded(ListLoader(Document("# A\nx\n# B\ny", metadata=about))))
    assert [(part.path, part.text) for part in found.sections] == [(("A",), "x"), (("B",), "y")]
    assert found.title == "plan"
    assert json.loads(json.dumps(found.metadata))["created"] == "2026-01-01T00:00:00"


def test_pages_of_one_source_stay_apart() -> None:
    pages = [Document(f"page {n}", metadata={"source": "a.pdf", "page": n}) for n in range(3)]
    parts = [Document(f"part {n}", metadata={"source": "b.txt"}) for n in range(3)]
    found = [each for each in loaded(ListLoader(*pages, *parts)) if isinstance(each, Note)]
    assert len({each.id for each in found}) == 6
    assert [each.sections[0].path for each in found] == [
        ("page 0",),
        ("page 1",),
        ("page 2",),
        (),
        ("text (2)",),
        ("text (3)",),
    ]


def test_a_loader_that_fails_keeps_what_came_before() -> None:
    found = loaded(ListLoader(Document("one"), ValueError("bad note\nhere"), Document("two")))
    assert len(notes(found)) == 1
    assert passed(found) == {"ListLoader document 2": "the loader raised ValueError: bad note here"}


def test_a_loader_that_goes_on_loses_only_the_bad_document() -> None:
    found = loaded(PatientLoader(Document("one"), KeyError("x"), Document("two"), None, Document("")))
    assert len(notes(found)) == 2
    assert [each.outcome for each in found if isinstance(each, Passed)] == ["failed", "failed", "skipped"]


def test_a_loader_that_only_fails_is_left_alone_in_the_end() -> None:
    assert len(loaded(PatientLoader(*[ValueError(str(n)) for n in range(500)]))) == 100


def test_what_is_no_loader_is_refused() -> None:
    with pytest.raises(InvalidInput, match="int is no document loader"):
        loaded(7)
    with pytest.raises(InvalidInput, match=r"ListLoader is a class. Make a loader of it first: ListLoader\(…\)"):
        loaded(ListLoader)
