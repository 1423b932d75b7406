"""Work that goes on, from the command line: open loops, episodes, trends and the recall that takes it up."""

from pathlib import Path

import pytest

from .command_line import CommandLine

LOGIN = "Fix the login page"


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


def titles(zomem: CommandLine, *words: str) -> list[str]:
    return [loop["title"] for loop in zomem.json("loops", *words)]


# -- loops -------------------------------------------------------------------------------------------


def test_a_loop_is_opened_listed_and_shown_by_the_first_characters_of_its_id(zomem: CommandLine) -> None:
    loop = zomem.json("loops", "create", LOGIN, "--entity", "site", "--owner", "ana")

    assert titles(zomem) == titles(zomem, "--status", "open", "--entity", "site") == [LOGIN]
    assert zomem.json("open-loops", "--status", "open")[0]["id"] == loop["id"]
    assert zomem.json("loops", "show", loop["id"][:8])["owner"] == "ana"
    assert zomem.ok("loops").splitlines()[1].split("\t")[0] == loop["id"][:8]
    assert LOGIN in zomem.ok("loops", "show", loop["id"])


def test_what_a_text_says_is_done_leaves_the_list_and_can_be_reopened(zomem: CommandLine) -> None:
    zomem.ok("loops", "create", LOGIN)

    (closed,) = zomem.json("resolve-loop", "The login page is fixed now")

    assert (closed["status"], titles(zomem), titles(zomem, "--status", "resolved")) == ("resolved", [], [LOGIN])
    zomem.ok("loops", "reopen", closed["id"])
    assert titles(zomem) == [LOGIN]


def test_a_loop_is_resolved_by_its_id_too(zomem: CommandLine) -> None:
    loop = zomem.json("loops", "create", LOGIN)

    assert zomem.json("resolve-loop", "--id", loop["id"][:8], "nobody uses it")[0]["resolution"] == "nobody uses it"


def test_a_text_that_closes_nothing_says_so(zomem: CommandLine) -> None:
    zomem.ok("loops", "create", LOGIN)
    result = zomem("resolve-loop", "The weather is fine")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "no open loop" in result.stderr
    assert titles(zomem) == [LOGIN]


def test_a_snoozed_loop_sleeps_until_it_is_woken(zomem: CommandLine) -> None:
    loop = zomem.json("loops", "create", LOGIN)

    zomem.ok("loops", "snooze", loop["id"][:8], "--until", "in 2 hours")
    assert (titles(zomem), titles(zomem, "--status", "snoozed")) == ([], [LOGIN])

    zomem.ok("loops", "wake", loop["id"])
    assert titles(zomem) == [LOGIN]


# -- episodes, trends --------------------------------------------------------------------------------


def test_episodes_are_stored_and_listed_by_outcome_entity_and_time(zomem: CommandLine) -> None:
    went = ["episodes", "create", "--summary", "Deployed the site", "--entity", "site", "--entity", "ana"]
    stored = zomem.json(*went, "--at", "2026-03-05")
    zomem.ok("episodes", "--create", "--summary", "The backup broke", "--outcome", "failure", "--entity", "backup")

    def found(*words: str) -> list[str]:
        return [episode["summary"] for episode in zomem.json("episodes", *words)]

    assert (stored["outcome"], stored["entities"]) == ("success", ["ana", "site"])
    assert found() == ["The backup broke", "Deployed the site"]
    assert found("--outcome", "failure") == found("--since", "7 days ago") == ["The backup broke"]
    assert (
        found("--entity", "site") == found("--since", "2026-03-01", "--until", "2026-03-05") == ["Deployed the site"]
    )
    assert "ana, site" in zomem.ok("episodes", "show", stored["id"][:8])


def test_an_episode_takes_duration_entities_and_metadata(zomem: CommandLine) -> None:
    told = ["--summary", "Moved it", "--entities", "site, ana", "--duration", "1500", "--metadata", '{"ticket": 7}']
    by_word = zomem.json("episodes", "create", *told, "--entity", "nginx")
    by_flag = zomem.json("episodes", "--create", *told, "--outcome", "failure")

    assert (by_word["entities"], by_word["duration_ms"]) == (["ana", "nginx", "site"], 1500)
    assert (by_flag["metadata"], by_flag["outcome"]) == ({"ticket": 7}, "failure")
    assert [line.split("\t")[2] for line in zomem.ok("episodes").splitlines()] == [
        "outcome",
        "✗ failure",
        "✓ success",
    ]
    assert '"ticket": 7' in zomem.ok("episodes", "show", by_word["id"])


