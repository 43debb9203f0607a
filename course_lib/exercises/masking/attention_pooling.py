"""Lesson 02, masking.attention_pooling: Attention pooling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor, nn

from course_lib import masking
from course_lib.exercises.common import SMALLEST, Kind, and_turned_around, integer, pooling, slips
from course_lib.exercises.masking.shared import (
    LARGE,
    MASKED,
    SOFTMAX,
    inverted_and_repaired,
    random_padding,
    small_fills,
    wrong_divisors,
    wrong_masks,
)
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise, Hint
from course_lib.judging.ready_made import FUSED_ATTENTION

ONE, ANYWHERE = "a batch of one", "padding anywhere"


def _pooling_case(kind: Kind, mask: Tensor, part: str = CORE) -> Case:
    """A case of this kind for a mask [batch, tokens].

    Large scores are exact in single precision, whatever the order of summation: whole numbers, divided by 4.
    """
    d_model = 16 if part == LARGE else kind.d_head()
    x = kind.normal(mask.shape[1], d_model)
    query = torch.randn(d_model, generator=kind.generator, dtype=kind.dtype)
    return Case(
        kind.name,
        ((x * 500).round() if part == LARGE else x, mask),
        construct={"d_model": d_model},
        weights={"query": (query * 3).round() if part == LARGE else query},
        gradients=(0,) if part == CORE else (),
        weight_gradients=part == CORE,
        part=part,
    )


def _pooling_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            f"{B.name} and its own first 3 tokens",
            (torch.stack([B.q, B.q]), masking.padding_mask(torch.tensor([4, 3]), 4)),
            construct={"d_model": 2},
            weights={"query": torch.tensor([0.5, -0.5])},
            weight_gradients=True,
        )
    for name, dtype in (
        ("a batch", torch.float32),
        ("double precision", torch.float64),
        ("transposed in memory", torch.float32),
    ):
        batch, tokens = integer(generator, 3, 5), integer(generator, 5, 8)
        kind = Kind(name, generator, (batch,), dtype, transposed=name.startswith("transposed"))
        yield _pooling_case(kind, random_padding(generator, batch, tokens))
    batch, tokens = integer(generator, 3, 5), integer(generator, 5, 8)
    kind = Kind("long vectors, with scores in the thousands", generator, (batch,))
    yield _pooling_case(kind, random_padding(generator, batch, tokens), part=LARGE)
    yield _pooling_case(Kind(ONE, generator, (1,)), random_padding(generator, 2, tokens)[:1], part=ONE)
    yield _pooling_case(Kind(SMALLEST, generator, (1,), ones=True), torch.ones(1, 1, dtype=torch.bool), part=ONE)
    kind = Kind("padding in front of the tokens and between them", generator, (batch,))
    front = torch.rand(batch, tokens, generator=generator) < 0.5
    front[:, 0], front[:, 2] = False, True
    case = _pooling_case(kind, front, part=ANYWHERE)
    case.args[0][:, 2] = 0  # a token of zeros is a token
    yield case


class _Pooling(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        scores = x @ self.query
        scaled = scores / math.sqrt(x.shape[-1])
        masked = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min)
        alpha = torch.softmax(masked, dim=-1)
        return (alpha.unsqueeze(-1) * x).sum(dim=1)


_slips = partial(slips, _Pooling)

_AVERAGED = "(alpha.unsqueeze(-1) * x).sum(dim=1)"
_TIMES_MASK = (SOFTMAX, f"{SOFTMAX} * mask")


@pooling
def _pooling_by_loop(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    rows = []
    for sequence, allowed in zip(x, mask, strict=True):
        tokens = sequence[allowed]
        scaled = tokens @ query / math.sqrt(len(query))
        exps = torch.exp(scaled - scaled.max())
        rows.append((exps.unsqueeze(-1) * tokens).sum(dim=0) / exps.sum())
    return torch.stack(rows)


@pooling
def _pooling_by_matrices(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    away = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, -torch.inf)
    alpha = torch.softmax(x @ query / x.shape[-1] ** 0.5 + away, dim=1)
    return torch.einsum("bt,btd->bd", alpha, x)


CORRECT = (_Pooling, _pooling_by_loop, _pooling_by_matrices)


EXERCISE = Exercise(
    id="masking.attention_pooling",
    name="AttentionPooling",
    title="Attention pooling",
    statement=(
        "class AttentionPooling(nn.Module): __init__(d_model) makes the parameter `query` [d_model]; forward(x [batch, "
        "tokens, d_model], mask bool [batch, tokens]) -> [batch, d_model] is scaled dot-product attention from that "
        "one query to the tokens, with padding masked out wherever it is, with gradients."
    ),
    points=4,
    minutes=20,
    difficulty=4,
    importance=3,
    section="One vector for a whole sentence",
    source="S1, attention in general; S3, mean pooling",
    reference=masking.AttentionPooling,
    cases=and_turned_around(_pooling_cases),
    parts={CORE: 1, LARGE: 1, ONE: 1, ANYWHERE: 1},
    correct=CORRECT,
    steps=("scaled", "masked", "alpha"),
    hints=(
        Hint(
            "idea",
            "This is attention with a single learned query, the same for every sentence. It returns one weighted "
            "average per sentence, in which padding gets no weight.",
        ),
        Hint(
            "shapes",
            "`x` times the query is `[batch, tokens]`: one score per token. To average, make the weights a row, "
            "`[batch, 1, tokens]`, and multiply by `x`. Then remove that dimension by its number: a plain `squeeze()` "
            "would also drop a batch of one.",
            answers=(
                *("dimension_kept", "squeezed", "softmax_over_the_batch"),
                *("weighted_mean", "weights_returned"),
            ),
        ),
        Hint(
            "outline",
            "Score each token: multiply `x` by the learned query.\n"
            "Divide the scores by the root of the number of components.\n"
            "Fill the padding with the lowest finite number of the dtype of `x`.\n"
            "Take the softmax over the tokens, the last dimension.\n"
            "Return the weighted sum of the tokens, `[batch, d_model]`.",
            answers=(
                *("not_scaled", "divided_by_d_model", "root_of_number_of_words"),
                *("scores_times_mask", "scores_times_mask_then_zeroed", "masked_after_softmax"),
            ),
        ),
    ),
    misconceptions=(
        *_slips(
            padding_counted=(
                "Your answer gives weight to padding, as if there were no mask. Fill the scores with -inf where the "
                "mask is False, and use the result: masked_fill, without an underscore, doesn't change the old tensor.",
                (MASKED, "scaled"),
            ),
            not_scaled=(
                "Your answer takes the softmax of the unscaled dot products. Divide the dot products by √d_model "
                "first.",
                (" / math.sqrt(x.shape[-1])", ""),
            ),
            scores_times_mask=(
                "Your answer sets the scores of padding to 0, but exp(0) is 1. Fill forbidden scores with -inf before "
                "the softmax.",
                (MASKED, "scaled * mask"),
            ),
            masked_after_softmax=(
                "Your answer masks after the softmax, so weights don't sum to 1. Mask the scores before the softmax.",
                (MASKED, "scaled"),
                _TIMES_MASK,
            ),
            softmax_over_the_batch=(
                "Your answer takes the softmax over the batch (dim=0). Take it over the tokens: dim=-1 of the scores.",
                (SOFTMAX, "torch.softmax(masked, dim=0)"),
            ),
            weighted_mean=(
                "Your answer averages the weighted tokens. Sum the weighted tokens: the weights already sum to 1.",
                ("sum(dim=1)", "mean(dim=1)"),
            ),
            dimension_kept=(
                "Your answer has shape [batch, 1, d_model]. Remove the query's dimension with squeeze(1).",
                (_AVERAGED, "alpha.unsqueeze(1) @ x"),
            ),
            squeezed=(
                "Your answer's squeeze() also removes the batch dimension of a batch of one. Use squeeze(1).",
                (_AVERAGED, "(alpha.unsqueeze(1) @ x).squeeze()"),
            ),
            query_detached=(
                "No gradient reaches `query`. Look for query.data, query.detach() or torch.tensor(query).",
                ("self.query\n", "self.query.detach()\n"),
            ),
            weights_detached=(
                "The gradient stops at your weights. Look for .detach(), .data, .item(), numpy or no_grad.",
                (SOFTMAX, f"{SOFTMAX}.detach()"),
            ),
        ),
        *wrong_masks(_Pooling),
        *small_fills(_Pooling),
        inverted_and_repaired(_Pooling),
        *_slips(
            paired=False,
            mean_pooling=(
                "Your answer is the plain mean of the tokens. Weight the tokens by a softmax of their scores with the "
                "query.",
                (SOFTMAX, "mask.to(x.dtype) / mask.sum(dim=-1, keepdim=True)"),
            ),
            mean_pooling_with_padding=(
                "Your answer averages all positions, padding included. Use a masked softmax of the scores.",
                (_AVERAGED, "x.mean(dim=1)"),
            ),
            words_of_zeros_left_out=(
                "Your answer gives no weight to a token of all zeros. Go by the mask alone: such a token counts too.",
                ("        scores =", "        mask = mask & (x != 0).any(dim=-1)\n        scores ="),
            ),
            scores_times_mask_then_zeroed=(
                "Your answer sets the scores (or vectors) of padding to 0. But exp(0) is 1, so padding takes part of "
                "the weight, which is then lost. Fill the scores with -inf before the softmax.",
                (MASKED, "scaled * mask"),
                _TIMES_MASK,
            ),
            weights_returned=(
                "Your answer returns the weights. Average the tokens with those weights: sum alpha times x over the "
                "tokens.",
                (_AVERAGED, "alpha"),
            ),
            first_words_counted=(
                "Your answer assumes that tokens come first. Go by the mask: padding may come before tokens or "
                "between them.",
                ("~mask", "torch.arange(mask.shape[1]) >= mask.sum(dim=1, keepdim=True)"),
            ),
            softmax_left_out=(
                "Your answer uses the scores as weights. Take their softmax first.",
                (MASKED, "scaled.masked_fill(~mask, 0.0)"),
                (SOFTMAX, "masked"),
            ),
        ),
        *wrong_divisors(_Pooling),
    ),
    forbidden=(FUSED_ATTENTION,),
)
