"""Lesson 05, encoder_decoder.label_smoothing: Label smoothing."""

from collections.abc import Iterator
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, edits_of, hints, integer, slips
from course_lib.exercises.encoder_decoder.shared import layouts, log_of_softmax, padding_left_out
from course_lib.exercises.heads_and_blocks.shared import gradients_cut
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.references import encoder_decoder

FAR_APART = "logits far apart"
"""So far that exp overflows, and that the softmax has zeros."""


def _smoothing_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        p = torch.tensor([[0.6, 0.25, 0.1, 0.04, 0.01]])
        yield Case("worked example: I went to class and took ... notes", (p.log(), torch.tensor([0]), 0.1))
    for kind, smoothing in zip(layouts(generator), (0.1, 0.2, 0.3), strict=True):
        tokens, vocab_size = integer(generator, 6, 9), integer(generator, 3, 6)
        targets = torch.randint(vocab_size, (tokens,), generator=generator)
        yield Case(kind.name, (2 * kind.normal(tokens, vocab_size), targets, smoothing), gradients=(0,))
    tokens, vocab_size = 3, integer(generator, 20, 30)
    logits = 5 * torch.randn(tokens, vocab_size, generator=generator)
    targets = torch.randint(vocab_size, (tokens,), generator=generator)
    yield Case("a larger vocabulary", (logits, targets, 0.15), gradients=(0,))
    yield Case("no smoothing at all", (logits, targets, 0.0), gradients=(0,))
    # With these sizes even a target in single precision is exact.
    double = 2 * torch.randn(7, 5, generator=generator, dtype=torch.float64)
    targets = torch.randint(5, (7,), generator=generator)
    yield Case("double precision", (double, targets, 0.25), gradients=(0,))
    targets = torch.randperm(4, generator=generator)
    logits = 120.0 * torch.eye(4)[targets] + torch.randn(4, 4, generator=generator)
    yield Case("a very confident model", (logits, targets, 0.1), gradients=(0,), part=FAR_APART)


