"""From a path, a text or a stream to a conversation: decode, tell the forms apart, name what is wrong."""

import codecs
import json
import re
from pathlib import Path
from typing import IO

from zomem_graph.conversations.json_form import conversation_from_json
from zomem_graph.conversations.text_form import conversation_from_text, has_labels
from zomem_graph.conversations.transcript import Conversation
from zomem_graph.stores.errors import InvalidInput

__all__ = ["ACCEPTED_FORMS", "is_meant_as_json", "read_conversation"]

ACCEPTED_FORMS = (
    "Accepted are: text or Markdown with lines `Name: …`; a JSON list of {role, content, name?, at?}; "
    'JSON {"title", "sessions": [{"id", "at", "messages": […]}]}; a LoCoMo sample as JSON. '
    "UTF-8, one conversation a file."
)


# An object, alone or in lists, whose first key is quoted: "[todo] …", "[link](…)" and "{not json}" are prose.
_OBJECT = re.compile(r"""[\ufeff\s]*(?:\[\s*)*\{\s*["'}]""")


def is_meant_as_json(text: str) -> bool:
    """Tell whether a text is JSON, whole or broken, and no prose that begins with a bracket."""
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return False
    if _OBJECT.match(text):
        return True
    try:
        json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def read_conversation(source: str | Path | IO[str] | IO[bytes]) -> Conversation:
    """Return the conversation in a file, a text or a stream.

    A string is a text when it has more than one line, begins like JSON, or names no file and begins
    `Name: …`; else it is a path. Named speakers are users unless called assistant, AI or bot. Times
    without an offset are UTC. Raises InvalidInput naming the source, what was found and the accepted forms.
    """
    name, raw = _named_source(source)
    try:
        text = raw if isinstance(raw, str) else _decoded(raw)
        return _parsed(text.removeprefix("\ufeff"), name=name)
    except InvalidInput as error:
        raise InvalidInput(f"{name} {error}. {ACCEPTED_FORMS}") from error


def _named_source(source: str | Path | IO[str] | IO[bytes]) -> tuple[str, str | bytes]:
    if isinstance(source, Path):
        return str(source), _file_bytes(source)
    if isinstance(source, str):
        if _is_text(source):
            return "The given text", source
        return source, _file_bytes(Path(source))
    name = str(getattr(source, "name", "") or "The stream")
    try:
        # Standard input is better taken as bytes: its text layer guesses the encoding from the locale.
        return name, getattr(source, "buffer", source).read()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not {error.encoding} text. {ACCEPTED_FORMS}") from error


def _is_text(source: str) -> bool:
    if not source.strip() or "\n" in source or "\r" in source or source.lstrip("\ufeff \t")[0] in "{[":
        return True
    try:
        return not Path(source).exists() and has_labels(source)
    except (OSError, ValueError):
        return True


def _file_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; give one file. {ACCEPTED_FORMS}")
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InvalidInput(f"There is no file {path}. {ACCEPTED_FORMS}") from error
    except (OSError, ValueError) as error:  # a name that no file can have
        said = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(f"{str(path)!r} cannot be read: {said}. Check its name and permissions.") from error


def _decoded(raw: bytes) -> str:
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = raw.decode("utf-16" if wide else "utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"is binary or in another encoding than UTF-8 (byte 0x{raw[error.start]:02x} at {error.start})"
        ) from error
    if "\0" in text:
        raise InvalidInput(f"is binary (a zero byte at {text.index(chr(0))})")
    return text


def _parsed(text: str, *, name: str) -> Conversation:
    if not text.strip():
        raise InvalidInput("is empty")
    title = Path(name).stem if Path(name).suffix else "Conversation"
    if text.lstrip()[0] in "{[" or name.lower().endswith(".json"):
        try:
            document = json.loads(text)
        except RecursionError as error:
            raise InvalidInput("is JSON nested too deeply") from error
        except ValueError as error:
            # "[2026-05-18 17:25] Ana: …" begins like JSON too.
            if name.lower().endswith(".json") or (is_meant_as_json(text) and not has_labels(text)):
                raise InvalidInput(f"is broken JSON ({error})") from error
        else:
            return conversation_from_json(document, title=title)
    return conversation_from_text(text, title=title)
