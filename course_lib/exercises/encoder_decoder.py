"""The exercises of lesson 05: the encoder-decoder, what it minimises, and the steps by which it learns.

Built like those of `course_lib/exercises/attention.py`; read that file first.

No exercise needs another's answer: the decoder block is made of layers from lower floors, and how encoder and decoder
are joined is checked with blocks that the case passes in (`Callback`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib import blocks
from course_lib.blocks import AddAndNorm, BlockConfig, FeedForward
from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception, Pair, Value
from course_lib.exercises.common import ALMOST_EVERYTHING, Kind, integer, kinds, sizes
from course_lib.exercises.correct import encoder_decoder as correct
from course_lib.exercises.worked_examples import A, B
from course_lib.from_scratch import encoder_decoder
from course_lib.from_scratch.encoder_decoder import BETAS, EPSILON
from course_lib.masking import causal_mask, padding_mask
from course_lib.multihead import MultiHeadAttention
from course_lib.objectives import losses
from course_lib.text.tokenization import END_ID, PADDING_ID, START_ID, UNKNOWN_ID

LESSON = "05_encoder_decoder"
WITHHELD = (
    "course_lib.blocks",
    "course_lib.models",
    "course_lib.objectives.losses",
    "course_lib.training.schedules",
    "course_lib.training.loop",
    "course_lib.from_scratch.encoder_decoder",
)

GERMAN = torch.tensor([[START_ID, 4, 5, 6, END_ID]])
"""`<s>` die Katze tanzte `<e>`, as ids."""


def _single_kinds(generator: Generator) -> Iterator[Kind]:
    """Every kind but double precision, where a target or a setting that was rounded once would show."""
    return (kind for kind in kinds(generator) if kind.dtype == torch.float32)


def _layouts(generator: Generator) -> Iterator[Kind]:
    """Single precision without leading dimensions."""
    yield Kind("a few words", generator)
    yield Kind("other words", generator)
    yield Kind("transposed in memory", generator, transposed=True)


# encoder_decoder.shift_right ---------------------------------------------------------------------------------


def _shift_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: <s> die Katze tanzte <e>", (GERMAN,))
    for name, longest in (("a batch with padding", 0), ("a batch whose last sentence is the longest", -1)):
        batch, words = integer(generator, 3, 6), integer(generator, 6, 9)
        yield Case(name, (_targets(generator, batch, words, longest),))
    yield Case("transposed in memory", (_targets(generator, 3, 7).T.contiguous().T,))
    yield Case("one word each", (_targets(generator, 4, 3),))


def _targets(generator: Generator, batch: int, words: int, longest: int = 0) -> Tensor:
    """Sentences from <s> to <e>, one of them as long as possible, with padding after the others."""
    drawn = torch.randint(4, 30, (batch, words), generator=generator)
    drawn[:, 0] = START_ID
    ends = torch.randint(2, max(3, words - 1), (batch,), generator=generator)
    ends[longest] = words - 1
    drawn[torch.arange(batch), ends] = END_ID
    return drawn.masked_fill(~padding_mask(ends + 1, words), PADDING_ID)


_ALL_BUT_FIRST, _ALL_BUT_LAST = (1, None), (None, -1)


def _shifted(
    target: Tensor,
    *,
    cut: tuple[tuple[int | None, int | None], ...] = (_ALL_BUT_LAST, _ALL_BUT_FIRST),
    dim: int = 1,
    swapped: bool = False,
    started: bool = False,
    read_end: int = END_ID,
    expected_end: int = END_ID,
    padding: int = PADDING_ID,
) -> tuple[Tensor, Tensor]:
    """Both rows, with changes: other pieces of the target, or other ids for <e> and for padding."""
    read = target.masked_fill(target == END_ID, read_end)
    expected = target.masked_fill(target == END_ID, expected_end).masked_fill(target == PADDING_ID, padding)
    if started:
        read, cut = torch.cat([torch.full_like(target[:, :1], START_ID), read[:, :-1]], dim=1), ((None, None),) * 2
    pieces = [row[(slice(None),) * dim + (slice(*ends),)] for row, ends in zip((read, expected), cut, strict=True)]
    return (pieces[1], pieces[0]) if swapped else (pieces[0], pieces[1])


SHIFT_RIGHT = Exercise(
    id="encoder_decoder.shift_right",
    lesson=LESSON,
    name="shift_right",
    title="Shifted right",
    statement=(
        "shift_right(target int64 [batch, words]) -> (read [batch, words - 1], expected [batch, words - 1]): what the "
        "decoder reads at each place, and the word that it should answer there."
    ),
    points=1,
    minutes=5,
    section="Shifted right",
    source="S2, masked training; S4, outputs shifted right",
    reference=losses.shift_right,
    cases=_shift_cases,
    correct=correct.SHIFT_RIGHT,
    misconceptions=(
        Misconception(
            "swapped",
            "Your answer returns the two in the other order. What the decoder reads comes first (everything but the "
            "last word), then what it should answer.",
            partial(_shifted, swapped=True),
        ),
        Misconception(
            "not_shifted",
            "Your answer lets the decoder read the whole target and expects the same at each place: it would only have "
            "to repeat the word that it has just read. Leave out the last word of one and the first of the other.",
            partial(_shifted, cut=((None, None), (None, None))),
        ),
        Misconception(
            "reads_what_it_answers",
            "Your answer lets the decoder read, at each place, the very word that it should answer: both leave out the "
            "first word. What it reads begins with <s> and leaves out the last word.",
            partial(_shifted, cut=(_ALL_BUT_FIRST, _ALL_BUT_FIRST)),
        ),
        Misconception(
            "answers_what_it_reads",
            "Your answer expects, at each place, the word that was just read: both leave out the last word. What is "
            "expected begins after <s>.",
            partial(_shifted, cut=(_ALL_BUT_LAST, _ALL_BUT_LAST)),
        ),
        Misconception(
            "one_word_too_many_read",
            "The decoder reads the whole target, one word more than it should. After the last word nothing is to be "
            "predicted: leave it out of what is read.",
            partial(_shifted, cut=((None, None), _ALL_BUT_FIRST)),
        ),
        Misconception(
            "one_word_too_many_expected",
            "You expect the whole target, one word more than you should. Nobody predicts <s>: leave it out of what is "
            "expected.",
            partial(_shifted, cut=(_ALL_BUT_LAST, (None, None))),
        ),
        Misconception(
            "rolled",
            "Your answer rolls the words round, so that <s> comes back at the end as an answer. Cut off one word at "
            "one end instead: both results are one word shorter than the target.",
            lambda target: (target, target.roll(-1, dims=1)),
        ),
        Misconception(
            "rolled_to_the_right",
            "Your answer rolls the words to the right, so that what is read begins with the target's last word. The "
            "target begins with <s> already: read it as it is, without its last word, and expect it without <s>.",
            lambda target: (target.roll(1, dims=1), target),
        ),
        Misconception(
            "rolled_and_cut",
            "Your answer expects the word before, not the next one: it rolls the words the wrong way. Expected are the "
            "words from the second on: target[:, 1:].",
            lambda target: (target[:, :-1], target.roll(1, dims=1)[:, :-1]),
        ),
        Misconception(
            "two_apart",
            "Your answer skips a word: at each place it expects the one after the next. Leave out one word of each, "
            "not two.",
            partial(_shifted, cut=((None, -2), (2, None))),
        ),
        Misconception(
            "started_twice",
            "Your answer puts another <s> in front and expects the target with its own <s> still in it. The target "
            "has its <s> already.",
            partial(_shifted, started=True),
        ),
        Misconception(
            "ends_stripped",
            "Your answer takes away both <s> and the last word, from both. What is read keeps <s>, and what is "
            "expected keeps the end.",
            partial(_shifted, cut=((1, -1), (1, -1))),
        ),
        Misconception(
            "end_taken_away",
            "Your answer takes <e> out of what is read in the shorter sentences as well. Leave it there: what is "
            "expected after it is padding, which the loss passes over.",
            partial(_shifted, read_end=PADDING_ID),
        ),
        Misconception(
            "end_not_expected",
            "Your answer puts padding where <e> is expected, so that a model would never learn to stop. Leave <e> in "
            "what is expected.",
            partial(_shifted, expected_end=PADDING_ID),
        ),
        Misconception(
            "padding_replaced",
            "Your answer puts -100, the id that torch ignores by default, where padding is expected. Leave the "
            "padding's own id there: both results are pieces of the target as it is.",
            partial(_shifted, padding=-100),
        ),
        Misconception(
            "cut_to_the_first_sentence",
            "Your answer cuts all sentences to the length of the first one. Others may be longer: leave out one column "
            "of each result, and no more.",
            lambda target: _shifted(target[:, : int((target[0] != PADDING_ID).sum())]),
        ),
        Misconception(
            "along_the_batch",
            "Your answer leaves out a sentence, not a word: it cuts along the batch. Words are the second dimension, "
            "as in target[:, :-1].",
            partial(_shifted, dim=0),
        ),
    ),
    withheld=WITHHELD,
)


# encoder_decoder.negative_log_likelihood ---------------------------------------------------------------------


MEOWED = {
    "The": {"The": 0.2, "gray": 0.01, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
    "gray": {"black": 0.2, "gray": 0.12, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
    "fluffy": {"fluffy": 0.2, "gray": 0.01, "blue": 0.001, "bald": 0.0005, "wet": 0.0005},
    "cat": {"dog": 0.2, "cat": 0.19, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
    "meowed": {"meowed": 0.3, "purred": 0.2, "hissed": 0.1, "fluffy": 0.001, "wet": 0.001},
    "very": {"very": 0.2, "lots": 0.1, "softly": 0.1, "fluffy": 0.0005, "wet": 0.0005},
    "loudly": {"loudly": 0.2, "softly": 0.001, "quiet": 0.001, "fluffy": 0.001, "wet": 0.0005},
    "EOS": {"EOS": 0.3, "and": 0.1, "blue": 0.001, "fluffy": 0.0005, "wet": 0.0005},
}
"""S1's table: at each place of *The gray fluffy cat meowed very loudly EOS* the words that it lists."""


def meowed_table() -> tuple[Tensor, Tensor]:
    """The slide's table as probabilities, with the ids of the right words; its last column is all other words."""
    words = sorted({word for listed in MEOWED.values() for word in listed})
    p = torch.zeros(len(MEOWED), len(words) + 1)
    for row, listed in zip(p, MEOWED.values(), strict=True):
        for word, probability in listed.items():
            row[words.index(word)] = probability
    p = p.clamp_min(1e-4)
    p[:, -1] = 1 - p[:, :-1].sum(dim=1)
    return p, torch.tensor([words.index(word) for word in MEOWED])


def _likelihood_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        p, expected = meowed_table()
        yield Case("worked example: The gray fluffy cat meowed very loudly EOS", (p.log(), expected))
    for kind in kinds(generator):
        words, vocabulary = integer(generator, 3, 8), integer(generator, 10, 15)
        log_p = kind.normal(words, vocabulary).log_softmax(-1)
        expected = torch.randint(vocabulary, log_p.shape[:-1], generator=generator)
        yield Case(kind.name, (log_p, expected))
    logits = torch.randn(9, 5, generator=generator) + torch.tensor([150.0, 0, 0, 0, 0])
    expected = torch.randint(1, 5, (9,), generator=generator)
    yield Case("words of next to no probability", (logits.log_softmax(-1), expected), part=UNLIKELY)


UNLIKELY = "very unlikely words"
"""So unlikely that their probabilities are 0 in single precision, and their product is in double precision."""


def _picked(log_p: Tensor, expected: Tensor) -> Tensor:
    """ln p of the right words, [..., words]."""
    return log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1)


def _last_as_the_one_before(log_p: Tensor, expected: Tensor) -> Tensor:
    picked = _picked(log_p, expected)
    return torch.cat([picked[..., :-1], picked[..., -2:-1]], dim=-1)


def _likelihood(
    log_p: Tensor,
    expected: Tensor,
    *,
    pick: Callable[[Tensor, Tensor], Tensor] = _picked,
    measure: Callable[[Tensor], Tensor] = lambda picked: picked,
    reduce: Callable[[Tensor], Tensor] = torch.mean,
    sign: float = -1.0,
    unit: float = 1.0,
    end: Callable[[Tensor], Tensor] = lambda loss: loss,
) -> Tensor:
    """The reference with changes."""
    return end(sign * reduce(measure(pick(log_p, expected))) / unit)


