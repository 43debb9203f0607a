import json
import math
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from autograder.box.frames import (
    MAX_ELEMENTS,
    MAX_HEADER_BYTES,
    MAX_LENGTH,
    Frame,
    FrameReader,
    ProtocolError,
    TooLarge,
    encode_frame,
)
from autograder.box.protocol import (
    MAX_NODES,
    CellResult,
    Decoder,
    Encoder,
    decode_case,
    decode_cell,
    decode_observation,
    encode_case,
    encode_cell,
    encode_observation,
)
from course_lib import exercises
from course_lib.judging import arrays
from course_lib.judging.arrays import Array, keep_arrays
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.given import Given
from course_lib.judging.observation import Foreign, Observation, Outcome, Raised

LIMIT = 1 << 20

dtypes = st.sampled_from(
    [torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64]
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    """Any dtype, 0 to 4 dimensions (some of length 0), in any memory order."""
    shape = draw(st.lists(st.integers(0, 3), max_size=4))
    values = torch.arange(math.prod(shape)).reshape(shape).to(draw(dtypes))
    return values.permute(draw(st.permutations(range(len(shape)))))


leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats()
    | texts
    | st.builds(Foreign, texts)
    | tensors()
)
keys = texts | st.lists(texts, max_size=3).map(tuple)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=12,
)


def same(left: Any, right: Any) -> bool:
    """Equal in type and value; tensors in dtype, shape and memory order as well."""
    if type(left) is not type(right):
        return False
    if isinstance(left, Tensor):
        return (
            left.dtype == right.dtype
            and left.shape == right.shape
            and strides(left) == strides(right)
            and torch.equal(left, right)
        )
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    return left == right or left != left and right != right


def strides(tensor: Tensor) -> list[int]:
    """The strides that mean something: those of dimensions with more than one entry, in a tensor that has entries."""
    return [
        stride for stride, length in zip(tensor.stride(), tensor.shape, strict=True) if length > 1 and tensor.numel()
    ]


def across(header: dict[str, Any], encoder: Encoder) -> Frame:
    """The frame after its way over the wire."""
    return read(encode_frame(Frame(header, encoder.tensors), LIMIT))


def read(data: bytes, limit: int = LIMIT) -> Frame:
    reader = FrameReader(limit)
    while reader.missing:
        piece, data = data[: reader.missing], data[reader.missing :]
        if not piece:
            raise EOFError
        reader.feed(piece)
    assert not data
    return reader.frame()


def raw(header: bytes, payload: bytes = b"") -> bytes:
    return struct.pack(">4sII", b"KTZ1", len(header), len(payload)) + header + payload


def described(dtype: str, shape: Sequence[int]) -> bytes:
    """The header of a frame with one tensor."""
    return json.dumps({"tensors": [[dtype, list(shape)]]}).encode()


@settings(max_examples=200)
@given(values)
def test_values_arrive_as_they_were_sent(value: Any) -> None:
    encoder = Encoder()
    frame = across({"value": encoder.value(value)}, encoder)
    decoder = Decoder(frame.tensors)
    assert same(decoder.value(frame.header["value"]), value)
    decoder.finish()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float64"])
def test_an_array_arrives_as_one_in_its_order_in_memory(dtype: str) -> None:
    array = numpy.arange(24).reshape(2, 3, 4).astype(dtype).transpose(2, 0, 1)[::-1]
    encoder = Encoder()
    frame = across({"value": encoder.value([array, keep_arrays(array)])}, encoder)
    for arrived in Decoder(frame.tensors).value(frame.header["value"]):
        assert type(arrived) is Array
        assert numpy.array_equal(arrays.give_arrays(arrived), array)
        assert not arrived.is_contiguous()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_module_that_is_given_is_made_anew_in_the_box(dtype: torch.dtype) -> None:
    encoder = Encoder()
    sizes = {"in_features": 2, "out_features": 2, "bias": False}
    inside = Given("nn.Linear", sizes, {"weight": torch.tensor([[1, 2], [3, 4]], dtype=dtype)})
    frame = across({"value": encoder.value({"parts": [inside, Given("Join", {"d_model": 2})]})}, encoder)
    linear, join = Decoder(frame.tensors, remote=lambda *_: None).value(frame.header["value"])["parts"]
    x = torch.ones(1, 2, dtype=dtype)
    assert torch.equal(linear.module()(x), torch.tensor([[3, 7]], dtype=dtype))
    assert torch.equal(join.module()(x, torch.tanh), x + x.tanh())


