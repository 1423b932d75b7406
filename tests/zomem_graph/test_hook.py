"""The always-on use: a host's hook is answered, and the host is never stopped."""

import json
from pathlib import Path

import pytest

from tests.zomem_graph.command_line import CommandLine
from zomem_graph import Memory, Scope
from zomem_graph.testing import ScriptedOpenAIServer


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    with Memory.open(tmp_path / "home", embeddings="none") as memory:
        memory.observe([{"role": "user", "content": "My sister Mia lives in Lisbon."}], scope=Scope(persona="me"))
    return CommandLine(tmp_path / "home")


def test_the_block_is_printed_for_a_message_that_needs_it(line: CommandLine) -> None:
    said = json.dumps({"prompt": "where does my sister live?", "session_id": "s1"})
    assert "Lisbon" in line.ok("gate", "--hook", "--persona", "me", given=said)


def test_nothing_is_printed_for_a_greeting(line: CommandLine) -> None:
    assert line.ok("gate", "--hook", "--persona", "me", given=json.dumps({"prompt": "hello"})).strip() == ""


@pytest.mark.parametrize(
    "said",
    ["", "not json", "[]", '"text"', '{"prompt": 5}', "{}", '{"message": {"content": "hi"}}', '{"prompt": " "}'],
)
def test_a_host_is_never_stopped_and_what_went_wrong_is_said(line: CommandLine, said: str) -> None:
    result = line("gate", "--hook", "--persona", "me", given=said)

    assert (result.exit_code, result.stdout) == (0, "")
    assert "memory did not answer: " in result.stderr
    assert '{"prompt": "where did we leave off?"}' in result.stderr


def test_the_log_names_the_provider_that_really_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedOpenAIServer("An imagined note about invoices.") as server:
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with Memory.open(tmp_path / "home", embeddings="none") as memory:
            memory.remember("billing", "process", "invoices by Stripe")
            memory.search("how do we get paid?")
    lines = (tmp_path / "home" / "model-calls.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[0])["provider"] == f"openai@127.0.0.1:{server.base_url.split(':')[2].split('/')[0]}"
    assert (tmp_path / "home" / "model-calls.jsonl").stat().st_mode & 0o777 == 0o600
