"""Lesson 04, heads_and_blocks.add_and_norm: Add and norm."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor, nn

from course_lib.exercises.common import and_turned_around, kinds, slips
from course_lib.exercises.heads_and_blocks.shared import (
    FOUR_NUMBERS_A_WORD,
    ORDERS,
    Function,
    drawn_weights,
)
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.judging.given import Given
from course_lib.references import heads_and_blocks


def _add_and_norm_case(name: str, x: Tensor, generator: Generator, norm_first: bool) -> Case:
    """One call with parts that are given. What drops is a layer that always drops the same numbers."""
    d_model = x.shape[-1]
    kept = torch.rand(d_model, generator=generator) >= 0.25
    kept[:2] = torch.tensor([True, False])[:d_model]
    square = {"in_features": d_model, "out_features": d_model}
    dropout = Given("nn.Linear", {**square, "bias": False})
    sublayer = Given("nn.Linear", square, drawn_weights(nn.Linear, generator, x.dtype, **square))
    norm = {f"norm.{name}": torch.randn(d_model, generator=generator, dtype=x.dtype) for name in ("weight", "bias")}
    return Case(
        name,
        (x, sublayer),
        construct={
            "norm": Given("nn.LayerNorm", {"normalized_shape": d_model}),
            "dropout": dropout,
            "norm_first": norm_first,
        },
        weights={**norm, "dropout.weight": torch.diag(kept.to(x.dtype) / 0.75)},
        gradients=(0,),
        weight_gradients=True,
        part="pre-norm" if norm_first else CORE,
    )


def _add_and_norm_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    for norm_first, order in ORDERS:
        if not hidden:
            x = FOUR_NUMBERS_A_WORD
            yield _add_and_norm_case(f"{B.name} with four numbers, {order}", x, generator, norm_first)
        for kind in kinds(generator):
            tokens, other = kind.sizes(2)
            x = kind.normal(tokens, kind.d_head() + (0 if kind.ones else other))
            yield _add_and_norm_case(f"{kind.name}, {order}", x, generator, norm_first)
        yield _add_and_norm_case(
            f"a single vector, {order}", torch.randn(4, generator=generator), generator, norm_first
        )


class _Joined(heads_and_blocks.AddAndNorm):
    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        norm, dropout, norm_first = self.norm, self.dropout, self.norm_first
        if norm_first:
            read = norm(x)
            added = sublayer(read)
            dropped = dropout(added)
            total: Tensor = x + dropped
            return total
        out = sublayer(x)
        more = dropout(out)
        summed: Tensor = x + more
        normed: Tensor = norm(summed)
        return normed


_slips = partial(slips, _Joined)
"""Those that show in post-norm."""

_slip_beyond = partial(Edited, _Joined, beside="pre-norm")
"""One that shows in pre-norm only: next to one that shows in post-norm it is not looked at, as that comes first."""


_UNDROPPED = (("dropout(added)", "added"), ("dropout(out)", "out"))


class _JoinedStepByStep(heads_and_blocks.AddAndNorm):
    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        y = self.norm(x) if self.norm_first else x
        y = sublayer(y)
        y = self.dropout(y)
        y = torch.add(x, y)
        if not self.norm_first:
            y = self.norm(y)
        return y


class _JoinedByStages(heads_and_blocks.AddAndNorm):
    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        before, after = (self.norm, nn.Identity()) if self.norm_first else (nn.Identity(), self.norm)
        joined: Tensor = after(torch.stack([x, self.dropout(sublayer(before(x)))]).sum(dim=0))
        return joined


CORRECT = (_Joined, _JoinedStepByStep, _JoinedByStages)


EXERCISE = Exercise(
    id="heads_and_blocks.add_and_norm",
    name="AddAndNorm",
    title="Add and norm",
    statement=(
        "class AddAndNorm(nn.Module): __init__(norm, dropout, norm_first) keeps the parts; forward(x [..., d_model], "
        "sublayer) -> [..., d_model]: norm(x + dropout(sublayer(x))), or with norm_first x + "
        "dropout(sublayer(norm(x))); with gradients."
    ),
    points=3,
    minutes=10,
    difficulty=2,
    importance=5,
    section="Add and norm, in two orders",
    source="S2, add & norm; Vaswani et al. (2017), section 5.4; Xiong et al. (2020)",
    reference=heads_and_blocks.AddAndNorm,
    cases=and_turned_around(_add_and_norm_cases),
    parts={CORE: 2, "pre-norm": 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "In both orders, you add something to `x`. Ask for each order: what does the sublayer read, and what does "
            "the norm read?",
        ),
        Hint(
            "shapes",
            "Everything keeps the shape of `x`. Post-norm, from the inside out: sublayer of `x`, dropout, sum with "
            "`x`, norm. Pre-norm, from the inside out: norm of `x`, sublayer, dropout, sum with the original `x`.",
            answers=(
                "residual_normalised_too",
                "always_post_norm",
                "pre_norm_normalised_twice",
                "post_norm_reads_the_norm",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "always_post_norm",
            "Your answer uses post-norm even if norm_first is True. Then the norm comes before the sublayer, and the "
            "sum is not normalized: x + dropout(sublayer(norm(x))).",
            _slip_beyond(("= norm(x)", "= x"), ("return total", "return norm(total)")),
            alone=True,
        ),
        *_slips(
            beside="pre-norm",
            residual_normalised_too=(
                "In pre-norm, your answer adds the normalized x. Only the sublayer reads that. Add x itself, so that "
                "a path without any norm runs through all blocks.",
                ("x + dropped", "read + dropped"),
            ),
            only_the_residual_normalised=(
                "In pre-norm, your answer normalizes the x that it adds, and the sublayer reads the plain x. Do the "
                "opposite: x + dropout(sublayer(norm(x))).",
                ("= norm(x)", "= x"),
                ("x + dropped", "norm(x) + dropped"),
            ),
            pre_norm_normalised_twice=(
                "In pre-norm, your answer also normalizes the sum. Use the norm only before the sublayer.",
                ("return total", "return norm(total)"),
            ),
            pre_norm_residual_left_out=(
                "In pre-norm, your answer lacks the residual connection. Add x to the sublayer's output.",
                ("x + dropped", "dropped"),
            ),
            pre_norm_dropout_left_out=(
                "In pre-norm, your answer leaves out dropout. Apply it to the sublayer's output, in both orders: x + "
                "dropout(sublayer(norm(x))).",
                _UNDROPPED[0],
            ),
        ),
        *_slips(
            pre_norm_although_not_first=(
                "Your answer uses pre-norm when norm_first is False. Use post-norm there: norm(x + "
                "dropout(sublayer(x))). Do you ignore norm_first, or are the two branches swapped?",
                ("sublayer(x)", "sublayer(norm(x))"),
                ("= norm(summed)", "= summed"),
            ),
            residual_left_out=(
                "Your answer lacks the residual connection. Add x to the sublayer's output.",
                ("x + dropped", "dropped"),
                ("x + more", "more"),
            ),
            sum_not_normalised=(
                "Your answer normalizes only the sublayer's output. Normalize the sum: norm(x + dropout(sublayer(x))).",
                ("x + more", "x + norm(more)"),
                ("= norm(summed)", "= summed"),
            ),
            post_norm_reads_the_norm=(
                "In post-norm, your answer also normalizes the sublayer's input. Normalize only the sum: norm(x + "
                "dropout(sublayer(x))).",
                ("sublayer(x)", "sublayer(norm(x))"),
            ),
            dropout_left_out=(
                "Your answer leaves out dropout. Apply it to the sublayer's output: dropout(sublayer(...)).",
                *_UNDROPPED,
            ),
            residual_dropped=(
                "Your answer applies dropout to x. Apply it to the sublayer's output: x + dropout(sublayer(...)).",
                *_UNDROPPED,
                ("x + dropped", "dropout(x) + dropped"),
                ("x + more", "dropout(x) + more"),
            ),
            sum_dropped=(
                "Your answer applies dropout to the sum, x included. Apply it to the sublayer's output alone.",
                *_UNDROPPED,
                ("return total", "return dropout(total)"),
                ("= norm(summed)", "= norm(dropout(summed))"),
            ),
            dropped_after_the_norm=(
                "Your answer applies dropout last. Apply it to the sublayer's output, before the sum.",
                *_UNDROPPED,
                ("return total", "return dropout(total)"),
                ("= norm(summed)", "= dropout(norm(summed))"),
            ),
            input_dropped=(
                "Your answer applies dropout to the sublayer's input. Apply it to its output: dropout(sublayer(...)).",
                *_UNDROPPED,
                ("sublayer(read)", "sublayer(dropout(read))"),
                ("sublayer(x)", "sublayer(dropout(x))"),
            ),
        ),
    ),
)
