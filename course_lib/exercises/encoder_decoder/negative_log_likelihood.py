"""Lesson 05, encoder_decoder.negative_log_likelihood: Negative log-likelihood."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, integer, kinds
from course_lib.exercises.encoder_decoder.shared import LESSON, WITHHELD, meowed_table, padding_left_out
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.references import encoder_decoder


def _likelihood_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        p, targets = meowed_table()
        yield Case("worked example: The gray fluffy cat meowed very loudly EOS", (p.log(), targets))
    for kind in kinds(generator):
        tokens, vocab_size = (1, 1) if kind.ones else (integer(generator, 3, 8), integer(generator, 10, 15))
        log_p = kind.normal(tokens, vocab_size).log_softmax(-1)
        targets = torch.randint(vocab_size, log_p.shape[:-1], generator=generator)
        yield Case(kind.name, (log_p, targets))
    log_p = (torch.rand(1, 100_000, generator=generator) / 2).log_softmax(-1)
    yield Case("a large vocabulary, and the gradient", (log_p, torch.tensor([70_000])), gradients=(0,))
    logits = torch.randn(9, 5, generator=generator) + torch.tensor([150.0, 0, 0, 0, 0])
    targets = torch.randint(1, 5, (9,), generator=generator)
    yield Case("tokens of next to no probability", (logits.log_softmax(-1), targets), part=UNLIKELY)


UNLIKELY = "very unlikely tokens"
"""So unlikely that their probabilities are 0 in single precision, and their product is in double precision."""


def _likelihood(log_p: Tensor, targets: Tensor) -> Tensor:
    picked = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    loss = -picked.mean()
    return loss


_slip = partial(Edited, _likelihood)
_PICKED, _MEAN = "log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)", "picked.mean()"
_LAST_AS_THE_ONE_BEFORE = "torch.cat([picked[..., :-1], picked[..., max(picked.shape[-1] - 2, 0), None]], dim=-1)"


def _likelihood_in_double(log_p: Tensor, targets: Tensor) -> Tensor:
    flat = log_p.double().flatten(0, -2)
    return -flat[torch.arange(len(flat)), targets.reshape(-1)].mean().to(log_p.dtype)


def _likelihood_by_running_sum(log_p: Tensor, targets: Tensor) -> Tensor:
    """ln of the product, factor by factor."""
    picked = log_p.gather(-1, targets[..., None]).flatten()
    return -torch.cumsum(picked, dim=0)[-1] / len(picked)


CORRECT = (_likelihood, _likelihood_in_double, _likelihood_by_running_sum)


EXERCISE = Exercise(
    id="encoder_decoder.negative_log_likelihood",
    lesson=LESSON,
    name="negative_log_likelihood",
    title="Negative log-likelihood",
    statement=(
        "negative_log_likelihood(log_p [..., tokens, vocab_size], targets int64 [..., tokens]) -> scalar: the mean "
        "over all tokens of -ln p(right token), in nats."
    ),
    points=2,
    parts={CORE: 1, UNLIKELY: 1},
    minutes=10,
    difficulty=2,
    importance=5,
    section="One word at a time",
    source="S1, teacher forcing; S4, the chain rule",
    reference=encoder_decoder.negative_log_likelihood,
    cases=and_turned_around(_likelihood_cases),
    correct=CORRECT,
    steps=("found",),
    hints=(
        Hint(
            "idea",
            "At each position only one number counts: the log-probability of the token that stands there. Pick it, "
            "take the mean over all positions, and turn the sign.",
        ),
        Hint(
            "shapes",
            "`gather` picks along a dimension, and its index needs as many dimensions as what it picks from: `[...]` "
            "has to become `[..., 1]`. The logarithms are taken already.",
            answers=(
                "every_word_at_every_place",
                "divided_by_the_first_dimension",
                "one_for_each_sentence",
                "log_taken_twice",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "as_printed_on_the_slide",
            "Your answer uses the last token but one twice and never the last. The sum printed on slide S1 does the "
            "same: it ends in log .2, where the table gives EOS .3. Each token has its own probability.",
            _slip(("    loss", f"    picked = {_LAST_AS_THE_ONE_BEFORE}\n    loss")),
        ),
        Misconception(
            "not_negated",
            "The minus in front is missing. Log-likelihoods are negative, but the loss should be positive and become "
            "small as the probabilities grow.",
            _slip(("= -", "= ")),
        ),
        Misconception(
            "summed",
            "Your answer is a sum over the tokens. Divide it by their number: then sentences of all lengths can be "
            "compared.",
            _slip((_MEAN, "picked.sum()")),
        ),
        Misconception(
            "summed_within_sentences",
            "Your answer adds up the tokens of each sentence and takes the mean over sentences. Take the mean over all "
            "tokens of all sentences.",
            _slip((_MEAN, "picked.sum(dim=-1).mean()"), paired=False),
        ),
        Misconception(
            "divided_by_the_first_dimension",
            "Your answer divides the sum by the length of the first dimension, len(...), which is the number of tokens "
            "only where there is a single sentence. Divide by the number of all positions: targets.numel().",
            _slip((_MEAN, "picked.sum() / len(picked)")),
        ),
        Misconception(
            "not_averaged", "Your answer still has a number for each token. Take their mean.", _slip((_MEAN, "picked"))
        ),
        Misconception(
            "one_for_each_sentence",
            "Your answer has a number for each sentence. Take the mean over all tokens of all sentences: one number.",
            _slip((_MEAN, "picked.mean(dim=-1)")),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits: it divides by ln 2. log_p holds natural logarithms; leave them as they are.",
            _slip(("return loss", "return loss / torch.tensor(2.0).double().log().item()")),
        ),
        Misconception(
            "log_of_the_mean",
            "Your answer is the logarithm of a mean of probabilities. Take the logarithms first (log_p holds them), "
            "then their mean: that is the logarithm of the product.",
            _slip((_MEAN, "picked.exp().mean().log()")),
        ),
        Misconception(
            "mean_over_the_vocabulary",
            "Your answer averages over all tokens of the vocabulary. Pick the right token's log-probability at each "
            "position first.",
            _slip((_PICKED, "log_p")),
        ),
        Misconception(
            "divided_by_the_vocabulary",
            "Your answer divides by the size of the vocabulary as well: is it a mean over a one-hot product, whose "
            "zeros count? Divide by the number of tokens alone.",
            _slip((_PICKED, f"{_PICKED} / log_p.shape[-1]")),
        ),
        Misconception(
            "every_word_at_every_place",
            "Your answer takes all right tokens at each position, log_p[..., targets], not just the one that is right "
            "there. gather picks one for each position.",
            _slip((_PICKED, "log_p[..., targets]")),
        ),
        padding_left_out(_slip(("    loss", "    picked = picked[targets != 0]\n    loss"))),
        Misconception(
            "first_place_left_out",
            "Your answer leaves out the first place. All positions count: what is expected there is the sentence's "
            "first token, no longer <s>.",
            _slip((_PICKED, f"{_PICKED}[..., 1:]")),
        ),
        Misconception(
            "id_before",
            "Your answer picks the token whose id is one below the right one. Ids count from 0, as indices do: use "
            "`targets` as it is.",
            _slip(("targets.unsqueeze", "((targets - 1) % log_p.shape[-1]).unsqueeze")),
        ),
        Misconception(
            "log_taken_twice",
            "Your answer is not a number (nan), as the logarithm of a negative number is. log_p already holds "
            "logarithms: don't take another.",
            _slip(("    loss", "    picked = picked.log()\n    loss")),
        ),
        Misconception(
            "the_likeliest_word",
            "Your answer takes the model's likeliest token at each position, whichever that is, not the right one: it "
            "praises the model for being sure. Pick the token that `targets` names.",
            _slip((_PICKED, "log_p.amax(dim=-1)")),
        ),
        Misconception(
            "entropy",
            "Your answer is the entropy of the model's predictions: all tokens are weighted with their own "
            "probabilities, and `targets` plays no part. Pick the right token's log-probability alone.",
            _slip((_PICKED, "(log_p.exp() * log_p).sum(dim=-1)")),
        ),
        Misconception(
            "probability",
            "Your answer averages probabilities, not their logarithms. Leave log_p as it is, without exp.",
            _slip(("    loss", "    picked = picked.exp()\n    loss")),
        ),
        Misconception(
            "perplexity",
            "Your answer takes exp at the end: that makes the perplexity, which is the next exercise. Leave the exp "
            "out.",
            _slip(("return loss", "return loss.exp()")),
        ),
        Misconception(
            "through_the_probabilities",
            "Your answer uses the probabilities, exp of log_p, and takes the logarithm again. Where those, or "
            "products of them, are very small, they are rounded to 0 and the loss becomes infinite: use log_p as it "
            "is.",
            _slip((_MEAN, "picked.exp().log().mean()"), paired=False),
        ),
        Misconception(
            "product",
            "Your answer multiplies the probabilities and takes the logarithm of the product. A product of many small "
            "numbers is rounded to 0, and the loss becomes infinite: average the logarithms instead.",
            _slip((_MEAN, "picked.exp().prod().log() / targets.numel()"), paired=False),
        ),
    ),
    withheld=WITHHELD,
)