def test_an_array_of_what_numpy_does_not_know_is_refused() -> None:
    with pytest.raises(ProtocolError, match="what numpy does not know"):
        Decoder([torch.ones(2, dtype=torch.bfloat16)]).value({"array": {"tensor": 0}})


def test_a_view_that_negates_its_memory_arrives_as_its_numbers() -> None:
    imaginary, encoder = torch.complex(torch.ones(1), torch.ones(1)).conj().imag, Encoder()
    frame = across({"value": encoder.value(imaginary)}, encoder)
    assert torch.equal(Decoder(frame.tensors).value(frame.header["value"]), torch.tensor([-1.0]))


def test_a_tensor_that_occurs_twice_arrives_twice() -> None:
    tensor, encoder = torch.ones(2), Encoder()
    frame = across({"value": encoder.value([tensor, tensor])}, encoder)
    first, second = Decoder(frame.tensors).value(frame.header["value"])
    first.zero_()
    assert torch.equal(second, torch.ones(2))


@pytest.mark.parametrize(
    "tensor",
    [torch.eye(2).to_sparse(), torch.ones(2, dtype=torch.complex64), torch.ones(2, device="meta")],
    ids=["sparse", "complex", "meta"],
)
def test_tensors_that_cannot_cross_become_foreign(tensor: Tensor) -> None:
    data = Encoder().value(tensor)
    assert isinstance(Decoder([]).value(data), Foreign)


@pytest.mark.parametrize("value", [{1: 2}, object(), {1}, 1j, b"bytes"], ids=lambda value: type(value).__name__)
def test_only_plain_data_is_sent(value: object) -> None:
    with pytest.raises(TypeError):
        Encoder().value(value)


def test_values_that_are_too_large_or_too_deep_are_not_sent() -> None:
    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]
    for value in (deep, [0] * 200_000, 1 << 70, [torch.ones(1)] * 2_000):
        with pytest.raises(TooLarge):
            Encoder().value(value)
    with pytest.raises(TooLarge):
        encode_frame(Frame({}, [torch.zeros(LIMIT)]), LIMIT)


