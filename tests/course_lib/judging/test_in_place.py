"""Right values that are written over an argument: no misconception explains that, and none may be named."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from course_lib import exercises
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.judge import judge
from course_lib.judging.observation import Outcome, observe
from course_lib.judging.verdict import Verdict


class LearnedPositions(nn.Module):
    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.zeros(max_length, d_model))

    def forward(self, x: Tensor) -> Tensor:
        words = x.shape[-2]
        if words > len(self.encoding):
            raise ValueError("too many words")
        x += self.encoding[:words]
        return x


class UnguardedPositions(LearnedPositions):
    def forward(self, x: Tensor) -> Tensor:
        x += self.encoding[: x.shape[-2]]
        return x


def attention_weights(scaled: Tensor) -> Tensor:
    scaled -= scaled.detach().amax(-1, keepdim=True)
    return scaled.exp() / scaled.exp().sum(-1, keepdim=True)


def masked_weights(scaled: Tensor, mask: Tensor) -> Tensor:
    scaled.masked_fill_(~mask, -torch.inf)
    return torch.softmax(scaled, dim=-1).nan_to_num(0.0)


def top_k(probabilities: Tensor, k: int) -> Tensor:
    least = probabilities.topk(min(k, probabilities.shape[-1])).values[..., -1:]
    probabilities[probabilities < least] = 0
    return probabilities / probabilities.sum(-1, keepdim=True)


def mean_pooling(x: Tensor, mask: Tensor) -> Tensor:
    x[~mask] = 0
    return x.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


def verdict_on(exercise: str, answer: Callable[..., Tensor]) -> Verdict:
    return judge(AnswerKey(exercises.find(exercise), 1), lambda case: observe(answer, case))


@pytest.mark.parametrize(
    ("exercise", "answer", "changed"),
    [
        ("positions.learned_positions", LearnedPositions, "x"),
        ("attention.weights", attention_weights, "scaled"),
        ("masking.masked_weights", masked_weights, "scaled"),
        ("decoding.top_k", top_k, "probabilities"),
        ("words_in_a_bag.mean_pooling", mean_pooling, "x"),
    ],
)
def test_right_values_in_the_arguments_place_are_told_as_that_and_nothing_else(
    exercise: str, answer: Callable[..., Tensor], changed: str
) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.outcome is Outcome.WRONG
    assert verdict.misconception is None
    said = f"The values are right, but your answer changes its arguments ({changed}). Work on a copy."
    assert said in " ".join(verdict.text().split())
    assert said in verdict.html()


def test_where_another_part_is_wrong_besides_the_values_are_not_called_right() -> None:
    verdict = verdict_on("positions.learned_positions", UnguardedPositions)
    assert verdict.misconception is None
    assert "\n  Your answer changes its arguments (x). Work on a copy.\n" in verdict.text()


def test_a_misconception_is_named_though_the_argument_is_changed_as_well() -> None:
    verdict = verdict_on("attention.scale", lambda scores, d_head: scores.div_(d_head))
    assert verdict.misconception is not None
    assert verdict.misconception.id == "divided_by_d_head"
