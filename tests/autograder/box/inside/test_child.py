"""Answers are observed in the sandbox as they are outside, and fail there without harm."""

import contextlib
import math
from typing import Any

import numpy
import pytest
import torch

from autograder.box.box import Box
from autograder.box.endings import BoxLost
from autograder.box.fork_server.client import ForkServer
from autograder.limits import Limits
from course_lib.judging.exercise import Case
from course_lib.judging.observation import Foreign, Observation, Outcome, observe
from tests.autograder.box.conftest import asked


def scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return q @ k.mT


def defined(box: Box, body: str, name: str = "answer") -> str:
    """Define a function of any arguments in the sandbox; its name."""
    result = box.run_cell(f"import os, sys, time, torch\ndef {name}(*args, **kwargs):\n    {body}")
    assert result.ok, result.raised
    return name


def observed(box: Box, body: str, *args: Any) -> Observation:
    return asked(box, defined(box, body), Case("a case", args=args))


def test_a_function_answers_as_it_would_outside(kept_box: Box) -> None:
    case = Case("a case", args=(torch.randn(2, 3, 4), torch.randn(2, 5, 4)), gradients=(0, 1))
    kept_box.run_cell("def scores(q, k):\n    return q @ k.mT")
    inside, outside = asked(kept_box, "scores", case), observe(scores, case)
    assert inside.returned
    assert torch.equal(inside.value, outside.value)
    assert len(inside.gradients) == 2
    for mine, theirs in zip(inside.gradients, outside.gradients, strict=True):
        assert mine is not None
        assert theirs is not None
        assert torch.equal(mine, theirs)


def test_every_kind_of_value_crosses_both_ways(kept_box: Box) -> None:
    value = [None, True, 3, 2.5, float("inf"), "ä", (1, [2]), {"a": torch.tensor(1.5)}, torch.ones(2).bool()]
    arrived = observed(kept_box, "return args[0]", value)
    assert repr(arrived.value) == repr(value)
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.bool):
        tensor = torch.arange(6).reshape(2, 3).to(dtype)
        back = observed(kept_box, "return args[0]", tensor).value
        assert back.dtype == dtype
        assert torch.equal(back, tensor)


def test_an_exception_is_recorded_with_its_line(kept_box: Box) -> None:
    kept_box.run_cell("def answer(x):\n    y = x + 1\n    return y[7]")
    seen = asked(kept_box, "answer", Case("a case", (torch.ones(2),)))
    assert (seen.returned, seen.failure) == (False, Outcome.RAISED)
    assert seen.raised is not None
    assert (seen.raised.type_name, seen.raised.line, seen.raised.code) == ("IndexError", 3, "return y[7]")


def test_a_name_that_does_not_exist(kept_box: Box) -> None:
    assert asked(kept_box, "nothing", Case("a case")) == Observation(False, failure=Outcome.NEVER_DEFINED)


def test_the_stub_is_not_attempted(kept_box: Box) -> None:
    assert observed(kept_box, "raise NotImplementedError()").failure is Outcome.NOT_ATTEMPTED


GIVEN = (torch.ones(2), [torch.ones(2), "a"], {"a": [1]}, numpy.ones(2), math.nan)
IN_PLACE = {
    "pass": (),
    "args[0].zero_()": (0,),
    "args[0].data = torch.ones(2).double()": (0,),
    "args[0].resize_(1)": (0,),
    "args[1][0] += 1": (1,),
    "args[1].append(args[1])": (1,),
    "args[1].extend(range(200_000))": (0, 1, 2, 3, 4),  # as they cannot cross any more, none is known to be the same
    "args[2]['a'].append(2)": (2,),
    "args[2][3] = 1": (2,),
    "args[3].sort(); args[3][0] = 2; args[0].mul_(2)": (0, 3),
}


@pytest.mark.parametrize(("change", "modified"), IN_PLACE.items(), ids=lambda value: str(value)[:40])
def test_changes_of_the_inputs_are_judged_outside_whatever_runs_beside_the_answer(
    box: Box, change: str, modified: tuple[int, ...]
) -> None:
    """The same as in a notebook; and also with each name replaced that tells a change inside."""
    names: dict[str, Any] = {"torch": torch}
    exec(f"def answer(*args):\n    {change}\n    return 1", names)
    if "extend" not in change:
        assert observe(names["answer"], Case("a case", GIVEN)).modified == modified
    deny = "from course_lib.checking import observation\nfrom autograder.box import protocol\n"
    deny += "observation._identical = lambda *both: True\n"
    deny += "observation.modified = protocol.modified = lambda *told: ()"
    for cell in ("", deny):
        box.run_cell(cell)
        seen = observed(box, f"{change}; return 1", *GIVEN)
        assert (seen.value, seen.modified) == (1, modified)


@pytest.mark.parametrize(
    "kind",
    [
        "torch.nn.Parameter",
        "type('Own', (torch.nn.Parameter,), {})",
        "type('Equal', (torch.Tensor,), {'__eq__': lambda a, b: True, 'detach': lambda a: torch.zeros(2)})",
    ],
)
def test_a_subclass_comes_back_as_a_tensor_of_its_numbers(kept_box: Box, kind: str) -> None:
    seen = observed(kept_box, f"return torch.Tensor.as_subclass(args[0], {kind})", torch.ones(2)).value
    assert type(seen) is torch.Tensor
    assert torch.equal(seen, torch.ones(2))