NEGATIVE_LOG_LIKELIHOOD = Exercise(
    id="encoder_decoder.negative_log_likelihood",
    lesson=LESSON,
    name="negative_log_likelihood",
    title="Negative log-likelihood",
    statement=(
        "negative_log_likelihood(log_p [..., vocabulary], expected int64 [...]) -> scalar: the mean over all words of "
        "-ln p(right word), in nats."
    ),
    points=2,
    parts={CORE: 1, UNLIKELY: 1},
    minutes=10,
    section="One word at a time",
    source="S1, teacher forcing; S4, the chain rule",
    reference=encoder_decoder.negative_log_likelihood,
    cases=_likelihood_cases,
    correct=correct.NEGATIVE_LOG_LIKELIHOOD,
    misconceptions=(
        Misconception(
            "as_printed_on_the_slide",
            "Your answer uses the last word but one twice and never the last. The sum printed on slide S1 does so: it "
            "ends in log .2, where the table gives EOS .3. Each word has its own probability.",
            partial(_likelihood, pick=_last_as_the_one_before),
        ),
        Misconception(
            "not_negated",
            "The minus in front is missing. Log-likelihoods are negative, and the loss is to be positive and to become "
            "small as the probabilities grow.",
            partial(_likelihood, sign=1.0),
        ),
        Misconception(
            "summed",
            "Your answer is a sum over the words. Divide it by their number: then sentences of all lengths can be "
            "compared.",
            partial(_likelihood, reduce=torch.sum),
        ),
        Misconception(
            "summed_within_sentences",
            "Your answer adds up the words of each sentence and takes the mean over sentences. Take the mean over all "
            "words of all sentences.",
            lambda log_p, expected: -_picked(log_p, expected).sum(dim=-1).mean(),
        ),
        Misconception(
            "divided_by_the_first_dimension",
            "Your answer divides the sum by the length of the first dimension, len(...), which is the number of words "
            "only where there is a single sentence. Divide by the number of all places: expected.numel().",
            partial(_likelihood, reduce=lambda picked: picked.sum() / len(picked)),
        ),
        Misconception(
            "not_averaged",
            "Your answer still has a number for each word. Take their mean.",
            partial(_likelihood, reduce=lambda picked: picked),
        ),
        Misconception(
            "one_for_each_sentence",
            "Your answer has a number for each sentence. Take the mean over all words of all sentences: one number.",
            partial(_likelihood, reduce=lambda picked: picked.mean(dim=-1)),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits: it divides by ln 2. log_p holds natural logarithms; leave them as they are.",
            partial(_likelihood, unit=math.log(2)),
        ),
        Misconception(
            "log_of_the_mean",
            "Your answer is the logarithm of a mean of probabilities. Take the logarithms first (log_p holds them), "
            "then their mean: that is the logarithm of the product.",
            partial(_likelihood, reduce=lambda picked: picked.exp().mean().log()),
        ),
        Misconception(
            "mean_over_the_vocabulary",
            "Your answer averages over all words of the vocabulary. Pick the right word's log-probability at each "
            "place first.",
            partial(_likelihood, pick=lambda log_p, expected: log_p),
        ),
        Misconception(
            "divided_by_the_vocabulary",
            "Your answer divides by the size of the vocabulary as well: is it a mean over a one-hot product, whose "
            "zeros count? Divide by the number of words alone.",
            partial(_likelihood, pick=lambda log_p, expected: _picked(log_p, expected) / log_p.shape[-1]),
        ),
        Misconception(
            "every_word_at_every_place",
            "Your answer takes all right words at each place, log_p[..., expected], and not the one that is right "
            "there. gather picks one for each place.",
            partial(_likelihood, pick=lambda log_p, expected: log_p[..., expected]),
        ),
        Misconception(
            "padding_left_out",
            "Your answer passes over the places where id 0 is expected, as if it were padding. All places count here.",
            partial(_likelihood, pick=lambda log_p, expected: _picked(log_p, expected)[expected != PADDING_ID]),
        ),
        Misconception(
            "first_place_left_out",
            "Your answer leaves out the first place. All places count: what is expected there is the sentence's first "
            "word, and no longer <s>.",
            partial(_likelihood, pick=lambda log_p, expected: _picked(log_p, expected)[..., 1:]),
        ),
        Misconception(
            "id_before",
            "Your answer picks the word of the id before the right one. Ids count from 0, as indices do: use "
            "`expected` as it is.",
            partial(_likelihood, pick=lambda log_p, expected: _picked(log_p, (expected - 1) % log_p.shape[-1])),
        ),
        Misconception(
            "log_taken_twice",
            "Your answer is not a number (nan), as the logarithm of a negative number is. log_p holds logarithms "
            "already: take no other.",
            partial(_likelihood, measure=torch.log),
        ),
        Misconception(
            "summed_over_the_vocabulary",
            "Your answer adds up the whole vocabulary at each place. Pick the right word's log-probability alone.",
            partial(_likelihood, pick=lambda log_p, expected: log_p.sum(dim=-1)),
        ),
        Misconception(
            "the_likeliest_word",
            "Your answer takes the model's likeliest word at each place, whichever that is, and not the right one: it "
            "praises the model for being sure. Pick the word that `expected` names.",
            partial(_likelihood, pick=lambda log_p, expected: log_p.amax(dim=-1)),
        ),
        Misconception(
            "entropy",
            "Your answer is the entropy of the model's predictions: all words are weighted with their own "
            "probabilities, and `expected` plays no part. Pick the right word's log-probability alone.",
            partial(_likelihood, pick=lambda log_p, expected: (log_p.exp() * log_p).sum(dim=-1)),
        ),
        Misconception(
            "probability",
            "Your answer averages probabilities, not their logarithms. Leave log_p as it is, without exp.",
            partial(_likelihood, measure=torch.exp),
        ),
        Misconception(
            "perplexity",
            "Your answer takes exp at the end: that makes the perplexity, which is the next exercise. Leave the exp "
            "out.",
            partial(_likelihood, end=torch.exp),
        ),
        Misconception(
            "through_the_probabilities",
            "Your answer uses the probabilities, exp of log_p, and takes the logarithm again. Where these, or products "
            "of them, are very small, they are rounded to 0 and the loss becomes infinite: use log_p as it is.",
            lambda log_p, expected: -_picked(log_p.exp(), expected).log().mean(),
        ),
        Misconception(
            "product",
            "Your answer multiplies the probabilities and takes the logarithm of the product. A product of many small "
            "numbers is rounded to 0, and the loss becomes infinite: average the logarithms instead.",
            lambda log_p, expected: -_picked(log_p, expected).exp().prod().log() / expected.numel(),
        ),
    ),
    withheld=WITHHELD,
)


# encoder_decoder.perplexity ----------------------------------------------------------------------------------


def _perplexity_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        p, expected = meowed_table()
        nll = -_picked(p.log(), expected)
        beside = torch.tensor([0.5, 1.0, 1.5, *[7.0] * 5])  # a sentence of three words and five of padding
        mask = padding_mask(torch.tensor([8, 3]), 8)
        yield Case("worked example: The gray fluffy cat ... alone", (nll[None], mask[:1]))
        yield Case("beside a sentence of three words", (torch.stack([nll, beside]), mask))
    double = Kind("double precision", generator, dtype=torch.float64)
    for kind in (*_layouts(generator), double):
        batch, words = integer(generator, 3, 6), integer(generator, 6, 9)
        lengths = torch.randint(1, words - 1, (batch,), generator=generator)
        lengths[1] = words
        yield Case(kind.name, (0.1 + kind.normal(batch, words).abs(), padding_mask(lengths, words)))
    nll = 0.1 + 2 * torch.rand(2, 5, generator=generator)
    yield Case("padding in front of the words", (nll, padding_mask(torch.tensor([5, 2]), 5).flip(1)))
    nll = 0.1 + 2 * torch.rand(3, 6, generator=generator)
    nll[:, 1] = 0
    yield Case("words of which the model was certain", (nll, padding_mask(torch.tensor([3, 6, 4]), 6)))
    nll = 4 + 2 * torch.rand(2, 160, generator=generator)
    yield Case("a hundred words and more", (nll, padding_mask(torch.tensor([160, 125]), 160)), part=LONG)


LONG = "a long text"
"""So long that the product of its probabilities is 0 in double precision."""


def _sentence_means(nll: Tensor, mask: Tensor) -> Tensor:
    return (nll * mask).sum(dim=1) / mask.sum(dim=1)


def _perplexity(
    nll: Tensor,
    mask: Tensor,
    *,
    measure: Callable[[Tensor], Tensor] = lambda nll: nll,
    mean: Callable[[Tensor, Tensor], Tensor] = lambda nll, mask: nll[mask].mean(),
    end: Callable[[Tensor], Tensor] = torch.exp,
) -> Tensor:
    """The reference with changes: of each word's number, of the mean, and of what is made of it."""
    return end(mean(measure(nll), mask))


PERPLEXITY = Exercise(
    id="encoder_decoder.perplexity",
    lesson=LESSON,
    name="perplexity",
    title="Perplexity",
    statement=(
        "perplexity(nll [batch, words], mask bool [batch, words]) -> scalar: exp of the mean negative log-likelihood "
        "over the words where the mask is True, of which there is at least one. All of nll is finite."
    ),
    points=2,
    parts={CORE: 1, LONG: 1},
    minutes=8,
    section="Perplexity",
    source="S1, evaluating generation",
    reference=encoder_decoder.perplexity,
    cases=_perplexity_cases,
    correct=correct.PERPLEXITY,
    misconceptions=(
        Misconception(
            "padding_counted",
            "Your answer counts padding as words. Use only the numbers where the mask is True.",
            partial(_perplexity, mean=lambda nll, mask: nll.mean()),
        ),
        Misconception(
            "divided_by_all_places",
            "Your answer sets padding to 0 but still divides by the number of all places, so that padding looks like "
            "words that were certain. Divide by the number of words, mask.sum().",
            partial(_perplexity, mean=lambda nll, mask: (nll * mask).mean()),
        ),
        Misconception(
            "padding_added",
            "Your answer divides by the number of words but adds up the padding, too. Add up only the numbers where "
            "the mask is True.",
            partial(_perplexity, mean=lambda nll, mask: nll.sum() / mask.sum()),
        ),
        Misconception(
            "divided_by_sentences",
            "Your answer divides by the number of sentences. Divide by the number of words, mask.sum().",
            partial(_perplexity, mean=lambda nll, mask: (nll * mask).sum() / len(nll)),
        ),
        Misconception(
            "one_word_more",
            "Your answer divides by one more than the number of words. Divide by mask.sum() itself: there is always a "
            "word.",
            partial(_perplexity, mean=lambda nll, mask: (nll * mask).sum() / (mask.sum() + 1)),
        ),
        Misconception(
            "last_words_left_out",
            "Your answer leaves out each sentence's last word. All places where the mask is True count.",
            partial(
                _perplexity,
                mean=lambda nll, mask: torch.cat(
                    [row[: max(0, int(real.sum()) - 1)] for row, real in zip(nll, mask, strict=True)]
                ).mean(),
            ),
        ),
        Misconception(
            "certain_words_left_out",
            "Your answer leaves out words whose negative log-likelihood is 0. They are words of which the model was "
            "certain, and they count: the mask alone says which places do.",
            partial(_perplexity, mean=lambda nll, mask: nll[mask & (nll != 0)].mean()),
        ),
        Misconception(
            "mask_ignored_and_zeros_left_out",
            "Your answer takes all numbers that are not 0, whatever the mask says. Padding may have any number, and a "
            "word may have 0: use the places where the mask is True.",
            lambda nll, mask: nll[nll != 0].mean().exp(),
        ),
        Misconception(
            "mean_of_sentences",
            "Your answer averages within each sentence first and then over sentences, so that a word of a short "
            "sentence counts more. Here each word counts the same: one mean over all of them.",
            partial(_perplexity, mean=lambda nll, mask: _sentence_means(nll, mask).mean()),
        ),
        Misconception(
            "mean_of_places",
            "Your answer averages over the sentences at each place first and then over the places. Here each word "
            "counts the same: one mean over all of them.",
            partial(_perplexity, mean=lambda nll, mask: _sentence_means(nll.T, mask.T).mean()),
        ),
        Misconception(
            "mean_of_perplexities",
            "Your answer is the mean of the sentences' perplexities. Take one mean over all words, and exp at the end.",
            partial(_perplexity, mean=_sentence_means, end=lambda means: means.exp().mean()),
        ),
        Misconception(
            "one_for_each_sentence",
            "Your answer has a number for each sentence. One number is asked for, over all words of the batch.",
            partial(_perplexity, mean=_sentence_means),
        ),
        Misconception(
            "exp_before_the_mean",
            "Your answer takes exp of each word and averages then; one unlikely word would drown all others. Take the "
            "mean first, then exp.",
            partial(_perplexity, measure=torch.exp, end=lambda mean: mean),
        ),
        Misconception(
            "padding_of_perplexity_1",
            "Your answer averages exp(nll) over all places, with padding as 0, whose exp is 1. Take the mean of `nll` "
            "where the mask is True, and exp of it at the end.",
            lambda nll, mask: (nll * mask).exp().mean(),
        ),
        Misconception(
            "no_exp",
            "Your answer ends with the mean negative log-likelihood. Its exp is still to be taken.",
            partial(_perplexity, end=lambda mean: mean),
        ),
        Misconception(
            "power_of_two",
            "Your answer raises 2 to the mean, as is right for bits. These are nats: use exp.",
            partial(_perplexity, end=lambda mean: 2**mean),
        ),
        Misconception(
            "logarithm",
            "Your answer takes the logarithm of the mean. `nll` holds logarithms already: take exp.",
            partial(_perplexity, end=torch.log),
        ),
        Misconception(
            "negated",
            "Your answer takes exp of minus the mean, which is the typical probability of a word. `nll` has its minus "
            "already: leave it out.",
            partial(_perplexity, end=lambda mean: (-mean).exp()),
        ),
        Misconception(
            "summed",
            "Your answer adds up the words, so that the result grows with every one. Take the mean.",
            partial(_perplexity, mean=lambda nll, mask: nll[mask].sum()),
        ),
        Misconception(
            "only_the_padding",
            "Your answer averages over the padding and leaves out the words. True marks the words: use the mask as it "
            "is.",
            partial(_perplexity, mean=lambda nll, mask: nll[~mask].mean()),
        ),
        Misconception(
            "product",
            "Your answer multiplies the words' probabilities (or 1 / p) and takes a root. The product of a long text "
            "is 0 or infinity to a computer: take the mean of `nll`, and exp of that.",
            lambda nll, mask: nll[mask].exp().prod() ** (1 / int(mask.sum())),
        ),
    ),
    withheld=WITHHELD,
)


# encoder_decoder.decoder_block -------------------------------------------------------------------------------


class _Layers(nn.Module):
    """What the constructor in the lesson makes."""

    def __init__(self, d_model: int, heads: int, d_hidden: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_hidden)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)


def _weights(module: nn.Module, generator: Generator) -> dict[str, Tensor]:
    """Weights for a module: normal numbers, small enough that a softmax is not all in one place; norms near 1."""
    drawn = {name: 0.4 * torch.randn(weight.shape, generator=generator) for name, weight in module.state_dict().items()}
    return {name: weight + 1 if name.endswith("norm.weight") else weight for name, weight in drawn.items()}


