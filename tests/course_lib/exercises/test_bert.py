"""Slips in a student's own handwriting get the right message, and honest answers pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from tests.course_lib.exercises.judging import named, verdict


class TestTheSlides:
    def test_exponentials_without_a_normaliser_are_named(self) -> None:
        class AsOnTheSlide(nn.Module):
            def __init__(self, d_model: int, classes: int) -> None:
                super().__init__()
                self.dense, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, classes)

            def forward(self, states: Tensor) -> Tensor:
                features = torch.tanh(self.dense(states[:, 0]))
                return torch.exp(torch.einsum("yf,bf->by", self.output.weight, features) + self.output.bias)

        found = verdict("bert.sequence_classifier", AsOnTheSlide)
        assert found.misconception is not None
        assert found.misconception.id == "exponentials"
        assert "normalizer" in found.misconception.message


def _tabled(logits: Tensor, max_tokens: int | None, slip: str) -> Tensor:
    tokens = logits.shape[2]
    ones = torch.ones(tokens, tokens)
    keep = (ones.tril() if slip == "tril" else ones.triu()).bool()
    keep &= ones.tril((max_tokens or tokens) - 1).bool()
    first, last = logits[:, 0, :, None], logits[:, 1, None, :]
    table = first * last if slip == "product" else first + last
    best = table.masked_fill(~keep, 0.0 if slip == "zeros" else -torch.inf).flatten(1).argmax(1)
    both = torch.stack([best // tokens, best % tokens], 1)
    return both[:, [1, 0]] if slip == "turned" else both


class _AllWithAll(nn.Module):
    def __init__(self, d_model: int, classes: int) -> None:
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(self, states: Tensor, starts: Tensor) -> Tensor:
        return torch.stack([self.output(sentence)[starts] for sentence in states])


class _Pieces(nn.Module):
    """From loops over the tokens and their pieces."""

    def __init__(self, d_model: int, classes: int) -> None:
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(self, states: Tensor, starts: Tensor) -> Tensor:
        ends = [[*row[1:], states.shape[1]] for row in starts.tolist()]
        pooled = [
            torch.stack([states[i, a:b].mean(0) for a, b in zip(row, ends[i], strict=True)])
            for i, row in enumerate(starts.tolist())
        ]
        return self.output(torch.stack(pooled))


class _LastWord(nn.Module):
    def __init__(self, d_model: int, classes: int) -> None:
        super().__init__()
        self.dense, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, classes)

    def forward(self, states: Tensor) -> Tensor:
        return self.output(self.dense(states.flip(1)[:, 0]).tanh())


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("bert.expected_counts", lambda tokens: (tokens * 0.8, tokens / 10, tokens / 10), "shares_of_all_words"),
        ("bert.expected_counts", lambda tokens: (tokens * 15 / 100, 0.0, 0.0), "all_become_mask"),
        ("bert.sequence_classifier", _LastWord, "last_word"),
        ("bert.token_classifier", _Pieces, "mean_of_pieces_and_sep"),
        ("bert.token_classifier", _AllWithAll, "every_row_of_starts"),
        ("bert.answer_span", lambda x, most=None: _tabled(x, most, "tril"), "lower_triangle"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


def test_what_stands_where_no_token_is_does_not_matter() -> None:
    class Filled(nn.Module):
        def __init__(self, d_model: int, classes: int) -> None:
            super().__init__()
            self.output = nn.Linear(d_model, classes)

        def forward(self, states: Tensor, starts: Tensor) -> Tensor:
            scores = self.output(torch.take_along_dim(states, starts.unsqueeze(-1), dim=1))
            return scores.masked_fill((starts == 0).unsqueeze(-1), 0.0)

    assert verdict("bert.token_classifier", Filled, 1).passed


def test_a_ready_made_pair_is_refused() -> None:
    def ready_made(firsts: list[list[int]], seconds: list[list[int] | None], *special: int) -> object:
        from course_lib.text.tokenization import join_pair

        return join_pair(firsts[0], seconds[0], cls_id=special[0], sep_id=special[1])

    assert not verdict("bert.pair_encoding", ready_made).passed
