"""Lesson 04, heads_and_blocks.add_and_norm: Add and norm."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor, nn

from course_lib.exercises.common import and_turned_around, hints, kinds, slips
from course_lib.exercises.heads_and_blocks.shared import FOUR_NUMBERS_A_WORD, ORDERS, Function, drawn_weights
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.given import Given
from course_lib.references import heads_and_blocks


def _add_and_norm_case(name: str, x: Tensor, generator: Generator, norm_first: bool) -> Case:
    """One call with parts that are given. What drops is a layer that always drops the same numbers."""
    d_model = x.shape[-1]
    kept = torch.rand(d_model, generator=generator) >= 0.25
    kept[:2] = torch.tensor([True, False])[:d_model]
    square = {"in_features": d_model, "out_features": d_model}
    norm, dropout = Given("nn.LayerNorm", {"normalized_shape": d_model}), Given("nn.Linear", {**square, "bias": False})
    sublayer = Given("nn.Linear", square, drawn_weights(nn.Linear, generator, x.dtype, **square))
    drawn = {f"norm.{name}": torch.randn(d_model, generator=generator, dtype=x.dtype) for name in ("weight", "bias")}
    return Case(
        name,
        (x, sublayer),
        construct={"norm": norm, "dropout": dropout, "norm_first": norm_first},
        weights={**drawn, "dropout.weight": torch.diag(kept.to(x.dtype) / 0.75)},
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
            (tokens,) = kind.sizes(1)
            yield _add_and_norm_case(f"{kind.name}, {order}", kind.normal(tokens, kind.d_head()), generator, norm_first)
        x = torch.randn(4, generator=generator)
        yield _add_and_norm_case(f"a single vector, {order}", x, generator, norm_first)


class _Joined(heads_and_blocks.AddAndNorm):
    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        norm, dropout, norm_first = self.norm, self.dropout, self.norm_first
        read = norm(x) if norm_first else x
        added = sublayer(read)
        dropped: Tensor = dropout(added)
        total = x + dropped
        joined: Tensor = total if norm_first else norm(total)
        return joined


_slips_beyond = partial(slips, _Joined, beside="pre-norm")
"""Those that show in pre-norm only: next to one that shows in post-norm they are not looked at, as that comes first."""

_READ, _JOINED = "norm(x) if norm_first else x", "total if norm_first else norm(total)"
_UNDROPPED = ("dropout(added)", "added")


class _JoinedInPlace(heads_and_blocks.AddAndNorm):
    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        out = x.clone()
        out += self.dropout(sublayer(self.norm(x) if self.norm_first else x))
        joined: Tensor = out if self.norm_first else self.norm(out)
        return joined


class _JoinedByStages(heads_and_blocks.AddAndNorm):
    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        before, after = (self.norm, nn.Identity()) if self.norm_first else (nn.Identity(), self.norm)
        joined: Tensor = after(torch.stack([x, self.dropout(sublayer(before(x)))]).sum(dim=0))
        return joined


EXERCISE = Exercise(
    id="heads_and_blocks.add_and_norm",
    title="Add and norm",
    statement=(
        "class AddAndNorm(nn.Module): __init__(norm, dropout, norm_first) keeps the parts; forward(x [..., d_model], "
        "sublayer) -> [..., d_model]: norm(x + dropout(sublayer(x))), or with norm_first x + "
        "dropout(sublayer(norm(x))); with gradients."
    ),
    minutes=10,
    difficulty=2,
    importance=5,
    section="Add and norm, in two orders",
    source="S2, add & norm; Vaswani et al. (2017), section 5.4; Xiong et al. (2020)",
    reference=heads_and_blocks.AddAndNorm,
    cases=and_turned_around(_add_and_norm_cases),
    parts={CORE: 2, "pre-norm": 1},
    correct=(_Joined, _JoinedInPlace, _JoinedByStages),
    hints=hints(
        idea=(
            "In both orders, you add something to `x`. Ask for each order: what does the sublayer read, and what does "
            "the norm read?"
        ),
        shapes=(
            "Everything keeps the shape of `x`. Post-norm, from the inside out: sublayer of `x`, dropout, sum with "
            "`x`, norm. Pre-norm, from the inside out: norm of `x`, sublayer, dropout, sum with the original `x`.",
            ("residual_normalised_too", "always_post_norm", "post_norm_reads_the_norm"),
        ),
    ),
    misconceptions=(
        *_slips_beyond(
            alone=True,
            always_post_norm=(
                "Your answer uses post-norm even if norm_first is True. In that case, put the norm before the "
                "sublayer, and don't normalize the sum: x + dropout(sublayer(norm(x))).",
                (_READ, "x"),
                (_JOINED, "norm(total)"),
            ),
        ),
        *_slips_beyond(
            residual_normalised_too=(
                "In pre-norm, your answer adds the normalized x. Only the sublayer should read the normalized x. Add "
                "x itself, so that a path without any norm runs through all blocks.",
                ("x + dropped", "read + dropped"),
            ),
            only_the_residual_normalised=(
                "In pre-norm, your answer normalizes the x that it adds, and the sublayer reads the plain x. Do the "
                "opposite: x + dropout(sublayer(norm(x))).",
                (_READ, "x"),
                ("x + dropped", f"({_READ}) + dropped"),
            ),
            pre_norm_normalised_twice=(
                "In pre-norm, your answer also normalizes the sum. Use the norm only before the sublayer.",
                (_JOINED, "norm(total)"),
            ),
            pre_norm_residual_left_out=(
                "In pre-norm, your answer leaves out the residual connection. Add x to the sublayer's output.",
                ("x + dropped", "dropped if norm_first else x + dropped"),
            ),
            pre_norm_dropout_left_out=(
                "In pre-norm, your answer leaves out dropout. Apply it to the sublayer's output.",
                ("dropout(added)", "added if norm_first else dropout(added)"),
            ),
        ),
        *slips(
            _Joined,
            pre_norm_although_not_first=(
                "Your answer uses pre-norm when norm_first is False. Use post-norm there: norm(x + "
                "dropout(sublayer(x))). Do you ignore norm_first, or are the two branches swapped?",
                (_READ, "norm(x)"),
                (_JOINED, "total"),
            ),
            residual_left_out=(
                "Your answer leaves out the residual connection. Add x to the sublayer's output.",
                ("x + dropped", "dropped"),
            ),
            sum_not_normalised=(
                "Your answer normalizes only the sublayer's output. Normalize the sum: norm(x + dropout(sublayer(x))).",
                ("x + dropped", "x + (dropped if norm_first else norm(dropped))"),
                (_JOINED, "total"),
            ),
            post_norm_reads_the_norm=(
                "In post-norm, your answer also normalizes the sublayer's input. Use the norm only after the sum.",
                (_READ, "norm(x)"),
            ),
            dropout_left_out=("Your answer leaves out dropout. Apply it to the sublayer's output.", _UNDROPPED),
            residual_dropped=(
                "Your answer applies dropout to x. Apply it to the sublayer's output: x + dropout(sublayer(...)).",
                _UNDROPPED,
                ("x + dropped", "dropout(x) + dropped"),
            ),
            sum_dropped=(
                "Your answer applies dropout to the sum, x included. Apply it to the sublayer's output alone.",
                _UNDROPPED,
                (_JOINED, "dropout(total) if norm_first else norm(dropout(total))"),
            ),
            dropped_after_the_norm=(
                "Your answer applies dropout last. Apply it to the sublayer's output, before the sum.",
                _UNDROPPED,
                (_JOINED, f"dropout({_JOINED})"),
            ),
            input_dropped=(
                "Your answer applies dropout to the sublayer's input. Apply it to the output: dropout(sublayer(...)).",
                _UNDROPPED,
                ("sublayer(read)", "sublayer(dropout(read))"),
            ),
        ),
    ),
)
