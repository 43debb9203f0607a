"""Lesson 09, bert.pretraining_loss: Both goals in one loss."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.judging.exercise import Case, Exercise
from course_lib.objectives import pretraining
from course_lib.objectives.labelled_data import IGNORED


def _loss_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        tokens = torch.tensor([[[1.0, 3, 0, 1], [0, 0, 0, 0]], [[1, 0, 0, 4], [0, 2, 2, 0]]]).log1p()
        word_labels = torch.tensor([[1, IGNORED], [IGNORED, 2]])
        pairs, pair_labels = torch.tensor([[2.0, 0], [0, 1]]).log1p(), torch.tensor([0, 1])
        yield Case("worked example: two pairs, one masked token in each", (tokens, word_labels, pairs, pair_labels))
    batch, tokens_, vocab_size = integer(generator, 4, 7), integer(generator, 7, 10), integer(generator, 11, 15)
    for name, dtype in (("a batch", torch.float32), ("double precision", torch.float64)):
        logits = 2 * torch.randn(batch, tokens_, vocab_size, generator=generator, dtype=dtype)
        labels = torch.randint(1, vocab_size, (batch, tokens_), generator=generator)
        asked = torch.zeros(batch, tokens_, dtype=torch.bool)
        for row in range(batch):  # a different number in each
            asked[row, torch.randperm(tokens_, generator=generator)[: 1 + (2 * row) % 5]] = True
        labels[1, asked[1].nonzero()[-1]] = 0  # the first token of the vocabulary is also asked for
        judged = 2 * torch.randn(batch, 2, generator=generator, dtype=dtype)
        follows = torch.randint(2, (batch,), generator=generator)
        follows[0], follows[1] = 1, 0
        args = (logits, labels.masked_fill(~asked, IGNORED), judged, follows)
        yield Case(f"{name}: {batch} pairs", args, gradients=(0, 2))
    alone = (torch.tensor([[[0.5, -1.0]]]), torch.tensor([[1]]), torch.tensor([[2.0, 0.5]]), torch.tensor([1]))
    yield Case("a single pair of one token", alone)
    sure = torch.tensor([[300.0, -300.0], [-200.0, 250.0], [150.0, 90.0]]).repeat(2, 1)[:batch]
    follows = torch.tensor([0, 0, 1]).repeat(2)[:batch]
    yield Case("large logits", (100 * logits.float(), args[1], sure, follows))


def _loss_of_each(word_logits: Tensor, word_labels: Tensor, pair_logits: Tensor, pair_labels: Tensor) -> Tensor:
    asked = word_labels != -100
    log_p, log_p_pairs = word_logits[asked].log_softmax(-1), pair_logits.log_softmax(-1)
    tokens = F.nll_loss(log_p, word_labels[asked])
    pairs = F.nll_loss(log_p_pairs, pair_labels)
    return tokens + pairs


_slip = edits_of(_loss_of_each)
_BOTH = "tokens + pairs"


def _loss_by_loop(word_logits: Tensor, word_labels: Tensor, pair_logits: Tensor, pair_labels: Tensor) -> Tensor:
    tokens = [
        torch.logsumexp(scores, 0) - scores[label]
        for row, labels in zip(word_logits, word_labels.tolist(), strict=True)
        for scores, label in zip(row, labels, strict=True)
        if label != -100
    ]
    pairs = [torch.logsumexp(row, 0) - row[label] for row, label in zip(pair_logits, pair_labels.tolist(), strict=True)]
    return torch.stack(tokens).mean() + torch.stack(pairs).mean()


def _loss_by_softplus(word_logits: Tensor, word_labels: Tensor, pair_logits: Tensor, pair_labels: Tensor) -> Tensor:
    lead = pair_logits[:, 1] - pair_logits[:, 0]
    asked = word_labels != -100
    tokens = F.nll_loss(word_logits[asked].log_softmax(-1), word_labels[asked])
    return tokens + F.binary_cross_entropy_with_logits(lead, pair_labels.to(lead.dtype))


EXERCISE = Exercise(
    id="bert.pretraining_loss",
    title="Both goals in one loss",
    statement=(
        "pretraining_loss(word_logits [batch, tokens, vocab_size], word_labels [batch, tokens], pair_logits [batch, "
        "2], pair_labels [batch]) -> []: the mean loss of the masked tokens plus the mean loss of the pairs."
    ),
    points=2,
    minutes=10,
    difficulty=2,
    importance=3,
    section="Pairs that need no labels",
    source="S2, BERT; Devlin et al. (2019), appendix A.2",
    reference=pretraining.pretraining_loss,
    cases=_loss_cases,
    correct=(_loss_of_each, _loss_by_loop, _loss_by_softplus),
    steps=("token_loss", "pair_loss"),
    hints=hints(
        idea="Add two cross-entropies, each with its own mean. Judging a pair is a classification with two classes."
    ),
    misconceptions=(
        *mistake(
            "Your answer is the mean of the two losses, which is half the right value. BERT's loss is their sum.",
            mean_of_both=_slip((_BOTH, "(tokens + pairs) / 2")),
        ),
        *mistake(
            "Your answer has only one of the two losses. Add the masked tokens' loss and the pairs' loss.",
            words_alone=_slip((_BOTH, "tokens + 0 * pairs")),
            pairs_alone=_slip((_BOTH, "0 * tokens + pairs")),
        ),
        *mistake(
            "Your answer takes the wrong mean. Average the tokens' loss over all masked tokens and the pairs' loss "
            "over all pairs, then add the two.",
            over_all_answers=_slip(
                (_BOTH, "(tokens * asked.sum() + pairs * len(pair_labels)) / (asked.sum() + len(pair_labels))"),
                paired=False,
            ),
            pair_by_pair=_slip(
                (
                    "F.nll_loss(log_p, word_labels[asked])",
                    "sum(map(F.cross_entropy, word_logits, word_labels)) / len(asked)",
                ),
                paired=False,
            ),
            divided_by_all_places=_slip((_BOTH, "tokens * asked.sum() / asked.numel() + pairs"), paired=False),
        ),
        *mistake(
            "Your answer sums a loss, so it grows with the batch. Take the mean of each loss.",
            pairs_summed=_slip(("pairs, pair_labels)", "pairs, pair_labels, reduction='sum')")),
            words_summed=_slip(("word_labels[asked])", "word_labels[asked], reduction='sum')")),
        ),
        *mistake(
            "Your answer also trains on positions that were not chosen, as if their label were token 0. Skip the "
            "positions whose label is -100.",
            every_place_asked=_slip(("asked = ", "word_labels = word_labels.clamp(min=0)\n    asked = ")),
        ),
        *mistake(
            "Your answer skips the positions whose label is 0. But 0 is the id of a token: skip the positions whose "
            "label is -100.",
            word_0_left_out=_slip(("word_labels != -100", "word_labels > 0")),
        ),
        *mistake(
            "Your answer swaps the labels of the pairs. A label is the index of the right score: 0 for the first, 1 "
            "for the second.",
            pair_labels_exchanged=_slip(("pairs, pair_labels", "pairs, 1 - pair_labels")),
        ),
        *mistake(
            "Your answer judges each of the two scores separately, with a sigmoid. The two classes exclude each "
            "other: use cross-entropy, with one softmax over both.",
            two_questions=_slip(
                (
                    "F.nll_loss(log_p_pairs, pair_labels)",
                    "F.binary_cross_entropy_with_logits(pair_logits, F.one_hot(pair_labels, 2).to(pair_logits.dtype))",
                ),
                paired=False,
            ),
        ),
        *mistake(
            "Your answer takes a softmax twice. Pass the scores to cross_entropy: it takes the softmax itself.",
            words_take_it_twice=_slip(("[asked].log", "[asked].softmax(-1).log")),
            pairs_take_it_twice=_slip(("pair_logits.log", "pair_logits.softmax(-1).log")),
        ),
        *mistake(
            "Your answer passes probabilities to nll_loss, which needs log-probabilities. Use cross_entropy on the "
            "scores.",
            without_logarithm=_slip(("[asked].log_", "[asked]."), ("pair_logits.log_", "pair_logits.")),
        ),
        *mistake(
            "Your answer has the wrong sign. A log-probability is negative: the loss is minus the log-probability.",
            negative=_slip((_BOTH, "-tokens - pairs")),
        ),
        *mistake(
            "Your value is right, but the loss of the pairs is detached (.item(), .detach(), no_grad), so the model "
            "cannot learn from it.",
            pairs_detached=_slip((_BOTH, "tokens + pairs.detach()")),
            alone=True,
        ),
        *mistake(
            "Your value is right, but the loss of the tokens is detached (.item(), .detach(), no_grad), so the model "
            "cannot learn from it.",
            words_detached=_slip((_BOTH, "tokens.detach() + pairs")),
            alone=True,
        ),
    ),
)
