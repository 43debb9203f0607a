"""Lesson 03, positions.learned_positions: Learned positions."""

from collections.abc import Iterator
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib import positions
from course_lib.exercises.common import Kind, and_turned_around, hints, integer, kinds, sizes, slips
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import CORE, Case, Exercise


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
        construct={"d_model": encoding.shape[1], "context_length": encoding.shape[0]},
        weights={"encoding": encoding},
        gradients=(0,),
        weight_gradients=True,
    )


class _Learned(nn.Module):
    def __init__(self, d_model: int, context_length: int) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.zeros(context_length, d_model))

    def forward(self, x: Tensor) -> Tensor:
        tokens, longest = x.shape[-2], len(self.encoding)
        if tokens > longest:
            raise ValueError(f"{tokens} tokens are more than {longest} positions")
        rows = self.encoding[:tokens]
        return x + rows


_NOT_REFUSED, _ROWS = ("tokens > longest", "False"), "[:tokens]"


class _LearnedByLoop(_Learned):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-2] > len(self.encoding):
            raise ValueError("too many tokens")
        return torch.stack([token + self.encoding[position] for position, token in enumerate(x.unbind(-2))], dim=-2)


class _LearnedWithARefusal(nn.Module):
    """As a student may lay it out: the refusal in words, the positions in a buffer that is not saved."""

    def __init__(self, d_model: int, context_length: int) -> None:
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model) * 0.02)
        self.position: Tensor
        self.register_buffer("position", torch.arange(context_length), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        tokens, longest = x.size(-2), len(self.encoding)
        if tokens > longest:
            raise ValueError(f"{tokens} tokens, but only {longest} positions")
        return x + F.embedding(self.position[:tokens], self.encoding)


EXERCISE = Exercise(
    id="positions.learned_positions",
    title="Learned positions",
    statement=(
        "class LearnedPositions(d_model, context_length) with the parameter encoding [context_length, d_model]; its "
        "forward(x [..., tokens, d_model]) -> [..., tokens, d_model] adds row pos of encoding to the token at position "
        "pos, and raises a ValueError if there are more tokens than rows."
    ),
    minutes=12,
    difficulty=2,
    importance=4,
    section="Learned positions",
    source="S3, learn a position embedding; S4; Vaswani et al. (2017), section 3.5",
    reference=positions.LearnedPositions,
    cases=and_turned_around(_learned_cases),
    formerly={"context_length": "max_length"},
    parts={CORE: 2, "too many tokens": 1},
    correct=(_Learned, _LearnedByLoop, _LearnedWithARefusal),
    hints=hints(
        idea=(
            "Row `pos` of the table belongs to position `pos`, so a sentence gets the first rows. Check first that "
            "there are enough rows, because torch may not complain if there aren't."
        ),
        outline=(
            "Read the number of tokens from the second-to-last dimension of `x`.\n"
            "If there are more tokens than rows, raise a `ValueError` that names both numbers.\n"
            "Add the first rows of the table, one for each token. They broadcast over a batch.",
            ("len_of_the_batch", "same_row_for_all", "multiplied", "appended"),
        ),
    ),
    misconceptions=slips(
        _Learned,
        not_refused=(
            "Your answer doesn't check for sentences that are too long, so torch complains about shapes or adds a "
            "single row to all tokens. Compare the numbers of tokens and rows first, and raise a ValueError.",
            _NOT_REFUSED,
        ),
        first_word_again=(
            "Your answer starts over at the end of the table, so the first extra token gets position 0. Raise a "
            "ValueError instead.",
            _NOT_REFUSED,
            (_ROWS, "[torch.arange(tokens) % longest]"),
        ),
        last_row_again=(
            "Your answer gives all extra tokens the last position. Raise a ValueError instead.",
            _NOT_REFUSED,
            (_ROWS, "[torch.arange(tokens).clamp(max=longest - 1)]"),
        ),
        nothing_added=(
            "Your answer adds nothing to the extra tokens, so they have no position. Raise a ValueError instead.",
            _NOT_REFUSED,
            ("self.encoding[", "F.pad(self.encoding, (0, 0, 0, max(0, tokens - longest)))["),
        ),
        same_row_for_all=(
            "Your answer adds row 0 to every token, which says nothing about their order. Add row pos to the token at "
            "position pos.",
            (_ROWS, "[0]"),
        ),
        multiplied=("Your answer multiplies tokens by position vectors. Add them.", (" + rows", " * rows")),
        appended=(
            "Your answer concatenates position vectors to the tokens. Add them, so that the result has the shape of x.",
            ("x + rows", "torch.cat([x, rows.expand_as(x)], dim=-1)"),
        ),
        len_of_the_batch=(
            "Your answer uses len(x), or x.shape[0], which is the number of sentences in a batch. The number of "
            "tokens is x.shape[-2].",
            ("x.shape[-2]", "len(x)"),
        ),
        encoding_detached=(
            "No gradient reaches `encoding`, so it can't learn. Use the parameter itself: no encoding.data, "
            "encoding.detach(), or new tensors made from it.",
            ("self.encoding[", "self.encoding.detach()["),
        ),
        x_detached=(
            "No gradient reaches x, so the embeddings can't learn. Look for .detach(), .data, numpy or "
            "torch.tensor(...).",
            ("return x", "return x.detach()"),
        ),
        cut_off=(
            "Your answer drops the extra tokens. Raise a ValueError instead.",
            _NOT_REFUSED,
            ("return x", "return x[..., :longest, :]"),
        ),
        single_row_not_refused=(
            "Your answer relies on torch's error. But torch adds a table with a single row to any number of tokens "
            "without an error. Compare the numbers of tokens and rows first, and raise a ValueError.",
            ("tokens > longest", "tokens > longest > 1"),
        ),
        counted_from_one=(
            "Your answer gives the first token row 1. Positions start at 0, so give it row 0.",
            (_ROWS, "[1 : tokens + 1]"),
        ),
        subtracted=("Your answer subtracts position vectors. Add them.", (" + rows", " - rows")),
    ),
)
