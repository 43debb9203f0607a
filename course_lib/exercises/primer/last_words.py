"""Primer, primer.last_words: The last word of each sentence."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import and_turned_around, hints, kinds, mistake
from course_lib.judging.exercise import Case, Exercise
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


EXERCISE = Exercise(
    id="primer.last_words",
    title="The last word of each sentence",
    statement=(
        "last_words(x [sentences, words, d_model]) -> [sentences, d_model]: the vector of each sentence's last word."
    ),
    points=1,
    minutes=4,
    difficulty=1,
    importance=4,
    section="A tensor has a shape",
    source="PyTorch's documentation, Tensor views",
    reference=primer.last_words,
    cases=and_turned_around(_last_cases),
    correct=(_by_loop, lambda x: x.select(1, x.shape[1] - 1), lambda x: x.flip(1)[:, 0]),
    hints=hints(
        idea=(
            "Write one index for each dimension, from left to right. `:` keeps a whole dimension, and -1 picks the "
            "last entry, however long the dimension is."
        ),
        shapes=(
            "`[sentences, words, d_model]` becomes `[sentences, d_model]`. You keep every sentence and every number "
            "of its last word, so the -1 belongs in the second dimension.",
            ("last_sentence", "last_number", "dimension_kept"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer is the whole last sentence: a single index applies to the first dimension. Keep the first "
            "dimension with `:`, and put -1 in the second dimension.",
            last_sentence=lambda x: x[-1],
        ),
        *mistake(
            "Your answer takes the last number of every word: it indexes the third dimension. Index the second "
            "dimension, the words.",
            last_number=lambda x: x[..., -1],
        ),
        *mistake(
            "Your answer has shape [sentences, 1, d_model], because the slice `-1:` keeps the dimension. Index with a "
            "plain -1.",
            dimension_kept=lambda x: x[:, -1:],
        ),
        *mistake(
            "Your answer takes the first word of each sentence, at index 0. Take the last word, at index -1.",
            first_word=lambda x: x[:, 0],
        ),
        *mistake(
            "Your answer takes the word at position 2 (or the last word, if the sentence is shorter). Index with -1, "
            "which is the last word however long the sentence is.",
            position_written_down=lambda x: x[:, min(2, x.shape[1] - 1)],
        ),
        *mistake(
            "Your answer averages the words of each sentence. Take only the last word.",
            mean_of_the_words=lambda x: x.mean(dim=1),
        ),
        *mistake(
            "Your answer adds up the words of each sentence. Take only the last word.",
            sum_of_the_words=lambda x: x.sum(dim=1),
        ),
        *mistake(
            "Your answer takes the second-to-last word. Take the last word, at index -1.",
            last_but_one=lambda x: x[:, max(x.shape[1] - 2, 0)],
        ),
    ),
)
