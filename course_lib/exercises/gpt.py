"""The exercises of lesson 07: a language model's targets, loss, output and blocks, what it writes, and its size.

Built like those of `course_lib/exercises/attention.py`; read that file first. The model that `gpt.generate` writes with
is passed in, so that nobody's text hangs on somebody's model.

Most mistakes are settings of one function that computes the answer step by step, so that two of them combine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception
from course_lib.exercises.common import Kind, integer, kinds, predicted, sizes
from course_lib.exercises.correct import gpt as correct
from course_lib.exercises.correct.gpt import language_model
from course_lib.from_scratch import language_models
from course_lib.from_scratch.language_models import CausalLanguageModel, gpt_parameters
from course_lib.masking import causal_mask

LESSON = "07_gpt"
WITHHELD = ("course_lib.models", "course_lib.objectives.losses", "course_lib.from_scratch.language_models")

WORDS = ("I", "saw", "the", "dog", "running")
"""The vocabulary of S0's sentence."""

SENTENCES = torch.tensor([[0, 1, 2, 3, 4], [2, 3, 1, 2, 3]])
"""*I saw the dog running*, and *the dog saw the dog*."""


def _batched_kinds(generator: Generator) -> Iterator[Kind]:
    """Batches of sequences: as they come, in double precision, and transposed in memory."""
    batches = sizes(generator, 3)
    yield Kind("a batch of sequences", generator, (batches[0],))
    yield Kind("double precision", generator, (batches[1],), dtype=torch.float64)
    yield Kind("transposed in memory", generator, (batches[2],), transposed=True)


def _ids(generator: Generator, vocabulary: int, *shape: int) -> Tensor:
    return torch.randint(vocabulary, shape, generator=generator)


def _log_probs(logits: Tensor) -> Tensor:
    """Log-probabilities laid out in memory as the logits are."""
    return logits - logits.logsumexp(dim=-1, keepdim=True)


def _as_is(x: Tensor) -> Tensor:
    return x


# gpt.shifted_targets -----------------------------------------------------------------------------------------


def _shifted_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the dog running", (SENTENCES[:1],))
    for name in ("a batch", "another batch"):
        batch, words = sizes(generator, 2)
        yield Case(name, (_ids(generator, 50, batch, words + 2),))
    yield Case("texts of two words", (_ids(generator, 50, integer(generator, 3, 6), 2),))
    longer = _ids(generator, 50, integer(generator, 9, 12), 3).T
    yield Case("transposed in memory", (longer,))


def _shifted(
    ids: Tensor,
    *,
    texts: Callable[[Tensor], Tensor] = _as_is,
    cut: Callable[[Tensor], tuple[Tensor, Tensor]] = lambda ids: (ids[..., :-1], ids[..., 1:]),
    give: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda inputs, targets: (inputs, targets),
) -> tuple[Tensor, Tensor]:
    """Inputs and targets: of other texts, cut in another way, or given back in another way."""
    return give(*cut(texts(ids)))


def _cut(*, read: slice = slice(None), asked: slice = slice(None)) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    return lambda ids: (ids[..., read], ids[..., asked])


