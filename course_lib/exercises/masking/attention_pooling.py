"""Lesson 02, masking.attention_pooling: Attention pooling."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Generator, Tensor, nn

from course_lib import masking
from course_lib.exercises.common import SMALLEST, Kind, and_turned_around, hints, integer, pooling, slips
from course_lib.exercises.masking.shared import LARGE, SOFTMAX, random_padding, wrong_attention
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import FUSED_ATTENTION

ONE, ANYWHERE = "a batch of one", "padding anywhere"


def _pooling_case(kind: Kind, mask: Tensor, part: str = CORE) -> Case:
    """A case of this kind for a mask [batch, tokens]."""
    d_model = kind.d_head()
    x, query = kind.normal(mask.shape[1], d_model), replace(kind, leading=()).normal(d_model)
    return Case(
        kind.name,
        (x * 1000 if part == LARGE else x, mask),
        construct={"d_model": d_model},
        weights={"query": query},
        gradients=(0,) if part == CORE else (),
        weight_gradients=part == CORE,
        part=part,
    )


def _pooling_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        name = f"{B.name} and its own first 3 tokens"
        inputs = (torch.stack([B.q, B.q]), masking.padding_mask(torch.tensor([4, 3]), 4))
        query = {"query": torch.tensor([0.5, -0.5])}
        yield Case(name, inputs, construct={"d_model": 2}, weights=query, weight_gradients=True)
    batch, tokens = integer(generator, 3, 5), integer(generator, 5, 8)
    draw = partial(Kind, generator=generator, leading=(batch,))
    for kind in (
        draw("a batch"),
        draw("double precision", dtype=torch.float64),
        draw("transposed in memory", transposed=True),
    ):
        yield _pooling_case(kind, random_padding(generator, batch, tokens))
    kind = draw("long vectors, with scores in the thousands", dtype=torch.float64)
    yield _pooling_case(kind, random_padding(generator, batch, tokens), part=LARGE)
    yield _pooling_case(Kind(ONE, generator, (1,)), random_padding(generator, 2, tokens)[:1], part=ONE)
    yield _pooling_case(Kind(SMALLEST, generator, (1,), ones=True), torch.ones(1, 1, dtype=torch.bool), part=ONE)
    front = torch.rand(batch, tokens, generator=generator) < 0.5
    front[:, 0], front[:, 2] = False, True
    case = _pooling_case(draw("padding in front of the tokens and between them"), front, part=ANYWHERE)
    case.args[0][:, 2] = 0  # a token of zeros is a token
    yield case


class _Pooling(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        masked = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min)
        alpha = torch.softmax(masked, dim=-1)
        return (alpha.unsqueeze(-1) * x).sum(dim=1)


_slips = partial(slips, _Pooling)
_AVERAGED = "(alpha.unsqueeze(-1) * x).sum(dim=1)"


@pooling
def _pooling_by_loop(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    sentences = [tokens[allowed] for tokens, allowed in zip(x, mask, strict=True)]
    weights = [torch.softmax(tokens @ query / math.sqrt(len(query)), dim=0) for tokens in sentences]
    return torch.stack([alpha @ tokens for alpha, tokens in zip(weights, sentences, strict=True)])


@pooling
def _pooling_by_matrices(x: Tensor, mask: Tensor, query: Tensor) -> Tensor:
    away = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, -torch.inf)
    alpha = torch.softmax(x @ query / x.shape[-1] ** 0.5 + away, dim=1)
    return torch.einsum("bt,btd->bd", alpha, x)


EXERCISE = Exercise(
    id="masking.attention_pooling",
    title="Attention pooling",
    statement=(
        "class AttentionPooling(nn.Module): __init__(d_model) makes the parameter `query` [d_model]; forward(x [batch, "
        "tokens, d_model], mask bool [batch, tokens]) -> [batch, d_model] is scaled dot-product attention from that "
        "one query to the tokens, with padding masked out wherever it is, with gradients."
    ),
    minutes=20,
    difficulty=4,
    importance=3,
    section="One vector for a whole sentence",
    source="S1, attention in general; S3, mean pooling",
    reference=masking.AttentionPooling,
    cases=and_turned_around(_pooling_cases),
    parts={CORE: 1, LARGE: 1, ONE: 1, ANYWHERE: 1},
    correct=(_Pooling, _pooling_by_loop, _pooling_by_matrices),
    steps=("scaled", "masked", "alpha"),
    hints=hints(
        idea=(
            "This is attention with a single learned query, the same for every sentence. It returns one weighted "
            "average per sentence, in which padding gets no weight."
        ),
        shapes=(
            "`x` times the query is `[batch, tokens]`: one score per token. To average, make the weights a row, "
            "`[batch, 1, tokens]`, and multiply by `x`. Then remove that dimension by its number: a plain `squeeze()` "
            "would also drop a batch dimension of 1.",
            ("dimension_kept", "squeezed", "softmax_over_the_batch", "weighted_mean", "weights_returned"),
        ),
        outline=(
            "Score each token: multiply `x` by the learned query.\n"
            "Divide the scores by the square root of the number of components.\n"
            "Fill the padding with the lowest finite number of the dtype of `x`.\n"
            "Take the softmax over the tokens, the last dimension.\n"
            "Return the weighted sum of the tokens, `[batch, d_model]`.",
            ("not_scaled", "divided_by_d_model", "scores_times_mask", "masked_after_softmax"),
        ),
    ),
    misconceptions=(
        *wrong_attention(_Pooling, "padding positions", ignored="padding_counted"),
        *_slips(
            not_scaled=(
                "Your answer takes the softmax of the unscaled dot products. Divide them by √d_model first.",
                (" / math.sqrt(x.shape[-1])", ""),
            ),
            softmax_over_the_batch=(
                "Your answer takes the softmax over the batch (dim=0). Take it over the tokens: dim=-1.",
                (SOFTMAX, "torch.softmax(masked, dim=0)"),
            ),
            weighted_mean=(
                "Your answer averages the weighted tokens. Add them up instead: the weights already sum to 1.",
                ("sum(dim=1)", "mean(dim=1)"),
            ),
            dimension_kept=(
                "Your answer has shape [batch, 1, d_model]. Remove the query's dimension with squeeze(1).",
                (_AVERAGED, "alpha.unsqueeze(1) @ x"),
            ),
            squeezed=(
                "The squeeze() in your answer also removes the batch dimension if the batch has only one sentence. "
                "Use squeeze(1).",
                (_AVERAGED, "(alpha.unsqueeze(1) @ x).squeeze()"),
            ),
            query_detached=(
                "No gradient reaches `query`. Look for query.data, query.detach() or torch.tensor(query).",
                ("x @ self.query", "x @ self.query.detach()"),
            ),
            weights_detached=(
                "The gradient stops at your weights. Look for .detach(), .data, .item(), numpy or no_grad.",
                (SOFTMAX, f"{SOFTMAX}.detach()"),
            ),
        ),
        *_slips(
            paired=False,
            mean_pooling=(
                "Your answer is the plain mean of the tokens. Score them with the query, and weight them by the "
                "softmax of the scores.",
                (SOFTMAX, "mask.to(x.dtype) / mask.sum(dim=-1, keepdim=True)"),
            ),
            mean_pooling_with_padding=(
                "Your answer averages all positions, padding included. Use a masked softmax of the scores.",
                (_AVERAGED, "x.mean(dim=1)"),
            ),
            words_of_zeros_left_out=(
                "Your answer gives no weight to a token of all zeros. Go by the mask alone: such a token counts too.",
                ("        scaled =", "        mask = mask & (x != 0).any(dim=-1)\n        scaled ="),
            ),
            weights_returned=(
                "Your answer returns the weights. Use them to average the tokens: sum alpha times x.",
                (_AVERAGED, "alpha"),
            ),
            first_words_counted=(
                "Your answer assumes that tokens come first. Go by the mask, because padding may be anywhere.",
                ("~mask", "torch.arange(mask.shape[1]) >= mask.sum(dim=1, keepdim=True)"),
            ),
            softmax_left_out=(
                "Your answer uses the scores as weights. Take their softmax first.",
                (SOFTMAX, "scaled * mask"),
            ),
        ),
    ),
    forbidden=(FUSED_ATTENTION,),
)
