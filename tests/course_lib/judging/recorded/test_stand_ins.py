"""The models and layers that cases pass in: the same wherever they are made again from their fields."""

from dataclasses import fields

import pytest
import torch
from torch import Tensor

from course_lib.judging.recorded.stand_ins import STAND_INS, ByHeart, EveryWord, NextWord, RowScore, Tanh, written_ids

ROWS = torch.tensor([[1, 2, 0], [2, 2, 1]])
WORDS, TWICE = torch.eye(3), torch.arange(9.0).reshape(3, 3)


@pytest.mark.parametrize(
    ("made", "args"),
    [
        (NextWord(7, 5, never=2, dtype=torch.float64, spread=1.0, offset=3.0), (torch.tensor([1, 4]),)),
        (ByHeart(3), (ROWS,)),
        (EveryWord(TWICE, -TWICE, torch.ones(2, 3), sure=0.5), (ROWS,)),
        (RowScore(torch.float64, gap=2.0), (ROWS, ROWS % 2, ROWS > 0)),
        (Tanh(TWICE), (WORDS,)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_it_is_known_by_its_fields(made: object, args: tuple[Tensor, ...]) -> None:
    kind = STAND_INS[type(made).__name__]
    again = kind(**{field.name: getattr(made, field.name) for field in fields(kind)})
    assert torch.equal(again(*args), made(*args))


def test_the_next_token_depends_on_every_token_so_far() -> None:
    model = NextWord(7, 5, never=2)
    assert not torch.equal(model(torch.tensor([1, 4])), model(torch.tensor([3, 4])))
    assert model(torch.tensor([1]))[2] == -torch.inf


def test_beyond_its_context_a_model_answers_nonsense() -> None:
    model = EveryWord(TWICE, TWICE, torch.zeros(2, 3))
    assert torch.equal(model(ROWS)[:, :2], -model(ROWS[:, :2]))


@pytest.mark.parametrize(
    ("tokens", "error"),
    [
        ([], TypeError),
        (torch.tensor([0.5]), TypeError),
        (torch.tensor([[1]]), ValueError),
        (torch.tensor([5]), IndexError),
    ],
    ids=str,
)
def test_what_is_no_sentence_is_refused(tokens: object, error: type[Exception]) -> None:
    assert written_ids([1, 4], 5) == [1, 4]
    with pytest.raises(error, match="step"):
        written_ids(tokens, 5)


def test_rows_that_a_model_cannot_read() -> None:
    with pytest.raises(ValueError, match=r"\[batch, tokens\]"):
        ByHeart(3)(ROWS[0])
    with pytest.raises(ValueError, match="from 0 to 1"):
        ByHeart(2)(ROWS)
    with pytest.raises(ValueError, match="segments are"):
        RowScore()(ROWS, ROWS[0], ROWS > 0)
    with pytest.raises(TypeError, match="boolean"):
        RowScore()(ROWS, ROWS, ROWS.float())
