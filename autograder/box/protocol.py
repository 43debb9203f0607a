"""Encodes and decodes the data that crosses between grader and sandbox, in frames (`frames.py`): plain data, no code.

These are values (`course_lib.judging.exercise.Value`), cases, observations, and cell outputs. Everything a sandbox
sends is checked field by field before use: its process runs student code and may send any bytes. Pickle is never used,
in either direction.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy
import torch
from torch import Tensor

from autograder.box.frames import (
    DTYPES,
    MAX_TENSORS,
    Json,
    TooLarge,
    fits,
    require,
)
from course_lib.judging.arrays import Array, can_be_kept, keep_arrays
from course_lib.judging.exercise import Callback, Case, Value, is_key
from course_lib.judging.given import Given
from course_lib.judging.observation import Foreign, Observation, Outcome, Raised, gradient_names, modified

RemoteCall = Callable[..., Value]
"""`remote(number, *args, **kwargs)` calls the callback of this number on the other side of the wire."""

MAX_NODES = 100_000  # values inside values, in one frame
MAX_DEPTH = 32
MAX_INTEGER = 1 << 64
MAX_NAME = 200
MAX_TEXT = 4_000
MAX_OUTPUTS = 2_000
MAX_CHANGES = 100
MAX_PROGRAMS = 10
MAX_TRACEBACK_LINES = 1_000
MAX_ERROR_BYTES = 1 << 18  # shown beyond the limit on a cell's output: its error, and notices of the sandbox

OUT_OF_MEMORY_STATUS = 86
"""Exit status of a sandbox that could not even report that it ran out of memory."""

_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_FAILURES = {
    Outcome.RAISED,
    Outcome.OUT_OF_MEMORY,
    Outcome.NOT_ATTEMPTED,
    Outcome.NEVER_DEFINED,
    Outcome.RULE_BROKEN,
}
_SURROGATE = re.compile("[\ud800-\udfff]")
MIME = re.compile(r"[a-z]+/[A-Za-z0-9.+-]{1,100}")


@dataclass(frozen=True)
class CellResult:
    """The result of running a cell.

    Attributes:
        outputs: its outputs in notebook format 4, in order.
        ok: whether it ran to its end.
        raised: the exception that ended it, if any.
        failure: that exception's outcome (`raised`, `not_attempted` or `out_of_memory`).
        seconds: wall-clock time.
        missing: a package that it used although it is not installed; empty if none.
        programs: some of the programs that it asked for and that were not started.
        number: the last value of a test cell, if that is a number.
    """

    outputs: list[dict[str, Json]]
    ok: bool
    raised: Raised | None = None
    failure: Outcome | None = None
    seconds: float = 0.0
    missing: str = ""
    programs: tuple[str, ...] = ()
    number: float | None = None


# Values ---------------------------------------------------------------------------------------------------


class Encoder:
    """Turns values into JSON, and collects their tensors and callbacks."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.callbacks: list[Callback] = []
        self._nodes = 0

    def value(self, value: Value, depth: int = 0) -> Json:
        """Return `value` as JSON; tensors become references.

        Raises:
            TooLarge: it has too many nested values, or is too deep.
            TypeError: it is not plain data.
        """
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            raise TooLarge(f"more than {MAX_NODES} values, or nested more than {MAX_DEPTH} deep")
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            return clean(value)
        if kind is int:
            if abs(value) >= MAX_INTEGER:
                raise TooLarge("an integer of more than 64 bits")
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if kind is list or kind is tuple:
            return {kind.__name__: [self.value(item, depth + 1) for item in value]}
        if kind is dict:
            if all(type(key) is str for key in value):
                return {"dict": {clean(name): self.value(item, depth + 1) for name, item in value.items()}}
            if not all(map(is_key, value)):
                raise TypeError("a dict with keys that are neither strings nor tuples of strings is not plain data")
            return {"items": [[self.value(key), self.value(item, depth + 1)] for key, item in value.items()]}
        if kind is Foreign:
            return {"foreign": clean(value.type_name)[:MAX_NAME]}
        if kind is numpy.ndarray and can_be_kept(value):
            value, kind = keep_arrays(value), Array
        if kind is Array:
            return {"array": self._tensor(value.tensor())}
        if isinstance(value, Tensor):
            return self._tensor(value)
        if kind is Callback:
            self.callbacks.append(value)
            return {"callback": [len(self.callbacks) - 1, value.name]}
        if kind is Given:
            return {"given": self.value(value.fields, depth + 1)}
        raise TypeError(f"a {kind.__name__} is not plain data")

    def _tensor(self, tensor: Tensor) -> Json:
        if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.dtype not in DTYPES.values():
            dtype, layout = (str(name).removeprefix("torch.") for name in (tensor.dtype, tensor.layout))
            return {"foreign": f"torch.Tensor ({dtype}, {layout}, {tensor.device.type})"}
        if len(self.tensors) >= MAX_TENSORS:
            raise TooLarge(f"more than {MAX_TENSORS} tensors")
        if not fits(tensor.shape):
            raise TooLarge(f"a tensor of the shape {tuple(tensor.shape)}")
        order = memory_order(tensor)
        # What a view has negated, as the imaginary part of a conjugate, is not so in memory until it is resolved.
        self.tensors.append(tensor.detach().permute(order).contiguous().resolve_neg())
        number = len(self.tensors) - 1
        return {"tensor": number} if order == sorted(order) else {"tensor": number, "order": order}


