"""Lesson 12, since_2017.read_block: A softmax block by block."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import Kind, and_turned_around, edits_of, hints, kinds, mistake
from course_lib.exercises.worked_examples import B
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import since_2017

NOTHING_SEEN = "blocks in which nothing is visible"


def _block_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        scores = B.q @ B.k.T
        read = since_2017.read_block(
            torch.full((4,), -math.inf), torch.zeros(4), torch.zeros(4, 2), scores[:, :2], B.v[:2]
        )
        yield Case(f"{B.name}: the second block of two tokens", (*read, scores[:, 2:], B.v[2:]))
    for kind in kinds(generator):
        queries, keys = kind.sizes(2)
        yield _drawn(kind.name, kind, queries, keys)
    yield _drawn("the first block", Kind("", generator, (2,)), 3, 4, first=True)
    yield _drawn("scores too large for exp", Kind("", generator, (2,)), 4, 3, level=200.0)
    hide = torch.tensor([True, False, True, False]).unsqueeze(-1)
    for name, first in (
        ("some queries have not seen a key yet", True),
        ("some queries see nothing of this block", False),
    ):
        *state, scores, values = _drawn("", Kind("", generator, (2,)), 4, 3, first=first).args
        yield Case(name, (*state, scores.masked_fill(hide, -math.inf), values), part=NOTHING_SEEN)


def _drawn(name: str, kind: Kind, queries: int, keys: int, *, first: bool = False, level: float = 0.0) -> Case:
    """Draw what was read before from scores of its own, so that either may have the largest."""
    d_head = kind.d_head()
    scores, values = 2 * kind.normal(queries, keys) + level, kind.normal(keys, d_head)
    nothing = scores.new_full(scores.shape[:-1], -math.inf)
    state = (nothing, torch.zeros_like(nothing), torch.zeros_like(scores[..., :1]).expand(*nothing.shape, d_head))
    if not first:
        state = since_2017.read_block(*state, 2 * kind.normal(queries, 3) + level, kind.normal(3, d_head))
    return Case(name, (*(part.clone() for part in state), scores, values))


def _at_once(
    largest: Tensor, total: Tensor, out: Tensor, scores: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    new = torch.maximum(largest, scores.amax(dim=-1))
    finite = new.masked_fill(new == -math.inf, 0.0)
    shrink = (largest - finite).exp()
    powers = (scores - finite.unsqueeze(-1)).exp()
    total = shrink * total + powers.sum(dim=-1)
    out = shrink.unsqueeze(-1) * out + powers @ values
    return new, total, out


_slip = edits_of(_at_once)
_LARGEST, _SHRINK, _POWERS = "scores.amax(dim=-1)", "(largest - finite).exp()", "(scores - finite.unsqueeze(-1)).exp()"
_OLD_TOTAL, _OLD_OUT = "shrink * total", "shrink.unsqueeze(-1) * out"


def _by_key(
    largest: Tensor, total: Tensor, out: Tensor, scores: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """One key after the other, as the algorithm was published."""
    for key in range(scores.shape[-1]):
        score = scores[..., key]
        new = torch.where(score > largest, score, largest)
        shrink = torch.where(largest == -math.inf, 0.0, (largest - new).exp())
        power = torch.where(score == -math.inf, 0.0, (score - new).exp())
        total = total * shrink + power
        out = out * shrink[..., None] + power[..., None] * values[..., key, :].unsqueeze(-2)
        largest = new
    return largest, total, out


def _by_log_sums(
    largest: Tensor, total: Tensor, out: Tensor, scores: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    new = torch.cat([largest.unsqueeze(-1), scores], dim=-1).max(dim=-1).values
    base = torch.nan_to_num(new, neginf=0.0)
    together = torch.logaddexp(largest + total.log(), torch.logsumexp(scores, dim=-1))
    shrink = torch.exp(largest - base)
    return (
        new,
        (together - base).exp(),
        torch.einsum("...q,...qd->...qd", shrink, out) + (scores - base[..., None]).exp().matmul(values),
    )


EXERCISE = Exercise(
    id="since_2017.read_block",
    title="A softmax block by block",
    statement=(
        "read_block(largest [..., queries], total [..., queries], out [..., queries, d_head], scores [..., queries, "
        "keys], values [..., keys, d_head]) -> largest, total and out after this block: the largest score so far, Σ "
        "exp(score - largest), and Σ exp(score - largest) value."
    ),
    minutes=25,
    difficulty=5,
    importance=4,
    section="A softmax in one pass",
    source="Milakov and Gimelshein (2018), algorithm 3; Dao et al. (2022), algorithm 1",
    reference=since_2017.read_block,
    cases=and_turned_around(_block_cases),
    parts={CORE: 3, NOTHING_SEEN: 1},
    correct=(_at_once, _by_key, _by_log_sums),
    steps=("new_largest", "shrink", "powers"),
    hints=hints(
        idea=(
            "Both sums use the old largest score. When a larger one turns up, both sums are too large by the same "
            "factor: the exponential of a difference."
        ),
        shapes=(
            "The new largest score, the factor and the new total are `[..., queries]`. The exponentials of this block"
            " are `[..., queries, keys]`. Sum them over the keys for the total; multiply them by the values for "
            "`out`. To multiply `out`, the factor needs one more dimension.",
            ("divided_already",),
        ),
        outline=(
            "Find the new largest score, among the old one and this block's.\n"
            "Subtract the new largest score from this block's scores, or subtract 0 where it is still minus infinity.\n"
            "Compute the factor by which the old sums shrink.\n"
            "Compute the exponentials of this block.\n"
            "Shrink both old sums, then add this block's.",
            ("largest_of_the_block", "old_largest_subtracted", "nothing_minus_nothing"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer is NaN for queries that have seen no key yet, because it computes -∞ minus -∞. Subtract 0 "
            "there: then the exponentials are 0.",
            nothing_minus_nothing=_slip(("new.masked_fill(new == -math.inf, 0.0)", "new")),
            alone=True,
        ),
        *mistake(
            "Your answer does not rescale both old sums. Multiply `total` and `out` by exp(old largest - new largest) "
            "before you add.",
            not_shrunk=_slip((_OLD_TOTAL, "total"), (_OLD_OUT, "out")),
            total_not_shrunk=_slip((_OLD_TOTAL, "total")),
            out_not_shrunk=_slip((_OLD_OUT, "out")),
        ),
        *mistake(
            "Your factor is inverted, so the old sums grow. Use exp(old largest - new largest), which is at most 1.",
            grown=_slip((_SHRINK, "(finite - largest).exp()")),
            grown_where_something_was_seen=_slip((_SHRINK, "(finite - largest).exp().nan_to_num(posinf=0.0)")),
        ),
        *mistake(
            "Your answer doesn't subtract the new largest score before the exponential. Subtract it, so that all sums "
            "have the same scale and exp doesn't overflow.",
            own_largest_subtracted=_slip((_POWERS, "(scores - scores.amax(dim=-1, keepdim=True)).exp().nan_to_num()")),
            old_largest_subtracted=_slip(("finite.unsqueeze", "largest.unsqueeze"), paired=False),
            nothing_subtracted=_slip((_POWERS, "scores.exp()")),
        ),
        *mistake(
            "Your sums cover only this block. Add the sums of the earlier blocks.",
            old_sums_forgotten=_slip((_OLD_TOTAL, "0 * total"), (_OLD_OUT, "0 * out")),
        ),
        *mistake(
            "Your `largest` is not the largest score of each query so far. Take the larger of the old one and this "
            "block's, amax(dim=-1).",
            largest_of_the_block=_slip((f"torch.maximum(largest, {_LARGEST})", _LARGEST)),
            largest_of_all_queries=_slip((_LARGEST, "scores.amax()")),
        ),
        *mistake(
            "Your answer divides `out` by `total`. Divide only at the end, after the last block: here you would "
            "divide again for every block.",
            divided_already=_slip(("new, total, out", "new, total, out / total.unsqueeze(-1)")),
        ),
        *mistake(
            "Your answer takes the softmax of this block, so its weights sum to 1 whatever is in the other blocks. "
            "Add exponentials, and divide at the very end.",
            softmax_of_the_block=_slip((_POWERS, "scores.softmax(dim=-1)")),
        ),
    ),
)
