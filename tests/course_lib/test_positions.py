"""Positions: the formula, its linear shift, and what happens past the longest sequence."""

from __future__ import annotations

import math

import pytest
import torch
from torch.testing import assert_close

from course_lib.positions import LearnedPositions, SinusoidalPositions, sinusoidal_encoding


class TestSinusoidalEncoding:
    def test_follows_the_formula(self) -> None:
        encoding = sinusoidal_encoding(length=60, d_model=8)
        assert encoding.shape == (60, 8)
        for position, i in [(0, 0), (1, 0), (3, 1), (59, 3)]:
            angle = position / 10_000 ** (2 * i / 8)
            assert encoding[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-5)
            assert encoding[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-5)

    def test_a_shift_is_one_rotation_for_all_positions(self) -> None:
        encoding, shift = sinusoidal_encoding(50, 6), 4
        for i in range(3):
            angle = torch.tensor(shift / 10_000 ** (2 * i / 6))
            rotation = torch.tensor([[angle.cos(), -angle.sin()], [angle.sin(), angle.cos()]])
            pair = encoding[:, 2 * i : 2 * i + 2]
            assert_close(pair[shift:], pair[:-shift] @ rotation, atol=1e-5, rtol=0)

    def test_an_odd_dimension_is_refused(self) -> None:
        with pytest.raises(ValueError, match="even d_model, not 7"):
            sinusoidal_encoding(10, 7)

    def test_goes_to_its_device(self) -> None:
        assert sinusoidal_encoding(3, 4, device="meta").device.type == "meta"


class TestSinusoidalPositions:
    def test_adds_the_encoding_to_every_sequence(self) -> None:
        x = torch.randn(2, 5, 8)
        assert_close(SinusoidalPositions(8)(x) - x, sinusoidal_encoding(5, 8).expand(2, 5, 8))

    def test_has_no_longest_sequence(self) -> None:
        positions = SinusoidalPositions(8, max_length=4)
        assert_close(positions(torch.zeros(1, 9, 8))[0], sinusoidal_encoding(9, 8))
        assert_close(positions(torch.zeros(1, 3, 8))[0], sinusoidal_encoding(3, 8))

    def test_has_nothing_to_learn_or_save(self) -> None:
        assert not SinusoidalPositions(8).state_dict()


class TestLearnedPositions:
    def test_adds_a_row_for_each_position(self) -> None:
        positions, x = LearnedPositions(8, max_length=6), torch.randn(2, 5, 8)
        assert_close(positions(x), x + positions.encoding[:5])
        positions(x).sum().backward()
        assert torch.equal(positions.encoding.grad[:, 0], torch.tensor([2.0, 2.0, 2.0, 2.0, 2.0, 0.0]))

    def test_stops_at_its_longest_sequence(self) -> None:
        with pytest.raises(ValueError, match="7 words is longer than the 6 learned positions"):
            LearnedPositions(8, max_length=6)(torch.randn(1, 7, 8))
