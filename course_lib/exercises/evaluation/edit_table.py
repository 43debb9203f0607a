"""Lesson 10, evaluation.edit_table: The table of edits."""

import functools
import itertools
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import edits_of, hints, integer, mistake, sizes, slips
from course_lib.exercises.evaluation.shared import Words, random_sentence, split_words
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.ready_made import EDITS
from course_lib.references import evaluation


def _edit_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: the cat did (not) dance",
            (split_words("the cat did dance"), split_words("a cat did not dance")),
        )
    for name in ("two sentences", "two more"):
        shorter, longer = sorted(sizes(generator, 2))
        for side, lengths in (("hypothesis", (longer + 2, shorter)), ("reference", (shorter, longer + 2))):
            yield Case(f"{name}, the {side} longer", tuple(random_sentence(generator, n) for n in lengths))
    alike = (split_words("The cats sat on a doormat"), split_words("the cat sat on another mat"))
    yield Case("words that are nearly the same", alike)
    said = random_sentence(generator, integer(generator, 4, 8))
    yield Case("the same sentence twice", (said, list(said)))
    yield Case("no words in the hypothesis", ([], said))
    yield Case("no words in the reference", (said, []))


def _edits_row_by_row(hypothesis: Words, reference: Words) -> Tensor:
    table = [list(range(len(reference) + 1))]
    for i, word in enumerate(hypothesis):
        row = [i + 1]
        for j, right in enumerate(reference):
            deleted, inserted = table[i][j + 1] + 1, row[j] + 1
            best = min(deleted, inserted, table[i][j] + (word != right))
            row.append(best)
        table.append(row)
    return torch.tensor(table)


_slip = edits_of(_edits_row_by_row)
_FIRST_ROW_ZERO = ("list(range(len(reference) + 1))", "[0] * (len(reference) + 1)")
_FIRST_COLUMN_ZERO = ("[i + 1]", "[0]")
_BEST, _MADE = "min(deleted, inserted, table[i][j] + (word != right))", "torch.tensor(table)"


def _edits_in_place(hypothesis: Words, reference: Words) -> Tensor:
    table = torch.zeros(len(hypothesis) + 1, len(reference) + 1, dtype=torch.long)
    table[:, 0] = torch.arange(len(hypothesis) + 1)
    table[0] = torch.arange(len(reference) + 1)
    for i, j in itertools.product(range(len(hypothesis)), range(len(reference))):
        steps = (table[i, j + 1] + 1, table[i + 1, j] + 1, table[i, j] + int(hypothesis[i] != reference[j]))
        table[i + 1, j + 1] = min(steps)
    return table


