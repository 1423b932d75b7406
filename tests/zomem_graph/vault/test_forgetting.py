"""What is forgotten leaves the files of a vault, and comes back out of none of them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.zomem_graph.vault.kit import Ground, json_lines, said
from zomem_graph.vault import Vault

WORDS = "the aubergine recipe"


def _everywhere(ground: Ground) -> None:
    """A vault that says something in every file it has, with an archive of that."""
    with ground.open() as vault:
        vault.ingest([said("Ines", "keeps", WORDS), said("gateway", "port", "8443")])
        ground.session(
            "2026-01-05-090000",
            ("user", f"My sister Ines lives in Coimbra and keeps {WORDS}."),
            ("user", "The port of the relay is 2626."),
        )
        with ground.facts.open("a", encoding="utf-8") as file:
            file.write(f'{{"subject": "Ines", "predicate": "keeps", "object": "{WORDS}", "importance": "x"}}\n')
        vault.consolidate()
        vault.ingest([said("Bo", "likes", "rye")])
        vault.consolidate()


def _holding(ground: Ground, text: str) -> list[str]:
    """Return the files of the vault that hold a text, also those within archives."""
    found = [path.name for path in ground.data.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
    for archive in (ground.data / "backups").glob("*.tar.gz"):
        opened = ground.root / "opened" / archive.name
        shutil.unpack_archive(archive, opened, filter="data")
        found += [
            f"{archive.name}!{path.name}" for path in opened.rglob("*") if path.is_file() and text in path.read_text()
        ]
    return found


def test_forgetting_cuts_the_words_out_of_every_file_of_the_vault(ground: Ground) -> None:
    _everywhere(ground)
    assert len(_holding(ground, WORDS)) > 4
    with ground.open() as vault:
        report = vault.memory.forget(entity="Ines")
        assert _holding(ground, WORDS) == []
        assert _holding(ground, "Ines") == []
        assert json_lines(ground.data / "sessions/2026-01-05-090000.jsonl")[0]["content"].endswith("2626.")
        assert vault.ingest()["turns"] == 0
        vault.consolidate()

    assert report.clean, report
    assert _holding(ground, "Ines") == []
    assert {line["subject"] for line in json_lines(ground.facts)} >= {"gateway", "Bo"}


def test_what_people_wrote_around_our_block_stays_and_is_named(ground: Ground) -> None:
    page = ground.data / "MEMORY.md"
    _everywhere(ground)
    page.write_text(f"Ask Ines for {WORDS}\n" + page.read_text("utf-8"), "utf-8")
    with ground.open() as vault:
        report = vault.memory.forget(entity="Ines")

    assert page.read_text("utf-8").startswith("Ask Ines")
    assert WORDS not in page.read_text("utf-8").split("zomem:begin")[1]
    assert [trace.place for trace in report.traces] == [str(page)]
    assert not report.clean


def test_neither_a_new_home_nor_an_old_copy_of_the_files_brings_it_back(ground: Ground) -> None:
    _everywhere(ground)
    old = ground.root / "old-facts.jsonl"
    shutil.copy(ground.facts, old)
    with ground.open() as vault:
        vault.memory.forget(entity="Ines")
    shutil.copy(old, ground.facts)
    with ground.open(home="second") as vault:
        report = vault.rebuild()
        again = vault.ingest([said("Ines", "keeps", WORDS)])
        found = [hit.text for hit in vault.memory.search("what does Ines keep?")]

    assert (again["facts"], again["forgotten"]) == (0, 1)
    assert not [text for text in found if WORDS in text]
    assert any("forgotten" in note for note in report["notes"])
    assert _holding(ground, WORDS) == []


def test_a_home_that_forgot_things_itself_keeps_both_when_it_takes_over_files(ground: Ground) -> None:
    _everywhere(ground)
    old = ground.root / "old-facts.jsonl"
    shutil.copy(ground.facts, old)
    with ground.open() as vault:
        vault.memory.forget(entity="Ines")
    with Vault.open(ground.root / "other", home=ground.root / "second", clock=ground.clock, embeddings="none") as own:
        own.ingest([said("Rui", "keeps", "the quince recipe")])
        own.memory.forget(entity="Rui")
    shutil.copy(old, ground.facts)
    with ground.open(home="second", embeddings="none") as vault:
        vault.rebuild(replace=True)
        report = vault.ingest([said("Ines", "keeps", WORDS), said("Rui", "keeps", "the quince recipe")])

    assert (report["facts"], report["forgotten"]) == (0, 2)
    assert WORDS not in ground.facts.read_text("utf-8")


def test_an_archive_from_elsewhere_brings_nothing_forgotten_back(ground: Ground, tmp_path: Path) -> None:
    _everywhere(ground)
    (archive, *_) = sorted((ground.data / "backups").glob("*.tar.gz"))
    shutil.copy(archive, tmp_path / "copy.tar.gz")
    with ground.open() as vault:
        vault.memory.forget(entity="Ines")
        vault.restore(backup=tmp_path / "copy.tar.gz")
        found = [hit.text for hit in vault.memory.search("what does Ines keep?")]

    assert not [text for text in found if WORDS in text]
    assert WORDS not in ground.facts.read_text("utf-8")


def test_what_is_said_again_after_it_was_forgotten_is_kept_by_a_rebuild(ground: Ground) -> None:
    _everywhere(ground)
    with ground.open() as vault:
        vault.memory.forget(entity="Ines")
        ground.clock.advance(days=1)
        with pytest.warns(UserWarning, match="stored again because it was asked for"):
            vault.memory.remember("Ines", "keeps", WORDS)
        assert vault.ingest([said("Ines", "keeps", WORDS)])["forgotten"] == 0
        vault.consolidate()
    with ground.open(home="second") as vault:
        vault.rebuild()

    assert WORDS in ground.facts.read_text("utf-8")


def test_a_forgotten_line_written_by_hand_is_told(ground: Ground) -> None:
    _everywhere(ground)
    with ground.open() as vault:
        vault.memory.forget(entity="Ines")
        with ground.facts.open("a", encoding="utf-8") as file:
            file.write(json.dumps(said("Ines", "keeps", WORDS)) + "\n")
        report = vault.consolidate()

    assert any("was forgotten" in note for note in report["notes"])
    assert WORDS not in ground.facts.read_text("utf-8")


def test_a_vault_whose_disk_is_away_is_named_by_the_proof(ground: Ground) -> None:
    _everywhere(ground)
    away = ground.root / "away"
    with ground.open() as vault:
        ground.data.rename(away)
        report = vault.memory.forget(entity="Ines")
        away.rename(ground.data)
        vault.consolidate()

    assert any("is not there and was not looked into" in note for note in report.notes)
    assert WORDS not in ground.facts.read_text("utf-8")


@pytest.mark.parametrize("verb", ["forget", "delete", "provenance"])
def test_ids_are_taken_as_the_files_show_them(ground: Ground, verb: str) -> None:
    with ground.open() as vault:
        (shown,) = vault.ingest([said("gateway", "port", "8443")])["fact_ids"]
        assert shown == json_lines(ground.facts)[0]["id"]
        assert vault.recall("gateway port", probe=True).plain()[0]["id"] == shown
        if verb == "provenance":
            assert vault.memory.provenance(shown).fact.value == "8443"
            return
        if verb == "forget":
            vault.memory.forget(id=shown)
        else:
            vault.memory.delete(shown)
        assert vault.recall("gateway port").hits == ()


def _copied_back(ground: Ground, old: Path, vault: Vault) -> list[str]:
    shutil.copytree(old / "sessions", ground.data / "sessions", dirs_exist_ok=True)
    return [str(note) for note in vault.consolidate()["notes"]]


def _ingested_again(ground: Ground, old: Path, vault: Vault) -> list[str]:
    notes: list[str] = []
    for log in sorted((old / "sessions").glob("*.jsonl")):
        notes += vault.ingest(log)["notes"]
    vault.consolidate()
    return notes


def _restored(ground: Ground, old: Path, vault: Vault) -> list[str]:
    (archive,) = [path for path in (old / "backups").glob("*.tar.gz") if path.name.endswith("-2.tar.gz")]
    return list(vault.restore(backup=archive)["notes"])


def _rebuilt(ground: Ground, old: Path, vault: Vault) -> list[str]:
    for name in ("sessions", "knowledge-graph", "daily"):
        kept = (ground.data / "knowledge-graph/forgotten.jsonl").read_bytes()
        shutil.copytree(old / name, ground.data / name, dirs_exist_ok=True)
        (ground.data / "knowledge-graph/forgotten.jsonl").write_bytes(kept)
    shutil.copy(old / "MEMORY.md", ground.data / "MEMORY.md")
    return list(vault.rebuild(replace=True)["notes"])


@pytest.mark.parametrize("way", [_copied_back, _ingested_again, _restored, _rebuilt])
def test_words_come_back_with_no_copy_that_is_older_than_the_forgetting(
    ground: Ground, way: Callable[[Ground, Path, Vault], list[str]]
) -> None:
    with ground.open() as vault:
        log = ground.root / "notes.jsonl"
        log.write_text(f'{{"role": "user", "content": "Ines is well"}}\n{{"role": "user", "content": "{WORDS} 1"}}\n')
        vault.ingest(log)
    _everywhere(ground)
    old = ground.root / "old"
    shutil.copytree(ground.data, old)
    (ground.data / "sessions").joinpath("2026-01-06-090000.jsonl").write_text(
        '{"role": "user", "content": "Hi all"}\n'
    )
    with ground.open() as vault:
        vault.memory.forget(entity="Ines")
        vault.memory.forget(matching=WORDS)
        assert _holding(ground, WORDS) == _holding(ground, "Ines") == []
        ground.clock.advance(days=1)
        vault.ingest()
        notes = way(ground, old, vault)
        assert _holding(ground, WORDS) == _holding(ground, "Ines") == []
        again = vault.memory.forget(matching=WORDS)

    assert any("forgotten" in note for note in notes)
    assert again.clean
    assert not again.listed
    assert "relay" in (ground.data / "sessions/2026-01-05-090000.jsonl").read_text("utf-8")


def test_a_message_said_again_later_is_no_copy(ground: Ground) -> None:
    _everywhere(ground)
    with ground.open() as vault:
        vault.memory.forget(matching="relay")
        ground.clock.advance(days=2)
        later = f"{ground.clock():%Y-%m-%dT%H:%M:%SZ}"
        log = ground.session("again", ("user", "The port of the relay is 2626."), at=later)
        before = log.read_bytes()
        report = vault.ingest()

    assert report["turns"] == 1
    assert log.read_bytes() == before


def test_a_message_of_few_words_is_blanked_in_its_own_log_only(ground: Ground) -> None:
    with ground.open() as vault:
        one, other = (
            ground.session(f"2026-01-0{day}-090000", ("user", "Hi Bo"), ("user", "Hi Al")) for day in (3, 4)
        )
        vault.ingest()
        with vault.memory.stores.read() as unit:
            turns = unit.erasure.everything_of("shared").turns.values()
        (mine,) = [turn.id for turn in turns if turn.content == "Hi Al" and "01-03" in turn.session]
        report = vault.memory.forget(id=mine)

    assert report.clean
    assert "Hi Al" not in one.read_text("utf-8")
    assert "Hi Bo" in one.read_text("utf-8")
    assert "Hi Al" in other.read_text("utf-8")
