"""Frames: a fixed prefix (magic, two lengths), a JSON header, and the header's tensors as one safetensors blob.

Whatever a sandbox sends is counted and measured before anything is made of it: a worker grows by at most twice the size
of a frame.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from safetensors.numpy import save as save_arrays
from safetensors.torch import load, save
from torch import Tensor

from autograder.limits import size

Json = Any
"""What `json.loads` returns."""

MAX_HEADER_BYTES = 8 << 20
MAX_MARKS = 1_000_000  # brackets, commas and quotes in JSON: each can stand for an object of some dozens of bytes
MAX_TENSORS = 1_000
MAX_TENSOR_HEADER_BYTES = 256 * MAX_TENSORS
MAX_DIMENSIONS = 16
MAX_ELEMENTS = 4_000_000  # of a tensor; dimensions of length 0 count as 1, so that empty tensors are bounded too
MAX_LENGTH = 1_000_000  # of a dimension

_PREFIX = struct.Struct(">4sII")
_MAGIC = b"KTZ1"
_TENSOR_PREFIX = struct.Struct("<Q")

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
"""What may cross, by the names that safetensors have."""


class ProtocolError(Exception):
    """The other side sent something that the protocol does not allow."""


class TooLarge(Exception):
    """A value that is too large, or too deep, to cross."""


@dataclass(frozen=True)
class Frame:
    """One message: a JSON object, and the tensors that it refers to by number."""

    header: dict[str, Json]
    tensors: list[Tensor] = field(default_factory=list)


class FrameReader:
    """Puts one frame together from bytes as they arrive, and asks for no byte beyond its end."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self._lengths: tuple[int, int] | None = None

    @property
    def missing(self) -> int:
        """How many bytes to read next; 0 when the frame is complete."""
        end = _PREFIX.size if self._lengths is None else _PREFIX.size + sum(self._lengths)
        return end - len(self._data)

    def feed(self, data: bytes) -> None:
        """Take in bytes, at most `missing` of them.

        Raises:
            ProtocolError: they do not begin a frame, or one that is too long.
        """
        self._data += data
        if self._lengths is None and len(self._data) >= _PREFIX.size:
            magic, header, payload = _PREFIX.unpack_from(self._data)
            require(magic == _MAGIC, "not a frame")
            require(0 < header <= MAX_HEADER_BYTES and header + payload <= self._limit, "a frame that is too long")
            self._lengths = header, payload

    def frame(self) -> Frame:
        """The complete frame, with its JSON and its tensors checked. The reader is empty after that.

        What it takes in memory, at most, is the frame once more: what was received is dropped before it is unpacked.
        """
        assert self._lengths is not None, "not complete yet"
        middle = _PREFIX.size + self._lengths[0]
        with memoryview(self._data) as received:
            text, blob = bytes(received[_PREFIX.size : middle]), bytes(received[middle:])
        self._data = bytearray()
        header = _parse(text)
        return Frame(header, _unpack(blob))


def encode_frame(frame: Frame, limit: int) -> bytes:
    """The bytes of a frame.

    Raises:
        TooLarge: there are more than `limit`.
    """
    text = json.dumps(frame.header, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    header, payload = text.encode(), _pack(frame.tensors)
    if len(header) > MAX_HEADER_BYTES or len(header) + len(payload) > limit:
        raise TooLarge(f"{size(len(header) + len(payload))} in one message")
    return _PREFIX.pack(_MAGIC, len(header), len(payload)) + header + payload


def _parse(text: bytes) -> dict[str, Json]:
    """Strict JSON: an object, no duplicate keys, no NaN, no lone surrogates, no absurd numbers or nesting."""
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
    """How many brackets, commas and quotation marks there are in JSON, outside its strings."""
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
    """A finite number: JSON's own extension has names for others, such as `NaN`."""
    value = float(digits)
    require(len(digits) <= 40 and math.isfinite(value), "a number that is out of range")
    return value


def _pack(tensors: Sequence[Tensor]) -> bytes:
    if not tensors:
        return b""
    named = {str(number): tensor for number, tensor in enumerate(tensors)}
    if any(tensor.dtype == torch.bfloat16 for tensor in tensors):  # numpy has no such type
        return save(named)
    return save_arrays({name: tensor.numpy() for name, tensor in named.items()})  # in a third of the time of `save`


def _unpack(blob: bytes) -> list[Tensor]:
    if not blob:
        return []
    _check_tensors(blob)
    try:
        tensors = load(blob)
    except Exception as error:  # the reader has error classes of its own, and more to come
        raise ProtocolError("unreadable safetensors") from error
    for tensor in tensors.values():
        if tensor.dtype == torch.bool:  # torch takes any byte for a bool and then contradicts itself
            require(not bool((tensor.view(torch.uint8) > 1).any()), "a boolean that is neither 0 nor 1")
    return [tensors[str(number)] for number in range(len(tensors))]


def _check_tensors(blob: bytes) -> None:
    """Count the tensors of a safetensors blob, and measure each, before anything is made of it.

    Raises:
        ProtocolError: it holds anything but tensors that may cross, numbered from 0, one behind the other.
    """
    require(len(blob) >= _TENSOR_PREFIX.size, "unreadable safetensors")
    (length,) = _TENSOR_PREFIX.unpack_from(blob)
    start = _TENSOR_PREFIX.size + length
    require(length <= MAX_TENSOR_HEADER_BYTES, "too many tensors, or too much about them")
    require(start <= len(blob), "unreadable safetensors")
    entries = _parse(blob[_TENSOR_PREFIX.size : start])
    require(len(entries) <= MAX_TENSORS, "too many tensors")
    require(set(entries) == {str(number) for number in range(len(entries))}, "misnumbered tensors")
    places = sorted(map(_place, entries.values()))
    ends = [0, *(end for _, end in places)]
    require([begin for begin, _ in places] == ends[:-1], "tensors that are not one behind the other")
    require(start + ends[-1] == len(blob), "tensors that do not fill their place")


def _place(entry: Json) -> tuple[int, int]:
    """Where a tensor lies in a blob's data, if its dtype, shape and place go together and it may cross."""
    require(type(entry) is dict and entry.keys() == {"dtype", "shape", "data_offsets"}, "a misdescribed tensor")
    dtype, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    require(type(dtype) is str and dtype in DTYPES, "a tensor of another dtype")
    for numbers in (shape, place):
        is_list = type(numbers) is list and all(type(number) is int and number >= 0 for number in numbers)
        require(is_list, "a misdescribed tensor")
    require(fits(shape), "a tensor that is too large")
    taken = math.prod(shape) * DTYPES[dtype].itemsize
    require(len(place) == 2 and place[1] - place[0] == taken, "a misplaced tensor")
    return place[0], place[1]


def fits(shape: Sequence[int]) -> bool:
    """Whether a tensor may cross; an empty one takes no bytes, but as many steps as it is long."""
    if len(shape) > MAX_DIMENSIONS or max(shape, default=0) > MAX_LENGTH:
        return False
    return math.prod(max(length, 1) for length in shape) <= MAX_ELEMENTS


def require(condition: bool, problem: str) -> None:
    """Go on only under this condition.

    Raises:
        ProtocolError: it does not hold.
    """
    if not condition:
        raise ProtocolError(problem)