def _edits_by_recursion(hypothesis: Words, reference: Words) -> Tensor:
    @functools.cache
    def edits(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        if hypothesis[i - 1] == reference[j - 1]:
            return edits(i - 1, j - 1)
        return 1 + min(edits(i - 1, j), edits(i, j - 1), edits(i - 1, j - 1))

    return torch.tensor([[edits(i, j) for j in range(len(reference) + 1)] for i in range(len(hypothesis) + 1)])


EXERCISE = Exercise(
    id="evaluation.edit_table",
    title="The table of edits",
    statement=(
        "edit_table(hypothesis, reference) -> int64 [len(hypothesis) + 1, len(reference) + 1]: at [i, j] the fewest "
        "substitutions, deletions and insertions that turn the first i words of the hypothesis into the first j words "
        "of the reference."
    ),
    points=4,
    minutes=25,
    difficulty=4,
    importance=3,
    section="The table of edits",
    source="S1, word error rate; Levenshtein (1966); Wagner and Fischer (1974)",
    reference=evaluation.edit_table,
    cases=_edit_cases,
    correct=(_edits_row_by_row, _edits_in_place, _edits_by_recursion),
    hints=hints(
        idea=(
            "Each cell is the lowest cost of turning the first i words of one sentence into the first j words of the "
            "other. It depends on three neighboring cells, in which the hypothesis, the reference or both are one word "
            "shorter."
        ),
        shapes=(
            "The table has one more row and column than there are words: row 0 and column 0 stand for an empty "
            "sentence, and contain 0, 1, 2, ... So row i adds word i - 1 of the hypothesis. The result is an int64 "
            "tensor; it is quickest to fill a list of rows and convert it at the end.",
            (
                "borders_missing",
                "first_row_of_zeros",
                "first_column_of_zeros",
                "borders_of_zeros",
                "words_behind",
                "transposed",
            ),
        ),
        outline=(
            "Row 0 counts up from 0, by one for each word of the reference.\n"
            "Every other row begins with its index.\n"
            "A cell is the smallest of three: the one above plus 1, the one to the left plus 1, and the one "
            "diagonally above to the left, plus 1 if the words differ.\n"
            "After the last row, convert the rows to a tensor.",
            (
                "substitution_costs_two",
                "match_costs_one",
                "no_deletion",
                "no_insertion",
                "substitution_is_free",
                "match_and_mismatch_exchanged",
            ),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your table treats different words as equal. Compare whole words as they are, with !=.",
            contained_is_the_same=_slip(("word != right", "word not in right")),
            capitals_ignored=_slip(("word != right", "word.lower() != right.lower()")),
        ),
        *mistake(
            "Your diagonal step has the wrong cost. It costs 1 where the words differ, and 0 where they are equal.",
            substitution_costs_two=_slip(("+ (word", "+ 2 * (word")),
            match_costs_one=_slip(("word != right", "True")),
            substitution_is_free=_slip(("word != right", "False")),
            match_and_mismatch_exchanged=_slip(("!=", "==")),
        ),
        *mistake(
            "Your table leaves out one of the three steps. A deletion comes from the row above, an insertion from the "
            "column to the left, and each costs 1.",
            no_deletion=_slip(("(deleted, ", "(")),
            no_insertion=_slip(("inserted, table[i][j] +", "table[i][j] +")),
        ),
        *mistake(
            "Your first row or column is all zeros. If one sentence is empty, you must insert or delete every word of "
            "the other: D[i, 0] = i and D[0, j] = j.",
            first_row_of_zeros=_slip(_FIRST_ROW_ZERO),
            first_column_of_zeros=_slip(_FIRST_COLUMN_ZERO),
            borders_of_zeros=_slip(_FIRST_ROW_ZERO, _FIRST_COLUMN_ZERO),
        ),
        *slips(
            _edits_row_by_row,
            paired=False,
            place_by_place=(
                "Your table compares the words position by position and adds the difference in length. In such a "
                "comparison, a single missing word makes all later words wrong. Take the smallest of the three steps "
                "in each cell.",
                (_BEST, "table[i][j] + (hypothesis[min(i, j)] != reference[min(i, j)])"),
            ),
            words_behind=(
                "Your table compares words one position too early: row 1, column 1 compares the last words, [-1]. Row "
                "i belongs to hypothesis[i - 1], and column j to reference[j - 1].",
                ("enumerate(hypothesis)", "enumerate(hypothesis[-1:] + hypothesis[:-1])"),
                ("enumerate(reference)", "enumerate(reference[-1:] + reference[:-1])"),
            ),
        ),
        *mistake(
            "Your table is transposed. Rows belong to the hypothesis, and columns to the reference.",
            transposed=_slip((_MADE, f"{_MADE}.T")),
        ),
        *mistake(
            "Your table leaves out a row and a column. It has len + 1 of each, because row 0 and column 0 stand for "
            "an empty sentence: range(len(hypothesis) + 1).",
            borders_missing=_slip((_MADE, f"{_MADE}[1:, 1:]")),
            last_row_and_column_left_0=_slip(
                ("append(best)", "append(best * (i + 1 < len(hypothesis) and j + 1 < len(reference)))"), paired=False
            ),
        ),
        *mistake(
            "Your answer is not the whole table as an int64 tensor. Return torch.tensor(table, dtype=torch.long).",
            lists=_slip((_MADE, "table")),
            floats=_slip((_MADE, f"{_MADE}.float()")),
            distance_only=_slip((_MADE, "table[-1][-1]")),
            distance_as_tensor=_slip((_MADE, f"{_MADE}[-1, -1]"), paired=False),
        ),
    ),
    forbidden=(EDITS,),
)
