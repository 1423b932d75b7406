"""What each command does: it stores, finds, decides and reports through one memory in one folder."""

import json
from pathlib import Path

import pytest

from zomem_graph import Memory

from .command_line import CommandLine

CHAT = """Ana: I moved to Porto in March.
Assistant: How is the new flat?
Ana: Small, but I can see the river. My landlord is called Duarte.
"""


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


@pytest.fixture
def chat(tmp_path: Path) -> str:
    path = tmp_path / "chat.md"
    path.write_text(CHAT, "utf-8")
    return str(path)


# -- init, config ------------------------------------------------------------------------------------


def test_init_says_where_things_are_and_may_be_repeated(zomem: CommandLine) -> None:
    first, second = zomem.json("init"), zomem.json("init")

    assert first == second
    assert first["home"] == str(zomem.home)
    assert zomem.home.stat().st_mode & 0o777 == 0o700


def test_config_tells_each_setting_with_its_source_and_no_secret(home: Path) -> None:
    zomem = CommandLine(home, OPENAI_API_KEY="sk-something-very-secret")
    settings = zomem.json("config", "--persona", "ann")

    assert settings["openai_api_key"] == {
        "value": "***",
        "source": "environment OPENAI_API_KEY",
        "variables": ["OPENAI_API_KEY", "ZO_OPENAI_API_KEY"],
    }
    assert "sk-something" not in zomem.ok("config")
    assert not home.exists()


# -- remember, lookup, delete ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["remember", "ana", "city", "Porto"],
        ["remember", "--entity", "ana", "--key", "city", "--value", "Porto"],
        ["remember", "--entity", "ana", "city", "Porto"],
        ["store", "--entity", "ana", "--key", "city", "--value", "Porto", "--decay", "permanent"],
    ],
)
def test_a_fact_is_given_by_place_or_by_name(arguments: list[str], zomem: CommandLine) -> None:
    stored = zomem.json(*arguments)

    assert (stored["entity"], stored["key"], stored["value"]) == ("ana", "city", "Porto")
    assert zomem.json("lookup", "ana", "city")[0]["id"] == stored["id"]
    assert zomem.json("lookup", "--entity", "ana", "--key", "city")[0]["id"] == stored["id"]


def test_every_option_of_remember_reaches_the_fact(zomem: CommandLine) -> None:
    given = {
        "tier": "permanent",
        "category": "preference",
        "importance": 1.5,
        "confidence": 0.7,
        "source": "me",
    }
    named = [word for name, value in given.items() for word in (f"--{name}", str(value))]
    stored = zomem.json("remember", "ana", "tea", "green", *named, "--text", "Ana drinks green tea", "--many")

    assert {name: stored[name] for name in given} == given
    assert (stored["text"], stored["many"]) == ("Ana drinks green tea", True)


def test_a_value_may_come_from_standard_input(zomem: CommandLine) -> None:
    assert zomem.json("remember", "ana", "note", "-", given="first line\nsecond line\n")["value"] == (
        "first line\nsecond line"
    )


def test_a_new_value_takes_the_place_of_the_old_one(zomem: CommandLine) -> None:
    zomem.ok("remember", "ana", "city", "Porto")
    zomem.ok("remember", "ana", "city", "Braga")

    assert [fact["value"] for fact in zomem.json("lookup", "ana", "city")] == ["Braga"]
    found = zomem.json("search", "ana city", "--superseded")
    assert {hit["metadata"]["value"] for hit in found} == {"Porto", "Braga"}


@pytest.mark.parametrize("command", [["remember", "--batch"], ["batch-store", "--input"]])
def test_many_facts_come_from_a_json_array(command: list[str], zomem: CommandLine, tmp_path: Path) -> None:
    facts = [
        {"entity": "ana", "key": "city", "value": "Porto", "decay": "permanent"},
        {"entity": "ana", "key": "tea", "value": "green", "persona": "ann"},
    ]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(facts), "utf-8")

    stored = zomem.json(*command, str(path))

    assert [(fact["tier"], fact["persona"]) for fact in stored] == [
        ("permanent", "shared"),
        ("stable", "ann"),
    ]


@pytest.mark.parametrize(
    "given",
    [
        "{}",
        "[1]",
        "[",
        "",
        '[{"entity": "ana"}]',
        '[{"entity": "ana", "value": "x", "colour": "red"}]',
        b"\xff\xfe",
    ],
)
def test_a_batch_that_cannot_be_used_changes_nothing(given: str | bytes, zomem: CommandLine) -> None:
    result = zomem("remember", "--batch", "-", given=given)

    assert (result.exit_code, result.stdout) == (1, "")
    assert zomem.json("stats")["facts"] == 0


