"""Lesson 10, evaluation.word_error_rate: Word error rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy
import torch
from torch import Generator

from course_lib.checking.exercise import Callback, Case, Exercise, Hint, Misconception
from course_lib.checking.ready_made import EDITS
from course_lib.exercises.common import integer, sizes
from course_lib.exercises.evaluation.shared import (
    LESSON,
    WITHHELD,
    Words,
    in_percent,
    random_sentence,
    split_words,
)
from course_lib.references import evaluation

_DISTANCE = Callback("distance", evaluation.edit_distance)


def _rate_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        hypotheses = [split_words("the cat did dance"), split_words("meow")]
        references = [split_words("a cat did not dance"), split_words("purr")]
        yield Case("worked example: two sentences", (hypotheses, references, _DISTANCE))
    for count in sizes(generator, 2):
        lengths = [(integer(generator, 2, 9), integer(generator, 3, 12)) for _ in range(count)]
        said, right = zip(
            *((random_sentence(generator, a), random_sentence(generator, b)) for a, b in lengths), strict=True
        )
        right = (*right[:-1], list(said[-1]))  # one sentence is perfect
        yield Case(f"{count} sentences", (list(said), list(right), _DISTANCE))
    babbling = [random_sentence(generator, 9), random_sentence(generator, 5)]
    yield Case("far too many words", (babbling, [["meow"], random_sentence(generator, 2)], _DISTANCE))
    short, long = random_sentence(generator, 4), ["meow", *random_sentence(generator, 5)]
    yield Case("the same pair twice", ([short, ["purr"], short], [long, ["meow"], long], _DISTANCE))
    rest = random_sentence(generator, 3), random_sentence(generator, 6)
    yield Case("nothing is said for two sentences", ([[], rest[0], []], [short, rest[1], long], _DISTANCE))


def _edits(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> list[int]:
    return [evaluation.edit_distance(*pair) for pair in zip(hypotheses, references, strict=True)]


_Sentences = Sequence[Sequence[str]]


def _rate(
    hypotheses: _Sentences,
    references: _Sentences,
    distance: Callable[..., int],
    *,
    edits: Callable[[_Sentences, _Sentences], float] = lambda said, right: sum(_edits(said, right)),
    words: Callable[[_Sentences, _Sentences], float] = lambda said, right: sum(map(len, right)),
    kept: Callable[[Sequence[str], Sequence[str]], bool] = lambda said, right: True,
    cap: float = math.inf,
    returned: Callable[[float], float] = float,
) -> float:
    """`word_error_rate` with one thing, or several, done differently."""
    pairs = [pair for pair in zip(hypotheses, references, strict=True) if kept(*pair)]
    said, right = [one for one, _ in pairs], [one for _, one in pairs]
    return returned(min(cap, edits(said, right) / words(said, right)))


Distance = Callable[[Words, Words], int]


def _rate_by_loop(hypotheses: Sequence[Words], references: Sequence[Words], distance: Distance) -> float:
    edits = words = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        edits += distance(hypothesis, reference)
        words += len(reference)
    return edits / words


def _rate_weighted(hypotheses: Sequence[Words], references: Sequence[Words], distance: Distance) -> float:
    lengths = numpy.array([len(reference) for reference in references])
    rates = numpy.array([distance(*pair) for pair in zip(hypotheses, references, strict=True)]) / lengths
    return numpy.average(rates, weights=lengths)  # type: ignore[no-any-return]


CORRECT = (
    _rate_by_loop,
    _rate_weighted,
    lambda hypotheses, references, distance: (
        sum(map(distance, hypotheses, references)) / len([word for reference in references for word in reference])
    ),
    lambda hypotheses, references, distance: float(
        torch.tensor([distance(references[i], hypotheses[i]) for i in range(len(references))]).sum()
        / sum(map(len, references))
    ),
)


EXERCISE = Exercise(
    id="evaluation.word_error_rate",
    lesson=LESSON,
    name="word_error_rate",
    title="Word error rate",
    statement=(
        "word_error_rate(hypotheses, references, distance) -> float: the edits of the whole corpus over the words of "
        "all references; distance(hypothesis, reference) counts the edits of one pair."
    ),
    points=2,
    minutes=8,
    section="The word error rate",
    source="S1, word error rate",
    reference=evaluation.word_error_rate,
    cases=_rate_cases,
    correct=CORRECT,
    steps=("edits", "words"),
    hints=(
        Hint(
            "idea",
            "Two sums and one division: all edits, over all words of the references.",
        ),
    ),
    misconceptions=(
        Misconception(
            "mean_of_rates",
            "Your answer is the mean of the sentences' own rates, the macro average. For a corpus add up all edits "
            "and all reference words, and divide once.",
            partial(
                _rate,
                edits=lambda said, right: sum(
                    edits / len(one) for edits, one in zip(_edits(said, right), right, strict=True)
                ),
                words=lambda said, right: len(right),
            ),
        ),
        Misconception(
            "over_hypothesis_words",
            "Your answer divides by the words of the hypotheses. Divide by those of the references: otherwise, the "
            "longer a program babbles, the smaller the rate.",
            partial(_rate, words=lambda said, right: sum(map(len, said))),
        ),
        Misconception(
            "over_the_longer",
            "Your answer divides by the longer of the two sentences. Divide by the words of the references, even if "
            "the rate is then above 1.",
            partial(
                _rate, words=lambda said, right: sum(max(map(len, pair)) for pair in zip(said, right, strict=True))
            ),
        ),
        Misconception(
            "over_sentences",
            "Your answer is the number of edits for each sentence. Divide by the words of all references.",
            partial(_rate, words=lambda said, right: len(right)),
        ),
        Misconception(
            "capped_at_one",
            "Your answer never exceeds 1. It may: a program that says far too much makes more mistakes than there are "
            "words.",
            partial(_rate, cap=1.0),
            alone=True,
        ),
        Misconception(
            "accuracy",
            "Your answer is one minus the word error rate. It is an error rate: lower is better.",
            partial(_rate, returned=lambda rate: 1 - rate),
        ),
        Misconception(
            "wrong_sentences",
            "Your answer is the share of sentences with a mistake. Count the edits, and divide by the words of the "
            "references.",
            partial(
                _rate,
                edits=lambda said, right: sum(edits > 0 for edits in _edits(said, right)),
                words=lambda said, right: len(right),
            ),
        ),
        in_percent("a share", partial(_rate, returned=lambda rate: 100 * rate)),
        Misconception(
            "not_divided",
            "Your answer is the number of edits. Divide by the words of all references.",
            partial(_rate, words=lambda said, right: 1),
        ),
        Misconception(
            "empty_hypotheses_left_out",
            "Your answer is right as long as something is said, but leaves out sentences for which nothing was. All "
            "their words are missing: count them.",
            partial(_rate, kept=lambda said, right: bool(said)),
            alone=True,
        ),
        Misconception(
            "empty_hypotheses_cost_nothing",
            "Your answer is right as long as something is said; a sentence for which nothing was costs it nothing. "
            "All its words are missing: distance counts them.",
            partial(
                _rate,
                edits=lambda said, right: sum(
                    edits for edits, one in zip(_edits(said, right), said, strict=True) if one
                ),
            ),
            alone=True,
        ),
        Misconception(
            "over_words_of_both",
            "Your answer divides by the words of hypotheses and references. Divide only by those of the references.",
            partial(_rate, words=lambda said, right: sum(map(len, said)) + sum(map(len, right))),
        ),
        Misconception(
            "upside_down",
            "Your answer is upside down: words over edits. Divide the edits by the words.",
            partial(_rate, returned=lambda rate: 1 / rate),
        ),
        Misconception(
            "first_sentence_alone",
            "Your answer is the rate of the first sentence. Add up the edits and the words of all, and divide once.",
            partial(
                _rate,
                edits=lambda said, right: _edits(said, right)[0],
                words=lambda said, right: len(right[0]),
            ),
        ),
        Misconception(
            "edits_of_the_last_sentence",
            "Your answer has only the edits of the last sentence. Add to the sum in every round: +=.",
            partial(_rate, edits=lambda said, right: _edits(said, right)[-1]),
        ),
        Misconception(
            "edits_of_the_first_sentence",
            "Your answer divides the edits of the first sentence by the words of all of them: does the loop return "
            "too early?",
            partial(_rate, edits=lambda said, right: _edits(said, right)[0]),
        ),
        Misconception(
            "words_of_the_last_reference",
            "Your answer divides by the words of the last reference only. Add to the sum in every round: +=.",
            partial(_rate, words=lambda said, right: len(right[-1])),
        ),
        Misconception(
            "one_long_sentence",
            "Your answer joins all sentences into one and counts its edits, so that words match across sentences. "
            "Call distance for each sentence, and add up.",
            partial(
                _rate,
                edits=lambda said, right: evaluation.edit_distance(sum(map(list, said), []), sum(map(list, right), [])),
            ),
        ),
        Misconception(
            "sentences_as_words",
            "Your answer gives distance the lists of all sentences, so that a whole sentence is one edit. Call it for "
            "each sentence.",
            lambda *case: _rate(*case, edits=lambda said, right: evaluation.edit_distance(said, right)),  # type: ignore[arg-type]
        ),
    ),
    withheld=WITHHELD,
    forbidden=(EDITS,),
)
