"""Helpers that several exercises of lesson 02 use."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.exercises.common import LITTLE_LEFT, Kind, kinds, mistake, sizes, slips
from course_lib.exercises.worked_examples import B
from course_lib.judging.edits import Edit, Edited
from course_lib.judging.exercise import Case, Misconception

Device = torch.device | str | None

BROADCAST, LARGE, NOTHING = "one mask for a batch", "large scores", "fully masked rows"
"""Parts of their own: what an answer that is right everywhere else may fail."""


def scores_and_masks(generator: Generator, hidden: bool) -> Iterator[Case]:
    """Scaled scores with their mask: the worked example's, and random ones, with as many queries as keys or not."""
    if not hidden:
        yield Case(B.name, (B.steps.scaled, B.mask))
    for number, kind in enumerate(kinds(generator)):
        shape = kind.sizes(1) * 2 if number % 2 else kind.sizes(2)
        name = f"{kind.name}, {'as many' if shape[0] == shape[1] else 'not as many'} queries as keys"
        yield Case(name, (kind.normal(*shape), kind.mask(*shape)))


def shared_masks(generator: Generator) -> Iterator[Case]:
    """Masks that broadcast: one for all sentences, and one row for all queries of a sentence."""
    batch, queries, keys = sizes(generator, 3)
    kind = Kind(BROADCAST, generator, (batch,))
    yield Case(kind.name, (kind.normal(queries, keys), Kind("", generator).mask(queries, keys)), part=BROADCAST)
    batch, queries, keys = sizes(generator, 3)
    kind = Kind("one row of the mask for all queries", generator, (batch, 2), torch.float64)
    row = random_padding(generator, batch, keys)[:, None, None]
    yield Case(kind.name, (kind.normal(queries, keys), row), part=BROADCAST)


WRONG_WAY_ROUND = (
    "Your answer masks where attention is allowed. In our masks, True means `may attend`: fill where the mask is "
    "False, ~mask."
)

KEYS_AS_ROWS = (
    "Your answer transposes the mask. Its rows are already queries, like those of the scores: use it without a "
    "transpose."
)

FORBIDDEN_FAR_ABOVE = (
    "If a forbidden score is far above the allowed ones, your answer leaves the allowed keys with no weight: their "
    "exponentials underflow to 0. Fill forbidden scores with -inf (or the lowest number) before the softmax."
)

BARE_EXP = (
    "Your answer takes exp of the raw scores, which overflows for large scores and underflows for very low ones. "
    "Subtract each row's largest allowed score first, or fill with -inf and use torch.softmax."
)


def random_padding(generator: Generator, batch: int, length: int) -> Tensor:
    """A padding mask whose first row has some padding, and whose second has none."""
    lengths = torch.randint(1, length, (batch,), generator=generator)
    lengths[1] = length
    return masking.padding_mask(lengths, length)


MASKED, SOFTMAX = "scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min)", "torch.softmax(masked, dim=-1)"
"""Two steps of the right answers that mistakes are edits of, each on a line of its own."""
INVERTED = (MASKED, "scaled.masked_fill(mask, -torch.inf)")


def masked_too_late(
    right: Callable[..., Any], what: str, ignored: str = "mask_ignored", unmasked: Edit | None = None
) -> tuple[Misconception, ...]:
    """Scores of 0 or as they are for what must not be attended to, with its weights kept or set to 0.

    Where the right answer masks the weights too, `unmasked` takes that away.
    """
    kept, zeroed = ([unmasked], []) if unmasked else ([], [(SOFTMAX, f"{SOFTMAX} * mask")])
    times, unchanged = (MASKED, "scaled * mask"), (MASKED, "scaled")
    return (
        Misconception(
            ignored,
            f"Your answer gives weight to {what}, as if nothing were masked. If you do fill the scores, use the "
            "result: masked_fill, without an underscore, returns a new tensor and doesn't change the old one.",
            Edited(right, unchanged, *kept),
        ),
        *slips(
            right,
            scores_times_mask=(
                f"Your answer sets forbidden scores to 0, as multiplying by the mask does. But exp(0) is 1, so {what} "
                "still get weight. Fill forbidden scores with -inf before the softmax.",
                *(times, *kept),
            ),
            scores_times_mask_then_zeroed=(
                f"Your answer sets forbidden scores to 0. But exp(0) is 1, so {what} take some of the weight, which "
                "is then lost. Fill forbidden scores with -inf before the softmax.",
                *(times, *zeroed),
            ),
            masked_after_softmax=(
                f"Your answer masks after the softmax, when {what} have already taken some of the weight. So the "
                "weights don't sum to 1. Mask the scores before the softmax.",
                *(unchanged, *zeroed),
            ),
        ),
    )


