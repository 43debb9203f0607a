"""Numpy's arrays as arguments and results: compared, told apart from tensors, and shown."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy
import pytest
import torch

from course_lib.judging.arrays import Array, give_arrays, keep_arrays
from course_lib.judging.exercise import Callback, Case
from course_lib.judging.observation import observe
from tests.course_lib.judging.samples import DOUBLE, told, verdict_on

X = numpy.array([[1.0, 2.0, 4.0], [3.0, -1.0, 0.0]])


def column_means(x: Any) -> Any:
    return x.mean(axis=0)


MEANS = replace(
    DOUBLE,
    name="means",
    statement="means(x)",
    reference=column_means,
    cases=lambda generator, hidden: [Case("two rows", (X,)), Case("in memory by columns", (numpy.asfortranarray(X),))],
    misconceptions=(),
    parts={"values": 3},
)


def test_an_answer_is_given_arrays_of_its_own_in_their_order_in_memory() -> None:
    seen: list[Any] = []

    def answer(x: Any) -> Any:
        assert type(x) is numpy.ndarray
        seen.append(x)
        return x.sum(axis=0) / len(x)

    assert verdict_on(answer, MEANS).passed
    assert not any(numpy.shares_memory(x, X) for x in seen)
    assert [x.flags.f_contiguous for x in seen[:2]] == [False, True]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: x.mean(axis=1), "The result should have shape [3], but its shape is [2]"),
        (lambda x: x.mean(axis=0, keepdims=True), "is there a keepdims=True or a reshape too many"),
        (lambda x: x.mean(axis=0).astype("float32"), "should have dtype float64, but its dtype is float32"),
        (lambda x: x.sum(axis=0), "In the result 3 of 3 entries differ, first at index [0]: expected 2, got 4"),
        (lambda x: x.mean(axis=0).tolist(), "should be a numpy.ndarray, but it is a list of numbers: numpy.array(...)"),
        (lambda x: torch.tensor(x).mean(0), "should be a numpy.ndarray, but it is a torch.Tensor: its .numpy() is one"),
        (lambda x: numpy.asmatrix(x.mean(axis=0)), "but it is a numpy.matrix: numpy.asarray(...) turns it into one"),
        (lambda x: x.mean(axis=0) + 0j, "complex numbers are not compared: return the real part"),
        (lambda x: x.mean(axis=0).astype(object), "of object: give it numbers of one type, with .astype(float)"),
        (lambda x: {1.0, 2.0}, "but it is a set, which cannot be compared: return a numpy.ndarray, made of numbers"),
        (lambda x: [x[:, 0], x[:, 1]], "put them together with numpy.stack(...) or numpy.concatenate(...)"),
        (lambda x: None, "should be a numpy.ndarray, but it is None"),
    ],
)
def test_what_is_wrong_is_said_in_numpys_words(answer: Callable[..., Any], said: str) -> None:
    text = told(answer, MEANS)
    assert "Not yet right" in text
    assert said in text
    assert "called means(x=array[2, 3])" in text


def test_an_array_that_was_changed_is_told() -> None:
    def answer(x: Any) -> Any:
        x[0] += x[1]
        return x[0] / 2

    assert "Your answer changed x in place." in (text := told(answer, MEANS))
    assert "work on a copy (x.copy())" in text


def test_arrays_come_back_from_within() -> None:
    value = {"a": [X, (X > 0, X[::-1].T)], "b": 1}
    round_trip = give_arrays(keep_arrays(value))
    assert numpy.array_equal(round_trip["a"][0], X)
    assert numpy.array_equal(round_trip["a"][1][1], X[::-1].T)
    assert round_trip["a"][1][0].dtype == bool
    assert type(keep_arrays(X)) is Array


def test_a_callback_is_given_arrays_and_may_return_them() -> None:
    def gradient(theta: Any) -> Any:
        assert type(theta) is numpy.ndarray
        return 2 * theta

    def descend(step: Any) -> Any:
        return numpy.ones(2) - 0.5 * step(numpy.ones(2))

    seen = observe(descend, Case("one step", (Callback("gradient", gradient),)))
    assert seen.returned, seen.raised
    assert torch.equal(seen.value, torch.zeros(2, dtype=torch.float64))
