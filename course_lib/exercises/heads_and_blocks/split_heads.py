"""Lesson 04, heads_and_blocks.split_heads: Splitting into heads."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import multihead
from course_lib.exercises.common import SMALLEST, Kind, and_turned_around, edits_of, hints, mistake, sizes, slips
from course_lib.exercises.heads_and_blocks.shared import FOUR_NUMBERS_A_WORD
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Case, Exercise


def _split_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(f"{B.name} with four numbers a token, two heads", (FOUR_NUMBERS_A_WORD.unsqueeze(0), 2))
    for name, dtype, transposed in (
        ("a batch", torch.float32, False),
        ("another batch", torch.float32, False),
        ("double precision", torch.float64, False),
        ("transposed in memory", torch.float32, True),
    ):
        batch, tokens, heads, d_head = sizes(generator, 4)
        kind = Kind(name, generator, (batch,), dtype=dtype, transposed=transposed)
        yield Case(name, (kind.normal(tokens, heads * d_head), heads), gradients=(0,))
    yield Case(SMALLEST, (torch.randn(1, 1, 1, generator=generator), 1))
    batch, tokens, d_model = sizes(generator, 3)
    yield Case("one head", (Kind("", generator, (batch,)).normal(tokens, d_model), 1))
    yield Case("as many heads as numbers", (Kind("", generator, (batch,)).normal(tokens, d_model), d_model))


def _split(x: Tensor, heads: int) -> Tensor:
    pieces = (heads, -1)
    cut: Tensor = x.unflatten(-1, pieces)
    return cut.transpose(1, 2)


_slip = edits_of(_split)
_TURNED = "cut.transpose(1, 2)"


def _split_by_loop(x: Tensor, heads: int) -> Tensor:
    d_head = x.shape[-1] // heads
    return torch.stack([x[:, :, head * d_head : (head + 1) * d_head] for head in range(heads)], dim=1)


def _split_by_unfolding(x: Tensor, heads: int) -> Tensor:
    d_head = x.size(2) // heads
    return x.unfold(2, d_head, d_head).permute(0, 2, 1, 3)


EXERCISE = Exercise(
    id="heads_and_blocks.split_heads",
    title="Splitting into heads",
    statement=(
        "split_heads(x [batch, tokens, d_model], heads) -> [batch, heads, tokens, d_head], where d_head is d_model // "
        "heads: head i gets the i-th part of every token's vector."
    ),
    points=2,
    minutes=10,
    difficulty=3,
    importance=5,
    section="Several heads",
    source="S1 to S4, multi-head attention; Vaswani et al. (2017), section 3.2.2",
    reference=multihead.split_heads,
    cases=and_turned_around(_split_cases),
    correct=(_split, _split_by_loop, _split_by_unfolding),
    hints=hints(
        idea=(
            "Take two steps. First split the last dimension into two, which keeps every number with its token. Then "
            "swap two dimensions, so that the heads come before the tokens."
        ),
        shapes=(
            "Go from `[batch, tokens, d_model]` to `[batch, tokens, heads, d_head]` to `[batch, heads, tokens, "
            "d_head]`. The first step is a reshape, and the second is a transpose. Neither step can replace the other.",
            ("viewed_not_transposed", "reshaped_not_transposed", "words_before_heads", "d_head_and_heads_exchanged"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer goes to the final shape in one step, which groups the numbers in memory order, so a head "
            "gets whole tokens. Split the last dimension first, then swap tokens and heads with transpose(1, 2).",
            viewed_not_transposed=_slip((_TURNED, "x.view(len(x), pieces[0], x.shape[1], pieces[1])")),
            reshaped_not_transposed=_slip((_TURNED, "x.reshape(len(x), pieces[0], x.shape[1], pieces[1])")),
        ),
        *slips(
            _split,
            words_before_heads=(
                "Your answer is [batch, tokens, heads, d_head]. Put the heads before the tokens: transpose(1, 2).",
                (_TURNED, "cut"),
            ),
            interleaved=(
                "Your answer deals out the numbers like cards: head 0 gets numbers 0, heads, 2 heads, ... of a token. "
                "Give head 0 the first d_head numbers: when you reshape, put the dimension of the heads before the "
                "dimension of d_head.",
                ("x.unflatten(-1, pieces)", "x.unflatten(-1, pieces[::-1]).mT"),
            ),
            d_head_and_heads_exchanged=(
                "Your answer has d_head heads of `heads` numbers each. `heads` is the number of parts, not their "
                "length.",
                ("(heads, -1)", "(-1, heads)"),
            ),
            numbers_before_words=(
                "Each head's matrix is transposed: [batch, heads, d_head, tokens]. Put tokens before numbers.",
                (_TURNED, "cut.permute(0, 2, 3, 1)"),
            ),
            heads_before_the_batch=(
                "Your answer is [heads, batch, tokens, d_head]. Put the batch first.",
                (_TURNED, "cut.permute(2, 0, 1, 3)"),
            ),
            pieces_not_stacked=(
                "Your answer is a tuple of parts, one per head. Stack them into one tensor: torch.stack(parts, dim=1).",
                lambda x, heads: x.chunk(heads, dim=-1),
            ),
            words_split=(
                "Your answer gives each head some of the tokens. Give every head all tokens, but only a part of each "
                "vector: split the last dimension.",
                lambda x, heads: x.reshape(len(x), heads, x.shape[1] // heads, x.shape[2]),
            ),
            whole_vectors=(
                "Your answer gives every head the whole vector of every token. Split it: head i gets the i-th group "
                "of d_model // heads numbers.",
                lambda x, heads: x.unsqueeze(1).expand(-1, heads, -1, -1),
            ),
        ),
        *mistake(
            "Your parts are right, but your answer is [batch · heads, tokens, d_head]. Give the heads their own "
            "dimension, after the batch.",
            heads_folded_into_the_batch=_slip((_TURNED, "cut.transpose(1, 2).flatten(0, 1)")),
            alone=True,
        ),
    ),
)
