"""Lesson 03, positions.alibi_weights: Distance as a penalty."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import positions
from course_lib.exercises.common import (
    ANOTHER_DEVICE,
    SMALLEST,
    Kind,
    elsewhere,
    hints,
    integer,
    made_on_the_cpu,
    slips,
)
from course_lib.judging.exercise import CORE, Case, Exercise


def _alibi_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: 5 tokens, 2 heads, all scores 0", (torch.zeros(2, 5, 5),))
    for name, heads, leading, dtype in (
        ("one sentence", 8, (), torch.float32),
        ("a batch", 4, (integer(generator, 2, 5),), torch.float32),
        ("double precision", 2, (3,), torch.float64),
        ("one head", 1, (2,), torch.float32),
        ("a number of heads that is no power of two", integer(generator, 9, 13), (2,), torch.float32),
    ):
        tokens = integer(generator, 5, 9)
        kind = Kind(name, generator, (*leading, heads), dtype, transposed=name == "a batch")
        yield Case(name, (kind.normal(tokens, tokens),), gradients=(0,) if not leading else ())
    yield Case(SMALLEST, (torch.randn(1, 1, 1, 1, generator=generator),))
    scaled = torch.randn(3, 3, 3, generator=generator)
    yield Case("as many tokens as heads", (scaled,))
    yield elsewhere(Case("as many tokens as heads", (scaled,)))


def _alibi(scaled: Tensor) -> Tensor:
    heads, tokens = scaled.shape[-3:-1]
    position = torch.arange(tokens, device=scaled.device)
    distance = position.unsqueeze(-1) - position
    number = torch.arange(heads).to(scaled) + 1
    slope = 2.0 ** (-8 * number / heads)
    biased = scaled - slope[:, None, None] * distance
    alpha = torch.softmax(biased.masked_fill(distance < 0, -torch.inf), dim=-1)
    return alpha


_MASKED = "biased.masked_fill(distance < 0, -torch.inf)"


def _alibi_by_loop(scaled: Tensor) -> Tensor:
    heads, tokens = scaled.shape[-3:-1]
    out = torch.zeros_like(scaled)
    for head in range(heads):
        for query in range(tokens):
            back = torch.arange(query, -1, -1).to(scaled)
            row = scaled[..., head, query, : query + 1] - back * 0.5 ** (8 * (head + 1) / heads)
            out[..., head, query, : query + 1] = row.softmax(-1)
    return out


def _alibi_by_keys(scaled: Tensor) -> Tensor:
    """A row's softmax does not mind what is the same for all its keys: their own positions are bias enough."""
    heads, tokens = scaled.shape[-3:-1]
    first = 2 ** (-8 / heads)
    slopes = scaled.new_tensor([first**power for power in range(1, heads + 1)])
    bias = torch.einsum("h,k->hk", slopes, scaled.new_ones(tokens).cumsum(0)).unsqueeze(1)
    powers = torch.exp(scaled + bias - (scaled + bias).amax(-1, keepdim=True).detach()).tril()
    return powers / powers.sum(-1, keepdim=True)


