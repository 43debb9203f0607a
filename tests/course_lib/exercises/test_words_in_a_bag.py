"""Nearly right answers fail on what is visible."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from torch import Tensor

from course_lib.judging.observation import Outcome
from tests.course_lib.exercises.judging import verdict


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
