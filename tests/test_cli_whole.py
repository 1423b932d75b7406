"""The command line as a whole: every command has help with an example, is documented, and answers --json.

The pages under docs/reference are written by .ci/reference.py; `make reference` brings them up to date.
"""

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from zomem_graph.cli import COMMANDS, app
from zomem_graph.cli.examples import EXAMPLES

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reference"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / ".ci" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = loaded()
LEAVES = list(reference.leaves())
PATHS = [leaf.path for leaf in LEAVES]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found: dict[str, Any] = reference.documents(tmp_path_factory.mktemp("samples"))
    return found


def documented_names() -> dict[str, Any]:
    """Return the names that docs/reference/cli-json.md promises, by command."""
    page = (PAGES / "cli-json.md").read_text("utf-8")
    blocks = re.findall(r"^## zomem ([^\n]+)\n\n```json\n(.*?)\n```", page, re.MULTILINE | re.DOTALL)
    return {path: reference.names_in(json.loads(block)) for path, block in blocks}


def test_no_command_is_named_twice_and_none_is_forgotten() -> None:
    assert len(PATHS) == len(set(PATHS))
    assert {path.split()[0] for path in PATHS} == {name for name, entry in COMMANDS.items() if not entry.hidden}
    assert set(EXAMPLES) <= set(PATHS)


@pytest.mark.parametrize("leaf", LEAVES, ids=PATHS)
def test_each_command_has_help_and_an_example_that_is_understood(leaf: Any) -> None:
    example = reference.example_of(leaf)
    words = reference._words(example.rpartition(" | ")[2].replace('"', "'"))

    assert (leaf.command.help or "").strip()
    assert words[:1] == ["zomem"], example
    assert words[1] in COMMANDS, example
    named = {option for each in leaf.command.params for option in (*each.opts, *each.secondary_opts)}
    given = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert given <= named | {"--json", "--home", "--persona"}, example


@pytest.mark.parametrize("name", ["cli.md", "settings.md", "mcp-tools.md"])
def test_the_reference_is_what_the_code_says(name: str) -> None:
    assert (PAGES / name).read_text("utf-8") == reference.PAGES[name](), "run `make reference`"


def test_each_command_takes_the_options_of_every_command() -> None:
    odd = {
        leaf.path
        for leaf in LEAVES
        if not {"home", "persona", "as_json"} <= {parameter.name for parameter in leaf.command.params}
    }

    assert {path.split()[0] for path in odd} <= {"bench"}  # each of its suites prints one JSON document anyway


def test_each_command_answers_with_one_document_or_has_a_published_reason() -> None:
    sampled = {sample.path for sample in reference.SAMPLES}
    excused = set(reference.NO_DOCUMENT)

    assert {path for path in PATHS if not path.startswith("bench ")} <= sampled | excused
    assert not sampled & excused


def test_the_documents_keep_the_names_they_promise(documents: dict[str, Any]) -> None:
    promised = documented_names()
    found = {path: reference.names_in(document) for path, document in documents.items()}

    assert set(promised) == set(found)
    for path, names in promised.items():
        missing = set(names) - set(found[path]) if isinstance(names, list) else set()
        assert not missing, f"{path} no longer answers {sorted(missing)}; run `make reference` if that is meant"


def test_a_shell_completes_commands_and_options() -> None:
    def completed(typed: str) -> str:
        variables = {"_ZOMEM_COMPLETE": "complete_bash", "COMP_WORDS": f"zomem {typed}", "COMP_CWORD": "1"}
        return CliRunner().invoke(app, [], prog_name="zomem", env=variables).stdout

    assert {"search", "serve"} <= set(completed("se").split())


def test_what_is_piped_is_plain(tmp_path: Path) -> None:
    home = {"ZOMEM_HOME": str(tmp_path / "home"), "ZO_MODEL_EMBEDDING": "none"}
    runner = CliRunner()
    runner.invoke(app, ["remember", "ana", "city", "Porto"], env=home)

    for words in (["search", "ana"], ["lookup", "ana"], ["stats"], ["config"], ["health"], ["metrics"]):
        assert "\x1b" not in runner.invoke(app, words, env=home).stdout, words


def test_the_overview_lists_every_command_under_a_heading() -> None:
    overview = CliRunner().invoke(app, ["--help"]).stdout

    assert typer.main.get_command(app) is not None
    for name, entry in COMMANDS.items():
        assert entry.hidden or (entry.panel in overview and f" {name} " in overview), name
