"""Lesson 06, decoding.sequence_log_probability: How probable a sentence is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import alike, and_turned_around, integer, kinds
from course_lib.exercises.decoding.shared import LESSON, START, WITHHELD, Lesson
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.references import decoding


def _tree_sentence(sentence: str) -> tuple[Tensor, Tensor]:
    """Return the tree's logits for each token of a sentence, with an improbable 1e-4 for tokens it rules out."""
    ids = [decoding.TANZTE_WORDS.index(token) for token in sentence.split()]
    rows = [Lesson()(torch.tensor([START, *ids[:position]])) for position in range(len(ids))]
    return torch.stack(rows).clamp(min=math.log(1e-4)), torch.tensor(ids)


SMALL = "very small probabilities"
"""The part of `sequence_log_probability` where a probability is 0 in a float, or a power infinite."""


def _sequence_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: die Katze tanzte <e>, by the tree of the lesson", _tree_sentence("die Katze tanzte <e>")
        )
    for kind in kinds(generator):
        tokens, vocab_size = kind.sizes(2)
        targets = torch.randint(vocab_size, (*kind.leading, tokens), generator=generator)
        yield Case(kind.name, (2 * kind.normal(tokens, vocab_size) + 1, targets))
    tokens = integer(generator, 150, 200)
    logits = 3 * torch.randn(tokens, 40, generator=generator)
    yield Case(f"{tokens} tokens", (logits, torch.randint(40, (tokens,), generator=generator)), part=SMALL)
    logits = torch.randn(6, 5, generator=generator)
    logits[::2] += 200  # exp overflows; the softmax is the same
    yield Case("large logits at every other token", (logits, torch.randint(5, (6,), generator=generator)), part=SMALL)
    logits = torch.randn(2, 4, 3, generator=generator)
    logits[1, 2, 0] = -float(integer(generator, 115, 130))
    targets = torch.tensor([[1, 2, 0, 1], [2, 0, 0, 1]])
    yield Case("a token that the model thinks next to impossible", (logits, targets), part=SMALL)


def _log_probability(logits: Tensor, targets: Tensor) -> Tensor:
    rows, tokens = logits, targets
    log_p = torch.log_softmax(rows, dim=-1)
    picked = log_p.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    total = picked.sum(dim=-1)
    return total


_slip = partial(Edited, _log_probability)

_LOG_P = "torch.log_softmax(rows, dim=-1)"
_PLACES = "rows, tokens = logits, targets"


_NOTHING_TO_KEEP_AWAY = "Take log_softmax, in one step, and nothing has to be kept away from 0."


def _floored(name: str, floor: float) -> Misconception:
    return Misconception(
        f"floor_of_a_{name}",
        f"Your answer is right unless a token is next to impossible: then it takes the probability to be {floor:g}. It "
        f"is much smaller. {_NOTHING_TO_KEEP_AWAY}",
        _slip((_LOG_P, f"torch.softmax(rows, dim=-1).clamp(min={floor}).log()")),
        alone=True,
    )


def _raised(power: int) -> Misconception:
    return Misconception(
        f"small_number_added_1e_{power}",
        f"Your answer adds 1e-{power} to the probabilities, so as never to take the logarithm of 0. That changes "
        f"small ones too much. {_NOTHING_TO_KEEP_AWAY}",
        _slip((_LOG_P, f"(torch.softmax(rows, dim=-1) + 1e-{power}).log()")),
        alone=True,
    )


def _sequence_by_loop(logits: Tensor, targets: Tensor) -> Tensor:
    rows, tokens = logits.reshape(-1, *logits.shape[-2:]), targets.reshape(-1, targets.shape[-1])
    totals = [
        sum(row[position] - row.logsumexp(0) for row, position in zip(sentence, ids, strict=True))
        for sentence, ids in zip(rows, tokens, strict=True)
    ]
    return torch.stack([torch.as_tensor(total) for total in totals]).reshape(targets.shape[:-1])


def _sequence_by_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    losses = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), reduction="none")
    return -losses.reshape(targets.shape).sum(dim=-1)


