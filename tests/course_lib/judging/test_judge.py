"""From cases and observations to a verdict.

Tests `answer_key.py`, `exercise.py` and `verdict.py` as well.
"""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.errors import UnusableExercises
from course_lib.judging.exercise import Case, Misconception
from course_lib.judging.judge import judge
from course_lib.judging.observation import Observation, Outcome, observe
from tests.course_lib.judging.samples import DOUBLE, SCALE, Scale, named, told, verdict_on


def test_the_reference_and_other_right_answers_pass() -> None:
    for answer in (DOUBLE.reference, *DOUBLE.correct):
        verdict = verdict_on(answer, seed=1)
        assert verdict.passed
        assert verdict.points == 3
        assert verdict.misconception is None


def test_a_misconception_is_named_by_the_core_cases_where_they_fail() -> None:
    assert named(lambda x: (x**2).clamp(max=1e6)) == "squared"


def test_raising_alone_never_names_a_misconception() -> None:
    class Weird(Exception):
        pass

    def fail(x: Tensor) -> Tensor:
        raise Weird

    exercise = replace(DOUBLE, misconceptions=(Misconception("fails", "It fails.", fail),))
    assert named(fail, exercise) == ""


def test_of_a_secret_case_the_right_value_is_not_told() -> None:
    def cases(generator: torch.Generator, hidden: bool) -> list[Case]:
        return [Case("a vector", (torch.tensor([4321.0]),), secret=True)]

    exercise = replace(DOUBLE, cases=cases, parts={"values": 3})
    verdict = verdict_on(lambda x: x + 1, exercise)
    assert "The check does not tell which one is." in told(lambda x: x + 1, exercise)
    assert "4322" in verdict.text()
    assert not any("8642" in shown for shown in (verdict.text(), verdict.html(), str(verdict.record())))
    for other in ("8", None, [2 * torch.tensor([4321.0]), torch.zeros(1)]):
        verdict = verdict_on(lambda x, other=other: other, exercise)
        assert "should be a torch.Tensor, but it is" in verdict.text().replace("\n       ", "")
        for shown in (verdict.text(), verdict.html(), str(verdict.record())):
            assert "which is right" not in shown
            assert "8642" not in shown.partition("got")[0]


def refusing(x: Tensor) -> Tensor:
    if x.ndim > 1:
        raise ValueError(f"a vector is wanted, not {x.ndim} dimensions")
    return 2 * x


REFUSING = replace(
    DOUBLE,
    reference=refusing,
    parts={"values": 2, "refusals": 1},
    cases=lambda generator, hidden: [
        Case("a vector", (torch.ones(3),)),
        Case("a matrix", (torch.ones(2, 3),), part="refusals", refused="ValueError"),
    ],
)


class TestRefusals:
    def test_the_exception_that_is_asked_for_is_right_whatever_it_says(self) -> None:
        def other(x: Tensor) -> Tensor:
            (size,) = x.shape  # a ValueError of Python's own
            return x.new_tensor([2.0]) * x if size else x

        assert verdict_on(refusing, REFUSING).points == 3
        assert verdict_on(other, REFUSING).points == 3

    def test_an_answer_that_returns_instead_is_told_what_is_expected(self) -> None:
        verdict = verdict_on(lambda x: 2 * x, REFUSING, seed=1)
        assert verdict.outcome is Outcome.WRONG
        assert verdict.points == 2
        text = told(lambda x: 2 * x, REFUSING)
        assert "This call should raise a ValueError, but your answer returned a torch.Tensor." in text
        assert "expected a ValueError got" in text
        refused = "a matrix: the call should raise a ValueError, but the answer returned."
        assert verdict.cases[-2].message.startswith(refused)

    def test_another_exception_is_shown_beside_the_one_that_is_asked_for(self) -> None:
        def fail(x: Tensor) -> Tensor:
            return x @ x if x.ndim > 1 else 2 * x

        verdict = verdict_on(fail, REFUSING)
        assert verdict.outcome is Outcome.RAISED
        assert verdict.points == 2
        assert "should raise a plain ValueError. Your answer raised RuntimeError:" in verdict.cases[1].message

    def test_an_answer_that_refuses_everything_earns_nothing(self) -> None:
        def fail(x: Tensor) -> Tensor:
            raise ValueError("no")

        assert verdict_on(fail, REFUSING).points == 0

    def test_a_stub_is_not_a_refusal(self) -> None:
        def stub(x: Tensor) -> Tensor:
            raise NotImplementedError

        exercise = replace(
            REFUSING,
            reference=lambda x: (_ for _ in ()).throw(NotImplementedError("not for matrices")),
            parts={"values": 3},
            cases=lambda generator, hidden: [Case("any", (torch.ones(3),), refused="NotImplementedError")],
        )
        assert verdict_on(stub, exercise).outcome is Outcome.NOT_ATTEMPTED

    def test_a_reference_that_does_not_refuse_is_an_error_of_ours(self) -> None:
        with pytest.raises(ValueError, match="the reference does not refuse 'a matrix'"):
            verdict_on(refusing, replace(REFUSING, reference=DOUBLE.reference))


def test_a_right_core_keeps_its_points_when_another_part_fails() -> None:
    verdict = verdict_on(lambda x: (2 * x).clamp(max=1e6))
    assert verdict.outcome is Outcome.WRONG
    assert verdict.points == 2


