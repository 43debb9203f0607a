"""What an exercise draws its cases from."""

import dataclasses
from typing import Any

import pytest
import torch

from course_lib import exercises
from course_lib.judging.exercise import generator_of


def drawn(generator: torch.Generator) -> torch.Tensor:
    return torch.rand(700, generator=generator)  # more than the 624 words of a state


class TestGenerator:
    @pytest.mark.parametrize("seed", [0, 20170612, 2**32 - 1])
    def test_seeds_of_32_bits_are_torchs_own(self, seed: int) -> None:
        assert torch.equal(drawn(generator_of(seed)), drawn(torch.Generator().manual_seed(seed)))

    @pytest.mark.parametrize("bit", [32, 40, 62, 64, 255])
    def test_every_bit_counts(self, bit: int) -> None:
        seed = 2**250 + 5
        assert not torch.equal(drawn(generator_of(seed)), drawn(generator_of(seed ^ 2**bit)))

    def test_seeds_that_differ_in_high_bits_give_other_hidden_cases(self) -> None:
        exercise = exercises.find("attention.scale")
        one, other = (exercise.hidden_cases(seed)[0].args[0] for seed in (2**40 + 5, 2**41 + 5))
        assert one.shape != other.shape or not torch.equal(one, other)


@pytest.mark.parametrize("points", [2.5, 2.0, True, 0, -1, "2"])
def test_points_are_whole_numbers(points: Any) -> None:
    exercise = exercises.find("attention.scores")
    for change in ({"points": points, "parts": {}}, {"parts": {"values": 1, "more": points}}):
        with pytest.raises(ValueError, match=r"attention\.scores: points are whole numbers of at least 1, not "):
            dataclasses.replace(exercise, **change)
