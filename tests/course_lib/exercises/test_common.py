"""What inputs are drawn like, and what several mistakes share."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Generator

from course_lib.exercises.common import Kind, alike, integer, kinds, sizes, unbatched_kinds

seeds = pytest.mark.parametrize("seed", range(20))


def generator(seed: int) -> Generator:
    return torch.Generator().manual_seed(seed)


class TestSizes:
    @seeds
    def test_differ_and_are_no_squares(self, seed: int) -> None:
        drawn = sizes(generator(seed), 4)
        assert len(set(drawn)) == 4
        assert all(math.isqrt(size) ** 2 != size for size in drawn)

    def test_depend_on_the_generator(self) -> None:
        assert len({tuple(sizes(generator(seed), 2)) for seed in range(20)}) > 3

    @seeds
    def test_integers_stay_in_range(self, seed: int) -> None:
        assert integer(generator(seed), 3, 5) in (3, 4)


class TestKinds:
    def test_every_property_occurs(self) -> None:
        for drawn in (list(kinds(generator(0))), list(unbatched_kinds(generator(0)))):
            assert {kind.dtype for kind in drawn} == {torch.float32, torch.float64}
            assert {kind.normal(2, 3).is_contiguous() for kind in drawn} == {True, False}
        assert {len(kind.leading) for kind in kinds(generator(0))} == {0, 1, 2}
        assert all(not kind.leading for kind in unbatched_kinds(generator(0)))

    @seeds
    def test_sizes_are_squares_in_double_precision_only(self, seed: int) -> None:
        for kind in kinds(generator(seed)):
            d_head = kind.d_head()
            if kind.ones:
                assert [d_head, *kind.sizes(3)] == [1, 1, 1, 1]
                continue
            assert d_head > 7
            drawn = kind.sizes(3)
            assert d_head not in drawn
            assert len(set(drawn)) == 3
            for size in (d_head, *drawn):
                assert (math.isqrt(size) ** 2 == size) == (kind.dtype == torch.float64)

    @seeds
    @pytest.mark.parametrize("shape", [(3, 3), (2, 7), (7, 2), (5, 3)])
    def test_a_mask_leaves_something_in_every_row_and_column(self, seed: int, shape: tuple[int, int]) -> None:
        mask = Kind("", generator(seed), (4,)).mask(*shape)
        assert mask.shape == (4, *shape)
        assert mask.any(dim=-1).all()
        assert mask.any(dim=-2).all()

    def test_masks_forbid_something(self) -> None:
        assert not Kind("", generator(0), (4,)).mask(5, 3).all()


def test_alike_are_told_the_same() -> None:
    first, second = alike("Count from 0.", late=abs, early=float)
    assert (first.id, second.id) == ("late", "early")
    assert (first.answer, second.answer) == (abs, float)
    assert first.message == second.message == "Count from 0."