class TestStubs:
    def test_a_part_that_is_not_written_leaves_the_others_their_points(self) -> None:
        def core_only(x: Tensor) -> Tensor:
            if x.abs().max() > 1e6:
                raise NotImplementedError()
            return 2 * x

        verdict = verdict_on(core_only)
        assert verdict.outcome is Outcome.RAISED
        assert verdict.points == 2
        assert "Your answer raised NotImplementedError (line" in verdict.text()
        assert "a function that it calls, is not written yet" in told(core_only)

    def test_a_core_that_is_not_written_is_said_to_raise(self) -> None:
        def other_part_only(x: Tensor) -> Tensor:
            if x.abs().max() <= 1e6:
                raise NotImplementedError()
            return 2 * x

        verdict = verdict_on(other_part_only)
        assert verdict.outcome is Outcome.RAISED
        assert verdict.points == 0
        assert len(verdict.cases) == len(AnswerKey(DOUBLE).cases)

    def test_what_is_written_wrong_comes_before_what_is_not_written(self) -> None:
        def first_missing(x: Tensor) -> Tensor:
            if x.shape == (3,):
                raise NotImplementedError()
            return x + 3

        assert verdict_on(first_missing).outcome is Outcome.WRONG


def test_points_that_wait_for_the_core_are_told() -> None:
    def huge_only(x: Tensor) -> Tensor:
        return 2 * x if x.numel() == 1 else x

    verdict = verdict_on(huge_only)
    assert verdict.points == 0
    for shown in (verdict.text(), verdict.html()):
        assert "The other point counts once these values are right." in shown
    for answer in (DOUBLE.reference, lambda x: x, lambda x: (2 * x).clamp(max=1e6)):
        assert "once these values" not in verdict_on(answer).text()


def test_a_run_cut_short_earns_nothing_for_the_cases_it_did_not_reach() -> None:
    answers = iter([Observation(returned=True, value=torch.tensor([2.0, 4.0, 6.0]))])

    def box(case: Case) -> Observation:
        if case.name == "a vector":
            return observe(DOUBLE.reference, case)
        return next(answers, Observation(returned=False, failure=Outcome.TIMED_OUT))

    next(answers)
    verdict = judge(AnswerKey(DOUBLE), box)
    assert verdict.outcome is Outcome.TIMED_OUT
    assert verdict.points == 0
    assert len(verdict.cases) == 2


def test_a_hidden_case_can_fail_an_answer_that_knows_the_visible_ones() -> None:
    def memorised(x: Tensor) -> Tensor:
        return 2 * x if x.shape in ((3,), (2, 3), (1,)) else x

    assert verdict_on(memorised).passed
    assert verdict_on(memorised, seed=1).outcome is Outcome.WRONG


def test_modules_are_judged_by_value_and_by_weight_gradients() -> None:
    assert verdict_on(Scale, SCALE).passed

    class Frozen(Scale):
        def forward(self, x: Tensor) -> Tensor:
            return x * self.weight.detach()

    frozen = verdict_on(Frozen, SCALE)
    assert frozen.outcome is Outcome.WRONG
    assert "reaches weight" in frozen.cases[0].message


def test_a_module_with_other_parameters_is_told_which_are_expected() -> None:
    class Other(nn.Module):
        def __init__(self, size: int, **parameters: list[int]) -> None:
            super().__init__()
            for name, shape in parameters.items():
                self.register_parameter(name, nn.Parameter(torch.ones(shape)))

    def said(**parameters: list[int]) -> str:
        verdict = verdict_on(lambda size: Other(size, **parameters), SCALE, seed=1)
        assert verdict.outcome is Outcome.WRONG  # the check raised, not the answer
        assert verdict.text().splitlines()[0].endswith("Not yet right, 0 of 1 point")
        hidden = [result.message for result in verdict.cases if result.hidden]
        assert hidden
        assert all("it is not built as the task says." in message for message in hidden)
        return verdict.cases[0].message

    keep = "Keep the names and shapes of the parameters as the task gives them: "
    assert said(gamma=[3]) == f"{keep}expected weight [3]; yours has gamma [3]."
    assert said(weight=[3, 1]) == f"{keep}expected weight [3]; yours has weight [3, 1]."
    assert said() == f"{keep}expected weight [3], which yours lacks."
    assert said(weight=[3], bias=[2]) == f"{keep}yours also has bias [2]."
    many = said(**{f"w{number}": [number] for number in range(6)})
    assert many == f"{keep}expected weight [3]; yours has w0 [0], w1 [1], w2 [2], w3 [3] and 2 more."
    built = verdict_on(lambda size: size, SCALE).cases[0].message
    assert built == "A torch.nn.Module was expected, but an int was built."


def test_a_reference_that_fails_is_an_error_of_the_exercise() -> None:
    def broken(x: Tensor) -> Tensor:
        raise RuntimeError("oops")

    with pytest.raises(ValueError, match=r"sample\.double: the reference fails"):
        verdict_on(broken, replace(DOUBLE, reference=broken))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"reference": lambda x: {1.0}},
            "on 'a vector' the reference returns a set, which cannot be compared; use num",
        ),
        (
            {"cases": lambda *_: [Case("a set", ({1.0},))]},
            "'a set' passes a set, which cannot be compared; use numbers",
        ),
        (
            {"cases": lambda *_: [Case("in a list", ([1, 2j],))]},
            "'in a list' passes a complex, which cannot be compared",
        ),
    ],
)
def test_what_cannot_cross_is_the_exercise_s_fault(change: dict[str, Any], said: str) -> None:
    cases = {"cases": lambda *_: [Case("a vector", (torch.ones(3),))]}
    with pytest.raises(UnusableExercises, match=f"^sample.double: {said}"):
        verdict_on(lambda x: {2.0}, replace(DOUBLE, **{**cases, **change}))


def test_parts_must_add_up() -> None:
    with pytest.raises(ValueError, match="add up to 3"):
        replace(DOUBLE, parts={"values": 1})
