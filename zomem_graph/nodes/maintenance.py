"""Maintenance as nodes: one a step, between a node that begins the run and one that reports on it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from langchain_core.runnables import Runnable

from zomem_graph.nodes.care_values import StepReport
from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.node import MemoryNode, Running
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import choice, of_kind
from zomem_graph.nodes.steps.maintain import STEPS, Upkeep, alone, begin, finish, one_step
from zomem_graph.nodes.steps.upkeep import Round
from zomem_graph.nodes.values import known, plain

__all__ = ["create_begin_node", "create_maintenance_node", "create_report_node"]


def create_begin_node(memory: Services, *, wanted: Upkeep | None = None) -> Runnable[Any, dict[str, Any]]:
    """Return the node that begins a run of maintenance and writes `maintenance_run`."""
    chosen = Upkeep() if wanted is None else of_kind("wanted", wanted, Upkeep)

    def step(_state: Mapping[str, Any], _running: Running) -> Flow[dict[str, Any]]:
        with alone(memory, chosen):
            this = yield from work(lambda: begin(memory, chosen, by_nodes=True))
        return {"maintenance_run": plain(this), "maintenance_steps": [], "maintenance_report": {}}

    return MemoryNode("begin", step, memory, of_everybody=True)


def create_maintenance_node(
    memory: Services, name: str, *, wanted: Upkeep | None = None
) -> Runnable[Any, dict[str, Any]]:
    """Return the node of one step of maintenance; it adds its report to `maintenance_steps`."""
    choice("name", name, STEPS)
    chosen = Upkeep() if wanted is None else of_kind("wanted", wanted, Upkeep)

    def step(state: Mapping[str, Any], running: Running) -> Flow[dict[str, Any]]:
        reports = list(state.get("maintenance_steps") or [])
        this = _round(state).after([StepReport.from_plain(report) for report in reports])
        with alone(memory, chosen, run_id=this.run_id):
            report = yield from one_step(memory, name, this)
        running.emit({"memory": "maintenance", "step": name, "changes": len(report.changes)})
        return {"maintenance_steps": [*reports, plain(report)]}

    return MemoryNode(name, step, memory, of_everybody=True)


def create_report_node(memory: Services, *, wanted: Upkeep | None = None) -> Runnable[Any, dict[str, Any]]:
    """Return the node that ends a run of maintenance and writes `maintenance_report`."""
    chosen = Upkeep() if wanted is None else of_kind("wanted", wanted, Upkeep)

    def step(state: Mapping[str, Any], _running: Running) -> Flow[dict[str, Any]]:
        reports = [StepReport.from_plain(report) for report in state.get("maintenance_steps") or []]
        this = _round(state)
        with alone(memory, chosen, run_id=this.run_id):
            report = yield from work(lambda: finish(memory, this, reports))
        return {"maintenance_report": plain(report)}

    return MemoryNode("report", step, memory, of_everybody=True)


def _round(state: Mapping[str, Any]) -> Round:
    run = state["maintenance_run"]
    return Round(**{**known(Round, run), "started_at": datetime.fromisoformat(run["started_at"])})
