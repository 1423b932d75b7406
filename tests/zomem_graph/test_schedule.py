"""Upkeep by the clock: cron lines and timers, and the daily report with its mail."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from zomem_graph.cli import COMMANDS
from zomem_graph.jobs import memory_jobs
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.timers import on_calendar

from .command_line import CommandLine
from .mailbox import mailbox

OTHERS = "MAILTO=root\n5 4 * * * /usr/bin/backup\n"
TALK = "Ana: I live in Porto.\nAssistant: " + "Of course. " * 30 + "\n"


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work spaces" / "con_a"
    folder.mkdir(parents=True)
    (folder / "chat_*[x].md").write_text(TALK, "utf-8")
    return folder.parent


# -- times and jobs ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("17 * * * *", "*-*-* *:17:00"),
        ("30 0 * * *", "*-*-* 0:30:00"),
        ("0 */6 * * *", "*-*-* 0/6:0:00"),
        ("0 3 * * 0", "Sun *-*-* 3:0:00"),
        ("0 3 1,15 * *", "*-*-1,15 3:0:00"),
        ("*/10 9-17 * * 1-5", "Mon..Fri *-*-* 9..17:0/10:00"),
        ("0 0 */2 1 7", "Sun *-1-1/2 0:0:00"),
    ],
)
def test_a_time_of_cron_is_said_as_a_calendar(when: str, said: str) -> None:
    assert on_calendar(when) == said


@pytest.mark.parametrize("when", ["", "* * * *", "@daily", "0 0 * * 1/2", "0 0 * * 9", "x * * * *"])
def test_what_is_no_time_is_refused(when: str) -> None:
    with pytest.raises(InvalidInput):
        on_calendar(when)


def test_every_job_is_a_command_that_exists(home: Path, root: Path) -> None:
    for job in memory_jobs(home, persona="ann", roots=[root], mail=True):
        assert job.arguments[4] in COMMANDS, job


# -- the table and the timers ------------------------------------------------------------------------


def test_show_writes_nothing(zomem: CommandLine, home: Path, root: Path) -> None:
    shown = zomem.ok("schedule", "show", "--root", str(root))
    document = zomem.json("schedule", "show", "--root", str(root))

    assert "conversations --since 24h --root" in shown
    assert document["table"] == shown
    assert [job["on_calendar"] for job in document["jobs"]][1] == "*-*-* 4:0:00"
    assert "no daily capture" in zomem("schedule", "show").stderr
    assert not home.exists()


def test_a_table_keeps_other_peoples_lines_and_gets_ours_once(zomem: CommandLine, tmp_path: Path) -> None:
    table = tmp_path / "crontab"
    table.write_text(OTHERS, "utf-8")

    first = zomem.json("schedule", "install", "--cron", str(table))
    again = zomem.json("schedule", "install", "--cron", str(table))

    assert (first["changed"], again["changed"]) == ([str(table)], [])
    assert table.read_text("utf-8").startswith(OTHERS)
    assert table.read_text("utf-8").count(" maintain") == 1
    assert zomem.json("schedule", "remove", "--cron", str(table))["removed"] == [str(table)]
    assert table.read_text("utf-8") == OTHERS


def test_two_memories_share_a_table(tmp_path: Path) -> None:
    table, one, two = tmp_path / "crontab", CommandLine(tmp_path / "one"), CommandLine(tmp_path / "two")
    for zomem in (one, two):
        zomem.ok("schedule", "install", "--cron", str(table))

    one.ok("schedule", "remove", "--cron", str(table))

    assert str(tmp_path / "two") in table.read_text("utf-8")
    assert str(tmp_path / "one") not in table.read_text("utf-8")


def test_timers_are_written_and_removed_and_touch_no_other_file(
    zomem: CommandLine, tmp_path: Path, root: Path
) -> None:
    units = tmp_path / "units"
    units.mkdir()
    (units / "other.timer").write_text("[Timer]\n", "utf-8")

    changed = zomem.json("schedule", "install", "--systemd", str(units), "--root", str(root))["changed"]
    again = zomem.json("schedule", "install", "--systemd", str(units), "--root", str(root))["changed"]

    assert (len(changed), again) == (4, [])
    service = next(units / name for name in changed if name.endswith("2.service")).read_text("utf-8")
    assert f'--root "{root}"' in service
    assert "Type=oneshot" in service
    assert sorted(zomem.json("schedule", "remove", "--systemd", str(units))["removed"]) == sorted(changed)
    assert [path.name for path in units.iterdir()] == ["other.timer"]


def test_a_line_of_the_table_runs_as_it_stands(zomem: CommandLine, home: Path, root: Path) -> None:
    table = zomem.json("schedule", "show", "--root", str(root))["table"]
    line = next(each for each in table.splitlines() if "conversations" in each)

    command = line.split(None, 5)[5].replace(r"\%", "%")
    done = subprocess.run(["sh", "-c", command], env={**os.environ, "ZO_MODEL_EMBEDDING": "none"}, check=True)

    assert done.returncode == 0
    assert len([*(home / "reports").glob("capture-*.md")]) == 1
    assert zomem.json("stats")["facts"] == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["install"], "Name one place"),
        (["remove"], "Name one place"),
        (["install", "--cron", "a", "--systemd", "b"], "Name one place"),
        (["install", "--systemd", "/nowhere/at/all"], "is no folder"),
        (["install", "--cron", "/nowhere/at/all"], "cannot be written"),
        (["show", "--user", "a b"], "no name of a user"),
        (["show", "--mail"], "ZO_REPORT_SMTP"),
    ],
)
def test_wrong_use_is_told_and_nothing_is_written(
    words: list[str], told: str, zomem: CommandLine, home: Path
) -> None:
    result = zomem("schedule", *words)

    assert result.exit_code == 1
    assert told in result.stderr
    assert not home.exists()


# -- the report and its mail -------------------------------------------------------------------------


def test_the_report_of_a_day_is_written_as_markdown_and_json(zomem: CommandLine, tmp_path: Path, root: Path) -> None:
    (root / "con_a" / "broken.json").write_text("{" * 300, "utf-8")
    reports = tmp_path / "reports"

    zomem.ok("conversations", "--root", str(root), "--report", str(reports))

    (page,), (data,) = reports.glob("*.md"), reports.glob("*.json")
    document = json.loads(data.read_text("utf-8"))
    assert (document["capture"]["captured"], document["capture"]["skipped"], document["memory"]["facts"]) == (1, 1, 1)
    assert "- facts: 1" in page.read_text("utf-8")
    assert r"chat\_\*\[x\].md" in page.read_text("utf-8")
    assert page.stat().st_mode & 0o077 == 0


def test_a_report_is_mailed_only_where_that_is_set(home: Path, root: Path) -> None:
    with mailbox() as box:
        where = {
            "ZO_REPORT_SMTP": f"smtp://ann:p%40ss@127.0.0.1:{box.port}",
            "ZO_REPORT_TO": "ann@example.org, bob@example.org",
            "ZO_REPORT_FROM": "zomem@example.org",
        }
        CommandLine(home, **where).ok("conversations", "--root", str(root))
        assert box.messages == []
        CommandLine(home, **where).ok("conversations", "--root", str(root), "--mail")

    (message,) = box.messages
    assert box.receivers == ["ann@example.org", "bob@example.org"]
    assert message["From"] == "zomem@example.org"
    assert "0 facts from 0 files" in str(message["Subject"])
    assert "# Memory, " in str(message.get_payload())
    assert len(box.logins) == 1


def test_mail_that_fails_is_told_and_what_was_learned_stays(home: Path, root: Path) -> None:
    with mailbox(refuse=True) as box:
        zomem = CommandLine(home, ZO_REPORT_SMTP=f"smtp://127.0.0.1:{box.port}", ZO_REPORT_TO="ann@example.org")
        result = zomem("conversations", "--root", str(root), "--mail")

    assert result.exit_code == 1
    assert "did not take the report" in result.stderr
    assert zomem.json("stats")["facts"] == 1


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({}, "Set ZO_REPORT_SMTP"),
        ({"ZO_REPORT_SMTP": "smtp://127.0.0.1:1"}, "ZO_REPORT_TO"),
        ({"ZO_REPORT_SMTP": "127.0.0.1", "ZO_REPORT_TO": "a@b.example"}, "must be smtp://"),
        ({"ZO_REPORT_SMTP": "smtp://127.0.0.1:x", "ZO_REPORT_TO": "a@b.example"}, "cannot be read"),
    ],
)
def test_mail_that_cannot_go_is_refused_before_anything_is_read(
    variables: dict[str, str], told: str, home: Path, root: Path
) -> None:
    zomem = CommandLine(home, **variables)
    result = zomem("conversations", "--root", str(root), "--mail")

    assert result.exit_code == 1
    assert told in result.stderr
    assert zomem.json("stats")["facts"] == 0


def test_the_password_of_the_mail_server_is_never_shown(home: Path) -> None:
    zomem = CommandLine(home, ZO_REPORT_SMTP="smtp://ann:hush@mail.example.org")

    assert "hush" not in zomem.ok("config")
    assert "smtp://ann:***@mail.example.org" in zomem.ok("config")