def _block_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        # Of two numbers a norm leaves no more than the sign, so each word's vector is given two more.
        x, memory = (torch.cat([words, 0.5 * words.flip(1)], dim=-1) for words in (B.q, A.k))
        x, memory = torch.stack([x, 0.5 * x.flip(0)]), torch.stack([memory, memory.flip(0)])
        inputs = (x, memory, causal_mask(4), torch.ones(2, 1, 3, dtype=torch.bool))
        name = "worked example: <s> die Katze tanzte, looking at the cat danced"
        yield _block_case(name, generator, inputs, heads=2, d_hidden=5)
    for name, heads, target, source in (
        ("a batch with padding in the source", 2, 5, 3),
        ("a source longer than the target", 3, 4, 7),
        (ANY_MASKS, 2, 4, 4),
    ):
        inputs = _block_inputs(generator, heads, target, source, any_mask=name == ANY_MASKS)
        yield _block_case(name, generator, inputs, heads, d_hidden=4 * heads + 1)
    yield _in_double(_block_case("double precision", generator, _block_inputs(generator, 2, 3, 5), 2, 9))
    inputs = _block_inputs(generator, 2, 5, 4)
    yield _block_case("in training, where almost everything is dropped", generator, inputs, 2, 9, training=True)
    x, memory, mask, memory_mask = _block_inputs(generator, 2, 4, 6)
    word, read = x[:1, :1], memory[:1, :1]
    inputs = (word.expand_as(x).clone(), read.expand_as(memory).clone(), mask, memory_mask)
    name = "in training, where the sublayers add only zeros, and dropping changes none"
    case = _block_case(name, generator, inputs, 2, 9, training=True)
    construct = {**case.construct, "dropout": 0.5}
    yield replace(case, construct=construct, weights=_adding_zeros(case.weights, word, read, construct))


ANY_MASKS = "any masks, others in each sentence and for each word"
"""As many words in the source as in the target, so that whoever exchanges something is not stopped by a shape."""

Inputs = tuple[Tensor, Tensor, Tensor, Tensor]
"""x, memory, mask, memory_mask"""


def _block_inputs(generator: Generator, heads: int, target: int, source: int, any_mask: bool = False) -> Inputs:
    """A batch of random words, with padding in all its sources but one."""
    kind = Kind("", generator, (integer(generator, 2, 4),))
    d_model = heads * integer(generator, 4, 6)
    lengths = torch.full((kind.leading[0],), source)
    lengths[:-1] = integer(generator, 1, source)
    x, memory = kind.normal(target, d_model), kind.normal(source, d_model)
    if any_mask:
        return x, memory, kind.mask(target, target), kind.mask(target, source)
    return x, memory, causal_mask(target), padding_mask(lengths, source).unsqueeze(1)


def _block_case(
    name: str, generator: Generator, inputs: Inputs, heads: int, d_hidden: int, training: bool = False
) -> Case:
    """One call with random weights; who drops where nothing is to be dropped loses almost everything."""
    sizes_of: dict[str, Any] = {"d_model": inputs[0].shape[-1], "heads": heads, "d_hidden": d_hidden}
    construct = {**sizes_of, "dropout": ALMOST_EVERYTHING}
    return Case(
        name,
        inputs,
        construct=construct,
        weights=_weights(_Layers(**construct), generator),
        gradients=() if training else (0, 1),
        weight_gradients=not training,
        training=training,
        part="dropout" if training else CORE,
    )


def _in_double(case: Case) -> Case:
    args = tuple(tensor.double() if tensor.is_floating_point() else tensor for tensor in case.args)
    return replace(case, args=args, weights={name: weight.double() for name, weight in case.weights.items()})


@torch.no_grad()
def _adding_zeros(
    weights: Mapping[str, Tensor], word: Tensor, read: Tensor, construct: Mapping[str, Any]
) -> dict[str, Tensor]:
    """These weights, with biases that take away what each sublayer makes of these words, [1, 1, d_model] both.

    Where a sublayer reads anything else, or drops anything on the way, its output is not 0.
    """
    block = _Layers(**construct).eval()
    block.load_state_dict(weights)
    block.self_attention.W_o.bias.sub_(block.self_attention(word).out[0, 0])
    word = block.add_and_norm_1.norm(word)
    block.cross_attention.W_o.bias.sub_(block.cross_attention(word, read).out[0, 0])
    word = block.add_and_norm_2.norm(word)
    block.feed_forward.W_2.bias.sub_(block.feed_forward(word)[0, 0])
    return block.state_dict()


Join = Callable[[AddAndNorm, Tensor, Tensor], Tensor]
"""What a block does with what went into a sublayer and what came out of it."""

Change = Callable[[Tensor], Tensor]


def _kept(tensor: Tensor) -> Tensor:
    return tensor


