"""Lesson 02, masking.masked_self_attention: Masked self-attention."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib import masking
from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.checking.ready_made import FUSED_ATTENTION
from course_lib.exercises.common import Kind, and_turned_around, integer, kinds, sizes
from course_lib.exercises.masking.shared import (
    BROADCAST,
    FORBIDDEN_FAR_ABOVE,
    KEYS_AS_ROWS,
    LARGE,
    LESSON,
    WITHHELD,
    Step,
    as_is,
    divided_by_sum,
    fill_with_lowest,
    inverted_and_repaired,
    only_with,
    over_keys,
    own_causal,
    random_padding,
    root_of_last,
    small_fills,
    turned,
    wrong_dimensions,
    wrong_divisors,
    wrong_masks,
)
from course_lib.exercises.worked_examples import B


def _self_attention_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(B.name, (B.q, B.mask))
    for kind in kinds(generator):
        (tokens,) = kind.sizes(1)
        x = kind.normal(tokens, kind.d_head()) * 0.7
        yield Case(kind.name, (x, kind.mask(tokens, tokens)), gradients=(0,))
    batch, tokens = sizes(generator, 2)
    kind = Kind(BROADCAST, generator, (batch,))
    x = kind.normal(tokens, kind.d_head()) * 0.7
    yield Case(kind.name, (x, Kind("", generator).mask(tokens, tokens)), part=BROADCAST)
    name = "one row of the mask for all queries"
    yield Case(name, (x, random_padding(generator, batch, tokens).unsqueeze(1)), part=BROADCAST)
    kind = Kind("long vectors, with scores in the thousands", generator, dtype=torch.float64)
    tokens = integer(generator, 5, 8)
    mask = kind.mask(tokens, tokens)
    mask[0, 0], mask[0, 1] = False, True
    yield Case(kind.name, (kind.normal(tokens, kind.d_head()) * 40.0, mask), part=LARGE)


def _self_attention(
    x: Tensor,
    mask: Tensor,
    *,
    scaled: Step = lambda scores, x: scores / root_of_last(x),
    rows: Step = as_is,
    masked: Step = fill_with_lowest,
    softmax: Step = over_keys,
    after: Step = as_is,
    averaged: Step = torch.matmul,
) -> Tensor:
    """Masked self-attention in the lesson's five steps, with a setting for each where one can slip."""
    scores = scaled(x @ x.mT, x)
    used = rows(mask, scores)
    return averaged(after(softmax(masked(scores, used), used), used), x)


def _self_attention_by_loop(x: Tensor, mask: Tensor) -> Tensor:
    if x.ndim > 2:
        masks = mask.expand(*x.shape[:-1], x.shape[-2])
        return torch.stack([_self_attention_by_loop(*sequence) for sequence in zip(x, masks, strict=True)])
    rows = []
    for token, allowed in zip(x, mask, strict=True):
        visible = x[allowed]
        rows.append(torch.softmax(visible @ token / math.sqrt(len(token)), dim=0) @ visible)
    return torch.stack(rows)


def _self_attention_by_einsum(x: Tensor, mask: Tensor) -> Tensor:
    scores = torch.einsum("...nd,...md->...nm", x, x).masked_fill(mask == 0, -1e9)
    return torch.einsum("...nm,...md->...nd", F.softmax(scores / x.shape[-1] ** 0.5, dim=-1), x)


def _self_attention_multiplied(x: Tensor, mask: Tensor) -> Tensor:
    scaled = (x @ x.mT / math.sqrt(x.shape[-1])).double()
    lowered = scaled.masked_fill(~mask, -1e9) - scaled.masked_fill(~mask, -1e9).amax(dim=-1, keepdim=True)
    kept = torch.exp(lowered) * mask
    return (kept / kept.sum(dim=-1, keepdim=True) @ x.double()).to(x.dtype)


def _self_attention_in_place(x: Tensor, mask: Tensor) -> Tensor:
    scaled = x @ x.transpose(-2, -1)
    scaled /= x.shape[-1] ** 0.5
    scaled[~mask.broadcast_to(scaled.shape)] = -math.inf
    return torch.softmax(scaled, dim=-1) @ x


