"""Slips in a beginner's own handwriting are named, in the primer too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.course_lib.exercises.judging import named, verdict


def _path_of_one_tensor(gradient: Callable[[Tensor], Tensor], start: Tensor, rate: float, steps: int) -> Tensor:
    w = start.clone()
    path = [w]
    for _ in range(steps):
        w -= rate * gradient(w)
        path.append(w)
    return torch.stack(path)


def _path_returned_too_early(gradient: Callable[[Tensor], Tensor], start: Tensor, rate: float, steps: int) -> Tensor:
    path = []
    for _ in range(steps):
        start = start - rate * gradient(start)
        path.append(start)
    return torch.stack(path)


def _trained(optimizer_of: Callable[..., Any], zeroed: bool, answer: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    def train(weight: Tensor, bias: Tensor, x: Tensor, labels: Tensor, rate: float, steps: int) -> object:
        weight, bias = nn.Parameter(weight.clone()), nn.Parameter(bias.clone())
        optimizer, losses = optimizer_of([weight, bias], lr=rate), []
        for _ in range(steps):
            loss = F.cross_entropy(answer(x @ weight.T + bias), labels)
            if zeroed:
                optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return weight.detach(), bias.detach(), torch.stack(losses)

    return train


ADAM, SGD = torch.optim.Adam, torch.optim.SGD


class _Written(nn.Module):
    def __init__(self, vocab_size: int, d_hidden: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(vocab_size, d_hidden)
        self.output = nn.Linear(d_hidden, classes)


class _Straight(_Written):
    def forward(self, bags: Tensor) -> Tensor:
        return self.output(self.hidden(bags))


class _Deciding(_Written):
    def forward(self, bags: Tensor) -> Tensor:
        return F.softmax(self.output(F.relu(self.hidden(bags))), dim=1)


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("primer.last_words", lambda x: x[-1, :, :], "last_sentence"),
        ("primer.last_words", lambda x: torch.stack([row[-1:] for row in x]), "dimension_kept"),
        ("primer.distance_danced", lambda p: (p[:, -1] - p[:, 0]).pow(2).sum(1) ** 0.5, "end_minus_start"),
        ("primer.distance_danced", lambda p: p.diff(dim=1).norm(dim=2).sum(), "all_cats_together"),
        ("primer.distance_danced", lambda p: p.diff(dim=1).flatten(1).norm(dim=1), "root_at_the_end"),
        ("primer.bags_of_words", lambda ids, n: F.one_hot(ids, n).amax(dim=1), "whether_and_not_how_often"),
        ("primer.bags_of_words", lambda ids, n: torch.bincount(ids.flatten(), minlength=n), "all_sentences_together"),
        ("primer.loss_gradient", lambda w, x, y: 2 * x.T @ (x @ w - y), "summed"),
        ("primer.loss_gradient", lambda w, x, y: (x * (x @ w - y)[:, None]).mean(0), "factor_2_missing"),
        ("primer.walk_downhill", _path_of_one_tensor, "same_tensor_again"),
        ("primer.walk_downhill", _path_returned_too_early, "start_missing"),
        ("primer.critic", _Straight, "relu_left_out"),
        ("primer.critic", _Deciding, "softmax_at_the_end"),
        ("primer.split", lambda x, y, o, n: (x[o][:-n], y[:-n], x[o][-n:], y[-n:]), "labels_not_shuffled"),
        ("primer.split", lambda x, y, o, n: (x[o], y[o], x[o][-n:], y[o][-n:]), "test_in_training"),
        ("primer.train", _trained(ADAM, False, lambda x: x), "gradients_add_up"),
        ("primer.train", _trained(SGD, True, lambda x: x), "plain_descent"),
        ("primer.train", _trained(SGD, False, lambda x: x), "gradients_add_up+plain_descent"),
        ("primer.train", _trained(ADAM, True, lambda x: x.softmax(1)), "softmax_twice"),
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