def test_trends_tell_how_an_entity_fared_period_by_period(zomem: CommandLine) -> None:
    for outcome in ("success", "failure"):
        zomem.ok(
            "episodes", "create", "--summary", outcome, "--outcome", outcome, "--entity", "site", "--at", "2026-03-05"
        )
    asked = ["--granularity", "month", "--since", "2026-01-01"]

    (month,) = zomem.json("trends", "site", *asked)

    assert month == {
        "period": "2026-03", "total": 2, "succeeded": 1, "failed": 1, "rate": 0.5, "finished_rate": 0.5
    }  # fmt: skip
    assert zomem.ok("trends", "--entity", "site", *asked) == (
        "period\ttotal\twent well\tfailed\tof all\tof finished\n2026-03\t2\t1\t1\t50%\t50%\n"
    )
    assert "no episodes of nobody" in zomem("trends", "nobody").stderr


# -- continuation, search ----------------------------------------------------------------------------


def test_continuation_recalls_what_is_open_whatever_the_message_is(zomem: CommandLine) -> None:
    zomem.ok("loops", "create", LOGIN)
    result = zomem("continuation", "where did we leave off?")

    assert result.exit_code == 0
    assert LOGIN in result.stdout
    assert zomem.json("continuation", "-", given="go on\n")["decision"] == "inject"
    assert zomem.json("continuation", "go on", "--persona", "bob")["decision"] in {"inject", "empty"}


def test_search_leaves_links_and_imagined_answers_out_when_told(zomem: CommandLine) -> None:
    zomem.ok("remember", "ana", "city", "Porto")

    assert [hit["text"] for hit in zomem.json("hybrid", "ana city", "--no-hyde", "--no-graph")] != []


# -- wrong use ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["continuation"], "MESSAGE"),
        (["loops", "--status", "lost"], "status must be one of"),
        (["loops", "show", "abcdef"], "No loop has the id 'abcdef'"),
        (["loops", "snooze", "abcdef", "--until", "in 2 hours"], "No loop has the id 'abcdef'"),
        (["loops", "snooze", "abcdef"], "--until"),
        (["loops", "reopen", "abcdef"], "No loop has the id"),
        (["resolve-loop"], "Say what is done"),
        (["resolve-loop", "--id", "abcdef"], "No loop has the id"),
        (["episodes", "create"], "--summary"),
        (["episodes", "--create"], "--summary"),
        (["episodes", "--summary", "x"], "episodes create"),
        (["episodes", "--duration", "5"], "episodes create"),
        (["episodes", "create", "--summary", "x", "--duration", "-1"], "--duration"),
        (["episodes", "create", "--summary", "x", "--metadata", "{"], "no JSON"),
        (["episodes", "create", "--summary", "x", "--metadata", "[1]"], "JSON object"),
        (["episodes", "--outcome", "great"], "outcome must be one of"),
        (["episodes", "--since", "the other day"], "cannot be read as a time"),
        (["episodes", "show", "abcdef"], "No episode has the id"),
        (["trends"], "ENTITY"),
        (["trends", "a", "--entity", "b"], "once"),
        (["trends", "a", "--granularity", "hour"], "--granularity"),
    ],
)
def test_wrong_use_of_these_ends_with_one_and_one_clear_line(
    arguments: list[str], said: str, zomem: CommandLine
) -> None:
    result = zomem(*arguments)

    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr
    assert all(line.startswith(("zomem: ", "See ")) for line in result.stderr.splitlines())


def test_summaries_are_written_listed_and_shown(zomem: CommandLine) -> None:
    assert "no summaries" in zomem("summaries").stderr
    for number in range(25):
        told = f"Looked after part {number} of the house"
        zomem.ok("episodes", "create", "--summary", told, "--at", "2026-01-05")

    (planned,) = zomem.json("summaries", "run", "--dry-run")["written"]
    (written,) = zomem.json("summaries", "run")["written"]
    assert planned["summary"] == written["summary"]
    assert [one["id"] for one in zomem.json("summaries", "--level", "1")] == [written["id"]]
    assert written["sources"][0][:8] in zomem.ok("summaries", "show", written["id"][:8])
    assert "nothing is due" in zomem("summaries", "run").stderr
    assert zomem("summaries", "show", "nothing").exit_code == 1