def _self_attention_by_bmm(x: Tensor, mask: Tensor) -> Tensor:
    flat = x.reshape(-1, *x.shape[-2:])
    tokens = x.shape[-2]
    bias = torch.zeros(*x.shape[:-1], tokens, dtype=x.dtype).masked_fill(~mask, -math.inf).reshape(-1, tokens, tokens)
    scaled = torch.baddbmm(bias, flat, flat.mT, alpha=1 / math.sqrt(x.shape[-1]))
    return torch.bmm(scaled.softmax(dim=-1), flat).reshape(x.shape)


def _self_attention_by_vmap(x: Tensor, mask: Tensor) -> Tensor:
    if x.ndim > 2:
        return torch.func.vmap(_self_attention_by_vmap)(x, mask.expand(*x.shape[:-1], x.shape[-2]))

    def one_token(token: Tensor, allowed: Tensor) -> Tensor:
        scaled = torch.mv(x, token) / math.sqrt(len(token))
        return torch.softmax(torch.where(allowed, scaled, -1e9), dim=0) @ x

    return torch.func.vmap(one_token)(x, mask)


def _self_attention_by_broadcasting(x: Tensor, mask: Tensor) -> Tensor:
    scaled = (x.unsqueeze(-2) * x.unsqueeze(-3)).sum(dim=-1) * x.shape[-1] ** -0.5
    alpha = torch.softmax(scaled + torch.where(mask, 0.0, -1e9).to(x.dtype), dim=-1)
    return (alpha.unsqueeze(-1) * x.unsqueeze(-3)).sum(dim=-2)


def _self_attention_renormalised(x: Tensor, mask: Tensor) -> Tensor:
    forbidden = torch.where(mask, 0.0, -1e30)
    alpha = nn.Softmax(dim=-1)(x @ x.mT / math.sqrt(x.shape[-1]) + forbidden.to(x.dtype)) * mask.to(x.dtype)
    return F.normalize(alpha, p=1, dim=-1) @ x


CORRECT = (
    _self_attention_by_loop,
    _self_attention_by_einsum,
    _self_attention_multiplied,
    _self_attention_by_bmm,
    _self_attention_by_vmap,
    _self_attention_in_place,
    _self_attention_by_broadcasting,
    _self_attention_renormalised,
)