def memory_order(tensor: Tensor) -> list[int]:
    """Return the dimensions, outermost in memory first: `permute` with these makes the tensor contiguous."""
    if tensor.is_contiguous():
        return list(range(tensor.dim()))
    return sorted(range(tensor.dim()), key=tensor.stride, reverse=True)


class Decoder:
    """Turns JSON back into values, with every tensor of the frame used exactly once.

    Args:
        tensors: the frame's tensors.
        remote: in a sandbox, calls a grader's callback by number; on the grader's side, callbacks and modules are
            refused.
    """

    def __init__(self, tensors: Sequence[Tensor], remote: RemoteCall | None = None) -> None:
        self._remote = remote
        self._tensors: dict[int, Tensor] = dict(enumerate(tensors))
        self._nodes = 0

    def value(self, data: Json, depth: int = 0) -> Value:
        """Return the value that `data` stands for.

        Raises:
            ProtocolError: it stands for no value.
        """
        self._nodes += 1
        require(self._nodes <= MAX_NODES and depth <= MAX_DEPTH, "too many values, or too deep")
        if data is None or type(data) in (bool, float, str):
            return data
        if type(data) is int:
            require(abs(data) < MAX_INTEGER, "an integer that is too large")
            return data
        require(type(data) is dict, "an untagged value")
        if "tensor" in data:
            return self._tensor(data)
        require(len(data) == 1, "a value with more than one tag")
        [(tag, content)] = data.items()
        if tag in ("list", "tuple"):
            require(type(content) is list, f"an invalid {tag}")
            items = [self.value(item, depth + 1) for item in content]
            return items if tag == "list" else tuple(items)
        if tag == "dict":
            require(type(content) is dict, "an invalid dict")
            return {name: self.value(item, depth + 1) for name, item in content.items()}
        if tag == "items":
            return self._items(content, depth)
        if tag == "array":
            stored = self.tensor(content)
            require(type(stored) is Tensor and stored.dtype != torch.bfloat16, "an array of what numpy does not know")
            return Array.of(stored)
        if tag == "float":
            require(type(content) is str and content in _FLOATS, "an invalid float")
            return _FLOATS[content]
        if tag == "callback" and self._remote is not None:
            number, name = content
            # The side that has the function counts the calls, and checks the arguments.
            return Callback(name, partial(self._remote, number), most_calls=sys.maxsize, most_entries=sys.maxsize)
        if tag == "given" and self._remote is not None:
            return Given(**self.value(content, depth + 1))
        require(tag == "foreign", "an unknown tag")
        return Foreign(text(content, MAX_NAME))

    def _items(self, content: Json, depth: int) -> dict[Value, Value]:
        """Return a dict whose keys are not all strings."""
        require(type(content) is list, "an invalid dict")
        found: dict[Value, Value] = {}
        for item in content:
            require(type(item) is list and len(item) == 2, "an invalid item of a dict")
            key = self.value(item[0], depth + 1)
            require(is_key(key) and key not in found, "a dict's key that is invalid, or there twice")
            found[key] = self.value(item[1], depth + 1)
        return found

    def tensor(self, data: Json) -> Tensor:
        """Return the tensor that `data` stands for."""
        value = self.value(data)
        require(isinstance(value, Tensor), "something else in place of a tensor")
        assert isinstance(value, Tensor)
        return value

    def finish(self) -> None:
        """Refuse tensors that nothing refers to."""
        require(not self._tensors, "a tensor that nothing refers to")

    def _tensor(self, data: dict[str, Json]) -> Tensor:
        require(set(data) <= {"tensor", "order"}, "a tensor with unknown fields")
        number = data["tensor"]
        require(type(number) is int and number in self._tensors, "a reference to no tensor")
        stored = self._tensors.pop(number)
        if "order" not in data:
            return stored
        order = data["order"]
        require(type(order) is list and all(type(dimension) is int for dimension in order), "an invalid order")
        require(sorted(order) == list(range(stored.dim())), "an order that is not a permutation")
        return stored.permute([order.index(dimension) for dimension in range(stored.dim())])


