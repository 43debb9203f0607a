"""The trap: forbidden functions are found by whatever way an answer reaches them, and nothing else is."""

import types
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.judging.exercise import Case
from course_lib.judging.observation import Outcome, observe
from course_lib.judging.trap import RuleBroken, Trap

SAVED = torch.softmax
X = torch.randn(2, 3, 4)


def caught(x: Tensor) -> Tensor:
    try:
        return torch.softmax(x, -1)
    except Exception:
        return x


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
        ("softmax", lambda x: torch.vmap(lambda row: SAVED(row, -1))(x)),
        ("softmax", lambda x: torch.distributions.Categorical(logits=x).probs),
        ("softmax", lambda x: torch.sparse.softmax(x.detach().to_sparse(), -1).to_dense()),
        ("softmax", lambda x: torch.func.functional_call(nn.Softmax(-1), {}, (x,))),
        ("cosine_similarity", lambda x: torch.vmap(F.cosine_similarity)(x, x)),
        ("layer_norm", lambda x: nn.TransformerEncoderLayer(4, 2, batch_first=True)(x)),
        ("multi_head_attention_forward", lambda x: nn.MultiheadAttention(4, 2, batch_first=True).eval()(x, x, x)[0]),
        ("softmax", lambda x: types.FunctionType(F.softmax.__code__, vars(F))(x, -1, 3, None)),
        ("scaled_dot_product_attention", lambda x: torch._scaled_dot_product_attention_math(x, x, x)[0]),
        (
            "scaled_dot_product_attention",
            lambda x: torch._scaled_dot_product_flash_attention_for_cpu(x[None], x[None], x[None])[0],
        ),
        ("scaled_dot_product_attention", lambda x: F.scaled_dot_product_attention(x, x, x)),
        ("scaled_dot_product_attention", lambda x: torch._C._nn.scaled_dot_product_attention(x, x, x)),
        ("multi_head_attention_forward", lambda x: nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x)[0]),
    ],
)
@pytest.mark.parametrize("gradients", [(), (0,)])
def test_a_forbidden_function_is_trapped_however_it_is_reached(
    forbidden: str, answer: Callable[[Tensor], Tensor], gradients: tuple[int, ...]
) -> None:
    case = Case("a batch", (X,), gradients=gradients)
    seen = observe(answer, case, [forbidden])
    assert seen.failure is Outcome.RULE_BROKEN
    assert seen.raised.message.startswith(forbidden)
    assert observe(answer, case, ["cumsum"]).returned


def test_the_trap_is_gone_afterwards() -> None:
    observe(caught, Case("a batch", (X,)), ["softmax"])
    assert torch.softmax(X, -1).shape == X.shape


def test_what_the_checker_does_itself_breaks_no_rule() -> None:
    trap = Trap(["softmax"])
    with trap:
        with trap.paused():
            torch.softmax(X, -1)
        with pytest.raises(RuleBroken):
            torch.softmax(X, -1)
    assert trap.used == "softmax"


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
    assert observe(answer, Case("a batch", (X,), gradients=(0,)), ["softmax"]).returned
