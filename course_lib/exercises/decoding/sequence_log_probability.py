"""Lesson 06, decoding.sequence_log_probability: How probable a sentence is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy
import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.checking.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.exercises.common import alike, and_turned_around, integer, kinds
from course_lib.exercises.decoding.shared import LESSON, START, WITHHELD, Lesson
from course_lib.references import decoding


def _tree_sentence(sentence: str) -> tuple[Tensor, Tensor]:
    """What the lesson's tree says about each token of a sentence, with an improbable 1e-4 for tokens it rules out."""
    ids = [decoding.TANZTE_WORDS.index(token) for token in sentence.split()]
    rows = [Lesson()(torch.tensor([START, *ids[:place]])) for place in range(len(ids))]
    return torch.stack(rows).clamp(min=math.log(1e-4)), torch.tensor(ids)


SMALL = "very small probabilities"
"""The part of `sequence_log_probability` where a probability is 0 in a float, or a power infinite."""


def _sequence_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: die Katze tanzte <e>, by the tree of the lesson", _tree_sentence("die Katze tanzte <e>")
        )
    for kind in kinds(generator):
        tokens, vocabulary = kind.sizes(2)
        expected = torch.randint(vocabulary, (*kind.leading, tokens), generator=generator)
        yield Case(kind.name, (2 * kind.normal(tokens, vocabulary) + 1, expected))
    tokens = integer(generator, 150, 200)
    logits = 3 * torch.randn(tokens, 40, generator=generator)
    yield Case(f"{tokens} tokens", (logits, torch.randint(40, (tokens,), generator=generator)), part=SMALL)
    logits = torch.randn(6, 5, generator=generator)
    logits[::2] += 200  # exp overflows; the softmax is the same
    yield Case("large logits at every other token", (logits, torch.randint(5, (6,), generator=generator)), part=SMALL)
    logits = torch.randn(2, 4, 3, generator=generator)
    logits[1, 2, 0] = -float(integer(generator, 115, 130))
    expected = torch.tensor([[1, 2, 0, 1], [2, 0, 0, 1]])
    yield Case("a token that the model thinks next to impossible", (logits, expected), part=SMALL)


_ALL, _BUT_THE_LAST, _BUT_THE_FIRST = slice(None), slice(None, -1), slice(1, None)


def _picked(values: Tensor, expected: Tensor) -> Tensor:
    return values.gather(-1, expected.unsqueeze(-1)).squeeze(-1)


def _logs(logits: Tensor, expected: Tensor, *, dim: int = -1) -> Tensor:
    return _picked(torch.log_softmax(logits, dim=dim), expected)


def _by_exp(logits: Tensor, expected: Tensor, *, floor: float = 0.0, more: float = 0.0) -> Tensor:
    """The logarithm of the softmax, kept away from 0 by a floor or by a little more."""
    return (_picked(torch.softmax(logits, dim=-1), expected).clamp(min=floor) + more).log()


def _less_the_largest(logits: Tensor, expected: Tensor) -> Tensor:
    """The right way by hand, but with one largest logit for all rows."""
    less = logits - logits.max()
    return _picked(less - less.exp().sum(dim=-1, keepdim=True).log(), expected)


def _summed(values: Tensor) -> Tensor:
    return values.sum(dim=-1)


def _log_probability(
    logits: Tensor,
    expected: Tensor,
    *,
    rows: slice = _ALL,
    tokens: slice = _ALL,
    each: Callable[[Tensor, Tensor], Tensor] = _logs,
    joined: Callable[[Tensor], Tensor] = _summed,
    unit: float = 1.0,
    sign: int = 1,
) -> Tensor:
    """The log-probability with something done differently.

    Args:
        rows, tokens: which of them are looked at.
        each: a number for each token.
        joined: one for the sentence.
        unit: of the logarithm, in nats.
        sign: -1 turns it.
    """
    return sign * joined(each(logits[..., rows, :], expected[..., tokens])) / unit


_NOTHING_TO_KEEP_AWAY = "Take log_softmax, in one step, and nothing has to be kept away from 0."


def _floored(name: str, floor: float) -> Misconception:
    return Misconception(
        f"floor_of_a_{name}",
        f"Your answer is right unless a token is next to impossible: then it takes the probability to be {floor:g}. It "
        f"is much smaller. {_NOTHING_TO_KEEP_AWAY}",
        partial(_log_probability, each=partial(_by_exp, floor=floor)),
        alone=True,
    )


