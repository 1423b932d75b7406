"""`zomem vault`, action by action."""

import getpass
import json
import os
from pathlib import Path

import pytest

from tests.zomem_graph.command_line import CommandLine
from tests.zomem_graph.vault.kit import json_lines

FACT = '{"subject": "gateway", "predicate": "port", "object": "8443"}\n'


class Line(CommandLine):
    """The command line on one vault."""

    def vault(self, *words: str, given: str | None = None) -> str:
        return self.ok("vault", *words, "--data-path", str(self.home.parent / "data"), given=given)


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(tmp_path / "home")


def test_the_whole_life_of_a_vault(line: Line, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert str(data) in line.vault("init")
    assert "1 new fact," in line.vault("ingest", "-", given=FACT)
    assert "gateway port: 8443" in line.vault("recall", "gateway port")
    (data / "sessions/2026-01-05-090000.jsonl").write_text('{"role": "user", "content": "I prefer short answers."}\n')
    assert "1 message from 1 session log" in line.vault("ingest")
    assert "2026-01-05" in line.vault("summarize")
    assert "status" in line.vault("consolidate")
    assert "total facts" in line.vault("health-check")
    assert "zomem_vault_facts 2" in line.vault("health-check", "--format", "prometheus")
    assert json.loads(line.vault("health-check", "--format", "json"))["total_facts"] == 2
    assert "3 of 3 canaries" in line.vault("quality-probe")
    assert "active" in line.vault("status")
    assert "archive" in line.vault("restore")
    assert "facts.jsonl" in line.vault("smoke-test")
    assert len(json_lines(data / "knowledge-graph/facts.jsonl")) == 2


def test_a_new_home_is_filled_from_the_files(line: Line, tmp_path: Path) -> None:
    line.vault("ingest", "-", given=FACT)
    second = Line(tmp_path / "second")
    second.environment["ZOMEM_HOME"] = str(tmp_path / "second")
    refused = second("vault", "recall", "gateway port", "--data-path", str(tmp_path / "data"))

    assert refused.exit_code == 1
    assert "zomem vault rebuild" in refused.output
    assert "1 fact" in second.ok("vault", "rebuild", "--data-path", str(tmp_path / "data"))


def test_the_cron_table_is_shown_and_only_written_where_it_is_named(line: Line, tmp_path: Path) -> None:
    line.vault("init")
    table = tmp_path / "crontab"
    table.write_text("5 4 * * * other job\n")
    shown = line.vault("install-cron")
    assert table.read_text() == "5 4 * * * other job\n"
    line.vault("install-cron", "--cron", str(table), "--user", "agent")
    line.vault("install-cron", "--cron", str(table), "--user", "agent")
    written = table.read_text().splitlines()

    for when, word in (
        ("0 23 * * *", "summarize"),
        ("30 0 * * *", "consolidate"),
        ("0 */6 * * *", "health-check"),
        ("0 3 * * 0", "quality-probe"),
    ):
        assert sum(row.startswith(when) and f"vault {word}" in row for row in shown.splitlines()) == 1
        assert sum(row.startswith(f"{when} agent ") and f"vault {word}" in row for row in written) == 1
    assert written[0] == "5 4 * * * other job"
    assert line("vault", "smoke-test", "--cron", str(table), "--data-path", str(tmp_path / "data")).exit_code == 0
    line.vault("install-cron", "--cron", str(table), "--remove")
    assert table.read_text() == "5 4 * * * other job\n"


def test_the_jobs_ask_for_the_vault_as_it_was_asked_for(line: Line, tmp_path: Path) -> None:
    line.vault("init")
    shown = line.vault("install-cron", "--set", "half_life_days=12", "--set", "max_facts=50")
    assert shown.count("--set half_life_days=12 --set max_facts=50") == 4

    table = tmp_path / "cron.d" / "zomem-vault"
    table.parent.mkdir()
    line.vault("install-cron", "--cron", str(table))
    jobs = [row for row in table.read_text().splitlines() if not row.startswith("#")]
    assert all(row.split()[5] == getpass.getuser() for row in jobs)


def test_the_smoke_test_looks_into_the_table_of_the_user(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.vault("init")
    table = tmp_path / "table"
    table.write_text(line.vault("install-cron"))
    program = tmp_path / "bin" / "crontab"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat {table}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)

    assert "entries in your crontab" in line.vault("smoke-test")


LOOKING = [
    *(("status",), ("recall", "gateway port"), ("smoke-test",), ("health-check",), ("quality-probe",), ("restore",)),
    *(("summarize",), ("consolidate",), ("rebuild", "--replace"), ("install-cron",)),
]


@pytest.mark.parametrize("words", LOOKING, ids=lambda words: words[0])
def test_looking_at_a_vault_that_is_not_there_says_so_and_makes_nothing(
    line: Line, tmp_path: Path, words: tuple[str, ...]
) -> None:
    wrong = tmp_path / "typo"
    found = line("vault", *words, "--data-path", str(wrong))

    assert found.exit_code == 1
    assert f"There is no vault in {wrong}" in found.output
    assert "zomem vault init" in found.output
    assert not wrong.exists()
    assert not line.home.exists()


def test_a_mistyped_folder_beside_a_vault_of_the_home_is_made_by_no_look_at_it(line: Line, tmp_path: Path) -> None:
    line.vault("ingest", "-", given=FACT)
    wrong = tmp_path / "typo"
    for words in LOOKING:
        found = line("vault", *words, "--data-path", str(wrong))
        assert found.exit_code == 1, words
        assert f"There is no vault in {wrong}" in found.output, words
        assert not wrong.exists(), words
        assert str(tmp_path / "data") in found.output or words[0] == "rebuild"
    assert "gateway port: 8443" in line.vault("recall", "gateway port")


def test_options_may_stand_before_the_word(line: Line, tmp_path: Path) -> None:
    line.ok("vault", "--data-path", str(tmp_path / "data"), "init")

    assert (tmp_path / "data/MEMORY.md").is_file()


def test_the_help_lists_every_action(line: Line) -> None:
    shown = line.ok("vault", "--help")

    assert not [word for word in ("status", "init", "ingest", "consolidate", "rebuild") if word not in shown]


def test_ids_are_shown_and_taken_as_the_files_have_them(line: Line, tmp_path: Path) -> None:
    line.vault("ingest", "-", given=FACT)
    (fact,) = json_lines(tmp_path / "data/knowledge-graph/facts.jsonl")

    assert fact["id"] in line.vault("recall", "gateway port")
    assert "8443" in line.ok("provenance", fact["id"])
    assert "deleted" in line.ok("delete", fact["id"])
    assert "nothing of it is left" in line.ok("forget", "--id", fact["id"], "--yes")


def test_wrong_use_is_one_line_and_exit_1(line: Line, tmp_path: Path) -> None:
    data = ("--data-path", str(tmp_path / "data"))
    for words in (
        ("vault", "ingest", str(tmp_path / "nowhere.jsonl"), *data),
        ("vault", "status", "--set", "half_life_days", *data),
        ("vault", "status", "--set", "half_life_days=-1", *data),
        ("vault", "status", "--config", str(tmp_path / "nowhere.yaml"), *data),
        ("vault", "summarize", "--day", "someday", *data),
        ("vault", "restore", "fact-nobody", *data),
        ("vault", "restore", "--backup", "nowhere.tar.gz", *data),
        ("vault", "recall", *data),
    ):
        result = line(*words)
        assert result.exit_code == 1, words
        assert "Traceback" not in result.output
    result = line("vault", "ingest", "-", *data, given='{"subject": "k", "predicate": "api key", "object": 3}')
    assert result.exit_code == 1


def test_a_critical_vault_fails_its_health_check(line: Line, tmp_path: Path) -> None:
    line.vault("init")
    canaries = [{"query": "who?", "expected_contains": "nobody knows"}]
    (tmp_path / "data/knowledge-graph/canary-facts.json").write_text(json.dumps(canaries))
    line.vault("quality-probe")

    assert line("vault", "health-check", "--data-path", str(tmp_path / "data")).exit_code == 1


def test_the_smoke_test_fails_when_something_is_missing(line: Line, tmp_path: Path) -> None:
    line.vault("init")
    (tmp_path / "data/MEMORY.md").unlink()

    result = line("vault", "smoke-test", "--data-path", str(tmp_path / "data"))

    assert result.exit_code == 1
    assert "MEMORY.md is missing" in result.output


def test_the_settings_file_says_where_the_vault_is(line: Line, tmp_path: Path) -> None:
    line.home.mkdir()
    text = f"memory_oracle:\n  data_path: {tmp_path / 'disk'}\n  half_life_days: 12\n"
    (line.home / "zomem.yaml").write_text(text, "utf-8")
    line.ok("vault", "init")
    shown = line.json("vault", "status")

    assert shown["data_path"] == str(tmp_path / "disk")
    assert shown["options"]["half_life_days"] == 12


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (f'{FACT}\n{{"subject": "a", "predicate": "b", "value": "c"}}\n', ("line 3", "'object' is called 'value'")),
        ('{"predicate": "b", "object": "c"}', ("line 1", "no 'subject'")),
        ('[{"foo": 1}]', ("entry 1", "no 'subject' and no 'object'", "no 'role' and no 'content'")),
        ('{"content": "hi"}', ("line 1", "has no 'role'")),
        (f'\n{FACT}{{"role": "user", "content": "hi"}}', ("mixes", "line 2", "line 3")),
        (f'{FACT}\n{{"subject": 3, "object": "c"}}', ("line 3", "subject must be a text")),
    ],
)
def test_what_is_neither_fact_nor_message_is_refused_with_its_line(
    line: Line, tmp_path: Path, given: str, told: tuple[str, ...]
) -> None:
    line.vault("init")
    result = line("vault", "ingest", "-", "--data-path", str(tmp_path / "data"), given=given)

    assert result.exit_code == 1
    assert not [word for word in told if word not in result.output], result.output
    assert not list((tmp_path / "data/sessions").iterdir())