def _smoothed(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    size = logits.shape[-1]
    share = smoothing / (size - 1)
    target = torch.full_like(logits, share).scatter(-1, targets.unsqueeze(-1), 1 - smoothing)
    log_p = logits.log_softmax(dim=-1)
    losses = -(target * log_p).sum(dim=-1)
    return losses.mean()


_slip = edits_of(_smoothed)
_SHARE, _RIGHT = "smoothing / (size - 1)", "1 - smoothing)"


def _smoothed_by_torch(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    size = logits.shape[-1]
    return F.cross_entropy(logits, targets, label_smoothing=smoothing * size / (size - 1))


def _smoothed_by_parts(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    others = log_p.sum(dim=-1) - right
    each = smoothing / (logits.shape[-1] - 1)
    return -((1 - smoothing) * right + each * others).mean()


_OTHERS_DETACHED = Edited(_smoothed_by_parts, ("each * others", "each * others.detach()"))

EXERCISE = Exercise(
    id="encoder_decoder.label_smoothing",
    title="Label smoothing",
    statement=(
        "label_smoothing(logits [tokens, vocab_size], targets int64 [tokens], smoothing) -> scalar: the mean "
        "cross-entropy, in nats, with the target 1 - smoothing at the right token and the rest shared equally by all "
        "*other* tokens, with gradients."
    ),
    parts={CORE: 2, FAR_APART: 1},
    minutes=15,
    difficulty=3,
    importance=3,
    section="Label smoothing",
    source="S4, label smoothing; Vaswani et al. (2017), section 5.4",
    reference=encoder_decoder.label_smoothing,
    cases=and_turned_around(_smoothing_cases),
    correct=(_smoothed, _smoothed_by_parts, _smoothed_by_torch),
    hints=hints(
        idea=(
            "The loss is a cross-entropy with a softer target: the right token gets 1 - ε, and the others share ε "
            "equally. You don't need to build that target: two sums of log-probabilities are enough."
        ),
        shapes=(
            "Log-probabilities are `[tokens, vocab_size]`. `gather` picks the log-probabilities of the right tokens, "
            "`[tokens]`. To get the sum over the other tokens, subtract these from the sum over the vocabulary. Each "
            "other token gets ε over `vocab_size - 1`.",
            ("torchs_variant", "shared_by_too_many", "right_counted_among_the_others", "not_shared_out"),
        ),
        outline=(
            "Take a log-softmax over the vocabulary.\n"
            "Pick the log-probabilities of the right tokens.\n"
            "Subtract them from the sum over the vocabulary to get the sum of the others.\n"
            "Multiply the right tokens' log-probabilities by 1 - ε, and the sum of the others by the share of one of "
            "them. Add the two.\n"
            "Return the negative mean over the tokens.",
            ("mean_over_the_vocabulary", "not_negated", "softmax_by_hand", "softmax_over_the_words"),
        ),
    ),
    misconceptions=(
        *slips(
            _smoothed,
            torchs_variant=(
                "Your answer is torch's variant, label_smoothing=, which shares the mass among all tokens, including "
                "the right one. Give each other token smoothing / (V - 1), and the right token 1 - smoothing.",
                (_SHARE, "smoothing / size"),
                (_RIGHT, "1 - smoothing + share)"),
            ),
            shared_by_too_many=(
                "Your answer divides the smoothing by V, so the target doesn't sum to 1. Divide by V - 1.",
                (_SHARE, "smoothing / size"),
            ),
            padding_gets_none=(
                "Your answer gives nothing to the padding token and divides by V - 2, as some programs do. Give all "
                "tokens but the right one the same share: divide by V - 1.",
                ("size - 1", "size - 2"),
                ("(logits, share)", "(logits, share).index_fill(1, torch.tensor([0]), 0)"),
            ),
            right_counted_among_the_others=(
                "Your answer also shares the smoothing with the right token. Give it only 1 - smoothing.",
                (_RIGHT, "1 - smoothing + share)"),
            ),
            not_negated=("Your loss is negative. Put a minus sign in front of the sum.", ("-(target", "(target")),
            nothing_taken_away=(
                "Your target is 1 at the right token, so it sums to more than 1. Give the right token 1 - smoothing.",
                (_RIGHT, "1)"),
            ),
            not_shared_out=("Your target sums to less than 1. Give the wrong tokens their share.", (_SHARE, "0")),
            whole_for_each=(
                "Your answer gives each wrong token the whole smoothing. Divide it by V - 1.",
                (_SHARE, "smoothing"),
            ),
            swapped=(
                "Your answer gives the right token only the smoothing. Give it 1 - smoothing.",
                (_SHARE, "(1 - smoothing) / (size - 1)"),
                (_RIGHT, "smoothing)"),
            ),
            not_smoothed=(
                "Your answer ignores `smoothing`: it is the plain negative log-likelihood. Use the smoothed target.",
                (_SHARE, "0"),
                (_RIGHT, "1)"),
            ),
            softmax_over_the_words=(
                "Your answer takes log_softmax over the tokens, dim=0. Take it over the vocabulary: dim=-1.",
                ("log_softmax(dim=-1)", "log_softmax(dim=0)"),
            ),
            logits_unnormalised=(
                "Your answer multiplies the target by raw logits. Take their log_softmax first.",
                (".log_softmax(dim=-1)", ""),
            ),
            softmaxed_twice=(
                "Your answer takes the softmax twice. Pass the logits to cross_entropy or log_softmax.",
                ("logits.log_softmax", "logits.softmax(dim=-1).log_softmax"),
            ),
            no_logarithms=(
                "Your answer multiplies the target by probabilities. Use log-probabilities, from log_softmax.",
                (".log_softmax", ".softmax"),
            ),
            summed=("Your answer is the sum over the tokens. Take the mean.", ("losses.mean()", "losses.sum()")),
            mean_over_the_vocabulary=(
                "Your answer also averages over the vocabulary. Sum over it, and average over tokens.",
                (".sum(dim=-1)", ".mean(dim=-1)"),
            ),
            kl_divergence=(
                "Your answer is the KL divergence. Return the cross-entropy, -Σ q ln p, without the target's entropy.",
                ("-(target * log_p)", 'F.kl_div(log_p, target, reduction="none")'),
            ),
            softmax_by_hand=(
                "Your answer takes exp of raw logits, which overflows to infinity. Use log_softmax, which never does.",
                Edited(
                    _smoothed_by_parts,
                    ("logits.log_softmax(dim=-1)", "logits - logits.exp().sum(dim=-1, keepdim=True).log()"),
                ),
            ),
        ),
        log_of_softmax(_smoothed_by_parts),
        padding_left_out(_slip(("losses.mean()", "losses[targets != 0].mean()"))),
        replace(gradients_cut(_slip(("losses.mean()", "losses.mean().detach()")), "the logits"), id="no_gradients"),
        replace(gradients_cut(_OTHERS_DETACHED, "the logits through the other tokens"), id="others_detached"),
    ),
)
