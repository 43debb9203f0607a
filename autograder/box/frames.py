"""Frames: a fixed prefix (magic, two lengths), a JSON header, and then the numbers of its tensors.

Everything a sandbox sends is counted and measured before any object is made from it: a worker grows by at most twice
the size of a frame.
"""

import itertools
import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from autograder.limits import size

Json = Any
"""What `json.loads` returns."""

MAX_HEADER_BYTES = 8 << 20
MAX_MARKS = 1_000_000  # brackets, commas and quotes in JSON: each can stand for an object of some dozens of bytes
MAX_TENSORS = 1_000
MAX_DIMENSIONS = 16
MAX_ELEMENTS = 4_000_000  # of a tensor; dimensions of length 0 count as 1, so that empty tensors are bounded too
MAX_LENGTH = 1_000_000  # of a dimension

_PREFIX = struct.Struct(">4sII")
_MAGIC = b"KTZ1"
_TENSORS = "tensors"  # in the header: the dtype and the shape of each

DTYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}
"""The dtypes that may cross, by their names on the wire."""

_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class ProtocolError(Exception):
    """The other side sent something that the protocol does not allow."""


class TooLarge(Exception):
    """A value that is too large or too deeply nested to cross."""


@dataclass(frozen=True)
class Frame:
    """One message: a JSON object, and the tensors that it refers to by number."""

    header: dict[str, Json]
    tensors: list[Tensor] = field(default_factory=list)


class FrameReader:
    """Assembles a frame from bytes as they arrive, and asks for no byte beyond its end."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self._lengths: tuple[int, int] | None = None

    @property
    def missing(self) -> int:
        """Return how many bytes to read next; 0 when the frame is complete."""
        end = _PREFIX.size if self._lengths is None else _PREFIX.size + sum(self._lengths)
        return end - len(self._data)

    def feed(self, data: bytes) -> None:
        """Add bytes, at most `missing` of them.

        Raises:
            ProtocolError: they do not start a frame, or start one that is too long.
        """
        self._data += data
        if self._lengths is None and len(self._data) >= _PREFIX.size:
            magic, header, payload = _PREFIX.unpack_from(self._data)
            require(magic == _MAGIC, "not a frame")
            require(0 < header <= MAX_HEADER_BYTES and header + payload <= self._limit, "a frame that is too long")
            self._lengths = header, payload

    def frame(self) -> Frame:
        """Return the complete frame, its JSON and tensors checked, and empty the reader.

        At most, this takes the memory of the frame once more: received bytes are dropped before unpacking.
        """
        assert self._lengths is not None, "not complete yet"
        middle = _PREFIX.size + self._lengths[0]
        received, self._data = self._data, bytearray()
        header = _parse(bytes(received[_PREFIX.size : middle]))
        with memoryview(received)[middle:] as payload:
            return Frame(header, _unpack(header.pop(_TENSORS, []), payload))


def encode_frame(frame: Frame, limit: int) -> bytes:
    """Return the bytes of a frame.

    Raises:
        TooLarge: they are more than `limit`.
    """
    described = {_TENSORS: [[_NAMES[one.dtype], list(one.shape)] for one in frame.tensors]} if frame.tensors else {}
    text = json.dumps({**frame.header, **described}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    header, payload = text.encode(), b"".join(map(_pack, frame.tensors))
    if len(header) > MAX_HEADER_BYTES or len(header) + len(payload) > limit:
        raise TooLarge(f"{size(len(header) + len(payload))} in one message")
    return _PREFIX.pack(_MAGIC, len(header), len(payload)) + header + payload


def _parse(text: bytes) -> dict[str, Json]:
    """Parse strict JSON: an object, no duplicate keys, no NaN, no lone surrogates, no absurd numbers or nesting."""
    require(_count_marks(text) <= MAX_MARKS, "JSON that is too large")
    try:
        header = json.loads(
            text.decode(),
            object_pairs_hook=_object,
            parse_constant=_number,
            parse_int=_integer,
            parse_float=_number,
        )
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"unreadable JSON: {type(error).__name__}") from error
    require(type(header) is dict, "a header that is not an object")
    return dict(header)


def _count_marks(text: bytes) -> int:
    """Count the brackets, commas and quotation marks in JSON outside its strings."""
    quoted = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    quotes = quoted.count(b'"')
    if quotes > MAX_MARKS:
        return quotes
    outside = b"".join(quoted.split(b'"')[::2])
    return quotes + sum(map(outside.count, (b"{", b"[", b",")))


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    require(len(result) == len(pairs), "a duplicate key")
    return result


def _integer(digits: str) -> int:
    require(len(digits) <= 21, "an integer that is too long")
    return int(digits)


def _number(digits: str) -> float:
    """Parse a finite number: Python's JSON also accepts others, such as `NaN`."""
    value = float(digits)
    require(len(digits) <= 40 and math.isfinite(value), "a number that is out of range")
    return value


def _pack(tensor: Tensor) -> bytes:
    """Return the numbers of a tensor as bytes, row by row."""
    if tensor.dtype == torch.bfloat16:  # numpy has no such type
        tensor = tensor.view(torch.int16)
    return tensor.numpy().tobytes()


def _unpack(described: Json, payload: memoryview) -> list[Tensor]:
    """Return the tensors with these numbers. All are measured before the first is made.

    Raises:
        ProtocolError: they may not cross, or do not match the header.
    """
    require(type(described) is list and len(described) <= MAX_TENSORS, "too many tensors")
    ends = list(itertools.accumulate(map(_taken, described), initial=0))
    require(ends[-1] == len(payload), "tensors that do not fill their place")
    tensors = []
    for (name, shape), (begin, end) in zip(described, itertools.pairwise(ends), strict=True):
        numbers = bytearray(payload[begin:end])
        if name == "BOOL":  # torch takes any byte for a bool and then contradicts itself
            require(not numbers.strip(b"\0\1"), "a boolean that is neither 0 nor 1")
        dtype = DTYPES[name]
        tensors.append((torch.frombuffer(numbers, dtype=dtype) if numbers else torch.empty(0, dtype=dtype)).view(shape))
    return tensors


def _taken(described: Json) -> int:
    """Return how many bytes a tensor takes, if it may cross."""
    require(type(described) is list and len(described) == 2, "a misdescribed tensor")
    dtype, shape = described
    require(type(dtype) is str and dtype in DTYPES, "a tensor of another dtype")
    is_list = type(shape) is list and all(type(length) is int and length >= 0 for length in shape)
    require(is_list and fits(shape), "a tensor that is misdescribed, or too large")
    numbers: int = math.prod(shape)
    return numbers * DTYPES[dtype].itemsize


def fits(shape: Sequence[int]) -> bool:
    """Return whether a tensor may cross. An empty one takes no bytes, but its length still costs time."""
    if len(shape) > MAX_DIMENSIONS or max(shape, default=0) > MAX_LENGTH:
        return False
    return math.prod(max(length, 1) for length in shape) <= MAX_ELEMENTS


def require(condition: bool, problem: str) -> None:
    """Check a condition.

    Raises:
        ProtocolError: it does not hold.
    """
    if not condition:
        raise ProtocolError(problem)
