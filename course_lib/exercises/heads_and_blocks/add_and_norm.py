"""Lesson 04, heads_and_blocks.add_and_norm: Add and norm."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, and_turned_around, kinds
from course_lib.exercises.heads_and_blocks.shared import (
    FOUR_NUMBERS_A_WORD,
    LESSON,
    ORDERS,
    WITHHELD,
    Function,
    misplaced_dropouts,
)
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Callback, Case, Exercise, Hint, Misconception
from course_lib.judging.recorded.stand_ins import Tanh
from course_lib.references import heads_and_blocks


def _add_and_norm_case(name: str, x: Tensor, generator: Generator, norm_first: bool) -> Case:
    drawn = Kind("", generator, dtype=x.dtype)
    d_model = x.shape[-1]
    kept = torch.rand(x.shape, generator=generator) >= 0.25
    kept.view(-1)[:2] = torch.tensor([True, False])[: kept.numel()]
    W, gamma, beta = drawn.normal(d_model, d_model), drawn.normal(d_model), drawn.normal(d_model)
    sublayer = Callback("sublayer", Tanh(W), most_calls=20)
    norm = Callback("norm", partial(heads_and_blocks.layer_norm, gamma=gamma, beta=beta), most_calls=20)
    # Its random draw is done: it drops the same numbers in every call.
    dropout = Callback("dropout", partial(heads_and_blocks.dropout, kept=kept, p=0.25, training=True), most_calls=20)
    args = (x, sublayer, norm, dropout, norm_first)
    # A gradient goes around the functions that are passed in, not through them: post-norm, which ends in one, has none.
    return Case(name, args, gradients=(0,) if norm_first else (), part="pre-norm" if norm_first else CORE)


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


def _joined(x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool) -> Tensor:
    if norm_first:
        read = norm(x)
        added = sublayer(read)
        dropped = dropout(added)
        total = x + dropped
        return total
    out = sublayer(x)
    more = dropout(out)
    summed = x + more
    return norm(summed)


_slip = partial(Edited, _joined)
"""One that shows in post-norm."""

_slip_beyond = partial(Edited, _joined, beside="pre-norm")
"""One that shows in pre-norm only: next to one that shows in post-norm it is not looked at, as that comes first."""


_UNDROPPED = (("dropout(added)", "added"), ("dropout(out)", "out"))
_MISPLACED = {
    "sum": _slip(*_UNDROPPED, ("return total", "return dropout(total)"), ("norm(summed)", "norm(dropout(summed))")),
    "end": _slip(*_UNDROPPED, ("return total", "return dropout(total)"), ("norm(summed)", "dropout(norm(summed))")),
    "read": _slip(*_UNDROPPED, ("sublayer(read)", "sublayer(dropout(read))"), ("sublayer(x)", "sublayer(dropout(x))")),
}


def _joined_step_by_step(x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool) -> Tensor:
    y = norm(x) if norm_first else x
    y = sublayer(y)
    y = dropout(y)
    y = torch.add(x, y)
    if not norm_first:
        y = norm(y)
    return y


def _joined_by_stages(x: Tensor, sublayer: Function, norm: Function, dropout: Function, norm_first: bool) -> Tensor:
    def nothing(y: Tensor) -> Tensor:
        return y

    before, after = (norm, nothing) if norm_first else (nothing, norm)
    return after(torch.stack([x, dropout(sublayer(before(x)))]).sum(dim=0))


CORRECT = (_joined, _joined_step_by_step, _joined_by_stages)


EXERCISE = Exercise(
    id="heads_and_blocks.add_and_norm",
    lesson=LESSON,
    name="add_and_norm",
    title="Add and norm",
    statement=(
        "add_and_norm(x [..., d_model], sublayer, norm, dropout, norm_first) -> [..., d_model]: "
        "norm(x + dropout(sublayer(x))), or with norm_first x + dropout(sublayer(norm(x)))."
    ),
    points=2,
    minutes=8,
    section="Add and norm, in two orders",
    source="S2, add & norm; Vaswani et al. (2017), section 5.4; Xiong et al. (2020)",
    reference=heads_and_blocks.add_and_norm,
    cases=and_turned_around(_add_and_norm_cases),
    parts={CORE: 1, "pre-norm": 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "In both orders something is added to `x`. Ask yourself for each: what does the sublayer read, and what "
            "does the norm read?",
        ),
        Hint(
            "shapes",
            "Everything keeps the shape of `x`. Post-norm, inside out: sublayer of `x`, dropout, sum with `x`, norm. "
            "Pre-norm, inside out: norm of `x`, sublayer, dropout, sum with the `x` that came in.",
            answers=(
                "residual_normalised_too",
                "always_post_norm",
                "pre_norm_normalised_twice",
                "post_norm_reads_the_norm",
                "sum_dropped",
                "input_dropped",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "always_post_norm",
            "Post-norm is right, but your answer does the same where norm_first is True. There the norm stands before "
            "the sublayer, and the sum is not normalised: x + dropout(sublayer(norm(x))).",
            _slip_beyond(("= norm(x)", "= x"), ("return total", "return norm(total)")),
            alone=True,
        ),
        Misconception(
            "residual_normalised_too",
            "In pre-norm your answer adds the normalised x. Only the sublayer reads that; what is added is x itself, "
            "so that a path without any norm leads through all the blocks.",
            _slip_beyond(("x + dropped", "read + dropped")),
        ),
        Misconception(
            "only_the_residual_normalised",
            "In pre-norm your answer normalises the x that is added, and the sublayer reads x as it is. It is the "
            "other way round: x + dropout(sublayer(norm(x))).",
            _slip_beyond(("= norm(x)", "= x"), ("x + dropped", "norm(x) + dropped")),
        ),
        Misconception(
            "pre_norm_of_the_output",
            "In pre-norm your answer normalises what the sublayer adds. The norm stands before the sublayer: "
            "x + dropout(sublayer(norm(x))).",
            _slip_beyond(("= norm(x)", "= x"), ("sublayer(read)", "norm(sublayer(read))")),
        ),
        Misconception(
            "pre_norm_normalised_twice",
            "In pre-norm your answer normalises the sum as well. There the norm stands before the sublayer only.",
            _slip_beyond(("return total", "return norm(total)")),
        ),
        Misconception(
            "pre_norm_residual_left_out",
            "In pre-norm your answer lacks the residual connection: x is not added to what the sublayer makes of it.",
            _slip_beyond(("x + dropped", "dropped")),
        ),
        Misconception(
            "pre_norm_dropout_left_out",
            "In pre-norm your answer does not call dropout. It is for what the sublayer adds, in both orders: "
            "x + dropout(sublayer(norm(x))).",
            _slip_beyond(_UNDROPPED[0]),
        ),
        Misconception(
            "pre_norm_although_not_first",
            "Where norm_first is False your answer puts the norm before the sublayer, which is pre-norm. It should be "
            "post-norm there: norm(x + dropout(sublayer(x))). Is norm_first not used, or are the two branches swapped?",
            _slip(("sublayer(x)", "sublayer(norm(x))"), ("norm(summed)", "summed")),
        ),
        Misconception(
            "residual_left_out",
            "Your answer lacks the residual connection: x is not added to what the sublayer makes of it.",
            _slip(("x + dropped", "dropped"), ("x + more", "more")),
        ),
        Misconception(
            "sum_not_normalised",
            "Your answer normalises only what the sublayer adds. In post-norm the sum is normalised: "
            "norm(x + dropout(sublayer(x))).",
            _slip(("x + more", "x + norm(more)"), ("norm(summed)", "summed")),
        ),
        Misconception(
            "post_norm_reads_the_norm",
            "In post-norm your answer normalises what the sublayer reads as well. There only the sum is normalised: "
            "norm(x + dropout(sublayer(x))).",
            _slip(("sublayer(x)", "sublayer(norm(x))")),
        ),
        Misconception(
            "dropout_left_out",
            "Your answer does not call dropout. It is for what the sublayer adds: dropout(sublayer(...)).",
            _slip(*_UNDROPPED),
        ),
        *misplaced_dropouts(_MISPLACED.__getitem__),
        Misconception(
            "input_dropped_as_well",
            "Your answer calls dropout on what the sublayer reads as well as on what it adds. It is only for what the "
            "sublayer adds: dropout(sublayer(...)).",
            _slip(("sublayer(read)", "sublayer(dropout(read))"), ("sublayer(x)", "sublayer(dropout(x))")),
        ),
        Misconception(
            "residual_dropped",
            "Your answer calls dropout on the x that is added, not on what the sublayer adds. It is the other way "
            "round: x + dropout(sublayer(...)).",
            _slip(*_UNDROPPED, ("x + dropped", "dropout(x) + dropped"), ("x + more", "dropout(x) + more")),
        ),
    ),
    withheld=WITHHELD,
)
