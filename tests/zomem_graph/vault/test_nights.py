"""Consolidation: one at a time, in order, atomic, and the same after a kill."""

import json
import os
import tarfile
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from tests.zomem_graph.vault.kit import Ground, json_lines, said
from zomem_graph.bench.vault_care import kills
from zomem_graph.bench.vault_days import labelled_sessions, nights
from zomem_graph.stores.errors import StoreLocked
from zomem_graph.vault.consolidation import STEPS

LABELLED = Path(__file__).parents[2] / "data" / "vault_sessions.jsonl"


def test_the_steps_come_in_an_order_that_builds_the_index_once_and_backs_up_first() -> None:
    order = list(STEPS)

    assert order.index("back up") < order.index("decay") < order.index("prune") < order.index("index")


def test_an_answer_given_while_the_vault_is_held_says_that_an_edit_waits(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        with ground.facts.open("a", encoding="utf-8") as file:
            file.write('{"subject": "Ana", "predicate": "likes", "object": "tea"}\n')
        with ground.open() as other, other.ground.held("test"):
            found = vault.recall("port of the gateway")

    assert "gateway port: 8443" in found.hits[0].text
    assert any("not taken in yet" in note for note in found.degraded)


def test_a_second_run_is_refused_while_one_is_at_work(ground: Ground) -> None:
    refused: list[str] = []

    def look(step: str) -> None:
        if step == "prune":
            with ground.open() as other, pytest.raises(StoreLocked) as error:
                other.consolidate(wait_seconds=0)
            refused.append(str(error.value))

    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.consolidate(tell=look)

    assert len(refused) == 1
    assert f"`zomem vault consolidate`, process {os.getpid()}" in refused[0]
    assert "stop that process" in refused[0]


def test_a_night_waits_for_an_ingest_to_end(ground: Ground) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with ground.open() as other, other.ground.held("ingest"):
            begun.set()
            go_on.wait(30)

    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        holding = threading.Thread(target=hold)
        holding.start()
        assert begun.wait(30)
        with pytest.raises(StoreLocked, match="zomem vault ingest"):
            vault.consolidate(wait_seconds=0)
        threading.Timer(0.3, go_on.set).start()
        report = vault.consolidate()
        holding.join()

    assert report["status"]


def test_the_archive_holds_what_was_there_before_pruning_and_seven_days_of_them_are_kept(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        ground.clock.advance(days=131)
        vault.consolidate()
        (archive,) = (ground.data / "backups").iterdir()
        with tarfile.open(archive) as packed:
            facts = packed.extractfile("knowledge-graph/facts.jsonl")
            assert facts is not None
            assert b'"8443"' in facts.read()
            assert not [name for name in packed.getnames() if name.startswith("backups")]
        for _ in range(10):
            ground.clock.advance(days=1)
            vault.consolidate()

    names = sorted(path.name for path in (ground.data / "backups").iterdir())
    assert len(names) == 8
    assert names[-1] == f"pre-maintenance-{ground.clock():%Y%m%d}.tar.gz"


def test_a_later_run_of_a_day_packs_what_came_since(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.consolidate()
        vault.ingest([said("Ana", "likes", "tea")])
        ground.session("2026-01-05-090000", ("user", "The port of the relay is 2626."))
        vault.consolidate()
        vault.consolidate()
        names = vault.restore()["archives"]
    with tarfile.open(ground.data / "backups" / names[-1]) as packed:
        content = b"".join(file.read() for name in packed.getnames() if (file := packed.extractfile(name)))

    assert len(names) == 2
    assert b"Ana" in content
    assert b"2626" in content


def test_an_archive_holds_no_secret_of_a_log(ground: Ground) -> None:
    secret = "sk-proj-4f9Xq2LmN8vR7tYw3kPz6aBcDeFgHiJk"
    with ground.open() as vault:
        log = ground.session("2026-01-05-090000", ("user", f"Use {secret} for now."), ("user", "The port is 2626."))
        vault.consolidate()
        (archive,) = (ground.data / "backups").iterdir()
    with tarfile.open(archive) as packed:
        kept = packed.extractfile("sessions/2026-01-05-090000.jsonl")
        assert kept is not None
        lines = [json.loads(line) for line in kept.read().splitlines()]

    assert secret in log.read_text("utf-8")  # the agent's own file is left alone
    assert "[secret removed" in lines[0]["content"]
    assert lines[1]["content"] == "The port is 2626."


def test_everything_can_be_had_back_from_an_archive(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443"), said("Ana", "likes", "tea")])
        ground.clock.advance(days=131)
        vault.consolidate()
        assert json_lines(ground.facts) == []
        report = vault.restore(backup="latest")
        assert report["facts"] == 2
        assert len(json_lines(ground.facts)) == 2
        names = vault.restore()["archives"]
        vault.restore(backup=report["kept"])  # what stood there before can be had back too

    assert len(names) == 2
    assert report["kept"] in names
    assert json_lines(ground.facts) == []


def test_a_second_run_of_a_day_changes_nothing(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443"), said("Ana", "likes", "tea")])
        ground.session("2026-01-05-090000", ("user", "The port of the mailer is 2525."))
        ground.clock.advance(days=100)
        vault.consolidate()
        before = {path: path.read_bytes() for path in ground.data.rglob("*") if path.is_file()}
        vault.consolidate()

    after = {path: path.read_bytes() for path in ground.data.rglob("*") if path.is_file()}
    unlike = {path.name for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert unlike <= {"health.json", "health.prom"}  # how full the disk is


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_run_that_was_killed_and_run_again_ends_with_the_same_files() -> None:
    found = kills(3, say=lambda _line: None)

    assert (found["kills"], found["cases"]) == (3, [])


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_forty_runs_that_were_killed_end_with_the_same_files() -> None:
    found = kills(40, say=lambda _line: None)

    assert (found["kills"], found["cases"]) == (40, [])


@pytest.mark.parametrize(
    ("count", "a_night"),
    [(30, 3), pytest.param(365, 20, marks=pytest.mark.slow)],
)
def test_nights_pass_as_they_should(count: int, a_night: int) -> None:
    found = nights(labelled_sessions(LABELLED), count=count, a_night=a_night, say=lambda _line: None)

    assert found["half_on_day"] is None or abs(found["half_on_day"] - 30) < 0.1
    assert found["faults"] == []
    assert found["memory_md_most_lines"] <= 200
    assert found["daily_pages"]["precision"] >= 0.90
    assert found["daily_pages"]["recall"] >= 0.50
    if count > 130:
        assert found["archived_on_night"] == 130


def test_a_killed_writer_leaves_nothing_behind_that_stays(ground: Ground) -> None:
    with ground.open() as vault:
        (ground.data / "knowledge-graph/.facts.jsonl.999.part").write_text("half")
        vault.consolidate()

    assert not list(ground.data.rglob("*.part"))


def test_a_crash_between_database_and_files_is_made_good_by_the_next_call(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        before = ground.facts.read_bytes()
        vault.ingest([said("Ana", "likes", "tea")])
        ground.facts.write_bytes(before)  # as if the second line had not been written any more
        with vault.memory.stores.write() as unit:
            vault.ground.fall_behind(unit)
        vault.ingest([said("Bo", "likes", "rye")])

    assert {line["subject"] for line in json_lines(ground.facts)} == {"gateway", "Ana", "Bo"}


def test_a_late_night_is_named(ground: Ground) -> None:
    with ground.open() as vault:
        vault.consolidate()
        ground.clock.advance(hours=40)
        report = vault.health_check()

    assert any("40 hours ago" in line for line in report["warnings"])
    assert report["last_consolidation"] == (ground.clock() - timedelta(hours=40)).isoformat()
