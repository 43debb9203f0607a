"""Lesson 10, evaluation.clipped_ngrams: Clipped n-grams."""

import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce

from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.exercises.evaluation.shared import Words, random_sentence, split_words
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import METRICS
from course_lib.references import evaluation

_SEVERAL = "several references"


def _ngram_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the the the", (["the"] * 7, [split_words("the cat is on the chair")], 1))
        yield Case("parts of words", (split_words("the cat"), [split_words("other cats there")], 1))
        yield Case("capitals", (split_words("The cat sat on the Cat"), [split_words("the cat sat on the cat")], 1))
        yield Case("the same letters, other words", (split_words("the a bc"), [split_words("the ab c")], 2))
        yield Case(
            "worked example: pairs of words",
            (split_words("le chat sont sur la chaise"), [split_words("le chat est sur la chaise")], 2),
        )
    for n in (1, 2, 3):
        hypothesis, reference = (random_sentence(generator, integer(generator, 8, 13)) for _ in range(2))
        hypothesis[:4], reference[-4:] = hypothesis[4:8], hypothesis[4:8]  # what is said twice and found once
        yield Case(f"n = {n}", (hypothesis, [reference], n))
    forwards = random_sentence(generator, integer(generator, 7, 10)) + ["the", "cat"]
    yield Case("the same words backwards", (forwards, [forwards[::-1]], 2))
    yield Case("fewer words than n", (random_sentence(generator, 2), [random_sentence(generator, 6)], 3))
    alone = random_sentence(generator, 1) if hidden else []
    yield Case("far fewer words than n" if hidden else "no words", (alone, [random_sentence(generator, 6)], 4))
    for n in (1, 2):
        # The first, the last, the longest and the shortest are four different ones.
        lengths = (integer(generator, 9, 14), 11, 14, 8, 12)
        hypothesis, *several = (random_sentence(generator, words) for words in lengths)
        yield Case(f"four references, n = {n}", (hypothesis, several, n), part=_SEVERAL)
    said = random_sentence(generator, 6)
    yield Case("a reference with fewer words than n", (said, [said[:2], said[1:], said[:1]], 3), part=_SEVERAL)
    some, others = random_sentence(generator, 5), ["meow", "purr"]
    yield Case("a part in each of two references", (some + others, [["hiss"], some, others], 1), part=_SEVERAL)
    yield Case("the same word in two references", (["meow", "meow"], [["meow"], ["purr", "meow"]], 1), part=_SEVERAL)
    two = [[*random_sentence(generator, 4), "meow"], ["purr", *random_sentence(generator, 4)]]
    yield Case("words split between two references", (["meow", "purr"], two, 2), part=_SEVERAL)


def _ngrams_of_counters(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    def grams(words: Words) -> list[tuple[str, ...]]:
        return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]

    found = grams(hypothesis)
    said = Counter(found)
    allowed = reduce(operator.or_, [Counter(grams(words)) for words in references])
    matched = (said & allowed).total()
    total = len(found)
    return matched, total


_slip = edits_of(_ngrams_of_counters)
_GRAM, _STARTS, _MATCHED = "tuple(words[start : start + n])", "range(len(words) - n + 1)", "(said & allowed).total()"
_OF_EACH = "(said & Counter(grams(words))).total() for words in references"


