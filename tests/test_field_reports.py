"""Every reported fault has its tests, or a reason why it cannot happen here."""

import ast
import functools
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
REPORTS = tomllib.loads((ROOT / "tests" / "field_reports.toml").read_text("utf-8"))

ROWS = {
    1, 2, 4, 5, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 29, 30, 31, 32, 33, 35,
    37, 38, 39, 40, 41, 42, 43, 45, 46, 48, 49, 50, 51, 53, 54, 55, 56, 58, 59, 61, 63, 64, 66, 67, 68, 69,
    71, 72, 73, 75, 76, 77, 78, 80, 81, 82, 84, 85, 86, 87, 88, 89, 90, 91, 93, 94, 95, 96, 97, 98, 99, 101,
    102, 103, 104, 105, 106, 107, 108, 110, 111, 112, 114, 115, 116, 117, 119, 120, 122, 124, 125, 126, 127,
}  # fmt: skip


def faults_in(report: dict[str, Any]) -> list[str]:
    """Return what is wrong with one row; empty when it may stand."""
    if report.keys() not in ({"fault", "tests"}, {"fault", "why"}):
        return [f"a row has a fault and one of tests and why; this one has {sorted(report)}"]
    if "why" in report:
        return [] if len(report["why"].split()) > 3 else ["a reason takes more than three words"]
    missing = [name for name in report["tests"] if not exists(name)]
    return [f"{name} does not exist" for name in missing] if report["tests"] else ["no test is named"]


def exists(test: str) -> bool:
    path, _, function = test.partition("::")
    return (ROOT / path).is_file() and function in names_in(ROOT / path)


@functools.cache
def names_in(path: Path) -> frozenset[str]:
    """Return the tests of a file as pytest names them, without the parameters in brackets."""
    names = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names |= {f"{node.name}::{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return frozenset(name for name in names if name.split("::")[-1].startswith("test_"))


def test_every_row_of_the_survey_is_here() -> None:
    assert {int(number) for number in REPORTS} == ROWS


@pytest.mark.parametrize("number", REPORTS)
def test_a_reported_fault_is_answered(number: str) -> None:
    assert faults_in(REPORTS[number]) == []


@pytest.mark.parametrize(
    "report",
    [
        {"fault": "a fault nobody answers"},
        {"fault": "a test that is gone", "tests": ["tests/test_field_reports.py::test_nothing"]},
        {"fault": "a file that is gone", "tests": ["tests/test_nothing.py::test_nothing"]},
        {"fault": "not a test", "tests": ["tests/test_field_reports.py::exists"]},
        {"fault": "no test", "tests": []},
        {"fault": "two answers", "why": "it cannot happen here at all", "tests": []},
        {"fault": "no reason", "why": "does not apply"},
        {"fault": "never", "later": "some day"},
    ],
    ids=lambda report: report["fault"],
)
def test_a_row_without_a_real_answer_is_noticed(report: dict[str, Any]) -> None:
    assert faults_in(report)
