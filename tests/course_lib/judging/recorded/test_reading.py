"""Exercises that are data alone: judged as those that can be called, or said to be left to the full course."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograder.edition.recording import write_lesson
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.exercise import Callback, CallRefused, Case, Exercise, Misconception, NotRecorded
from course_lib.judging.judge import judge
from course_lib.judging.observation import Outcome, Raised, observe
from course_lib.judging.recorded.reading import (
    DamagedEdition,
    NotHere,
    RecordedCall,
    RecordedCalls,
    RecordedExercise,
    read_exercises,
)
from tests.course_lib.judging.samples import DOUBLE

Answer = Callable[..., Any]


def exercise(reference: Answer, cases: list[Case], *mistakes: Answer) -> Exercise:
    named = tuple(Misconception(f"mistake_{number}", f"Mistake {number}.", one) for number, one in enumerate(mistakes))
    return replace(
        DOUBLE,
        id="made.up",
        lesson="01_attention",
        name="written",
        reference=reference,
        cases=lambda generator, hidden: cases if not hidden else [replace(cases[0], name="further")],
        misconceptions=named,
        correct=(),
        parts={"values": 3},
    )


def recorded(full: Exercise, folder: Path) -> RecordedExercise:
    write_lesson([full], folder)
    (found,) = read_exercises(folder)
    return found


def told(one: Exercise, answer: Answer) -> tuple[str, dict[str, Any]]:
    verdict = judge(AnswerKey(one), partial(observe, answer))
    return verdict.text(), verdict.record()


X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])


def test_a_function_and_its_gradient_are_judged_from_data(tmp_path: Path) -> None:
    full = exercise(
        lambda x: (x * x).sum(0),
        [Case("rows", (X,), gradients=(0,)), Case("laid out otherwise", (X.T.contiguous().T,)), Case("none", (X[:0],))],
        lambda x: (x * x).sum(1),
    )
    here = recorded(full, tmp_path)
    detached = lambda x: (x.detach() ** 2).sum(0)  # noqa: E731
    for answer in (full.reference, full.misconceptions[0].answer, detached, lambda x: x.foo, lambda x: (x @ x.T, 1)):
        assert told(full, answer) == told(here, answer)
    assert told(here, full.reference)[1]["passed"]
    assert told(here, full.misconceptions[0].answer)[1]["misconception"] == "mistake_0"
    assert "gradient" in told(here, detached)[0]
    again = here.recording[0].cases[1].args[0]
    assert torch.equal(again, X)
    assert not again.is_contiguous()


class Doubled(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        return 2 * self.weight * x


class Kept(Doubled):
    def forward(self, x: Tensor) -> Tensor:
        return self.weight.detach() * x


def test_a_class_is_judged_from_data(tmp_path: Path) -> None:
    weights = {"weight": torch.tensor([1.0, -1.0, 0.5])}
    full = exercise(Doubled, [Case("rows", (X,), {}, {"width": 3}, weights, weight_gradients=True)], Kept)
    here = recorded(full, tmp_path)
    assert here.is_class
    assert here.parameters == ["x"]
    for answer in (Doubled, Kept, nn.Identity, lambda width: nn.Linear(width, width)):
        assert told(full, answer) == told(here, answer)


def test_plain_data_and_refusals_are_judged_from_data(tmp_path: Path) -> None:
    def counted(words: dict[tuple[str, ...], int], limit: float | None) -> dict[str, Any]:
        if limit is not None and limit < 0:
            raise ValueError("no")
        return {"many": [sum(words.values()), True], "share": (0.5, None), "far": float("inf")}

    words = {("a", "b"): 2, ("c",): 3}
    full = exercise(
        counted,
        [Case("words", (words, None)), Case("below", (words, -1.0), refused="ValueError")],
        lambda words, limit: {},
    )
    here = recorded(full, tmp_path)
    for answer in (counted, full.misconceptions[0].answer, lambda words, limit: counted(words, None)):
        assert told(full, answer) == told(here, answer)


class TestCallbacks:
    """A callback is its calls: those that were made by known answers, and no others."""

    @pytest.fixture
    def full(self) -> Exercise:
        norm = Callback("norm", lambda x: x / x.norm(), most_calls=3)
        return exercise(lambda x, norm: norm(norm(x) + x), [Case("a row", (X[0], norm))], lambda x, norm: norm(x))

    def test_known_calls(self, full: Exercise, tmp_path: Path) -> None:
        here = recorded(full, tmp_path)
        summed_otherwise = lambda x, norm: norm((x.double() + norm(x).double()).float())  # noqa: E731
        for answer in (full.reference, full.misconceptions[0].answer, summed_otherwise):
            assert told(full, answer) == told(here, answer)

    def test_another_call_is_left_to_the_full_course(self, full: Exercise, tmp_path: Path) -> None:
        here = recorded(full, tmp_path)

        def other(x: Tensor, norm: Answer) -> Tensor:
            try:
                return norm(x + 5)
            except:  # noqa: E722
                return x

        for answer in (other, lambda x, norm: norm(x + 5)):
            verdict = judge(AnswerKey(here), partial(observe, answer))
            assert verdict.outcome is Outcome.UNGRADED
            assert verdict.points is None
            assert verdict.misconception is None
            told = " ".join(verdict.text().split())
            assert "2 of 2 cases can be checked only in the full course" in told
            assert "this edition holds only some calls of norm" in told

    def test_what_fails_elsewhere_fails_all_the_same(self, full: Exercise, tmp_path: Path) -> None:
        def endless(x: Tensor, norm: Answer) -> Tensor:
            while True:
                norm(x)

        here = recorded(full, tmp_path)
        assert told(full, endless) == told(here, endless)
        assert CallRefused.__name__ in told(here, endless)[0]

    def test_nobody_can_leave_a_case_open_himself(self, full: Exercise) -> None:
        def raising(x: Tensor, norm: Answer) -> Tensor:
            raise NotRecorded("of nothing")

        assert judge(AnswerKey(full), partial(observe, raising)).outcome is Outcome.RAISED


def test_recorded_calls() -> None:
    calls = RecordedCalls(
        "join",
        [
            RecordedCall((X,), {"by": 2}, "first"),
            RecordedCall((X + 1,), {"by": 2}, "second"),
            RecordedCall((["a", 1],), raised=Raised("KeyError", "b")),
            RecordedCall((("a", 1),), raised=Raised("Strange", "c")),
        ],
    )
    assert calls(X * (1 + 1e-7), by=2) == "first"
    assert calls(X + 1, by=2) == "second"
    with pytest.raises(KeyError, match="b"):
        calls(["a", 1])
    with pytest.raises(RuntimeError, match="c"):
        calls(("a", 1))
    for args, kwargs in (((X,), {"by": 3}), ((X,), {}), ((X.double(),), {"by": 2}), ((X + 0.5,), {"by": 2}), ((), {})):
        with pytest.raises(NotRecorded, match="join"):
            calls(*args, **kwargs)


def test_what_only_the_full_course_has(tmp_path: Path) -> None:
    here = recorded(exercise(lambda x: x.abs(), [Case("rows", (X,))], torch.neg), tmp_path)
    with pytest.raises(NotHere, match="hidden cases"):
        here.hidden_cases(1)
    with pytest.raises(NotHere, match="references"):
        here.reference(X)
    with pytest.raises(NotHere, match="references"):
        here.misconceptions[0].answer(X)
    assert here.correct == ()
    assert [case.name for case in here.visible_cases()] == ["rows"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("up.json", "{"),
        ("up.json", '{"format": 1, "callbacks": []}'),
        ("up.json", '{"format": 2}'),
        ("up.safetensors.gz", "no tensors"),
        ("exercises.json", '{"format": 1, "exercises": [{}]}'),
        ("exercises.json", "[]"),
    ],
)
def test_a_damaged_file_is_a_sentence(tmp_path: Path, name: str, content: str) -> None:
    recorded(exercise(lambda x: x.abs(), [Case("rows", (X,))], torch.neg), tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(DamagedEdition, match="Install the course again"):
        _ = [one.recording for one in read_exercises(tmp_path)]
    (tmp_path / name).unlink()
    with pytest.raises(DamagedEdition, match="Install the course again"):
        _ = [one.recording for one in read_exercises(tmp_path)]


def test_what_is_written_is_json_that_anybody_can_read(tmp_path: Path) -> None:
    recorded(exercise(lambda x: x.abs(), [Case("rows", (X,))], torch.neg), tmp_path)
    data = json.loads((tmp_path / "up.json").read_text())
    assert data["shown"]["cases"][0]["args"] == [{"tensor": 0}]
    assert "message" not in json.dumps(data["observations"])
