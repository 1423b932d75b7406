"""What reaches a terminal, a pipe or another program: stored text is shown and never acts."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph import Memory
from zomem_graph.cli.screen import harmless, one_line

from .command_line import CommandLine

EVIL = "red \x1b[31m[bold]x[/bold] \x9b2J bell\x07 \u202egnp.exe back\x08space \udce9 :smile: \r\x00 end"


@pytest.fixture(scope="module")
def zomem(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A memory that holds one evil fact and one evil turn."""
    home = tmp_path_factory.mktemp("cli") / "home"
    with Memory.open(home, embeddings="none") as memory:
        memory.remember("ana", "note", EVIL)
        memory.observe([{"role": "user", "content": f"my evil note: {EVIL}"}])
    return CommandLine(home)


def on_a_terminal(arguments: list[str], environment: Mapping[str, str]) -> str:
    """Return what a terminal would receive."""
    mine, theirs = pty.openpty()
    command = [sys.executable, "-m", "zomem_graph", *arguments]
    variables = {**environment, "TERM": "xterm-256color", "COLUMNS": "200"}
    running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=variables)
    os.close(theirs)
    received = b""
    while True:
        try:
            part = os.read(mine, 65_536)
        except OSError:
            break
        if not part:
            break
        received += part
    os.close(mine)
    assert running.wait(timeout=60) == 0, received
    return received.decode("utf-8")


def controls_in(text: str) -> set[str]:
    return {c for c in text if unicodedata.category(c) in {"Cc", "Cs"} or c == "\u202e"}


@given(st.text() | st.text(alphabet=st.characters(categories=["Cc", "Cs", "Cf"])))
def test_harmless_text_holds_no_control_but_line_breaks_and_tabs(text: str) -> None:
    assert controls_in(harmless(text)) <= {"\n", "\t"}
    assert controls_in(one_line(text)) == set()


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert harmless(text) == text


def test_joined_emoji_and_scripts_survive() -> None:
    for text in ("👩‍👩‍👧", "می‌خواهم", "日本語", "é"):
        assert harmless(text) == text


@pytest.mark.parametrize("arguments", [["search", "note"], ["lookup", "ana"], ["search", "note", "--explain"]])
def test_stored_text_does_nothing_to_a_terminal(arguments: list[str], zomem: CommandLine) -> None:
    received = on_a_terminal(arguments, zomem.variables())

    assert "␛[31m[bold]x[/bold]" in received.replace("\r\n", "")
    assert ":smile:" in received
    for sign in ("\x1b[31m", "\x9b", "\x07", "\u202e", "\x08", "\x00"):
        assert sign not in received


@pytest.mark.parametrize("arguments", [["search", "note"], ["lookup", "ana"], ["recall", "what was my evil note?"]])
def test_what_is_piped_holds_no_controls_either(arguments: list[str], zomem: CommandLine) -> None:
    done = zomem.process(*arguments)

    assert done.returncode == 0
    assert controls_in(done.stdout.decode("utf-8")) <= {"\n", "\t"}
    assert b"[bold]x" in done.stdout


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_json_keeps_every_character_in_every_encoding(encoding: str, zomem: CommandLine) -> None:
    done = zomem.process("lookup", "ana", "--json", env={**zomem.variables(), "PYTHONIOENCODING": encoding})

    assert json.loads(done.stdout.decode(encoding))[0]["value"] == EVIL
    assert controls_in(done.stdout.decode(encoding)) == {"\n"}


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_words_a_terminal_cannot_show_are_written_out(encoding: str, zomem: CommandLine) -> None:
    done = zomem.process("lookup", "ana", env={**zomem.variables(), "PYTHONIOENCODING": encoding})

    assert (done.returncode, b"\\u241b[31m" in done.stdout) == (0, True)


def test_an_answer_of_another_encoding_on_the_command_line_is_text(zomem: CommandLine) -> None:
    assert zomem.process("search", b"caf\xe9 \xff").returncode == 0


def test_a_message_on_standard_input_need_not_be_utf_8(zomem: CommandLine) -> None:
    assert zomem.process("search", "-", input=b"\xff\x00\xfe evil").returncode == 0


def test_a_reader_that_has_seen_enough_is_no_failure(zomem: CommandLine) -> None:
    for arguments in (["search", "note"], ["--help"], ["lookup", "ana", "--json"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = zomem.process(*arguments, capture_output=False, stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)

        assert (done.returncode, done.stderr.replace(b"note: embeddings", b"").count(b"Error")) == (0, 0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full on this system")
def test_a_full_disk_behind_the_output_is_told(zomem: CommandLine) -> None:
    with Path("/dev/full").open("wb") as full:
        done = zomem.process("stats", capture_output=False, stdout=full, stderr=subprocess.PIPE)

    assert done.returncode == 1
    assert done.stderr.decode().strip() == "zomem: No space left on device"


def test_closed_streams_are_no_failure(zomem: CommandLine) -> None:
    line = f"{sys.executable} -m zomem_graph stats >&- 2>&- <&-"

    assert subprocess.run(["sh", "-c", line], env=zomem.variables(), timeout=60, check=False).returncode == 0
    line = f"{sys.executable} -m zomem_graph gate - <&-"
    done = subprocess.run(["sh", "-c", line], env=zomem.variables(), timeout=60, check=False, capture_output=True)
    assert (done.returncode, b"standard input is closed" in done.stderr) == (1, True)


def test_ctrl_c_ends_quietly(zomem: CommandLine) -> None:
    command = [sys.executable, "-m", "zomem_graph", "search", "-"]
    began = time.monotonic()
    zomem.process("search", "evil")
    usual = time.monotonic() - began
    running = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**zomem.variables(), "PYTHONUNBUFFERED": "1"},
        # A shell's background job, as these tests may be, ignores Ctrl-C and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # before any thread
    )
    time.sleep(2 * usual + 1)  # it waits for its standard input by then, however busy the machine is
    running.send_signal(signal.SIGINT)
    _out, said = running.communicate(timeout=30)

    assert (running.returncode, said.decode().strip()) == (1, "zomem: stopped")


def test_notes_and_progress_leave_standard_output_to_the_answer(zomem: CommandLine) -> None:
    done = zomem.process("recall", "what was my evil note?", "--json")

    assert json.loads(done.stdout)["decision"] == "inject"
    assert b"note: embeddings are switched off" in done.stderr


def test_progress_is_shown_on_a_terminal(zomem: CommandLine) -> None:
    assert "indexing" in on_a_terminal(["index"], zomem.variables())
    assert b"indexing" not in zomem.process("index").stderr


def test_a_terminal_shows_trends_with_a_sparkline(home: Path) -> None:
    zomem = CommandLine(home)
    with Memory.open(home, embeddings="none") as memory:
        for day, outcome in (("2026-01-05", "success"), ("2026-01-08", "failure"), ("2026-01-08", "success")):
            memory.episodes.create("Deployed", outcome=outcome, entities=["site"], happened_at=day)

    shown = on_a_terminal(["trends", "site", "--granularity", "day", "--since", "2026-01-01"], zomem.variables())
    assert "█··▅" in shown
