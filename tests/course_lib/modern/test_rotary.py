"""Rotary positions: by complex numbers, by distance, and longer than they were trained for as `transformers` has it."""

from __future__ import annotations

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
    interpolated,
    llama3_frequencies,
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


def test_rotate_takes_any_leading_dimensions() -> None:
    x, cosine, sine = torch.randn(4, 2, 6), torch.rand(2, 3), torch.rand(2, 3)
    expected = torch.stack(
        [
            x[..., 0::2] * cosine - x[..., 1::2] * sine,
            x[..., 0::2] * sine + x[..., 1::2] * cosine,
        ],
        dim=-1,
    )
    assert_close(rotate(x, cosine, sine), expected.flatten(-2))


def test_compiled_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    x, cosine, sine = torch.randn(4, 2, 6), torch.rand(2, 3), torch.rand(2, 3)
    expected = rotate(x, cosine, sine)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert_close(rotate(x, cosine, sine), expected)


def test_half_precision_turns_in_single() -> None:
    x, positions = torch.randn(1, 1, 4, 8, dtype=torch.bfloat16), torch.tensor([0, 3, 200, 4000])
    assert_close(turned(x, positions), turned(x.float(), positions).bfloat16(), atol=0, rtol=0)


class TestLongerTexts:
    """Beyond the training, beside `transformers`."""

    FREQUENCIES = rotary_frequencies(16, 500.0)

    def published(self, kind: str, **parameters: float) -> tuple[Tensor, float]:
        config = LlamaConfig(
            hidden_size=64,
            num_attention_heads=4,
            max_position_embeddings=256,
            rope_parameters={"rope_type": kind, "rope_theta": 500.0, **parameters},
        )
        frequencies, scale = ROPE_INIT_FUNCTIONS[kind](config, torch.device("cpu"))
        return frequencies, scale

    def test_every_pair_more_slowly(self) -> None:
        assert_close(interpolated(self.FREQUENCIES, 4.0), self.published("linear", factor=4.0)[0])

    def test_by_the_turns_in_training(self) -> None:
        expected, _ = self.published(
            "llama3", factor=8.0, original_max_position_embeddings=64, low_freq_factor=1.0, high_freq_factor=4.0
        )
        assert_close(llama3_frequencies(self.FREQUENCIES, 8.0, 64), expected)

    @pytest.mark.parametrize(("few", "many"), [(1.0, 32.0), (0.5, 3.0), (2.0, 2.5)])
    def test_yarn(self, few: float, many: float) -> None:
        expected, scale = self.published(
            "yarn", factor=4.0, original_max_position_embeddings=64, beta_slow=few, beta_fast=many
        )
        assert_close(yarn_frequencies(self.FREQUENCIES, 4.0, 64, 500.0, few, many), expected)
        assert yarn_scale(4.0) == pytest.approx(scale)

    @pytest.mark.parametrize("extension", ["linear", "llama3", "yarn"])
    def test_each_has_its_name(self, extension: str) -> None:
        x, far = torch.randn(1, 1, 1, 16), torch.tensor([40])
        how = {"factor": 4.0, "trained_context": 64, "base": 500.0}
        assert not torch.allclose(turned(x, far, extension=extension, **how), turned(x, far, **how))
