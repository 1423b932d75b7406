"""Every example runs offline, in a process of its own, and shows what it promises."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

# What each must print, and what it must not.
SHOWN: dict[str, tuple[list[str], list[str]]] = {
    "deep_agent.py": (["<recalled-memory>", "Mia moved to Lisbon", "read_file", "Visit Mia in May."], ["Error"]),
    "functional_api.py": (["Lisbon", "<recalled-memory>"], []),
    "knowledge_graph.py": (
        [
            'Path found (2 hops):\n\n  [project.ffb-site.name] "FFB website redesign project"\n    -->depends_on',
            "Connected components: 1",
            "a round: [decision.hosting] -->part_of [project.ffb-site] -->depends_on [decision.hosting]",
            "still needs: ['decision.hosting']",
            'n0 -->|"depends_on"| n2',
        ],
        ["http"],
    ),
    "middleware_agent.py": (["<recalled-memory>", "Mia moved to Lisbon"], []),
    "nodes_one_by_one.py": (["event: gate", "event: retrieve", "event: compose", "event: capture", "Lisbon"], []),
    "plain_python.py": (["9090", "inject because", "Lisbon", "thanks! -> skip"], ["8080"]),
    "shared_pool.py": (
        [
            "tester: shop port: 8443",
            "auditor: knows nothing",
            "coder would ask: linter",
            "out of the pool: knows nothing",
        ],
        [],
    ),
    "store_in_a_graph.py": (
        [
            "ann: What does my cat like? -> I knew: My cat likes tuna.",
            "bob: What does my cat like? -> I knew: nothing",
        ],
        ["bob: What does my cat like? -> I knew: My cat"],
    ),
    "studio.py": (["graph TD;", "gate", "compose", "chat", "capture"], []),
    "subgraphs.py": (["Lisbon", "messages in the state: 2"], []),
    "supervisor_with_memory.py": (
        ["intern (rate_limited) then senior (ok)", "port: 9090", "delegated: senior (ok)", "breaker open"],
        [],
    ),
    "swarm_router.py": (["fix: ada", "docs: ben", "data: cleo"], []),
    "tools_agent.py": (["memory_save: Saved as", "memory_search: <recalled-memory>", "Lisbon"], ["Not saved"]),
}
# What an example needs that the tests do not install; `make compat` does.
NEEDS = {"deep_agent.py": "deepagents"}
OFFLINE = (
    "import pytest_socket, runpy, sys; pytest_socket.socket_allow_hosts(['127.0.0.1', '::1']);"
    "runpy.run_path(sys.argv[1], run_name='__main__')"
)


def test_every_example_is_tried() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_the_example_runs_offline_and_shows_what_it_promises(name: str, tmp_path: Path) -> None:
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    command = [sys.executable, "-W", "error", "-c", OFFLINE, str(EXAMPLES / name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    wanted, unwanted = SHOWN[name]
    assert [text for text in wanted if text not in done.stdout] == [], done.stdout
    assert [text for text in unwanted if text in done.stdout] == [], done.stdout


@pytest.mark.parametrize("name", SHOWN)
def test_the_example_says_how_to_run_it(name: str) -> None:
    text = (EXAMPLES / name).read_text("utf-8")
    assert f"Run it: python examples/{name}" in text
    assert len(text.splitlines()) < 90