EXERCISE = Exercise(
    id="masking.masked_self_attention",
    lesson=LESSON,
    name="masked_self_attention",
    title="Masked self-attention",
    statement=(
        "masked_self_attention(x [..., tokens, d_model], mask bool [..., tokens, tokens] or broadcasts to it) -> [..., "
        "tokens, d_model]: scaled dot-product attention with q = k = v = x under the mask, even with scores in the "
        "thousands, with gradients."
    ),
    points=3,
    minutes=10,
    section="Masked self-attention",
    source="S2, the second working example; S4, the cheating problem",
    reference=masking.masked_self_attention,
    cases=and_turned_around(_self_attention_cases),
    parts={CORE: 1, BROADCAST: 1, LARGE: 1},
    correct=CORRECT,
    steps=("scores", "scaled", "masked", "alpha"),
    hints=(
        Hint(
            "idea",
            "The five names of the course, in order: scores, scaled, masked, alpha, out. `x` asks, is asked and is "
            "averaged.",
        ),
        Hint(
            "outline",
            "Scores: `x` with its own last two dimensions swapped.\n"
            "Divide by the root of the last dimension of `x`.\n"
            "Fill the forbidden places with the lowest finite number of the dtype.\n"
            "Softmax over the keys, the last dimension.\n"
            "The weights times `x`.",
            answers=(
                "divided_by_number_of_keys",
                "divided_by_d_model",
                "root_of_number_of_words",
                "unscaled_scores_masked",
                "softmax_over_queries",
                "softmax_over_the_second_dimension",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "divided_by_number_of_keys",
            "Your answer divides the scores by the number of tokens. So do the numbers printed on slide S2, which "
            "don't follow the formula beside them: divide by √d_model.",
            partial(_self_attention, scaled=lambda scores, x: scores / x.shape[-2]),
        ),
        Misconception(
            "unscaled_scores_masked",
            "Your answer masks the unscaled scores, as the line `masked = scores.masked_fill(...)` on slide S2 does; "
            "its printed output follows from that. Mask the scaled ones, the scores divided by √d_model.",
            partial(_self_attention, scaled=as_is),
        ),
        *wrong_divisors(_self_attention),
        Misconception(
            "multiplied_by_the_root",
            "Your answer multiplies the scores by √d_model. Divide them by it.",
            only_with(_self_attention, scaled=lambda scores, x: scores * root_of_last(x)),
        ),
        Misconception(
            "root_of_two",
            "Your answer divides the scores by √2, which is √d_model in the worked example only. d_model is "
            "x.shape[-1].",
            only_with(_self_attention, scaled=lambda scores, x: scores / math.sqrt(2)),
        ),
        Misconception(
            "scores_times_mask",
            "Your answer sets forbidden scores to 0 (multiplying by the mask does that), but exp(0) is 1, so "
            "forbidden tokens still take a share. Fill them with -inf before the softmax.",
            partial(_self_attention, masked=torch.mul),
        ),
        Misconception(
            "masked_after_softmax",
            "Your answer masks after the softmax, so the weights no longer sum to 1. Mask the scores, before the "
            "softmax.",
            partial(_self_attention, masked=as_is, after=torch.mul),
        ),
        Misconception(
            "mask_ignored",
            "Your answer attends to every token, as if nothing were masked. If you do fill the scores, use what comes "
            "back: masked_fill, without an underscore, returns a new tensor and leaves the old one as it is.",
            partial(_self_attention, masked=as_is, after=as_is),
        ),
        Misconception(
            "added_not_enough",
            "Your answer lowers the forbidden scores by some number, but a score far above the others stays above "
            "them and takes the weight. Fill with -inf, masked_fill(~mask, -math.inf), rather than adding.",
            only_with(_self_attention, masked=lambda scaled, mask: scaled - 1e3 * ~mask),
        ),
        Misconception(
            "forbidden_score_far_above",
            f"{FORBIDDEN_FAR_ABOVE} A row whose weights are all 0 then ends in 0 / 0, NaN.",
            only_with(_self_attention, masked=as_is, after=lambda alpha, mask: divided_by_sum(alpha * mask, mask)),
        ),
        *wrong_masks(_self_attention),
        *small_fills(_self_attention),
        inverted_and_repaired(_self_attention),
        Misconception(
            "always_causal",
            "Your answer makes a causal mask of its own and ignores the one it is given. Use the argument: the mask "
            "may be any.",
            only_with(_self_attention, rows=own_causal),
        ),
        Misconception("keys_as_rows", KEYS_AS_ROWS, partial(_self_attention, rows=turned)),
        *wrong_dimensions(partial(_self_attention, rows=as_is)),
        Misconception(
            "weights_transposed",
            "Your answer averages with the weights transposed: alpha's rows are queries, and each token's output is "
            "its row times x. Write alpha @ x.",
            partial(_self_attention, rows=as_is, softmax=over_keys, averaged=lambda alpha, x: alpha.mT @ x),
        ),
        Misconception(
            "view_for_transpose",
            "Your answer turns x with view or reshape, which keeps the numbers in their order and so mixes up the "
            "tokens. Transpose it: x.transpose(-2, -1).",
            only_with(
                _self_attention,
                scaled=lambda scores, x: x @ x.reshape(*x.shape[:-2], *x.shape[:-3:-1]) / root_of_last(x),
            ),
        ),
        Misconception(
            "weights_returned",
            "Your answer gives the weights. Average the tokens with them: alpha @ x.",
            only_with(_self_attention, averaged=as_is),
        ),
        Misconception(
            "weights_detached",
            "In your answer the gradient stops at the weights: they are detached from the graph (.detach(), .data, "
            "numpy or no_grad), and only the values could learn.",
            partial(_self_attention, after=lambda alpha, mask: alpha.detach()),
        ),
        Misconception(
            "values_detached",
            "In your answer the gradient reaches x through the weights only: the values are detached from the graph "
            "(x.detach(), x.data). Use x itself in all three parts.",
            only_with(_self_attention, averaged=lambda alpha, x: alpha @ x.detach()),
        ),
        Misconception(
            "keys_detached",
            "In your answer a part of the gradient is missing: x is detached in the scores (x.detach(), x.data), as "
            "query or as key. Use x itself in all three parts.",
            only_with(_self_attention, scaled=lambda scores, x: x @ x.detach().mT / root_of_last(x)),
        ),
        Misconception(
            "no_gradients",
            "No gradient reaches x: your computation leaves torch somewhere (.detach(), .data, numpy, "
            "torch.tensor(...) or no_grad). Use torch operations from x to the end.",
            only_with(_self_attention, averaged=lambda alpha, x: (alpha @ x).detach()),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(FUSED_ATTENTION,),
)
