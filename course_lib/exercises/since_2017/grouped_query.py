"""Lesson 12, since_2017.grouped_query: Heads that share their keys."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import (
    SMALLEST,
    Kind,
    and_turned_around,
    edits_of,
    hints,
    integer,
    mistake,
    sizes,
    slips,
)
from course_lib.exercises.since_2017.shared import no_gradient
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.ready_made import FUSED_ATTENTION
from course_lib.references import since_2017


def _grouped_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        q = torch.stack([A.q, -A.q, A.q.flip(0), A.q.roll(1, dims=1)]).unsqueeze(0)
        k = torch.stack([A.k, A.k.flip(0)]).unsqueeze(0) / 4
        yield Case(f"{A.name}, four heads in two groups", (q, k, k, None))
    for name, groups, shared, dtype, transposed in (
        ("two groups of two", 2, 2, torch.float32, False),
        ("three groups of two", 3, 2, torch.float32, False),
        ("one group for all", 1, 3, torch.float32, False),
        (SMALLEST, 1, 1, torch.float32, False),
        ("double precision", 2, 3, torch.float64, False),
        ("transposed in memory", 2, 2, torch.float32, True),
    ):
        ones = name == SMALLEST
        kind = Kind(name, generator, (1 if ones else sizes(generator, 1)[0],), dtype, transposed, ones)
        queries, keys = kind.sizes(2)
        d_head = kind.d_head()
        q, k, v = (kind.normal(n, tokens, d_head) for n, tokens in ((groups * shared, queries), *[(groups, keys)] * 2))
        alone = Kind(name, generator)
        mask = None if integer(generator, 0, 3) == 0 else alone.mask(queries, keys)
        if ones or name.startswith("three"):
            mask = alone.mask(queries, keys)
        yield Case(name, (q, k, v, mask), gradients=(0, 1, 2) if name.startswith("two") else ())


def _grouped_by_repeating(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    times = q.shape[1] // k.shape[1]
    all_k, all_v = k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)
    scaled = q @ all_k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scaled = scaled.masked_fill(~mask, -1e30)
    out = torch.softmax(scaled, dim=-1) @ all_v
    return out


_slip = edits_of(_grouped_by_repeating)
_TIMES = "q.shape[1] // k.shape[1]"
_KEYS_IN_TURN, _VALUES_IN_TURN = (
    ("k.repeat_interleave(times, dim=1)", "k.repeat(1, times, 1, 1)"),
    ("v.repeat_interleave(times, dim=1)", "v.repeat(1, times, 1, 1)"),
)
_INVERTED_TO_NAN = (("~mask", "mask"), ("-1e30", "-math.inf"))


def _masked_softmax(scaled: Tensor, mask: Tensor | None) -> Tensor:
    return torch.softmax(scaled if mask is None else scaled.masked_fill(~mask, -math.inf), dim=-1)


def _grouped_by_loop(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    shared = q.shape[1] // k.shape[1]
    heads = []
    for head in range(q.shape[1]):
        own_k, own_v = k[:, head // shared], v[:, head // shared]
        heads.append(_masked_softmax(q[:, head] @ own_k.mT / math.sqrt(q.shape[-1]), mask) @ own_v)
    return torch.stack(heads, dim=1)


def _grouped_by_dimension(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Without a copy of any key: the groups are a dimension of their own."""
    grouped = q.unflatten(1, (k.shape[1], -1))
    scaled = grouped @ k.unsqueeze(2).mT / q.shape[-1] ** 0.5
    return (_masked_softmax(scaled, mask) @ v.unsqueeze(2)).flatten(1, 2)


