"""A case that fails is handed out with all that it takes to call it again, and nothing of a prediction is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor, nn

from course_lib import exercises
from course_lib.checking import case, check
from course_lib.checking.notebook import NoCase
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.judge import judge
from course_lib.judging.observation import observe
from course_lib.learner.failing import FailingCase, failing_case
from course_lib.learner.progress_file import progress_file
from course_lib.masking import packed_mask
from tests.course_lib.judging.samples import DOUBLE, SCALE


def handed(exercise: Exercise, answer: object) -> FailingCase:
    verdict = judge(AnswerKey(exercise), lambda one: observe(answer, one))
    found = failing_case(verdict)
    assert not isinstance(found, str)
    return found


def cell_of(found: FailingCase, **names: object) -> str:
    """What the cell prints that a case offers."""
    printed: list[object] = []
    (section,) = found.panel.sections
    assert section.code in found._repr_html_().replace("&quot;", '"').replace("&#x27;", "'")
    exec(section.code, {"case": lambda name: found, "print": printed.append, **names})
    return repr(printed)


def test_a_call_can_be_made_again() -> None:
    def mask(ids: Tensor, end: int) -> Tensor:
        ids += 1
        return ids == end

    name = "masking.packed_mask"
    found = case(name, mask)
    assert isinstance(found, FailingCase)
    ids, end = found.args
    assert torch.equal(found.expected, packed_mask(ids, end))
    assert repr([mask(ids.clone(), end), found.expected]) == cell_of(found, packed_mask=mask)
    ids.zero_()
    other = case(name, mask)
    assert isinstance(other, FailingCase)
    assert bool(other.args[0].any())
    assert found.name in check(name, mask).text()
    assert progress_file().of(name).failures == 1  # the one check


def wrong_scale(size: int) -> nn.Module:
    class Scale(nn.Module):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(size))
            self.register_buffer("own", torch.ones(1))

        def forward(self, x: Tensor) -> Tensor:
            return x + self.weight

    return Scale(size)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_module_is_built_as_the_check_builds_it(dtype: torch.dtype) -> None:
    x, weight = torch.ones(2, 3, dtype=dtype), torch.arange(3.0, dtype=dtype)
    exercise = with_cases(SCALE, Case("any", (x,), construct={"size": 3}, weights={"weight": weight}))
    assert repr(x * weight) in cell_of(handed(exercise, wrong_scale), Scale=wrong_scale)


def with_cases(exercise: Exercise, *cases: Case) -> Exercise:
    return replace(exercise, cases=lambda generator, hidden: cases, parts={"values": exercise.points})


def test_arrays_keywords_and_callbacks_are_what_an_answer_gets() -> None:
    found = handed(with_cases(DOUBLE, Case("any", (), {"x": numpy.ones(3)})), lambda x: x)
    assert type(found.kwargs["x"]) is type(found.expected) is numpy.ndarray
    assert "[2., 2., 2.]" in cell_of(found, double=lambda x: x)
    greedy = case("decoding.greedy", lambda step, start_id, end_id, max_length: torch.tensor([0]))
    assert isinstance(greedy, FailingCase)
    assert greedy.args[0](torch.tensor([greedy.args[1]])).ndim == 1
    refused = handed(with_cases(DOUBLE, Case("any", (None,), refused="TypeError")), lambda x: 2)
    assert refused.expected is None
    assert "should raise a TypeError" in str(refused)


def is_stub(ids: Tensor, end: int) -> Tensor:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("name", "answer", "told"),
    [
        ("masking.packed_mask", exercises.find("masking.packed_mask").reference, "No case fails: packed_mask is"),
        ("masking.packed_mask", None, "There is no packed_mask yet."),
        ("masking.packed_mask", 3, "packed_mask is not a function but an int"),
        ("masking.packed_mask", is_stub, "Write packed_mask, run it, and check again."),
        ("positions.same_under_causal_mask", lambda order: order > 1, "is a prediction, and no check gives away"),
        ("subwords.vocabulary_size", lambda characters, merges, special: 7, "is a prediction, and no check gives"),
        ("bert.expected_counts", lambda words: (0.0, 1.0, 2.0), "is a prediction, and no check gives away"),
        ("masking.combine_masks", None, "No case is handed out: no exercise"),
        ("", None, "No case is handed out: give the id of the exercise"),
    ],
)
def test_where_there_is_none_a_sentence_says_why(
    name: str, answer: Callable[..., Any] | None, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = case(name, answer)
    assert isinstance(nothing, NoCase)
    assert told in capsys.readouterr().out
    for left_over in ("args", "kwargs", "expected"):
        with pytest.raises(LookupError, match=f"There is no {left_over}: "):
            getattr(nothing, left_over)
