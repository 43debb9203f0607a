"""Masks: rows in which nothing is allowed, and the last token."""

import pytest
import torch

from course_lib.masking import (
    at_last_token,
    masked_weights,
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_fully_masked_rows_are_zero_with_finite_gradients(dtype: torch.dtype) -> None:
    scaled = torch.randn(3, 4).to(dtype).requires_grad_()
    mask = torch.ones(3, 4, dtype=torch.bool)
    mask[1] = False
    alpha = masked_weights(scaled, mask)
    assert alpha.dtype == dtype
    assert torch.equal(alpha[1], torch.zeros_like(alpha[1]))
    (gradient,) = torch.autograd.grad((alpha * torch.arange(4)).sum(), scaled)
    assert gradient.isfinite().all()
    assert (gradient[0] != 0).any()


class TestLastWord:
    @pytest.mark.parametrize("rest", [(), (3,), (3, 2)])
    def test_is_found_wherever_padding_stands(self, rest: tuple[int, ...]) -> None:
        x = torch.randn(4, 5, *rest)
        mask = torch.tensor([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1, 0, 1, 0, 0], [1, 0, 0, 0, 0]]).bool()
        expected = torch.stack([x[0, 2], x[1, 4], x[2, 2], x[3, 0]])
        assert torch.equal(at_last_token(x, mask), expected)

    def test_without_padding_it_is_the_last_column(self) -> None:
        x = torch.randn(4, 5, 3)
        assert torch.equal(at_last_token(x), x[:, 4])
        assert torch.equal(at_last_token(x, torch.ones(4, 5, dtype=torch.bool)), x[:, 4])
