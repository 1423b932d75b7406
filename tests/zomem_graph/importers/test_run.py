"""Importing into a memory: once, completely accounted for, and never against the user's will."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from zomem_graph import Memory, Scope
from zomem_graph.importers import ImportReport
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.nodes.rules.erasing import turn_marks
from zomem_graph.stores.errors import Closed, InvalidInput
from zomem_graph.testing import FixedClock

from .kit import chatgpt, node, write

ANN = Scope(persona="ann")
LONG = {f"N{n}": "\n".join(f"## {k}\nx" for k in range(60)) for n in range(7)}
PASSWORD = "password: hunter2-Zebra!9"


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    options = MemoryOptions(write=WriteOptions(background=False))
    with Memory.open(home, embeddings="none", clock=clock, options=options) as opened:
        yield opened


def texts(memory: Memory, question: str, **named: Any) -> list[str]:
    return [hit.text for hit in memory.search(question, **named)]


def adds_up(report: ImportReport) -> ImportReport:
    """Hold that every item and every part of it has exactly one outcome."""
    outcomes = ("stored", "changed", "unchanged", "forgotten", "skipped", "failed")
    assert report.found == len(report.items) == sum(getattr(report, name) for name in outcomes)
    for item in report.items:
        assert item.found == item.new + item.known + item.forgotten + sum(item.passed.values()), item
        assert item.reason or item.outcome not in ("skipped", "failed")
    return report


def vault(folder: Path, **notes: str) -> Path:
    for name, text in notes.items():
        write(folder, f"Vault/{name}.md", text)
    return folder / "Vault"


def chats(folder: Path, *conversations: object) -> Path:
    return write(folder, "conversations.json", list(conversations))


def test_turns_keep_who_said_them_when_and_where_from(memory: Memory, tmp_path: Path) -> None:
    nodes = {
        "a": node("Where is the office?", create_time=1_600_000_000.0),
        "b": node("In Lyon.", "a", role="assistant", create_time=1_600_000_060.0),
    }
    report = adds_up(memory.import_from("chatgpt", chats(tmp_path, chatgpt(nodes)), scope=ANN))
    assert (report.stored, report.turns) == (1, 2)
    with memory.stores.read() as unit:
        first, second = unit.turns.tail("ann", "chatgpt:c1", 9)
    assert (first.role, first.speaker, first.trust) == ("user", "user", "import")
    assert second.at == datetime.fromtimestamp(1_600_000_060, UTC)
    assert second.metadata == {"source": "import:chatgpt:c1", "title": "Trip"}
    assert texts(memory, "where is the office?", scope=ANN)
    assert texts(memory, "where is the office?", scope=Scope(persona="bob")) == []


def test_a_piece_of_a_note_is_a_fact(memory: Memory, tmp_path: Path) -> None:
    path = vault(tmp_path, Lyon="---\ntags: [city]\n---\n# Lyon\nOn two rivers\n## Food\nQuenelles, see [[Ana]]")
    report = adds_up(memory.import_from("obsidian", path))
    assert (report.stored, report.facts) == (1, 3)
    (food,) = memory.lookup("Lyon", "Food")
    assert (food.value, food.category, food.tier, food.trust) == (
        "Quenelles, see [[Ana]]",
        "reference",
        "stable",
        "import",
    )
    assert food.source == "import:obsidian:Vault/Lyon.md"
    assert food.metadata["links"] == ["Ana"]
    assert food.metadata["tags"] == ["city"]
    with memory.stores.read() as unit:
        mentioned = {name for names in unit.items.entities_of([1, 2, 3]).values() for name in names}
    assert {"ana", "city", "lyon"} <= mentioned
    assert texts(memory, "quenelles")[0] == "Lyon Food: Quenelles, see [[Ana]]"
    assert texts(memory, "rivers")[0] == "Lyon: On two rivers"


def test_a_second_import_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    path = vault(tmp_path, A="one\n## Part\ntwo", B="three", C="")
    memory.import_from("obsidian", path)
    before = memory.stats()
    report = adds_up(memory.import_from("markdown", path))
    assert (report.found, report.unchanged, report.skipped, report.facts) == (3, 2, 1, 0)
    assert memory.stats() == before


def test_an_edited_note_supersedes_one_fact(memory: Memory, tmp_path: Path, clock: FixedClock) -> None:
    memory.import_from("obsidian", vault(tmp_path, A="## One\nthe port is 8080\n## Two\nblue"))
    clock.advance(days=1)
    report = adds_up(
        memory.import_from("obsidian", vault(tmp_path, A="## One\nthe port used to be 9090\n## Two\nblue"))
    )
    assert (report.changed, report.facts, report.superseded) == (1, 1, 1)
    (fact,) = memory.lookup("A", "One")
    assert fact.value == "the port used to be 9090"
    with memory.stores.read() as unit:
        old, new = unit.facts.history("shared", "A", "One")
        assert (old.state, old.superseded_by) == ("superseded", new.id)
        assert [link.relation for link in unit.links.touching([old.id])] == ["supersedes"]
    assert texts(memory, "port 8080") == ["A One: the port used to be 9090"]


def test_a_section_that_was_taken_out_leaves_recall(memory: Memory, tmp_path: Path) -> None:
    memory.import_from("obsidian", vault(tmp_path, A="## One\nred\n## Two\nblue"))
    report = adds_up(memory.import_from("obsidian", vault(tmp_path, A="## One\nred")))
    assert (report.changed, report.facts, report.superseded) == (1, 0, 1)
    assert memory.lookup("A", "Two") == []
    report = memory.import_from("obsidian", vault(tmp_path, A="## One\nred\n## Two\nblue"))
    assert report.facts == 1
    assert len(memory.lookup("A", "Two")) == 1


def test_a_note_that_was_emptied_leaves_recall(memory: Memory, tmp_path: Path) -> None:
    memory.import_from("obsidian", vault(tmp_path, A="red", B=""))
    report = adds_up(memory.import_from("obsidian", vault(tmp_path, A="")))
    assert (report.changed, report.skipped, report.superseded) == (1, 1, 1)
    assert texts(memory, "red") == []
    assert adds_up(memory.import_from("obsidian", tmp_path / "Vault")).skipped == 2
    assert memory.import_from("obsidian", vault(tmp_path, A="red")).facts == 1


def test_a_changed_branch_supersedes_the_old_answer(memory: Memory, tmp_path: Path) -> None:
    nodes = {"a": node("Which city?"), "b": node("Lyon", "a", role="assistant")}
    memory.import_from("chatgpt", chats(tmp_path, chatgpt(nodes, current_node="b")))
    nodes["c"] = node("Porto", "a", role="assistant")
    nodes["d"] = node("Thanks", "c")
    report = adds_up(memory.import_from("chatgpt", chats(tmp_path, chatgpt(nodes, current_node="d"))))
    assert (report.turns, report.superseded) == (2, 1)
    assert texts(memory, "Lyon") == []
    assert texts(memory, "Porto") == ["assistant: Porto"]
    back = memory.import_from("chatgpt", chats(tmp_path, chatgpt(nodes, current_node="b")))
    assert (back.turns, back.superseded) == (1, 2)
    assert texts(memory, "Lyon") == ["assistant: Lyon"]


def test_a_conversation_that_grew_adds_only_the_rest(memory: Memory, tmp_path: Path) -> None:
    talk = [{"role": role, "content": text} for role, text in [("user", "next"), ("assistant", "Done.")] * 3]
    assert memory.import_from("messages", write(tmp_path, "dump.json", talk[:2])).turns == 2
    assert memory.import_from("messages", write(tmp_path, "dump.json", talk)).turns == 4
    older = adds_up(memory.import_from("messages", write(tmp_path, "dump.json", talk[:3])))
    assert (older.unchanged, older.superseded) == (1, 0)
    assert memory.import_from("messages", write(tmp_path, "dump.json", talk)).turns == 0


def test_two_versions_of_one_conversation_are_laid_over_each_other(memory: Memory, tmp_path: Path) -> None:
    nodes = {"a": node("Where to?"), "b": node("Porto", "a", role="assistant")}
    path = chats(tmp_path, chatgpt({"a": nodes["a"]}), chatgpt(nodes), chatgpt(nodes))
    report = adds_up(memory.import_from("chatgpt", path))
    assert (report.stored, report.skipped, report.turns) == (2, 1, 2)
    again = adds_up(memory.import_from("chatgpt", path))
    assert (again.unchanged, again.skipped, again.turns, again.superseded) == (2, 1, 0, 0)


def test_two_memories_with_one_id_are_both_kept(memory: Memory, tmp_path: Path) -> None:
    export = [{"id": 0, "memory": text, "user_id": "ana"} for text in ("Likes trains", "Likes tea")]
    path = write(tmp_path, "m.json", export)
    assert adds_up(memory.import_from("mem0", path)).facts == 2
    again = adds_up(memory.import_from("mem0", path))
    assert (again.facts, again.superseded) == (0, 0)


def test_a_thread_that_was_observed_live_is_not_doubled(memory: Memory, tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "Where to?"}, {"role": "assistant", "content": "Porto"}]
    memory.observe(talk[:1], scope=Scope(thread="t1"))
    path = write(tmp_path, "dump.json", {"thread_id": "t1", "values": {"messages": talk}})
    report = adds_up(memory.import_from("messages", path))
    assert (report.turns, report.items[0].known) == (1, 1)
    assert memory.import_from("messages", path).turns == 0


def test_what_was_deleted_stays_deleted_until_it_is_edited(memory: Memory, tmp_path: Path) -> None:
    memory.import_from("obsidian", vault(tmp_path, A="## One\nred\n## Two\nblue"))
    memory.delete(memory.lookup("A", "One")[0].id)
    memory.import_from("obsidian", vault(tmp_path, A="## One\nred\n## Two\nbluer"))
    assert memory.lookup("A", "One") == []
    memory.import_from("obsidian", vault(tmp_path, A="## One\nredder\n## Two\nbluer"))
    assert [fact.value for fact in memory.lookup("A", "One")] == ["redder"]


def test_what_was_forgotten_is_not_brought_back(memory: Memory, home: Path, tmp_path: Path) -> None:
    talk = chats(tmp_path, chatgpt({"a": node("my number is 0151 1234567"), "b": node("hello there", "a")}))
    notes = vault(tmp_path, Phone="## Mine\ncall 0151 1234567\n## Work\nunknown", Other="no phone")
    memory.import_from("chatgpt", talk)
    memory.import_from("obsidian", notes)
    memory.forget(matching="0151 1234567")
    for _ in range(2):
        assert adds_up(memory.import_from("chatgpt", talk)).turns == 0
        assert adds_up(memory.import_from("obsidian", notes)).facts == 0
    moved = write(tmp_path, "Copy/Phone.md", "## Mine\ncall 0151 1234567\n## Work\nunknown\n## New\nyes")
    again = adds_up(memory.import_from("obsidian", moved.parent))
    assert not [text for text in texts(memory, "number call 0151 1234567") if "0151" in text]
    assert (again.items[0].new, again.items[0].forgotten) == (2, 1)
    memory.close()
    assert all(b"1234567" not in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_a_conversation_that_was_erased_as_a_whole_stays_so(
    memory: Memory, tmp_path: Path, clock: FixedClock
) -> None:
    path = chats(tmp_path, chatgpt({"a": node("my number is 0151 1234567")}))
    with memory.stores.write() as unit:
        marks = turn_marks("my number is 0151 1234567", session="chatgpt:c1")
        unit.tombstones.bury("shared", dict.fromkeys(marks), now=clock())
    report = adds_up(memory.import_from("chatgpt", path))
    assert (report.forgotten, report.turns, report.items[0].forgotten) == (1, 0, 1)


def test_a_user_s_own_fact_is_never_replaced_by_a_note(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Lyon", "Food", "I do not eat quenelles")
    memory.import_from("obsidian", vault(tmp_path, Lyon="## Food\nQuenelles"))
    assert [fact.value for fact in memory.lookup("Lyon", "Food")] == ["I do not eat quenelles"]
    assert [fact.value for fact in memory.lookup("Vault/Lyon", "Food")] == ["Quenelles"]


def test_notes_of_one_name_in_two_vaults_live_side_by_side(memory: Memory, tmp_path: Path) -> None:
    first, second = write(tmp_path, "One/Plan.md", "go north"), write(tmp_path, "Two/Plan.md", "go south")
    for _ in range(2):
        memory.import_from("obsidian", first.parent)
        memory.import_from("obsidian", second.parent)
    assert memory.stats()["superseded"] == 0
    assert sorted(texts(memory, "go north south")) == ["Plan: go north", "Two/Plan: go south"]


@pytest.mark.parametrize("source", ["markdown", "obsidian", "text"])
def test_folders_of_one_name_in_two_places_are_two_sources(memory: Memory, tmp_path: Path, source: str) -> None:
    ending = "txt" if source == "text" else "md"
    apple = write(tmp_path, f"pa/docs/README.{ending}", "apple runs on host alpha")
    banana = write(tmp_path, f"pb/docs/README.{ending}", "banana runs on host beta")
    for _ in range(2):
        for path in (apple.parent, banana.parent, apple, banana):
            memory.import_from(source, path)
    assert memory.stats()["superseded"] == 0
    assert [len([text for text in texts(memory, "runs on host") if word in text]) for word in ("alpha", "beta")] == [
        1,
        1,
    ]


def test_a_vault_that_was_moved_is_known_again(memory: Memory, tmp_path: Path) -> None:
    path = vault(tmp_path, A="one\n## Part\ntwo", B="three")
    memory.import_from("obsidian", path)
    (tmp_path / "elsewhere").mkdir()
    report = adds_up(memory.import_from("obsidian", path.rename(tmp_path / "elsewhere" / path.name)))
    assert (report.unchanged, report.facts) == (2, 0)


def test_a_vault_that_was_renamed_is_known_again(memory: Memory, tmp_path: Path) -> None:
    path = vault(tmp_path, A="one\n## Part\ntwo", B="three")
    memory.import_from("obsidian", path)
    moved = path.rename(tmp_path / "Moved")
    report = adds_up(memory.import_from("obsidian", moved))
    assert (report.unchanged, report.facts) == (2, 0)
    write(moved, "B.md", "four")
    assert adds_up(memory.import_from("obsidian", moved)).superseded == 1


def test_secrets_are_taken_out_and_counted(memory: Memory, home: Path, tmp_path: Path) -> None:
    nodes = {"a": node(f"my {PASSWORD}", metadata={"model_slug": "gpt-4"})}
    front = "---\napi_key: hunter2-Zebra!9\ntags: [x]\n---"
    body = f"{front}\n## Password\nhunter2-Zebra!9\n## Login\n{PASSWORD}\nok"
    first = adds_up(memory.import_from("chatgpt", chats(tmp_path, chatgpt(nodes))))
    second = adds_up(memory.import_from("obsidian", vault(tmp_path, Secret=body)))
    assert first.redacted == 1
    assert second.redacted + sum(second.passed.values()) >= 3
    memory.close()
    assert all(b"hunter2" not in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_a_secret_that_only_a_title_gives_away_is_taken_out(memory: Memory, home: Path, tmp_path: Path) -> None:
    path = vault(tmp_path, **{"WiFi password": "hunter2-Zebra!9", "api_key=hunter2-Zebra!9": "text"})
    report = adds_up(memory.import_from("obsidian", path))
    assert (report.failed, report.redacted > 1) == (0, True)
    memory.close()
    assert all(b"hunter2" not in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_what_memory_had_recalled_is_not_taken_for_something_said(memory: Memory, tmp_path: Path) -> None:
    memory.remember("office", "city", "Lyon")
    block = memory.recall("where is the office city?").text
    assert "Lyon" in block
    nodes = {"a": node(f"{block}\nWhat else?"), "b": node(block, "a")}
    report = adds_up(memory.import_from("chatgpt", chats(tmp_path, chatgpt(nodes))))
    assert report.turns == 1
    assert texts(memory, "Lyon", kinds=["turn"]) == []


def test_a_dry_run_shows_what_it_would_do_and_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    path = vault(tmp_path, **{f"N{n}": f"note number {n}" for n in range(30)})
    before = memory.stats()
    report = adds_up(memory.import_from("obsidian", path, dry_run=True))
    assert (report.dry_run, report.stored, report.facts, len(report.preview)) == (True, 30, 30, 20)
    assert report.preview[0] == {"of": "N0 text", "text": "note number 0"}
    assert memory.stats() == before
    assert memory.import_from("obsidian", path).facts == 30


def test_an_item_the_store_refuses_does_not_take_the_others_with_it(memory: Memory, tmp_path: Path) -> None:
    with memory.stores.write() as unit:
        unit._connection.exec_driver_sql(
            "create trigger refuse before insert on facts when new.value = 'poison' "
            "begin select raise(abort, 'no poison here'); end"
        )
    report = adds_up(memory.import_from("obsidian", vault(tmp_path, A="fine", B="poison", C="also fine")))
    assert (report.stored, report.failed) == (2, 1)
    failed = next(item for item in report.items if item.outcome == "failed")
    assert failed.title == "B"
    assert "no poison here" in failed.reason
    assert len(texts(memory, "fine")) == 2


def test_an_import_that_was_cut_short_goes_on_where_it_was(memory: Memory, tmp_path: Path) -> None:
    path = vault(tmp_path, **LONG)

    def stop(items: int, _done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.import_from("obsidian", path, progress=stop)
    assert memory.stats()["facts"] == 300
    report = adds_up(memory.import_from("obsidian", path))
    assert (report.unchanged, report.stored, report.facts) == (5, 2, 120)


def test_progress_tells_items_and_how_far_it_is(memory: Memory, tmp_path: Path) -> None:
    told: list[tuple[int, float]] = []
    path = vault(tmp_path, **LONG)
    memory.import_from("obsidian", path, progress=lambda items, done: told.append((items, done)))
    assert [items for items, _done in told] == [5, 7]
    assert sorted(done for _items, done in told) == [done for _items, done in told]
    assert told[-1][1] == 1.0


def test_a_message_that_is_too_long_for_one_turn_is_stored_in_parts(memory: Memory, tmp_path: Path) -> None:
    memory.options = replace(memory.options, write=replace(memory.options.write, longest_text=1_000))
    path = chats(tmp_path, chatgpt({"a": node("word " * 500, id="m1")}))
    assert adds_up(memory.import_from("chatgpt", path)).turns == 3
    assert memory.import_from("chatgpt", path).turns == 0


def test_odd_characters_come_through(memory: Memory, tmp_path: Path) -> None:
    odd = "nul \x00 half \ud83d and 部署方案"
    path = write(tmp_path, "conversations.json", json.dumps([chatgpt({"a": node(odd)})]))
    assert adds_up(memory.import_from("chatgpt", path)).turns == 1
    assert len(texts(memory, "部署")) == 1
    assert memory.import_from("chatgpt", path).turns == 0


class Loader(BaseLoader):
    """Two documents, the second of which is none."""

    def lazy_load(self) -> Iterator[Document]:
        yield Document("Lyon lies on two rivers", metadata={"source": "lyon.txt"})
        raise ValueError("the rest is damaged")


def test_documents_of_a_loader_are_imported_once(memory: Memory) -> None:
    first = adds_up(memory.import_documents(Loader(), scope=ANN))
    assert (first.source, first.stored, first.failed, first.facts) == ("documents", 1, 1, 1)
    assert adds_up(memory.import_documents(Loader(), scope=ANN)).facts == 0
    assert texts(memory, "rivers", scope=ANN) == ["lyon: Lyon lies on two rivers"]


def test_mem0_memories_are_superseded_by_their_id(memory: Memory, tmp_path: Path) -> None:
    said = {"id": "m1", "memory": "Lives in Lyon", "user_id": "ana"}
    memory.import_from("mem0", write(tmp_path, "m.json", [said]))
    report = memory.import_from("mem0", write(tmp_path, "m.json", [{**said, "memory": "Lives in Porto"}]))
    assert (report.facts, report.superseded) == (1, 1)
    assert texts(memory, "lives in") == ["Lives in Porto"]


@pytest.mark.parametrize(
    ("word", "cure"), [("time_zone", r"scope=Scope\(time_zone=…\)"), ("dryrun", "Known are scope, dry_run, progress")]
)
def test_a_keyword_that_is_none_is_told_with_the_cure(memory: Memory, tmp_path: Path, word: str, cure: str) -> None:
    words: Any = {word: "Europe/Paris"}
    with pytest.raises(InvalidInput, match=f"An import has no argument {word}. .*{cure}"):
        memory.import_from("obsidian", vault(tmp_path, A="red"), **words)
    with pytest.raises(InvalidInput, match=cure):
        memory.import_documents(Loader(), **words)
    assert memory.stats()["facts"] == 0


def test_a_closed_memory_imports_nothing(memory: Memory, tmp_path: Path) -> None:
    memory.close()
    with pytest.raises(Closed):
        memory.import_from("obsidian", tmp_path)
    with pytest.raises(Closed):
        memory.import_documents(Loader())
