"""Lesson 07, gpt.shifted_targets: Shifted targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib.checking.exercise import Case, Exercise, Hint, Misconception
from course_lib.exercises.common import as_it_is, integer, sizes
from course_lib.exercises.gpt.shared import LESSON, SENTENCES, WITHHELD, random_ids
from course_lib.from_scratch import language_models


def _shifted_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw the dog running", (SENTENCES[:1],))
    for name in ("a batch", "another batch"):
        batch, words = sizes(generator, 2)
        yield Case(name, (random_ids(generator, 50, batch, words + 2),))
    yield Case("texts of two words", (random_ids(generator, 50, integer(generator, 3, 6), 2),))
    longer = random_ids(generator, 50, integer(generator, 9, 12), 3).T
    yield Case("transposed in memory", (longer,))


def _shifted(
    ids: Tensor,
    *,
    texts: Callable[[Tensor], Tensor] = as_it_is,
    cut: Callable[[Tensor], tuple[Tensor, Tensor]] = lambda ids: (ids[..., :-1], ids[..., 1:]),
    give: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda inputs, targets: (inputs, targets),
) -> tuple[Tensor, Tensor]:
    """Inputs and targets: of other texts, cut differently, or given back differently."""
    return give(*cut(texts(ids)))


def _cut(*, read: slice = slice(None), asked: slice = slice(None)) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    return lambda ids: (ids[..., read], ids[..., asked])


def _shifted_by_index(ids: Tensor) -> tuple[Tensor, Tensor]:
    places = torch.arange(ids.shape[1] - 1)
    return ids[:, places], ids[:, places + 1]


def _shifted_by_windows(ids: Tensor) -> tuple[Tensor, Tensor]:
    pairs = ids.unfold(1, 2, 1)
    return pairs[..., 0], pairs[..., 1]


CORRECT = (
    _shifted_by_index,
    _shifted_by_windows,
    lambda ids: (ids.narrow(1, 0, ids.shape[1] - 1), ids.narrow(1, 1, ids.shape[1] - 1)),
    lambda ids: (torch.from_numpy(ids.numpy()[:, :-1]), torch.from_numpy(ids.numpy()[:, 1:])),
    lambda ids: (ids[..., :-1], ids.roll(-1, dims=-1)[..., :-1]),
)


EXERCISE = Exercise(
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
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Which word has no successor? Which is nobody's successor? Two slices of the second dimension.",
        ),
    ),
    misconceptions=(
        Misconception(
            "swapped",
            "Your answer has the two the wrong way round: the inputs are the targets. Return the words to read first, "
            "and the words to predict second.",
            partial(_shifted, give=lambda inputs, targets: (targets, inputs)),
        ),
        Misconception(
            "not_shifted",
            "Your inputs and targets are the same words, so the model would learn to repeat what it reads. The target "
            "at each position is the next word: ids[:, 1:].",
            partial(_shifted, cut=_cut(read=slice(-1), asked=slice(-1))),
        ),
        Misconception(
            "not_shifted_without_the_first",
            "Your inputs and targets are the same words, all but the first, so the model would learn to repeat what "
            "it reads. The inputs are all words but the last: ids[:, :-1].",
            partial(_shifted, cut=_cut(read=slice(1, None), asked=slice(1, None))),
        ),
        Misconception(
            "nothing_cut_off",
            "Your inputs and targets are both the whole text. The inputs leave out the last word, which nothing "
            "follows, and the targets leave out the first.",
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
            "Your targets are rolled without dims, as if the texts were one line: after the last word of a text comes "
            "the first of the next. Cut off instead: ids[:, :-1] and ids[:, 1:].",
            partial(_shifted, cut=lambda ids: (ids, ids.roll(-1))),
        ),
        Misconception(
            "rolled_and_cut",
            "Your targets are the words before, not the words after. The target of position t is the word at t + 1: "
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
            "Your targets still have the first word, which nobody has to predict: one more target than inputs. Leave "
            "it out: ids[:, 1:].",
            partial(_shifted, cut=_cut(read=slice(-1))),
        ),
        Misconception(
            "shifted_by_two",
            "Your targets are two words ahead of the inputs. The target of each word is the very next one: cut off "
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
            "Your answer cuts at the number of texts, which is what len(ids) gives. The number of words is "
            "ids.shape[1]; ids[:, :-1] needs neither.",
            partial(_shifted, cut=lambda ids: (ids[..., : len(ids) - 1], ids[..., 1 : len(ids)])),
        ),
        Misconception(
            "filled_up",
            "Your targets are padded with a word 0 at the end, as if every text ended there. Leave the last word out "
            "of the inputs instead, so that both have words - 1 positions.",
            partial(_shifted, cut=lambda ids: (ids, F.pad(ids[..., 1:], (0, 1)))),
        ),
        Misconception(
            "one_text",
            "Your answer has the first text only. Cut all texts of the batch: ids[:, :-1] and ids[:, 1:].",
            partial(_shifted, texts=lambda ids: ids[0]),
        ),
        Misconception(
            "one_line",
            "Your answer joins the texts into one line, so that the first word of one text is the target after the "
            "last word of another. Cut each text by itself: ids[:, :-1] and ids[:, 1:].",
            partial(_shifted, texts=torch.flatten),
        ),
        Misconception(
            "squeezed",
            "Your answer loses a dimension wherever there is one text or one word left in it: squeeze() removes every "
            "dimension of size 1. Leave it out.",
            partial(_shifted, give=lambda inputs, targets: (inputs.squeeze(), targets.squeeze())),
        ),
    ),
    withheld=WITHHELD,
)