@pytest.mark.parametrize(
    ("body", "type_name"),
    [
        ("return object()", "object"),
        ("return 1j", "complex"),
        ("return torch.ones(2, dtype=torch.complex64)", "torch.Tensor (complex64, strided, cpu)"),
        ("return torch.eye(2).to_sparse()", "torch.Tensor (float32, sparse_coo, cpu)"),
    ],
)
def test_what_is_not_plain_data_is_named_only(kept_box: Box, body: str, type_name: str) -> None:
    assert observed(kept_box, body).value == Foreign(type_name)


@pytest.mark.parametrize(
    "body",
    [
        "return list(range(200_000))",
        "return 1 << 100_000",
        "return torch.zeros(5_000_000)",
        "return torch.empty(20_000_000, 0)",
        "return torch.zeros(5_000_000, dtype=torch.bool)",
        "return 'x' * 10_000_000",
        "x = []\n    for _ in range(100): x = [x]\n    return x",
    ],
)
def test_a_value_that_is_too_large_to_cross_is_foreign(kept_box: Box, body: str) -> None:
    seen = observed(kept_box, body)
    assert seen.returned
    assert isinstance(seen.value, Foreign)
    assert "cannot be compared" in seen.value.type_name
    assert kept_box.run_cell("1").ok


@pytest.mark.parametrize(
    "body",
    [
        "sys.exit()",
        "raise SystemExit(0)",
        "raise GeneratorExit",
        "raise type('Own', (BaseException,), {})",
        "return answer()",
        "x = []; x.append(x); return x",
        "raise KeyboardInterrupt",
    ],
)
def test_no_exception_leaves_the_call(kept_box: Box, body: str) -> None:
    seen = observed(kept_box, body)
    assert not seen.returned
    assert seen.failure is Outcome.RAISED
    assert kept_box.run_cell("1").ok


def test_nothing_that_a_call_prints_comes_back(box: Box) -> None:
    name = defined(
        box, "print('SECRET', args); display(3); sys.stderr.write('SECRET'); os.write(1, b'SECRET'); return 1"
    )
    assert asked(box, name, Case("a case"), hidden=False).value == 1
    assert "SECRET" not in str(box.run_cell("2"))


def test_after_hidden_inputs_cells_show_nothing(box: Box) -> None:
    name = defined(box, "global kept; kept = args; return 1")
    asked(box, name, Case("a case", (41,)), hidden=True)
    result = box.run_cell("print(kept)\nkept")
    assert (result.ok, result.outputs) == (True, [])
    result = box.run_cell("raise ValueError(kept)")
    assert result.raised is not None
    assert (result.ok, result.outputs, result.raised.type_name, result.raised.message) == (False, [], "ValueError", "")
    result = box.run_cell("raise type(str(kept), (Exception,), {})")
    assert result.raised is not None
    assert result.raised.type_name == "Exception"


def test_after_visible_inputs_cells_show_what_they_do(box: Box) -> None:
    asked(box, defined(box, "return 1"), Case("a case"), hidden=False)
    assert box.run_cell("3").outputs


def test_a_case_does_not_tell_its_name(box: Box) -> None:
    box.run_cell("import gc")
    name = defined(box, "return [c.name + c.part for c in gc.get_objects() if type(c).__name__ == 'Case']")
    assert asked(box, name, Case("a telling name", part="a telling part")).value == ["values"]


PATCHES = {
    "torch": "import torch\ntorch.allclose = torch.equal = lambda *a, **k: True\ntorch.Tensor.__eq__ = lambda a, b: a",
    "observation": "import course_lib.judging.observation as o\no._plain = o._identical = o.observe = lambda *a: 3",
    "protocol": "import autograder.box.protocol as p\np.encode_frame = p._pack = p.save = None",
    "child": "from autograder.box.inside import child as c\nc.observe = c._reply = c.Answerer.answer = None",
    "json": "import json\njson.dumps = json.loads = None",
    "builtins": "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.len = lambda x: 0",
    "shell": "ip = get_ipython()\nip.recorder = None\nip.run = None\nip.user_ns.clear()",
    "streams": "import sys\nsys.stdout = sys.stderr = sys.__stdout__ = None",
    "os": "import os\nos.write = os.read = None",
    "exit": "import os\nos._exit = lambda status: None",
    "struct": "import struct, torch\ntorch.Tensor.clone = torch.Tensor.detach = lambda self: 1",
}


@pytest.mark.parametrize("patch", PATCHES)
def test_whatever_is_patched_hurts_only_its_own_box(fork_server: ForkServer, patch: str) -> None:
    """A wrong answer stays wrong: it may be lost, foreign or a failure, but it never becomes the right one."""
    case = Case("a case", (torch.ones(2),))
    with (
        fork_server.open_box(limits=Limits(call_seconds=5, cell_seconds=5)) as box,
        fork_server.open_box() as neighbour,
    ):
        value = None
        with contextlib.suppress(BoxLost):
            box.run_cell("def answer(x): return x + 1")
            box.run_cell(PATCHES[patch])
            value = asked(box, "answer", case).value
        assert not (isinstance(value, torch.Tensor) and torch.equal(value, torch.ones(2)))
        neighbour.run_cell("def answer(x): return x + 0")
        assert torch.equal(asked(neighbour, "answer", case).value, torch.ones(2))