SHIFTED_TARGETS = Exercise(
    id="gpt.shifted_targets",
    lesson=LESSON,
    name="shifted_targets",
    title="Shifted targets",
    statement=(
        "shifted_targets(ids int64 [batch, words], at least two words) -> (inputs, targets), a tuple of two int64 "
        "[batch, words - 1]: what the model reads, and at each position the word that comes next."
    ),
    points=1,
    minutes=4,
    section="Every word is a question",
    source="S0, training transformer language models",
    reference=language_models.shifted_targets,
    cases=_shifted_cases,
    correct=correct.SHIFTED_TARGETS,
    misconceptions=(
        Misconception(
            "swapped",
            "Your answer has the two the wrong way round: the inputs are the targets. Return the words to read first, "
            "and the words to predict second.",
            partial(_shifted, give=lambda inputs, targets: (targets, inputs)),
        ),
        Misconception(
            "not_shifted",
            "Your inputs and targets are the same words, so that the model would learn to repeat what it reads. The "
            "target at each position is the word behind it: ids[:, 1:].",
            partial(_shifted, cut=_cut(read=slice(-1), asked=slice(-1))),
        ),
        Misconception(
            "not_shifted_without_the_first",
            "Your inputs and targets are the same words, all but the first, so that the model would learn to repeat "
            "what it reads. The inputs are all words but the last: ids[:, :-1].",
            partial(_shifted, cut=_cut(read=slice(1, None), asked=slice(1, None))),
        ),
        Misconception(
            "nothing_cut_off",
            "Your inputs and targets are both the whole text. The inputs leave out the last word, which has no next "
            "one, and the targets the first.",
            partial(_shifted, cut=_cut()),
        ),
        Misconception(
            "rolled_round",
            "Your targets are rolled round, so that after the last word the model should say the first. Cut off "
            "instead: the last word is never read, the first is never predicted.",
            partial(_shifted, cut=lambda ids: (ids, ids.roll(-1, dims=-1))),
        ),
        Misconception(
            "rolled_through_the_batch",
            "Your targets are rolled without dims, as if the texts were one line: behind the last word of a text comes "
            "the first of the next. Cut off instead: ids[:, :-1] and ids[:, 1:].",
            partial(_shifted, cut=lambda ids: (ids, ids.roll(-1))),
        ),
        Misconception(
            "rolled_and_cut",
            "Your targets are the words before, not those behind. The target of position t is the word at t + 1: "
            "ids[:, 1:].",
            partial(_shifted, cut=lambda ids: (ids[..., :-1], ids.roll(1, dims=-1)[..., :-1])),
        ),
        Misconception(
            "inputs_not_cut",
            "Your inputs still have the last word, for which there is no target: one more input than targets. Leave "
            "it out: ids[:, :-1].",
            partial(_shifted, cut=_cut(asked=slice(1, None))),
        ),
        Misconception(
            "targets_not_cut",
            "Your targets still have the first word, which nobody is to predict: one more target than inputs. Leave "
            "it out: ids[:, 1:].",
            partial(_shifted, cut=_cut(read=slice(-1))),
        ),
        Misconception(
            "shifted_by_two",
            "Your targets are two words further than the inputs. The target of each word is the very next one: cut off "
            "one word on each side, ids[:, :-1] and ids[:, 1:].",
            partial(_shifted, cut=_cut(read=slice(-2), asked=slice(2, None))),
        ),
        Misconception(
            "sentences_shifted",
            "Your answer shifts along the batch: each text's targets are another text. Words are the second "
            "dimension: ids[:, :-1] and ids[:, 1:].",
            partial(_shifted, cut=lambda ids: (ids[:-1], ids[1:])),
        ),
        Misconception(
            "as_many_words_as_texts",
            "Your answer cuts at the number of texts, which len(ids) is. The number of words is ids.shape[1]; "
            "ids[:, :-1] needs neither.",
            partial(_shifted, cut=lambda ids: (ids[..., : len(ids) - 1], ids[..., 1 : len(ids)])),
        ),
        Misconception(
            "filled_up",
            "Your targets are filled up with a word 0 at the end, as if every text ended there. Leave the last word "
            "out of the inputs instead, so that both have words - 1 positions.",
            partial(_shifted, cut=lambda ids: (ids, F.pad(ids[..., 1:], (0, 1)))),
        ),
        Misconception(
            "pairs_only",
            "Your answer keeps only the last word as the target. Every word but the first is one: a text of n words "
            "gives n - 1 questions.",
            partial(_shifted, cut=lambda ids: (ids[..., :-1], ids[..., -1])),
        ),
        Misconception(
            "one_text",
            "Your answer has the first text only. Cut all texts of the batch: ids[:, :-1] and ids[:, 1:].",
            partial(_shifted, texts=lambda ids: ids[0]),
        ),
        Misconception(
            "one_line",
            "Your answer joins the texts into one line, so that the first word of a text is the target behind the last "
            "of another. Cut each text by itself: ids[:, :-1] and ids[:, 1:].",
            partial(_shifted, texts=torch.flatten),
        ),
        Misconception(
            "squeezed",
            "Your answer loses a dimension wherever there is one text or one word left in it: squeeze() takes away "
            "every dimension of size 1. Leave it out.",
            partial(_shifted, give=lambda inputs, targets: (inputs.squeeze(), targets.squeeze())),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.lm_loss -------------------------------------------------------------------------------------------------

ZEROS = "words of probability 0"


def _example_log_probs() -> Tensor:
    """Made-up log-probabilities of the five words behind each word that is read, [2, 4, 5]."""
    return torch.log_softmax(2 * torch.cos(torch.arange(40.0)).reshape(2, 4, 5), dim=-1)


def _loss_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    """Gradients where the vocabulary is large: there cross_entropy gives the same for log_probs as NLLLoss does.

    Its own log-softmax adds each word's probability to the gradient, which is less than 2e-5 of the target's. For what
    is below log_probs, the two agree everywhere.

    Words of probability 0 stand at every other position only: to drop those positions is another mistake than 0 * -inf.
    """
    if not hidden:
        yield Case("worked example: I saw the dog running", (_example_log_probs(), SENTENCES[:, 1:]))
    for kind in _batched_kinds(generator):
        words, vocabulary = integer(generator, 11, 14), integer(generator, 15, 19)
        targets = _ids(generator, vocabulary, kind.leading[0], words)
        targets[-1, 0] = 0
        logits = 3 * kind.normal(words, vocabulary)
        yield Case(kind.name, (_log_probs(logits), targets))
    batch, words = sizes(generator, 2)
    logits = torch.randn(batch, words, 12, generator=generator)
    logits[:, ::2, ::3] = -math.inf
    possible = torch.tensor([word for word in range(12) if word % 3])
    targets = possible[_ids(generator, len(possible), batch, words)]
    yield Case(ZEROS, (_log_probs(logits), targets), part=ZEROS)
    logits = torch.rand(2, 1, 100_000, generator=generator) / 2
    logits[..., integer(generator, 0, 100_000)] = 0.7  # the most probable word is one alone
    targets = _ids(generator, 100_000, 2, 1)
    yield Case("a large vocabulary, and the gradient", (_log_probs(logits), targets), gradients=(0,))


def _picked(log_probs: Tensor, targets: Tensor) -> Tensor:
    """The log-probability of each target, [batch, words]."""
    return log_probs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def _in_other_classes(log_probs: Tensor, targets: Tensor) -> Tensor:
    return -F.nll_loss(log_probs.reshape(len(log_probs), -1, targets.shape[1]), targets, reduction="none")


def _position_by_position(x: Tensor) -> Tensor:
    """As `x`, with the first two dimensions flattened in the other order."""
    return x.transpose(0, 1).reshape(x.shape)


def _torn(log_probs: Tensor) -> Tensor:
    return log_probs.transpose(1, 2).reshape(log_probs.shape)


Questions = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]

OTHER_QUESTIONS: Mapping[str, Questions] = {
    "only_the_last_word": lambda given, targets: (given[:, -1:], targets[:, -1:]),
    "only_the_first_text": lambda given, targets: (given[:1], targets[:1]),
    "shifted_again": lambda given, targets: (given[:, :-1], targets[:, 1:]),
    "word_0_left_out": lambda given, targets: (given[targets != 0], targets[targets != 0]),
    "targets_in_another_order": lambda given, targets: (given, _position_by_position(targets)),
    "log_probs_in_another_order": lambda given, targets: (_position_by_position(given), targets),
}
"""Other questions than all those of the batch, or other answers to them."""


def _loss(
    log_probs: Tensor,
    targets: Tensor,
    *,
    given: Callable[[Tensor], Tensor] = _as_is,
    questions: Questions = lambda given, targets: (given, targets),
    pick: Callable[[Tensor, Tensor], Tensor] = _picked,
    join: Callable[[Tensor], Tensor] = torch.mean,
    finish: Callable[[Tensor], Tensor] = torch.neg,
) -> Tensor:
    """The loss step by step: of other numbers, of other questions, picked, joined or finished in another way."""
    return finish(join(pick(*questions(given(log_probs), targets))))


LM_LOSS = Exercise(
    id="gpt.lm_loss",
    lesson=LESSON,
    name="lm_loss",
    title="The loss of a batch",
    statement=(
        "lm_loss(log_probs [batch, words, vocabulary], targets int64 [batch, words]) -> a single number, a tensor "
        "without dimensions, from which a gradient comes back to log_probs: the mean over all words of the batch of "
        "minus the log-probability of the target."
    ),
    points=3,
    minutes=12,
    section="One loss for a whole batch",
    source="S0, batching with NLLLoss",
    reference=language_models.lm_loss,
    cases=_loss_cases,
    parts={CORE: 2, ZEROS: 1},
    correct=correct.LM_LOSS,
    misconceptions=(
        Misconception(
            "reshaped_not_transposed",
            "Your answer gives NLLLoss [batch, vocabulary, words] by reshaping, which tears the rows of numbers apart. "
            "Reshape to [batch * words, vocabulary] instead, or exchange the two dimensions with transpose(1, 2).",
            partial(_loss, pick=_in_other_classes),
        ),
        Misconception(
            "transposed_and_reshaped",
            "Your answer exchanges dimensions and then reshapes to [..., vocabulary], which tears the rows of numbers "
            "apart. Flatten log_probs as they are, flatten(0, 1), or exchange dimensions without a reshape.",
            partial(_loss, given=_torn),
        ),
        Misconception(
            "targets_in_another_order",
            "Your answer flattens the targets in another order than the log-probabilities: one goes text by text, the "
            "other position by position. Flatten both in the same way: targets.flatten().",
            partial(_loss, questions=OTHER_QUESTIONS["targets_in_another_order"]),
        ),
        Misconception(
            "log_probs_in_another_order",
            "Your answer flattens the log-probabilities in another order than the targets: one goes position by "
            "position, the other text by text. Flatten both in the same way: log_probs.flatten(0, 1).",
            partial(_loss, questions=OTHER_QUESTIONS["log_probs_in_another_order"]),
        ),
        Misconception(
            "sign_forgotten",
            "Your answer is negative. A log-probability is at most 0: put a minus in front, so that the loss is not.",
            partial(_loss, finish=_as_is),
        ),
        Misconception(
            "summed",
            "Your answer is the sum over all words. Take the mean, so that the loss does not depend on the size of "
            "the batch.",
            partial(_loss, join=torch.sum),
        ),
        Misconception(
            "summed_over_words",
            "Your answer sums over the words of a text and takes the mean over texts only. Take the mean over all "
            "words of the batch.",
            partial(_loss, join=lambda numbers: numbers.sum(dim=-1).mean()),
        ),
        Misconception(
            "summed_over_texts",
            "Your answer takes the mean over the words of each text, but the sum over texts. Take the mean over all "
            "words of the batch.",
            partial(_loss, join=lambda numbers: numbers.mean(dim=-1).sum()),
        ),
        Misconception(
            "not_averaged",
            "Your answer is one loss for each word. Take their mean: a single number.",
            partial(_loss, join=_as_is),
        ),
        Misconception(
            "not_averaged_and_flat",
            "Your answer is one loss for each word. Take their mean: a single number.",
            partial(_loss, join=torch.flatten),
        ),
        Misconception(
            "only_the_last_word",
            "Your answer counts the last word of each text only. Every word is a question: take the mean over all of "
            "them.",
            partial(_loss, questions=OTHER_QUESTIONS["only_the_last_word"]),
        ),
        Misconception(
            "only_the_first_text",
            "Your answer counts the first text of the batch only. Take the mean over all texts.",
            partial(_loss, questions=OTHER_QUESTIONS["only_the_first_text"]),
        ),
        Misconception(
            "probabilities",
            "Your answer takes exp of the log-probabilities before it picks the targets'. NLLLoss wants the logarithms "
            "as they come: it only picks, averages and changes the sign.",
            partial(_loss, given=torch.exp),
        ),
        Misconception(
            "softmax_of_probabilities",
            "Your answer gives cross_entropy probabilities, and it takes the log-softmax of them as if they were "
            "scores. Leave exp out: log_probs are what NLLLoss wants, as they come.",
            partial(_loss, given=lambda log_probs: torch.log_softmax(log_probs.exp(), dim=-1)),
        ),
        Misconception(
            "logarithm_twice",
            "Your answer takes the logarithm once more, which is NaN for negative numbers. log_probs are logarithms "
            "already.",
            partial(_loss, given=torch.log),
        ),
        Misconception(
            "detached",
            "No gradient comes back from your loss to log_probs (.detach(), .data, torch.tensor(...), numpy, no_grad), "
            "so that no model could learn from it. Stay within torch's functions all the way.",
            partial(_loss, given=torch.detach),
        ),
        Misconception(
            "perplexity",
            "Your answer is exp of the loss, the perplexity. The loss itself is asked for.",
            partial(_loss, finish=lambda mean: torch.exp(-mean)),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits: it divides by ln 2. The loss is in nats, as NLLLoss gives it.",
            partial(_loss, finish=lambda mean: -mean / math.log(2)),
        ),
        Misconception(
            "mean_over_the_vocabulary",
            "Your answer takes the mean of all log-probabilities, those of wrong words too. Only the target's counts "
            "at each position.",
            partial(_loss, pick=lambda log_probs, targets: log_probs),
        ),
        Misconception(
            "best_word",
            "Your answer uses the most probable word at each position, whatever the target is. A loss needs the "
            "targets: pick the log-probability of the right word.",
            partial(_loss, pick=lambda log_probs, targets: log_probs.amax(dim=-1)),
        ),
        Misconception(
            "shifted_again",
            "Your answer shifts once more. The targets are shifted already: the one at each position belongs to the "
            "log-probabilities at the same position.",
            partial(_loss, questions=OTHER_QUESTIONS["shifted_again"]),
        ),
        Misconception(
            "zero_times_infinity",
            "Your answer is right unless some word has probability 0, whose logarithm is -inf: 0 times that is NaN. "
            "Pick the target's number (NLLLoss, gather) instead of multiplying by a one-hot vector.",
            partial(
                _loss,
                pick=lambda log_probs, targets: (F.one_hot(targets, log_probs.shape[-1]) * log_probs).sum(dim=-1),
            ),
            alone=True,
        ),
        Misconception(
            "places_with_zeros_left_out",
            "Your answer is right unless some word has probability 0: it passes over the whole position where there is "
            "one. Its target counts like any other: pick that number, and leave the rest of the row alone.",
            partial(
                _loss,
                questions=lambda log_probs, targets: (
                    log_probs[log_probs.isfinite().all(dim=-1)],
                    targets[log_probs.isfinite().all(dim=-1)],
                ),
            ),
            alone=True,
        ),
        Misconception(
            "word_0_left_out",
            "Your answer passes over the places whose target is word 0, as if it were padding. Here it is a word "
            "like any other.",
            partial(_loss, questions=OTHER_QUESTIONS["word_0_left_out"]),
        ),
        Misconception(
            "every_target_at_every_place",
            "Your answer takes all targets at every place, log_probs[:, :, targets], and not the one that belongs "
            "there. gather picks one for each place.",
            lambda log_probs, targets: -log_probs[:, :, targets].mean(),
        ),
        Misconception(
            "zeros_averaged_too",
            "Your answer divides by the size of the vocabulary as well: is it a mean over a one-hot product, whose "
            "zeros count? Divide by the number of words alone.",
            lambda log_probs, targets: -_picked(log_probs, targets).sum() / log_probs.numel(),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.tied_logits ---------------------------------------------------------------------------------------------


def _logits_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        embedding = torch.tensor([[0.5, -1.0], [1.0, 0.5], [-1.0, -0.5], [2.0, 1.0], [0.5, 2.0]])
        states = torch.tensor([[1.0, -0.5], [0.0, 1.5], [2.0, 1.0], [-0.5, 2.0]])
        yield Case("worked example: I saw the dog", (states, embedding))
    for kind in kinds(generator):
        words, vocabulary = kind.sizes(2)
        d_model = kind.d_head()
        rows = Kind(kind.name, generator, dtype=kind.dtype, transposed=kind.transposed)
        yield Case(kind.name, (kind.normal(words, d_model), rows.normal(vocabulary + 20, d_model)), gradients=(0, 1))


def _scores(
    states: Tensor,
    embedding: Tensor,
    *,
    of: Callable[[Tensor], Tensor] = _as_is,
    rows: Callable[[Tensor], Tensor] = _as_is,
    learned: tuple[bool, bool] = (True, True),
    product: Callable[[Tensor, Tensor], Tensor] = lambda states, embedding: states @ embedding.T,
    divided_by: Callable[[int], float] = lambda d_model: 1,
    finish: Callable[[Tensor], Tensor] = _as_is,
) -> Tensor:
    """Logits of other states, with other rows, without a gradient to either, in another way."""
    states, embedding = (x if keep else x.detach() for x, keep in zip((states, embedding), learned, strict=True))
    return finish(product(of(states), rows(embedding)) / divided_by(states.shape[-1]))


def _unit(x: Tensor) -> Tensor:
    return F.normalize(x, dim=-1)


TIED_LOGITS = Exercise(
    id="gpt.tied_logits",
    lesson=LESSON,
    name="tied_logits",
    title="Tied logits",
    statement=(
        "tied_logits(states [..., d_model], embedding [vocabulary, d_model]) -> [..., vocabulary]: the score of each "
        "word behind each state, the dot product of the state with the word's embedding."
    ),
    points=2,
    minutes=6,
    section="From a vector to a word",
    source="S0, P(w given context) = softmax(W h); Press and Wolf (2017)",
    reference=language_models.tied_logits,
    cases=_logits_cases,
    correct=correct.TIED_LOGITS,
    misconceptions=(
        Misconception(
            "softmax_taken",
            "Your answer is the probabilities already. Logits are the scores before the softmax: return W h.",
            partial(_scores, finish=lambda logits: torch.softmax(logits, dim=-1)),
        ),
        Misconception(
            "log_softmax_taken",
            "Your answer is the log-probabilities already. Logits are the scores before the softmax: return W h.",
            partial(_scores, finish=lambda logits: torch.log_softmax(logits, dim=-1)),
        ),
        Misconception(
            "softmax_over_the_first_dimension",
            "Your answer takes a softmax over the first dimension. Logits are the scores before any softmax: return "
            "W h.",
            partial(_scores, finish=lambda logits: torch.softmax(logits, dim=0)),
        ),
        Misconception(
            "scaled",
            "Your answer divides by √d_model, as attention does. The output layer does not: it is W h alone.",
            partial(_scores, divided_by=math.sqrt),
        ),
        Misconception(
            "divided_by_d_model",
            "Your answer takes the mean over the dimensions. A dot product is the sum: W h alone.",
            partial(_scores, divided_by=float),
        ),
        Misconception(
            "cosine",
            "Your answer is the cosine of the angle: it divides by both lengths. A longer embedding makes a word more "
            "probable everywhere, and the model uses that: take the dot product as it is.",
            partial(_scores, of=_unit, rows=_unit),
        ),
        Misconception(
            "embeddings_normalised",
            "Your answer brings the embeddings to length 1 first. A longer embedding makes a word more probable "
            "everywhere, and the model uses that: take the rows as they are.",
            partial(_scores, rows=_unit),
        ),
        Misconception(
            "distance",
            "Your answer scores words by how near their embedding is to the state (minus the distance). S0 takes the "
            "dot product.",
            partial(_scores, product=lambda states, embedding: -(states.unsqueeze(-2) - embedding).norm(dim=-1)),
        ),
        Misconception(
            "view_for_transpose",
            "Your answer reshapes the embedding to [d_model, vocabulary], which tears its rows apart. Transpose it: "
            "embedding.T.",
            partial(_scores, product=lambda states, embedding: states @ embedding.reshape(states.shape[-1], -1)),
        ),
        Misconception(
            "words_as_rows",
            "Your answer is transposed, [..., vocabulary, words]. Each state has a row of scores: states @ "
            "embedding.T.",
            partial(_scores, product=lambda states, embedding: embedding @ states.mT),
        ),
        Misconception(
            "reshaped_back",
            "Your answer multiplies embedding @ states.mT and brings the result into shape by reshaping, so that the "
            "scores of different states are mixed. Exchange the two dimensions, or multiply states @ embedding.T.",
            partial(
                _scores,
                product=lambda states, embedding: (embedding @ states.mT).reshape(*states.shape[:-1], len(embedding)),
            ),
        ),
        Misconception(
            "most_probable_word",
            "Your answer is the id of the best word. Return the scores of all words; which of them to choose is "
            "another question.",
            partial(_scores, finish=lambda logits: logits.argmax(dim=-1)),
        ),
        Misconception(
            "only_the_last_state",
            "Your answer scores the word behind the last state only. In training every state is asked: one row of "
            "scores for each.",
            partial(_scores, of=lambda states: states[..., -1, :]),
        ),
        Misconception(
            "largest_subtracted",
            "Your answer subtracts the largest score of each row, as a softmax does for its own safety. Return the "
            "scores themselves, W h.",
            partial(_scores, finish=lambda logits: logits - logits.amax(dim=-1, keepdim=True)),
        ),
        Misconception(
            "embedding_detached",
            "No gradient reaches `embedding`: another tensor with its values is used (.detach(), .data, "
            "torch.tensor, nn.Parameter(...)). Tied means that both uses train the same matrix.",
            partial(_scores, learned=(True, False)),
        ),
        Misconception(
            "states_detached",
            "No gradient reaches `states` (.detach(), .data, numpy), so that nothing below the output layer could "
            "learn. Use them as they come.",
            partial(_scores, learned=(False, True)),
        ),
        Misconception(
            "no_gradients",
            "No gradient reaches the states or the embedding: the computation leaves torch somewhere (.detach(), "
            "numpy, no_grad). The model could not learn.",
            partial(_scores, learned=(False, False)),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.causal_language_model -----------------------------------------------------------------------------------


def _model_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        construct = {"vocabulary": 5, "context": 4, "d_model": 6, "heads": 2, "layers": 1, "causal": True}
        yield _model_case("worked example: I saw the dog", generator, construct, SENTENCES[:, :-1])
    for name, causal, full, dtype in (
        ("a batch", True, False, torch.float32),
        ("as many words as the context", True, True, torch.float32),
        ("double precision", True, False, torch.float64),
        ("causal=False", False, False, torch.float32),
    ):
        batch, words = sizes(generator, 2)
        words += 2
        heads = integer(generator, 2, 4)
        construct = {
            "vocabulary": integer(generator, 20, 30),
            "context": words if full else words + integer(generator, 1, 4),
            "d_model": heads * integer(generator, 3, 6),
            "heads": heads,
            "layers": 2,
            "causal": causal,
        }
        ids = _ids(generator, int(construct["vocabulary"]), batch, words)
        yield _model_case(name, generator, construct, ids, CORE if causal else WITHOUT_MASK, dtype)


WITHOUT_MASK = "without the mask"


def _model_case(
    name: str,
    generator: Generator,
    construct: dict[str, Any],
    ids: Tensor,
    part: str = CORE,
    dtype: torch.dtype = torch.float32,
) -> Case:
    """A case with weights far from those that a new model begins with, so that each of them shows."""
    weights = {
        key: 0.4 * torch.randn(value.shape, generator=generator, dtype=dtype)
        for key, value in CausalLanguageModel(**construct).state_dict().items()
    }
    for key in weights:
        if "norm" in key and key.endswith("weight"):
            weights[key] += 1
    return Case(name, (ids,), construct=construct, weights=weights, weight_gradients=True, part=part)


Layers = Callable[[CausalLanguageModel, Tensor, Tensor | None], Tensor]


def _embedded(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    return model.positions(model.embedding(ids))  # type: ignore[no-any-return]


def _through_blocks(model: CausalLanguageModel, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in model.blocks:
        x = block(x, mask).out
    return x


def _output(model: CausalLanguageModel, x: Tensor) -> Tensor:
    return x @ model.embedding.weight.T


def _model(
    *,
    mask: Callable[[Tensor], Tensor | None] = _as_is,
    embed: Callable[[CausalLanguageModel, Tensor], Tensor] = _embedded,
    through: Layers = _through_blocks,
    norm: bool = True,
    asked: Callable[[Tensor], Tensor] = _as_is,
    output: Callable[[CausalLanguageModel, Tensor], Tensor] = _output,
    finish: Callable[[Tensor], Tensor] = _as_is,
    **construct: Any,
) -> nn.Module:
    """The model with another mask made from the right one, other vectors at its bottom, other layers or logits."""

    def compute(model: CausalLanguageModel, ids: Tensor) -> Tensor:
        right = causal_mask(ids.shape[1]) if model.causal else None
        x = through(model, embed(model, ids), None if right is None else mask(right))
        return finish(output(model, asked(model.norm(x) if norm else x)))

    return language_model(compute)(**construct)


def _alone(**settings: Any) -> Callable[..., nn.Module]:
    """The model with settings that do not combine with others: such pairs are rare, and a model takes its time."""
    return lambda **construct: _model(**settings, **construct)


def _norm_behind_every_block(model: CausalLanguageModel, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in model.blocks:
        x = model.norm(block(x, mask).out)
    return x


def _positions_in_every_block(model: CausalLanguageModel, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in model.blocks:
        x = block(model.positions(x), mask).out
    return x


def _added_around_the_blocks(model: CausalLanguageModel, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in model.blocks:
        x = x + block(x, mask).out
    return x


def _mask_in_the_first_block(model: CausalLanguageModel, x: Tensor, mask: Tensor | None) -> Tensor:
    for block in model.blocks:
        x, mask = block(x, mask).out, None
    return x


def _same_block_again(model: CausalLanguageModel, x: Tensor, mask: Tensor | None) -> Tensor:
    for _ in model.blocks:
        x = model.blocks[0](x, mask).out
    return x


def _always_causal(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    return _output(model, model.norm(_through_blocks(model, _embedded(model, ids), causal_mask(ids.shape[1]))))


def _beginnings(model: CausalLanguageModel, ids: Tensor) -> Tensor:
    lengths = range(1, ids.shape[1] + 1) if model.causal else [ids.shape[1]]
    x = [_through_blocks(model, _embedded(model, ids[:, :length]), None) for length in lengths]
    return _output(model, model.norm(torch.stack([states[:, -1] for states in x], dim=1) if model.causal else x[0]))


CAUSAL_LANGUAGE_MODEL = Exercise(
    id="gpt.causal_language_model",
    lesson=LESSON,
    name="CausalLanguageModel",
    title="A causal language model",
    statement=(
        "class CausalLanguageModel(nn.Module): __init__(vocabulary, context, d_model, heads, layers, causal=True) is "
        "given; forward(ids int64 [batch, words]) -> logits [batch, words, vocabulary]: embedding, positions, blocks "
        "under a causal mask, norm, tied output."
    ),
    points=5,
    minutes=25,
    section="Only a decoder",
    source="S0, transformer language models; S2, transformer decoder (T-D)",
    reference=CausalLanguageModel,
    cases=_model_cases,
    parts={CORE: 4, WITHOUT_MASK: 1},
    correct=correct.CAUSAL_LANGUAGE_MODEL,
    misconceptions=(
        Misconception(
            "always_causal",
            "Your model is right, but it always uses the mask. Where self.causal is False, let every word see every "
            "other: pass None as the mask.",
            language_model(_always_causal),
            alone=True,
        ),
        Misconception(
            "no_mask",
            "Your model reads the words that it is to predict: where self.causal is True no mask reaches the blocks. "
            "Pass the causal mask to each of them there, block(x, mask), and None only where self.causal is False.",
            partial(_model, mask=lambda mask: None),
        ),
        Misconception(
            "mask_in_the_first_block",
            "Your model uses the mask in its first block only, and in the others words see what is to be predicted. "
            "Pass the mask to every block.",
            _alone(through=_mask_in_the_first_block),
        ),
        Misconception(
            "keys_as_rows",
            "Your model uses the mask transposed: each word sees itself and the future, and not the past. Rows are "
            "queries: the allowed part is the lower triangle.",
            partial(_model, mask=lambda mask: mask.T),
        ),
        Misconception(
            "mask_inverted",
            "Your model sees only the future: the mask is True where attention is forbidden, as torch's modules want "
            "it. In this course True means `may attend`.",
            partial(_model, mask=torch.logical_not),
        ),
        Misconception(
            "itself_forbidden",
            "Your mask forbids each word to see itself. The diagonal is allowed: a word knows itself, and what it is "
            "to predict is the next one.",
            partial(_model, mask=lambda mask: mask.tril(diagonal=-1)),
        ),
        Misconception(
            "one_word_ahead",
            "Your mask also allows the next word, which is the very one to be predicted. Query i attends to keys 0 to "
            "i only.",
            partial(_model, mask=lambda mask: torch.ones_like(mask).tril(diagonal=1)),
        ),
        Misconception(
            "no_positions",
            "Your model leaves out the positions. Let self.positions add them to the embeddings, before the first "
            "block.",
            partial(_model, embed=lambda model, ids: model.embedding(ids)),
        ),
        Misconception(
            "positions_twice",
            "Your model adds the positions twice. self.positions(x) returns x with them added already.",
            partial(_model, embed=lambda model, ids: model.embedding(ids) + _embedded(model, ids)),
        ),
        Misconception(
            "positions_in_every_block",
            "Your model adds the positions again before every block. Add them once, to the embeddings, before the "
            "first.",
            _alone(embed=lambda model, ids: model.embedding(ids), through=_positions_in_every_block),
        ),
        Misconception(
            "positions_again_in_every_block",
            "Your model adds the positions to the embeddings, and again before every block. Once is enough: to the "
            "embeddings, before the first block.",
            _alone(through=_positions_in_every_block),
        ),
        Misconception(
            "embedding_scaled",
            "Your model multiplies the embeddings by √d_model, as the translating transformer does. GPT does not.",
            partial(
                _model,
                embed=lambda model, ids: model.positions(model.embedding(ids) * math.sqrt(model.norm.weight.numel())),
            ),
        ),
        Misconception(
            "shifted_inside",
            "Your model shifts the ids once more: in place of each word it reads the one before. Read ids as they "
            "come; the mask alone keeps the next word hidden.",
            partial(_model, embed=lambda model, ids: _embedded(model, F.pad(ids[:, :-1], (1, 0)))),
        ),
        Misconception(
            "input_detached",
            "No gradient comes back through the embeddings that your model reads (.detach(), .data, no_grad), so that "
            "the words learn by the output layer alone. Use self.embedding(ids) as it is.",
            _alone(embed=lambda model, ids: model.positions(model.embedding(ids).detach())),
        ),
        Misconception(
            "no_final_norm",
            "Your model leaves out the final norm. In pre-norm blocks nothing standardises what the last one returns: "
            "apply self.norm before the output.",
            partial(_model, norm=False),
        ),
        Misconception(
            "side_by_side",
            "Each of your blocks reads the embeddings, and only the last one counts. Stack them: each block reads "
            "what the one below returned (x = block(x, mask).out).",
            _alone(through=lambda model, x, mask: model.blocks[-1](x, mask).out),
        ),
        Misconception(
            "first_block_only",
            "Your model uses its first block only. Go through all of self.blocks.",
            _alone(through=lambda model, x, mask: model.blocks[0](x, mask).out),
        ),
        Misconception(
            "same_block_again",
            "Your model goes through its first block again and again. Each block has weights of its own: go through "
            "self.blocks, one after the other.",
            _alone(through=_same_block_again),
        ),
        Misconception(
            "norm_before_the_blocks",
            "Your model applies self.norm before the first block. It belongs behind the last one, before the output.",
            partial(_model, embed=lambda model, ids: model.norm(_embedded(model, ids)), norm=False),
        ),
        Misconception(
            "every_beginning_by_itself",
            "Your model reads each beginning of the text by itself, without the mask. It does not cheat, but it is "
            "another model, and slow: from the second block on, early words have seen later ones. One reading under "
            "the mask is asked for.",
            language_model(_beginnings),
        ),
        Misconception(
            "states_returned",
            "Your model returns the states, d_model numbers for each word. The output layer is missing: their dot "
            "products with all embeddings.",
            _alone(output=lambda model, x: x),
        ),
        Misconception(
            "probabilities",
            "Your model returns probabilities. Return the logits, the scores before the softmax: the training loop "
            "takes the log-softmax of them.",
            partial(_model, finish=lambda logits: torch.softmax(logits, dim=-1)),
        ),
        Misconception(
            "log_probabilities",
            "Your model returns log-probabilities. Return the logits, the scores before the softmax: the training "
            "loop takes the log-softmax of them.",
            partial(_model, finish=lambda logits: torch.log_softmax(logits, dim=-1)),
        ),
        Misconception(
            "last_word_only",
            "Your model answers behind the last word only. Return logits for every position, [batch, words, "
            "vocabulary]: in training each of them is a question.",
            partial(_model, asked=lambda x: x[:, -1]),
        ),
        Misconception(
            "logits_scaled",
            "Your model divides the logits by √d_model. The output layer is W h alone.",
            _alone(output=lambda model, x: _output(model, x) / math.sqrt(x.shape[-1])),
        ),
        Misconception(
            "view_for_transpose",
            "Your model reshapes the embedding to [d_model, vocabulary], which tears its rows apart. Transpose it: "
            "self.embedding.weight.T.",
            _alone(output=lambda model, x: x @ model.embedding.weight.view(x.shape[-1], -1)),
        ),
        Misconception(
            "output_detached",
            "Your output layer is not the embedding itself but has its values only (.detach(), .data, torch.tensor): "
            "no gradient comes back that way. Use self.embedding.weight itself.",
            _alone(output=lambda model, x: x @ model.embedding.weight.detach().T),
        ),
        Misconception(
            "norm_behind_every_block",
            "Your answer norms behind every block. The blocks have norms of their own inside; self.norm comes once, "
            "behind the last.",
            _alone(through=_norm_behind_every_block, norm=False),
        ),
        Misconception(
            "added_around_the_blocks",
            "Your answer adds each block's input to its output. The residual connections are inside the blocks: go "
            "on with what a block returns.",
            _alone(through=_added_around_the_blocks),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.loss_without_mask ---------------------------------------------------------------------------------------


def _prediction_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the dog", (torch.tensor([2.5, 2.0, 1.5, 1.0]),))
    for kind in kinds(generator):
        (words,) = kind.sizes(1)
        yield Case(kind.name, (kind.normal(words).abs() + 0.5,))
    yield Case("a single word", (torch.rand(1, generator=generator) + 0.5,))


def _only(places: slice | list[int], honest: Tensor) -> Tensor:
    """The honest loss at these positions, 0 at the others."""
    kept = torch.zeros_like(honest)
    kept[..., places] = honest[..., places]
    return kept


def _last(loss: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The prediction that is right but at the last position, where the loss is another."""

    def predict(honest: Tensor) -> Tensor:
        losses = torch.zeros_like(honest)
        losses[..., -1] = loss(honest)
        return losses

    return predict


LOSS_WITHOUT_MASK = Exercise(
    id="gpt.loss_without_mask",
    lesson=LESSON,
    name="loss_without_mask",
    title="Predict: the loss without a mask",
    statement=(
        "loss_without_mask(honest [..., words]) -> [..., words]: the lowest loss that a model can reach at each "
        "position without a mask, from that of an honest one; both read the same words and have the same targets."
    ),
    points=1,
    minutes=6,
    section="What would happen without the mask?",
    source="S0, a small problem with transformer language models",
    reference=language_models.loss_without_mask,
    cases=predicted(_prediction_cases),
    # A prediction has nothing to overflow or to differentiate: the mistakes are other predictions.
    correct=correct.LOSS_WITHOUT_MASK,
    misconceptions=(
        Misconception(
            "zero_everywhere",
            "Your prediction is right but for the last position. Its target is the word behind the last input: it is "
            "not there to be copied, and the model must guess as honestly as the other.",
            torch.zeros_like,
        ),
        Misconception(
            "zero_at_a_single_word",
            "Your prediction is right but for a text of one word. Its position is the last one, too, and its target is "
            "not in the input.",
            lambda honest: _only([-1], honest) if honest.shape[-1] > 1 else torch.zeros_like(honest),
        ),
        Misconception(
            "nothing_changes",
            "Your prediction is that the mask makes no difference. But without it position t sees the word at t + 1, "
            "and that word is its target.",
            lambda honest: honest.clone(),
        ),
        Misconception(
            "as_good_as_the_last",
            "Your prediction is that every position is now as good as the last, which sees all words in any case. They "
            "see more than that: the next word is their target itself, and nothing is left to guess.",
            lambda honest: honest[..., -1:].expand_as(honest),
        ),
        Misconception(
            "as_good_as_the_best",
            "Your prediction is that every position is now as good as the best. Look at what each of them sees: where "
            "the target itself stands in the input, nothing is left to guess, and elsewhere nothing is won.",
            lambda honest: honest.amin(dim=-1, keepdim=True).expand_as(honest),
        ),
        Misconception(
            "mean_everywhere",
            "Your prediction gives every position the mean of the honest losses. But the positions do not share what "
            "they know. Ask of each whether its target stands in the input, to be copied.",
            lambda honest: honest.mean(dim=-1, keepdim=True).expand_as(honest),
        ),
        Misconception(
            "one_place_further",
            "Your prediction is that each position is now as good as the next, since it knows one word more. But that "
            "word is the answer itself: copying it costs nothing.",
            lambda honest: torch.cat([honest[..., 1:], honest[..., -1:]], dim=-1),
        ),
        Misconception(
            "one_place_further_and_zero",
            "Your prediction is that each position is now as good as the next, and the last one perfect. But the "
            "next word is the answer itself, so that copying it costs nothing; the last position has none to copy.",
            lambda honest: F.pad(honest[..., 1:], (0, 1)),
        ),
        Misconception(
            "zero_but_the_first",
            "Your prediction keeps the loss of the first position. Its target, the second word, stands in the input "
            "too. The one position whose target is missing is the last.",
            lambda honest: _only([0], honest),
        ),
        Misconception(
            "zero_but_the_ends",
            "Your prediction keeps the loss of the first position beside that of the last. The target of the first, "
            "the second word, stands in the input, too.",
            lambda honest: _only([0, -1], honest),
        ),
        Misconception(
            "zero_but_the_last_two",
            "Your prediction keeps the loss of the last two positions. The target of the last but one is the last "
            "word of the input: it can be copied.",
            lambda honest: _only(slice(-2, None), honest),
        ),
        Misconception(
            "only_the_last_is_zero",
            "Your prediction is the other way round: the last position is the only one that cannot copy, for the word "
            "behind the last input is not in the input.",
            lambda honest: _only(slice(0, -1), honest),
        ),
        Misconception(
            "last_text_kept",
            "Your prediction is right for one text. In a batch it keeps the losses of the last text, at all its "
            "positions: positions are the last dimension, losses[..., -1].",
            lambda honest: torch.cat([torch.zeros_like(honest[:-1]), honest[-1:]]),
        ),
        Misconception(
            "last_as_good_as_the_best",
            "Your prediction gives the last position the lowest of the honest losses. Without the mask it sees no more "
            "than with it: it must guess as honestly as the other, with the same loss.",
            _last(lambda honest: honest.amin(dim=-1)),
        ),
        Misconception(
            "last_as_the_mean",
            "Your prediction gives the last position the mean of the honest losses. Without the mask it sees no more "
            "than with it: it must guess as honestly as the other, with the same loss.",
            _last(lambda honest: honest.mean(dim=-1)),
        ),
        Misconception(
            "last_as_the_first",
            "Your prediction gives the last position the loss of the honest first one. It has read all words before, "
            "with a mask and without: its loss is the honest one at its own place.",
            _last(lambda honest: honest[..., 0]),
        ),
        Misconception(
            "half",
            "Your prediction halves the loss. There is nothing gradual about it: where the target stands in the "
            "input, it can be copied, and the loss goes to 0.",
            lambda honest: honest / 2,
        ),
        Misconception(
            "last_word_only",
            "Your prediction speaks of the last position only. Return a loss for every position.",
            lambda honest: honest[..., -1],
        ),
        Misconception(
            "endless",
            "Your prediction is an infinite loss. The model still learns, and all too well: where the target stands "
            "in the input it is copied.",
            lambda honest: torch.full_like(honest, math.inf),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.generate ------------------------------------------------------------------------------------------------


def _knows_the_sentence_by_heart(ids: Tensor) -> Tensor:
    """I saw the dog running, I saw the dog running, ..."""
    _require_ids(ids, len(WORDS))
    return 5.0 * F.one_hot((ids + 1) % len(WORDS), len(WORDS))


EXAMPLE_MODEL = Callback("model", _knows_the_sentence_by_heart)


@dataclass(frozen=True, eq=False)  # equal tensors are not equal in Python's sense
class _DrawnModel:
    """Logits that depend on every word so far and on their positions; beyond its context the model answers nonsense.

    Attributes:
        own: what each word says of the next.
        so_far: what it says of all that come after it.
        place: what each place says.
        sure: what the logits are multiplied by.
    """

    own: Tensor
    so_far: Tensor
    place: Tensor
    sure: float = 1.0

    def __call__(self, ids: Tensor) -> Tensor:
        vocabulary, context = len(self.own), len(self.place)
        _require_ids(ids, vocabulary)
        places = torch.arange(ids.shape[1])
        before = self.so_far[ids].cumsum(dim=1) / (places + 1).sqrt().unsqueeze(-1)
        logits: Tensor = self.sure * (self.own[ids] + 3 * before + self.place[places % context])
        return logits if ids.shape[1] <= context else -logits


def _require_ids(ids: object, vocabulary: int) -> None:
    if not isinstance(ids, Tensor) or ids.dim() != 2 or ids.is_floating_point():
        shape = list(ids.shape) if isinstance(ids, Tensor) else type(ids).__name__
        raise ValueError(f"the model reads ids of shape [batch, words], whole numbers, not {shape}")
    if ids.shape[1] == 0 or int(ids.min()) < 0 or int(ids.max()) >= vocabulary:
        raise ValueError(f"the model reads at least one word, with ids from 0 to {vocabulary - 1}")


LONG = "long texts"


def _generate_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the", (EXAMPLE_MODEL, torch.tensor([0, 1, 2]), 2, 8))
        yield Case("nothing to write", (EXAMPLE_MODEL, torch.tensor([3, 1]), 0, 8))
    for name, words, new_words, context, sure, part in (
        ("a short prompt", 3, 6, 20, 1.0, CORE),
        ("a prompt of one word, and logits beyond 100", 1, 5, 6, 100.0, CORE),
        ("a text that outgrows the context", 3, 9, 5, 1.0, LONG),
        ("a prompt longer than the context", 9, 4, 4, 1.0, LONG),
    ):
        vocabulary = integer(generator, 40, 60)
        drawn = torch.randn(2 * vocabulary + context, vocabulary, generator=generator)
        own, so_far, place = drawn.split([vocabulary, vocabulary, context])
        model = Callback("model", _DrawnModel(own, so_far, place, sure))
        yield Case(name, (model, _ids(generator, vocabulary, words), new_words, context), part=part)
    own, so_far, place = torch.randn(80 + 12, 40, generator=generator).split([40, 40, 12])
    place[3, 0] = 100.0  # behind a prompt of two words the third new word is word 0, the lesson's full stop
    model = Callback("model", _DrawnModel(own, so_far, place))
    yield Case("word 0 on the way", (model, 1 + _ids(generator, 39, 2), 8, 12))


Model = Callable[[Tensor], Tensor]


def _written(
    model: Model,
    prompt: Tensor,
    new_words: int,
    context: int,
    *,
    begin: Callable[[Tensor, int], Tensor] = lambda prompt, context: prompt,
    count: Callable[[int, int], int] = lambda new_words, prompt: new_words,
    keep: Callable[[Tensor, int], Tensor] = lambda ids, context: ids,
    read: Callable[[Tensor, int], Tensor] = lambda ids, context: ids[-context:],
    choose: Callable[[Tensor], Tensor] = lambda logits: logits[0, -1].argmax(),
    add: Callable[[Tensor, Tensor], Tensor] = lambda ids, word: torch.cat([ids, word]),
    give: Callable[[Tensor, int, int], Tensor] = lambda ids, prompt, context: ids,
) -> Tensor:
    """Text written by a loop, each step of which may be another one; a prompt is given on by its length."""
    ids = begin(prompt, context)
    for _ in range(count(new_words, len(prompt))):
        ids = keep(ids, context)
        ids = add(ids, choose(model(read(ids, context).unsqueeze(0))).reshape(1))
    return give(ids, len(prompt), context)


def _window_cut_once(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    seen = _written(model, prompt[-context:], new_words, context, read=lambda ids, context: ids)
    return torch.cat([prompt[:-context], seen])


def _from_one_reading(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    word = model(prompt[-context:].unsqueeze(0))[0, -1].argmax()
    return torch.cat([prompt, word.expand(new_words)])


def _best_of_one_reading(model: Model, prompt: Tensor, new_words: int, context: int) -> Tensor:
    return torch.cat([prompt, model(prompt[-context:].unsqueeze(0))[0, -1].topk(new_words).indices])


def _up_to_word_0(model: Model, prompt: Tensor, new_words: int, context: int, itself: bool = True) -> Tensor:
    ids = _written(model, prompt, new_words, context)
    ends = (ids[len(prompt) :] == 0).nonzero()
    return ids[: len(prompt) + int(ends[0]) + itself] if len(ends) else ids


GENERATE = Exercise(
    id="gpt.generate",
    lesson=LESSON,
    name="generate",
    title="Writing",
    statement=(
        "generate(model, prompt int64 [words], new_words, context) -> int64 [words + new_words]: the prompt, and "
        "behind it the most probable next word, again and again; model(ids [batch, words]) gives logits [batch, words, "
        "vocabulary] and reads at most `context` words, the last ones."
    ),
    points=3,
    minutes=15,
    section="Let it write",
    source="S3, text generation; S2, greedy decoding",
    reference=language_models.generate,
    cases=_generate_cases,
    parts={CORE: 2, LONG: 1},
    correct=correct.GENERATE,
    misconceptions=(
        Misconception(
            "context_ignored",
            "Your answer is right as long as the text fits into the context. Beyond it the model has no positions: "
            "give it the last `context` words only, ids[-context:].",
            partial(_written, read=lambda ids, context: ids),
            alone=True,
        ),
        Misconception(
            "first_words_kept",
            "Your answer gives the model the first `context` words of a long text. What comes next depends on the last "
            "ones: ids[-context:].",
            partial(_written, read=lambda ids, context: ids[:context]),
        ),
        Misconception(
            "one_word_short_of_the_context",
            "Your answer gives the model one word fewer than its context holds. It can read all of `context` words: "
            "ids[-context:].",
            partial(_written, read=lambda ids, context: ids[-(context - 1) :]),
        ),
        Misconception(
            "one_word_beyond_the_context",
            "Your answer gives the model one word more than its context holds. It can read `context` words: "
            "ids[-context:].",
            partial(_written, read=lambda ids, context: ids[-(context + 1) :]),
        ),
        Misconception(
            "prompt_cut_once",
            "Your answer cuts the prompt to the context once, before the loop, and then the text grows beyond it. Cut "
            "at every step, and keep the whole text for the end.",
            partial(_written, begin=lambda prompt, context: prompt[-context:], read=lambda ids, context: ids),
            alone=True,
        ),
        Misconception(
            "window_cut_once",
            "Your answer cuts what the model reads once, before the loop, and then it grows beyond the context. Cut at "
            "every step: ids[-context:].",
            _window_cut_once,
        ),
        Misconception(
            "long_prompt_cut_off",
            "Your answer is right unless the prompt is longer than the context: then its first words are missing. Cut "
            "what the model reads, not the text itself.",
            partial(_written, begin=lambda prompt, context: prompt[-context:]),
            alone=True,
        ),
        Misconception(
            "only_the_window_returned",
            "Your answer returns only the last `context` words. Cut what the model reads, not what you return: the "
            "text begins with the whole prompt.",
            partial(_written, give=lambda ids, prompt, context: ids[-context:]),
        ),
        Misconception(
            "padded_to_the_context",
            "Your answer fills the text up with word 0 in front until it is as long as the context, and the model "
            "takes those for words. Give it a short text as it is: ids[-context:].",
            partial(_written, read=lambda ids, context: F.pad(ids, (context, 0))[-context:]),
        ),
        Misconception(
            "prompt_left_out",
            "Your answer is the new words only. Return the whole text, the prompt in front.",
            partial(_written, give=lambda ids, prompt, context: ids[prompt:]),
        ),
        # torch makes floats of an empty list, and stacks none: with nothing to write these two end differently.
        Misconception(
            "prompt_left_out_of_a_list",
            "Your answer is the new words only. Return the whole text, the prompt in front.",
            partial(_written, give=lambda ids, prompt, context: torch.tensor(ids[prompt:].tolist())),
        ),
        Misconception(
            "prompt_left_out_of_a_stack",
            "Your answer is the new words only. Return the whole text, the prompt in front.",
            partial(_written, give=lambda ids, prompt, context: torch.stack(list(ids[prompt:]))),
        ),
        Misconception(
            "one_reading",
            "Your answer writes the word behind the prompt again and again. Append the new word, let the model read "
            "the longer text, and ask behind its last word: logits[0, -1].",
            _from_one_reading,
        ),
        Misconception(
            "best_of_one_reading",
            "Your answer asks the model once, and writes down the most probable words for one and the same place. "
            "Append one word, let the model read the longer text, and ask again.",
            _best_of_one_reading,
        ),
        Misconception(
            "only_the_last_word_read",
            "Your answer lets the model read the last word only. It needs all that stands before: the last `context` "
            "words.",
            partial(_written, read=lambda ids, context: ids[-1:]),
        ),
        Misconception(
            "first_position_asked",
            "Your answer takes the logits of the first position, which has read one word. The next word is behind the "
            "last position: logits[0, -1].",
            partial(_written, choose=lambda logits: logits[0, 0].argmax()),
        ),
        Misconception(
            "position_before_the_last_asked",
            "Your answer takes the logits of the last position but one, which predict the last word of the text "
            "itself. The next word is behind the last position: logits[0, -1].",
            partial(_written, choose=lambda logits: logits[0, -2:][0].argmax()),
        ),
        Misconception(
            "all_positions_asked",
            "Your answer looks for the largest logit of all positions. The others speak of words that are there "
            "already: the next word is behind the last position, logits[0, -1].",
            partial(_written, choose=lambda logits: logits[0].amax(dim=0).argmax()),
        ),
        Misconception(
            "exp_overflows",
            "Your answer takes exp of the logits, which is infinite beyond 88, and then it cannot tell the best word "
            "from others. exp changes no order: take the largest logit itself.",
            partial(_written, choose=lambda logits: logits[0, -1].exp().argmax()),
        ),
        Misconception(
            "least_probable",
            "Your answer takes the least probable word (argmin). Take the most probable: argmax.",
            partial(_written, choose=lambda logits: logits[0, -1].argmin()),
        ),
        Misconception(
            "one_word_too_many",
            "Your answer writes one word too many. Write exactly `new_words`.",
            partial(_written, count=lambda new_words, prompt: new_words + 1),
        ),
        Misconception(
            "one_word_at_least",
            "Your answer writes a word even where new_words is 0. Write exactly `new_words`: then the prompt alone.",
            partial(_written, count=lambda new_words, prompt: max(1, new_words)),
        ),
        Misconception(
            "one_word_too_few",
            "Your answer writes one word too few. Write exactly `new_words`.",
            partial(_written, count=lambda new_words, prompt: new_words - 1),
        ),
        Misconception(
            "stopped_at_the_full_stop",
            "Your answer is right until the model writes word 0, the full stop of this lesson: there it ends. Write "
            "exactly `new_words`; a text may have several sentences.",
            _up_to_word_0,
        ),
        Misconception(
            "stopped_before_the_full_stop",
            "Your answer is right until the model wants word 0, the full stop of this lesson: there it ends. Write "
            "exactly `new_words`; a text may have several sentences.",
            lambda model, prompt, new_words, context: _up_to_word_0(model, prompt, new_words, context, itself=False),
        ),
        Misconception(
            "length_of_the_whole",
            "Your answer stops when the whole text has `new_words` words. That many are to be added to the prompt.",
            partial(_written, count=lambda new_words, prompt: new_words - prompt),
        ),
        Misconception(
            "new_words_in_front",
            "Your answer puts the new words in front of the text. They come behind it: torch.cat([ids, word]).",
            partial(_written, add=lambda ids, word: torch.cat([word, ids])),
        ),
        Misconception(
            "batch_left_on",
            "Your answer is [1, words]: the dimension of the batch is still there. Remove it with squeeze(0).",
            partial(_written, give=lambda ids, prompt, context: ids.unsqueeze(0)),
        ),
        Misconception(
            "text_cut_to_the_window",
            "Your answer is right as long as the text fits into the context. Later it drops the beginning for good: "
            "ids = ids[-context:]. Cut only what the model reads, and keep the text whole.",
            partial(_written, keep=lambda ids, context: ids[-context:]),
            alone=True,
        ),
    ),
    withheld=WITHHELD,
)


# gpt.fine_tuning_loss ----------------------------------------------------------------------------------------


def _fine_tuning_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        class_logits = torch.tensor([[1.0, -1.0], [0.5, 2.0]])
        lm_logits = 2 * torch.cos(torch.arange(40.0)).reshape(2, 4, 5)
        yield Case(
            "worked example: I saw the dog running, weight 0.5",
            (class_logits, torch.tensor([0, 1]), lm_logits, SENTENCES[:, 1:], 0.5),
            gradients=(0, 2),
        )
    for kind in _batched_kinds(generator):
        (batch,), words, vocabulary = kind.leading, integer(generator, 8, 11), integer(generator, 12, 19)
        classes = integer(generator, 2, 5)
        targets = _ids(generator, vocabulary, batch, words)
        targets[-1, 0] = 0
        yield Case(
            kind.name,
            (
                2 * torch.randn(batch, classes, generator=generator, dtype=kind.dtype),
                _ids(generator, classes, batch),
                2 * kind.normal(words, vocabulary),
                targets,
                integer(generator, 2, 8) / 10 + (1.05 if kind.transposed else 0.05),
            ),
            gradients=(0, 2),
        )
    yield Case(
        "weight 0",
        (
            torch.randn(3, 2, generator=generator),
            _ids(generator, 2, 3),
            torch.randn(3, 4, 6, generator=generator),
            _ids(generator, 6, 3, 4),
            0.0,
        ),
    )


def _mean_loss(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())


def _of_probabilities(logits: Tensor, targets: Tensor) -> Tensor:
    return _mean_loss(torch.softmax(logits, dim=-1), targets)


def _without_log_softmax(logits: Tensor, targets: Tensor) -> Tensor:
    return F.nll_loss(logits.flatten(0, -2), targets.flatten())


def _tuned(
    class_logits: Tensor,
    labels: Tensor,
    lm_logits: Tensor,
    targets: Tensor,
    weight: float,
    *,
    task: Callable[[Tensor, Tensor], Tensor] = _mean_loss,
    lm: Callable[[Tensor, Tensor], Tensor] = _mean_loss,
    learned: tuple[bool, bool] = (True, True),
    add: Callable[[Tensor, Tensor, float], Tensor] = lambda task, lm, weight: task + weight * lm,
) -> Tensor:
    """The two losses computed, learned from or added up in another way."""
    losses = task(class_logits, labels), lm(lm_logits, targets)
    one, other = (loss if keep else loss.detach() for loss, keep in zip(losses, learned, strict=True))
    return add(one, other, weight)


def _of_other_words(questions: Questions) -> Callable[..., Tensor]:
    """With the loss of language modelling of other words than all; such mistakes seldom come with another."""
    return lambda class_logits, labels, lm_logits, targets, weight: _tuned(
        class_logits, labels, *questions(lm_logits, targets), weight
    )


FINE_TUNING_LOSS = Exercise(
    id="gpt.fine_tuning_loss",
    lesson=LESSON,
    name="fine_tuning_loss",
    title="The loss of fine-tuning",
    statement=(
        "fine_tuning_loss(class_logits [batch, classes], labels int64 [batch], lm_logits [batch, words, vocabulary], "
        "targets int64 [batch, words], weight) -> a single number: the mean cross-entropy of the labels, plus weight "
        "times that of the words."
    ),
    points=2,
    minutes=8,
    section="Fine-tuning",
    source="S2, GPT-1; Radford et al. (2018), section 3.2",
    reference=language_models.fine_tuning_loss,
    cases=_fine_tuning_cases,
    correct=correct.FINE_TUNING_LOSS,
    misconceptions=(
        Misconception(
            "no_auxiliary_loss",
            "Your answer is the loss of the labels alone. GPT-1 adds weight times the loss of language modelling.",
            partial(_tuned, add=lambda task, lm, weight: task),
        ),
        Misconception(
            "auxiliary_loss_alone",
            "Your answer is the weighted loss of language modelling alone. The loss of the labels is missing.",
            partial(_tuned, add=lambda task, lm, weight: weight * lm),
        ),
        Misconception(
            "not_weighted",
            "Your answer adds the two losses as they are. Multiply that of language modelling by weight.",
            partial(_tuned, add=lambda task, lm, weight: task + lm),
        ),
        Misconception(
            "weight_on_the_labels",
            "Your answer multiplies the wrong loss by weight. The labels count in full, language modelling is "
            "weighted.",
            partial(_tuned, add=lambda task, lm, weight: weight * task + lm),
        ),
        Misconception(
            "both_weighted",
            "Your answer multiplies the sum of both losses by weight. The labels count in full.",
            partial(_tuned, add=lambda task, lm, weight: weight * (task + lm)),
        ),
        Misconception(
            "weight_of_the_paper",
            "Your answer weights language modelling by 0.5, as GPT-1 did, whatever `weight` is. Use `weight`.",
            partial(_tuned, add=lambda task, lm, weight: task + 0.5 * lm),
        ),
        Misconception(
            "weight_at_most_1",
            "Your answer cuts a weight above 1 down to 1. Use it as it comes.",
            partial(_tuned, add=lambda task, lm, weight: task + min(weight, 1.0) * lm),
        ),
        Misconception(
            "weight_cut_to_an_integer",
            "Your answer cuts the weight down to a whole number, so that 0.5 becomes 0. Use it as it comes.",
            partial(_tuned, add=lambda task, lm, weight: task + int(weight) * lm),
        ),
        Misconception(
            "logits_as_log_probabilities",
            "Your answer gives NLLLoss (or exercise 2's loss) the logits as they are. It wants log-probabilities: take "
            "the log-softmax first, or F.cross_entropy, which does.",
            partial(_tuned, lm=_without_log_softmax),
        ),
        Misconception(
            "class_logits_as_log_probabilities",
            "Your answer gives NLLLoss the logits of the classes as they are. It wants log-probabilities: take the "
            "log-softmax first, or F.cross_entropy, which does.",
            partial(_tuned, task=_without_log_softmax),
        ),
        Misconception(
            "softmax_of_the_words",
            "Your answer takes a softmax of lm_logits and gives cross_entropy probabilities. It wants the logits: the "
            "softmax is inside it.",
            partial(_tuned, lm=_of_probabilities),
        ),
        Misconception(
            "softmax_of_the_classes",
            "Your answer takes a softmax of class_logits and gives cross_entropy probabilities. It wants the logits: "
            "the softmax is inside it.",
            partial(_tuned, task=_of_probabilities),
        ),
        Misconception(
            "mixture",
            "Your answer mixes the two losses with weights 1 - weight and weight. In GPT-1's equation 5 the labels "
            "count in full: the weights need not sum to 1.",
            partial(_tuned, add=lambda task, lm, weight: (1 - weight) * task + weight * lm),
        ),
        Misconception(
            "weighted_mean",
            "Your answer divides by 1 + weight, as a weighted mean would. GPT-1's loss is the sum: leave the division "
            "out.",
            partial(_tuned, add=lambda task, lm, weight: (task + weight * lm) / (1 + weight)),
        ),
        Misconception(
            "subtracted",
            "Your answer subtracts the auxiliary loss, so that training would make the language model worse. Add it.",
            partial(_tuned, add=lambda task, lm, weight: task - weight * lm),
        ),
        Misconception(
            "words_summed",
            "Your answer sums the loss over the words. Take the mean over all words of the batch.",
            partial(_tuned, lm=lambda logits, targets: _mean_loss(logits, targets) * targets.numel()),
        ),
        Misconception(
            "words_summed_over_each_text",
            "Your answer sums the loss over the words of a text, and takes the mean over texts only. Take the mean "
            "over all words of the batch.",
            partial(_tuned, lm=lambda logits, targets: _mean_loss(logits, targets) * targets.shape[-1]),
        ),
        Misconception(
            "labels_summed",
            "Your answer sums the loss of the labels over the batch. Take the mean.",
            partial(_tuned, task=lambda logits, labels: _mean_loss(logits, labels) * len(labels)),
        ),
        Misconception(
            "reshaped_not_transposed",
            "Your answer reshapes lm_logits to [batch, vocabulary, words], which tears the rows of numbers apart. "
            "Flatten to [batch * words, vocabulary], or exchange the dimensions with transpose(1, 2).",
            partial(
                _tuned,
                lm=lambda logits, targets: F.cross_entropy(
                    logits.reshape(len(targets), -1, targets.shape[-1]), targets
                ),
            ),
        ),
        Misconception(
            "targets_in_another_order",
            "Your answer flattens the targets in another order than lm_logits: one goes text by text, the other "
            "position by position. Flatten both in the same way: targets.flatten().",
            _of_other_words(OTHER_QUESTIONS["targets_in_another_order"]),
        ),
        Misconception(
            "logits_in_another_order",
            "Your answer flattens lm_logits in another order than the targets: one goes position by position, the "
            "other text by text. Flatten both in the same way: lm_logits.flatten(0, 1).",
            _of_other_words(OTHER_QUESTIONS["log_probs_in_another_order"]),
        ),
        Misconception(
            "shifted_again",
            "Your answer shifts once more. The targets are shifted already: the one at each position belongs to the "
            "logits at the same position.",
            _of_other_words(OTHER_QUESTIONS["shifted_again"]),
        ),
        Misconception(
            "only_the_last_word",
            "Your answer counts only the last word of each text in the loss of language modelling. Every word is a "
            "question: take the mean over all of them.",
            _of_other_words(OTHER_QUESTIONS["only_the_last_word"]),
        ),
        Misconception(
            "only_the_first_text",
            "Your answer counts only the first text in the loss of language modelling. Take the mean over all words of "
            "the batch.",
            _of_other_words(OTHER_QUESTIONS["only_the_first_text"]),
        ),
        Misconception(
            "word_0_left_out",
            "Your answer passes over the places whose target is word 0, as if it were padding. Here it is a word like "
            "any other.",
            _of_other_words(OTHER_QUESTIONS["word_0_left_out"]),
        ),
        Misconception(
            "language_model_detached",
            "No gradient reaches `lm_logits` (.detach(), .item(), no_grad). An auxiliary loss that nobody learns from "
            "is no help.",
            partial(_tuned, learned=(True, False)),
        ),
        Misconception(
            "labels_not_learned",
            "No gradient reaches `class_logits` (.detach(), .item(), no_grad), so that the task itself is never "
            "learned. Stay within torch's functions all the way.",
            partial(_tuned, learned=(False, True)),
        ),
    ),
    withheld=WITHHELD,
)


# gpt.count_parameters ----------------------------------------------------------------------------------------

GPT2_SIZES = {12: 768, 24: 1024, 36: 1280, 48: 1600}
"""The layers and d_model of GPT-2's four sizes (S3)."""

OWN_OUTPUT = "an output of its own"


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        for layers, d_model in GPT2_SIZES.items():
            first = "worked example, the smallest GPT-2" if layers == 12 else f"GPT-2 with {layers} layers"
            yield Case(first, (50_257, 1024, d_model, layers, True))
    vocabulary, context = integer(generator, 1000, 9000), integer(generator, 100, 900)
    yield Case("another model", (vocabulary, context, integer(generator, 11, 99), integer(generator, 3, 9), True))
    yield Case("no blocks at all", (integer(generator, 50, 99), integer(generator, 5, 9), 12, 0, True))
    vocabulary, d_model = integer(generator, 1000, 9000), integer(generator, 11, 99)
    yield Case("an output of its own", (vocabulary, 1024, d_model, 4, False), part=OWN_OUTPUT)


def _counted(
    vocabulary: int,
    context: int,
    d_model: int,
    layers: int,
    tied: bool,
    *,
    sizes: Callable[[int, int, int], tuple[int, int, int]] = lambda vocabulary, context, layers: (
        vocabulary,
        context,
        layers,
    ),
    matrices: tuple[int, int] = (4, 8),
    biases: tuple[int, int] = (4, 5),
    norms: tuple[int, int] = (4, 2),
    more: Callable[[int, int, int], int] = lambda context, d_model, layers: 0,
    positions: Callable[[int, int, int], int] = lambda context, d_model, layers: context * d_model,
    output: Callable[[int, int, bool], int] = lambda vocabulary, d_model, tied: 0 if tied else vocabulary * d_model,
    finish: Callable[[int], int] = lambda count: count,
) -> int:
    """The count, each part of which may be another one.

    Args:
        vocabulary: how many words there are.
        context: how many positions.
        d_model: the length of a word's vector.
        layers: blocks.
        tied: whether the output layer is the embedding.
        sizes: what to count with in place of vocabulary, context and layers.
        matrices: in a block, d_model² so often in attention and in the feed-forward network.
        biases: in a block, d_model so often in attention and in the feed-forward network.
        norms: d_model so often in a block, and at the end.
        more: what else is counted.
        positions: the numbers of the positions.
        output: those of the output layer.
        finish: what is made of the sum.
    """
    vocabulary, context, layers = sizes(vocabulary, context, layers)
    block = sum(matrices) * d_model * d_model + (sum(biases) + norms[0]) * d_model
    around = vocabulary * d_model + positions(context, d_model, layers) + norms[1] * d_model
    return finish(
        around + layers * block + output(vocabulary, d_model, tied) + more(context, d_model, layers),
    )


def _gpt_1s_vocabulary(vocabulary: int, context: int, layers: int) -> tuple[int, int, int]:
    return 40_478, context, layers


COUNT_PARAMETERS = Exercise(
    id="gpt.count_parameters",
    lesson=LESSON,
    name="count_parameters",
    title="Counting parameters",
    statement=(
        "count_parameters(vocabulary, context, d_model, layers, tied) -> int: how many numbers a GPT-2 of these sizes "
        "learns, with feed-forward networks of width 4 d_model; `tied` says whether the output layer is the embedding."
    ),
    points=3,
    minutes=18,
    section="How large is GPT-2?",
    source="S3, GPT-2's four sizes; Radford et al. (2019), table 2",
    reference=gpt_parameters,
    cases=_count_cases,
    parts={CORE: 2, OWN_OUTPUT: 1},
    correct=correct.COUNT_PARAMETERS,
    misconceptions=(
        Misconception(
            "always_tied",
            "Your answer is right for tied outputs. Where `tied` is False, the output layer has a matrix of its own, "
            "vocabulary times d_model (without a bias).",
            partial(_counted, output=lambda vocabulary, d_model, tied: 0),
            alone=True,
        ),
        Misconception(
            "output_counted_twice",
            "Your answer counts the output layer although it is tied. It is the embedding, and the same numbers are "
            "learned once: add it only where `tied` is False.",
            partial(_counted, output=lambda vocabulary, d_model, tied: vocabulary * d_model),
        ),
        Misconception(
            "no_embedding_if_tied",
            "Your answer leaves out the embedding where the output is tied to it. The two are one matrix, and that one "
            "is learned: count it once.",
            partial(
                _counted,
                output=lambda vocabulary, d_model, tied: -vocabulary * d_model if tied else vocabulary * d_model,
            ),
        ),
        Misconception(
            "as_printed",
            "Your answer is what slide S3 and the paper's table 2 print, 117M for the smallest. These are GPT-2's "
            "blocks with the vocabulary of GPT-1, 40,478 words; count with the vocabulary that is given.",
            partial(_counted, sizes=_gpt_1s_vocabulary, finish=lambda count: round(count, -6)),
        ),
        Misconception(
            "vocabulary_of_gpt_1",
            "Your answer counts 40,478 words, the vocabulary of GPT-1, as the table on slide S3 seems to do. Count "
            "with the vocabulary that is given.",
            partial(_counted, sizes=_gpt_1s_vocabulary),
        ),
        Misconception(
            "vocabulary_of_gpt_2",
            "Your answer counts 50,257 words, whatever the vocabulary is. Count with the vocabulary that is given.",
            partial(_counted, sizes=lambda vocabulary, context, layers: (50_257, context, layers)),
        ),
        Misconception(
            "context_of_gpt_2",
            "Your answer counts 1024 positions, whatever the context is. Count with the context that is given.",
            partial(_counted, sizes=lambda vocabulary, context, layers: (vocabulary, 1024, layers)),
        ),
        Misconception(
            "always_twelve_layers",
            "Your answer counts 12 blocks, as the smallest GPT-2 has. There are `layers` of them.",
            partial(_counted, sizes=lambda vocabulary, context, layers: (vocabulary, context, 12)),
        ),
        Misconception(
            "one_block",
            "Your answer counts one block. There are `layers` of them, and each learns numbers of its own.",
            partial(_counted, sizes=lambda vocabulary, context, layers: (vocabulary, context, 1)),
        ),
        Misconception(
            "no_biases",
            "Your answer leaves out the biases. Each of the linear layers in a block has one: 4 d_model for attention, "
            "5 d_model for the feed-forward network.",
            partial(_counted, biases=(0, 0)),
        ),
        Misconception(
            "d_model_short_in_a_block",
            "Your answer is d_model short in each block: one bias is missing. W_o has one like the other projections, "
            "and so have both layers of the feed-forward network.",
            partial(_counted, biases=(3, 5)),
            alone=True,
        ),
        Misconception(
            "three_d_model_short_in_a_block",
            "Your answer is 3 d_model short in each block. Each of the four projections has a bias of d_model; of the "
            "feed-forward network's two biases, the first has 4 d_model numbers: as many as its layer has outputs.",
            partial(_counted, biases=(4, 2)),
            alone=True,
        ),
        Misconception(
            "four_d_model_short_in_a_block",
            "Your answer is 4 d_model short in each block. So many numbers are in the biases of attention's four "
            "projections, and so many in the two layer norms: count both.",
            partial(_counted, norms=(0, 2)),
            alone=True,
        ),
        Misconception(
            "no_biases_in_feed_forward",
            "Your answer leaves out the biases of the feed-forward network. Both layers have one: 4 d_model for the "
            "first, d_model for the second.",
            partial(_counted, biases=(4, 0)),
        ),
        Misconception(
            "no_norms",
            "Your answer leaves out the layer norms: gamma and beta, 2 d_model each; two in every block and one at the "
            "end.",
            partial(_counted, norms=(0, 0)),
            alone=True,
        ),
        Misconception(
            "no_final_norm",
            "Your answer leaves out the final layer norm, behind the last block: 2 d_model more.",
            partial(_counted, norms=(4, 0)),
        ),
        Misconception(
            "final_norm_in_every_block",
            "Your answer counts three layer norms in a block. There are two, and a single one behind the last block.",
            partial(_counted, norms=(6, 0)),
        ),
        Misconception(
            "one_norm_in_a_block",
            "Your answer counts one layer norm in a block. There are two, one before attention and one before the "
            "feed-forward network.",
            partial(_counted, norms=(2, 2)),
        ),
        Misconception(
            "norms_without_beta",
            "Your answer counts d_model numbers for a layer norm. It has two for each dimension, gamma and beta.",
            partial(_counted, norms=(2, 1)),
        ),
        Misconception(
            "no_positions",
            "Your answer leaves out the positions. GPT-2 learns a vector for each of them: context times d_model.",
            partial(_counted, positions=lambda context, d_model, layers: 0),
        ),
        Misconception(
            "one_number_a_position",
            "Your answer counts one number for each position. A position has a vector of its own, of d_model numbers.",
            partial(_counted, positions=lambda context, d_model, layers: context),
        ),
        Misconception(
            "positions_in_every_block",
            "Your answer counts the positions once for each block. They are added to the embeddings, once: context "
            "times d_model.",
            partial(_counted, positions=lambda context, d_model, layers: layers * context * d_model),
        ),
        Misconception(
            "no_biases_and_no_norms",
            "Your answer is the matrices alone, 12 d_model² in each block and the embeddings: a good estimate. The "
            "exact number has the biases and layer norms too.",
            partial(_counted, biases=(0, 0), norms=(0, 0)),
        ),
        Misconception(
            "blocks_of_matrices_alone",
            "Your answer counts 12 d_model² in each block: the matrices alone. Each has a bias, and a block has two "
            "layer norms.",
            partial(_counted, biases=(0, 0), norms=(0, 2)),
        ),
        Misconception(
            "no_output_projection",
            "Your answer counts three projections in attention, for queries, keys and values. The fourth, W_o, joins "
            "the heads: another d_model² and its bias.",
            partial(_counted, matrices=(3, 8), biases=(3, 5)),
        ),
        Misconception(
            "narrow_feed_forward",
            "Your answer has feed-forward networks of width d_model. They are four times as wide: 8 d_model² for the "
            "two matrices.",
            partial(_counted, matrices=(4, 2), biases=(4, 2)),
        ),
        Misconception(
            "one_layer_of_feed_forward",
            "Your answer counts one layer of the feed-forward network. There are two: up to 4 d_model, and down again.",
            partial(_counted, matrices=(4, 4), biases=(4, 4)),
        ),
        Misconception(
            "cross_attention_counted",
            "Your answer counts two attentions and three norms in a block, as a translating decoder has them. GPT has "
            "no cross-attention: one attention, two norms.",
            partial(_counted, matrices=(8, 8), biases=(8, 5), norms=(6, 2)),
        ),
        Misconception(
            "attention_weights_counted",
            "Your answer counts context times context numbers in each block. Attention's weights are computed anew "
            "from every text, and never learned.",
            partial(_counted, more=lambda context, d_model, layers: layers * context * context),
        ),
        Misconception(
            "own_output_with_bias",
            "Your answer is right for tied outputs. Where `tied` is False it gives the output layer a bias, and "
            "GPT-2's has none.",
            partial(
                _counted, output=lambda vocabulary, d_model, tied: 0 if tied else vocabulary * d_model + vocabulary
            ),
            alone=True,
        ),
        Misconception(
            "output_with_bias",
            "Your answer gives the output layer a bias. GPT-2's has none.",
            partial(
                _counted, output=lambda vocabulary, d_model, tied: vocabulary + (0 if tied else vocabulary * d_model)
            ),
        ),
    ),
    withheld=WITHHELD,
)


EXERCISES = (
    SHIFTED_TARGETS,
    LM_LOSS,
    TIED_LOGITS,
    CAUSAL_LANGUAGE_MODEL,
    LOSS_WITHOUT_MASK,
    GENERATE,
    FINE_TUNING_LOSS,
    COUNT_PARAMETERS,
)
"""In the order of the lesson."""