def test_a_file_that_is_no_text_is_refused_in_plain_words(line: Line, tmp_path: Path) -> None:
    (tmp_path / "alien.bin").write_bytes(bytes(range(256)))
    result = line("vault", "ingest", str(tmp_path / "alien.bin"), "--data-path", str(tmp_path / "data"))

    assert result.exit_code == 1
    assert "is no text in UTF-8" in result.output
    assert "codec" not in result.output


def test_a_vault_with_nothing_to_restore_says_so(line: Line) -> None:
    line.vault("init")
    result = line("vault", "restore", "--data-path", str(line.home.parent / "data"))

    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing to restore" in result.stderr


def test_a_control_character_cuts_no_value_on_its_way_in(line: Line, tmp_path: Path) -> None:
    line.vault("ingest", "-", given='{"role": "user", "content": "My cat is called Bisc\\u0007uit."}')
    line.vault("ingest", "-", given='{"subject": "hen", "predicate": "name", "object": "Bisc\\u0007uit"}')
    line.ok("remember", "dog", "name", "Bisc\x07uit")
    facts = {fact["subject"]: fact["object"] for fact in json_lines(tmp_path / "data/knowledge-graph/facts.jsonl")}

    assert facts == {"user": "Biscuit", "hen": "Bisc\x07uit"}  # what is stated as a value is kept to the letter
    assert line.json("lookup", "dog")[0]["value"] == "Bisc\x07uit"