def _ngrams_joined(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    def grams(words: Words) -> list[str]:
        return [" ".join(words[start : start + n]) for start in range(max(len(words) - n + 1, 0))]

    said, known = grams(hypothesis), [grams(words) for words in references]
    return sum(min(said.count(g), max(right.count(g) for right in known)) for g in set(said)), len(said)


def _windows(words: Words, n: int) -> list[Words]:
    """Beginnings of the rests of the sentence, as long as they have n words."""
    rests = [words[start:] for start in range(len(words))]
    return [rest[:n] for rest in rests if len(rest) >= n]


def _ngrams_crossed_out(hypothesis: Words, references: Sequence[Words], n: int) -> tuple[int, int]:
    most: Counter[tuple[str, ...]] = Counter()
    for words in references:
        for gram, count in Counter(map(tuple, _windows(words, n))).items():
            most[gram] = max(most[gram], count)
    left, matched = list(most.elements()), 0
    said = list(map(tuple, _windows(hypothesis, n)))
    for gram in said:
        if gram in left:
            left.remove(gram)
            matched += 1
    return matched, len(said)


EXERCISE = Exercise(
    id="evaluation.clipped_ngrams",
    title="Clipped n-grams",
    statement=(
        "clipped_ngrams(hypothesis, references, n) -> (matched, total), two ints. matched: how many n-grams of the "
        "hypothesis are in a reference, each counted at most as often as in the reference that has it most often. "
        "total: how many n-grams the hypothesis has."
    ),
    minutes=20,
    difficulty=3,
    importance=5,
    section="Counting, and clipping",
    source="S1, BLEU; Papineni et al. (2002), section 2.1",
    reference=evaluation.clipped_ngrams,
    cases=_ngram_cases,
    parts={CORE: 3, _SEVERAL: 1},
    correct=(_ngrams_of_counters, _ngrams_joined, _ngrams_crossed_out),
    hints=hints(
        idea=(
            "Clip each n-gram's count at its largest count in a single reference. Counters work like sets: `&` takes "
            "the smaller count of each key, and `|` takes the larger."
        ),
        shapes=(
            "The inputs are lists of words, and the results are two ints. Write n-grams as tuples, because a `Counter` "
            "cannot count lists. A sentence of w words has w - n + 1 n-grams, or none if it is shorter than n words.",
            ("last_ngram_missing", "shorter_at_the_end", "one_word_too_many", "total_of_words"),
        ),
        outline=(
            "Write a small function that counts the n-grams of a list of words.\n"
            "Combine the counts of all references, keeping the larger count of each n-gram.\n"
            "Count the n-grams of the hypothesis.\n"
            "Take the smaller of the two counts for each n-gram; their sum is `matched`. The number of n-grams in the "
            "hypothesis is `total`.",
            ("not_clipped", "first_reference_only", "best_reference", "references_added"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer uses only one reference. Clip each n-gram's count at its largest count in any reference.",
            first_reference_only=_slip(("in references]", "in references[:1]]"), paired=False),
            best_reference=_slip((_MATCHED, f"max({_OF_EACH})"), paired=False),
        ),
        *mistake(
            "Your answer adds up the counts of several references. Clip each count at the largest count in any single "
            "reference.",
            references_added=_slip(("operator.or_", "operator.add"), paired=False),
            references_joined=_slip(("in references]", "in [sum(references, [])]]"), paired=False),
            matches_added_up=_slip((_MATCHED, f"sum({_OF_EACH})"), paired=False),
        ),
        *mistake(
            "Your answer counts some n-grams too often. Take the smaller of the two texts' counts.",
            not_clipped=_slip((_MATCHED, "sum(gram in allowed for gram in found)")),
            reference_words_counted=_slip((_MATCHED, "sum(allowed[gram] for gram in said)")),
        ),
        *mistake(
            "Your answer counts each n-gram only once. Count repeated n-grams, too: use Counter, not a set.",
            different_ngrams=_slip(("found = grams(hypothesis)", "found = list(set(grams(hypothesis)))")),
            each_matched_once=_slip(("Counter(found)", "Counter(set(found))")),
        ),
        *mistake(
            "Your total is wrong. The hypothesis has len(words) - n + 1 n-grams, or none if that is negative.",
            recall=_slip(("len(found)", "len(grams(references[0]))"), paired=False),
            total_of_words=_slip(("len(found)", "len(hypothesis)")),
            negative_total=_slip(("len(found)", "len(hypothesis) - n + 1")),
        ),
        *mistake(
            "Your answer has the wrong number of starting positions. Use range(len(words) - n + 1).",
            last_ngram_missing=_slip((_STARTS, "range(len(words) - n)")),
            shorter_at_the_end=_slip((_STARTS, "range(len(words))")),
        ),
        *mistake(
            "Your answer treats different n-grams as the same. Compare the words exactly as they are, in the order in "
            "which they occur.",
            order_ignored=_slip((_GRAM, f"tuple(sorted({_GRAM}))")),
            lower_case=_slip((_GRAM, "tuple(word.lower() for word in words[start : start + n])")),
        ),
        *mistake(
            "Your answer has the two counts swapped. Return (matched, total).",
            swapped=_slip(("matched, total", "total, matched")),
        ),
        *mistake(
            "Your answer is the precision. Return its two counts, (matched, total), without dividing.",
            divided=_slip(("matched, total", "matched / max(total, 1)")),
        ),
        *mistake(
            "Your n-grams do not all have n words. Count only words[start : start + n].",
            shorter_ngrams_too=_slip(
                (_GRAM, "tuple(words[start : start + k]) for k in range(1, n + 1)"),
                (_STARTS, "range(len(words) - k + 1)"),
            ),
            one_word_too_many=_slip((_GRAM, "tuple(words[start : start + n + 1])"), (_STARTS, "range(len(words) - n)")),
        ),
    ),
    forbidden=(METRICS,),
)
