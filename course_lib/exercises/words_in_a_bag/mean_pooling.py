"""Lesson 00, words_in_a_bag.mean_pooling: The mean of the words."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import bags
from course_lib.exercises.common import SMALLEST, Kind, and_turned_around, hints, integer, slips
from course_lib.exercises.words_in_a_bag.shared import ADDED_UP, COUNTED, DOG_CHASED_CAT, TABLE, padded, wrong_means
from course_lib.judging.exercise import CORE, Case, Exercise


def _pooling_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        ids = torch.tensor([[5, 0, 0, 0, 0], DOG_CHASED_CAT[0].tolist()])
        yield Case("worked example: meow, and a longer neighbor", (TABLE[ids], ids != 0), gradients=(0,))
    for name, dtype, transposed in (
        ("a batch of sentences", torch.float32, False),
        ("double precision", torch.float64, False),
        ("transposed in memory", torch.float32, True),
    ):
        batch, words = integer(generator, 3, 5), integer(generator, 5, 8)
        kind = Kind(name, generator, (batch,), dtype=dtype, transposed=transposed)
        x = kind.normal(words, kind.d_head())
        x[0, -1] = x[1, 0] = 0  # padding, and a word: nobody can tell them apart by their numbers
        yield Case(name, (x, padded(generator, batch, words)), gradients=(0,))
    yield Case(SMALLEST, (torch.randn(1, 1, 1, generator=generator), torch.ones(1, 1, dtype=torch.bool)))
    batch, words = 3, integer(generator, 5, 8)
    scattered = padded(generator, batch, words, spare=1)[:, torch.randperm(words + 1, generator=generator)]
    x = torch.randn(batch, words + 1, 4, generator=generator)
    yield Case("padding between the words", (x, scattered), gradients=(0,))
    some = padded(generator, batch, words)
    some[2] = False
    yield Case(
        "a sentence without words",
        (torch.randn(batch, words, 4, generator=generator), some),
        gradients=(0,),
        part="sentences without words",
    )


_slips = partial(slips, bags.mean_pooling)
_QUOTIENT = "total / count.clamp(min=1)"
_NAN = (
    "Your answer is NaN for a sentence without words: 0 / 0 is NaN, and so is the mean of nothing. Divide by 1 for "
    "such a sentence, for example with clamp(min=1), to get zeros."
)


def _mean_by_loop(x: Tensor, mask: Tensor) -> Tensor:
    means = [
        sentence[allowed].mean(dim=0) if allowed.any() else torch.zeros_like(sentence[0])
        for sentence, allowed in zip(x, mask, strict=True)
    ]
    return torch.stack(means)


def _mean_by_nan(x: Tensor, mask: Tensor) -> Tensor:
    return torch.nan_to_num(x.masked_fill(~mask.unsqueeze(-1), torch.nan).nanmean(dim=1))


EXERCISE = Exercise(
    id="words_in_a_bag.mean_pooling",
    title="The mean of the words",
    statement=(
        "mean_pooling(x [batch, words, d_model], mask bool [batch, words]) -> [batch, d_model]: the mean of each "
        "sentence's words, where the mask is True; zeros for a sentence without words."
    ),
    minutes=15,
    difficulty=3,
    importance=5,
    section="A sentence is the mean of its words",
    source="S3, a simple model: mean pooling",
    reference=bags.mean_pooling,
    cases=and_turned_around(_pooling_cases),
    parts={CORE: 3, "sentences without words": 1},
    correct=(
        _mean_by_loop,
        _mean_by_nan,
        lambda x, mask: (x.mT @ mask.to(x.dtype).unsqueeze(-1)).squeeze(-1) / mask.sum(-1, keepdim=True).clamp(min=1),
    ),
    steps=("total", "count"),
    hints=hints(
        idea=(
            "Multiply the padding by 0, and sum over the words. Then divide by the number of words, which you get "
            "from the mask. Remember that a sentence may have no words."
        ),
        shapes=(
            "`mask` has shape `[batch, words]`; give it a third dimension of size 1 to match `x`. The sum over the "
            "words has shape `[batch, d_model]`. To divide it row by row, make the counts `[batch, 1]`: keep the "
            "dimension when you count.",
            ("number_without_keepdim", "over_the_batch", "one_mean_for_the_batch", "dimension_kept"),
        ),
        outline=(
            "Give the mask a last dimension with `unsqueeze` and multiply `x` by it, so that padding becomes zeros.\n"
            "Sum over the words, dimension 1.\n"
            "Count the True entries of each sentence, keeping the dimension.\n"
            "Raise each count to at least 1 with `clamp`, so that an empty sentence gives 0 / 1, not 0 / 0.\n"
            "Divide.",
            (
                "nan_without_words",
                "nan_of_the_words_alone",
                "nan_in_the_gradient",
                "padding_added_up",
                "one_more",
                "padding_where_no_words",
            ),
        ),
    ),
    misconceptions=(
        *wrong_means(bags.mean_pooling),
        *_slips(
            nan_without_words=(_NAN, (".clamp(min=1)", "")),
            padding_counted=(
                "Your answer averages over all positions, padding included, so a sentence's vector depends on the "
                "length of its neighbors in the batch. Sum the words where the mask is True, and divide by the number "
                "of those words.",
                COUNTED,
                ADDED_UP,
            ),
            words_of_the_longest=(
                "Your answer divides by the number of words in the longest sentence. Divide each sum by the number of "
                "words in its own sentence.",
                ("words.sum(dim=1)", "words.sum(dim=1).max()"),
            ),
            inverted=(
                "Your answer swaps padding and words. The mask is True for words: use it without ~.",
                ("words = mask", "words = (~mask)"),
            ),
            words_by_their_numbers=(
                "Your answer mistakes zeros for padding. Padding isn't always 0, and the numbers of a word may all be "
                "0: use the mask.",
                ("mask.unsqueeze(-1)", "(x != 0).any(dim=-1, keepdim=True)"),
            ),
            words_of_zeros_left_out=(
                "Your answer doesn't count a word whose numbers are all 0. Count the True entries of the mask instead.",
                ("words.sum(dim=1)", "(words * (x != 0).any(dim=-1, keepdim=True)).sum(dim=1)"),
            ),
            words_of_zeros_masked=(
                "Your answer treats a word whose numbers are all 0 as padding, so no gradient reaches it. Use only "
                "the mask.",
                ("words = mask", "words = (mask & (x != 0).any(dim=-1))"),
            ),
            over_the_batch=(
                "Your answer averages over the batch (dim=0), which mixes sentences. Average over the words, dim=1.",
                ("(x * words).sum(dim=1), words.sum(dim=1)", "(x * words).sum(dim=0), words.sum(dim=0)"),
            ),
            one_mean_for_the_batch=(
                "Your answer is a single mean for the whole batch. Return one mean per sentence, [batch, d_model].",
                (_QUOTIENT, "x[mask].mean(dim=0)"),
            ),
            maximum=(
                "Your answer takes the largest value in each component. Take the mean of the words.",
                (_QUOTIENT, "torch.where(words > 0, x, torch.finfo(x.dtype).min).amax(dim=1)"),
            ),
            dimension_kept=(
                "Your answer has shape [batch, 1, d_model]. Sum over the words without keepdim, or use squeeze(1).",
                (_QUOTIENT, "(total / count.clamp(min=1)).unsqueeze(1)"),
            ),
            detached=(
                "No gradient reaches `x`. Look for .data, .detach(), numpy, no_grad or torch.tensor(...).",
                ("x * words", "x.detach() * words"),
            ),
            nan_of_the_words_alone=(_NAN, (".clamp(min=1)", ""), ("(x * words)", "x.masked_fill(words == 0, 0)")),
            one_more=(
                "Your answer divides by the number of words plus one. Use clamp(min=1), which changes a count only if "
                "it is 0.",
                ("clamp(min=1)", "clamp(min=1).add(1)"),
            ),
        ),
        *_slips(
            alone=True,
            nan_in_the_gradient=(
                "Your values are right, but the gradient of a sentence without words is NaN: replacing the result of "
                "0 / 0 does not repair its gradient. Divide by 1 for such a sentence: clamp(min=1).",
                (_QUOTIENT, "torch.nan_to_num(total / count)"),
            ),
            padding_where_no_words=(
                "Your answer averages the padding of a sentence without words. Return zeros for such a sentence.",
                (_QUOTIENT, "torch.where(count > 0, total / count.clamp(min=1), x.mean(dim=1))"),
            ),
        ),
    ),
)
