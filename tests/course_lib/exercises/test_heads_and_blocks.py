"""Half an answer earns its part, and an honest one may be less exact than the reference."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from course_lib.judging.observation import Outcome
from course_lib.references.heads_and_blocks import AddAndNorm, LayerNorm
from tests.course_lib.exercises.judging import verdict


def norm(formula: Callable[[Tensor, Tensor, Tensor, float], Tensor]) -> type[nn.Module]:
    """Layer norm by a formula of x, gamma, beta and epsilon."""

    class Norm(LayerNorm):
        def forward(self, x: Tensor) -> Tensor:
            return formula(x, self.weight, self.bias, self.epsilon)

    return Norm


class PostNormOnly(AddAndNorm):
    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.norm_first:
            raise NotImplementedError()
        return self.norm(x + self.dropout(sublayer(x)))


def test_post_norm_alone_earns_its_part_where_pre_norm_is_still_the_stub() -> None:
    found = verdict("heads_and_blocks.add_and_norm", PostNormOnly)
    assert (found.outcome, found.points) == (Outcome.RAISED, 2)


def _norm_in_one_pass(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    """The mean of the squares less the square of the mean, in the precision of x: less exact, and honest."""
    mean, square = x.mean(-1, keepdim=True), (x * x).mean(-1, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(square - mean**2 + epsilon) + beta


def _norm_by_a_product(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    """The mean as a product with 1 / d, which is rounded."""
    share = x.new_full((x.shape[-1], 1), 1 / x.shape[-1])
    centred = x - x @ share
    return gamma * centred / torch.sqrt(centred**2 @ share + epsilon) + beta


@pytest.mark.parametrize("formula", [_norm_in_one_pass, _norm_by_a_product])
def test_an_honest_answer_may_lose_precision(formula: Callable[..., Tensor]) -> None:
    for seed in range(5):
        assert verdict("heads_and_blocks.layer_norm", norm(formula), seed).passed
