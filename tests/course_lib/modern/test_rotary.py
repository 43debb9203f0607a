"""Rotary positions: by complex numbers, in half precision, and yarn as `transformers` has it."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from course_lib.configurations import RotaryConfig
from course_lib.modern.rotary import (
    RotaryPositions,
    rotary_frequencies,
    rotate,
    yarn_frequencies,
    yarn_scale,
)


def turned(x: Tensor, positions: Tensor, **how: Any) -> Tensor:
    """Queries [batch, heads, tokens, d_head], turned by the positions of their tokens."""
    out: Tensor = RotaryPositions(x.shape[-1], RotaryConfig(**how))(positions, int(positions.max()) + 1)(x)
    return out


def test_each_pair_is_a_complex_number_that_turns() -> None:
    x, positions = torch.randn(2, 3, 5, 8, dtype=torch.float64), torch.tensor([0, 1, 4, 9, 100])
    angle = positions.unsqueeze(-1) * 10_000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    expected = torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.polar(torch.ones_like(angle), angle)
    assert_close(turned(x, positions), torch.view_as_real(expected).flatten(-2), atol=1e-5, rtol=1e-5)


def test_texts_may_have_positions_of_their_own() -> None:
    x, positions = torch.randn(2, 3, 4, 8), torch.tensor([[0, 1, 2, 3], [0, 0, 1, 2]])
    together = turned(x, positions)
    for i in range(2):
        assert_close(together[i], turned(x[i : i + 1], positions[i])[0])


def test_half_precision_keeps_far_tokens_apart() -> None:
    rotary = RotaryPositions(8, RotaryConfig()).half()
    near, far = (rotary(torch.tensor([position]), 5002)(torch.ones(1, 1, 1, 8)) for position in (5000, 5001))
    assert not torch.equal(near, far)


def test_training_after_reading_without_gradients() -> None:
    rotary, x = RotaryPositions(8, RotaryConfig()), torch.randn(1, 1, 3, 8, requires_grad=True)
    with torch.inference_mode():
        rotary(torch.arange(3), 3)
    rotary(torch.arange(3), 3)(x).sum().backward()
    assert x.grad is not None


def test_compiled_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    x, cosine, sine = torch.randn(4, 2, 6), torch.rand(2, 3), torch.rand(2, 3)
    expected = rotate(x, cosine, sine)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert_close(rotate(x, cosine, sine), expected)


def test_half_precision_turns_in_single() -> None:
    x, positions = torch.randn(1, 1, 4, 8, dtype=torch.bfloat16), torch.tensor([0, 3, 200, 4000])
    assert_close(turned(x, positions), turned(x.float(), positions).bfloat16(), atol=0, rtol=0)


@pytest.mark.parametrize(("few", "many"), [(1.0, 32.0), (0.5, 3.0), (2.0, 2.5)])
def test_yarn_is_theirs(few: float, many: float) -> None:
    how = {"factor": 4.0, "original_max_position_embeddings": 64, "beta_slow": few, "beta_fast": many}
    config = LlamaConfig(
        hidden_size=64,
        num_attention_heads=4,
        max_position_embeddings=256,
        rope_parameters={"rope_type": "yarn", "rope_theta": 500.0, **how},
    )
    expected, scale = ROPE_INIT_FUNCTIONS["yarn"](config, torch.device("cpu"))
    assert_close(yarn_frequencies(rotary_frequencies(16, 500.0), 4.0, 64, 500.0, few, many), expected)
    assert yarn_scale(4.0) == pytest.approx(scale)
