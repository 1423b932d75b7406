"""Where settings come from, which source wins, and what is never shown."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.settings import VARIABLES, Settings
from zomem_graph.stores.errors import InvalidInput


def write_yaml(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "zomem.yaml").write_text(text, "utf-8")


def test_without_any_setting_memory_lives_in_the_users_folder() -> None:
    settings = Settings.load()

    assert settings.home == Path.home() / ".zomem"
    assert settings.database_file == settings.home / "zomem.db"
    assert (settings.port, settings.hyde_default, settings.routing_strategy) == (48400, True, "balanced")
    assert set(settings.sources.values()) == {"default"}


def test_an_argument_beats_the_environment_beats_the_file_beats_the_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_yaml(home, "persona: file\nport: 1111\nmodel_gate: none\n")
    monkeypatch.setenv("ZOMEM_PERSONA", "environment")
    monkeypatch.setenv("PORT", "2222")

    settings = Settings.load(home, persona="argument")

    assert (settings.persona, settings.port, settings.model_gate) == ("argument", 2222, "none")
    assert settings.sources["persona"] == "argument"
    assert settings.sources["port"] == "environment PORT"
    assert settings.sources["model_gate"] == "zomem.yaml"
    assert settings.sources["model_hyde"] == "default"


def test_the_home_of_the_environment_is_where_the_file_is_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_yaml(home, "persona: ada")
    monkeypatch.setenv("ZOMEM_HOME", str(home))

    assert Settings.load().persona == "ada"
    assert Settings.load().sources["home"] == "environment ZOMEM_HOME"


@pytest.mark.parametrize("variable", [name for names in VARIABLES.values() for name in names])
def test_an_empty_variable_counts_as_unset(variable: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "")

    assert set(Settings.load(home).sources.values()) == {"default", "argument"}


def test_the_key_has_two_names_and_the_official_one_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZO_OPENAI_API_KEY", "second")
    assert Settings.load().openai_api_key == "second"

    monkeypatch.setenv("OPENAI_API_KEY", "first")
    assert Settings.load().openai_api_key == "first"


def test_each_workload_may_have_its_own_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZO_MODEL_GATE", "openai:small")
    monkeypatch.setenv("ZO_MODEL_CAPTURE", "openai:middle")
    monkeypatch.setenv("ZO_EVOLUTION_MODEL", "openai:large")

    settings = Settings.load()

    assert settings.model_for("gate") == "openai:small"
    assert settings.model_for("capture") == "openai:middle"
    assert settings.model_for("evolution") == "openai:large"
    assert settings.model_for("hyde") is None
    assert settings.model_for("no such workload") is None


def test_the_database_file_may_lie_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZO_MEMORY_DB", "~/other.db")

    assert Settings.load(home).database_file == Path.home() / "other.db"


@pytest.mark.parametrize(
    ("variable", "value", "allowed"),
    [
        ("PORT", "eighty", "1 to 65535"),
        ("PORT", "70000", "1 to 65535"),
        ("ZO_HYDE_DEFAULT", "perhaps", "true or false"),
        ("SWARM_ROUTING_STRATEGY", "fastest", "fast, reliable, balanced or explore"),
    ],
)
def test_a_bad_value_names_its_variable_and_what_is_allowed(
    variable: str, value: str, allowed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)

    with pytest.raises(InvalidInput, match=f"^{variable} is '{value}'.*{allowed}"):
        Settings.load()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("persona: [a, b]", "persona .zomem.yaml. is .*must be a text"),
        ("port: many", "port .zomem.yaml. is 'many'.*Its variable is PORT"),
        ("persna: ada", "no setting 'persna'.*persona"),
        ("- persona", "name: value"),
        ("a: b: c", "cannot be read"),
        ("openai_api_key: [sk-secret]", r"openai_api_key .zomem.yaml. is \*\*\*"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_with_the_reason(text: str, said: str, home: Path) -> None:
    write_yaml(home, text)

    with pytest.raises(InvalidInput, match=said):
        Settings.load(home)


def test_a_misspelt_argument_is_refused(home: Path) -> None:
    with pytest.raises(InvalidInput, match="database_url"):
        Settings.load(home, databse_url="sqlite://")


def test_secrets_and_passwords_are_never_shown(home: Path) -> None:
    settings = Settings.load(
        home,
        openai_api_key="sk-very-hush",
        mcp_token="token-hush",
        database_url="postgresql+psycopg://ada:pass-hush@db.example/memory?password=more-hush",
        chroma_url="https://token-hush@chroma.example",
        openai_base_url="http://127.0.0.1:8080/v1",
    )
    shown = f"{settings!r} {settings} {settings.masked()}"

    assert "hush" not in shown
    assert settings.masked()["openai_api_key"] == "***"
    assert settings.masked()["database_url"] == "postgresql+psycopg://ada:***@db.example/memory?password=***"
    assert settings.masked()["openai_base_url"] == "http://127.0.0.1:8080/v1"
    assert settings.openai_api_key == "sk-very-hush"


@given(
    st.sampled_from(sorted(VARIABLES.keys() - {"home"})),
    st.none() | st.text() | st.integers() | st.booleans() | st.lists(st.text()),
)
def test_any_value_is_either_taken_or_refused(name: str, value: object) -> None:
    with suppress(InvalidInput):
        taken = getattr(Settings.load("/nowhere", **{name: value}), name)
        assert value is None or isinstance(taken, str | int | Path)


def test_pydantic_is_not_imported_for_texts() -> None:
    code = (
        "import sys; from zomem_graph.settings import Settings; Settings.load('/nowhere', persona='ada');"
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
