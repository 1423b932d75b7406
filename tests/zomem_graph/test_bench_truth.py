"""The suites of truth, in small: they run, and nothing is stale, lost, retired or back."""

from zomem_graph.bench.truth import SUITES, concurrency, erase, look_alikes, updates


def test_the_suites_have_names() -> None:
    assert set(SUITES) == {"updates", "look-alikes", "erase", "concurrency"}


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