def clean(value: str) -> str:
    """Return `value` without lone surrogates, which no UTF-8 file can hold."""
    return _SURROGATE.sub("\ufffd", value)


# Cases, observations, cells -------------------------------------------------------------------------------


_OF_A_CASE = "args kwargs construct weights formerly gradients weight_gradients training elsewhere again".split()
"""The fields of a case that a sandbox needs, none of which would let it recognize the case."""


def encode_case(case: Case, encoder: Encoder) -> Json:
    """Encode a case for a sandbox."""
    told = {name: getattr(case, name) for name in _OF_A_CASE}
    return encoder.value({name: dict(value) if isinstance(value, Mapping) else value for name, value in told.items()})


def decode_case(data: Json, decoder: Decoder) -> Case:
    """Decode the case that `encode_case` wrote, without its name. It comes from the grader, so nothing is checked."""
    return Case(name="", **decoder.value(data))


def encode_call(callback: int, args: Sequence[Value], kwargs: Mapping[str, Value], encoder: Encoder) -> Json:
    """Encode a call of a callback: its number in the request, and its arguments."""
    return {
        "callback": callback,
        "args": [encoder.value(value) for value in args],
        "kwargs": {clean(name): encoder.value(value) for name, value in kwargs.items()},
    }


def decode_call(data: Json, decoder: Decoder, callbacks: range) -> tuple[int, list[Value], dict[str, Value]]:
    """Decode a sandbox's call of one of `callbacks`.

    Raises:
        ProtocolError: it is not such a call.
    """
    fields(data, callback=int, args=list, kwargs=dict)
    require(data["callback"] in callbacks, "a call of no callback")
    args = [decoder.value(value) for value in data["args"]]
    kwargs = {text(name, MAX_NAME): decoder.value(value) for name, value in data["kwargs"].items()}
    decoder.finish()
    return data["callback"], args, kwargs


def decode_changes(data: Json) -> list[str]:
    """Decode a sandbox's report of what was changed in it, in words.

    Raises:
        ProtocolError: it is not such a report.
    """
    require(type(data) is list and len(data) <= MAX_CHANGES, "an invalid list of changes")
    return [text(change, MAX_NAME) for change in data]


def encode_observation(observation: Observation, arguments: Sequence[Value], encoder: Encoder) -> Json:
    """Encode an observation, with the arguments after the call."""
    return {
        "returned": observation.returned,
        "value": encoder.value(observation.value),
        "gradients": [encoder.value(gradient) for gradient in observation.gradients],
        "arguments": [encoder.value(argument) for argument in arguments],
        "failure": None if observation.failure is None else str(observation.failure),
        "raised": encode_raised(observation.raised),
        "seconds": float(observation.seconds),
    }