def test_the_proof_names_where_others_still_name_somebody(line: Line, tmp_path: Path) -> None:
    data = tmp_path / "data"
    line.vault("ingest", "-", given='{"subject": "Ines", "predicate": "city", "object": "Porto"}')
    page = data / "MEMORY.md"
    page.write_text(f"Ask\nInes first.\n\n{page.read_text('utf-8')}\nInesita is another.\n", "utf-8")
    line.vault("consolidate")
    log = data / "sessions/2026-01-05-090000.jsonl"
    log.write_text('{"role": "user", "content": "Hello"}\n{"role": "user", "content": "In\\u0065s is ill"}\n')

    result = line("forget", "--entity", "ines", "--yes")
    assert result.exit_code == 1
    assert f"still named in {page}: line 2: edit it by hand" in result.stdout.replace("\n", " ")
    assert f"still named in {log}: line 2: `zomem vault ingest`" in result.stdout.replace("\n", " ")
    assert "nothing of it is left" not in result.stdout
    named = line("forget", "--entity", "ines", "--yes", "--json")
    assert [place.split(": ")[1] for place in json.loads(named.stdout)["named"]] == ["line 2"] * 3  # and the archive

    page.write_text(page.read_text("utf-8").replace("Ines first", "her first"), "utf-8")
    line.vault("ingest")
    for archive in (data / "backups").iterdir():
        archive.unlink()
    assert "still named" not in line.ok("forget", "--entity", "ines", "--yes")


NO_SETTING = [
    "config",
    "make",
    "take_over",
    "usual_zone",
    "host",
    "embeddings",
    "clock",
    "path",
    "half_life",
    "nobody",
]


@pytest.mark.parametrize("name", NO_SETTING)
def test_only_options_of_a_vault_can_be_set(line: Line, tmp_path: Path, name: str) -> None:
    result = line("vault", "init", "--set", f"{name}=3", "--data-path", str(tmp_path / "data"))

    assert result.exit_code == 1
    assert f"A vault has no option '{name}'. Did you mean" in result.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("option", ["--data-path", "--home"])
def test_a_folder_that_is_set_is_refused_with_its_option(line: Line, tmp_path: Path, option: str) -> None:
    name = option.removeprefix("--").replace("-", "_")
    result = line("vault", "init", "--set", f"{name}=mm", "--data-path", str(tmp_path / "data"))

    assert result.exit_code == 1
    assert f"pass {option} DIR" in result.stderr
    assert not (tmp_path / "data").exists()


def test_a_mistyped_variable_is_told(line: Line, tmp_path: Path) -> None:
    line.environment["ZOMEM_VAULT_HALF_LIFE"] = "3"
    result = line("vault", "init", "--data-path", str(tmp_path / "data"))

    assert result.exit_code == 0
    assert "Did you mean ZOMEM_VAULT_HALF_LIFE_DAYS" in " ".join(result.stderr.split())


def test_a_recall_takes_the_limit_that_its_help_names(line: Line) -> None:
    line.vault("ingest", "-", given=FACT)

    assert "8443" in line.vault("recall", "gateway port", "--limit", "1000")


def test_a_secret_is_refused_in_words_that_fit_a_vault(line: Line, tmp_path: Path) -> None:
    line.vault("init")
    secret = (
        '{"subject": "ci", "predicate": "api key", "object": "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"}\n'
    )
    result = line("vault", "ingest", "-", "--data-path", str(tmp_path / "data"), given=FACT + secret)

    assert result.exit_code == 1
    assert "line 2" in result.stderr
    assert "A vault keeps no secrets" in " ".join(result.stderr.split())
    assert "allow" not in result.stderr
    assert "sk-proj" not in result.output
    assert line.vault("recall", "gateway port") == ""
