"""Writes ONNX model files without the onnx package: as much of the format as a fixed graph needs.

An ONNX file is one protobuf message; the field numbers below are those of onnx.proto (IR version 8).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["FLOAT", "OnnxGraph"]

Field = tuple[int, int | float | bytes]

_IR_VERSION, _OPSET = 8, 17  # LayerNormalization is an operator from opset 17 on
FLOAT = 1  # what ONNX calls float32
_TENSOR_TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): 7, np.dtype(np.float16): 10}
_A_FLOAT, _AN_INT, _INTS = 1, 2, 7  # attribute types
_VARINT, _BYTES, _FIXED32 = 0, 2, 5  # wire types


class OnnxGraph:
    """A graph that grows by constants and nodes, then is written whole.

    Names of tensors are plain texts; each node makes one and returns its name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []

    def input(self, name: str, dtype: type, shape: Sequence[str | int]) -> str:
        """Declare an input; a text in the shape is a free dimension of that name."""
        self._inputs.append(_value_info(name, dtype, shape))
        return name

    def output(self, tensor: str, dtype: type, shape: Sequence[str | int]) -> None:
        """Declare a tensor to be an output."""
        self._outputs.append(_value_info(tensor, dtype, shape))

    def constant(self, name: str, values: NDArray[np.generic]) -> str:
        """Keep values in the file, in the type they have: float32, float16 or int64."""
        if name not in self._constants:
            self._constants[name] = _message(
                *((1, size) for size in values.shape),
                (2, _TENSOR_TYPES[values.dtype]),
                (8, name.encode()),
                (9, values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()),
            )
        return name

    def node(self, operator: str, *inputs: str, named: str | None = None, **attributes: object) -> str:
        """Add an operator and return its output, named as told or by its place."""
        made = named or f"{operator}_{len(self._nodes)}"
        self._nodes.append(
            _message(
                *((1, name.encode()) for name in inputs),
                (2, made.encode()),
                (3, f"n{len(self._nodes)}".encode()),
                (4, operator.encode()),
                *((5, _attribute(name, value)) for name, value in attributes.items()),
            )
        )
        return made

    def write(self, path: Path) -> None:
        """Write the model file; the same graph gives the same bytes."""
        graph = _message(
            *((1, node) for node in self._nodes),
            (2, self._name.encode()),
            *((5, constant) for constant in self._constants.values()),
            *((11, one) for one in self._inputs),
            *((12, one) for one in self._outputs),
        )
        path.write_bytes(_message((1, _IR_VERSION), (2, b"zomem-graph"), (7, graph), (8, _message((2, _OPSET)))))


def _value_info(name: str, dtype: type, shape: Sequence[str | int]) -> bytes:
    sizes = _message(
        *(
            (1, _message((1, size) if isinstance(size, int) else (2, size.encode())))  # dim_value, dim_param
            for size in shape
        )
    )
    tensor = _message((1, _TENSOR_TYPES[np.dtype(dtype)]), (2, sizes))
    return _message((1, name.encode()), (2, _message((1, tensor))))


def _attribute(name: str, value: object) -> bytes:
    if isinstance(value, float):
        return _message((1, name.encode()), (2, value), (20, _A_FLOAT))
    if isinstance(value, int):
        return _message((1, name.encode()), (3, value), (20, _AN_INT))
    if isinstance(value, Sequence):
        return _message((1, name.encode()), *((8, int(one)) for one in value), (20, _INTS))
    raise TypeError(f"{name} is a {type(value).__name__}; attributes are numbers or lists of whole numbers.")


def _message(*fields: Field) -> bytes:
    return b"".join(part for field, value in fields for part in _field(field, value))


def _field(field: int, value: int | float | bytes) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield _varint(field << 3 | _BYTES)
        yield _varint(len(value))
        yield value
    elif isinstance(value, float):
        yield _varint(field << 3 | _FIXED32)
        yield np.float32(value).astype("<f4").tobytes()
    else:
        yield _varint(field << 3 | _VARINT)
        yield _varint(value)


def _varint(value: int) -> bytes:
    """Return a whole number seven bits at a time; a negative one as its 64-bit complement."""
    value &= (1 << 64) - 1
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