def decode_observation(data: Json, decoder: Decoder, case: Case) -> Observation:
    """Decode a sandbox's observation of `case`, and check that `observe` could have made every field.

    Whether arguments were changed is judged here, from their values after the call. A sandbox could lie about these,
    but only by keeping a copy of each argument, and working on a copy is all that is required.

    Raises:
        ProtocolError: it is not.
    """
    fields(
        data, returned=bool, value=object, gradients=list, arguments=list, failure=object, raised=object, seconds=float
    )
    value = decoder.value(data["value"])
    gradients = tuple(None if entry is None else decoder.tensor(entry) for entry in data["gradients"])
    arguments = [decoder.value(argument) for argument in data["arguments"]]
    failure, raised = _failure(data["failure"]), decode_raised(data["raised"])
    seconds = _seconds(data["seconds"])
    if data["returned"]:
        require(failure is None and raised is None, "a failure of a call that returned")
        require(len(gradients) == len(gradient_names(case)), "the wrong number of gradients")
        require(len(arguments) == len(case.args), "the wrong number of arguments")
        return Observation(True, value, gradients, modified(case, arguments), seconds=seconds)
    require(failure is not None, "a call that failed for no reason")
    require(value is None and not gradients and not arguments, "a result of a call that failed")
    return Observation(False, failure=failure, raised=raised, seconds=seconds)


def encode_cell(result: CellResult) -> Json:
    """Encode a cell's result."""
    return {
        "outputs": result.outputs,
        "ok": result.ok,
        "raised": encode_raised(result.raised),
        "failure": None if result.failure is None else str(result.failure),
        "seconds": float(result.seconds),
        "missing": clean(result.missing)[:MAX_NAME],
        "programs": [clean(program) for program in result.programs],
        "number": result.number,
    }


def decode_cell(data: Json) -> CellResult:
    """Decode a sandbox's result of a cell, and check that its outputs are valid in a notebook.

    `output_bytes` measures how much they show.

    Raises:
        ProtocolError: it is not one.
    """
    kinds = {"ok": bool, "missing": str}
    fields(data, outputs=list, raised=object, failure=object, seconds=float, programs=list, number=object, **kinds)
    require(len(data["outputs"]) <= MAX_OUTPUTS, "too many outputs")
    nodes = 0
    for output in data["outputs"]:
        nodes += _output(output)
        require(nodes <= MAX_NODES, "too many values in outputs")
    outputs = [dict(output) for output in data["outputs"]]
    raised, failure = decode_raised(data["raised"]), _failure(data["failure"])
    require(data["ok"] == (raised is None) == (failure is None), "a cell that did and did not fail")
    require(len(data["programs"]) <= MAX_PROGRAMS, "too many programs")
    programs = tuple(text(program, MAX_NAME) for program in data["programs"])
    number = data["number"]
    require(number is None or (type(number) is float and math.isfinite(number)), "an invalid number")
    seconds, missing = _seconds(data["seconds"]), text(data["missing"], MAX_NAME)
    return CellResult(outputs, data["ok"], raised, failure, seconds, missing, programs, number)


def encode_raised(raised: Raised | None) -> Json:
    """Encode an exception, its texts shortened."""
    if raised is None:
        return None
    return {
        "type_name": clean(raised.type_name)[:MAX_NAME],
        "message": clean(raised.message)[:MAX_TEXT],
        "line": min(max(int(raised.line), 0), 1 << 30),
        "code": clean(raised.code)[:MAX_TEXT],
    }


def decode_raised(data: Json) -> Raised | None:
    """Decode the exception that `encode_raised` wrote."""
    if data is None:
        return None
    fields(data, type_name=str, message=str, line=int, code=str)
    require(0 <= data["line"] <= 1 << 30, "an invalid line")
    return Raised(
        text(data["type_name"], MAX_NAME), text(data["message"], MAX_TEXT), data["line"], text(data["code"], MAX_TEXT)
    )


