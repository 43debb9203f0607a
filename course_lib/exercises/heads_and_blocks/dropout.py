"""Lesson 04, heads_and_blocks.dropout: Dropout."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, edits_of, hints, integer, kinds, mistake, slips
from course_lib.exercises.worked_examples import A
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.ready_made import DROPOUT
from course_lib.references import heads_and_blocks

_PROBABILITIES = (0.123, 0.237, 0.341, 0.419)
"""In no case is the number of numbers such that exactly this share of them could be dropped."""


_POWERS = (0.75, 0.875)
"""In double precision: bool / float is single precision in torch, and exact only where 1 - p is a power of two."""


def _dropout_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        kept = torch.tensor([[True, False], [False, True], [True, True]])
        yield Case(f"{A.name}: the, cat, danced, half of it dropped", (A.k, kept, 0.5, True))
    for kind in kinds(generator):
        tokens, d_model = kind.sizes(2)
        x = kind.normal(tokens, d_model)
        choices = _POWERS if kind.dtype == torch.float64 else _PROBABILITIES
        p = choices[integer(generator, 0, len(choices))]
        kept = torch.rand(x.shape, generator=generator) >= p
        kept.view(-1)[:2] = torch.tensor([True, False])[: kept.numel()]
        yield Case(f"{kind.name}, in training", (x, kept, p, True), gradients=() if kind.leading else (0,))
        yield Case(f"{kind.name}, in evaluation", (x, kept, p, False))
    yield Case("a single number", (torch.tensor(3.0), torch.tensor(True), 0.25, True))


def _dropped(x: Tensor, kept: Tensor, p: float, training: bool) -> Tensor:
    factor = 1 / (1 - p)
    if not training:
        return x.clone()
    return (x * factor).masked_fill(~kept, 0.0)


_slip = edits_of(_dropped)
_FACTOR = "1 / (1 - p)"


def _dropout_by_loop(x: Tensor, kept: Tensor, p: float, training: bool) -> Tensor:
    if not training:
        return x.clone()
    numbers = [a / (1 - p) if stays else 0 * a for a, stays in zip(x.flatten(), kept.flatten(), strict=True)]
    return torch.stack(numbers).reshape(x.shape)


def _dropout_in_place(x: Tensor, kept: Tensor, p: float, training: bool) -> Tensor:
    out = x.clone()
    if training:
        out[~kept] = 0
        out /= 1 - p
    return out


EXERCISE = Exercise(
    id="heads_and_blocks.dropout",
    title="Dropout",
    statement=(
        "dropout(x [...], kept bool [...], p, training) -> [...]: in training, 0 where kept is False and x / (1 - p) "
        "where it is True; in evaluation, x itself."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=4,
    section="Dropout",
    source="S3, dropout; Srivastava et al. (2014), section 10",
    reference=heads_and_blocks.dropout,
    cases=and_turned_around(_dropout_cases),
    correct=(_dropped, _dropout_by_loop, _dropout_in_place),
    hints=hints(
        idea=(
            "Answer two questions. Is there anything to drop? And what do you divide the remaining numbers by, so "
            "that sums keep their size on average?"
        )
    ),
    misconceptions=(
        *slips(
            _dropped,
            not_rescaled=(
                "Your answer drops numbers but doesn't rescale, so in training everything is too small on average, by "
                "a factor of 1 - p. Divide the kept numbers by 1 - p.",
                (_FACTOR, "1"),
            ),
            multiplied_by_what_is_kept=(
                "Your answer multiplies by 1 - p, which makes the numbers even smaller. Divide by it: the kept "
                "numbers must make up for the dropped ones.",
                (_FACTOR, "1 - p"),
            ),
            rescaled_twice=(
                "Your answer divides by 1 - p in training but also multiplies by it in evaluation. In evaluation, "
                "return x itself.",
                ("x.clone()", "x * (1 - p)"),
            ),
            divided_in_evaluation=(
                "Your answer divides by 1 - p in evaluation too. Nothing is dropped then, so return x itself.",
                ("x.clone()", "x / (1 - p)"),
            ),
            divided_by_the_share=(
                "Your answer divides by p, the share of dropped numbers. Divide by the share of kept numbers, 1 - p.",
                (_FACTOR, "1 / p"),
            ),
            divided_by_the_count=(
                "Your answer divides by the share of numbers kept in this draw. Divide by 1 - p, which doesn't depend "
                "on the draw.",
                (_FACTOR, "1 / kept.double().mean().item()"),
            ),
            kept_and_dropped_exchanged=(
                "Your answer drops the numbers that you should keep. `kept` is True where a number stays.",
                ("~kept", "kept"),
            ),
            in_evaluation_too=(
                "Your answer does the same in evaluation as in training. If `training` is False, return x itself.",
                ("if not training", "if False"),
            ),
            only_in_evaluation=(
                "Your answer drops numbers in evaluation and not in training. Do the opposite.",
                ("not training", "training"),
            ),
        ),
        *mistake(
            "Your answer multiplies by 1 - p in evaluation instead of dividing by it in training. The original "
            "dropout paper did that, and it works too. Here, as in torch, return x itself in evaluation.",
            rescaled_in_evaluation=_slip((_FACTOR, "1"), ("x.clone()", "x * (1 - p)")),
            alone=True,
        ),
        *mistake(
            "Your answer drops numbers in evaluation too; only its rescaling depends on `training`. If `training` is "
            "False, return x itself.",
            dropped_in_evaluation=_slip(("x.clone()", "x * kept")),
            alone=True,
        ),
    ),
    forbidden=(DROPOUT,),
)
