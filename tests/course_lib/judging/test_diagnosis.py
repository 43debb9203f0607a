from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Generator, Tensor

from course_lib import exercises
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.diagnosis import diagnose
from course_lib.judging.exercise import Case, Misconception, Pair
from course_lib.judging.observation import Observation, Outcome, observe
from tests.course_lib.judging.samples import DOUBLE, named, told, verdict_on


def all_right(right: Tensor) -> Tensor:
    """The sample's task: whether all are right, row by row."""
    return right.all(dim=-1)


def line(x: Tensor, *, slope: float = 2.0, offset: float = 0.0, flipped: bool = False) -> Tensor:
    y = x * slope + offset
    return y.flip(-1) if flipped else y


def _rows(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("two rows", (torch.tensor([[True, True, True], [False, True, True]]),))
        yield Case("none", (torch.tensor([[False, False, False]]),))
        return
    for name in ("some rows", "other rows", "more rows"):
        yield Case(name, (torch.rand(6, 5, generator=generator) < 0.5,))


ALL_RIGHT = replace(
    DOUBLE,
    reference=all_right,
    cases=_rows,
    parts={"values": 3},
    misconceptions=(Misconception("any_right", "One right word is enough for you.", lambda right: right.any(-1)),),
)

LINE = replace(
    DOUBLE,
    parts={"values": 3},
    cases=lambda generator, hidden: [
        Case("a vector", (torch.randn(4, generator=generator),)),
        Case("a matrix", (torch.randn(2, 3, generator=generator),)),
        Case("another", (torch.randn(3, 2, generator=generator),)),
    ],
    misconceptions=(
        Misconception("tripled", "You tripled x.", partial(line, slope=3.0)),
        Misconception("one_added", "You added 1.", partial(line, offset=1.0)),
        Misconception("halved", "You halved x.", partial(line, slope=0.5)),
        Misconception("flipped", "The values are right, but flipped.", partial(line, flipped=True), alone=True),
        Misconception("squared", "You squared x.", lambda x: x**2),
    ),
    listed_pairs=(Pair("squared", "one_added", lambda x: x**2 + 1),),
)


class TestOneMistake:
    @pytest.mark.parametrize("seed", [None, 0, 1, 2])
    def test_the_name_is_the_same_whatever_is_hidden(self, seed: int | None) -> None:
        assert named(lambda right: right.any(-1), ALL_RIGHT, seed) == "any_right"

    @pytest.mark.parametrize("seed", [None, 0, 1, 2])
    def test_agreeing_on_all_that_is_visible_is_not_enough(self, seed: int | None) -> None:
        assert named(lambda right: right.double().mean(-1) > 0.5, ALL_RIGHT, seed) == ""
        assert named(lambda x: x**2 if x.shape == (3,) else x + 2, DOUBLE, seed) == ""

    def test_none_is_named_where_two_do_the_same(self) -> None:
        twin = Misconception("twin", "The same.", lambda right: right.sum(-1) > 0)
        both = replace(ALL_RIGHT, misconceptions=(*ALL_RIGHT.misconceptions, twin))
        assert named(lambda right: right.any(-1), both) == ""

    def test_nothing_further_is_called_where_nothing_is_suspected(self) -> None:
        def probe(cases: Sequence[Case]) -> list[Observation]:
            raise AssertionError

        key = AnswerKey(DOUBLE)
        for answer in (DOUBLE.reference, lambda x: x + 5):
            seen = [observe(answer, case) for case in key.cases]
            assert diagnose(key, seen, probe).misconception is None

    def test_an_answer_that_does_not_come_back_from_a_further_call_has_no_name(self) -> None:
        key = AnswerKey(DOUBLE)
        seen = [observe(lambda x: x**2, case) for case in key.cases]
        gone = Observation(returned=False, failure=Outcome.TIMED_OUT)
        assert diagnose(key, seen, lambda cases: [gone]).misconception is None
        assert diagnose(key, seen, lambda cases: []).misconception is None

    def test_an_answer_that_changes_its_mind_has_no_name(self) -> None:
        calls: list[int] = []

        def sometimes(x: Tensor) -> Tensor:
            calls.append(1)
            return x**2 if len(calls) != len(DOUBLE.visible_cases()) + 1 else 2 * x

        assert named(sometimes, DOUBLE) == ""


def _refusing(refused: Tensor, error: type[Exception] = IndexError, told: str = "no") -> Callable[[Tensor], Tensor]:
    """Squares all but what has as many dimensions as `refused`."""

    def squared(x: Tensor) -> Tensor:
        if x.ndim == refused.ndim:
            raise error(told)
        return x**2

    return squared


class TestAMistakeThatRaisesSomewhere:
    VECTOR, MATRIX = torch.ones(2), torch.ones(2, 3)
    RAISING = replace(
        LINE, misconceptions=(Misconception("squared", "You squared x.", _refusing(VECTOR)),), listed_pairs=()
    )

    @pytest.mark.parametrize(
        ("answer", "name"),
        [
            (_refusing(VECTOR, RuntimeError), "squared"),
            (_refusing(VECTOR, ValueError), "squared"),
            (_refusing(VECTOR, AssertionError, ""), "squared"),
            (_refusing(VECTOR, NotImplementedError, "not for vectors"), "squared"),
            (_refusing(VECTOR, NotImplementedError, ""), ""),
            (_refusing(VECTOR, MemoryError), ""),
            (_refusing(MATRIX), ""),
            (lambda x: 2 * x if x.ndim == 1 else x**2, ""),
        ],
    )
    def test_is_known_whatever_the_exception_is_called(self, answer: Callable[[Tensor], Tensor], name: str) -> None:
        assert named(answer, self.RAISING) == name


class TestTwoMistakes:
    def test_two_settings_of_one_function_make_a_pair_unless_they_are_the_same_setting(self) -> None:
        assert [pair.id for pair in LINE.pairs] == ["squared+one_added", "tripled+one_added", "one_added+halved"]

    def test_both_are_told(self) -> None:
        assert named(lambda x: 3 * x + 1, LINE) == "tripled+one_added"
        assert named(lambda x: x**2 + 1, LINE) == "squared+one_added"
        both = "It does what two mistakes at once do. First: You tripled x. Second: You added 1."
        assert both in told(lambda x: 3 * x + 1, LINE)

    def test_one_alone_goes_first(self) -> None:
        assert [named(mistake.answer, LINE) for mistake in LINE.misconceptions] == [
            mistake.id for mistake in LINE.misconceptions
        ]

    def test_of_two_the_one_is_named_that_explains_all_that_is_shown(self) -> None:
        """Of the other nothing is seen there, even if the probes tell."""
        shown = [Case(f"{n}", (torch.zeros(n),)) for n in (1, 2, 3)]
        zeros = replace(LINE, cases=lambda generator, hidden: LINE.cases(generator, hidden) if hidden else shown)
        assert named(partial(line, slope=3.0, offset=1.0), LINE) == "tripled+one_added"
        assert named(partial(line, slope=0.5, offset=1.0), LINE) == "one_added+halved"
        assert named(lambda x: x**2 + 1, LINE) == "squared+one_added"
        assert named(partial(line, slope=3.0, offset=1.0), zeros) == named(lambda x: x**2 + 1, zeros) == "one_added"

    def test_either_is_found_by_its_id(self) -> None:
        assert LINE.mistake("tripled") is LINE.misconceptions[0]
        assert LINE.mistake("tripled+one_added") is LINE.pairs[1]
        assert LINE.mistake("no such") is None


class TestSomeCases:
    def test_a_mistake_in_most_of_what_fails_is_told_of_those(self) -> None:
        def mixed(x: Tensor) -> Tensor:
            return x**2 if x.ndim == 2 else x - 7

        verdict = verdict_on(mixed, LINE)
        assert verdict.misconception is None
        assert verdict.note == "In 2 of the 4 cases that fail, this is what happens: You squared x."

    def test_nothing_is_told_of_a_few(self) -> None:
        def mixed(x: Tensor) -> Tensor:
            return x**2 if x.shape == (2, 3) else x - 7

        assert not verdict_on(mixed, LINE).note


class TestCalledAgain:
    def test_an_answer_that_is_right_only_once_fails(self) -> None:
        calls: list[Tensor] = []

        def worn_out(x: Tensor) -> Tensor:
            calls.append(x)
            return 2 * x + (len(calls) > 3)

        verdict = verdict_on(worn_out)
        assert [result.passed for result in verdict.cases] == [True, True, True, False]
        assert "This is the first call again, with the same inputs." in " ".join(verdict.text().split())

    def test_a_hidden_case_is_called_again_as_well(self) -> None:
        key = AnswerKey(DOUBLE, 1)
        assert [case.again for case in key.cases] == [0] * 3 + [1, 0, 1]


LEARNED = replace(
    LINE,
    cases=lambda generator, hidden: [
        Case("a vector", (torch.randn(4, generator=generator),), gradients=(0,)),
        Case("in double precision", (torch.randn(2, 3, generator=generator, dtype=torch.float64),), gradients=(0,)),
        Case("another", (torch.randn(3, 2, generator=generator),)),
        Case("large numbers", (100 + torch.randn(3, generator=generator),), part="large numbers"),
    ],
    parts={"values": 2, "large numbers": 1},
    misconceptions=(
        *LINE.misconceptions,
        Misconception(
            "no_gradient", "The values are right, but not the gradient.", lambda x: (2 * x).detach(), alone=True
        ),
    ),
    listed_pairs=(),
)


class TestSpellings:
    """One mistake, however it is written; and what only looks like it."""

    @pytest.mark.parametrize(
        ("answer", "name"),
        [
            (lambda x: 3 * x, "tripled"),
            (lambda x: (3 * x).detach(), "tripled"),
            (lambda x: (3 * x.double()).to(x.dtype), "tripled"),
            (lambda x: (3 * x.float()).to(x.dtype), "tripled"),
            (lambda x: torch.tensor((3 * x).tolist(), dtype=x.dtype), "tripled"),
            (lambda x: (2 * x).detach(), "no_gradient"),
            (lambda x: (2 * x.float()).to(x.dtype), ""),
            (lambda x: (2 * x.float()).to(x.dtype).detach(), ""),
            (lambda x: 3 * x if x.dtype == torch.float32 else 2 * x, ""),
            (lambda x: 2 * x.detach() + x, ""),
            (lambda x: 3 * x + 1e-3, ""),
        ],
    )
    def test_a_mistake_is_known_in_either_precision_and_without_gradients(
        self, answer: Callable[[Tensor], Tensor], name: str
    ) -> None:
        assert named(answer, LEARNED) == name

    @pytest.mark.parametrize(
        ("answer", "name", "note"),
        [
            (lambda x: 3 * x, "tripled", ""),
            (lambda x: 3 * x if x.abs().max() < 50 else 4 * x, "tripled", ""),
            (lambda x: 3 * x if x.abs().max() < 50 else 2 * x, "", "In the cases of the first part"),
            (lambda x: x + x.clamp(min=-50, max=50), "", "Wrong in one case only, “large numbers”"),
        ],
    )
    def test_no_name_is_given_that_another_part_contradicts(
        self, answer: Callable[[Tensor], Tensor], name: str, note: str
    ) -> None:
        verdict = verdict_on(answer, LEARNED)
        assert (verdict.misconception.id if verdict.misconception else "") == name
        assert verdict.note.startswith(note)
        assert bool(verdict.note) == bool(note)

    def test_the_other_parts_tell_two_mistakes_apart(self) -> None:
        def large_halved(x: Tensor) -> Tensor:
            return 3 * x if x.abs().max() < 50 else x / 2

        both = replace(
            LEARNED, misconceptions=(*LEARNED.misconceptions, Misconception("large_halved", "So it is.", large_halved))
        )
        assert named(large_halved, both) == "large_halved"
        assert named(lambda x: 3 * x, both) == "tripled"


@pytest.mark.parametrize("id", ["die_katze.bootstrap_interval", "decoding.greedy", "since_2017.pre_norm"])
def test_no_known_mistake_is_stopped_by_the_checker_itself(id: str) -> None:
    key = AnswerKey(exercises.find(id))
    seen = [key.shown.mistaken(mistake, n) for mistake in key.exercise.misconceptions for n in range(len(key.visible))]
    assert not [one.raised for one in seen if one.raised is not None and one.raised.type_name == "CallRefused"]
