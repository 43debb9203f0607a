"""Lesson 10, evaluation.word_error_rate: Word error rate."""

from collections.abc import Callable, Iterator, Sequence

import numpy
from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake, sizes, slips
from course_lib.exercises.evaluation.shared import Words, in_percent, random_sentence, split_words
from course_lib.judging.exercise import Callback, Case, Exercise
from course_lib.judging.ready_made import EDITS
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
    yield Case("two sentences with no words in the hypothesis", ([[], rest[0], []], [short, rest[1], long], _DISTANCE))


Distance = Callable[[Words, Words], int]


def _rate_of_sums(hypotheses: Sequence[Words], references: Sequence[Words], distance: Distance) -> float:
    pairs = list(zip(hypotheses, references, strict=True))
    edits = [distance(said, right) for said, right in pairs]
    words = [len(right) for _, right in pairs]
    rate = sum(edits) / sum(words)
    return rate


_slip = edits_of(_rate_of_sums)
_RATE, _EDITS, _WORDS = (
    "sum(edits) / sum(words)",
    "[distance(said, right) for said, right in pairs]",
    "len(right) for _, right",
)


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


EXERCISE = Exercise(
    id="evaluation.word_error_rate",
    title="Word error rate",
    statement=(
        "word_error_rate(hypotheses, references, distance) -> float: the number of edits in the whole corpus divided "
        "by the number of all reference words. distance(hypothesis, reference) counts the edits of one pair."
    ),
    points=2,
    minutes=8,
    difficulty=1,
    importance=3,
    section="The word error rate",
    source="S1, word error rate",
    reference=evaluation.word_error_rate,
    cases=_rate_cases,
    correct=(_rate_of_sums, _rate_by_loop, _rate_weighted),
    steps=("edits", "words"),
    hints=hints(idea="Compute two sums and divide once: the number of edits by the number of reference words."),
    misconceptions=(
        *slips(
            _rate_of_sums,
            mean_of_rates=(
                "Your answer is the mean of the sentences' own rates, the macro average. For a corpus, add up all "
                "edits and all reference words, and divide once.",
                (_RATE, "sum(one / of for one, of in zip(edits, words)) / len(words)"),
            ),
            over_hypothesis_words=(
                "Your answer divides by the number of words in the hypotheses, so a longer hypothesis lowers the "
                "rate. Divide by the number of reference words.",
                (_WORDS, "len(said) for said, _"),
            ),
            over_the_longer=(
                "Your answer divides by the length of the longer sentence. Divide by the number of reference words, "
                "even if the rate then exceeds 1.",
                (_WORDS, "max(len(said), len(right)) for said, right"),
            ),
            over_sentences=(
                "Your answer divides by the number of sentences. Divide by the number of all reference words.",
                ("sum(words)", "len(words)"),
            ),
        ),
        *mistake(
            "Your answer never exceeds 1, but the rate may: a hypothesis that is far too long has more edits than the "
            "reference has words.",
            capped_at_one=_slip(("return rate", "return min(1.0, rate)")),
            alone=True,
        ),
        *mistake(
            "Your answer is one minus the word error rate. Return the rate itself: lower is better.",
            accuracy=_slip(("return rate", "return 1 - rate")),
        ),
        *mistake(
            "Your answer is the share of sentences with a mistake. Count edits, and divide by the number of reference "
            "words.",
            wrong_sentences=_slip((_RATE, "sum(one > 0 for one in edits) / len(words)")),
        ),
        in_percent("a share", _slip(("return rate", "return 100 * rate"))),
        *mistake(
            "Your answer is the number of edits. Divide by the number of all reference words.",
            not_divided=_slip(("sum(words)", "1")),
        ),
        *mistake(
            "Your answer leaves out sentences with an empty hypothesis. All words of their references are missing: "
            "count these as edits.",
            empty_hypotheses_left_out=_slip(("edits = ", "pairs = [pair for pair in pairs if pair[0]]\n    edits = ")),
            alone=True,
        ),
        *mistake(
            "Your answer counts no edits for an empty hypothesis. All of the reference's words are missing: distance "
            "counts them.",
            empty_hypotheses_cost_nothing=_slip(
                (_EDITS, "[distance(said, right) if said else 0 for said, right in pairs]")
            ),
            alone=True,
        ),
        *mistake(
            "Your answer divides by the number of words in hypotheses and references together. Divide by the number "
            "of reference words alone.",
            over_words_of_both=_slip((_WORDS, "len(said) + len(right) for said, right")),
        ),
        *mistake(
            "Your answer is inverted: words over edits. Divide the number of edits by the number of words.",
            upside_down=_slip(("return rate", "return 1 / rate")),
        ),
        *mistake(
            "Your answer counts the edits of only one sentence. Add up the edits of all sentences, and return after "
            "the loop.",
            edits_of_the_last_sentence=_slip(("sum(edits)", "edits[-1]")),
            edits_of_the_first_sentence=_slip(("sum(edits)", "edits[0]")),
        ),
        *mistake(
            "Your answer joins all sentences into one, so words match across sentences. Call distance for each "
            "sentence, and add up the results.",
            one_long_sentence=_slip(
                (_EDITS, "[distance(sum(map(list, hypotheses), []), sum(map(list, references), []))]")
            ),
        ),
        *mistake(
            "Your answer passes whole lists of sentences to distance, so a whole sentence is one edit. Call distance "
            "once for each sentence.",
            sentences_as_words=_slip((_EDITS, "[distance(hypotheses, references)]"), paired=False),
        ),
    ),
    forbidden=(EDITS,),
)
