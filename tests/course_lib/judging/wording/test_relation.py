import math

import pytest
import torch
from torch import Tensor

from course_lib.judging.compare import Strictness, value_difference
from course_lib.judging.exercise import Case, Value
from course_lib.judging.wording.relation import relation

X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
CASE = Case("a case", (torch.arange(3.0),))


def told(expected: Value, actual: Value, case: Case = CASE) -> str:
    found = value_difference(expected, actual, "the result", Strictness.of(case))
    assert found is not None
    return relation(case, found, expected, actual, ["x"])


def without_last_row() -> Tensor:
    return torch.cat([X[:2], torch.zeros(1, 4)])


@pytest.mark.parametrize(
    ("expected", "actual", "sentence"),
    [
        (X, X.mT, "transpose(0, 1) of yours is right"),
        (X[:, :3], X[:, :3].mT, "transpose(0, 1) of yours is right"),
        (X, X[None], "an extra dimension of size 1"),
        (X[:1], X[0], "a dimension of size 1 is missing"),
        (X, X.flatten(), "only the shape is wrong"),
        (X, torch.cat([X, X[:1]]), "Dimension 0 is too long by 1, at the end"),
        (X, X[1:], "Dimension 0 is too short by 1, at the beginning"),
        (X.sum(0), X, "Summed over dimension 0, your answer is right"),
        (X.mean(1), X, "Averaged over dimension 1, your answer is right"),
        (X, X.sum(1), "Your answer is the right result's sum over dimension 1"),
        (X[:, -1], X, "The right result is the last of the 4 along dimension 1 of your answer"),
        (X, X[0], "Your answer is only the first of the right result's 3"),
        (X, -X, "Only the sign is wrong"),
        (X, X * 0.5, "Each number is 0.5 times what it should be"),
        (X, X / math.log(2), "which is 1 / ln 2: did you take a logarithm to base 2"),
        (X, X + 1, "Each number is 1 too large"),
        (X, X.flip(0), "in reverse order along dimension 0"),
        (X, X.roll(1, 0), "shifted by one position along dimension 0"),
        (X, X.flatten()[torch.randperm(12)].reshape(3, 4), "All the right numbers are there"),
        (X, torch.zeros(3, 4), "Your answer is 0 everywhere"),
        (X, X * torch.tensor([[1.0], [2.0], [3.0]]), "Each row is right up to a factor of its own"),
        (X, X * torch.tensor([1.0, 2.0, 3.0, 4.0]), "Each column is right up to a factor of its own"),
        (X, without_last_row(), "Only the last of the 3 along dimension 0 is wrong"),
        (
            torch.eye(3),
            torch.eye(3) + torch.ones(3, 3).triu(1) + 1e-3 * torch.ones(3, 3).tril(-1),
            "exactly where it should be 0",
        ),
        (X, X.masked_fill(X.isclose(X.max()), math.nan), "NaN (not a number) usually comes from 0 / 0"),
        (X, X.masked_fill(X.isclose(X.max()), math.inf), "An infinity usually comes from exp of"),
        (X > 0, X <= 0, "exactly inverted"),
        (X > 0, X > 9, "False everywhere"),
        (X > 0, X > -9, "True everywhere"),
        (X > 0, X > 0.3, "too little is let through"),
        (X > 0, X > -0.5, "too much is let through"),
        (torch.ones(3), torch.arange(3.0), "The result equals x, unchanged."),
        ([1, 2, 3], [1, 2], "All 2 are right, but one is missing at the end"),
        ([1, 2, 3], [2, 3], "All 2 are right, but one is missing at the beginning"),
        ([1, 2], [1, 2, 3], "The first 2 are right; one is too many at the end"),
        ([2, 3], [0, 1, 2, 3], "The last 2 are right; 2 are too many at the beginning"),
        (["a", "b", "c"], ["b", "c", "a"], ""),
        ([1], [], "It is empty."),
        (3, 4, "It is too large by 1."),
        (4, 3, "It is too small by 1."),
        (0.5, 50.0, "is it a percentage"),
        (0.3, 0.7, "1 minus what it should be"),
        (0.5, math.nan, "NaN (not a number)"),
        ((X, X), (X, X.mT), "transpose(0, 1) of yours is right"),
    ],
)
def test_what_is_plain_to_see_is_told(expected: Value, actual: Value, sentence: str) -> None:
    assert sentence in told(expected, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(X, X**2), (X, torch.randn(3, 4)), (torch.tensor(2.0), torch.tensor(3.0)), ([1, 2, 3], [4, 5, 6]), (0.5, 0.9)],
)
def test_nothing_is_told_where_nothing_is_plain(expected: Value, actual: Value) -> None:
    assert told(expected, actual) == ""


@pytest.mark.parametrize(
    ("expected", "actual", "given"),
    [
        (torch.ones(1, 1, 1, dtype=torch.bool), torch.ones(1, 1, dtype=torch.bool), torch.ones(1, 1, dtype=torch.bool)),
        (torch.tensor([[2.0]]), torch.tensor([1.0]), torch.tensor([1.0])),
        (torch.zeros(3), torch.ones(3), torch.ones(3)),
        (torch.tensor([True, False]), torch.tensor([False, True]), torch.tensor([False, True])),
    ],
)
def test_what_equals_an_argument_by_chance_is_not_called_the_argument(
    expected: Tensor, actual: Tensor, given: Tensor
) -> None:
    assert "as it went in" not in told(expected, actual, Case("a case", (given,)))


def test_nan_and_infinities_that_went_in_are_not_explained_as_if_they_were_new() -> None:
    some = torch.tensor([1.0, math.nan])
    assert told(torch.tensor(2.0), torch.tensor(math.nan), Case("a case", (some,))).startswith(
        "The input contains NaN."
    )
    assert told(torch.ones(2), torch.tensor([1.0, math.inf]), Case("a case", (torch.tensor(-math.inf),))) == ""


def test_a_label_is_not_one_too_many() -> None:
    assert told(0, 1) == "" == told(1, 0)


def test_of_a_secret_case_nothing_is_told() -> None:
    assert told(X, -X, Case("predicted", (X,), secret=True)) == ""