EXERCISE = Exercise(
    id="since_2017.grouped_query",
    title="Heads that share their keys",
    statement=(
        "grouped_query_attention(q [batch, heads, queries, d_head], k and v [batch, groups, keys, d_head], mask bool "
        "[queries, keys] or None) -> [batch, heads, queries, d_head]: every heads / groups neighboring heads share a "
        "group. Don't use torch's built-in attention; gradients must flow."
    ),
    points=3,
    minutes=15,
    difficulty=3,
    importance=5,
    section="Fewer keys",
    source="Ainslie et al. (2023), section 2.2",
    reference=since_2017.grouped_query_attention,
    cases=and_turned_around(_grouped_cases),
    correct=(_grouped_by_repeating, _grouped_by_loop, _grouped_by_dimension),
    steps=("scaled", "alpha"),
    hints=hints(
        idea=(
            "Which group does head i use? With four heads and two groups: 0, 0, 1, 1. Give each head its group's keys "
            "and values, then compute attention as usual. `repeat` and `repeat_interleave` give different orders."
        ),
        shapes=(
            "Keys and values become `[batch, heads, keys, d_head]`. Scores are `[batch, heads, queries, keys]`, and a "
            "mask of `[queries, keys]` broadcasts to them.",
            ("softmax_over_the_queries", "one_output_for_each_group"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your heads cycle through the groups: 0, 1, 0, 1. Neighbors share a group: 0, 0, 1, 1 "
            "(repeat_interleave, not repeat).",
            groups_in_turn=_slip(_KEYS_IN_TURN, _VALUES_IN_TURN),
        ),
        *mistake(
            "Your heads cycle through the groups' keys, 0, 1, 0, 1, but not their values. Neighbors share both: 0, "
            "0, 1, 1.",
            keys_in_turn=_slip(_KEYS_IN_TURN),
        ),
        *mistake(
            "Your heads cycle through the groups' values, 0, 1, 0, 1, but not their keys. Neighbors share both: 0, "
            "0, 1, 1.",
            values_in_turn=_slip(_VALUES_IN_TURN),
        ),
        *slips(
            _grouped_by_repeating,
            paired=False,
            first_group_for_all=(
                "Your heads all use the first group. Head i uses group i // (heads / groups).",
                (f"times = {_TIMES}", "k, v, times = k[:, :1], v[:, :1], q.shape[1]"),
            ),
            groups_averaged=(
                "Your answer averages the groups. Each head uses the keys and values of its own group.",
                (f"times = {_TIMES}", "k, v, times = k.mean(1, keepdim=True), v.mean(1, keepdim=True), q.shape[1]"),
            ),
        ),
        *mistake(
            "Your answer doesn't scale the scores. Divide them by √d_head.",
            not_scaled=_slip((" / math.sqrt(q.shape[-1])", "")),
        ),
        *mistake(
            "Your answer divides the scores by the square root of d_model. Divide by √d_head.",
            scaled_by_all_heads=_slip(("sqrt(", "sqrt(q.shape[1] * ")),
        ),
        *mistake(
            "Your mask is inverted. True means that a query may attend: fill the scores where it is False.",
            mask_inverted=_slip(("~mask", "mask")),
            mask_inverted_to_nan=_slip(*_INVERTED_TO_NAN),
            mask_inverted_and_repaired=_slip(*_INVERTED_TO_NAN, ("return out", "return out.nan_to_num()")),
        ),
        *mistake(
            "Your answer ignores the mask. Fill the scores where it is False, before the softmax.",
            mask_left_out=_slip(("mask is not None", "False")),
        ),
        *mistake(
            "Your softmax runs over the queries. Take it over the keys, dim=-1.",
            softmax_over_the_queries=_slip(("dim=-1", "dim=-2")),
        ),
        *mistake(
            "Your answer averages the heads of a group. Every head keeps its own output.",
            one_output_for_each_group=_slip(("return out", "return out.unflatten(1, (k.shape[1], -1)).mean(dim=2)")),
        ),
        no_gradient(_slip(("return out", "return out.detach()")), "q, k or v"),
    ),
    forbidden=(FUSED_ATTENTION,),
)
