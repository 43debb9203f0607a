"""The certificate holds for every exercise, and fails for whatever is broken."""

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from torch import Generator, Tensor

from autograder.certify import Certificate, certify, print_table
from autograder.course.notebook_definitions import released_stubs
from course_lib import exercises
from course_lib.judging.exercise import CORE, Case, Exercise, Misconception, Pair

SCALE = exercises.find("attention.scale")
RIGHT = len(SCALE.correct) + 1
WRONG = len(SCALE.misconceptions)
STUB = "def scale_scores(scores, d_head):\n    raise NotImplementedError()\n"
RELEASE = Path(__file__).parents[2] / "notebooks"


def certificate(stub: str | None = STUB, **changes: Any) -> Certificate:
    stubs = {} if stub is None else {SCALE.id: stub}
    (found,) = certify([replace(SCALE, **changes)], stubs, seeds=(1, 2))
    return found


@cache
def released_in(lesson: str) -> dict[str, str]:
    return released_stubs([RELEASE / lesson / f"{lesson}.ipynb"])


class TestHolds:
    @pytest.mark.parametrize("exercise", exercises.all(), ids=lambda exercise: exercise.id)
    def test_for_every_exercise_whatever_the_seed(
        self, exercise: Exercise, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With the released stub; on every change with one in six of two mistakes at once."""
        seeds = [4444, 2**62]
        if request.config.getoption("thorough"):
            seeds += [1, 2]
        else:
            monkeypatch.setitem(vars(exercise), "pairs", exercise.pairs[::6])
        (found,) = certify([exercise], released_in(exercise.lesson), seeds)
        assert found.failures == ()
        assert found.holds
        assert found.correct == (len(exercise.correct) + 1,) * 2
        assert found.correct[0] >= 4
        assert found.misconceptions == (len(exercise.misconceptions),) * 3
        assert found.misconceptions[0] >= 6
        assert found.stub_rejected


class TestFails:
    def test_when_the_reference_is_wrong(self) -> None:
        found = certificate(reference=lambda scores, d_head: scores / d_head)
        correct, passed = found.correct
        assert passed == 1
        assert correct == RIGHT
        assert found.misconceptions == (WRONG, WRONG - 1, WRONG - 1)
        assert any("divided_by_d_head is accepted" in failure for failure in found.failures)
        assert any(
            failure.startswith("correct answer 1 is not accepted: worked example A:") for failure in found.failures
        )
        assert not found.holds

    def test_when_a_correct_answer_raises(self) -> None:
        def broken(scores: Tensor, d_head: int) -> Tensor:
            raise ZeroDivisionError("no")

        found = certificate(correct=(*SCALE.correct, broken))
        assert found.correct == (RIGHT + 1, RIGHT)
        assert (
            f"correct answer {RIGHT} is not accepted: worked example A: Your answer raised ZeroDivisionError: no"
            in (found.failures[0])
        )

    def test_when_a_misconception_is_right_or_two_cannot_be_told_apart(self) -> None:
        twin = Misconception("twin", "The same again.", lambda scores, d_head: scores / d_head)
        right = Misconception("right", "It is right.", lambda scores, d_head: scores / d_head**0.5)
        found = certificate(misconceptions=(*SCALE.misconceptions, twin, right))
        assert found.misconceptions == (WRONG + 2, WRONG + 1, WRONG - 1)
        assert found.failures == (
            "the misconception divided_by_d_head is named nothing: add a case that tells them apart",
            "the misconception twin is named nothing: add a case that tells them apart",
            "the misconception right is accepted: add a case that shows it to be wrong",
        )

    def test_when_only_an_input_that_is_not_seen_tells_two_apart(self) -> None:
        def cases(generator: Generator, hidden: bool) -> Iterator[Case]:
            for dtype in (torch.float32, torch.float64, torch.float64):
                yield Case("a square", (torch.randn(3, 3, generator=generator, dtype=dtype), 8))

        told = "the misconception root_of_number_of_queries is named nothing: add a case that tells them apart"
        assert told in certificate(cases=cases).failures

    def test_when_no_case_is_in_double_precision(self) -> None:
        def cases(generator: Generator, hidden: bool) -> Iterator[Case]:
            yield from (case for case in SCALE.cases(generator, hidden) if case.args[0].dtype != torch.float64)

        found = certificate(cases=cases).failures
        assert {failure.partition(" case is in double")[0] for failure in found} == {"no visible", "no hidden"}

    def test_when_two_mistakes_at_once_are_told_as_a_third(self) -> None:
        ids = [misconception.id for misconception in SCALE.misconceptions]
        third = SCALE.misconceptions[2].answer
        found = certificate(listed_pairs=(Pair(ids[0], ids[1], third),))
        assert found.failures == (
            f"the mistakes {ids[0]}+{ids[1]} at once are named {ids[2]}: add a case that tells them apart",
        )

    def test_when_its_reference_or_its_cases_do_not_work(self) -> None:
        broken = certificate(reference=lambda scores, d_head: {1.0})
        assert "returns a set, which cannot be compared; use numbers" in broken.failures[0]
        assert (broken.correct[1], broken.stub_rejected) == (0, False)
        [failure] = certificate(cases=lambda generator, hidden: 1 / 0).failures
        assert failure.startswith("ZeroDivisionError: division by zero (test_certify.py, line ")

    def test_when_there_is_too_little_or_the_same_twice(self) -> None:
        found = certificate(
            correct=SCALE.correct[:2], misconceptions=SCALE.misconceptions[:4] + SCALE.misconceptions[:1]
        )
        assert found.failures[:3] == (
            "has 2 correct answers besides the reference; at least 3 are needed",
            "has 5 misconceptions; at least 6 are needed, or a reason in `few_mistakes`",
            f"has two misconceptions called {SCALE.misconceptions[0].id}",
        )

    @pytest.mark.parametrize(
        "changes",
        [
            {"steps": ("absent",)},
            {"steps": ("half", "absent")},
            {"steps": ("kind",)},
            {"steps": ("half",), "cases": lambda *drawn: [replace(one, secret=True) for one in SCALE.cases(*drawn)]},
        ],
    )
    def test_when_a_step_cannot_be_shown(self, changes: dict[str, Any]) -> None:
        def scale(scores: Tensor, d_head: int) -> Tensor:
            half, kind = scores / d_head**0.25, type(scores)  # noqa: F841  what is no data
            return half / d_head**0.25

        assert any("steps (" in failure for failure in certificate(reference=scale, **changes).failures)
        assert certificate(reference=scale, steps=("half",)).failures == ()

    def test_when_hidden_cases_can_be_memorised_or_are_too_few(self) -> None:
        def same(generator: Generator, hidden: bool) -> list[Case]:
            return [*SCALE.visible_cases(), *SCALE.hidden_cases(0)]

        def few(generator: Generator, hidden: bool) -> list[Case]:
            return list(SCALE.cases(generator, hidden))[-2 if hidden else 0 :]

        assert certificate(cases=same).failures == ("the hidden cases don't depend on their seed",)
        assert certificate(cases=few).failures == ("has 2 hidden cases; at least 3 are needed",)

    @pytest.mark.parametrize("memorisable", ["", "Its whole input is one small number."])
    def test_when_a_table_of_many_seeds_holds_the_hidden_cases_and_nothing_says_why(self, memorisable: str) -> None:
        def cases(generator: Generator, hidden: bool) -> Iterator[Case]:
            for number in range(3):
                yield Case(f"length {number}", (int(torch.randint(20, (), generator=generator)),))

        exercise = replace(exercises.find("masking.causal_mask"), cases=cases, memorisable=memorisable)
        (found,) = certify([exercise], {}, seeds=(1, 2))
        failure = (
            "a table of the hidden cases of 399 seeds holds 100% of those of other seeds: draw them from a larger "
            "range, or say in `memorisable` why that is impossible"
        )
        assert (failure in found.failures) is (not memorisable)

    def test_not_when_only_half_of_them_are_always_the_same(self) -> None:
        def cases(generator: Generator, hidden: bool) -> Iterator[Case]:
            for number in range(4):
                length = int(torch.randint(10**9, (), generator=generator)) if number % 2 else number
                yield Case(f"length {number}", (torch.tensor([length]), length))

        exercise = replace(SCALE, cases=cases, reference=lambda lengths, most: most, misconceptions=(), correct=())
        (found,) = certify([exercise], {}, seeds=(1, 2))
        assert not any(failure.startswith("a table") for failure in found.failures)

    def test_when_a_part_has_no_case(self) -> None:
        assert certificate(points=2, parts={CORE: 1, "no part": 1}).failures == (
            "no visible case belongs to the part 'no part'",
            "no hidden case belongs to the part 'no part'",
        )

    @pytest.mark.parametrize(
        ("reference", "failure"),
        [
            (lambda scores, d: scores / d**0.5 + torch.rand(()), "returns something else when called again on"),
            (lambda scores, d: scores / 0, "returns infinity or NaN on"),
            (lambda scores, d: scores.div_(d**0.5), "changes its arguments on"),
        ],
    )
    def test_when_the_reference_cannot_be_compared_with(self, reference: Callable[..., Any], failure: str) -> None:
        found = certificate(reference=reference).failures
        assert any(one.startswith(f"the reference {failure} 'worked example A'") for one in found)

    @pytest.mark.parametrize(
        ("stub", "failure"),
        [
            (
                "def scale_scores(scores, d_head):\n    return scores / d_head ** 0.5",
                "the stub is passed with 1.0 points, not not_attempted with none",
            ),
            (
                "def scale_scores(scores, d_head):\n    pass",
                "the stub is wrong with 0.0 points, not not_attempted with none",
            ),
            ("def another():\n    pass", "the stub does not define scale_scores"),
            (None, "the release has no answer cell for it: write one in the lesson, and run `katze release`"),
            ("def scale_scores(:", "the stub cannot be run: SyntaxError: "),
        ],
    )
    def test_when_the_stub_is_not_a_stub(self, stub: str | None, failure: str) -> None:
        found = certificate(stub)
        assert not found.stub_rejected
        assert len(found.failures) == 1
        assert found.failures[0].startswith(failure)


class TestShown:
    def test_headings_and_counts_are_whole_at_80_columns(self) -> None:
        longest = "encoder_decoder.teacher_forcing_with_padding_and_labels"
        found = replace(certificate(id=longest, stub=""), misconceptions=(21, 21, 21), correct=(10, 10))
        shown = io.StringIO()
        print_table([found], Console(file=shown, width=80))
        lines = shown.getvalue().splitlines()
        assert "…" not in shown.getvalue()
        assert lines[2].split() == ["exercise", "points", "pass", "fail", "named", "fails"]
        assert lines[4].split()[-5:] == ["1", "10/10", "21/21", "21/21", "NO"]
        assert "".join(line[:45].strip() for line in lines[4:6]).startswith(longest)
        assert max(map(len, lines)) <= 80
