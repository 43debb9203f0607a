"""The bar below Python: forbidden kernels are out of reach while it stands, and back afterwards."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.box import Box
from autograder.box.inside.kernels import barred, can_be_barred
from course_lib.checking import Case, Outcome
from course_lib.checking.trap import RuleBroken

X = torch.randn(1, 2, 3, 4)
SCRIPT = """
def softmax(x):
    return torch.softmax(x, -1)
def attention(x):
    return torch._C._nn.scaled_dot_product_attention(x, x, x)
"""


def scripted(name: str) -> Callable[[Tensor], Tensor]:
    function: Callable[[Tensor], Tensor] = getattr(torch.jit.CompilationUnit(SCRIPT), name)
    return function


@pytest.mark.parametrize(
    "x",
    [X, X.double(), X.clone().requires_grad_(), X[..., :0]],
    ids=["single", "double", "with gradients", "without keys"],
)
@pytest.mark.parametrize(
    ("forbidden", "call"),
    [
        ("softmax", lambda x: torch.softmax(x, -1)),
        ("softmax", scripted("softmax")),
        ("softmin", lambda x: F.softmin(x, -1)),
        ("log_softmax", lambda x: F.log_softmax(x, -1)),
        ("scaled_dot_product_attention", scripted("attention")),
        ("scaled_dot_product_attention", lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True)),
        ("scaled_dot_product_attention", lambda x: F.scaled_dot_product_attention(x[0, 0], x[0, 0], x[0, 0])),
    ],
)
def test_a_barred_kernel_cannot_be_run(forbidden: str, call: Callable[[Tensor], Tensor], x: Tensor) -> None:
    if x.numel() == 0:
        x = X[..., :1]
    with barred([forbidden]) as used, pytest.raises((RuleBroken, RuntimeError)):
        call(x)
    assert used == [forbidden]
    call(x)
    assert used == [forbidden]


def test_a_bar_holds_in_other_threads() -> None:
    returned: list[Tensor] = []

    def work() -> None:
        with contextlib.suppress(RuleBroken):
            returned.append(torch.softmax(X, -1))

    with barred(["softmax"]) as used:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert (returned, used) == ([], ["softmax"])


def test_what_is_allowed_runs_on() -> None:
    with barred(["softmax", "jacobian"]) as used:
        assert torch.logsumexp(X, -1).shape == X.shape[:-1]
        assert F.log_softmax(X, -1).shape == X.shape
    with barred(["scaled_dot_product_attention"]):
        assert torch.softmax(X, -1).shape == X.shape
    with barred([]):
        assert torch.softmax(X, -1).shape == X.shape
    assert used == []


DETOURS = {
    "a script": "answer = torch.jit.CompilationUnit('def f(x):\\n    return torch.soft' + 'max(x, -1)\\n').f",
    "an older thread": """
import queue, threading
asked, answered, function = queue.Queue(), queue.Queue(), getattr(torch, "soft" + "max")
def work():
    while True:
        try:
            answered.put(function(asked.get(), -1))
        except Exception as error:
            answered.put(torch.zeros(3))
threading.Thread(target=work, daemon=True).start()
def answer(x):
    asked.put(x)
    return answered.get()
""",
    "no trap": """
import sys
def answer(x):
    sys.setprofile(None)
    with torch._C.DisableTorchFunction():
        return getattr(torch, "soft" + "max")(x, -1)
""",
}


@pytest.mark.parametrize("detour", DETOURS)
def test_an_answer_that_gets_around_the_trap_still_breaks_the_rule(box: Box, detour: str) -> None:
    result = box.run_cell(f"import torch\n{DETOURS[detour]}")
    assert result.ok, result.raised
    case = Case("a case", (torch.ones(3),))
    seen = box.observe("answer", case, forbidden=["softmax"])
    assert seen.failure is Outcome.RULE_BROKEN
    assert seen.raised is not None
    assert seen.raised.message.startswith("softmax")
    assert torch.equal(box.observe("answer", case).value, torch.full((3,), 1 / 3))


IN_SECOND_CASE = """
import torch
script = torch.jit.CompilationUnit('def f(x):\\n    return torch.soft' + 'max(x, -1)\\n').f
def answer(x, case):
    if case == 2:
        try:
            script(x)
        except Exception:
            pass
    return x
"""


def test_of_several_cases_those_before_the_one_that_breaks_the_rule_count(box: Box) -> None:
    assert box.run_cell(IN_SECOND_CASE).ok
    cases = [Case("a case", (torch.ones(3), number)) for number in (1, 2, 3)]
    first, second = box.observe_cases("answer", cases, hidden=False, forbidden=["softmax"])
    assert torch.equal(first.value, torch.ones(3))
    assert second.failure is Outcome.RULE_BROKEN
    assert box.run_cell("script(torch.ones(3))").ok


FOR_GOOD = "from autograder.box.inside.kernels import bar_for_good\nbar_for_good(['softmax'])"
TAKEN_BACK = """
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "Library" and thing.ns == "aten":
        thing._destroy()
"""


@pytest.mark.parametrize("trick", ["", TAKEN_BACK, "import gc; gc.collect(); torch.library._impls.clear()"])
def test_what_is_barred_for_good_cannot_be_brought_back(box: Box, trick: str) -> None:
    assert box.run_cell(f"import torch\n{FOR_GOOD}").ok
    assert box.run_cell(trick).ok
    result = box.run_cell("torch.softmax(torch.ones(3), -1)")
    assert result.raised is not None
    assert result.raised.type_name == "RuleBroken"
    assert box.run_cell("torch.logsumexp(torch.ones(3), -1), torch.log_softmax(torch.ones(3), -1)").ok


@pytest.mark.parametrize("name", ["func.jacfwd", "func.jacrev", "autograd.functional.jacobian"])
def test_functions_of_pythons_can_be_barred_for_good(box: Box, name: str) -> None:
    assert box.run_cell(f"import torch, torch.func, torch.autograd.functional\nkept = torch.{name}").ok
    call = "kept(torch.sin, torch.ones(2))" if "functional" in name else "kept(torch.sin)(torch.ones(2))"
    assert box.run_cell(call).ok
    box.run_cell(
        "from autograder.box.inside.kernels import bar_for_good\nbar_for_good(['jacobian', 'jacfwd', 'jacrev'])"
    )
    result = box.run_cell(call)
    assert result.raised is not None
    assert "may not be used here" in result.raised.message


def test_what_can_be_barred() -> None:
    assert can_be_barred(["nothing", "softmax"])
    assert can_be_barred(["jacfwd"])
    assert not can_be_barred(["nothing"])
    assert not can_be_barred([])