EXERCISE = Exercise(
    id="positions.alibi_weights",
    title="Distance as a penalty",
    statement=(
        "alibi_weights(scaled [..., heads, tokens, tokens]) -> [..., heads, tokens, tokens]: the causal softmax of the "
        "scores, each lowered by slope times the distance from query (row) back to key (column); the slope of head h, "
        "counting from 1, is 2^(-8h / heads); on the device of scaled, with gradients."
    ),
    minutes=20,
    difficulty=4,
    importance=3,
    section="Distance as a penalty",
    source="Press et al. (2022), section 3",
    reference=positions.alibi_weights,
    cases=_alibi_cases,
    parts={CORE: 3, ANOTHER_DEVICE: 1},
    correct=(_alibi, _alibi_by_loop, _alibi_by_keys),
    hints=hints(
        idea=(
            "You need three things: how far each key is behind each query, how strongly each head penalizes that, and "
            "which keys are forbidden. The rest is a softmax."
        ),
        shapes=(
            "Distances are `[tokens, tokens]`: a column of queries minus a row of keys. Slopes are `[heads]`. Make "
            "them `[heads, 1, 1]`, and the product broadcasts to `[heads, tokens, tokens]`.",
            ("one_slope_for_all", "slopes_along_the_queries", "past_forbidden"),
        ),
        outline=(
            "Read the numbers of heads and tokens from the last three dimensions of the scores.\n"
            "Compute the distances: positions as a column minus positions as a row.\n"
            "Number the heads from 1, and compute the slopes.\n"
            "Lower the scores by slope times distance.\n"
            "Set scores to minus infinity where the distance is negative. Take the softmax over the keys.",
            ("distance_rewarded", "future_allowed", "future_is_penalised", "slopes_from_zero", "slopes_doubled"),
        ),
    ),
    misconceptions=(
        *slips(
            _alibi,
            distance_rewarded=(
                "Your answer gives distant keys higher scores. Subtract slope times distance, as a penalty.",
                ("scaled - slope", "scaled + slope"),
            ),
            slopes_from_zero=(
                "Your answer numbers the heads from 0, so the first slope is 1. Start at 1: the first slope is 2^(-8 "
                "/ heads).",
                (" + 1", ""),
            ),
            slopes_halved=(
                "Your slopes are 1/2, 1/4, 1/8, ... for any number of heads, which is right only for 8 heads. Use the "
                "exponent -8h / heads.",
                ("2.0 ** (-8 * number / heads)", "2.0 ** (-number)"),
            ),
            slopes_doubled=(
                "Your exponent is -h / heads. Include the 8 (-8h / heads), so that the slopes go down to 2^-8.",
                ("(-8 * number", "(-number"),
            ),
            future_allowed=(
                "Your answer lets tokens see the future, and even rewards it, because the distance is negative there. "
                "Mask the future before the softmax.",
                (_MASKED, "biased"),
            ),
        ),
        made_on_the_cpu(_alibi, "scaled.device"),
        *slips(
            _alibi,
            paired=False,
            no_bias=(
                "Your answer is the causal softmax of the scores, without the distances. Lower each score by slope "
                "times distance.",
                ("scaled - slope[:, None, None] * distance", "scaled"),
            ),
            past_forbidden=(
                "Your answer forbids the past and allows the future. Rows are queries: a key is in the future if its "
                "column is to the right of the diagonal.",
                ("distance < 0", "distance > 0"),
            ),
            future_is_penalised=(
                "Your answer only penalizes the future by its distance, like the past. Mask the future: a causal "
                "model must not see it.",
                ("* distance", "* distance.abs()"),
                (_MASKED, "biased"),
            ),
            masked_after_softmax=(
                "Your answer masks after the softmax, so rows don't sum to 1. Mask the scores before the softmax.",
                (_MASKED, "biased"),
                ("return alpha", "return alpha.tril()"),
            ),
            itself_forbidden=(
                "Your answer keeps each token from attending to itself, which leaves no key for the first token. Allow "
                "distance 0.",
                ("distance < 0", "distance <= 0"),
            ),
            one_slope_for_all=(
                "Your answer gives all heads the first slope. Give each head its own slope: 2^(-8h / heads).",
                ("slope[:,", "slope[:1,"),
            ),
            slopes_turned_round=(
                "Your first head has the smallest slope. Give it the largest: slopes fall from head to head.",
                ("slope[:,", "slope.flip(0)[:,"),
            ),
            slopes_along_the_queries=(
                "Your slopes run along the queries or the keys. Give them the shape [heads, 1, 1], because each slope "
                "belongs to a head.",
                ("slope[:, None, None]", "slope[:, None]"),
            ),
        ),
    ),
)
