"""Lesson 05, encoder_decoder.loss_and_perplexity: The loss of a batch, and its perplexity."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import SMALLEST, Kind, hints, integer, slips
from course_lib.exercises.encoder_decoder.shared import layouts, log_of_softmax, meowed_table
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import encoder_decoder
from course_lib.text.tokenization import PADDING_ID

UNLIKELY = "very unlikely tokens"
"""So unlikely that their probabilities are 0 in single precision, and their product is in double precision."""


def _loss_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        p, targets = meowed_table()
        yield Case("worked example: The gray fluffy cat meowed very loudly EOS", (p.log().unsqueeze(0), targets[None]))
    for kind in (*layouts(generator), Kind("double precision", generator, dtype=torch.float64)):
        batch, tokens, vocab_size = integer(generator, 3, 5), integer(generator, 6, 9), integer(generator, 10, 15)
        targets = _padded(generator, batch, tokens, vocab_size)
        yield Case(kind.name, (2 * kind.normal(batch, tokens, vocab_size), targets), gradients=(0,))
    yield Case(SMALLEST, (torch.zeros(1, 1, 2), torch.ones(1, 1, dtype=torch.int64)))
    logits = 20 * torch.eye(6)[torch.randint(1, 6, (2, 4), generator=generator)]
    yield Case("tokens that the model is certain of", (logits, logits.argmax(dim=-1)), gradients=(0,))
    logits = torch.randn(2, 90, 5, generator=generator) + torch.tensor([0, 0, 0, 0, 150.0])
    targets = _padded(generator, 2, 90, 5)
    yield Case("tokens of very low probability", (logits / 30, targets))
    targets = targets.clamp(max=3)
    yield Case("tokens whose probability is rounded to 0", (logits, targets), part=UNLIKELY)


def _padded(generator: Generator, batch: int, tokens: int, vocab_size: int) -> Tensor:
    """Targets of different lengths, with padding after them; the first one has none."""
    lengths = torch.randint(1, tokens - 1, (batch,), generator=generator)
    lengths[0] = tokens
    targets = torch.randint(PADDING_ID + 1, vocab_size, (batch, tokens), generator=generator)
    return targets.masked_fill(torch.arange(tokens) >= lengths.unsqueeze(1), PADDING_ID)


def _loss(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    log_p = logits.log_softmax(dim=-1)
    picked = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    real = targets != PADDING_ID
    mean = picked[real].mean()
    loss = -mean
    return loss, loss.exp()


def _loss_by_cross_entropy(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), targets, ignore_index=PADDING_ID)
    return loss, torch.exp(loss)


def _loss_by_sentences(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    summed, tokens = logits.new_zeros(()), 0
    for rows, right in zip(logits, targets, strict=True):
        length = int((right != PADDING_ID).sum())
        chosen = rows[torch.arange(length), right[:length]]
        summed = summed + (rows[:length].logsumexp(dim=-1) - chosen).sum()
        tokens += length
    return summed / tokens, (summed / tokens).exp()


_slips = partial(slips, _loss)
_PICKED, _MEAN = "log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)", "picked[real].mean()"
_EXP = "return loss, loss.exp()"
_SENTENCES = "(picked * real).sum(dim=1) / real.sum(dim=1)"


EXERCISE = Exercise(
    id="encoder_decoder.loss_and_perplexity",
    title="Loss and perplexity",
    statement=(
        "loss_and_perplexity(logits [batch, tokens, vocab_size], targets int64 [batch, tokens], padded with "
        "PADDING_ID) -> (the mean negative log-likelihood over all tokens, in nats; its exp), two scalar tensors."
    ),
    parts={CORE: 2, UNLIKELY: 1},
    minutes=15,
    difficulty=2,
    importance=5,
    section="Perplexity",
    source="S1, teacher forcing and evaluating generation; S4, the chain rule",
    reference=encoder_decoder.loss_and_perplexity,
    cases=_loss_cases,
    correct=(_loss, _loss_by_cross_entropy, _loss_by_sentences),
    steps=("log_p", "right", "loss"),
    hints=hints(
        idea=(
            "At each position, only one number matters: the log-probability of the right token. Pick it, leave out "
            "padding, average the rest, and flip the sign."
        ),
        shapes=(
            "`gather` picks along a dimension, and its index needs as many dimensions as the tensor: turn `[batch, "
            "tokens]` into `[batch, tokens, 1]`. To leave out padding, index with a boolean tensor of the same shape: "
            "it keeps the entries where it is True.",
            ("every_token_at_every_position", "padding_counted"),
        ),
        outline=(
            "Compute log-probabilities over the vocabulary from the logits, in one step.\n"
            "Pick the log-probability of the right token at each position.\n"
            "Find the positions that are not padding.\n"
            "Return the loss, which is minus the mean over these positions, and its exp.",
            ("mean_of_sentences", "divided_by_all_positions", "log_of_the_mean"),
        ),
    ),
    misconceptions=(
        *_slips(
            not_negated=("Your loss is negative. Put a minus sign in front of the mean.", ("= -mean", "= mean")),
            summed=("Your loss is a sum over tokens. Take the mean instead.", (_MEAN, "picked[real].sum()")),
            padding_counted=(
                "Your answer counts padding as tokens. Use only positions where the target is not PADDING_ID.",
                (_MEAN, "picked.mean()"),
            ),
            divided_by_all_positions=(
                "Your answer divides by the number of positions, padding included. Divide by the number of real "
                "tokens.",
                (_MEAN, "(picked * real).mean()"),
            ),
            divided_by_sentences=(
                "Your answer divides by the number of sentences. Divide by the number of tokens.",
                (_MEAN, "(picked * real).sum() / len(picked)"),
            ),
            mean_of_sentences=(
                "Your answer takes the mean of each sentence first. Take one mean over all tokens of the batch.",
                (_MEAN, f"({_SENTENCES}).mean()"),
            ),
            not_averaged=("Your answer still has one number per token. Return their mean.", (_MEAN, "picked[real]")),
            only_the_padding=(
                "Your answer takes the mean over the padding. Use != instead of == to find the tokens.",
                ("!=", "=="),
            ),
            not_normalised=(
                "Your answer uses logits as log-probabilities. Take log_softmax over the vocabulary first.",
                ("logits.log_softmax(dim=-1)", "logits"),
            ),
            softmax_over_the_tokens=(
                "Your answer takes the log-softmax over the positions. Take it over the vocabulary: dim=-1.",
                ("log_softmax(dim=-1)", "log_softmax(dim=1)"),
            ),
            probability=(
                "Your answer averages probabilities. Average log-probabilities: use log_softmax, not softmax.",
                ("logits.log_softmax(dim=-1)", "logits.softmax(dim=-1)"),
            ),
            log_of_the_mean=(
                "Your answer is the logarithm of the mean probability. Take the logarithms first, then their mean.",
                (_MEAN, "picked[real].exp().mean().log()"),
            ),
            the_likeliest_token=(
                "Your answer uses the model's likeliest token at each position. Use the token in `targets` instead.",
                (_PICKED, "log_p.amax(dim=-1)"),
            ),
            entropy=(
                "Your answer is the entropy of the predictions. Pick the log-probability of the token in `targets`.",
                (_PICKED, "(log_p.exp() * log_p).sum(dim=-1)"),
            ),
        ),
        *_slips(
            paired=False,
            softmax_twice=(
                "Your answer takes a softmax before cross_entropy or log_softmax, which take one themselves. Pass the "
                "logits.",
                ("logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log_softmax(dim=-1)"),
            ),
            every_token_at_every_position=(
                "Your answer uses all tokens of `targets` at each position. Pick only the right one, with gather.",
                (_PICKED, "torch.stack([one[:, right].mean(dim=-1) for one, right in zip(log_p, targets)])"),
            ),
            product=(
                "Your answer multiplies probabilities, and the product rounds to 0. Average log-probabilities instead.",
                (_MEAN, "picked[real].exp().prod().log() / real.sum()"),
            ),
        ),
        log_of_softmax(_loss),
        *_slips(
            beside="the perplexity",
            no_exp=("Your second result is the loss again. Return its exp instead.", (_EXP, "return loss, loss")),
            power_of_two=(
                "Your perplexity is 2 to the power of the loss, which is right for bits. The loss is in nats: use exp.",
                (_EXP, "return loss, 2**loss"),
            ),
            exp_of_minus_the_loss=(
                "Your second result is exp of minus the loss. The perplexity is exp of the loss itself.",
                (_EXP, "return loss, mean.exp()"),
            ),
            exp_before_the_mean=(
                "Your perplexity takes exp before the mean, so one unlikely token dominates. Take the mean first.",
                (_EXP, "return loss, (-picked[real]).exp().mean()"),
            ),
            swapped=("Your results are swapped. Return the loss first.", (_EXP, "return loss.exp(), loss")),
        ),
    ),
)
