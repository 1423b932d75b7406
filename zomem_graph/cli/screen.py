"""What reaches the screen: answers on standard output, everything else on standard error.

Stored text may hold terminal codes, markup or broken characters. It is made visible here, so that
showing a memory never does anything but show it.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, TextIO

import typer

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Advance", "Branch", "Screen", "harmless", "one_line", "silence"]

# Told how many more are done.
Advance = Callable[[int], None]

_UNHARMED = "\n\t"
_TURNS_TEXT_AROUND = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BREAKS_LINES = frozenset("\u2028\u2029")
_DELETE, _PICTURES = 0x7F, 0x2400


def harmless(text: str) -> str:
    """Return a text in which control characters, direction marks and broken characters are visible signs."""
    if text.isascii() and text.isprintable():
        return text
    return "".join([_sign(character) for character in text])


def one_line(text: str) -> str:
    """Return a harmless text on one line."""
    return " ".join(harmless(text).split())


def _sign(character: str) -> str:
    code = ord(character)
    if character in _UNHARMED:
        return character
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == _DELETE:
        return "␡"
    if 0x80 <= code < 0xA0:
        return f"\\x{code:02x}"
    if 0xD800 <= code < 0xE000 or character in _TURNS_TEXT_AROUND or character in _BREAKS_LINES:
        return f"\\u{code:04x}"
    return character


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of a tree and what hangs on it."""

    text: str
    branches: tuple["Branch", ...] = ()


class Screen:
    """The two streams of one call; tables and bars appear on a terminal only."""

    def __init__(self) -> None:
        # A stream that was closed before the start is None.
        self._out = sys.stdout or StringIO()
        self._err = sys.stderr or StringIO()

    def line(self, text: str = "") -> None:
        """Write text and an end of line to standard output."""
        self._write(f"{harmless(text)}\n")

    def note(self, text: str) -> None:
        """Write one line to standard error."""
        _put(self._err, f"{harmless(text)}\n")

    def document(self, value: object) -> None:
        """Write one JSON document to standard output, whatever characters it holds."""
        plain_text = not _is_utf8(self._out)
        text = json.dumps(value, ensure_ascii=plain_text, indent=2, default=str)
        if not plain_text:
            text = "".join([_as_json(character) for character in text])
        self._write(f"{text}\n")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]], *, below: str = "") -> None:
        """Show rows as a table on a terminal, with a line `below`; else one a line with tabs between the cells.

        The first line names the columns; without rows there is none.
        """
        if self._out.isatty():
            self._rich_table(columns, rows)
            if below:
                self.line(below)
            return
        lines = ["\t".join(one_line(cell) for cell in row) for row in rows]
        for line in ["\t".join(columns), *lines] if lines else ():
            self.line(line)

    def tree(self, root: Branch) -> None:
        """Show a tree with its lines drawn on a terminal, else one branch a line, further in for each step."""
        if self._out.isatty():
            self._rich_tree(root)
            return
        waiting = [(root, 0)]
        while waiting:
            branch, step = waiting.pop()
            self.line(f"{'  ' * step}{one_line(branch.text)}")
            waiting += [(each, step + 1) for each in reversed(branch.branches)]

    def pairs(self, values: Mapping[str, object]) -> None:
        """Show names and values, one a line."""
        if not values:
            return
        width = max(len(name) for name in values)
        for name, value in values.items():
            self.line(f"{name.ljust(width)}  {one_line(str(value))}")

    @contextmanager
    def progress(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """Show a bar on standard error while the block runs; on no terminal, nothing."""
        if not self._err.isatty():
            yield lambda _more: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        counted = [MofNCompleteColumn()] if total is not None else []
        with Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            *counted,
            TimeElapsedColumn(),
            console=_console(self._err),
        ) as bar:
            task = bar.add_task(label, total=total)
            yield lambda more: bar.advance(task, more)

    def _rich_table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
        for number, column in enumerate(columns):
            table.add_column(column, overflow="fold", no_wrap=number == 0)
        for row in rows:
            table.add_row(*(Text(harmless(cell)) for cell in row))
        _console(self._out).print(table)

    def _rich_tree(self, root: Branch) -> None:
        from rich.text import Text
        from rich.tree import Tree

        drawn = Tree(Text(one_line(root.text), style="bold"))
        waiting = [(drawn, root)]
        while waiting:
            parent, branch = waiting.pop()
            waiting += [(parent.add(Text(one_line(each.text))), each) for each in branch.branches]
        _console(self._out).print(drawn)

    def _write(self, text: str) -> None:
        try:
            _put(self._out, text)
        except BrokenPipeError as error:
            silence(self._out)
            raise typer.Exit(0) from error  # whoever reads has seen enough


def silence(stream: TextIO | None) -> None:
    """Send what a stream still holds nowhere, so that nothing fails when the interpreter ends."""
    if stream is None:
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return  # no real file stands behind it


def _put(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def _as_json(character: str) -> str:
    return f"\\u{ord(character):04x}" if _sign(character) != character else character


def _console(stream: TextIO) -> "Console":
    from rich.console import Console

    return Console(file=stream, markup=False, highlight=False, emoji=False)