def _right(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer(x, y)  # type: ignore[no-any-return]


def _swapped(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer(y, x)  # type: ignore[no-any-return]


def _undropped(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer.norm(x + y)  # type: ignore[no-any-return]


def _sum_dropped(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer.norm(layer.dropout(x + y))  # type: ignore[no-any-return]


def _dropped_last(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer.dropout(layer.norm(x + y))  # type: ignore[no-any-return]


def _always_dropped(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer.norm(x + F.dropout(y, layer.dropout.p))  # type: ignore[no-any-return]


def _not_added(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer.norm(y)  # type: ignore[no-any-return]


def _not_normed(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return x + y


def _added_twice(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return layer(x, x + y)  # type: ignore[no-any-return]


def _alone(layer: AddAndNorm, x: Tensor, y: Tensor) -> Tensor:
    return y


Attend = Callable[[_Layers, Tensor, Tensor, Tensor, Tensor], Tensor]
"""attend(block, x, memory, mask, memory_mask): what the cross-attention gives."""


def _block(
    b: _Layers,
    x: Tensor,
    memory: Tensor,
    mask: Tensor,
    memory_mask: Tensor,
    *,
    masks: tuple[Change, Change] = (_kept, _kept),
    exchanged: bool = False,
    steps: str = "s1 c2 f3",
    attend: Attend = lambda b, x, memory, mask, memory_mask: b.cross_attention(x, memory, memory_mask).out,
    joins: Mapping[str, Join] = {},
    normed_first: bool = False,
    asks: int | None = None,
    reads: int | None = None,
    added: Mapping[str, int] = {},
) -> Tensor:
    """The forward with changes.

    Args:
        masks: what is done to both masks.
        exchanged: each is used for the other.
        steps: self-attention, cross-attention and feed-forward network, each with the number of its add & norm.
        attend: the cross-attention.
        joins: how what came out of a sublayer is joined to what went in, where it is not right.
        normed_first: pre-norm.
        asks: which state asks in the cross-attention: 0 is x, 1 what the first add & norm returned, and so on.
        reads: which one the feed-forward network reads.
        added: which one the residual connection of a sublayer adds.
    """
    mask, memory_mask = masks[0](mask), masks[1](memory_mask)
    if exchanged:
        mask, memory_mask = memory_mask, mask
    states = [x]
    for kind, number in map(tuple, steps.split()):
        layer = getattr(b, f"add_and_norm_{number}")
        chosen = {"c": asks, "f": reads}.get(kind)
        read = states[-1 if chosen is None else chosen]
        read = layer.norm(read) if normed_first else read
        if kind == "s":
            out = b.self_attention(read, None, mask).out
        else:
            out = attend(b, read, memory, mask, memory_mask) if kind == "c" else b.feed_forward(read)
        join = _not_normed if normed_first else joins.get(kind, _right)
        states.append(join(layer, states[added.get(kind, -1)], out))
    return states[-1]


class _Changed(_Layers):
    """The block with changes, see `_block`."""

    def __init__(self, d_model: int, heads: int, d_hidden: int, dropout: float = 0.0, **changes: Any) -> None:
        super().__init__(d_model, heads, d_hidden, dropout)
        self.changes = changes

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        return _block(self, x, memory, mask, memory_mask, **self.changes)


def _by_itself(**changes: Any) -> Callable[..., nn.Module]:
    """The block with changes that nobody combines with others."""
    return lambda **construct: _Changed(**construct, **changes)


def _joined_by(*joins: Join) -> Callable[..., nn.Module]:
    """A block right in all but how the three sublayers' outputs are joined to what went in."""
    return _by_itself(joins=dict(zip("scf", joins, strict=True)))


class _AttentionWeightsDropped(_Changed):
    def __init__(self, d_model: int, heads: int, d_hidden: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, heads, d_hidden, dropout)
        self.self_attention = MultiHeadAttention(d_model, heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads, dropout)


def _not_looking_ahead(b: _Layers, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
    up_to_here = torch.ones(x.shape[1], memory.shape[1]).tril().bool()
    out: Tensor = b.cross_attention(x, memory, memory_mask & up_to_here).out
    return out


DECODER_BLOCK = Exercise(
    id="encoder_decoder.decoder_block",
    lesson=LESSON,
    name="DecoderBlock",
    title="The decoder block",
    statement=(
        "class DecoderBlock(nn.Module): forward(x [batch, target, d_model], memory [batch, source, d_model], mask, "
        "memory_mask) -> [batch, target, d_model]: masked self-attention, cross-attention to the memory, feed-forward "
        "network, each with add & norm after it."
    ),
    points=5,
    parts={CORE: 4, "dropout": 1},
    minutes=20,
    section="The decoder block",
    source="S2, T-ED; S4, the decoder; Vaswani et al. (2017), section 3.1",
    reference=encoder_decoder.DecoderBlock,
    cases=_block_cases,
    correct=correct.DECODER_BLOCK,
    misconceptions=(
        Misconception(
            "future_seen",
            "Your answer leaves out `mask` in the self-attention, so that each word sees those after it, its own "
            "answer included. Pass it on.",
            partial(_Changed, masks=(torch.ones_like, _kept)),
        ),
        Misconception(
            "padding_seen",
            "Your answer leaves out `memory_mask` in the cross-attention, so that the source's padding gets weight. "
            "Pass it on.",
            partial(_Changed, masks=(_kept, torch.ones_like)),
        ),
        Misconception(
            "both_masks_left_out",
            "Your answer uses neither mask: words see the future, and the source's padding. Pass `mask` to the "
            "self-attention and `memory_mask` to the cross-attention.",
            partial(_Changed, masks=(torch.ones_like, torch.ones_like)),
        ),
        Misconception(
            "masks_inverted",
            "Your answer turns both masks round, as torch's own modules want them. In this course True means `may "
            "attend`: leave out the ~.",
            partial(_Changed, masks=(torch.logical_not, torch.logical_not)),
        ),
        Misconception(
            "own_causal_mask",
            "Your answer makes a causal mask of its own for the self-attention, by causal_mask or is_causal=True, say. "
            "Use `mask` as it comes: it may forbid other things, too.",
            _by_itself(masks=(lambda mask: causal_mask(mask.shape[-1]), _kept)),
        ),
        Misconception(
            "masks_exchanged",
            "Your answer gives `memory_mask` to the self-attention and `mask` to the cross-attention. It is the other "
            "way round: `mask` is for the target's words, `memory_mask` for the source's.",
            _by_itself(exchanged=True),
        ),
        Misconception(
            "cross_attention_causal",
            "Your answer's cross-attention is causal: place t may look at the first t + 1 words of the source only. "
            "All of the source is there from the beginning: `memory_mask` alone says where one may look.",
            _by_itself(attend=_not_looking_ahead),
        ),
        Misconception(
            "cross_attention_first",
            "Your answer looks at the source first and at its own words then. It is the other way round: "
            "self-attention begins each decoder block.",
            partial(_Changed, steps="c2 s1 f3"),
        ),
        Misconception(
            "cross_attention_first_by_number",
            "Your answer looks at the source first and at its own words then. It is the other way round: "
            "self-attention begins each decoder block.",
            partial(_Changed, steps="c1 s2 f3"),
        ),
        Misconception(
            "feed_forward_second",
            "Your answer has the feed-forward network between the two attentions. It comes last: self-attention, "
            "cross-attention, feed-forward network.",
            _by_itself(steps="s1 f2 c3"),
        ),
        Misconception(
            "feed_forward_second_with_its_norm",
            "Your answer has the feed-forward network between the two attentions. It comes last: self-attention, "
            "cross-attention, feed-forward network.",
            _by_itself(steps="s1 f3 c2"),
        ),
        Misconception(
            "no_cross_attention",
            "Your answer never looks at the memory: it is an encoder block. Between the self-attention and the "
            "feed-forward network stands the cross-attention.",
            _by_itself(steps="s1 f3"),
        ),
        Misconception(
            "no_cross_attention_by_number",
            "Your answer never looks at the memory: it is an encoder block. Between the self-attention and the "
            "feed-forward network stands the cross-attention, with the second add & norm.",
            _by_itself(steps="s1 f2"),
        ),
        Misconception(
            "cross_attention_to_itself",
            "Your answer calls the cross-attention without the memory, so that the words attend to each other twice. "
            "Keys and values come from the source: cross_attention(x, memory, memory_mask).",
            _by_itself(attend=lambda b, x, memory, mask, memory_mask: b.cross_attention(x, None, mask).out),
        ),
        Misconception(
            "cross_attention_to_itself_by_memory_mask",
            "Your answer hands the cross-attention `memory_mask` but not the memory, so that the words attend to each "
            "other. Keys and values come from the source: cross_attention(x, memory, memory_mask).",
            _by_itself(attend=lambda b, x, memory, mask, memory_mask: b.cross_attention(x, None, memory_mask).out),
        ),
        Misconception(
            "memory_asks",
            "Your answer has the cross-attention the wrong way round: the memory asks, and the target's words are "
            "looked at. What asks comes first: cross_attention(x, memory, memory_mask).",
            _by_itself(attend=lambda b, x, memory, mask, memory_mask: b.cross_attention(memory, x, memory_mask).out),
        ),
        Misconception(
            "no_feed_forward",
            "Your answer ends after the cross-attention. The feed-forward network and its add & norm are missing.",
            _by_itself(steps="s1 c2"),
        ),
        Misconception(
            "no_residuals",
            "Your answer has the norms but not the residual connections: what goes into a sublayer is to be added to "
            "what comes out of it, before the norm.",
            _joined_by(_not_added, _not_added, _not_added),
        ),
        Misconception(
            "no_norms",
            "Your answer adds, but never norms. Use add_and_norm_1 to 3, which do both.",
            _joined_by(_not_normed, _not_normed, _not_normed),
        ),
        Misconception(
            "pre_norm",
            "Your answer norms what goes into each sublayer (pre-norm, as GPT-2 does). Here the norm comes after the "
            "sum, as in the paper: norm(x + sublayer(x)).",
            partial(_Changed, normed_first=True),
        ),
        Misconception(
            "one_norm_for_all",
            "Your answer uses add_and_norm_1 three times. Each sublayer has its own, with weights of its own.",
            partial(_Changed, steps="s1 c1 f1"),
        ),
        Misconception(
            "second_norm_twice",
            "Your answer uses add_and_norm_2 twice and add_and_norm_3 never. The third is the feed-forward network's.",
            partial(_Changed, steps="s1 c2 f2"),
        ),
        Misconception(
            "norms_swapped",
            "Your answer uses add_and_norm_3 after the cross-attention and add_and_norm_2 at the end. They are "
            "numbered in the order of the sublayers.",
            partial(_Changed, steps="s1 c3 f2"),
        ),
        Misconception(
            "added_twice",
            "Your answer adds what went into each sublayer twice: add_and_norm does so already. Pass it what came out "
            "of the sublayer alone.",
            _joined_by(_added_twice, _added_twice, _added_twice),
        ),
        Misconception(
            "added_twice_to_the_self_attention",
            "Your answer adds x to what came out of the self-attention, and add_and_norm_1 adds it once more. Pass it "
            "what came out of the sublayer alone.",
            _joined_by(_added_twice, _right, _right),
        ),
        Misconception(
            "cross_attention_not_added",
            "Your answer goes on with what came out of the cross-attention alone. Its add & norm is missing.",
            _joined_by(_right, _alone, _right),
        ),
        Misconception(
            "cross_attention_not_added_but_normed",
            "After the cross-attention your answer norms what came out of it alone. The residual connection is "
            "missing: what went into it is added before the norm, and add_and_norm_2 does both.",
            _joined_by(_right, _not_added, _right),
        ),
        Misconception(
            "asks_with_the_input",
            "Your answer makes the cross-attention's queries from the block's input. Make them from what the "
            "self-attention and its add & norm gave.",
            partial(_Changed, asks=0),
        ),
        Misconception(
            "input_added_each_time",
            "Your answer adds the block's own input at every residual connection. Each adds what went into its "
            "sublayer.",
            partial(_Changed, added={"c": 0, "f": 0}),
        ),
        Misconception(
            "input_added_to_the_second",
            "After the cross-attention your answer adds the block's own input. Add what the first add & norm returned.",
            partial(_Changed, added={"c": 0}),
        ),
        Misconception(
            "input_added_to_the_third",
            "After the feed-forward network your answer adds the block's own input. Add what went into that sublayer: "
            "what the second add & norm returned.",
            partial(_Changed, added={"f": 0}),
        ),
        Misconception(
            "first_added_to_the_third",
            "After the feed-forward network your answer adds what the first add & norm returned. Add what went into "
            "that sublayer: what the second add & norm returned.",
            partial(_Changed, added={"f": 1}),
        ),
        Misconception(
            "one_attention_for_both",
            "Your answer uses self_attention's projections for the cross-attention too. It has a layer of its own, "
            "cross_attention.",
            partial(
                _Changed, attend=lambda b, x, memory, mask, memory_mask: b.self_attention(x, memory, memory_mask).out
            ),
        ),
        Misconception(
            "memory_detached",
            "In your answer no gradient reaches the memory (.detach() or no_grad), so that the encoder could never "
            "learn. Leave that out.",
            partial(
                _Changed,
                attend=lambda b, x, memory, mask, memory_mask: b.cross_attention(x, memory.detach(), memory_mask).out,
            ),
        ),
        Misconception(
            "network_reads_the_input",
            "The feed-forward network of your answer reads the block's input. It reads what the second add & norm "
            "returned.",
            _by_itself(reads=0),
        ),
        Misconception(
            "last_add_and_norm_missing",
            "Your answer returns what the feed-forward network gives. add_and_norm_3 is missing: it adds what went "
            "into the network, and norms.",
            _joined_by(_right, _right, _alone),
        ),
        Misconception(
            "add_and_norm_never_used",
            "Your answer has the three sublayers, but no add & norm. After each of them comes its own: "
            "add_and_norm_1 to 3, which take what went in and what came out.",
            _joined_by(_alone, _alone, _alone),
        ),
        Misconception(
            "dropout_left_out",
            "Your answer is right in evaluation, but drops nothing in training. Use add_and_norm_1 to 3 as they are: "
            "they drop what came out of the sublayer, add and norm.",
            _joined_by(_undropped, _undropped, _undropped),
            alone=True,
        ),
        Misconception(
            "arguments_swapped",
            "Your answer is right in evaluation, but hands each add_and_norm its two vectors in the wrong order, so "
            "that training drops what went into the sublayers. First what went in, then what came out.",
            _joined_by(_swapped, _swapped, _swapped),
            alone=True,
        ),
        Misconception(
            "arguments_of_add_and_norm_1_swapped",
            "Your answer is right in evaluation, but hands add_and_norm_1 its two vectors in the wrong order, so that "
            "training drops what went into the self-attention. What came out of it is the second one.",
            _joined_by(_swapped, _right, _right),
            alone=True,
        ),
        Misconception(
            "arguments_of_add_and_norm_2_swapped",
            "Your answer is right in evaluation, but hands add_and_norm_2 its two vectors in the wrong order, so that "
            "training drops what went into the cross-attention. What came out of it is the second one.",
            _joined_by(_right, _swapped, _right),
            alone=True,
        ),
        Misconception(
            "arguments_of_add_and_norm_3_swapped",
            "Your answer is right in evaluation, but hands add_and_norm_3 its two vectors in the wrong order, so that "
            "training drops what went into the feed-forward network. What came out of it is the second one.",
            _joined_by(_right, _right, _swapped),
            alone=True,
        ),
        Misconception(
            "sum_dropped",
            "Your answer is right in evaluation, but in training it drops the sum, so that what went into the sublayer "
            "is dropped, too. Dropout is only for what came out.",
            _joined_by(_sum_dropped, _sum_dropped, _sum_dropped),
            alone=True,
        ),
        Misconception(
            "dropped_after_the_norm",
            "Your answer is right in evaluation, but in training it drops what the norms return. Dropout is for what "
            "came out of a sublayer, before the sum.",
            _joined_by(_dropped_last, _dropped_last, _dropped_last),
            alone=True,
        ),
        Misconception(
            "attention_weights_dropped",
            "Your answer is right in evaluation, but in training it also drops weights of both attentions. Leave the "
            "constructor as it is: dropout is only for what came out of a sublayer.",
            _AttentionWeightsDropped,
            alone=True,
        ),
        Misconception(
            "dropped_in_evaluation",
            "Your answer drops in evaluation, too. F.dropout has to be told when it is training "
            "(training=self.training); add_and_norm_1 to 3 know.",
            _joined_by(_always_dropped, _always_dropped, _always_dropped),
        ),
    ),
    withheld=WITHHELD,
)


# encoder_decoder.encode_and_decode ---------------------------------------------------------------------------


def _checked(mask: Value, batch: int, queries: int, keys: int) -> Tensor:
    """A mask that broadcasts to [batch, queries, keys]; another is refused with a sentence for the student."""
    wanted = (batch, queries, keys)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        raise TypeError("a mask must be a boolean tensor, True where a query may attend")
    shape = (1,) * (3 - mask.dim()) + tuple(mask.shape)
    if len(shape) != 3 or any(had not in (1, size) for had, size in zip(shape, wanted, strict=True)):
        raise ValueError(f"a mask must broadcast to {list(wanted)}, [batch, queries, keys], not {list(mask.shape)}")
    return mask


@dataclass(frozen=True)
class _Embedding:
    table: Tensor
    position: Tensor

    def __call__(self, ids: Tensor) -> Tensor:
        return self.table[ids] + self.position[: ids.shape[1]]


@dataclass(frozen=True)
class _EncoderBlock:
    block: nn.Module

    def __call__(self, x: Tensor, mask: Tensor) -> Tensor:
        out: Tensor = self.block(x, _checked(mask, len(x), x.shape[1], x.shape[1])).out
        return out


@dataclass(frozen=True)
class _DecoderBlock:
    block: nn.Module

    def __call__(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        own = _checked(mask, len(x), x.shape[1], x.shape[1])
        out: Tensor = self.block(x, memory, own, _checked(memory_mask, len(x), x.shape[1], memory.shape[1])).out
        return out


@dataclass(frozen=True)
class _Output:
    matrix: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return x @ self.matrix


def _parts(generator: Generator, d_model: int, layers: int, vocabularies: tuple[int, int]) -> tuple[Value, ...]:
    """embed_source, encoder, embed_target, decoder and output, as callbacks with random weights."""
    config = BlockConfig(d_model, 2, 2 * d_model)

    def weighted(module: nn.Module) -> nn.Module:
        module.load_state_dict(_weights(module, generator))
        return module.eval()

    def embedding(vocabulary: int) -> _Embedding:
        table = torch.randn(vocabulary, d_model, generator=generator)
        return _Embedding(table, torch.randn(20, d_model, generator=generator))

    encoder = [_EncoderBlock(weighted(blocks.EncoderBlock(config))) for _ in range(layers)]
    decoder = [_DecoderBlock(weighted(blocks.DecoderBlock(config))) for _ in range(layers)]
    source, target = vocabularies
    return (
        Callback("embed_source", embedding(source)),
        [Callback("block", block) for block in encoder],
        Callback("embed_target", embedding(target)),
        [Callback("block", block) for block in decoder],
        Callback("output", _Output(torch.randn(d_model, target, generator=generator))),
    )


def _forward_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        source = torch.tensor([[4, 5, 6]])
        yield Case(
            "worked example: the cat danced, <s> die Katze tanzte",
            (source, GERMAN[:, :-1], *_parts(generator, 6, 2, (9, 10))),
        )
    # Twice the same shape, for whoever keeps something between calls; once source and target are equally long.
    batch, target = integer(generator, 2, 4), 4
    for name, layers, longest in (
        ("a batch with padding in the source", 2, 6),
        ("three blocks on each side, and unknown words", 3, 6),
        ("one block on each side", 1, target),
    ):
        lengths = torch.full((batch,), longest)
        lengths[:-1] = integer(generator, 2, longest - 1)
        source = torch.randint(4, 12, (batch, longest), generator=generator)
        source[:, 1] = UNKNOWN_ID if layers == 3 else source[:, 1]
        source = source.masked_fill(~padding_mask(lengths, longest), PADDING_ID)
        words = torch.randint(4, 12, (batch, target), generator=generator)
        words[:, 0] = START_ID
        yield Case(name, (source, words, *_parts(generator, 2 * integer(generator, 4, 7), layers, (12, 13))))


Blocks = Sequence[Callable[..., Tensor]]
Embed = Callable[[Tensor], Tensor]

Seen = Callable[[Tensor, int], Tensor]
"""What becomes of the source's mask where so many queries use it."""


def _words(words: Tensor, queries: int) -> Tensor:
    return words


def _everything(words: Tensor, queries: int) -> Tensor:
    return torch.ones_like(words)


def _padding(words: Tensor, queries: int) -> Tensor:
    return ~words


def _up_to_here(words: Tensor, queries: int) -> Tensor:
    return words & torch.ones(queries, words.shape[-1]).tril().bool()


def _joined(
    source: Tensor,
    target: Tensor,
    embed_source: Embed,
    encoder: Blocks,
    embed_target: Embed,
    decoder: Blocks,
    output: Callable[[Tensor], Tensor],
    *,
    mask: Callable[[Tensor], Tensor] = _kept,
    seen: tuple[Seen, Seen] = (_words, _words),
    exchanged: bool = False,
    hidden: int = PADDING_ID,
    blocks: tuple[slice, slice] = (slice(None), slice(None)),
    chained: tuple[bool, bool] = (True, True),
    level: bool = False,
    memory_of: Callable[[Tensor, Tensor], Tensor] = lambda memory, words: memory,
    embeddings: Callable[[Embed, Embed], tuple[Embed, Embed]] = lambda source, target: (source, target),
    end: Callable[[Tensor], Tensor] = _kept,
) -> Tensor:
    """As the reference, with changes.

    Args:
        mask: of the causal mask.
        seen: of the source's mask, for the encoder and for the decoder.
        exchanged: the decoder's two masks.
        hidden: ids up to this one are taken for padding.
        blocks: which blocks of each stack are used.
        chained: whether each block of a stack reads the one before, or all the embedded words.
        level: each decoder block reads the encoder block of the same height.
        memory_of: what is made of the encoder's output.
        embeddings: which one is used for the source, and which for the target.
        end: what is made of the scores.
    """
    words = (source > hidden).unsqueeze(1)
    embed_source, embed_target = embeddings(embed_source, embed_target)
    memories = [embed_source(source)]
    for block in encoder[blocks[0]]:
        memories.append(block(memories[-1 if chained[0] else 0], seen[0](words, source.shape[1])))
    states = [embed_target(target)]
    masks = mask(causal_mask(target.shape[1])), seen[1](words, target.shape[1])
    for number, block in enumerate(decoder[blocks[1]], 1):
        memory = memory_of(memories[number if level else -1], words)
        own, other = masks[::-1] if exchanged else masks
        states.append(block(states[-1 if chained[1] else 0], memory, own, other))
    return end(output(states[-1]))


def _last_state_only(source: Tensor, target: Tensor, *parts: Any) -> Tensor:
    last = (source != PADDING_ID).sum(dim=1) - 1
    return _joined(
        source,
        target,
        *parts,
        seen=(_words, lambda words, queries: torch.ones(1, 1, 1, dtype=torch.bool)),
        memory_of=lambda memory, words: memory[torch.arange(len(source)), last].unsqueeze(1),
    )


def _all_seen(*inputs: Any, **changes: Any) -> Tensor:
    return _joined(*inputs, seen=(_everything, _everything), **changes)


ENCODE_AND_DECODE = Exercise(
    id="encoder_decoder.encode_and_decode",
    lesson=LESSON,
    name="encode_and_decode",
    title="Encoder and decoder joined",
    statement=(
        "encode_and_decode(source [batch, source], target [batch, target], embed_source, encoder, embed_target, "
        "decoder, output) -> logits [batch, target, vocabulary]: masks made, blocks called in order, the last encoder "
        "block's output as every decoder block's memory."
    ),
    points=4,
    minutes=20,
    section="The two stacks joined",
    source="S2, T-ED; S4, encoder and decoder; Vaswani et al. (2017), figure 1",
    reference=encoder_decoder.encode_and_decode,
    cases=_forward_cases,
    correct=correct.ENCODE_AND_DECODE,
    misconceptions=(
        Misconception(
            "future_seen",
            "Your answer lets the decoder's words see those after them: its mask does not forbid it. It must be "
            "causal: the lower triangle.",
            partial(_joined, mask=torch.ones_like),
        ),
        Misconception(
            "itself_forbidden",
            "Your answer forbids each target word to see itself, and the first to see anything. The diagonal of the "
            "causal mask is allowed.",
            partial(_joined, mask=lambda mask: mask.tril(diagonal=-1)),
        ),
        Misconception(
            "keys_as_rows",
            "Your answer lets the decoder's words see the future and not the past: its mask is the upper triangle. "
            "Rows are queries: the lower triangle is allowed.",
            partial(_joined, mask=lambda mask: mask.T),
        ),
        Misconception(
            "causal_mask_inverted",
            "Your causal mask is True where attention is forbidden, as torch's own modules have it (torch.triu). In "
            "this course True means `may attend`: torch.tril, or causal_mask.",
            lambda *inputs: _joined(*inputs, mask=torch.logical_not),
        ),
        Misconception(
            "padding_seen",
            "Your answer lets everybody attend to the source's padding. Its mask is True only where source != "
            "PADDING_ID.",
            _all_seen,
        ),
        Misconception(
            "padding_seen_by_the_encoder",
            "Your answer lets the source's words attend to its padding: the encoder's blocks need the source's mask, "
            "as the cross-attention does.",
            partial(_joined, seen=(_everything, _words)),
        ),
        Misconception(
            "padding_seen_by_the_decoder",
            "Your answer lets the target's words attend to the source's padding: the cross-attention needs the "
            "source's mask, as the encoder's blocks do.",
            partial(_joined, seen=(_words, _everything)),
        ),
        Misconception(
            "causal_encoder",
            "Your answer lets each source word see only those up to itself: the encoder's mask is causal. The source "
            "is there from the beginning, so that only its padding is forbidden.",
            partial(_joined, seen=(_up_to_here, _words)),
        ),
        Misconception(
            "causal_cross_attention",
            "Your answer's cross-attention is causal: place t sees the first t + 1 words of the source only. The "
            "source is there from the beginning, so that only its padding is forbidden.",
            partial(_joined, seen=(_words, _up_to_here)),
        ),
        Misconception(
            "only_padding_seen",
            "Your answer attends to the source's padding and to no word of it. The mask is True at words: source != "
            "PADDING_ID, not ==.",
            partial(_joined, seen=(_padding, _padding)),
        ),
        Misconception(
            "padded_queries_in_the_encoder",
            "In the encoder your mask forbids padding to look, and not to be looked at. Keys are the last dimension of "
            "a mask: unsqueeze(1), which makes it [batch, 1, source].",
            partial(_joined, seen=(lambda words, queries: words.mT, _words)),
        ),
        Misconception(
            "unknown_words_hidden",
            "Your answer hides other ids than the padding's, such as 3, the unknown word. Only padding is hidden: the "
            "mask is source != PADDING_ID.",
            partial(_joined, hidden=UNKNOWN_ID),
        ),
        Misconception(
            "masks_inverted",
            "Your answer's masks are True where attention is forbidden, as torch's own modules have it. In this course "
            "True means `may attend`: leave out the ~.",
            lambda *inputs: _joined(*inputs, mask=torch.logical_not, seen=(_padding, _padding)),
        ),
        Misconception(
            "masks_exchanged",
            "Your answer hands the decoder's blocks their two masks in the wrong order. First comes the target's, then "
            "the source's: block(x, memory, mask, memory_mask).",
            lambda *inputs: _joined(*inputs, exchanged=True),
        ),
        Misconception(
            "encoder_left_out",
            "Your answer hands the embedded source to the decoder: the encoder's blocks are not used, or what they "
            "return is dropped. Keep it: x = block(x, mask).",
            partial(_joined, blocks=(slice(0), slice(None))),
        ),
        Misconception(
            "level_by_level",
            "Your answer gives each decoder block the encoder block of the same height. All of them get the output of "
            "the last: run the whole encoder first.",
            partial(_joined, level=True),
        ),
        Misconception(
            "not_chained",
            "Your answer gives every block the embedded words, so that only the last block of each stack counts. Each "
            "reads what the block before it returned.",
            partial(_joined, chained=(False, False)),
        ),
        Misconception(
            "encoder_not_chained",
            "Your answer gives each of the encoder's blocks the embedded words, so that only its last block counts. "
            "Each reads what the block before it returned.",
            partial(_joined, chained=(False, True)),
        ),
        Misconception(
            "decoder_not_chained",
            "Your answer gives each of the decoder's blocks the embedded words, so that only its last block counts. "
            "Each reads what the block before it returned.",
            partial(_joined, chained=(True, False)),
        ),
        Misconception(
            "first_blocks_only",
            "Your answer uses only the first block of each stack, or returns from within the loop. Go through all of "
            "them.",
            lambda *inputs: _joined(*inputs, blocks=(slice(1), slice(1))),
        ),
        Misconception(
            "first_encoder_block_only",
            "Only the first of the encoder's blocks counts in your answer. Go through all of them, and hand the "
            "decoder what the last one returned.",
            partial(_joined, blocks=(slice(1), slice(None))),
        ),
        Misconception(
            "first_decoder_block_only",
            "Only the first of the decoder's blocks counts in your answer: does it return from within the loop? Go "
            "through all of them.",
            lambda *inputs: _joined(*inputs, blocks=(slice(None), slice(1))),
        ),
        Misconception(
            "last_encoder_block_left_out",
            "Your answer leaves out the last of the encoder's blocks, or what it returned. Go through all of them, and "
            "hand the decoder what the last one returned.",
            lambda *inputs: _joined(*inputs, blocks=(slice(-1), slice(None))),
        ),
        Misconception(
            "decoder_reversed",
            "Your answer runs the decoder's blocks from the last to the first. Call them in the order of the list.",
            lambda *inputs: _joined(*inputs, blocks=(slice(None), slice(None, None, -1))),
        ),
        Misconception(
            "embeddings_swapped",
            "Your answer embeds the source with embed_target and the target with embed_source. Each language has its "
            "own.",
            partial(_joined, embeddings=lambda source, target: (target, source)),
        ),
        Misconception(
            "embed_source_for_both",
            "Your answer embeds the target with embed_source, too. Each language has its own: embed_target(target).",
            partial(_joined, embeddings=lambda source, target: (source, source)),
        ),
        Misconception(
            "last_state_only",
            "Your answer hands the decoder only the vector of the source's last word, as a recurrent network would. "
            "The memory is all of them: one vector for each word.",
            _last_state_only,
        ),
        Misconception(
            "output_left_out",
            "Your answer is the last block's vectors. The output layer is to make scores of them: output(x).",
            lambda *inputs: _joined(*(*inputs[:-1], _kept)),
        ),
        Misconception(
            "softmaxed",
            "Your answer takes the softmax at the end. Scores are asked for, as the output layer gives them: the loss "
            "takes their logarithm and softmax in one.",
            partial(_joined, end=lambda scores: scores.softmax(dim=-1)),
        ),
        Misconception(
            "log_softmaxed",
            "Your answer takes log_softmax at the end. Scores are asked for, as the output layer gives them.",
            partial(_joined, end=lambda scores: scores.log_softmax(dim=-1)),
        ),
    ),
    listed_pairs=(Pair("padding_seen", "level_by_level", partial(_all_seen, level=True)),),
    withheld=WITHHELD,
)


# encoder_decoder.label_smoothing -----------------------------------------------------------------------------


FAR_APART = "logits far apart"
"""So far that exp overflows, and that the softmax has zeros."""


def _smoothing_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        p = torch.tensor([[0.6, 0.25, 0.1, 0.04, 0.01]])
        yield Case("worked example: I went to class and took ... notes", (p.log(), torch.tensor([0]), 0.1))
    for kind, smoothing in zip(_layouts(generator), (0.1, 0.2, 0.3), strict=True):
        words, vocabulary = integer(generator, 6, 9), integer(generator, 3, 6)
        expected = torch.randint(vocabulary, (words,), generator=generator)
        yield Case(kind.name, (2 * kind.normal(words, vocabulary), expected, smoothing), gradients=(0,))
    words, vocabulary = 3, integer(generator, 20, 30)
    logits = 5 * torch.randn(words, vocabulary, generator=generator)
    expected = torch.randint(vocabulary, (words,), generator=generator)
    yield Case("a larger vocabulary", (logits, expected, 0.15), gradients=(0,))
    yield Case("no smoothing at all", (logits, expected, 0.0), gradients=(0,))
    # With these sizes a target in single precision is exact, too.
    double = 2 * torch.randn(7, 5, generator=generator, dtype=torch.float64)
    expected = torch.randint(5, (7,), generator=generator)
    yield Case("double precision", (double, expected, 0.25), gradients=(0,))
    expected = torch.randperm(4, generator=generator)
    logits = 120.0 * torch.eye(4)[expected] + torch.randn(4, 4, generator=generator)
    yield Case("a model that is very sure of itself", (logits, expected, 0.1), gradients=(0,), part=FAR_APART)


def _others(smoothing: float, logits: Tensor) -> float:
    return smoothing / (logits.shape[-1] - 1)


def _log_softmax(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1)


def _smoothed(
    logits: Tensor,
    expected: Tensor,
    smoothing: float,
    *,
    right: Callable[[float, Tensor], float] = lambda smoothing, logits: 1 - smoothing,
    other: Callable[[float, Tensor], float] = _others,
    log_p: Callable[[Tensor], Tensor] = _log_softmax,
    passed_over: bool = False,
    padding_column: bool = True,
    reduce: Callable[[Tensor], Tensor] = lambda terms: terms.sum(dim=-1).mean(),
    sign: float = -1.0,
) -> Tensor:
    """The mean cross-entropy with changes.

    Args:
        right, other: what the target has at the right word and at each other, of smoothing and logits.
        log_p: what is made of the logits.
        passed_over: whether id 0 is, where it is expected.
        padding_column: whether it gets some of the mass.
        reduce: what is made of the products, [words, vocabulary].
        sign: of the result.
    """
    target = torch.full_like(logits, other(smoothing, logits))
    if not padding_column:
        target[:, PADDING_ID] = 0
    target = target.scatter(-1, expected.unsqueeze(-1), right(smoothing, logits))
    terms = target * log_p(logits)
    return sign * reduce(terms[expected != PADDING_ID] if passed_over else terms)


def _target(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    """The smoothed target, [words, vocabulary]."""
    return torch.full_like(logits, _others(smoothing, logits)).scatter(-1, expected.unsqueeze(-1), 1 - smoothing)


def _smoothed_prediction(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    p = _picked(logits.softmax(dim=-1), expected)
    return -((1 - smoothing) * p + _others(smoothing, logits) * (1 - p)).log().mean()


def _others_together(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    right = _picked(_log_softmax(logits), expected)
    return -((1 - smoothing) * right + smoothing * torch.log1p(-right.exp())).mean()


def _by_parts(log_p: Tensor, expected: Tensor, smoothing: float, *, keep: Change = _kept) -> Tensor:
    """The right word's part and that of the others, as the lesson's hint has it."""
    right = _picked(log_p, expected)
    others = keep(log_p.sum(dim=-1) - right)
    return -((1 - smoothing) * right + _others(smoothing, log_p) * others).mean()


def _every_word_in_every_row(logits: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    target = torch.full_like(logits, _others(smoothing, logits))
    target[:, expected] = 1 - smoothing
    return -(target * _log_softmax(logits)).sum(dim=-1).mean()


LABEL_SMOOTHING = Exercise(
    id="encoder_decoder.label_smoothing",
    lesson=LESSON,
    name="label_smoothing",
    title="Label smoothing",
    statement=(
        "label_smoothing(logits [words, vocabulary], expected int64 [words], smoothing) -> scalar: the mean "
        "cross-entropy, in nats, with the target 1 - smoothing at the right word and the rest shared equally by all "
        "*other* words (S4), with gradients."
    ),
    points=3,
    parts={CORE: 2, FAR_APART: 1},
    minutes=15,
    section="Label smoothing",
    source="S4, label smoothing; Vaswani et al. (2017), section 5.4",
    reference=encoder_decoder.label_smoothing,
    cases=_smoothing_cases,
    correct=correct.LABEL_SMOOTHING,
    misconceptions=(
        Misconception(
            "torchs_variant",
            "Your answer is the other variant, torch's label_smoothing=: the mass goes to all words, the right one "
            "included. S4 gives it to the others alone: each of them gets smoothing / (V - 1), and the right one "
            "exactly 1 - smoothing.",
            partial(
                _smoothed,
                right=lambda smoothing, logits: 1 - smoothing + smoothing / logits.shape[-1],
                other=lambda smoothing, logits: smoothing / logits.shape[-1],
            ),
        ),
        Misconception(
            "torchs_variant_converted_the_wrong_way",
            "Your answer is torch's label_smoothing= with smoothing · (V - 1) / V. To give the right word exactly "
            "1 - smoothing it takes the inverse, smoothing · V / (V - 1).",
            lambda logits, expected, smoothing: F.cross_entropy(
                logits, expected, label_smoothing=smoothing * (logits.shape[-1] - 1) / logits.shape[-1]
            ),
        ),
        Misconception(
            "shared_by_too_many",
            "Your answer divides the smoothing by V, the number of all words, but only V - 1 words get a share: the "
            "target does not sum to 1. Divide by V - 1.",
            partial(_smoothed, other=lambda smoothing, logits: smoothing / logits.shape[-1]),
        ),
        Misconception(
            "shared_by_too_few",
            "Your answer divides the smoothing by V - 2, but V - 1 words get a share: all but the right one. Divide by "
            "V - 1.",
            partial(_smoothed, other=lambda smoothing, logits: smoothing / (logits.shape[-1] - 2)),
        ),
        Misconception(
            "padding_gets_none",
            "Your answer gives the padding's column nothing and divides the smoothing by V - 2, as some "
            "implementations do. Here all of the other words share it, whatever their id: divide by V - 1.",
            partial(
                _smoothed, other=lambda smoothing, logits: smoothing / (logits.shape[-1] - 2), padding_column=False
            ),
        ),
        Misconception(
            "divided_by_the_number_of_words",
            "Your answer takes the number of rows, shape[0], for the size of the vocabulary. The vocabulary is the "
            "last dimension: logits.shape[-1].",
            partial(_smoothed, other=lambda smoothing, logits: smoothing / max(len(logits) - 1, 1)),
        ),
        Misconception(
            "right_counted_among_the_others",
            "Your answer counts the right word among the others: on top of its 1 - smoothing it gets a share of the "
            "smoothing, and the target sums to more than 1. Take it out of the others' sum.",
            partial(_smoothed, right=lambda smoothing, logits: 1 - smoothing + _others(smoothing, logits)),
        ),
        Misconception(
            "not_negated",
            "Your answer has the wrong sign: cross-entropy is minus the sum.",
            partial(_smoothed, sign=1.0),
        ),
        Misconception(
            "others_not_negated",
            "Your answer has a minus only for the right word's term. Both terms need it: put the sum in brackets.",
            partial(_smoothed, other=lambda smoothing, logits: -_others(smoothing, logits)),
        ),
        Misconception(
            "nothing_taken_away",
            "Your answer gives the others their share but leaves 1 at the right word: the target sums to more than 1. "
            "Take the smoothing away there.",
            partial(_smoothed, right=lambda smoothing, logits: 1.0),
        ),
        Misconception(
            "not_shared_out",
            "Your answer takes the smoothing away from the right word and gives it to nobody. Share it among the other "
            "words.",
            lambda logits, expected, smoothing: (1 - smoothing) * F.cross_entropy(logits, expected),
        ),
        Misconception(
            "whole_for_each",
            "Your answer gives the whole smoothing to each of the other words. They share it: divide by V - 1.",
            partial(_smoothed, other=lambda smoothing, logits: smoothing),
        ),
        Misconception(
            "swapped",
            "Your answer leaves only the smoothing at the right word and shares out all the rest. It is the other way "
            "round: 1 - smoothing stays.",
            partial(
                _smoothed,
                right=lambda smoothing, logits: smoothing,
                other=lambda smoothing, logits: _others(1 - smoothing, logits),
            ),
        ),
        Misconception(
            "not_smoothed",
            "Your answer is the plain negative log-likelihood: `smoothing` plays no part.",
            partial(_smoothed, right=lambda smoothing, logits: 1.0, other=lambda smoothing, logits: 0.0),
        ),
        Misconception(
            "always_a_tenth",
            "Your answer smooths by 0.1, as the paper does, whatever `smoothing` is. Use the argument.",
            lambda logits, expected, smoothing: _smoothed(logits, expected, 0.1),
        ),
        Misconception(
            "prediction_smoothed",
            "Your answer smooths the model's probabilities and not the target. Leave the prediction as it is: what "
            "changes is what it is compared with.",
            _smoothed_prediction,
        ),
        Misconception(
            "others_together",
            "Your answer takes the logarithm of the others' whole probability, 1 - p. Each of them has a term of its "
            "own: sum their logarithms, not their probabilities.",
            _others_together,
        ),
        Misconception(
            "every_word_in_every_row",
            "Your answer marks all the right words in every row, as q[:, expected] does. Each row has one right word: "
            "use scatter, or q[torch.arange(words), expected].",
            _every_word_in_every_row,
        ),
        Misconception(
            "softmax_over_the_words",
            "Your answer takes log_softmax over the words, dim=0. Probabilities are over the vocabulary: dim=-1.",
            partial(_smoothed, log_p=lambda logits: logits.log_softmax(dim=0)),
        ),
        Misconception(
            "logits_unnormalised",
            "Your answer multiplies the target by the logits. Cross-entropy takes log-probabilities: log_softmax of "
            "the logits first.",
            partial(_smoothed, log_p=_kept),
        ),
        Misconception(
            "softmaxed_twice",
            "Your answer takes the softmax twice: cross_entropy and log_softmax contain one already. Hand them the "
            "logits as they are.",
            partial(_smoothed, log_p=lambda logits: logits.softmax(dim=-1).log_softmax(dim=-1)),
        ),
        Misconception(
            "no_logarithms",
            "Your answer multiplies the target by the probabilities themselves. Take their logarithms: log_softmax.",
            partial(_smoothed, log_p=lambda logits: logits.softmax(dim=-1)),
        ),
        Misconception(
            "softmax_by_hand",
            "Your answer takes exp of the logits as they are, which overflows where they are large. log_softmax "
            "subtracts the largest first: use it.",
            lambda logits, expected, smoothing: _by_parts(
                logits - logits.exp().sum(dim=-1, keepdim=True).log(), expected, smoothing
            ),
        ),
        Misconception(
            "log_of_softmax",
            "Your answer takes the logarithm of a softmax, in which very small probabilities are rounded to 0, so that "
            "the loss becomes infinite. log_softmax takes both in one: use it.",
            lambda logits, expected, smoothing: _by_parts(logits.softmax(dim=-1).log(), expected, smoothing),
        ),
        Misconception(
            "padding_left_out",
            "Your answer passes over the words where id 0 is expected, as if it were padding. All words count here.",
            partial(_smoothed, passed_over=True),
        ),
        Misconception(
            "summed",
            "Your answer is the sum over the words. Take the mean over them.",
            partial(_smoothed, reduce=torch.sum),
        ),
        Misconception(
            "mean_over_the_vocabulary",
            "Your answer takes the mean over the vocabulary as well. Sum over the vocabulary, and take the mean over "
            "the words alone.",
            partial(_smoothed, reduce=torch.mean),
        ),
        Misconception(
            "no_gradients",
            "The value is right, but no gradient reaches the logits: the computation leaves torch somewhere (.item(), "
            ".detach(), numpy or torch.tensor(...)). Nothing could be learned from it.",
            lambda logits, expected, smoothing: _smoothed(logits, expected, smoothing).detach(),
            alone=True,
        ),
        Misconception(
            "others_detached",
            "The value is right, but no gradient flows through the other words' part: it is detached somewhere "
            "(.detach(), .item() or no_grad). Leave that out.",
            lambda logits, expected, smoothing: _by_parts(_log_softmax(logits), expected, smoothing, keep=torch.detach),
            alone=True,
        ),
        Misconception(
            "kl_divergence",
            "Your answer is the Kullback-Leibler divergence: it lacks the entropy of the smoothed target. The loss "
            "asked for is the cross-entropy, -Σ q ln p.",
            lambda logits, expected, smoothing: F.kl_div(
                _log_softmax(logits), _target(logits, expected, smoothing), reduction="batchmean"
            ),
        ),
        Misconception(
            "wrong_way_round",
            "Your answer is the cross-entropy the wrong way round, -Σ p ln q: the prediction weights the target's "
            "logarithms. The target is the weight, and the logarithm is the prediction's: -Σ q ln p.",
            lambda logits, expected, smoothing: (
                -(logits.softmax(dim=-1) * _target(logits, expected, smoothing).clamp_min(1e-12).log()).sum(-1).mean()
            ),
        ),
    ),
    listed_pairs=(
        Pair(
            "kl_divergence",
            "mean_over_the_vocabulary",
            lambda logits, expected, smoothing: (
                F.kl_div(_log_softmax(logits), _target(logits, expected, smoothing), reduction="batchmean")
                / logits.shape[-1]
            ),
        ),
    ),
    withheld=WITHHELD,
)


# encoder_decoder.warmup_schedule -----------------------------------------------------------------------------


def _schedule_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the paper's base model", (torch.tensor([1, 400, 4000, 16_000, 100_000]), 512, 4000))
        yield Case("the first steps", (torch.arange(1, 9), 64, 4))
    for number in ("one", "another"):
        warmup, d_model = integer(generator, 5, 20), integer(generator, 30, 300)
        yield Case(f"{number} warm-up", (torch.arange(1, 4 * warmup), d_model, warmup))
    yield Case("not in order", (torch.tensor([70, 3, 18, 1, 18]), integer(generator, 30, 300), 17))
    yield Case("a warm-up of one step", (torch.arange(1, 6), 100, 1))


def _scheduled(
    steps: Tensor,
    d_model: int,
    warmup: int,
    *,
    late: int = 0,
    width: Callable[[int], float] = lambda d_model: d_model**-0.5,
    rising: Callable[[Tensor, int], Tensor] = lambda steps, warmup: steps / (warmup * math.sqrt(warmup)),
    falling: Callable[[Tensor, int], Tensor] = lambda steps, warmup: steps**-0.5,
    joined: Callable[[Tensor, Tensor], Tensor] = torch.minimum,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """The formula with changes, in double precision until the end."""
    counted = steps.double() - late
    return (width(d_model) * joined(rising(counted, warmup), falling(counted, warmup))).to(dtype)


def _by_place(steps: Tensor, d_model: int, warmup: int) -> Tensor:
    """Which of the two terms counts by where a step stands."""
    early = torch.arange(len(steps)) < warmup
    return _scheduled(steps, d_model, warmup, joined=lambda rising, falling: torch.where(early, rising, falling))


WARMUP_SCHEDULE = Exercise(
    id="encoder_decoder.warmup_schedule",
    lesson=LESSON,
    name="warmup_schedule",
    title="The warm-up schedule",
    statement=(
        "warmup_schedule(steps int64 [steps], d_model, warmup) -> float32 [steps]: the paper's learning rate, "
        "d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), at each of these steps."
    ),
    points=2,
    minutes=8,
    section="Up, then down",
    source="Vaswani et al. (2017), section 5.3; S4, the transformer's optimizer",
    reference=encoder_decoder.warmup_schedule,
    cases=_schedule_cases,
    correct=correct.WARMUP_SCHEDULE,
    misconceptions=(
        Misconception(
            "never_falls",
            "Your answer rises for ever. From step `warmup` on the other term is the smaller one, step^-0.5.",
            partial(_scheduled, joined=lambda rising, falling: rising),
        ),
        Misconception(
            "never_rises",
            "Your answer falls from the first step on: there is no warm-up. Either the rising term is missing, or it "
            "is never the smaller one: its exponent is -1.5, with a minus.",
            partial(_scheduled, joined=lambda rising, falling: falling),
        ),
        Misconception(
            "larger_of_the_two",
            "Your answer takes the larger of the two terms: it falls first and rises then. Take the smaller one.",
            partial(_scheduled, joined=torch.maximum),
        ),
        Misconception(
            "sum_of_the_two",
            "Your answer adds the two terms. Take the smaller one at each step.",
            partial(_scheduled, joined=torch.add),
        ),
        Misconception(
            "jumps",
            "Your answer rises to d_model^-0.5 and then jumps down. The rising term is step · warmup^-1.5, which "
            "meets the other at step `warmup`.",
            lambda steps, d_model, warmup: d_model**-0.5 * torch.where(steps < warmup, steps / warmup, steps**-0.5),
        ),
        Misconception(
            "by_place",
            "Your answer goes by a step's place in the tensor: the first `warmup` of them rise, the rest fall. Steps "
            "may come in any order: compare their numbers.",
            _by_place,
        ),
        Misconception(
            "sizes_swapped",
            "Your answer takes `warmup` for `d_model`, and `d_model` for `warmup`. Mind the order in which they come.",
            lambda steps, d_model, warmup: _scheduled(steps, warmup, d_model),
        ),
        Misconception(
            "width_left_out",
            "The factor d_model^-0.5 is missing: wider models take smaller steps.",
            partial(_scheduled, width=lambda d_model: 1.0),
        ),
        Misconception(
            "root_of_the_width",
            "Your answer multiplies by the root of d_model. Divide by it: d_model^-0.5.",
            partial(_scheduled, width=math.sqrt),
        ),
        Misconception(
            "divided_by_the_width",
            "Your answer divides by d_model itself. Divide by its root: d_model^-0.5.",
            partial(_scheduled, width=lambda d_model: 1 / d_model),
        ),
        Misconception(
            "width_in_the_falling_term_alone",
            "Your answer multiplies only step^-0.5 by d_model^-0.5. The factor belongs to both terms: put the minimum "
            "in brackets, or behind the product.",
            lambda steps, d_model, warmup: torch.minimum((steps * d_model) ** -0.5, steps * warmup**-1.5),
        ),
        Misconception(
            "stays_at_the_peak",
            "Your answer rises and then stays where it is. After the warm-up it falls with 1 / √step.",
            partial(_scheduled, falling=lambda steps, warmup: torch.full_like(steps, warmup**-0.5)),
        ),
        Misconception(
            "falls_with_the_step",
            "After the warm-up your answer falls with 1 / step. It falls with the root: step^-0.5, which is 1 / √step.",
            partial(
                _scheduled, falling=lambda steps, warmup: torch.where(steps > warmup, warmup**0.5 / steps, steps**-0.5)
            ),
        ),
        Misconception(
            "falling_without_minus",
            "Your answer has step^0.5, which rises. The exponent has a minus: step^-0.5.",
            partial(_scheduled, falling=lambda steps, warmup: steps**0.5),
        ),
        Misconception(
            "too_steep",
            "Your answer rises too steeply: its line is step · warmup^-0.5, which meets the other term long before "
            "step `warmup`. The exponent is -1.5.",
            partial(_scheduled, rising=lambda steps, warmup: steps * warmup**-0.5),
        ),
        Misconception(
            "rises_to_one",
            "Your answer's rising term is step / warmup. It is step · warmup^-1.5, which meets the other term at step "
            "`warmup`.",
            partial(_scheduled, rising=lambda steps, warmup: steps / warmup),
        ),
        Misconception(
            "exponent_of_the_step",
            "Your answer raises the step to the power of -1.5, and not `warmup`. The rising term is step · "
            "warmup^-1.5.",
            partial(_scheduled, rising=lambda steps, warmup: warmup * steps**-1.5),
        ),
        Misconception(
            "exponent_over_both",
            "Your answer raises the product, step · warmup, to the power of -1.5. The exponent belongs to `warmup` "
            "alone: step · warmup^-1.5.",
            lambda steps, d_model, warmup: _scheduled(
                steps, d_model, warmup, rising=lambda steps, warmup: (steps * warmup) ** -1.5
            ),
        ),
        Misconception(
            "step_divides",
            "Your answer has the step under the fraction line of the rising term, 1 / (step · warmup^1.5). It is step "
            "· warmup^-1.5, which is step / warmup^1.5.",
            lambda steps, d_model, warmup: _scheduled(
                steps, d_model, warmup, rising=lambda steps, warmup: 1 / (steps * warmup**1.5)
            ),
        ),
        Misconception(
            "straight_to_one",
            "Your answer rises to d_model^-0.5 whatever the warm-up is. The paper's peak is (d_model · warmup)^-0.5: "
            "the longer the warm-up, the lower.",
            lambda steps, d_model, warmup: math.sqrt(warmup) * _scheduled(steps, d_model, warmup),
        ),
        Misconception(
            "counted_from_zero",
            "Your answer is one step late: it takes 1 away from each step. Steps count from 1 here, so use them as "
            "they come.",
            partial(_scheduled, late=1),
        ),
        Misconception(
            "one_step_early",
            "Your answer is one step early: it adds 1 to each step. Steps count from 1 here already, so use them as "
            "they come.",
            partial(_scheduled, late=-1),
        ),
        Misconception(
            "papers_sizes",
            "Your answer uses the paper's sizes, 512 and 4000, whatever it is given. Use `d_model` and `warmup`.",
            lambda steps, d_model, warmup: _scheduled(steps, 512, 4000),
        ),
        Misconception(
            "papers_warmup",
            "Your answer warms up for 4000 steps, as the paper does, whatever it is given. Use `warmup`.",
            lambda steps, d_model, warmup: _scheduled(steps, d_model, 4000),
        ),
        Misconception(
            "in_double_precision",
            "The result is in double precision (float64). float32 is asked for, as torch has it by default: .float() "
            "makes it.",
            partial(_scheduled, dtype=torch.float64),
        ),
    ),
    withheld=WITHHELD,
    entrywise=True,
)


# encoder_decoder.adam_update ---------------------------------------------------------------------------------


def _adam_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        weight, gradient = torch.tensor([1.0, 1.0, 1.0]), torch.tensor([0.001, -0.1, 10.0])
        yield Case("worked example: the first step", (weight, gradient, torch.zeros(3), torch.zeros(3), 1, 0.5))
    for kind, step in zip(kinds(generator), (1, 2, 3, 10, 500), strict=True):
        rows, columns = kind.sizes(2)
        gradient, mean = kind.normal(rows, columns), 0.5 * kind.normal(rows, columns)
        square = 0.2 + mean.square() + 0.3 * kind.normal(rows, columns).abs()
        weight, rate = kind.normal(rows, columns), 0.1 * integer(generator, 3, 9)
        yield Case(f"{kind.name}, step {step}", (weight, gradient, mean, square, step, rate))
    small = 1e-6 * (1 + torch.rand(5, generator=generator))
    yield Case("very small gradients", (torch.ones(5), small, torch.zeros(5), torch.zeros(5), 1, 0.5))


@dataclass(frozen=True)
class _Step:
    """What there is at the end of a step: before and after it, and what both means are divided by."""

    weight: Tensor
    old: tuple[Tensor, Tensor]
    new: tuple[Tensor, Tensor]
    by: tuple[float, float]
    down: Tensor


def _adam(
    weight: Tensor,
    gradient: Tensor,
    mean: Tensor,
    square: Tensor,
    step: int,
    rate: float,
    *,
    betas: tuple[float, float] = BETAS,
    shares: Callable[[float], tuple[float, float]] = lambda beta: (beta, 1 - beta),
    squared: Callable[[Tensor, Tensor], Tensor] = lambda gradient, mean: gradient.square(),
    by: Callable[[float, float, int], tuple[float, float]] = lambda b1, b2, step: (1 - b1**step, 1 - b2**step),
    along: Callable[[Tensor, Tensor], Tensor] = lambda mean, gradient: mean,
    denominator: Callable[[Tensor], Tensor] = lambda square: square.sqrt() + EPSILON,
    scale: Callable[[float], float] = lambda rate: -rate,
    returned: Callable[[_Step], tuple[Tensor, Tensor, Tensor]] = lambda s: (s.weight + s.down, *s.new),
) -> tuple[Tensor, Tensor, Tensor]:
    """One step with changes.

    Args:
        betas: of both means, and of their corrections.
        shares: how much of an old mean is kept, and how much of what is new is added.
        squared: what `square` is the mean of.
        by: what the means are divided by in the correction.
        along: what one steps along, of the corrected mean and the gradient.
        denominator: of the corrected square.
        scale: what the step is multiplied by.
        returned: what comes back.
    """
    kept, added = shares(betas[0])
    new_mean = kept * mean + added * gradient
    kept, added = shares(betas[1])
    new_square = kept * square + added * squared(gradient, new_mean)
    divided = by(*betas, step)
    down = scale(rate) * along(new_mean / divided[0], gradient) / denominator(new_square / divided[1])
    return returned(_Step(weight, (mean, square), (new_mean, new_square), divided, down))


def _epsilon_before_the_correction(
    weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float
) -> tuple[Tensor, Tensor, Tensor]:
    _, mean, square = _adam(weight, gradient, mean, square, step, rate)
    size = rate * math.sqrt(1 - BETAS[1] ** step) / (1 - BETAS[0] ** step)
    return weight - size * mean / (square.sqrt() + EPSILON), mean, square


def _old_means_used(
    weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float
) -> tuple[Tensor, Tensor, Tensor]:
    down = mean / (1 - BETAS[0] ** step) / ((square / (1 - BETAS[1] ** step)).sqrt() + EPSILON)
    return weight - rate * down, *_adam(weight, gradient, mean, square, step, rate)[1:]


ADAM_UPDATE = Exercise(
    id="encoder_decoder.adam_update",
    lesson=LESSON,
    name="adam_update",
    title="A step of Adam",
    statement=(
        "adam_update(weight, gradient, mean, square, step, rate) -> (weight, mean, square), all [...]: one step of "
        "Adam with bias correction and the paper's settings, 0.9, 0.98 and 1e-9."
    ),
    points=3,
    minutes=12,
    section="Adam",
    source="Kingma and Ba (2015), algorithm 1; Vaswani et al. (2017), section 5.3; S4, the optimizer",
    reference=encoder_decoder.adam_update,
    cases=_adam_cases,
    correct=correct.ADAM_UPDATE,
    forbidden=("Adam", "AdamW"),
    misconceptions=(
        Misconception(
            "not_corrected",
            "Your answer leaves out the correction: in the first steps mean and square are still close to the zeros "
            "that they began with. Divide them by 1 - β^step before they are used.",
            partial(_adam, by=lambda b1, b2, step: (1.0, 1.0)),
        ),
        Misconception(
            "corrected_by_the_step_before",
            "Your answer corrects with step + 1, as if steps counted from 0. They count from 1: use 1 - β^step.",
            partial(_adam, by=lambda b1, b2, step: (1 - b1 ** (step + 1), 1 - b2 ** (step + 1))),
        ),
        Misconception(
            "corrected_by_one_step_less",
            "Your answer corrects with step - 1, which divides by 0 in the first step. Steps count from 1: use 1 - "
            "β^step.",
            lambda *inputs: _adam(*inputs, by=lambda b1, b2, step: (1 - b1 ** (step - 1), 1 - b2 ** (step - 1))),
        ),
        Misconception(
            "corrected_as_in_the_first_step",
            "Your answer always corrects as in the first step, by 1 - β. The exponent is missing: 1 - β ** step.",
            partial(_adam, by=lambda b1, b2, step: (1 - b1, 1 - b2)),
        ),
        Misconception(
            "correction_multiplied",
            "Your answer multiplies by 1 - β^step. The correction divides by it: it is to make the means of the first "
            "steps larger.",
            partial(_adam, by=lambda b1, b2, step: (1 / (1 - b1**step), 1 / (1 - b2**step))),
        ),
        Misconception(
            "corrected_values_kept",
            "You return the corrected mean and square. They are for this step's use alone: the next one goes on from "
            "the uncorrected.",
            partial(_adam, returned=lambda s: (s.weight + s.down, s.new[0] / s.by[0], s.new[1] / s.by[1])),
        ),
        Misconception(
            "corrected_square_kept",
            "You return the corrected square. It is for this step's use alone: the next one goes on from the "
            "uncorrected.",
            partial(_adam, returned=lambda s: (s.weight + s.down, s.new[0], s.new[1] / s.by[1])),
        ),
        Misconception(
            "torchs_settings",
            "Your answer uses 0.999 for the squares, torch's default. The transformer paper takes 0.98.",
            partial(_adam, betas=(0.9, 0.999)),
        ),
        Misconception(
            "torchs_settings_and_epsilon",
            "Your answer uses torch's defaults, 0.999 for the squares and 1e-8. The transformer paper takes 0.98 and "
            "1e-9.",
            lambda *inputs: _adam(*inputs, betas=(0.9, 0.999), denominator=lambda square: square.sqrt() + 1e-8),
        ),
        Misconception(
            "torchs_epsilon",
            "Your answer adds 1e-8, torch's default, which matters where gradients are small. The transformer paper "
            "takes 1e-9.",
            lambda *inputs: _adam(*inputs, denominator=lambda square: square.sqrt() + 1e-8),
        ),
        Misconception(
            "betas_swapped",
            "Your answer has the two settings swapped: 0.9 belongs to the mean and 0.98 to the squares.",
            partial(_adam, betas=(0.98, 0.9)),
        ),
        Misconception(
            "shares_swapped",
            "Your answer keeps too little of the running means and takes most from this gradient: β is the share of "
            "the old mean that stays, and 1 - β that of the new.",
            partial(_adam, shares=lambda beta: (1 - beta, beta)),
        ),
        Misconception(
            "added_in_full",
            "Your answer adds the whole gradient to the running mean (and its whole square). Only a share of it is "
            "new: (1 - β) times it.",
            partial(_adam, shares=lambda beta: (beta, 1.0)),
        ),
        Misconception(
            "mean_alone_corrected",
            "Your answer corrects the mean and not the square. Divide the square by 1 - 0.98^step before its root is "
            "taken.",
            partial(_adam, by=lambda b1, b2, step: (1 - b1**step, 1.0)),
        ),
        Misconception(
            "square_alone_corrected",
            "Your answer corrects the square and not the mean. Divide the mean by 1 - 0.9^step as well.",
            partial(_adam, by=lambda b1, b2, step: (1.0, 1 - b2**step)),
        ),
        Misconception(
            "corrected_by_one_beta",
            "Your answer corrects both by 1 - 0.9^step. The square has a beta of its own: divide it by 1 - 0.98^step.",
            lambda *inputs: _adam(*inputs, by=lambda b1, b2, step: (1 - b1**step, 1 - b1**step)),
        ),
        Misconception(
            "beta_times_the_step",
            "Your answer corrects by 1 - β · step. It is a power: 1 - β ** step.",
            lambda *inputs: _adam(*inputs, by=lambda b1, b2, step: (1 - b1 * step, 1 - b2 * step)),
        ),
        Misconception(
            "no_root",
            "Your answer divides by the mean square itself. Divide by its root, so that a step has the size of the "
            "rate whatever the size of the gradients.",
            partial(_adam, denominator=lambda square: square + EPSILON),
        ),
        Misconception(
            "epsilon_in_the_root",
            "Your answer adds 1e-9 within the root, which matters where gradients are small. Add it to the root: "
            "√square + 1e-9.",
            partial(_adam, denominator=lambda square: (square + EPSILON).sqrt()),
        ),
        Misconception(
            "no_epsilon",
            "Your answer leaves 1e-9 out, or adds it where it makes no difference. It is added to the root, before "
            "one divides by it, and matters where gradients are small: (√square + 1e-9).",
            partial(_adam, denominator=torch.sqrt),
        ),
        Misconception(
            "epsilon_before_the_correction",
            "Your answer adds 1e-9 to the root of the uncorrected square, which matters where gradients are small. "
            "Correct the square first, take its root, and add then.",
            _epsilon_before_the_correction,
        ),
        Misconception(
            "means_not_returned",
            "You return mean and square as they came in. The next step needs the new ones.",
            partial(_adam, returned=lambda s: (s.weight + s.down, *s.old)),
        ),
        Misconception(
            "returned_in_another_order",
            "Your answer returns square before mean. The order is weight, mean, square.",
            partial(_adam, returned=lambda s: (s.weight + s.down, *s.new[::-1])),
        ),
        Misconception(
            "update_returned",
            "Your answer returns the step in place of the new weight. Add it to the old one: weight - rate · ...",
            partial(_adam, returned=lambda s: (s.down, *s.new)),
        ),
        Misconception(
            "uphill",
            "Your answer goes uphill: it adds the step. Subtract it, for the gradient points where the loss grows.",
            partial(_adam, scale=lambda rate: rate),
        ),
        Misconception(
            "rate_left_out",
            "Your answer does not use `rate`. The step is multiplied by it.",
            partial(_adam, scale=lambda rate: -1.0),
        ),
        Misconception(
            "not_squared",
            "Your answer averages the gradient twice and never its square. `square` is the running mean of gradient².",
            partial(_adam, squared=lambda gradient, mean: gradient),
        ),
        Misconception(
            "absolute_value",
            "Your answer averages the gradient's absolute value in place of its square. `square` is the running mean "
            "of gradient².",
            partial(_adam, squared=lambda gradient, mean: gradient.abs()),
        ),
        Misconception(
            "mean_squared",
            "Your answer averages the squares of the running mean. `square` is the running mean of gradient².",
            partial(_adam, squared=lambda gradient, mean: mean.square()),
        ),
        Misconception(
            "gradient_as_the_step",
            "Your answer steps along this gradient alone. Step along the running mean of the gradients, corrected.",
            partial(_adam, along=lambda mean, gradient: gradient),
        ),
        Misconception(
            "plain_descent",
            "Your answer is plain gradient descent, weight - rate · gradient. Divide the corrected mean by the root "
            "of the corrected square.",
            lambda *inputs: _adam(*inputs, along=lambda mean, gradient: gradient, denominator=torch.ones_like),
        ),
        Misconception(
            "one_root_for_all",
            "Your answer divides all entries by one number, the root of the squares' mean. Each entry has a square of "
            "its own.",
            partial(_adam, denominator=lambda square: square.mean().sqrt() + EPSILON),
        ),
        Misconception(
            "old_means_used",
            "Your answer returns the new mean and square, but steps by the old ones. Step by the new.",
            _old_means_used,
        ),
    ),
    withheld=WITHHELD,
)


# encoder_decoder.training_loop -------------------------------------------------------------------------------


DOUBLE = "double precision"

Batch = tuple[Tensor, Tensor]


def _loop_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x, expected = B.q, torch.tensor([0, 1, 2, 3])
        inputs = (torch.zeros(2, 4), torch.zeros(4), [(x, expected)] * 3, 0.5, 1.0)
        yield Case("worked example: from <s> die Katze tanzte to the next words", inputs)
    single = Kind("", generator)
    for name, clip in (("clipped", 0.4), ("never clipped", 100.0), ("clipped now and then", 1.0)):
        yield Case(name, (*_loop_weights(single), 0.1 * integer(generator, 3, 8), clip))
    # Never clipped: clip_grad_norm_ divides by the norm and a millionth more, which would show where it shortens.
    double = Kind("", generator, dtype=torch.float64)
    yield Case("double precision, never clipped", (*_loop_weights(double), 0.5, 100.0), part=DOUBLE)


def _loop_weights(kind: Kind) -> tuple[Tensor, Tensor, list[Batch]]:
    """W, b and four batches of different sizes."""
    d_model, vocabulary = sizes(kind.generator, 2)
    vocabulary += 3
    batches = []
    for words in sizes(kind.generator, 4):
        scale = 0.3 + 2 * float(torch.rand((), generator=kind.generator))
        x = scale * kind.normal(words + 1, d_model)
        batches.append((x, torch.randint(vocabulary, (words + 1,), generator=kind.generator)))
    return kind.normal(d_model, vocabulary), kind.normal(vocabulary), batches


Clip = Callable[[list[Tensor], float], list[Tensor]]


def _shortened(gradients: list[Tensor], norm: float, clip: float) -> list[Tensor]:
    """All of them by the factor that this norm asks for; of a norm of 0, by none."""
    return [gradient * (min(1.0, clip / norm) if norm else 1.0) for gradient in gradients]


def _each(gradients: list[Tensor], clip: float) -> list[Tensor]:
    return [_shortened([gradient], float(gradient.norm()), clip)[0] for gradient in gradients]


def _together(gradients: list[Tensor], clip: float) -> list[Tensor]:
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    return _shortened(gradients, float(norm), clip)


def _norms_added(gradients: list[Tensor], clip: float) -> list[Tensor]:
    return _shortened(gradients, sum(float(gradient.norm()) for gradient in gradients), clip)


def _without_root(gradients: list[Tensor], clip: float) -> list[Tensor]:
    return _shortened(gradients, sum(float(gradient.square().sum()) for gradient in gradients), clip)


def _by_the_first(gradients: list[Tensor], clip: float) -> list[Tensor]:
    return _shortened(gradients, float(gradients[0].norm()), clip)


def _first_alone(gradients: list[Tensor], clip: float) -> list[Tensor]:
    return [*_each(gradients[:1], clip), *gradients[1:]]


def _always(gradients: list[Tensor], clip: float) -> list[Tensor]:
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    return [gradient * (clip / float(norm)) for gradient in gradients]


def _shortened_to_one(gradients: list[Tensor], clip: float) -> list[Tensor]:
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    return [gradient / norm for gradient in gradients] if norm > clip else gradients


def _by_the_larger(gradients: list[Tensor], clip: float) -> list[Tensor]:
    return _shortened(gradients, max(float(gradient.norm()) for gradient in gradients), clip)


def _by_absolute_values(gradients: list[Tensor], clip: float) -> list[Tensor]:
    return _shortened(gradients, sum(float(gradient.abs().sum()) for gradient in gradients), clip)


def _lengthened(gradients: list[Tensor], clip: float) -> list[Tensor]:
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    return [gradient * max(1.0, clip / float(norm)) for gradient in gradients]


@dataclass(frozen=True)
class _Taken:
    """A step that was taken: its batch, its loss, and the weights after it."""

    x: Tensor
    expected: Tensor
    loss: Tensor
    W: Tensor
    b: Tensor


def _looped(
    W: Tensor,
    b: Tensor,
    batches: Sequence[Batch],
    rate: float,
    clip: float,
    *,
    clipped: Clip = _together,
    limit: Callable[[float, float], float] = lambda clip, rate: clip,
    reduction: str = "mean",
    carried: tuple[bool, bool] = (False, False),
    carried_raw: bool = False,
    trains_b: bool = True,
    reads_b: bool = True,
    scores: Callable[[Tensor], Tensor] = _kept,
    measure: Callable[..., Tensor] = F.cross_entropy,
    sign: float = 1.0,
    reported: Callable[[_Taken], Tensor] = lambda taken: taken.loss,
    form: Callable[[list[Tensor]], Value] = torch.stack,
) -> tuple[Tensor, Tensor, Value]:
    """Training with changes.

    Args:
        clipped: how gradients are clipped.
        limit: to which norm, of `clip` and the rate.
        reduction: of the loss over the words.
        carried: whether W's and b's gradient of a step stays and is added to the next.
        carried_raw: whether it stays as it was before it was clipped.
        trains_b, reads_b: whether b is changed, and is part of the logits.
        scores: what the loss takes for logits.
        measure: the loss.
        sign: of the step.
        reported: what is returned as a step's loss.
        form: what is made of all of them.
    """
    found = []
    before = [torch.zeros_like(W), torch.zeros_like(b)]
    for x, expected in batches:
        W, b = W.detach().requires_grad_(), b.detach().requires_grad_()
        loss = measure(scores(x @ W + (b if reads_b else 0 * b)), expected, reduction=reduction)
        gradients = list(torch.autograd.grad(loss, (W, b)))
        gradients = [new + old if stays else new for new, old, stays in zip(gradients, before, carried, strict=True)]
        shortened = clipped(gradients, limit(clip, rate))
        before = gradients if carried_raw else shortened
        step = sign * rate
        W, b = W - step * shortened[0], b - step * shortened[1] if trains_b else b
        found.append(reported(_Taken(x, expected, loss.detach(), W.detach(), b.detach())))
    return W.detach(), b.detach(), form(found)


TRAINING_LOOP = Exercise(
    id="encoder_decoder.training_loop",
    lesson=LESSON,
    name="training_loop",
    title="A training loop",
    statement=(
        "training_loop(W [d_model, vocabulary], b [vocabulary], batches, rate, clip) -> (W, b, losses [steps]): for "
        "each batch (x [words, d_model], expected [words]) the mean NLL of x W + b, its gradients, clipped together to "
        "the norm `clip`, and a step of gradient descent; all three in the dtype of W."
    ),
    points=4,
    parts={CORE: 3, DOUBLE: 1},
    minutes=20,
    section="One step after the other",
    source="S3, a better training wrapper; Pascanu et al. (2013), algorithm 1",
    reference=encoder_decoder.training_loop,
    cases=_loop_cases,
    correct=correct.TRAINING_LOOP,
    misconceptions=(
        Misconception(
            "gradients_accumulate",
            "Your answer never sets the gradients back, so that each step goes along those of all steps before it as "
            "well. Set them to None (or zero) before each backward().",
            partial(_looped, carried=(True, True)),
        ),
        Misconception(
            "gradients_accumulate_unclipped",
            "Your answer never sets the gradients back, so that each step goes along those of all steps before it as "
            "well. Set them to None (or zero) before each backward().",
            lambda *inputs: _looped(*inputs, carried=(True, True), carried_raw=True),
        ),
        Misconception(
            "gradient_of_b_accumulates",
            "Your answer sets W's gradient back but not b's, so that b steps along the gradients of all steps before "
            "as well. Set both to None (or zero) before each backward().",
            lambda *inputs: _looped(*inputs, carried=(False, True)),
        ),
        Misconception(
            "not_clipped",
            "Your answer does not clip, or clips where it has no effect: before backward(), or when the step has been "
            "taken. Shorten the gradients between backward() and the step.",
            partial(_looped, clipped=lambda gradients, clip: gradients),
        ),
        Misconception(
            "each_clipped_by_itself",
            "Your answer clips W's gradient and b's each by itself, which changes the direction of the step. Their "
            "norm is taken together: √(‖∂W‖² + ‖∂b‖²).",
            partial(_looped, clipped=_each),
        ),
        Misconception(
            "only_W_clipped",
            "Your answer clips W's gradient and leaves b's as it is. Both are shortened by the same factor, which "
            "follows from their norm together: √(‖∂W‖² + ‖∂b‖²).",
            partial(_looped, clipped=_first_alone),
        ),
        Misconception(
            "norm_of_W",
            "Your answer clips both gradients by the norm of W's alone. b's belongs to it: √(‖∂W‖² + ‖∂b‖²).",
            lambda *inputs: _looped(*inputs, clipped=_by_the_first),
        ),
        Misconception(
            "larger_norm",
            "Your answer clips both gradients by the larger of their two norms. Their norm is taken together: √(‖∂W‖² "
            "+ ‖∂b‖²).",
            partial(_looped, clipped=_by_the_larger),
        ),
        Misconception(
            "norms_added",
            "Your answer adds the norms of W's gradient and b's. Add their squares, and take the root of the sum.",
            partial(_looped, clipped=_norms_added),
        ),
        Misconception(
            "absolute_values_added",
            "Your answer clips by the sum of absolute values. The norm is the root of the sum of squares.",
            partial(_looped, clipped=_by_absolute_values),
        ),
        Misconception(
            "norm_without_root",
            "Your answer clips by the sum of squares. The norm is the root of it.",
            partial(_looped, clipped=_without_root),
        ),
        Misconception(
            "step_clipped",
            "Your answer clips the step, rate · gradient. Clip the gradients, and multiply by the rate then.",
            partial(_looped, limit=lambda clip, rate: clip / rate),
        ),
        Misconception(
            "values_clipped",
            "Your answer clips every single number to ±clip. Clip by the norm: where it is above `clip`, all numbers "
            "are multiplied by the same factor.",
            partial(_looped, clipped=lambda gradients, clip: [gradient.clamp(-clip, clip) for gradient in gradients]),
        ),
        Misconception(
            "always_scaled",
            "Your answer scales the gradients to the norm `clip` even where they are shorter. Clipping only shortens: "
            "the factor is at most 1.",
            partial(_looped, clipped=_always),
        ),
        Misconception(
            "lengthened",
            "Your answer lengthens short gradients and leaves long ones as they are: its factor is at least 1. It is "
            "to be at most 1: min, not max.",
            partial(_looped, clipped=_lengthened),
        ),
        Misconception(
            "shortened_to_one",
            "Your answer shortens gradients that are too long to the norm 1. Shorten them to the norm `clip`: "
            "multiply by clip / norm.",
            partial(_looped, clipped=_shortened_to_one),
        ),
        Misconception(
            "uphill",
            "Your answer goes uphill: it adds the gradients. Subtract them.",
            partial(_looped, sign=-1.0),
        ),
        Misconception(
            "loss_afterwards",
            "Your losses are those after each step. A training reports the loss that it took the gradients of, before "
            "the step.",
            partial(_looped, reported=lambda taken: F.cross_entropy(taken.x @ taken.W + taken.b, taken.expected)),
        ),
        Misconception(
            "losses_summed",
            "The losses that you return are sums over the words of a batch. Return the means, of which the gradients "
            "are taken.",
            partial(_looped, reported=lambda taken: taken.loss * len(taken.x)),
        ),
        Misconception(
            "losses_as_a_list",
            "Your losses are a list of tensors. One tensor is asked for: torch.stack(losses) makes it.",
            partial(_looped, form=list),
        ),
        Misconception(
            "losses_as_numbers",
            "Your losses are a list of Python's numbers. One tensor is asked for: collect loss.detach(), not "
            "loss.item(), and torch.stack them.",
            partial(_looped, form=lambda losses: [float(loss) for loss in losses]),
        ),
        Misconception(
            "losses_in_single_precision",
            "Your losses are float32 whatever came in: torch.tensor(...) and torch.zeros(...) make that of Python's "
            "numbers. Collect loss.detach() and torch.stack them, or give the dtype, W.dtype.",
            lambda *inputs: _looped(*inputs, form=lambda losses: torch.stack(losses).float()),
        ),
        Misconception(
            "summed",
            "Your answer sums the loss over the words of a batch, so that larger batches take larger steps. Take the "
            "mean.",
            partial(_looped, reduction="sum"),
        ),
        Misconception(
            "bias_not_trained",
            "Your answer never changes b. It learns like W.",
            lambda *inputs: _looped(*inputs, trains_b=False),
        ),
        Misconception(
            "bias_forgotten",
            "Your answer never changes b, and leaves it out of the norm. It learns like W, and its gradient is part "
            "of the norm.",
            lambda *inputs: _looped(*inputs, trains_b=False, clipped=_by_the_first),
        ),
        Misconception(
            "bias_left_out",
            "Your answer leaves b out of the logits. They are x @ W + b.",
            partial(_looped, reads_b=False),
        ),
        Misconception(
            "softmaxed_twice",
            "Your answer hands F.cross_entropy probabilities. It takes scores, x W + b: the softmax is part of it.",
            partial(_looped, scores=lambda scores: scores.softmax(dim=-1)),
        ),
        Misconception(
            "probabilities_in_place_of_logarithms",
            "Your loss is the mean of minus the probabilities, not of minus their logarithms: nll_loss of a softmax "
            "gives that. Take log_softmax, or cross_entropy of the logits.",
            lambda *inputs: _looped(*inputs, scores=lambda scores: scores.softmax(dim=-1), measure=F.nll_loss),
        ),
        Misconception(
            "no_log_softmax",
            "Your loss takes the logits for log-probabilities, as nll_loss does. Take log_softmax of them first, or "
            "cross_entropy, which contains it.",
            lambda *inputs: _looped(*inputs, measure=F.nll_loss),
        ),
        Misconception(
            "padding_left_out",
            "Your answer passes over words where id 0 is expected, as if it were padding. All words count here.",
            partial(_looped, measure=partial(F.cross_entropy, ignore_index=PADDING_ID)),
        ),
        Misconception(
            "first_batch_only",
            "Your answer takes a single step: does it return from within the loop? Take one for each batch.",
            lambda W, b, batches, rate, clip: _looped(W, b, batches[:1], rate, clip),
        ),
        Misconception(
            "nothing_learned",
            "Your losses are of W and b as they came: what was learned in one step is not used in the next, or the "
            "weights never change. Go on from the new ones.",
            lambda W, b, batches, rate, clip: _looped(W, b, batches, 0.0, clip),
        ),
    ),
    withheld=WITHHELD,
)


EXERCISES = (
    SHIFT_RIGHT,
    NEGATIVE_LOG_LIKELIHOOD,
    PERPLEXITY,
    DECODER_BLOCK,
    ENCODE_AND_DECODE,
    TRAINING_LOOP,
    ADAM_UPDATE,
    WARMUP_SCHEDULE,
    LABEL_SMOOTHING,
)
"""In the order of the lesson."""