OVERSIZED = [(2 * MAX_LENGTH, 0), (MAX_LENGTH + 1,), (3, MAX_ELEMENTS // 2), (0, 3000, 3000), (1,) * 20]


@pytest.mark.parametrize("shape", OVERSIZED, ids=str)
def test_tensors_that_are_too_large_cross_in_neither_direction(shape: tuple[int, ...]) -> None:
    tensor = torch.zeros(shape, dtype=torch.uint8)
    with pytest.raises(TooLarge):
        Encoder().value(tensor)
    with pytest.raises(ProtocolError, match="too large"):
        read(raw(described("U8", shape), bytes(tensor.numel())), limit=1 << 24)


@pytest.mark.parametrize("shape", [(MAX_LENGTH,), (4, MAX_ELEMENTS // 4), (MAX_LENGTH, 0), (0, 2000, 2000)], ids=str)
def test_tensors_as_large_as_may_be_cross(shape: tuple[int, ...]) -> None:
    tensor, encoder = torch.zeros(shape, dtype=torch.uint8), Encoder()
    encoder.value(tensor)
    [arrived] = read(encode_frame(Frame({}, encoder.tensors), 1 << 24), limit=1 << 24).tensors
    assert arrived.shape == tensor.shape


def test_lone_surrogates_are_replaced() -> None:
    assert Encoder().value("a\ud800b") == "a\ufffdb"


MALFORMED = {
    "not a frame": b"GET / HTTP/1.1\r\n\r\n",
    "empty header": struct.pack(">4sII", b"KTZ1", 0, 0),
    "header too long": struct.pack(">4sII", b"KTZ1", MAX_HEADER_BYTES + 1, 0),
    "payload too long": struct.pack(">4sII", b"KTZ1", 10, LIMIT),
    "an array": raw(b"[]"),
    "broken JSON": raw(b"{"),
    "not UTF-8": raw(b"\xff\xfe"),
    "duplicate key": raw(b'{"a": 1, "a": 2}'),
    "NaN": raw(b'{"a": NaN}'),
    "infinity": raw(b'{"a": -Infinity}'),
    "overflow": raw(b'{"a": 1e999}'),
    "huge integer": raw(b'{"a": ' + b"9" * 5000 + b"}"),
    "deep nesting": raw(b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "truncated tensor": raw(described("F32", [4]), bytes(15)),
    "a boolean of 7": raw(described("BOOL", [3]), b"\0\7\1"),
    "too many tensors": raw(b'{"tensors":[' + b",".join([b'["U8",[1]]'] * 1500) + b"]}", bytes(1500)),
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_malformed_frames_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        read(data)


def test_a_truncated_frame_is_never_complete() -> None:
    data = encode_frame(Frame({"kind": "ready"}, [torch.ones(3)]), LIMIT)
    for length in range(len(data)):
        with pytest.raises(EOFError):
            read(data[:length])


@settings(max_examples=200)
@given(st.binary(max_size=200), st.binary(max_size=200))
def test_no_bytes_do_more_than_be_refused(header: bytes, payload: bytes) -> None:
    try:
        frame = read(raw(header or b"x", payload))
        Decoder(frame.tensors).value(frame.header)
    except ProtocolError:
        pass


@pytest.mark.parametrize(
    "data",
    [
        [1],
        {},
        {"list": 1},
        {"list": [], "tuple": []},
        {"float": "1.0"},
        {"float": 1.0},
        {"dict": []},
        {"items": {}},
        {"items": [["a"]]},
        {"items": [[1, 2]]},
        {"items": [[None, 2]]},
        {"items": [[{"list": ["a"]}, 2]]},
        {"items": [[{"tuple": ["a", 1]}, 2]]},
        {"items": [["a", 1], ["a", 2]]},
        {"set": []},
        {"foreign": 3},
        {"given": {"dict": {"kind": "Join", "construct": {"dict": {"d_model": 2}}, "weights": {"dict": {}}}}},
        {"foreign": "x" * 1000},
        {"array": 0},
        {"array": {"list": []}},
        {"array": {"array": {"tensor": 0}}},
        {"tensor": 1},
        {"tensor": -1},
        {"tensor": True},
        {"tensor": "0"},
        {"tensor": 0, "order": [0]},
        {"tensor": 0, "order": [0, 0]},
        {"tensor": 0, "order": [1, 2]},
        {"tensor": 0, "order": [False, True]},
        {"tensor": 0, "shape": [1]},
        {"list": [{"tensor": 0}, {"tensor": 0}]},
        1 << 70,
    ],
    ids=str,
)
def test_values_that_stand_for_nothing_are_refused(data: Any) -> None:
    with pytest.raises(ProtocolError):
        Decoder([torch.ones(2, 3)]).value(data)


def test_tensors_that_nothing_refers_to_are_refused() -> None:
    with pytest.raises(ProtocolError):
        Decoder([torch.ones(1)]).finish()


CASE = Case(
    name="secret name",
    args=(torch.randn(2, 3).mT, 3, None),
    kwargs={"mask": torch.ones(2, dtype=torch.bool)},
    construct={"d_model": 4},
    weights={"query": torch.ones(4)},
    formerly={"d_model": "width"},
    gradients=(0,),
    weight_gradients=True,
    training=True,
    part="secret part",
)


def test_a_case_arrives_without_its_name() -> None:
    encoder = Encoder()
    frame = across({"case": encode_case(CASE, encoder)}, encoder)
    assert "secret" not in json.dumps(frame.header)
    case = decode_case(frame.header["case"], Decoder(frame.tensors))
    assert same(case.args, CASE.args)
    assert same(case.kwargs, CASE.kwargs)
    assert same(case.weights, CASE.weights)
    assert (case.construct, case.gradients, case.weight_gradients) == ({"d_model": 4}, (0,), True)
    assert case.training
    assert case.formerly == {"d_model": "width"}


RETURNED = Observation(True, torch.ones(2), (torch.ones(3, 2), None), seconds=0.5)
FAILED = Observation(False, failure=Outcome.RAISED, raised=Raised("ValueError", "no", 3, "x = 1"), seconds=0.5)


@pytest.mark.parametrize("observation", [RETURNED, FAILED, Observation(False, failure=Outcome.NEVER_DEFINED)])
def test_observations_arrive(observation: Observation) -> None:
    encoder, arguments = Encoder(), CASE.args if observation.returned else ()
    frame = across({"observation": encode_observation(observation, arguments, encoder)}, encoder)
    arrived = decode_observation(frame.header["observation"], Decoder(frame.tensors), CASE)
    assert same(arrived.value, observation.value)
    assert same(arrived.gradients, observation.gradients)
    assert replace(arrived, value=None, gradients=()) == replace(observation, value=None, gradients=())


@pytest.mark.parametrize(
    "change",
    [
        {"returned": 1},
        {"returned": False},
        {"gradients": []},
        {"gradients": [None, 3]},
        {"gradients": {}},
        {"arguments": [{"tensor": 2}, 3]},
        {"arguments": [{"tensor": 0}, 3, None]},
        {"arguments": [{"tensor": 2}, 3, {"callback": [0, "step"]}]},
        {"modified": []},
        {"failure": "raised"},
        {"failure": "passed"},
        {"raised": "ValueError"},
        {"raised": {"type_name": "E", "message": "m", "line": -1, "code": ""}},
        {"raised": {"type_name": "E" * 1000, "message": "m", "line": 0, "code": ""}},
        {"seconds": 1},
        {"seconds": -1.0},
        {"points": 10},
    ],
    ids=str,
)
def test_forged_observations_are_refused(change: dict[str, Any]) -> None:
    encoder = Encoder()
    data = {**encode_observation(RETURNED, CASE.args, encoder), **change}
    with pytest.raises(ProtocolError):
        decode_observation(data, Decoder(encoder.tensors), CASE)


STREAM = {"output_type": "stream", "name": "stdout", "text": "hello\n"}
FIGURE = {"output_type": "display_data", "data": {"image/png": "aGVsbG8="}, "metadata": {"width": 3}}
VALUE = {"output_type": "execute_result", "data": {"text/plain": "3"}, "metadata": {}, "execution_count": 1}
ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["ValueError: no"]}
CELL = CellResult([STREAM, FIGURE, VALUE, ERROR], False, Raised("ValueError", "no"), Outcome.RAISED, 0.25)
TEST = CellResult([], True, programs=("ls",), number=0.5)


@pytest.mark.parametrize("cell", [CELL, TEST])
def test_cells_arrive(cell: CellResult) -> None:
    assert decode_cell(across({"cell": encode_cell(cell)}, Encoder()).header["cell"]) == cell


@pytest.mark.parametrize(
    "change",
    [
        {"ok": True},
        {"ok": 0},
        {"missing": 1},
        {"programs": [1]},
        {"programs": ["ls"] * 1000},
        {"number": 1},
        {"number": float("nan")},
        {"raised": None},
        {"failure": None},
        {"failure": "timed_out"},
        {"outputs": {}},
        {"outputs": ["text"]},
        {"outputs": [STREAM] * 3000},
        {"outputs": [{**STREAM, "name": "stdin"}]},
        {"outputs": [{**STREAM, "text": ["a"]}]},
        {"outputs": [{**STREAM, "text": "\ud800"}]},
        {"outputs": [{**STREAM, "more": 1}]},
        {"outputs": [{**FIGURE, "data": {"image/png": 3}}]},
        {"outputs": [{**FIGURE, "data": {"no mime": "x"}}]},
        {"outputs": [{**FIGURE, "metadata": None}]},
        {"outputs": [{**VALUE, "execution_count": True}]},
        {"outputs": [{**ERROR, "traceback": [1]}]},
        {"outputs": [{"output_type": "update_display_data"}]},
        {"outputs": [{**FIGURE, "data": {"application/json": [0] * MAX_NODES}}]},
        {"outputs": [{**FIGURE, "metadata": {"a": [[] for _ in range(MAX_NODES)]}}]},
        {"outputs": [{**FIGURE, "data": {"application/json": [0] * (MAX_NODES // 2)}}] * 3},
    ],
    ids=lambda change: str(change)[:60],
)
def test_forged_cells_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        decode_cell({**encode_cell(CELL), **change})


@pytest.mark.parametrize("exercise", exercises.all(), ids=lambda exercise: exercise.id)
def test_the_cases_of_every_exercise_are_plain_data(exercise: Exercise) -> None:
    """What a notebook's check can call an answer with need not be what a sandbox can be sent."""
    for case in [*exercise.visible_cases(), *exercise.hidden_cases(1)]:
        assert encode_case(case, Encoder())
