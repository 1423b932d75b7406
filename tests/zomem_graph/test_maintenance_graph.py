"""Maintenance as a graph: the same steps in the same order as the plain call."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from zomem_graph import Memory
from zomem_graph.graphs import create_maintenance_graph
from zomem_graph.nodes.steps.maintain import STEPS
from zomem_graph.nodes.values import plain
from zomem_graph.stores.errors import MaintenanceBusy
from zomem_graph.testing import FixedClock

VARYING = ("run_id", "started_at", "finished_at")


def aged(folder: Path) -> tuple[Memory, FixedClock]:
    """Return a memory in which every step has something to do."""
    clock = FixedClock()
    memory = Memory.open(folder, embeddings="none", clock=clock)
    memory.remember("task", "now", "sort the mail", tier="session")
    memory.remember("user", "likes", "quiet evenings at home", many=True)
    clock.advance(hours=1)
    memory.remember("user", "likes", "the quiet evening at home", many=True)
    memory.loops.create("Fix the login page")
    clock.advance(days=20)
    return memory, clock


def told(report: dict[str, Any]) -> Any:
    """Return a report without ids, which differ from run to run."""
    steps = [
        (step["step"], [(one["move"], one["text"]) for one in step["changes"]], step["counts"], step["notes"])
        for step in report["steps"]
    ]
    return steps, report["dry_run"], report["notes"]


@pytest.mark.parametrize("options", [{}, {"dry_run": True}, {"only": ["merge", "expire"]}, {"max_changes": 2}])
def test_the_graph_and_the_plain_call_do_the_same(tmp_path: Path, options: dict[str, Any]) -> None:
    first, _clock = aged(tmp_path / "plain")
    with first:
        by_call = told(plain(first.maintain(**options)))
        after_call = first.stats()
    second, _clock = aged(tmp_path / "graph")
    with second:
        state = create_maintenance_graph(second, **options).compile().invoke({})
        assert told(state["maintenance_report"]) == by_call
        after_graph = second.stats()
    assert {**after_graph, "home": ""} == {**after_call, "home": ""}


def test_the_graph_runs_without_blocking_too(tmp_path: Path) -> None:
    memory, _clock = aged(tmp_path)
    with memory:
        graph = create_maintenance_graph(memory).compile()
        state = asyncio.run(graph.ainvoke({}))
        assert [step["step"] for step in state["maintenance_report"]["steps"]] == list(STEPS)
        assert memory.maintain_undo().undone


def test_the_nodes_have_the_names_of_the_steps_in_order(tmp_path: Path) -> None:
    memory, _clock = aged(tmp_path)
    with memory:
        drawn = create_maintenance_graph(memory).compile().get_graph()
        assert list(drawn.nodes) == ["__start__", "begin", *STEPS, "report", "__end__"]


def test_a_graph_that_needs_a_persona_elsewhere_needs_none_here(tmp_path: Path) -> None:
    with Memory.open(tmp_path, embeddings="none", strict_scope=True) as memory:
        assert create_maintenance_graph(memory).compile().invoke({})["maintenance_report"]["steps"]


def test_a_second_graph_at_once_says_so(tmp_path: Path) -> None:
    memory, _clock = aged(tmp_path)
    with memory:
        lock = memory.stores.maintenance_lock()
        assert lock.try_hold(wait_seconds=0)
        with pytest.raises(MaintenanceBusy):
            create_maintenance_graph(memory).compile().invoke({})
        lock.release()


@pytest.mark.parametrize("second", ["call", "graph", "undo"])
def test_nobody_comes_between_the_nodes_of_a_run(tmp_path: Path, second: str) -> None:
    memory, clock = aged(tmp_path)
    others = {
        "call": memory.maintain,
        "graph": lambda: create_maintenance_graph(memory).compile().invoke({}),
        "undo": memory.maintain_undo,
    }
    with memory:
        for event in create_maintenance_graph(memory).compile().stream({}):
            if "report" not in event:
                clock.advance(seconds=30)
                with pytest.raises(MaintenanceBusy, match="graph runs maintenance"):
                    others[second]()
            last = event
        assert sum(len(step["changes"]) for step in last["report"]["maintenance_report"]["steps"]) == 3
        others[second]()


def test_a_run_that_was_broken_off_is_taken_over_after_a_minute_and_then_stops(tmp_path: Path) -> None:
    memory, clock = aged(tmp_path)
    with memory:
        broken = create_maintenance_graph(memory).compile().stream({})
        assert "begin" in next(broken)
        clock.advance(seconds=61)
        assert len(memory.maintain().changes) == 3
        with pytest.raises(MaintenanceBusy, match="another one took its place"):
            list(broken)


def test_a_run_that_waited_long_goes_on_where_nobody_came_between(tmp_path: Path) -> None:
    memory, clock = aged(tmp_path)
    with memory:
        waiting = create_maintenance_graph(memory).compile().stream({})
        next(waiting)
        clock.advance(days=1)
        assert "report" in list(waiting)[-1]


def test_a_dry_run_neither_waits_for_another_nor_hinders_it(tmp_path: Path) -> None:
    memory, _clock = aged(tmp_path)
    with memory:
        running = create_maintenance_graph(memory).compile().stream({})
        next(running)
        assert memory.maintain(dry_run=True).changes
        assert "report" in list(running)[-1]