def output_bytes(output: dict[str, Json]) -> int:
    """Return the bytes that an output shows: UTF-8 for text, JSON for a display."""
    if output["output_type"] == "stream":
        return len(output["text"].encode())
    if output["output_type"] == "error":
        return sum(len(line.encode()) for line in (output["ename"], output["evalue"], *output["traceback"]))
    return bundle_bytes(output["data"], output["metadata"])


def bundle_bytes(data: dict[str, Json], metadata: dict[str, Json]) -> int:
    """Return the bytes that a display shows."""
    return len(json.dumps([data, metadata], ensure_ascii=False).encode())


def _output(data: Json) -> int:
    """Check a cell output, which must have exactly notebook format 4's fields; return its number of JSON values."""
    require(type(data) is dict, "an invalid output")
    kind = data.get("output_type")
    if kind == "stream":
        fields(data, output_type=str, name=str, text=str)
        require(data["name"] in ("stdout", "stderr"), "an unknown stream")
        text(data["text"])
        return 1
    if kind == "error":
        fields(data, output_type=str, ename=str, evalue=str, traceback=list)
        require(len(data["traceback"]) <= MAX_TRACEBACK_LINES, "a traceback that is too long")
        for line in (data["ename"], data["evalue"], *data["traceback"]):
            text(line)
        return 1
    if kind == "display_data":
        fields(data, output_type=str, data=dict, metadata=dict)
    else:
        require(kind == "execute_result", "an unknown kind of output")
        fields(data, output_type=str, data=dict, metadata=dict, execution_count=int)
        require(0 <= data["execution_count"] < 1 << 31, "an invalid execution count")
    for mime, content in data["data"].items():
        require(MIME.fullmatch(mime) is not None, "an unknown MIME type")
        if not mime.endswith("json"):
            text(content)
    return bundle_nodes(data["data"], data["metadata"])


def bundle_nodes(data: dict[str, Json], metadata: dict[str, Json]) -> int:
    """Return the number of JSON values in a display."""
    return sum(map(json_nodes, data.values())) + json_nodes(metadata)


def json_nodes(data: Json, depth: int = 0) -> int:
    """Return the number of values in this JSON.

    Raises:
        ProtocolError: more than `MAX_NODES`, too deep, or not valid in a notebook.
    """
    require(depth <= MAX_DEPTH, "JSON that is too deep")
    nodes = 1
    if type(data) is str:
        text(data)
    elif type(data) is dict:
        for name, item in data.items():
            text(name, MAX_NAME)
            nodes += json_nodes(item, depth + 1)
            require(nodes <= MAX_NODES, "too many values in JSON")
    elif type(data) is list:
        for item in data:
            nodes += json_nodes(item, depth + 1)
            require(nodes <= MAX_NODES, "too many values in JSON")
    return nodes


def fields(data: Json, /, **types: type) -> None:
    """Check that this is an object with exactly these fields; `object` stands for any type.

    Raises:
        ProtocolError: it has others.
    """
    require(type(data) is dict and set(data) == set(types), "an object with the wrong fields")
    for name, kind in types.items():
        require(kind is object or type(data[name]) is kind, f"a {name} of the wrong type")


def text(data: Json, limit: int | None = None) -> str:
    """Check that this is a string of at most `limit` characters that can be written to a file.

    Raises:
        ProtocolError: it is not one.
    """
    require(type(data) is str, "something else in place of text")
    require(limit is None or len(data) <= limit, "text that is too long")
    require(_SURROGATE.search(data) is None, "text that is not Unicode")
    return str(data)


def _failure(data: Json) -> Outcome | None:
    if data is None:
        return None
    require(type(data) is str and data in {str(outcome) for outcome in _FAILURES}, "an unknown failure")
    return Outcome(data)


def _seconds(data: float) -> float:
    require(0 <= data < 1e6, "an invalid duration")
    return data
