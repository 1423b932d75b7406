"""`zomem models`: what runs here, and what fetching says when it cannot be had."""

from pathlib import Path

import pytest

from .command_line import CommandLine
from .onnx_files import write_minilm_like


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    return CommandLine(home)


def test_the_list_says_what_is_there_and_how_to_get_the_rest(zomem: CommandLine) -> None:
    listed = {row["model"]: row for row in zomem.json("models", "list")}

    assert set(listed) == {"local:e5-small", "local:use-m3", "local:minilm", "chroma:minilm"}
    assert listed["local:minilm"] == {
        "model": "local:minilm",
        "there": False,
        "from": "zomem models fetch minilm",
        "for": "vectors and late interaction, English",
    }
    assert "local:minilm\tno" in zomem.ok("models")
    assert not zomem.home.exists()


def test_a_model_file_that_lies_in_the_home_is_listed(zomem: CommandLine) -> None:
    path = zomem.home / "models" / "minilm" / "model_fp16.onnx"
    write_minilm_like(path)

    row = next(row for row in zomem.json("models") if row["model"] == "local:minilm")
    assert (row["there"], row["from"]) == (True, str(path))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "There is minilm"),
        (["minilm", "--from", "nowhere.whl"], "There is no file nowhere.whl"),
        (["minilm", "--from", __file__], "its SHA-256 is"),
    ],
)
def test_what_cannot_be_fetched_is_refused_with_a_reason(words: list[str], said: str, zomem: CommandLine) -> None:
    result = zomem("models", "fetch", *words)

    assert result.exit_code == 1
    assert said in result.stderr
