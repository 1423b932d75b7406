"""The suites of `zomem bench time`, in small: they run, and nothing is stale, lost, retired or back."""

import json

import pytest
from typer.testing import CliRunner

from zomem_graph.bench.budget import budget
from zomem_graph.bench.cli import app
from zomem_graph.bench.concurrency import concurrency
from zomem_graph.bench.erase import erase
from zomem_graph.bench.marks import judged
from zomem_graph.bench.suites import run
from zomem_graph.bench.truth import look_alikes, updates
from zomem_graph.stores.errors import UnknownName


@pytest.mark.parametrize("json_asked", [[], ["--json"]])
def test_one_suite_by_name_gives_one_document_and_the_exit_code_says_whether_it_passed(json_asked: list[str]) -> None:
    ended = CliRunner().invoke(app, ["time", "--suite", "look-alikes", "--seed", "7", *json_asked])
    told = json.loads(ended.stdout)
    assert (ended.exit_code, told["passed"], list(told["suites"])) == (0, True, ["look-alikes"])
    assert {"passed", "n", "seed", "missed", "seconds"} <= told["suites"]["look-alikes"].keys()
    assert told["suites"]["look-alikes"]["seed"] == 7


def test_a_suite_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(UnknownName, match="no suite 'updats'; there are updates, look-alikes"):
        run(["updats"])


def test_a_missed_mark_is_named() -> None:
    figures = {"stale": 2, "kept": 0.8, "missing": None}
    told = judged("s", n=9, seed=1, figures=figures, marks={"stale": 0, "kept": (0.7, None), "missing": (None, 1)})
    assert (told["passed"], told["missed"]) == (False, ["stale", "missing"])


def test_changed_slots_give_no_stale_answer_and_keep_their_past() -> None:
    found = updates(slots=12)
    assert found["changes"] > 20
    assert (found["stale"], found["stale_lookups"]) == (0, 0)
    assert (found["incomplete_histories"], found["wrong_as_of"]) == (0, 0)


def test_facts_that_look_alike_all_stay() -> None:
    found = look_alikes(groups=3)
    assert (found["wrongly_retired"], found["taken_as_one"], found["wrongly_flagged"]) == (0, 0, 0)


def test_what_is_erased_leaves_no_trace_and_stays_away() -> None:
    found = erase(items=160, erased=16)
    assert found["found_before"] == 16
    assert found["reports_clean"]
    assert (found["traces"], found["returned"], found["back_after_import"]) == (0, 0, 0)


def test_processes_on_the_same_slots_lose_nothing() -> None:
    found = concurrency(processes=2, slots=4, rounds=2)
    assert (found["failed_processes"], found["slots_without_one_current_value"], found["lost"]) == (0, 0, 0)


def test_a_long_talk_keeps_to_its_budget_and_leaves_out_what_matters_least() -> None:
    found = budget(turns=60, size=3_000)
    assert (found["over"], found["over_the_line"], found["left_out_before_a_lesser"]) == (0, 0, 0)
    assert found["crowded"] > 0
    assert found["criticals"] > 0
    assert found["passed"]