def test_what_looks_like_a_secret_is_refused_unless_it_is_allowed(zomem: CommandLine) -> None:
    secret = ["remember", "ana", "api key", "sk-" + "a1B2" * 12]

    assert zomem(*secret).exit_code == 1
    assert zomem(*secret, "--allow-secret").exit_code == 0


def test_what_was_deleted_is_not_found_again(zomem: CommandLine) -> None:
    fact = zomem.json("remember", "ana", "city", "Porto")

    zomem.ok("delete", fact["id"])

    assert zomem.json("search", "ana city") == []
    assert zomem("delete", fact["id"]).exit_code == 1


def test_another_persona_cannot_delete_by_id(zomem: CommandLine) -> None:
    fact = zomem.json("remember", "ana", "city", "Porto", "--persona", "ann")

    assert zomem("delete", fact["id"], "--persona", "bob").exit_code == 1
    assert zomem("delete", fact["id"], "--persona", "ann").exit_code == 0


# -- observe, capture --------------------------------------------------------------------------------


def test_a_conversation_that_has_grown_adds_only_what_is_new(zomem: CommandLine, chat: str) -> None:
    assert zomem.json("observe", chat)["turns"] == 3
    assert zomem.json("observe", chat)["turns"] == 0

    Path(chat).write_text(f"{CHAT}Assistant: A river view is worth a lot.\n", "utf-8")

    assert zomem.json("observe", chat) == {
        "turns": 1, "already_known": 3, "sessions": {"chat": 1}, "skipped": []
    }  # fmt: skip


def test_a_conversation_may_come_from_standard_input_under_a_name(zomem: CommandLine) -> None:
    assert zomem.json("observe", "-", "--session", "monday", given=CHAT)["sessions"] == {"monday": 3}


def test_each_session_of_a_file_keeps_its_name(zomem: CommandLine) -> None:
    sessions = [{"id": name, "messages": [{"role": "user", "content": f"It is {name}."}]} for name in ("a", "b")]
    document = json.dumps({"title": "week", "sessions": sessions})

    assert zomem.json("observe", "-", given=document)["sessions"] == {"week/a": 1, "week/b": 1}


def test_capture_stores_the_turns_and_counts_them(zomem: CommandLine, chat: str) -> None:
    report = zomem.json("capture", chat, "--source", "chat")

    assert (report["turns"], report["model"]) == (3, "rules")
    assert zomem.json("capture", "stats")["turns"] == 3
    assert [hit["kind"] for hit in zomem.json("search", "landlord", "--kinds", "turn")][:1] == ["turn"]


def test_a_dry_run_of_capture_shows_what_is_left_open(zomem: CommandLine, tmp_path: Path) -> None:
    chat = tmp_path / "chat.md"
    chat.write_text("User: TODO: fix the login bug.\nAssistant: ok\n", "utf-8")
    assert "fix the login bug" in zomem.ok("capture", str(chat), "--dry-run").lower()


def test_a_dry_run_of_capture_changes_nothing(zomem: CommandLine, chat: str) -> None:
    assert zomem.json("capture", chat, "--dry-run")["turns"] == 3
    assert "nothing was changed" in zomem("capture", chat, "--dry-run").stderr
    assert zomem.json("stats")["turns"] == 0


def test_capture_has_the_names_of_other_programs(zomem: CommandLine, chat: str) -> None:
    assert zomem.json("auto-capture", "--input", chat)["turns"] == 3


# -- search, recall, gate ----------------------------------------------------------------------------


def test_search_shows_one_hit_a_line_when_piped(zomem: CommandLine, chat: str) -> None:
    zomem.ok("observe", chat)
    lines = zomem.ok("search", "who is my landlord?", "--limit", "2").splitlines()

    assert [line.split("\t")[1] for line in lines] == ["kind", *["turn"] * (len(lines) - 1)]
    assert lines[1].endswith("My landlord is called Duarte.")


def test_search_explains_its_order(zomem: CommandLine, chat: str) -> None:
    zomem.ok("observe", chat)

    assert "words #1" in zomem.ok("search", "landlord", "--explain")
    assert zomem.json("search", "landlord")[0]["explanation"]["words_rank"] == 1


def test_search_keeps_to_the_times_it_is_given(zomem: CommandLine) -> None:
    told = [
        {"role": "user", "content": f"The harbour opens in {year}.", "at": f"{year}-05-03T12:00:00Z"}
        for year in (2024, 2025)
    ]
    zomem.ok("observe", "-", given=json.dumps(told))

    def found(*times: str) -> list[str]:
        return [hit["text"][-5:-1] for hit in zomem.json("search", "harbour", *times)]

    assert found("--since", "2025") == ["2025"]
    assert found("--until", "2024-05-03") == ["2024"]
    assert found("--since", "2024-05-03", "--until", "2024-05-03") == ["2024"]
    assert found("--as-of", "2024-12-31") == ["2024"]
    assert found("--since", "yesterday") == []


