"""Primer, primer.last_words: The last word of each sentence."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, kinds
from course_lib.exercises.primer.shared import LESSON, WITHHELD
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.references import primer


def _last_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        x = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]]])
        yield Case("worked example: two sentences of three words", (x,))
    for kind in kinds(generator):
        sentences, words, d_model = kind.sizes(3)
        drawn = kind.normal(sentences, words, d_model)
        yield Case(kind.name, (drawn.reshape(-1, *drawn.shape[-2:]),))


def _by_loop(x: Tensor) -> Tensor:
    return torch.stack([sentence[len(sentence) - 1] for sentence in x])


CORRECT = (
    _by_loop,
    lambda x: x.select(1, x.shape[1] - 1),
    lambda x: x.flip(1)[:, 0],
)


EXERCISE = Exercise(
    id="primer.last_words",
    lesson=LESSON,
    name="last_words",
    title="The last word of each sentence",
    statement="last_words(x [sentences, words, d_model]) -> [sentences, d_model]: each sentence's last vector.",
    points=1,
    minutes=4,
    difficulty=1,
    importance=4,
    section="A tensor has a shape",
    source="PyTorch's documentation, Tensor views",
    reference=primer.last_words,
    cases=and_turned_around(_last_cases),
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "An index has one entry for each dimension, from the left. `:` takes all of a dimension, and -1 its last "
            "entry, however many there are.",
        ),
        Hint(
            "shapes",
            "`[sentences, words, d_model]` becomes `[sentences, d_model]`: all sentences stay, the words go, and the "
            "vector stays whole. So the -1 belongs to the second dimension.",
            answers=("last_sentence", "last_number", "dimension_kept"),
        ),
    ),
    misconceptions=(
        Misconception(
            "last_sentence",
            "Your answer is the last sentence, all of it: a single index goes to the first dimension. Keep the first "
            "with `:`, and put -1 in the second position.",
            lambda x: x[-1],
        ),
        Misconception(
            "last_number",
            "Your answer takes the last number of every word. The words are the second dimension, and you index the "
            "third.",
            lambda x: x[..., -1],
        ),
        Misconception(
            "dimension_kept",
            "Your answer is [sentences, 1, d_model]: a slice such as -1: keeps its dimension. A plain -1 drops it.",
            lambda x: x[:, -1:],
        ),
        Misconception(
            "first_word",
            "Your answer takes the first word of each sentence. Positions count from 0, and the last one is -1.",
            lambda x: x[:, 0],
        ),
        Misconception(
            "position_written_down",
            "Your answer takes the word at position 2 of every sentence, or the last one if there are fewer. The last "
            "position depends on the sentences: -1 is always the last.",
            lambda x: x[:, min(2, x.shape[1] - 1)],
        ),
        Misconception(
            "mean_of_the_words",
            "Your answer is the mean of each sentence's words. Take one of them, the last.",
            lambda x: x.mean(dim=1),
        ),
        Misconception(
            "sum_of_the_words",
            "Your answer adds up the words of each sentence. Take one of them, the last.",
            lambda x: x.sum(dim=1),
        ),
        Misconception(
            "last_but_one",
            "Your answer takes the last word but one. From the end one counts from -1: the last is -1, not -2.",
            lambda x: x[:, max(x.shape[1] - 2, 0)],
        ),
    ),
    withheld=WITHHELD,
)
