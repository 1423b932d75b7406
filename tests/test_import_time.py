"""What a first touch may load: the heavy libraries wait until something needs them."""

import subprocess
import sys

import pytest

from zomem_graph.cli import COMMANDS

HEAVY = {
    "alembic", "chromadb", "langchain", "langchain_core", "langchain_openai", "langgraph", "mcp", "networkx",
    "openai", "pydantic_settings", "sqlmodel",
}  # fmt: skip
WORD_MODULES = {entry.target.partition(":")[0] for entry in COMMANDS.values()}

# What is run, and how it ends; each asks a memory that is there already.
READING_COMMANDS = [
    (["gate", "hello"], 2),
    (["gate", "what did I tell you about my sister?"], 0),
    (["recall", "what did I tell you about my sister?"], 0),
    (["search", "sister"], 0),
    (["lookup", "ana"], 0),
    (["stats"], 0),
    (["config"], 0),
]


def modules_after(statement: str, *arguments: str) -> set[str]:
    """Return the modules a fresh interpreter holds after running a statement."""
    code = f"import sys\n{statement}\nprint('\\n', *sys.modules)"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def loaded_by(statement: str, *arguments: str) -> set[str]:
    """Return the top-level ones of them."""
    return {name.split(".")[0] for name in modules_after(statement, *arguments)}


def call(code: int) -> str:
    """Return the statement that runs `zomem` with the arguments and expects an exit code."""
    return f"""
from zomem_graph.cli import main
try:
    main()
except SystemExit as end:
    assert end.code == {code}, end.code"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A memory that was made and filled by an earlier call."""
    folder = tmp_path_factory.mktemp("import-time")
    facts = b'[{"entity": "ana", "key": "sister", "value": "My sister Ana is a nurse"}]'
    command = [
        sys.executable,
        "-m",
        "zomem_graph",
        "--home",
        str(folder / "home"),
        "remember",
        "--batch",
        "-",
    ]
    subprocess.run(command, input=facts, env={"HOME": str(folder)}, capture_output=True, timeout=120, check=True)
    return str(folder / "home")


@pytest.mark.parametrize("statement", ["import zomem_graph", "import zomem_graph.stores, zomem_graph.nodes"])
def test_an_import_loads_nothing_heavy(statement: str) -> None:
    assert loaded_by(statement) & HEAVY == set()


def test_a_heavy_library_would_be_noticed() -> None:
    assert "networkx" in loaded_by("import networkx") & HEAVY


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_the_overview_loads_no_command_and_no_memory(arguments: list[str]) -> None:
    loaded = modules_after(call(0), *arguments)

    assert {name for name in loaded if name.removeprefix("zomem_graph.") in WORD_MODULES} == set()
    assert "zomem_graph.memory" not in loaded
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()


def test_a_command_loads_only_its_own_file(home: str) -> None:
    loaded = modules_after(call(2), "gate", "hello", "--home", home)

    assert {name for name in loaded if name.removeprefix("zomem_graph.") in WORD_MODULES} == {"zomem_graph.cli.gate"}


@pytest.mark.parametrize(("arguments", "code"), READING_COMMANDS)
def test_reading_commands_load_nothing_heavy(arguments: list[str], code: int, home: str) -> None:
    assert loaded_by(call(code), *arguments, "--home", home) & HEAVY == set()