@pytest.mark.parametrize("query", ['"', "NEAR(", "a AND", "*", "日本", "🦀", "\udce9", "x" * 10_000])
def test_every_text_is_a_legal_query(query: str, zomem: CommandLine, chat: str) -> None:
    zomem.ok("observe", chat)

    assert zomem("search", query).exit_code == 0
    assert zomem("hybrid", "-", given=query.encode("utf-8", "replace")).exit_code == 0


def test_recall_prints_the_block_and_says_why(zomem: CommandLine, chat: str) -> None:
    zomem.ok("observe", chat)
    result = zomem("recall", "What did I tell you about my landlord?")

    assert result.exit_code == 0
    assert "Duarte" in result.stdout
    assert result.stderr.startswith("inject (")


def test_the_gate_answers_by_its_exit_code(zomem: CommandLine, chat: str) -> None:
    asked = "What did I tell you about my landlord?"

    assert (zomem("gate", "hello").exit_code, zomem("gate", asked).exit_code) == (2, 3)
    zomem.ok("observe", chat)
    injected = zomem("gate", asked)
    assert (injected.exit_code, "Duarte" in injected.stdout) == (0, True)
    assert zomem("gate", "-", given="hello\n").exit_code == 2
    assert json.loads(zomem("gate", "hello", "--json").stdout)["decision"] == "skip"


def test_what_is_missing_is_said_beside_the_answer(zomem: CommandLine, chat: str) -> None:
    zomem.ok("observe", chat)

    assert "embeddings are switched off" in zomem("search", "landlord").stderr
    assert "embeddings are switched off" in zomem("recall", "What did I say about my landlord?").stderr


def test_one_persona_does_not_see_another(zomem: CommandLine, chat: str) -> None:
    zomem.ok("observe", chat, "--persona", "ann")

    assert zomem.json("search", "landlord", "--persona", "bob") == []
    assert zomem.json("search", "landlord", "--persona", "ann") != []


# -- care --------------------------------------------------------------------------------------------


def test_stats_counts_what_is_stored(zomem: CommandLine, chat: str) -> None:
    zomem.ok("observe", chat)
    zomem.ok("remember", "ana", "city", "Porto")

    assert {name: zomem.json("stats")[name] for name in ("facts", "turns")} == {"facts": 1, "turns": 3}
    assert "turns" in zomem.ok("stats")


def test_a_healthy_memory_exits_with_zero_and_names_every_check(zomem: CommandLine) -> None:
    report = zomem.json("health")

    assert report["status"] in {"green", "yellow"}
    assert {"database", "index", "disk"} <= {check["name"] for check in report["checks"]}
    assert "words only" in zomem.ok("health")


def test_a_broken_full_text_is_red_and_repair_cures_it(zomem: CommandLine, chat: str) -> None:
    zomem.ok("observe", chat)
    with Memory.open(zomem.home, embeddings="none") as memory, memory.stores.database.write() as connection:
        connection.exec_driver_sql("INSERT INTO items_fts(items_fts) VALUES ('delete-all')")

    assert (zomem("health").exit_code, zomem("verify").exit_code) == (1, 1)
    zomem.ok("repair")
    assert (zomem("health").exit_code, zomem("verify").exit_code) == (0, 0)


def test_index_and_flush_report_what_they_did(zomem: CommandLine, chat: str) -> None:
    zomem.ok("observe", chat)

    assert zomem.json("index")["indexed"] == 0  # there is no embedder, so nothing waits
    assert zomem.json("flush") == {"indexed": 0}
    assert zomem.json("index", "--rebuild")["fulltext"] == "rebuilt"


@pytest.mark.parametrize("content", ["this is not a database" * 100, "\0" * 5_000])
def test_a_damaged_database_is_named_with_its_cure(content: str, zomem: CommandLine) -> None:
    zomem.home.mkdir()
    (zomem.home / "zomem.db").write_text(content, "utf-8")

    result = zomem("stats")

    assert result.exit_code == 1
    assert "zomem.db" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_home_that_is_a_file_is_named_with_its_cure(zomem: CommandLine) -> None:
    zomem.home.write_text("", "utf-8")

    result = zomem("remember", "ana", "city", "Porto")

    assert (result.exit_code, "--home" in result.stderr) == (1, True)


def test_an_explained_search_names_what_it_left_out(zomem: CommandLine) -> None:
    for number in range(4):
        zomem("remember", f"boat {number}", "berth", f"by the old lock {number}")

    explained = zomem("search", "berth by the old lock", "--limit", "1", "--explain")

    assert "left out: 3 behind the best 1 (" in explained.stderr
    assert "left out" not in zomem("search", "berth by the old lock", "--limit", "1").stderr
