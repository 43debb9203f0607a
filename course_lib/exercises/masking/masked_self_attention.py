"""Lesson 02, masking.masked_self_attention: Masked self-attention."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.exercises.common import Kind, and_turned_around, hints, integer, kinds, sizes, slips
from course_lib.exercises.masking.shared import (
    BROADCAST,
    FORBIDDEN_FAR_ABOVE,
    KEYS_AS_ROWS,
    LARGE,
    MASKED,
    SOFTMAX,
    random_padding,
    wrong_attention,
    wrong_dimensions,
)
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import FUSED_ATTENTION


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


def _self_attention(x: Tensor, mask: Tensor) -> Tensor:
    scores = x @ x.mT
    scaled = scores / math.sqrt(x.shape[-1])
    masked = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min)
    alpha = torch.softmax(masked, dim=-1)
    return alpha @ x


_slips = partial(slips, _self_attention)


def _self_attention_by_loop(x: Tensor, mask: Tensor) -> Tensor:
    if x.ndim > 2:
        masks = mask.expand(*x.shape[:-1], x.shape[-2])
        return torch.stack([_self_attention_by_loop(*sequence) for sequence in zip(x, masks, strict=True)])
    rows = []
    for token, allowed in zip(x, mask, strict=True):
        visible = x[allowed]
        rows.append(torch.softmax(visible @ token / math.sqrt(len(token)), dim=0) @ visible)
    return torch.stack(rows)


def _self_attention_multiplied(x: Tensor, mask: Tensor) -> Tensor:
    scaled = (x @ x.mT / math.sqrt(x.shape[-1])).double()
    lowered = scaled.masked_fill(~mask, -1e9) - scaled.masked_fill(~mask, -1e9).amax(dim=-1, keepdim=True)
    kept = torch.exp(lowered) * mask
    return (kept / kept.sum(dim=-1, keepdim=True) @ x.double()).to(x.dtype)


EXERCISE = Exercise(
    id="masking.masked_self_attention",
    title="Masked self-attention",
    statement=(
        "masked_self_attention(x [..., tokens, d_model], mask bool [..., tokens, tokens] or broadcasts to it) -> "
        "[..., tokens, d_model]: scaled dot-product attention with q = k = v = x under the mask, also for scores in "
        "the thousands, with gradients."
    ),
    minutes=10,
    difficulty=3,
    importance=5,
    section="Masked self-attention",
    source="S2, the second working example; S4, the cheating problem",
    reference=masking.masked_self_attention,
    cases=and_turned_around(_self_attention_cases),
    parts={CORE: 1, BROADCAST: 1, LARGE: 1},
    correct=(_self_attention, _self_attention_by_loop, _self_attention_multiplied),
    steps=("scores", "scaled", "masked", "alpha"),
    hints=hints(
        idea=(
            "Compute, in this order: scores, scaled, masked, alpha, out. `x` serves as queries, keys and values at "
            "once."
        ),
        outline=(
            "Compute the scores: multiply `x` by itself, with the last two dimensions of the second factor swapped.\n"
            "Divide by the square root of the last dimension of `x`.\n"
            "Fill the forbidden positions with the lowest finite number of the dtype.\n"
            "Take the softmax over the keys, the last dimension.\n"
            "Multiply the weights by `x`.",
            (
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
        *_slips(
            divided_by_number_of_keys=(
                "Your answer divides the scores by the number of tokens. Divide by √d_model, the square root of "
                "x.shape[-1].",
                ("math.sqrt(x.shape[-1])", "x.shape[-2]"),
            ),
            unscaled_scores_masked=(
                "Your answer masks the unscaled scores. Divide the scores by √d_model before you mask them.",
                (" / math.sqrt(x.shape[-1])", ""),
            ),
            weights_transposed=(
                "Your answer transposes the weights. Each row of alpha belongs to a query: return alpha @ x.",
                (SOFTMAX, f"{SOFTMAX}.mT"),
            ),
            weights_detached=(
                "The gradient stops at your weights. Look for .detach(), .data, numpy or no_grad.",
                ("alpha @ x", "alpha.detach() @ x"),
            ),
        ),
        *wrong_attention(_self_attention, "forbidden tokens"),
        *_slips(
            paired=False,
            multiplied_by_the_root=(
                "Your answer multiplies the scores by √d_model. Divide them by it.",
                ("/ math", "* math"),
            ),
            added_not_enough=(
                "Your answer subtracts a number from forbidden scores, but a score far above the others stays above "
                "them and takes the weight. Fill instead: masked_fill(~mask, -math.inf).",
                (MASKED, "scaled - 1e3 * ~mask"),
            ),
            forbidden_score_far_above=(
                f"{FORBIDDEN_FAR_ABOVE} Otherwise 0 / 0 makes such a row NaN.",
                (MASKED, "scaled"),
                ("alpha @ x", "alpha * mask / (alpha * mask).sum(dim=-1, keepdim=True) @ x"),
            ),
            always_causal=(
                "Your answer ignores the given mask and uses a causal one. Use the argument: it can be any mask.",
                (
                    "    scores =",
                    "    mask = torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool).tril()\n    scores =",
                ),
            ),
            keys_as_rows=(KEYS_AS_ROWS, ("    scores =", "    mask = mask.mT\n    scores =")),
            weights_returned=(
                "Your answer returns the weights. Use them to average the tokens: alpha @ x.",
                ("alpha @ x", "alpha"),
            ),
            no_gradients=(
                "No gradient reaches x. Look for .detach(), .data, numpy, torch.tensor(...) or no_grad.",
                ("alpha @ x", "(alpha @ x).detach()"),
            ),
        ),
        *wrong_dimensions(_self_attention),
    ),
    forbidden=(FUSED_ATTENTION,),
)
