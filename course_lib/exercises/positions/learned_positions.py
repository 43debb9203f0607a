"""Lesson 03, positions.learned_positions: Learned positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib import positions
from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.common import Kind, and_turned_around, integer, kinds, sizes
from course_lib.exercises.positions.shared import LESSON, WITHHELD
from course_lib.exercises.worked_examples import A


def _learned_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        encoding = torch.tensor([[0.1, 0.2], [0.3, -0.4], [-0.5, 0.6], [0.7, 0.8], [0.9, -1.0]])
        yield _learned_case(f"{A.name}: the, cat, danced and five positions", A.k, encoding)
    for kind in kinds(generator):
        (tokens,) = kind.sizes(1)
        longest = tokens + integer(generator, 2, 5)
        encoding = torch.randn(longest, kind.d_head(), generator=generator).to(kind.dtype)
        yield _learned_case(kind.name, kind.normal(tokens, encoding.shape[1]), encoding)
    batch, tokens = sizes(generator, 2)
    single = Kind("a batch of one sentence", generator, (1,))
    encoding = torch.randn(tokens + 2, single.d_head(), generator=generator)
    yield _learned_case(single.name, single.normal(tokens, encoding.shape[1]), encoding)
    full = Kind("as many tokens as positions", generator, (batch,))
    encoding = torch.randn(tokens, full.d_head(), generator=generator)
    yield _learned_case(full.name, full.normal(tokens, encoding.shape[1]), encoding)
    for name, further, leading in (("one token too many", 1, ()), ("a batch of far too many tokens", 7, (batch,))):
        x = torch.randn(*leading, tokens + further, encoding.shape[1], generator=generator)
        yield replace(_learned_case(name, x, encoding), part="too many tokens", refused="ValueError")
    one = torch.randn(1, 3, generator=generator)
    x = torch.randn(2, 3, generator=generator)
    yield replace(_learned_case("two tokens, one position", x, one), part="too many tokens", refused="ValueError")


def _learned_case(name: str, x: Tensor, encoding: Tensor) -> Case:
    return Case(
        name,
        (x,),
        construct={"d_model": encoding.shape[1], "max_length": encoding.shape[0]},
        weights={"encoding": encoding},
        gradients=(0,),
        weight_gradients=True,
    )


def _refuse(tokens: int, longest: int) -> None:
    if tokens > longest:
        raise ValueError(f"{tokens} tokens are more than {longest} positions")


class _Learned(nn.Module):
    """Learned positions, with a setting for each place where one can slip."""

    def __init__(
        self,
        d_model: int,
        max_length: int,
        *,
        counted: Callable[[Tensor], int] = lambda x: x.shape[-2],
        checked: Callable[[int, int], None] = _refuse,
        tokens: Callable[[Tensor], Tensor] = lambda x: x,
        table: Callable[[Tensor], Tensor] = lambda encoding: encoding,
        rows: Callable[[Tensor, int], Tensor] = lambda encoding, tokens: encoding[:tokens],
        together: Callable[[Tensor, Tensor], Tensor] = torch.add,
    ) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.zeros(max_length, d_model))
        self.counted, self.checked, self.tokens = counted, checked, tokens
        self.table, self.rows, self.together = table, rows, together

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.counted(x)
        self.checked(tokens, len(self.encoding))
        return self.together(self.tokens(x), self.rows(self.table(self.encoding), tokens))


def _never(tokens: int, longest: int) -> None:
    """Refuses nothing."""


def _cut_off(x: Tensor, rows: Tensor) -> Tensor:
    return x[..., : len(rows), :] + rows


def _row_for_each_sentence(x: Tensor, rows: Tensor) -> Tensor:
    return x + rows.view(-1, *[1] * (x.ndim - 2), x.shape[-1])


def _refusing(placed: Callable[[Tensor, Tensor], Tensor]) -> type[nn.Module]:
    """A class like `course_lib.positions.LearnedPositions` whose tokens get `placed(x, encoding)`."""

    class LearnedPositions(nn.Module):
        def __init__(self, d_model: int, max_length: int) -> None:
            super().__init__()
            self.encoding = nn.Parameter(torch.zeros(max_length, d_model))

        def forward(self, x: Tensor) -> Tensor:
            _refuse(x.shape[-2], len(self.encoding))
            return placed(x, self.encoding)

    return LearnedPositions


@_refusing
def _learned_by_loop(x: Tensor, encoding: Tensor) -> Tensor:
    return torch.stack([token + encoding[place] for place, token in enumerate(x.unbind(-2))], dim=-2)


@_refusing
def _learned_in_place(x: Tensor, encoding: Tensor) -> Tensor:
    placed = x.clone()
    for place in range(x.size(-2)):
        placed[..., place, :] += encoding[place]
    return placed


class _LearnedWithARefusal(nn.Module):
    """As a student may lay it out: the refusal in words, the positions in a buffer that is not saved."""

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(max_length, d_model) * 0.02)
        self.place: Tensor
        self.register_buffer("place", torch.arange(max_length), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        tokens, longest = x.size(-2), len(self.encoding)
        if tokens > longest:
            raise ValueError(f"{tokens} tokens, but only {longest} positions")
        return x + F.embedding(self.place[:tokens], self.encoding)


CORRECT = (
    _learned_by_loop,
    _learned_in_place,
    _LearnedWithARefusal,
    _refusing(
        lambda x, encoding: x + F.one_hot(torch.arange(x.shape[-2]), len(encoding)).to(encoding.dtype) @ encoding
    ),
    _refusing(
        lambda x, encoding: (x.double() + encoding.index_select(0, torch.arange(x.shape[-2])).double()).to(x.dtype)
    ),
)


EXERCISE = Exercise(
    id="positions.learned_positions",
    lesson=LESSON,
    name="LearnedPositions",
    title="Learned positions",
    statement=(
        "class LearnedPositions(d_model, max_length) with the parameter encoding [max_length, d_model]; its forward(x "
        "[..., tokens, d_model]) -> [..., tokens, d_model] adds row pos of encoding to the token at position pos, and "
        "raises a ValueError where there are more tokens than rows."
    ),
    points=3,
    minutes=12,
    section="Learned positions",
    source="S3, learn a position embedding; S4; Vaswani et al. (2017), section 3.5",
    reference=positions.LearnedPositions,
    cases=and_turned_around(_learned_cases),
    parts={CORE: 2, "too many tokens": 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Row “pos” of the table belongs to position “pos”, so a sentence gets the first rows. Check first that "
            "there are enough of them: torch may not complain by itself.",
        ),
        Hint(
            "outline",
            "The number of tokens is the last dimension but one of `x`.\n"
            "If it is larger than the number of rows, raise a `ValueError` that names both.\n"
            "Add the first rows, as many as there are tokens; a batch broadcasts.",
            answers=("sentences_counted", "len_of_the_batch", "same_row_for_all", "multiplied", "appended"),
        ),
    ),
    misconceptions=(
        Misconception(
            "not_refused",
            "Your answer has nothing of its own to say about sentences that are too long: torch complains about "
            "shapes, or adds a single row to all tokens. Compare the numbers first, and raise a ValueError.",
            partial(_Learned, checked=_never),
        ),
        Misconception(
            "first_word_again",
            "Your answer starts over where the table ends: the first token too many gets the position of the first. It "
            "must not go on in silence: raise a ValueError.",
            partial(
                _Learned, checked=_never, rows=lambda encoding, tokens: encoding[torch.arange(tokens) % len(encoding)]
            ),
        ),
        Misconception(
            "last_row_again",
            "Your answer gives all the tokens that are too many the last position, as if they stood in one place. It "
            "must not go on in silence: raise a ValueError.",
            partial(
                _Learned,
                checked=_never,
                rows=lambda encoding, tokens: encoding[torch.arange(tokens).clamp(max=len(encoding) - 1)],
            ),
        ),
        Misconception(
            "nothing_added",
            "Your answer adds nothing to the tokens that are too many, so that they have no place at all. It must not "
            "go on in silence: raise a ValueError.",
            partial(
                _Learned,
                checked=_never,
                rows=lambda encoding, tokens: F.pad(encoding, (0, 0, 0, max(0, tokens - len(encoding))))[:tokens],
            ),
        ),
        Misconception(
            "last_rows",
            "Your answer takes the last rows of `encoding`. The first token is at position 0 and gets the first row.",
            partial(_Learned, rows=lambda encoding, tokens: encoding[len(encoding) - tokens :]),
        ),
        Misconception(
            "backwards",
            "Your answer gives the first token the position of the last, and so on. Token 0 gets row 0.",
            partial(_Learned, rows=lambda encoding, tokens: encoding[:tokens].flip(0)),
        ),
        Misconception(
            "same_row_for_all",
            "Your answer adds row 0 to every token, which says nothing about their order. Token number pos gets row "
            "pos.",
            partial(_Learned, rows=lambda encoding, tokens: encoding[0]),
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies the tokens by their positions' vectors. Add them.",
            partial(_Learned, together=torch.mul),
        ),
        Misconception(
            "appended",
            "Your answer puts the positions' vectors next to the tokens. Add them, so that the result is as long as x.",
            partial(_Learned, together=lambda x, rows: torch.cat([x, rows.expand_as(x)], dim=-1)),
        ),
        Misconception(
            "words_scaled",
            "Your answer multiplies the tokens by √d_model first. The paper does that in its embedding (section 3.4); "
            "here they come as they are.",
            partial(_Learned, tokens=lambda x: x * math.sqrt(x.shape[-1])),
        ),
        Misconception(
            "sentences_counted",
            "In a batch your answer gives each sentence a row, not each token: there, x.shape[0] is the number of "
            "sentences. Tokens are the last dimension but one.",
            partial(_Learned, counted=len, checked=_never, together=_row_for_each_sentence),
        ),
        Misconception(
            "len_of_the_batch",
            "Your answer counts len(x) tokens, which is x.shape[0]: in a batch that is the number of "
            "sentences. The number of tokens is x.shape[-2], with a batch and without.",
            partial(_Learned, counted=len),
        ),
        Misconception(
            "encoding_detached",
            "No gradient reaches `encoding`: your answer uses encoding.data, encoding.detach(), or a new tensor or "
            "parameter made from it. Use the parameter itself, or it can never be learned.",
            partial(_Learned, table=torch.detach),
        ),
        Misconception(
            "x_detached",
            "No gradient reaches x: in your answer the computation leaves torch somewhere (.detach(), "
            ".data, numpy or torch.tensor(...)), so that the embeddings can never be learned.",
            partial(_Learned, tokens=torch.detach),
        ),
        Misconception(
            "cut_off",
            "Your answer leaves out the tokens that are too many. It must not go on in silence: raise a ValueError.",
            partial(_Learned, checked=_never, together=_cut_off),
        ),
        Misconception(
            "single_row_not_refused",
            "Your answer leaves it to torch to complain and passes on its error, but a table of one row is added to "
            "any number of tokens without complaint. Compare the numbers first, and raise a ValueError.",
            partial(_Learned, checked=lambda tokens, longest: _refuse(tokens if longest > 1 else 0, longest)),
        ),
        Misconception(
            "counted_from_one",
            "Your answer gives the first token row 1. Positions are counted from 0: the first token gets row 0.",
            partial(_Learned, rows=lambda encoding, tokens: encoding[1 : tokens + 1]),
        ),
        Misconception(
            "subtracted",
            "Your answer subtracts the positions' vectors. Add them.",
            partial(_Learned, together=torch.sub),
        ),
    ),
    withheld=WITHHELD,
)
