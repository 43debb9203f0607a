"""Lesson 12, since_2017.decayed_step: A step with decay."""

from collections.abc import Iterator, Sequence

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, and_turned_around, edits_of, hints, integer, kinds, mistake, slips
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import since_2017

VECTORS = "vectors"


def _step_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        weight, update = torch.tensor([[1.0, -2.0], [4.0, 0.0]]), torch.tensor([[1.0, 1.0], [-1.0, 0.5]])
        yield Case("worked example: one matrix", ([weight], [update], 0.1, 0.5))
    for kind in kinds(generator):
        rows, columns = kind.sizes(2)
        single = Kind(kind.name, generator, dtype=kind.dtype, transposed=kind.transposed)
        shapes = ((rows, columns), (columns, rows)) if len(kind.leading) < 2 else ((kind.leading[0], rows, columns),)
        yield _drawn(f"matrices, {kind.name}" if kind.name else "matrices", single, shapes)
    yield _drawn("a matrix, its bias and a norm's gains", Kind("", generator), ((3, 5), (3,), (5,)), VECTORS)
    yield _drawn("matrices of one row or one column", Kind("", generator), ((1, 4), (3, 1), (1, 1)))
    yield Case("no weights", ([], [], 0.1, 0.5))
    yield _drawn("vectors alone", Kind("", generator), ((6,), (2,)), VECTORS)


def _drawn(name: str, kind: Kind, shapes: Sequence[tuple[int, ...]], part: str = CORE) -> Case:
    weights, updates = ([kind.normal(*shape) for shape in shapes] for _ in range(2))
    rate, decay = (0.01 * integer(kind.generator, 5, 60) for _ in range(2))
    return Case(name, (weights, updates, rate, decay), part=part)


def _weight_by_weight(weights: Sequence[Tensor], updates: Sequence[Tensor], rate: float, decay: float) -> list[Tensor]:
    moved = []
    for weight, update in zip(weights, updates, strict=True):
        lost = rate * decay * weight if weight.dim() > 1 else 0.0
        moved.append(weight - rate * update - lost)
    return moved


_slip = edits_of(_weight_by_weight)
_SHARE, _WHAT, _DECAYS, _MOVED = "rate * decay", "* weight if", "weight.dim() > 1", "weight - rate * update"


def _by_shrinking(weights: Sequence[Tensor], updates: Sequence[Tensor], rate: float, decay: float) -> list[Tensor]:
    """As torch's AdamW does it: first all matrices shrink, then all weights move."""
    shrunk = [weight * (1 - rate * decay) if weight.ndim >= 2 else weight for weight in weights]
    return [torch.sub(weight, update, alpha=rate) for weight, update in zip(shrunk, updates, strict=True)]


EXERCISE = Exercise(
    id="since_2017.decayed_step",
    title="A step with decay",
    statement=(
        "decayed_step(weights, updates, rate, decay) -> list: weight - rate · (update + decay · weight) for each "
        "matrix, and weight - rate · update for each vector. Vectors don't decay."
    ),
    minutes=8,
    difficulty=2,
    importance=4,
    section="Weight decay",
    source="Loshchilov and Hutter (2019), algorithm 2",
    reference=since_2017.decayed_step,
    cases=and_turned_around(_step_cases),
    parts={CORE: 1, VECTORS: 1},
    correct=(
        _weight_by_weight,
        _by_shrinking,
        lambda weights, updates, rate, decay: [
            torch.lerp(weight, torch.zeros_like(weight), rate * decay * (weight.dim() > 1)) - rate * update
            for weight, update in zip(weights, updates, strict=True)
        ],
    ),
    hints=hints(
        idea=(
            "Every matrix first shrinks by a small fraction, `rate * decay`, then moves as usual. The number of "
            "dimensions tells a matrix from a vector."
        )
    ),
    misconceptions=(
        *slips(
            _weight_by_weight,
            vectors_in_place_of_matrices=(
                "Your answer decays vectors and not matrices. Decay the weights with two or more dimensions.",
                (_DECAYS, "weight.dim() == 1"),
            ),
            no_decay=(
                "Your answer has no decay. Also subtract rate · decay · weight from each matrix.",
                (_DECAYS, "False"),
            ),
            rate_left_out=(
                "Your decay ignores the learning rate, so weights shrink just as fast when they should hardly move. "
                "Use rate · decay.",
                (_SHARE, "decay"),
            ),
            growth=(
                "Your weights grow, because the decay has the wrong sign. Decay moves each weight toward 0.",
                (_SHARE, "-rate * decay"),
            ),
            update_decays=("Your answer decays the update. Decay the weight.", (_WHAT, "* update if")),
            uphill=("Your answer adds the update. Subtract rate · update.", (_MOVED, "weight + rate * update")),
            updates_left_out=(
                "Your answer decays the weights but ignores the updates. Subtract rate · update.",
                (_MOVED, "weight - 0 * update"),
            ),
        ),
        *mistake(
            "Your answer also decays biases and gains. Update vectors without decay: the gains of a norm belong near "
            "1, not near 0.",
            vectors_decay=_slip((_DECAYS, "True")),
            alone=True,
        ),
    ),
)
