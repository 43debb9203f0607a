"""The slide's mean is a named mistake, and so are slips in a student's own handwriting."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from course_lib import exercises
from course_lib.judging.observation import Outcome
from tests.course_lib.exercises.judging import mistake, named, verdict


class TestTheSlide:
    def test_its_mean_counts_padding(self) -> None:
        x, mask = exercises.find("words_in_a_bag.mean_pooling").visible_cases()[0].args
        mean = mistake("words_in_a_bag.mean_pooling", "padding_counted")(x, mask)
        assert_close(mean, torch.mean(x, dim=1))


def _three_left_out_by_zero(table: Tensor, words: list[str], a: str, b: str, c: str, count: int) -> list[str]:
    unit = table / table.norm(dim=-1, keepdim=True)
    rows = [words.index(word) for word in (a, b, c)]
    alike = unit @ (unit[rows[1]] - unit[rows[0]] + unit[rows[2]])
    alike[rows] = 0
    return [words[row] for row in alike.topk(count).indices.tolist()]


def _in_whole_multiples(first: str, second: str) -> bool:
    shorter, longer = sorted((first.split(), second.split()), key=len)
    return sorted(shorter * (len(longer) // len(shorter))) == sorted(longer)


def _shares_to_one_decimal(first: str, second: str) -> bool:
    texts = (first.split(), second.split())
    shares = [{word: round(text.count(word) / len(text), 1) for word in text} for text in texts]
    return shares[0] == shares[1]


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("words_in_a_bag.cosine", lambda table, i: (table * table[i]).sum(1), "dot_product"),
        (
            "words_in_a_bag.cosine",
            lambda table, i: table @ table[i] / ((table**2).sum(1) * (table[i] ** 2).sum()),
            "squared_lengths",
        ),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


@pytest.mark.parametrize(
    ("exercise_id", "answer"),
    [
        ("words_in_a_bag.look_up", lambda table, ids: table[ids].squeeze(0)),
        ("words_in_a_bag.look_up", lambda table, ids: table[ids].squeeze()),
        ("words_in_a_bag.analogy", _three_left_out_by_zero),
        ("words_in_a_bag.same_vector", _in_whole_multiples),
        ("words_in_a_bag.same_vector", _shares_to_one_decimal),
        ("words_in_a_bag.majority", lambda training, test: (test == training.median()).float().mean()),
        ("words_in_a_bag.majority", lambda training, test: (test == training.float().mean().round()).float().mean()),
    ],
)
def test_the_visible_cases_tell_nearly_right_answers_too(exercise_id: str, answer: Callable[..., object]) -> None:
    assert verdict(exercise_id, answer, seed=None).outcome is Outcome.WRONG


def test_a_list_of_the_right_numbers_is_told_what_is_missing() -> None:
    found = verdict("words_in_a_bag.look_up", lambda table, ids: table[ids].tolist())
    assert found.outcome is Outcome.WRONG
    assert "should be a torch.Tensor" in found.text()
