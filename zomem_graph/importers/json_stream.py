"""Big JSON, one value at a time: the elements of a long list never stand in memory together."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import IO, Any, Final

from zomem_graph.importers.decoding import utf8_stream
from zomem_graph.stores.errors import InvalidInput

__all__ = ["BrokenJson", "JsonValues", "TooLarge"]

_DEEPEST: Final = 500
_COST_OF_A_VALUE: Final = 16  # characters' worth of memory, about, beside the text itself

Events = Iterator[tuple[str, Any]]


class BrokenJson(InvalidInput):
    """The JSON cannot be read any further; what came before it was."""


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Stands for a value that was not read because it is too large or nested too deeply."""

    reason: str


class JsonValues:
    """The values of a JSON stream, one by one.

    They are the elements of the list it holds; when it holds an object, those of the lists with one of the
    names in `lists`, or the object itself when it has none of these. `header` is what else the object said
    so far. Iterating raises BrokenJson where the JSON breaks.
    """

    def __init__(self, stream: IO[bytes], *, lists: Collection[str] = (), largest: int = 32_000_000) -> None:
        self._stream = stream
        self._lists = lists
        self._largest = largest
        self.header: dict[str, Any] = {}
        self.list_name = ""

    def __iter__(self) -> Iterator[Any]:
        from ijson import basic_parse  # type: ignore[import-untyped]  # it has no stubs
        from ijson.common import JSONError  # type: ignore[import-untyped]  # as above

        events: Events = iter(basic_parse(utf8_stream(self._stream), buf_size=65_536))
        try:
            event, value = next(events)
            if event == "start_array":
                yield from self._elements(events)
            elif event == "start_map":
                yield from self._members(events)
            else:
                yield _scalar(value)
            next(events, None)  # what stands behind the end is an error
        except JSONError as error:
            raise BrokenJson(f"is broken JSON: {_first_line(error)}") from error

    def _elements(self, events: Events) -> Iterator[Any]:
        for event, value in events:
            if event == "end_array":
                return
            yield self._value(event, value, events)

    def _members(self, events: Events) -> Iterator[Any]:
        found_list = False
        for event, name in events:
            if event == "end_map":
                break
            event, value = next(events)
            if event == "start_array" and name in self._lists:
                found_list, self.list_name = True, name
                yield from self._elements(events)
            else:
                self.header[name] = self._value(event, value, events)
        if not found_list:
            unread = next((one for one in self.header.values() if isinstance(one, TooLarge)), None)
            yield unread or self.header

    def _value(self, event: str, value: Any, events: Events) -> Any:
        """Return one whole value; read past it when it is too large."""
        if event == "start_map":
            return _built({}, events, largest=self._largest)
        if event == "start_array":
            return _built([], events, largest=self._largest)
        return _scalar(value)


def _built(root: Any, events: Events, *, largest: int) -> Any:
    """Return the object or list that has just begun. One loop, since every message of an export runs here."""
    here, name, size = root, "", 0
    above: list[tuple[Any, str]] = []
    for event, value in events:
        if event == "map_key":
            name = value
            size += len(value)
            continue
        if event in ("end_map", "end_array"):
            if not above:
                return root
            here, name = above.pop()
            continue
        begins = event in ("start_map", "start_array")
        made: Any = ({} if event == "start_map" else []) if begins else _scalar(value)
        if type(here) is dict:
            here[name] = made
        else:
            here.append(made)
        size += _COST_OF_A_VALUE + (len(made) if type(made) is str else 0)
        if begins:
            above.append((here, name))
            here = made
        if size > largest or len(above) > _DEEPEST:
            _read_past(events, len(above) + 1)
            return TooLarge("nested too deeply" if len(above) > _DEEPEST else f"larger than {largest:,} bytes")
    raise BrokenJson("is broken JSON: it ends too early")


def _read_past(events: Events, depth: int) -> None:
    for event, _value in events:
        if event in ("start_map", "start_array"):
            depth += 1
        elif event in ("end_map", "end_array"):
            depth -= 1
            if depth == 0:
                return


def _scalar(value: Any) -> Any:
    return float(value) if type(value) is Decimal else value


def _first_line(error: BaseException) -> str:
    said = error.args[0] if error.args else "it ends too early"
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return " ".join(text.splitlines()[:1])[:120] or "it ends too early"
