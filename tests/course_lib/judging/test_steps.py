"""What a reference computes on the way is shown beside an answer that fails, and nowhere else."""

import sys
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from course_lib.judging.exercise import Case, Hint
from course_lib.judging.steps import steps_of
from tests.course_lib.judging.samples import DOUBLE, SCALE, verdict_on


def doubled(x: Tensor) -> Tensor:
    half = halved(x)
    return 4 * half


def halved(y: Tensor) -> Tensor:
    half = 0 * y  # not what the one above calls so
    third = y / 3
    return third * 1.5 + half


class Scaled(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        weighted = x * self.weight
        return weighted


IN_STEPS = replace(DOUBLE, reference=doubled, steps=("third", "half"), hints=(Hint("idea", "Think of `x` < 2."),))


def test_they_are_the_references_own_variables() -> None:
    x = torch.tensor([3.0, 6.0])
    steps = steps_of(IN_STEPS, Case("", (x,)))
    assert list(steps) == ["third", "half"]
    assert steps["third"].tolist() == [1.0, 2.0]
    assert steps["half"].tolist() == [1.5, 3.0]
    assert sys.getprofile() is None
    module = replace(SCALE, reference=Scaled, steps=("weighted",))
    (case,) = module.visible_cases()
    assert torch.equal(steps_of(module, case)["weighted"], case.args[0] * case.weights["weight"])
    for none in ((), ("absent",), ("half", "absent")):
        assert steps_of(replace(IN_STEPS, steps=none), Case("", (x,))) == {}


def test_an_answer_that_fails_without_a_name_is_shown_the_steps_and_a_hint() -> None:
    verdict = verdict_on(lambda x: x.sin(), IN_STEPS)
    text = verdict.text()
    assert "   third  [0.3333, 0.6667, 1.0000]\n            half  [0.5000, 1.0000, 1.5000]" in text
    assert "\n  Hint (the idea): Think of `x` < 2." in text
    html = verdict.html()
    assert html.count("<details><summary>") == 2
    assert "<summary>Hint: The idea</summary><p>Think of <code>x</code> &lt; 2.</p></details>" in html
    assert "<tr><th>half</th><td><pre>[0.5000, 1.0000, 1.5000]</pre></td></tr>" in html


def raises(x: Tensor) -> Tensor:
    raise ValueError("no")


def is_stub(x: Tensor) -> Tensor:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("answer", "secret", "steps", "hint"),
    [
        (raises, False, True, True),
        (lambda x: x.sin(), True, False, True),
        (lambda x: x**2, False, False, False),  # it has a name
        (is_stub, False, False, False),
        (lambda x: x + x, False, False, False),
    ],
)
def test_others_are_not(answer: object, secret: bool, steps: bool, hint: bool) -> None:
    made = IN_STEPS.cases
    verdict = verdict_on(
        answer, replace(IN_STEPS, cases=lambda *drawn: (replace(case, secret=secret) for case in made(*drawn)))
    )
    assert bool(verdict.steps) == steps == ("third" in verdict.html()) == ("third" in verdict.text())
    assert (verdict.hint is not None) == hint == ("Hint" in verdict.html()) == ("Hint" in verdict.text())


def test_nothing_is_shown_of_a_hidden_case() -> None:
    verdict = verdict_on(lambda x: x.sin() if x.shape == (4,) else 2 * x, IN_STEPS, 5)
    assert verdict.shown.hidden
    assert verdict.steps == {}
