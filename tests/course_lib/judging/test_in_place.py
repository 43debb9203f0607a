"""Right values that are written over an argument: no misconception explains that, and none may be named."""

import torch
from torch import Tensor, nn

from course_lib import exercises
from course_lib.judging.observation import Outcome
from tests.course_lib.judging.samples import DOUBLE, named, verdict_on


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


def test_right_values_in_the_argument_s_place_are_told_as_that_and_nothing_else() -> None:
    exercise = exercises.find("positions.learned_positions")
    for answer, judged in ((lambda x: x.mul_(2), DOUBLE), (LearnedPositions, exercise)):
        verdict = verdict_on(answer, judged, seed=1)
        assert verdict.outcome is Outcome.WRONG
        assert verdict.misconception is None
        said = "The values are right, but your answer changes its arguments (x). Work on a copy."
        assert said in " ".join(verdict.text().split())
        assert said in verdict.html()


def test_where_another_part_is_wrong_besides_the_values_are_not_called_right() -> None:
    verdict = verdict_on(UnguardedPositions, exercises.find("positions.learned_positions"))
    assert verdict.misconception is None
    assert "\n  Your answer changes its arguments (x). Work on a copy.\n" in verdict.text()


def test_changed_arguments_are_told_where_they_make_the_values_wrong() -> None:
    verdict = verdict_on(lambda x: x.mul_(3) - x.sum(), DOUBLE)
    assert "\n  Your answer changes its arguments (x). Work on a copy.\n" in verdict.text()


def test_a_misconception_is_named_though_the_argument_is_changed_as_well() -> None:
    exercise = exercises.find("attention.scale")
    assert named(lambda scores, d_head: scores.div_(d_head), exercise) == "divided_by_d_head"
