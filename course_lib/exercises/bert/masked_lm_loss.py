"""Lesson 09, bert.masked_lm_loss: The loss of masked tokens."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.bert.shared import LESSON, WITHHELD
from course_lib.exercises.common import Kind, and_turned_around, integer, kinds
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.objectives import heads
from course_lib.objectives.labelled_data import IGNORED


def _loss_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        logits = torch.tensor([[[0.0, 0, 0, 0, 0], [1, 3, 0, 1, 0], [0, 2, 2, 0, 1], [1, 0, 0, 4, 2]]]).log1p()
        labels = torch.tensor([[IGNORED, 1, IGNORED, 0]])
        yield Case("worked example: two of four tokens were chosen", (logits, labels))
    for kind in kinds(generator):
        if kind.ones:
            yield Case("a single token, alone in its batch", (torch.tensor([[[0.5, -1.0]]]), torch.tensor([[1]])))
            continue
        if len(kind.leading) > 1:
            continue
        batch, tokens, vocab_size = (kind.leading or (1,))[0], integer(generator, 8, 11), integer(generator, 12, 16)
        drawn = Kind(kind.name, generator, (batch,), kind.dtype, kind.transposed)
        labels = torch.randint(1, vocab_size, (batch, tokens), generator=generator)
        asked = torch.zeros(batch, tokens, dtype=torch.bool)
        for row in range(batch):  # a different number in each
            asked[row, torch.randperm(tokens, generator=generator)[: 2 + (2 * row) % 5]] = True
        if batch == 1:
            asked[0, :3] = True
        labels[0, asked[0].nonzero()[-1]] = 0  # the first token of the vocabulary is also asked for
        yield Case(
            kind.name, (2 * drawn.normal(tokens, vocab_size), labels.masked_fill(~asked, IGNORED)), gradients=(0,)
        )
    tokens, vocab_size = integer(generator, 4, 8), integer(generator, 6, 9)
    logits = 2 * torch.randn(2, tokens, vocab_size, generator=generator)
    labels = torch.full((2, tokens), IGNORED)
    labels[:, 2], labels[1, 0] = 3, 0
    logits[0, 2, 4], logits[1, 2, 3] = 150.0, 160.0  # a wrong token and a right one
    yield Case("one token towers above the others", (logits, labels), part="large logits")


def _loss_by_gathering(logits: Tensor, labels: Tensor) -> Tensor:
    asked = labels != -100
    log_p = logits.log_softmax(dim=-1)
    losses = -log_p.gather(2, labels.clamp(min=0).unsqueeze(2)).squeeze(2)
    loss = losses[asked].mean()
    return loss


_slip = partial(Edited, _loss_by_gathering)
_ASKED, _LOG_P, _MEAN, _RETURN = "labels != -100", "logits.log_softmax(dim=-1)", "losses[asked].mean()", "return loss"


def _loss_by_loop(logits: Tensor, labels: Tensor) -> Tensor:
    losses = [
        torch.logsumexp(logits[i, j], dim=0) - logits[i, j, labels[i, j]]
        for i, j in product(range(labels.shape[0]), range(labels.shape[1]))
        if labels[i, j] != -100
    ]
    return torch.stack(losses).mean()


EXERCISE = Exercise(
    id="bert.masked_lm_loss",
    lesson=LESSON,
    name="masked_lm_loss",
    title="The loss of masked tokens",
    statement=(
        "masked_lm_loss(logits [batch, tokens, vocab_size], labels [batch, tokens]) -> []: the mean negative "
        "log-probability of the right tokens, over the positions whose label is not -100; at least one is not."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=5,
    section="What is learned from",
    source="S1, masked language modelling; Devlin et al. (2019), section 3.1",
    reference=heads.label_loss,
    cases=and_turned_around(_loss_cases),
    parts={CORE: 1, "large logits": 1},
    correct=(
        _loss_by_gathering,
        _loss_by_loop,
        lambda logits, labels: F.cross_entropy(logits.transpose(1, 2), labels),
    ),
    hints=(
        Hint(
            "idea",
            "Only the positions that were asked for count, above and below the fraction line. torch's cross-entropy "
            "leaves out a label that you name, and by itself it leaves out -100.",
        ),
        Hint(
            "shapes",
            "`F.cross_entropy` wants the classes in dimension 1. Make one long list of positions out of batch and "
            "tokens, in logits and labels alike: `[positions, vocab_size]` and `[positions]`.",
            answers=("view_for_transpose", "mean_of_means", "softmax_over_the_words"),
        ),
    ),
    misconceptions=(
        Misconception(
            "every_place_asked",
            "Your answer also learns from the positions that were not chosen, as if the token 0 were right there. "
            "Leave out the positions whose label is -100.",
            _slip((_ASKED, "labels >= -100")),
        ),
        Misconception(
            "word_0_left_out",
            "Your answer leaves out the positions whose label is 0. 0 is the id of a token like any other; leave out "
            "those whose label is -100.",
            _slip((_ASKED, "labels > 0")),
        ),
        Misconception(
            "shifted",
            "Your answer compares each position with the label of the next one, as GPT's loss does. BERT guesses the "
            "token that stands at the position itself.",
            _slip(("asked = ", "logits, labels = logits[:, :-1], labels[:, 1:]\n    asked = ")),
        ),
        Misconception(
            "divided_by_all_places",
            "Your answer divides by the number of all positions. Divide by that of the chosen ones, or the loss "
            "depends on how many were chosen.",
            _slip((_MEAN, "losses[asked].sum() / losses.numel()")),
        ),
        Misconception(
            "summed",
            "Your answer is the sum over the chosen tokens. Divide it by their number.",
            _slip((_MEAN, "losses[asked].sum()")),
        ),
        Misconception(
            "mean_of_means",
            "Your answer is a mean over sentences of means over tokens, so that a token counts less where many were "
            "chosen. Every chosen token counts the same.",
            _slip((_MEAN, "((losses * asked).sum(1) / asked.sum(1)).mean()")),
        ),
        Misconception(
            "probabilities_as_logits",
            "Your answer takes the softmax twice: cross_entropy wants the logits themselves, and takes the softmax of "
            "whatever it is given.",
            _slip((_LOG_P, "logits.softmax(-1).log_softmax(-1)")),
        ),
        Misconception(
            "without_normaliser",
            "Your answer treats the right tokens' logits as log-probabilities. They are not, until the normaliser is "
            "subtracted: use log_softmax.",
            _slip((_LOG_P, "logits")),
        ),
        Misconception(
            "logarithm_missing",
            "Your answer takes the right tokens' probabilities, with a minus, instead of their logarithms: nll_loss "
            "takes no logarithm itself. Give it log_softmax.",
            _slip((_LOG_P, "logits.softmax(-1)")),
        ),
        Misconception(
            "softmax_over_the_words",
            "Your softmax runs over the tokens of the text. At each place it must run over the vocabulary, the last "
            "dimension.",
            _slip((_LOG_P, "logits.log_softmax(dim=1)")),
        ),
        Misconception(
            "view_for_transpose",
            "Your answer brings the vocabulary to dimension 1 by view or reshape, which mixes the scores of different "
            "tokens: the numbers stay in line, and only the borders move. Use transpose(1, 2).",
            _slip((_LOG_P, "logits.reshape(len(logits), logits.shape[2], -1).mT.log_softmax(dim=-1)")),
        ),
        Misconception(
            "negative",
            "Your answer has the wrong sign: the logarithm of a probability is negative, and a loss is its opposite.",
            _slip((_RETURN, "return -loss")),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits: it takes the logarithm to base 2. Take the natural one.",
            _slip((_RETURN, "return loss / float(torch.tensor(2.0).double().log())")),
        ),
        Misconception(
            "detached",
            "The value is right, but it is detached from the logits (.detach(), .data, no_grad or torch.tensor(...)), "
            "so that nothing could be learned from it.",
            _slip((_RETURN, "return loss.detach()")),
            alone=True,
        ),
        Misconception(
            "log_of_the_softmax",
            "Your answer takes the logarithm of a probability that is too small for its dtype and has become 0: the "
            "loss is infinite. F.log_softmax and F.cross_entropy never compute that probability.",
            _slip((_LOG_P, "logits.softmax(dim=-1).log()")),
        ),
        Misconception(
            "softmax_by_hand",
            "Your answer takes exp of the logits themselves, which overflows at large ones. F.log_softmax and "
            "F.cross_entropy subtract the largest first.",
            _slip((_LOG_P, "(logits.exp() / logits.exp().sum(dim=-1, keepdim=True)).log()")),
        ),
    ),
    withheld=WITHHELD,
)
