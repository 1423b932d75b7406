"""From bytes to text: UTF-8 with or without its mark, UTF-16, and what old programs wrote."""

import codecs
from collections.abc import Iterator
from typing import IO, Final

from zomem_graph.stores.errors import InvalidInput

__all__ = ["decode", "utf8_stream"]

_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LATIN_NOTE: Final = "is not UTF-8; read as Windows-1252"
_PIECE: Final = 65_536


def decode(raw: bytes) -> tuple[str, str | None]:
    """Return the text with plain line ends, and a note when the encoding had to be guessed.

    Raises InvalidInput for what is no text at all.
    """
    text, note = _decoded(raw)
    if "\0" in text:
        raise InvalidInput("is binary, not text")
    return text.replace("\r\n", "\n").replace("\r", "\n"), note


def _decoded(raw: bytes) -> tuple[str, str | None]:
    if raw.startswith(_WIDE):
        return raw.decode("utf-16", "replace"), None
    try:
        return raw.decode("utf-8-sig"), None
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("cp1252"), _LATIN_NOTE
    except UnicodeDecodeError:
        return raw.decode("latin-1"), _LATIN_NOTE


class _Utf8:
    """A stream of UTF-8 bytes; what is broken becomes a replacement sign."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        """Return about `size` bytes, nothing at the end."""
        if size == 0:
            return b""
        if not self._rest:
            self._rest = next((piece for piece in self._pieces if piece), b"")
        size = len(self._rest) if size < 0 else size
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


def utf8_stream(stream: IO[bytes]) -> IO[bytes]:
    """Return the stream as clean UTF-8 without a mark in front, whatever Unicode form it has."""
    return _Utf8(_pieces(stream))  # type: ignore[return-value]  # JSON readers only read


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    data = stream.read(_PIECE)
    codec = "utf-16" if data.startswith(_WIDE) else "utf-8-sig"
    decoder = codecs.getincrementaldecoder(codec)("replace")
    while data:
        yield decoder.decode(data).encode("utf-8", "replace")
        data = stream.read(_PIECE)
    yield decoder.decode(b"", True).encode("utf-8", "replace")