def wrong_masks(right: Callable[..., Any], *edits: Edit) -> tuple[Misconception, ...]:
    """The mask the wrong way round, with a bare exp, or times -inf."""
    powers = "masked.exp() * mask"
    divided = (SOFTMAX, f"{powers} / ({powers}).sum(dim=-1, keepdim=True)")
    large = (MASKED, "scaled.masked_fill(mask, -1e9)")
    return (
        *mistake(WRONG_WAY_ROUND, inverted=Edited(right, INVERTED, *edits)),
        *mistake(WRONG_WAY_ROUND, inverted_with_a_large_number=Edited(right, large, *edits)),
        *mistake(BARE_EXP, exp_overflows=Edited(right, (MASKED, "scaled"), divided, *edits, paired=False)),
        *mistake(
            "Your answer is NaN everywhere. Do you multiply a mask by -inf? 0 times infinity is NaN, even at allowed "
            "keys. Fill instead: scaled.masked_fill(~mask, -math.inf).",
            zero_times_infinity=Edited(right, (MASKED, "scaled + ~mask * -torch.inf"), *edits, paired=False),
        ),
    )


def small_fills(right: Callable[..., Any], suffix: str = "", *edits: Edit) -> tuple[Misconception, ...]:
    """Forbidden scores of -10 or -20, which leave a little weight."""
    return tuple(
        Misconception(f"filled_with_{name}{suffix}", LITTLE_LEFT, Edited(right, filled, *edits, paired=False))
        for name, value in (("ten", -10.0), ("twenty", -20.0))
        for filled in [(MASKED, f"scaled.masked_fill(~mask, {value})")]
    )


def wrong_dimensions(right: Callable[..., Any]) -> tuple[Misconception, ...]:
    """The softmax over the queries, or over dim=1."""
    return slips(
        right,
        softmax_over_queries=(
            "Your answer takes the softmax over the queries (dim=-2). Take it over the keys, dim=-1, so that each row "
            "sums to 1.",
            (SOFTMAX, "torch.softmax(masked, dim=-2)"),
        ),
        softmax_over_the_second_dimension=(
            "Your answer takes the softmax over dim=1, which is the keys only for a single sequence. Use the last "
            "dimension, dim=-1.",
            (SOFTMAX, "torch.softmax(masked, dim=1)"),
        ),
    )


def wrong_attention(right: Callable[..., Any], what: str, ignored: str = "mask_ignored") -> tuple[Misconception, ...]:
    """What can go wrong with the mask and the divisor where `x` is compared, with itself or with a query."""
    repaired = Edited(right, INVERTED, (SOFTMAX, f"{SOFTMAX}.nan_to_num()"), paired=False)
    return (
        *masked_too_late(right, what, ignored),
        *wrong_masks(right),
        *small_fills(right),
        *mistake(WRONG_WAY_ROUND, inverted_and_repaired=repaired),
        *slips(
            right,
            divided_by_d_model=(
                "Your answer divides the scores by d_model, or twice by √d_model. Divide by √d_model, once.",
                ("math.sqrt(x.shape[-1])", "x.shape[-1]"),
            ),
            root_of_number_of_words=(
                "Your answer divides the scores by the square root of the number of tokens. Divide by √d_model, the "
                "square root of x.shape[-1].",
                ("x.shape[-1]", "x.shape[-2]"),
            ),
        ),
    )


def wrong_dtypes(right: Callable[..., Any]) -> tuple[Misconception, ...]:
    """A mask of numbers, in an answer that ends in `return mask`."""
    return tuple(
        Misconception(
            name,
            f"Your mask contains the {numbers}. Make it boolean: with dtype=torch.bool, a comparison, &, or .bool() at "
            "the end.",
            Edited(right, ("return mask", f"return mask.{cast}()")),
        )
        for name, numbers, cast in (
            ("zeros_and_ones", "numbers 0.0 and 1.0", "float"),
            ("integers", "integers 0 and 1", "long"),
        )
    )
