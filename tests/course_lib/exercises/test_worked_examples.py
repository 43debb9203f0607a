"""The worked examples' right numbers, recomputed without the library."""

from __future__ import annotations

import math

import torch
from torch.testing import assert_close

from course_lib.exercises.worked_examples import A, B


def test_example_a() -> None:
    assert A.steps.scores.tolist() == [[12, 3.75, -10.75], [-20, -11.5, 25.5]]
    assert_close(A.steps.scaled, A.steps.scores / math.sqrt(2))
    assert_close(A.steps.out, torch.tensor([[-2.0015, -3.9898], [4.5000, 2.5000]]), atol=5e-5, rtol=0)


def test_example_b() -> None:
    assert B.steps.scores[1].tolist() == [-3.5, 7.25, -11.5, 5.5]
    assert_close(B.steps.alpha[3], torch.tensor([0.0000, 0.0050, 0.0000, 0.9950]), atol=5e-5, rtol=0)
    assert_close(B.steps.out[1], torch.tensor([-0.9990, -2.4983]), atol=5e-5, rtol=0)