def _raised(power: int) -> Misconception:
    return Misconception(
        f"small_number_added_1e_{power}",
        f"Your answer adds 1e-{power} to the probabilities, so as never to take the logarithm of 0. That changes "
        f"small ones too much. {_NOTHING_TO_KEEP_AWAY}",
        partial(_log_probability, each=partial(_by_exp, more=10.0**-power)),
        alone=True,
    )


def _sequence_by_loop(logits: Tensor, expected: Tensor) -> Tensor:
    rows, tokens = logits.reshape(-1, *logits.shape[-2:]), expected.reshape(-1, expected.shape[-1])
    totals = [
        sum(row[place] - row.logsumexp(0) for row, place in zip(sentence, ids, strict=True))
        for sentence, ids in zip(rows, tokens, strict=True)
    ]
    return torch.stack([torch.as_tensor(total) for total in totals]).reshape(expected.shape[:-1])


def _sequence_in_numpy(logits: Tensor, expected: Tensor) -> Tensor:
    scores = logits.double().numpy()
    scores = scores - scores.max(axis=-1, keepdims=True)
    logs = scores - numpy.log(numpy.exp(scores).sum(axis=-1, keepdims=True))
    found = numpy.take_along_axis(logs, expected.numpy()[..., None], axis=-1)[..., 0].sum(axis=-1)
    return torch.as_tensor(found).to(logits.dtype)


def _sequence_by_cross_entropy(logits: Tensor, expected: Tensor) -> Tensor:
    losses = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), expected.reshape(-1), reduction="none")
    return -losses.reshape(expected.shape).sum(dim=-1)


CORRECT = (
    _sequence_by_loop,
    _sequence_in_numpy,
    _sequence_by_cross_entropy,
    lambda logits, expected: torch.distributions.Categorical(logits=logits).log_prob(expected).sum(-1),
    lambda logits, expected: (
        torch.softmax(logits.double(), -1).gather(-1, expected[..., None])[..., 0].log().sum(-1).to(logits.dtype)
    ),
)


