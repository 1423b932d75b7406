"""Archives: a damaged one is known as such, and one that does not fit changes nothing."""

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.zomem_graph.vault.kit import Ground, json_lines, said
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.vault_files import archived, pack
from zomem_graph.vault.backup import is_whole


def _archive(ground: Ground) -> Path:
    with ground.open() as vault:
        vault.ingest([said(f"host {number}", "port", f"{number}") for number in range(20)])
        vault.consolidate()
    (archive,) = (ground.data / "backups").iterdir()
    return archive


def test_a_flipped_byte_anywhere_is_seen_or_changes_no_file(ground: Ground, tmp_path: Path) -> None:
    archive = _archive(ground)
    whole, held = archive.read_bytes(), [(member.name, data) for member, data in archived(archive)]
    copy, chance = tmp_path / "copy.tar.gz", random.Random(7)
    places = [*range(40), *range(len(whole) - 12, len(whole)), *chance.sample(range(len(whole)), 300)]
    for place in places:
        data = bytearray(whole)
        data[place] ^= chance.randrange(1, 256)
        copy.write_bytes(data)
        if is_whole(copy):  # time and system in the head, bits that fill up the last byte
            assert [(member.name, data) for member, data in archived(copy)] == held, place
    for cut in (0, 1, 10, len(whole) // 2, len(whole) - 1):
        copy.write_bytes(whole[:cut])
        assert not is_whole(copy), cut


def _damage(path: Path) -> bytes:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    return bytes(data)


def test_a_night_leaves_a_damaged_archive_and_makes_a_new_one(ground: Ground) -> None:
    archive = _archive(ground)
    damaged = _damage(archive)
    with ground.open() as vault:
        first = vault.consolidate()
        vault.ingest([said("relay", "port", "1")])
        second = vault.consolidate()

    names = [first["backup"], second["backup"]]
    assert archive.read_bytes() == damaged
    assert len({archive.name, *names}) == 3
    assert all(is_whole(ground.data / "backups" / name) for name in names)
    assert any(archive.name in note and "damaged" in note for note in first["notes"])


def test_restoring_a_damaged_archive_says_so_and_changes_nothing(ground: Ground) -> None:
    archive = _archive(ground)
    damaged, before = _damage(archive), ground.facts.read_bytes()
    with ground.open() as vault:
        for name in (archive.name, "latest"):
            with pytest.raises(InvalidInput, match="damaged"):
                vault.restore(backup=name)

    assert ground.facts.read_bytes() == before
    assert [path.read_bytes() for path in (ground.data / "backups").iterdir()] == [damaged]


@pytest.mark.parametrize(
    "name",
    [
        *("MEMORY.md/x", ".vault.lock", ".lease.json", ".holder.json", "backups/pre-maintenance-20260101.tar.gz"),
        *("../outside.md", "/tmp/outside.md", "daily/notes.txt", "sessions/deep/a.jsonl", "store/zomem.db", "."),
        *("daily/../MEMORY.md", "sessions/../../x.jsonl", "knowledge-graph", "x\udcff"),
    ],
)
def test_an_archive_with_a_file_of_no_vault_is_refused_before_anything_is_written(
    ground: Ground, tmp_path: Path, name: str
) -> None:
    _archive(ground)
    made = tmp_path / "made.tar.gz"
    files = [("knowledge-graph/facts.jsonl", b""), ("MEMORY.md", b"other\n"), (name, b"x")]
    made.write_bytes(pack(files, int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())))
    page = (ground.data / "MEMORY.md").read_bytes()
    with ground.open() as vault, pytest.raises(InvalidInput, match="no file of a vault"):
        vault.restore(backup=made)

    assert (ground.data / "MEMORY.md").read_bytes() == page
    assert len(json_lines(ground.facts)) == 20


def test_an_archive_is_not_half_restored_over_a_folder_in_the_place_of_a_file(ground: Ground) -> None:
    archive = _archive(ground)
    (ground.data / "MEMORY.md").unlink()
    (ground.data / "MEMORY.md").mkdir()
    with ground.open() as vault:
        (ground.data / "knowledge-graph/canary-facts.json").write_text("[]")
        with pytest.raises(InvalidInput, match="Move the folder away"):
            vault.restore(backup=archive)

    assert (ground.data / "knowledge-graph/canary-facts.json").read_text() == "[]"
