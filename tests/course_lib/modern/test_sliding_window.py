"""A sliding window: the last few tokens, by position."""

from __future__ import annotations

import torch

from course_lib.modern.sliding_window import sliding_window_mask


def test_each_token_sees_itself_and_the_tokens_just_before() -> None:
    positions = torch.arange(4)
    assert sliding_window_mask(positions, positions, 2).int().tolist() == [
        [1, 0, 0, 0],
        [1, 1, 0, 0],
        [0, 1, 1, 0],
        [0, 0, 1, 1],
    ]


def test_later_queries_and_texts_of_their_own() -> None:
    queries, keys = torch.tensor([[3], [1]]), torch.tensor([[0, 1, 2, 3], [0, 0, 0, 1]])
    assert sliding_window_mask(queries, keys, 2).int().tolist() == [[[0, 0, 1, 1]], [[1, 1, 1, 1]]]
