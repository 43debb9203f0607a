"""Rules: what counts as repeated, and where texts stop."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from course_lib.decoding.rules import Rules, repetition_penalty, stop_rule
from tests.course_lib.writers import Letters

WORDS = torch.tensor([[4, 5, 6], [4, 4, 1]])


def test_without_rules_nothing_changes_and_nothing_ends() -> None:
    scores = torch.randn(2, 9)
    assert Rules(WORDS).change(WORDS, scores) is scores
    assert Rules(WORDS).stops(WORDS).tolist() == [False, False]


def test_padding_is_no_token_and_copies_follow_their_text() -> None:
    read, mask = torch.tensor([[0, 3], [5, 6]]), torch.tensor([[False, True], [True, True]])
    written = torch.tensor([[7], [8], [7], [7]])
    changed = Rules(read, mask, [repetition_penalty(2.0)]).change(written, torch.ones(4, 9))
    seen = [row.nonzero().flatten().tolist() for row in changed == 0.5]
    assert seen == [[3, 7], [3, 8], [5, 6, 7], [5, 6, 7]]


class TestStop:
    @pytest.mark.parametrize(
        ("stop", "expected"),
        [
            ([[6]], [True, False]),
            ([[6], [4, 1]], [True, True]),
            ([[4, 5]], [False, False]),
            ([[4, 5, 6], (4, 4, 1)], [True, True]),
            ([[0, 4, 5, 6]], [False, False]),
            ("ef", [True, False]),
            (["ee", "fg"], [True, True]),
            (["eb", [6]], [True, True]),
            (["z"], [False, False]),
        ],
    )
    def test_at_these_ids_or_in_this_text(self, stop: Any, expected: list[bool]) -> None:
        assert stop_rule(stop, Letters())(WORDS).tolist() == expected

    @pytest.mark.parametrize(
        ("stop", "error", "message"),
        [
            ("", ValueError, "must not have an empty text"),
            ([""], ValueError, "must not have an empty text"),
            ([[]], ValueError, "must not have an empty text, or no ids"),
            ([[1.5]], TypeError, r"but it has \[1.5\]"),
        ],
    )
    def test_what_is_neither(self, stop: Sequence[Any], error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            stop_rule(stop)
