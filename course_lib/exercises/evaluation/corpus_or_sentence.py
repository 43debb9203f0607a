"""Lesson 10, evaluation.corpus_or_sentence: Corpus or sentence."""

from collections.abc import Iterator, Sequence

import torch
from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, sizes, slips
from course_lib.exercises.evaluation.shared import in_percent
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import METRICS
from course_lib.references import evaluation


def _corpus_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: a long sentence and a short one", ([9, 0], [10, 2]))
    for count in sizes(generator, 3):
        total = [integer(generator, 5, 20) for _ in range(count)]
        total[0] = 40
        matched = [integer(generator, 1, words) for words in total]
        yield Case(f"{count} sentences", (matched, total))
    total = [integer(generator, 5, 20), 0, 30]
    matched = [total[0] - 2, 0, integer(generator, 3, 20)]
    yield Case("a sentence without n-grams", (matched, total), part="no n-grams")
    yield Case("only sentences without n-grams", ([0, 0], [0, 0]), part="no n-grams")


def _averages_of_shares(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    pairs = list(zip(matched, total, strict=True))
    shares = [one / of if of else 0.0 for one, of in pairs]
    micro = sum(matched) / sum(total) if sum(total) else 0.0
    macro = sum(shares) / len(shares)
    return micro, macro


_slip = edits_of(_averages_of_shares)
_RETURN = "return micro, macro"


def _averages_by_loop(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    found = words = 0
    shares = 0.0
    for one, of in zip(matched, total, strict=True):
        found += one
        words += of
        if of > 0:
            shares += one / of
    return found / max(words, 1), shares / len(total)


def _averages_in_torch(matched: Sequence[int], total: Sequence[int]) -> tuple[float, float]:
    found, of = torch.tensor(matched), torch.tensor(total)
    micro = found.sum() / of.sum().clamp(min=1)
    return micro.item(), (found / of.clamp(min=1)).mean().item()


EXERCISE = Exercise(
    id="evaluation.corpus_or_sentence",
    title="Corpus or sentence",
    statement=(
        "micro_and_macro(matched list of int, total list of int) -> (micro, macro), two floats: the precision of the "
        "summed counts, and the mean of the sentences' precisions. A division by 0 gives 0."
    ),
    minutes=8,
    difficulty=2,
    importance=4,
    section="Corpus or sentence",
    source="S1, a note on BLEU and ROUGE",
    reference=evaluation.micro_and_macro,
    cases=_corpus_cases,
    parts={CORE: 1, "no n-grams": 1},
    correct=(_averages_of_shares, _averages_by_loop, _averages_in_torch),
    hints=hints(
        idea=(
            "For micro, add up the counts of all sentences and divide once. For macro, divide for each sentence and "
            "average the results."
        )
    ),
    misconceptions=(
        *slips(
            _averages_of_shares,
            alone=True,
            passed_over=(
                "Your answer leaves out sentences without n-grams. Count them with a precision of 0.",
                ("if of else 0.0 for one, of in pairs", "for one, of in pairs if of"),
                ("len(shares)", "(len(shares) or 1)"),
            ),
            one_for_nothing=(
                "Your answer gives a sentence without n-grams a precision of 1. Give it 0.",
                ("of else 0.0", "of else 1.0"),
                ("sum(total) else 0.0", "sum(total) else 1.0"),
            ),
            nan_for_nothing=(
                "Your answer is NaN if a sentence has no n-grams. Give it a precision of 0.",
                ("of else 0.0", "of else float('nan')"),
                ("sum(total) else 0.0", "sum(total) else float('nan')"),
            ),
        ),
        *slips(
            _averages_of_shares,
            swapped=(
                "Your answer has the two averages swapped. Micro divides the summed counts of the corpus; macro "
                "averages over the sentences.",
                (_RETURN, "return macro, micro"),
            ),
            micro_twice=(
                "Your second number is also the micro average, which is what you get if you weight the mean by "
                "length. Macro is the unweighted mean of the sentences' precisions.",
                ("sum(shares) / len(shares)", "micro"),
            ),
            macro_twice=(
                "Your first number is also the macro average. Micro divides once: the sum of the matches by the sum "
                "of the totals.",
                (_RETURN, "return macro, macro"),
            ),
            micro_over_sentences=(
                "Your micro average divides by the number of sentences. Divide by the number of n-grams, the sum of "
                "all totals.",
                ("/ sum(total)", "/ len(pairs)"),
            ),
        ),
        in_percent("shares from 0 to 1", _slip((_RETURN, "return 100 * micro, 100 * macro"))),
        *slips(
            _averages_of_shares,
            macro_over_ngrams=(
                "Your macro average divides by the number of n-grams. Divide by the number of sentences.",
                ("len(shares)", "(sum(total) or 1)"),
            ),
            wrong_sentences_left_out=(
                "Your macro average leaves out sentences without a match. Count them with a precision of 0.",
                ("len(shares)", "max(1, sum(share > 0 for share in shares))"),
            ),
            last_sentence_left_out=(
                "Your answer leaves out the last sentence. Count it like all the others.",
                ("pairs = ", "matched, total = matched[:-1], total[:-1]\n    pairs = "),
            ),
        ),
    ),
    forbidden=(METRICS,),
)
