"""The trap: forbidden functions are found by whatever way an answer reaches them, and nothing else is."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.checking import Case, Outcome, observe
from course_lib.checking.trap import RuleBroken, Trap, forbidden_name

SAVED = torch.softmax
SAVED_JACOBIAN = torch.func.jacfwd(torch.sum)
X = torch.randn(2, 3, 4)


def caught(x: Tensor) -> Tensor:
    try:
        return torch.softmax(x, -1)
    except Exception:
        return x


def without_modes(x: Tensor) -> Tensor:
    with torch._C.DisableTorchFunction():
        return torch.softmax(x, -1)


def in_a_thread(x: Tensor) -> Tensor:
    found: list[Tensor] = []

    def work() -> None:
        try:
            found.append(torch.softmax(x, -1))
        except RuleBroken:
            found.append(x)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize(
    ("forbidden", "answer"),
    [
        ("softmax", lambda x: SAVED(x, -1)),
        ("softmax", lambda x: x.softmax(-1)),
        ("softmax", lambda x: nn.Softmax(-1)(x)),
        ("softmax", lambda x: torch.ops.aten.softmax.int(x, -1)),
        ("softmax", caught),
        ("softmax", lambda x: torch._softmax(x, -1, False)),
        ("softmax", lambda x: torch.special.softmax(x, -1)),
        ("softmax", lambda x: torch._safe_softmax(x, -1)),
        ("softmax", lambda x: F.gumbel_softmax(x)),
        ("softmax", lambda x: torch._masked_softmax(x, torch.zeros_like(x, dtype=torch.bool), -1)),
        ("softmax", without_modes),
        ("softmax", in_a_thread),
        ("softmax", lambda x: types.FunctionType(F.softmax.__code__, vars(F))(x, -1, 3, None)),
        ("scaled_dot_product_attention", lambda x: torch._scaled_dot_product_attention_math(x, x, x)[0]),
        (
            "scaled_dot_product_attention",
            lambda x: torch._scaled_dot_product_flash_attention_for_cpu(x[None], x[None], x[None])[0],
        ),
        ("scaled_dot_product_attention", lambda x: F.scaled_dot_product_attention(x, x, x)),
        ("scaled_dot_product_attention", lambda x: torch._C._nn.scaled_dot_product_attention(x, x, x)),
        ("multi_head_attention_forward", lambda x: nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x)[0]),
        ("jacfwd", lambda x: torch.func.jacfwd(torch.sum)(x)),
        ("jacfwd", lambda x: SAVED_JACOBIAN(x)),
        ("jacobian", lambda x: torch.autograd.functional.jacobian(torch.sum, x)),
    ],
)
@pytest.mark.parametrize("gradients", [(), (0,)])
def test_a_forbidden_function_is_trapped_however_it_is_reached(
    forbidden: str, answer: Callable[[Tensor], Tensor], gradients: tuple[int, ...]
) -> None:
    case = Case("a batch", (X,), gradients=gradients)
    seen = observe(answer, case, [forbidden])
    assert seen.failure is Outcome.RULE_BROKEN
    assert seen.raised is not None
    assert seen.raised.message.startswith(forbidden)
    assert observe(answer, case, ["cumsum"]).returned


def test_the_trap_is_gone_afterwards() -> None:
    observe(caught, Case("a batch", (X,)), ["softmax"])
    assert torch.softmax(X, -1).shape == X.shape


def test_the_trap_leaves_profilers_as_they_were() -> None:
    def profiler(frame: object, event: str, arg: object) -> None:
        pass

    before, threads = sys.getprofile(), threading.getprofile()
    sys.setprofile(profiler)
    threading.setprofile(profiler)
    try:
        with pytest.raises(RuleBroken), Trap(["softmax"]):
            torch.softmax(X, -1)
        assert sys.getprofile() is threading.getprofile() is profiler
    finally:
        sys.setprofile(before)
        threading.setprofile(threads)


def softmax(x: Tensor) -> Tensor:
    return x.exp() / x.exp().sum(-1, keepdim=True)


@pytest.mark.parametrize(
    "answer",
    [
        softmax,
        lambda x: nn.functional.softplus(x),
        lambda x: torch.logsumexp(x, -1),
        lambda x: torch.autograd.grad(x.clone().requires_grad_().sum(), x, allow_unused=True)[0],
    ],
)
def test_what_only_sounds_like_it_is_allowed(answer: Callable[[Tensor], Tensor]) -> None:
    assert observe(answer, Case("a batch", (X,), gradients=(0,)), ["softmax", "jacobian"]).returned


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("softmax", "softmax"),
        ("_softmax.default", "softmax"),
        ("_scaled_dot_product_flash_attention_for_cpu", "scaled_dot_product_attention"),
        ("jacfwd.<locals>.wrapper_fn", "jacfwd"),
        ("MultiheadAttention.forward", "MultiheadAttention"),
        ("softplus", ""),
        ("attention", ""),
        ("Softmax2d", ""),
        ("", ""),
    ],
)
def test_a_name_stands_for_another_if_it_has_its_words_in_order(name: str, wanted: str) -> None:
    forbidden = ("softmax", "scaled_dot_product_attention", "jacfwd", "MultiheadAttention")
    assert forbidden_name(name, forbidden) == wanted
