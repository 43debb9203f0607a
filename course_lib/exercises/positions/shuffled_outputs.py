"""Lesson 03, positions.shuffled_outputs: Predict: shuffled tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import positions
from course_lib.attention import scaled_dot_product_attention
from course_lib.exercises.common import and_turned_around, integer, kinds, predicted
from course_lib.exercises.positions.shared import LESSON, WITHHELD, random_order
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception


def _shuffled_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        out = scaled_dot_product_attention(B.q, B.k, B.v)
        order = torch.tensor([2, 0, 3, 1])
        yield Case(f"{B.name}, unmasked: Katze <s> tanzte die", (out, order))
    for kind in kinds(generator):
        tokens = kind.sizes(1)[0] + (not kind.ones)
        order = random_order(generator, tokens) if tokens > 1 else torch.tensor([0])
        yield Case(kind.name, (kind.normal(tokens, kind.d_head()), order))
    tokens, d_model = 4, integer(generator, 5, 8)
    many = torch.randn(9, tokens, d_model, generator=generator)
    yield Case("more sentences than tokens", (many, random_order(generator, tokens)))


def _taken(
    out: Tensor, order: Tensor, *, by: Callable[[Tensor], Tensor] = lambda order: order, dim: int = -2
) -> Tensor:
    """Rows in some order along some dimension."""
    return out[by(order)] if dim == 0 else out.index_select(dim, by(order))


def _shuffled_by_loop(out: Tensor, order: Tensor) -> Tensor:
    return torch.stack([out[..., position, :] for position in order.tolist()], dim=-2)


CORRECT = (
    _shuffled_by_loop,
    lambda out, order: F.one_hot(order, len(order)).to(out.dtype) @ out,
    lambda out, order: out.transpose(0, -2)[order].transpose(0, -2),
)


EXERCISE = Exercise(
    id="positions.shuffled_outputs",
    lesson=LESSON,
    name="shuffled_outputs",
    title="Predict: shuffled words",
    statement=(
        "shuffled_outputs(out [..., tokens, d_model], order int64 [tokens]) -> [..., tokens, d_model]: the outputs of "
        "unmasked self-attention after a shuffle, from those before it; token i of the shuffled sentence is token "
        "order[i] of the old one."
    ),
    points=1,
    minutes=5,
    difficulty=2,
    importance=4,
    section="A bag of words",
    source="S4, why position embeddings are needed; Lee et al. (2019)",
    reference=positions.shuffled_outputs,
    cases=and_turned_around(predicted(_shuffled_cases)),
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Without a mask, a token's output is a sum over all tokens of the sentence, and no sum cares about order. "
            "What in it can then depend on where the token stands?",
        ),
        Hint(
            "shapes",
            "The tokens are the last dimension but one. In an index, `...` stands for all dimensions in front of those "
            "that you name, so that a batch keeps its order.",
            answers=("sentences_shuffled",),
        ),
    ),
    misconceptions=(
        Misconception(
            "nothing_moves",
            "Your prediction is that the outputs stay as they were, row for row: S4 says that switching tokens "
            "wouldn't affect the computation. Each token keeps its vector, but the vector moves with its token.",
            lambda out, order: out.clone(),
        ),
        Misconception(
            "shuffled_back",
            "Your prediction shuffles the rows the other way round, by the inverse order. Row i belongs to the token "
            "that stands there now, which is token order[i] of the old sentence: out[..., order, :].",
            partial(_taken, by=torch.argsort),
        ),
        Misconception(
            "sentences_shuffled",
            "In a batch your prediction shuffles the sentences: out[order] takes "
            "the first dimension. Tokens are the last but one: out[..., order, :].",
            partial(_taken, dim=0),
        ),
        Misconception(
            "reversed",
            "Your prediction reverses the rows, whatever the order is. Use `order`: row i belongs to token order[i] of "
            "the old sentence.",
            lambda out, order: out.flip(-2),
        ),
        Misconception(
            "all_alike",
            "Your prediction is that all tokens get the same vector, the mean. Attention ignores the order, not the "
            "tokens: each token still asks its own question, and keeps its own vector.",
            lambda out, order: out.mean(dim=-2, keepdim=True).expand_as(out),
        ),
        Misconception(
            "shuffled_twice",
            "Your prediction shuffles the rows twice. Once is enough: row i belongs to token order[i] of the old "
            "sentence.",
            partial(_taken, by=lambda order: order[order]),
        ),
        Misconception(
            "counted_from_one",
            "Your prediction takes the row before the one asked for: the numbers in `order` are counted from 0, so "
            "there is nothing to subtract.",
            partial(_taken, by=lambda order: (order - 1) % len(order)),
        ),
    ),
    withheld=WITHHELD,
)
