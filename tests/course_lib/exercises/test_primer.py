"""Slips in a beginner's own handwriting are named, in the primer too."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.course_lib.exercises.judging import named, verdict


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("primer.distance_danced", lambda p: (p[:, -1] - p[:, 0]).pow(2).sum(1) ** 0.5, "end_minus_start"),
        ("primer.distance_danced", lambda p: p.diff(dim=1).norm(dim=2).sum(), "all_cats_together"),
        ("primer.distance_danced", lambda p: p.diff(dim=1).flatten(1).norm(dim=1), "root_at_the_end"),
        ("primer.loss_gradient", lambda w, x, y: (x * (x @ w - y)[:, None]).mean(0), "factor_2_missing"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


@pytest.mark.parametrize(
    ("exercise_id", "answer"),
    [
        ("primer.last_words", lambda x: x[:, -1].squeeze()),
        ("primer.bags_of_words", lambda ids, n: torch.stack([torch.bincount(row) for row in ids])),
        ("primer.split", lambda x, y, o, n: (x[o][: len(x) // 2], y[o][: len(x) // 2], x[o][-n:], y[o][-n:])),
    ],
)
def test_the_visible_cases_tell_nearly_right_answers_too(exercise_id: str, answer: Callable[..., object]) -> None:
    assert not verdict(exercise_id, answer, seed=None).passed