EXERCISE = Exercise(
    id="decoding.sequence_log_probability",
    lesson=LESSON,
    name="sequence_log_probability",
    title="How probable a sentence is",
    statement=(
        "sequence_log_probability(logits [..., tokens, vocabulary], expected int64 [..., tokens]) -> [...]: the "
        "natural logarithm of the whole sentence's probability, by the chain rule; all logits are finite."
    ),
    points=3,
    minutes=12,
    section="How probable is a sentence?",
    source="S1 and S4, the chain rule of P(e given f)",
    reference=decoding.sequence_log_probability,
    cases=and_turned_around(_sequence_cases),
    parts={CORE: 2, SMALL: 1},
    correct=CORRECT,
    steps=("found",),
    hints=(
        Hint(
            "idea",
            "A sentence's probability is the product of its tokens' probabilities, so its logarithm is a sum. Take the "
            "logarithm of the softmax in one step: in two, small probabilities become 0 on the way.",
        ),
        Hint(
            "shapes",
            "A log-softmax over the vocabulary keeps `[..., tokens, vocabulary]`. `gather` takes one entry of each "
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
            partial(_log_probability, joined=lambda logs: logs.exp().prod(dim=-1).log()),
        ),
        *alike(
            "Your answer takes exp of the logits as they are, which is infinite for large ones: use torch.log_softmax, "
            "which subtracts the largest first.",
            exp_overflows=lambda logits, expected: (
                _picked(logits.exp() / logits.exp().sum(dim=-1, keepdim=True), expected).log().sum(dim=-1)
            ),
            exp_overflows_in_the_sum=lambda logits, expected: _picked(
                logits - logits.exp().sum(dim=-1, keepdim=True).log(), expected
            ).sum(dim=-1),
        ),
        Misconception(
            "one_largest_for_all",
            "Your answer subtracts one number, the largest logit of all, everywhere. In a row that lies far below it "
            "every exp becomes 0: subtract each row's own largest, or use torch.log_softmax.",
            partial(_log_probability, each=_less_the_largest),
        ),
        Misconception(
            "logarithm_of_zero",
            "Your answer takes the softmax first and the logarithm afterwards. A probability that is next to 0 is "
            "rounded to 0 on the way, and its logarithm is −∞: take log_softmax, in one step.",
            partial(_log_probability, each=_by_exp),
        ),
        _floored("billionth", 1e-9),
        _floored("nonillionth", 1e-30),
        Misconception(
            "logits_added",
            "Your answer adds up the logits. They are not log-probabilities yet: take log_softmax over the vocabulary "
            "first.",
            partial(_log_probability, each=_picked),
        ),
        Misconception(
            "product_of_probabilities",
            "Your answer is the probability itself. Return its logarithm.",
            partial(_log_probability, joined=lambda logs: logs.sum(dim=-1).exp()),
        ),
        Misconception(
            "mean_over_the_words",
            "Your answer is the mean over the tokens, as a training loss takes it. The sentence's log-probability is "
            "the sum.",
            partial(_log_probability, joined=lambda logs: logs.mean(dim=-1)),
        ),
        Misconception(
            "sign_turned",
            "Your answer has the sign of the loss, which training minimises. The log-probability itself is never "
            "above 0: leave out the minus.",
            partial(_log_probability, sign=-1),
        ),
        Misconception(
            "most_probable_words",
            "Your answer is the log-probability of the most probable token at each place. It should be that of the "
            "tokens in `expected`: gather them.",
            partial(_log_probability, each=lambda logits, expected: torch.log_softmax(logits, dim=-1).amax(dim=-1)),
        ),
        Misconception(
            "not_added_up",
            "Your answer still has a number for each token. Their sum is the logarithm of the product.",
            partial(_log_probability, joined=torch.clone),
        ),
        Misconception(
            "softmax_over_the_words",
            "Your answer takes the softmax over the tokens of the sentence (dim=-2). At each place the probabilities "
            "of the vocabulary sum to 1: dim=-1.",
            partial(_log_probability, each=partial(_logs, dim=-2)),
        ),
        Misconception(
            "softmax_over_dimension_1",
            "Your answer takes the softmax over dimension 1, which is the vocabulary only where there is no batch. "
            "Counted from the end it is always the last: dim=-1.",
            partial(_log_probability, each=partial(_logs, dim=1)),
        ),
        Misconception(
            "shifted_once_more",
            "Your answer compares each row of logits with the token after its own. The rows and `expected` are already "
            "aligned: row t is what the model said about token t.",
            partial(_log_probability, rows=_BUT_THE_LAST, tokens=_BUT_THE_FIRST),
        ),
        Misconception(
            "shifted_back",
            "Your answer compares each row of logits with the token before its own. The rows and `expected` are "
            "already aligned: row t is what the model said about token t.",
            partial(_log_probability, rows=_BUT_THE_FIRST, tokens=_BUT_THE_LAST),
        ),
        Misconception(
            "last_word_left_out",
            "Your answer leaves out the last token, which ends the sentence. Ending has a probability as well: its "
            "factor belongs to the product.",
            partial(_log_probability, rows=_BUT_THE_LAST, tokens=_BUT_THE_LAST),
        ),
        Misconception(
            "first_word_left_out",
            "Your answer leaves out the first token. `expected` does not begin with <s>: every one of its tokens is a "
            "factor.",
            partial(_log_probability, rows=_BUT_THE_FIRST, tokens=_BUT_THE_FIRST),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits, by the logarithm to base 2. Take the natural one.",
            partial(_log_probability, unit=math.log(2)),
        ),
        Misconception(
            "base_10",
            "Your answer takes the logarithm to base 10. Take the natural one.",
            partial(_log_probability, unit=math.log(10)),
        ),
        Misconception(
            "batch_added_up",
            "Your answer adds the sentences of the batch together. Each has a probability of its own: sum over the "
            "last dimension only.",
            partial(_log_probability, joined=torch.sum),
        ),
        Misconception(
            "first_dimension_added_up",
            "Your answer sums over the first dimension, which is the batch where there is one. The tokens of a "
            "sentence are the last dimension: dim=-1.",
            partial(_log_probability, joined=lambda logs: logs.sum(dim=0)),
        ),
        *map(_raised, (9, 12)),
        Misconception(
            "id_0_left_out",
            "Your answer skips the places where id 0 is expected, as if it were padding. All places count here.",
            partial(_log_probability, each=lambda logits, expected: _logs(logits, expected) * (expected != 0)),
        ),
    ),
    withheld=WITHHELD,
)
