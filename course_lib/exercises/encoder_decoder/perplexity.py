"""Lesson 05, encoder_decoder.perplexity: Perplexity."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import SMALLEST, Kind, integer
from course_lib.exercises.encoder_decoder.shared import LESSON, WITHHELD, layouts, log_p_of, meowed_table
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.masking import padding_mask
from course_lib.references import encoder_decoder


def _perplexity_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        p, targets = meowed_table()
        nll = -log_p_of(p.log(), targets)
        beside = torch.tensor([0.5, 1.0, 1.5, *[7.0] * 5])  # a sentence of three tokens and five of padding
        mask = padding_mask(torch.tensor([8, 3]), 8)
        yield Case("worked example: The gray fluffy cat ... alone", (nll[None], mask[:1]))
        yield Case("next to a sentence of three tokens", (torch.stack([nll, beside]), mask))
    double = Kind("double precision", generator, dtype=torch.float64)
    batch, tokens = integer(generator, 3, 6), integer(generator, 6, 9)
    for kind in (*layouts(generator), double):
        lengths = torch.randint(1, tokens - 1, (batch,), generator=generator)
        lengths[1] = tokens
        yield Case(kind.name, (0.1 + kind.normal(batch, tokens).abs(), padding_mask(lengths, tokens)), gradients=(0,))
    yield Case(SMALLEST, (torch.ones(1, 1), torch.ones(1, 1, dtype=torch.bool)))
    nll = 0.1 + 2 * torch.rand(2, 5, generator=generator)
    yield Case("padding in front of the tokens", (nll, padding_mask(torch.tensor([5, 2]), 5).flip(1)))
    nll = 0.1 + 2 * torch.rand(3, 6, generator=generator)
    nll[:, 1] = 0
    yield Case("tokens that the model was certain of", (nll, padding_mask(torch.tensor([3, 6, 4]), 6)))
    nll = 4 + 2 * torch.rand(2, 160, generator=generator)
    yield Case("a hundred tokens and more", (nll, padding_mask(torch.tensor([160, 125]), 160)), part=LONG)


LONG = "a long text"
"""So long that the product of its probabilities is 0 in double precision."""


def _sentence_means(nll: Tensor, mask: Tensor) -> Tensor:
    return (nll * mask).sum(dim=1) / mask.sum(dim=1)


def _perplexity(nll: Tensor, mask: Tensor) -> Tensor:
    mean = nll[mask].mean()
    return mean.exp()


_slip = partial(Edited, _perplexity)
_MEAN, _EXP = "nll[mask].mean()", "mean.exp()"


def _perplexity_by_sentences(nll: Tensor, mask: Tensor) -> Tensor:
    """Sentence by sentence, each with the weight of its number of tokens."""
    tokens = mask.sum(dim=1)
    means = torch.stack([row[real].mean() for row, real in zip(nll, mask, strict=True)])
    return torch.exp((means * tokens).sum() / tokens.sum())


CORRECT = (_perplexity, _perplexity_by_sentences, lambda nll, mask: torch.where(mask, nll, torch.nan).nanmean().exp())


EXERCISE = Exercise(
    id="encoder_decoder.perplexity",
    lesson=LESSON,
    name="perplexity",
    title="Perplexity",
    statement=(
        "perplexity(nll [batch, tokens], mask bool [batch, tokens]) -> scalar: exp of the mean negative log-likelihood "
        "over the tokens where the mask is True, of which there is at least one. All of nll is finite."
    ),
    points=2,
    parts={CORE: 1, LONG: 1},
    minutes=8,
    difficulty=2,
    importance=5,
    section="Perplexity",
    source="S1, evaluating generation",
    reference=encoder_decoder.perplexity,
    cases=_perplexity_cases,
    correct=CORRECT,
    steps=("mean",),
    hints=(
        Hint(
            "idea",
            "A tensor can be indexed with a boolean one of the same shape: what remains are the entries where it is "
            "True. The perplexity is e to the power of their mean.",
        ),
    ),
    misconceptions=(
        Misconception(
            "padding_counted",
            "Your answer counts padding as tokens. Use only the numbers where the mask is True.",
            _slip((_MEAN, "nll.mean()")),
        ),
        Misconception(
            "divided_by_all_places",
            "Your answer sets padding to 0 but still divides by the number of all positions, so that padding looks "
            "like tokens the model was certain of. Divide by the number of tokens, mask.sum().",
            _slip((_MEAN, "(nll * mask).mean()")),
        ),
        Misconception(
            "divided_by_sentences",
            "Your answer divides by the number of sentences. Divide by the number of tokens, mask.sum().",
            _slip((_MEAN, "(nll * mask).sum() / len(nll)")),
        ),
        Misconception(
            "one_word_more",
            "Your answer divides by one more than the number of tokens. Divide by mask.sum() itself: there is always a "
            "token.",
            _slip((_MEAN, "(nll * mask).sum() / (mask.sum() + 1)")),
        ),
        Misconception(
            "certain_words_left_out",
            "Your answer leaves out tokens whose negative log-likelihood is 0. They are tokens that the model was "
            "certain of, and they count: only the mask says which positions do.",
            _slip((_MEAN, "nll[mask & (nll != 0)].mean()")),
        ),
        Misconception(
            "mask_ignored_and_zeros_left_out",
            "Your answer takes all numbers that are not 0, whatever the mask says. Padding may have any number, and a "
            "token may have 0: use the positions where the mask is True.",
            _slip((_MEAN, "nll[nll != 0].mean()"), paired=False),
        ),
        Misconception(
            "mean_of_sentences",
            "Your answer averages within each sentence first and then over sentences, so a token of a short sentence "
            "counts more. Here each token counts the same: one mean over all of them.",
            _slip((_MEAN, "_sentence_means(nll, mask).mean()")),
        ),
        Misconception(
            "mean_of_perplexities",
            "Your answer is the mean of the sentences' perplexities. Take one mean over all tokens, and exp at the "
            "end.",
            _slip((_MEAN, "_sentence_means(nll, mask)"), (_EXP, "mean.exp().mean()")),
        ),
        Misconception(
            "one_for_each_sentence",
            "Your answer has a number for each sentence. Return one number, over all tokens of the batch.",
            _slip((_MEAN, "_sentence_means(nll, mask)")),
        ),
        Misconception(
            "exp_before_the_mean",
            "Your answer takes exp of each token and then averages; one unlikely token would drown out all the others. "
            "Take the mean first, then exp.",
            _slip(("    mean", "    nll = nll.exp()\n    mean"), (_EXP, "mean")),
        ),
        Misconception(
            "padding_of_perplexity_1",
            "Your answer averages exp(nll) over all positions, with padding as 0, whose exp is 1. Take the mean of "
            "`nll` where the mask is True, and exp of it at the end.",
            _slip((_MEAN, "(nll * mask).exp().mean()"), (_EXP, "mean"), paired=False),
        ),
        Misconception(
            "no_exp",
            "Your answer ends with the mean negative log-likelihood. One step is missing: its exp.",
            _slip((_EXP, "mean")),
        ),
        Misconception(
            "power_of_two",
            "Your answer raises 2 to the mean, as is right for bits. These are nats: use exp.",
            _slip((_EXP, "2**mean")),
        ),
        Misconception(
            "logarithm",
            "Your answer takes the logarithm of the mean. `nll` already holds logarithms: take exp.",
            _slip((_EXP, "mean.log()")),
        ),
        Misconception(
            "negated",
            "Your answer takes exp of minus the mean, which is the typical probability of a token. `nll` already has "
            "its minus: leave it out.",
            _slip((_EXP, "(-mean).exp()")),
        ),
        Misconception(
            "summed",
            "Your answer adds up the tokens, so that the result grows with every one. Take the mean.",
            _slip((_MEAN, "nll[mask].sum()")),
        ),
        Misconception(
            "only_the_padding",
            "Your answer averages over the padding and leaves out the tokens. True marks the tokens: use the mask as "
            "it is.",
            _slip((_MEAN, "nll[~mask].mean()")),
        ),
        Misconception(
            "product",
            "Your answer multiplies the tokens' probabilities (or 1 / p) and takes a root. The product of a long text "
            "is 0 or infinity to a computer: take the mean of `nll`, and exp of that.",
            lambda nll, mask: nll[mask].exp().prod() ** (1 / int(mask.sum())),
        ),
    ),
    withheld=WITHHELD,
)
