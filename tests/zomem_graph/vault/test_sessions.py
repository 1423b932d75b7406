"""Session logs: read once, told by the day they were said on."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.zomem_graph.command_line import CommandLine
from tests.zomem_graph.vault.kit import Ground, json_lines
from zomem_graph.bench.vault_days import extraction, labelled_sessions
from zomem_graph.nodes.rules.session_lines import message_in

LABELLED = Path(__file__).parents[2] / "data" / "vault_sessions.jsonl"


def test_a_log_is_read_once_and_what_is_added_to_it_is_read_too(ground: Ground) -> None:
    with ground.open() as vault:
        ground.session("2026-01-05-090000", ("user", "My name is Dana Whitlock."))
        first = vault.ingest()
        again = vault.ingest()
        ground.session("2026-01-05-090000", ("user", "The port of the mailer is 2525."))
        grown = vault.ingest()

    assert (first["sessions"], first["turns"], first["facts"]) == (1, 1, 1)
    assert (again["sessions"], again["turns"], again["facts"]) == (0, 0, 0)
    assert (grown["sessions"], grown["turns"], grown["facts"]) == (1, 1, 1)
    assert sorted(line["object"] for line in json_lines(ground.facts)) == ["2525", "Dana Whitlock"]


def test_a_day_is_told_in_four_sections_and_all_of_it_stands_in_the_graph(ground: Ground) -> None:
    with ground.open() as vault:
        ground.session(
            "2026-01-05-090000",
            ("user", "The port of the mailer is 2525."),
            ("user", "We decided to move the export to 02:00."),
            ("user", "I prefer short answers."),
            ("user", "I need to update the runbook for the export."),
        )
        assert vault.summarize()["days"] == ["2026-01-05"]

    page = (ground.data / "daily/2026-01-05.md").read_text("utf-8")
    parts = page.split("## ")
    assert "- mailer port: 2525" in parts[1]
    assert parts[1].startswith("Facts Learned")
    assert "move the export to 02:00" in parts[2]
    assert parts[2].startswith("Decisions Made")
    assert "short answers" in parts[3]
    assert parts[3].startswith("Preferences Noted")
    assert "- [ ] Update the runbook for the export" in parts[4]
    assert parts[4].startswith("Action Items")
    assert {line["object"] for line in json_lines(ground.facts)} >= {"2525", "short answers"}


def test_the_last_hour_of_a_day_is_told_the_night_after(ground: Ground) -> None:
    ground.clock.set(datetime(2026, 1, 5, 23, 0, tzinfo=UTC))
    with ground.open() as vault:
        ground.session("2026-01-05-220000", ("user", "The port of the mailer is 2525."), at="2026-01-05T22:10:00Z")
        vault.summarize()
        ground.session("2026-01-05-233000", ("user", "The port of the relay is 2626."), at="2026-01-05T23:30:00Z")
        ground.clock.set(datetime(2026, 1, 6, 0, 30, tzinfo=UTC))
        vault.consolidate()

    page = (ground.data / "daily/2026-01-05.md").read_text("utf-8")
    assert "2525" in page
    assert "2626" in page
    assert not (ground.data / "daily/2026-01-06.md").exists()


def test_a_day_begins_where_the_vault_is(ground: Ground) -> None:
    ground.clock.set(datetime(2026, 1, 6, 3, 0, tzinfo=UTC))
    with ground.open(time_zone="America/New_York") as vault:
        ground.session("2026-01-05-220000", ("user", "The port of the mailer is 2525."), at="2026-01-06T02:00:00Z")
        assert vault.summarize()["days"] == ["2026-01-05"]


def test_writing_a_day_again_gives_the_same_page_and_keeps_what_was_written_by_hand(ground: Ground) -> None:
    page = ground.data / "daily/2026-01-05.md"
    with ground.open() as vault:
        ground.session("2026-01-05-090000", ("user", "The port of the mailer is 2525."))
        vault.summarize()
        page.write_text("by hand\n\n" + page.read_text("utf-8") + "\nbelow\n", "utf-8")
        before = page.read_bytes()
        vault.summarize("2026-01-05")

    assert page.read_bytes() == before


def test_a_log_that_comes_late_is_told_on_its_own_day_and_comes_in_awake(ground: Ground) -> None:
    with ground.open() as vault:
        vault.consolidate()
        ground.session("2025-03-02-090000", ("user", "The port of the mailer is 2525."))
        vault.consolidate()

    assert "2525" in (ground.data / "daily/2025-03-02.md").read_text("utf-8")
    (entry,) = ground.activations().values()
    assert entry["activation"] == 1.0


def test_logs_and_pages_go_when_their_time_is_over_but_not_unread_or_written_on(ground: Ground) -> None:
    with ground.open(session_retention_days=30, daily_retention_days=60) as vault:
        ground.session("2026-01-05-090000", ("user", "The port of the mailer is 2525."))
        ground.session("2026-01-04-090000", ("user", "The port of the relay is 2626."))
        vault.consolidate()
        kept = ground.data / "daily/2026-01-04.md"
        kept.write_text(kept.read_text("utf-8") + "mine\n", "utf-8")
        ground.clock.advance(days=31)
        vault.consolidate()
        assert list((ground.data / "sessions").iterdir()) == []
        ground.clock.advance(days=60)
        vault.consolidate()

    assert [path.name for path in (ground.data / "daily").iterdir()] == ["2026-01-04.md"]


def test_secrets_in_a_log_are_cut_out(ground: Ground) -> None:
    secret = "sk-proj-4f9Xq2LmN8vR7tYw3kPz6aBcDeFgHiJk"
    with ground.open() as vault:
        ground.session("2026-01-05-090000", ("user", f"We decided to use the key {secret} for now."))
        report = vault.ingest()
        vault.consolidate()

    assert report["redacted"] == 1
    ours = [path for path in ground.data.rglob("*.*") if path.is_file() and path.parent.name != "sessions"]
    assert not [path for path in ours if secret in path.read_text("utf-8", "replace")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"role": "user", "content": "hi"}, ("user", "hi")),
        ({"message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}}, ("user", "hi")),
        ({"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "x"}]}}, None),
        ({"role": "toolResult", "content": [{"type": "text", "text": "out"}]}, ("tool", "out")),
        ({"type": "session", "id": "1", "cwd": "/"}, None),
        ({"type": "human", "text": "hi", "ts": 1767610800000}, ("user", "hi")),
    ],
)
def test_lines_of_several_hosts_are_read(line: dict[str, object], expected: tuple[str, str] | None) -> None:
    found = message_in(line)

    assert (None if found is None else (found["role"], found["content"])) == expected


def test_a_time_in_milliseconds_is_read() -> None:
    found = message_in({"role": "user", "content": "hi", "timestamp": 1767610800000})

    assert found is not None
    assert found["at"] == datetime(2026, 1, 5, 11, tzinfo=UTC)


def test_a_half_written_line_of_a_log_waits_until_it_is_whole(ground: Ground) -> None:
    with ground.open() as vault:
        path = ground.session("2026-01-05-090000", ("user", "The port of the mailer is 2525."))
        whole = json.dumps({"role": "user", "content": "The port of the relay is 2626."})
        with path.open("a", encoding="utf-8") as file:
            file.write(whole[:30])
        first = vault.ingest()
        with path.open("a", encoding="utf-8") as file:
            file.write(whole[30:] + "\n")
        second = vault.ingest()

    assert (first["turns"], second["turns"]) == (1, 1)
    assert "half-written" in first["notes"][0]


def test_a_long_log_is_read_in_pieces_and_a_stop_in_the_middle_loses_and_repeats_nothing(ground: Ground) -> None:
    turns = [("user", "yes" if number % 2 else f"The port of host {number} is {number}.") for number in range(450)]
    fact = json.dumps({"subject": "gateway", "predicate": "port", "object": "8443"})
    with ground.open() as vault:
        path = ground.session("2026-01-05-090000", *turns)
        path.write_text(f"{fact}\n{path.read_text('utf-8')}", "utf-8")
        steps: list[int] = []

        def stop(_name: str, done: int) -> None:
            steps.append(done)
            if len(steps) == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            vault.ingest(tell=stop)
        kept = vault.memory.stats()["turns"]
    with ground.open() as vault:
        report = vault.ingest()
        vault.consolidate()

    assert 0 < kept < 450
    assert kept + report["turns"] == 450
    assert report["again"] == 0
    assert sum(line["subject"] == "gateway" for line in json_lines(ground.facts)) == 1


def test_a_log_that_grows_does_not_say_its_facts_again(ground: Ground) -> None:
    with ground.open() as vault:
        path = ground.session("2026-01-05-090000", ("user", "The port of the mailer is 2525."))
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"subject": "gateway", "predicate": "port", "object": "8443"}) + "\n")
        vault.ingest()
        ground.clock.advance(days=30)
        ground.session("2026-01-05-090000", ("user", "The port of the relay is 2626."))
        report = vault.ingest()

    assert (report["turns"], report["again"]) == (1, 0)


def test_a_log_given_twice_is_kept_once_and_one_that_grew_is_read_on(ground: Ground, tmp_path: Path) -> None:
    log = tmp_path / "chat.jsonl"
    log.write_text('{"role": "user", "content": "The port of the mailer is 2525."}\n', "utf-8")
    with ground.open() as vault:
        first = vault.ingest(log)
        ground.clock.advance(days=1)
        second = vault.ingest(log)
        with log.open("a", encoding="utf-8") as file:
            file.write('{"role": "user", "content": "The port of the relay is 2626."}\n')
        third = vault.ingest(log)

    assert [report["turns"] for report in (first, second, third)] == [1, 0, 1]
    assert len(list((ground.data / "sessions").iterdir())) == 1


def test_a_link_among_the_logs_is_not_followed(ground: Ground, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text('{"role": "user", "content": "The port of the mailer is 2525."}\n', "utf-8")
    with ground.open() as vault:
        (ground.data / "sessions/2026-01-05-090000.jsonl").symlink_to(outside)
        report = vault.ingest()
        vault.consolidate()

    assert report["turns"] == 0
    assert "is not followed" in report["notes"][0]
    assert outside.is_file()


def test_pages_hold_what_labelled_sessions_say() -> None:
    found = extraction(labelled_sessions(LABELLED))

    assert found["precision"] >= 0.90
    assert found["recall"] >= 0.50
    assert found["labels"] == 100


def test_the_suite_is_there_on_the_command_line(tmp_path: Path) -> None:
    small = ("--nights", "2", "--sessions", "2", "--kills", "0", "--facts", "60")
    words = ("bench", "vault", "--data", str(LABELLED), *small)
    found = json.loads(CommandLine(tmp_path / "home").ok(*words))

    assert found["nights"]["nights_with_a_fault"] == 0
    assert found["rebuild"]["unlike"] == 0
    assert found["consolidation"]["indexed"] == 60