EXERCISE = Exercise(
    id="decoding.sequence_log_probability",
    lesson=LESSON,
    name="sequence_log_probability",
    title="How probable a sentence is",
    statement=(
        "sequence_log_probability(logits [..., tokens, vocab_size], targets int64 [..., tokens]) -> [...]: the "
        "natural logarithm of the whole sentence's probability, by the chain rule; all logits are finite."
    ),
    points=3,
    minutes=12,
    difficulty=2,
    importance=4,
    section="How probable is a sentence?",
    source="S1 and S4, the chain rule of P(e given f)",
    reference=decoding.sequence_log_probability,
    cases=and_turned_around(_sequence_cases),
    parts={CORE: 2, SMALL: 1},
    correct=(_log_probability, _sequence_by_loop, _sequence_by_cross_entropy),
    steps=("found",),
    hints=(
        Hint(
            "idea",
            "A sentence's probability is the product of its tokens' probabilities, so its logarithm is a sum. Take the "
            "logarithm of the softmax in one step: in two, small probabilities become 0 on the way.",
        ),
        Hint(
            "shapes",
            "A log-softmax over the vocabulary keeps `[..., tokens, vocab_size]`. `gather` takes one entry of each "
            "row, if the index has a last dimension of size 1; without that dimension again it is `[..., tokens]`, and "
            "the sum over the tokens is `[...]`.",
            answers=(
                "batch_added_up",
                "first_dimension_added_up",
                "softmax_over_the_words",
                "softmax_over_dimension_1",
                "not_added_up",
                "shifted_once_more",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "logarithm_of_the_product",
            "Your answer multiplies the probabilities, and takes the logarithm at the end. For a long sentence, or "
            "one with a token that is next to impossible, the product is too small for a float and becomes 0: take the "
            "logarithms first, by log_softmax, and add them up.",
            _slip(("picked.sum(dim=-1)", "picked.exp().prod(dim=-1).log()")),
        ),
        *alike(
            "Your answer takes exp of the logits as they are, which is infinite for large ones: use torch.log_softmax, "
            "which subtracts the largest first.",
            exp_overflows=_slip((_LOG_P, "(rows.exp() / rows.exp().sum(dim=-1, keepdim=True)).log()")),
            exp_overflows_in_the_sum=_slip((_LOG_P, "rows - rows.exp().sum(dim=-1, keepdim=True).log()")),
        ),
        Misconception(
            "one_largest_for_all",
            "Your answer subtracts one number, the largest logit of all, everywhere. In a row that lies far below it "
            "every exp becomes 0: subtract each row's own largest, or use torch.log_softmax.",
            _slip((_LOG_P, "rows - rows.max() - (rows - rows.max()).exp().sum(dim=-1, keepdim=True).log()")),
        ),
        Misconception(
            "logarithm_of_zero",
            "Your answer takes the softmax first and the logarithm afterwards. A probability that is next to 0 is "
            "rounded to 0 on the way, and its logarithm is −∞: take log_softmax, in one step.",
            _slip((_LOG_P, "torch.softmax(rows, dim=-1).log()")),
        ),
        _floored("billionth", 1e-9),
        _floored("nonillionth", 1e-30),
        Misconception(
            "logits_added",
            "Your answer adds up the logits. They are not log-probabilities yet: take log_softmax over the vocabulary "
            "first.",
            _slip((_LOG_P, "rows")),
        ),
        Misconception(
            "product_of_probabilities",
            "Your answer is the probability itself. Return its logarithm.",
            _slip(("return total", "return total.exp()")),
        ),
        Misconception(
            "mean_over_the_words",
            "Your answer is the mean over the tokens, as a training loss takes it. The sentence's log-probability is "
            "the sum.",
            _slip((".sum(", ".mean(")),
        ),
        Misconception(
            "sign_turned",
            "Your answer has the sign of the loss, which training minimises. The log-probability itself is never "
            "above 0: leave out the minus.",
            _slip(("return total", "return -total")),
        ),
        Misconception(
            "most_probable_words",
            "Your answer is the log-probability of the most probable token at each position. It should be that of the "
            "tokens in `targets`: gather them.",
            _slip(("log_p.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)", "log_p.amax(dim=-1)")),
        ),
        Misconception(
            "not_added_up",
            "Your answer still has a number for each token. Their sum is the logarithm of the product.",
            _slip((".sum(dim=-1)", "")),
        ),
        Misconception(
            "softmax_over_the_words",
            "Your answer takes the softmax over the tokens of the sentence (dim=-2). At each place the probabilities "
            "of the vocabulary sum to 1: dim=-1.",
            _slip(("(rows, dim=-1)", "(logits, dim=-2)")),
        ),
        Misconception(
            "softmax_over_dimension_1",
            "Your answer takes the softmax over dimension 1, which is the vocabulary only where there is no batch. "
            "Counted from the end it is always the last: dim=-1.",
            _slip(("(rows, dim=-1)", "(rows, dim=1)")),
        ),
        Misconception(
            "shifted_once_more",
            "Your answer compares each row of logits with the token after its own. The rows and `targets` are already "
            "aligned: row t is what the model said about token t.",
            _slip((_PLACES, "rows, tokens = logits[..., :-1, :], targets[..., 1:]")),
        ),
        Misconception(
            "shifted_back",
            "Your answer compares each row of logits with the token before its own. The rows and `targets` are "
            "already aligned: row t is what the model said about token t.",
            _slip((_PLACES, "rows, tokens = logits[..., 1:, :], targets[..., :-1]")),
        ),
        Misconception(
            "last_word_left_out",
            "Your answer leaves out the last token, which ends the sentence. Ending has a probability as well: its "
            "factor belongs to the product.",
            _slip((_PLACES, "rows, tokens = logits[..., :-1, :], targets[..., :-1]")),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits, by the logarithm to base 2. Take the natural one.",
            _slip(("return total", "return total / math.log(2)")),
        ),
        Misconception(
            "batch_added_up",
            "Your answer adds the sentences of the batch together. Each has a probability of its own: sum over the "
            "last dimension only.",
            _slip((".sum(dim=-1)", ".sum()")),
        ),
        Misconception(
            "first_dimension_added_up",
            "Your answer sums over the first dimension, which is the batch where there is one. The tokens of a "
            "sentence are the last dimension: dim=-1.",
            _slip((".sum(dim=-1)", ".sum(dim=0)")),
        ),
        *map(_raised, (9, 12)),
        Misconception(
            "id_0_left_out",
            "Your answer skips the positions where id 0 is expected, as if it were padding. All positions count here.",
            _slip((".squeeze(-1)", ".squeeze(-1) * (tokens != 0)")),
        ),
    ),
    withheld=WITHHELD,
)
