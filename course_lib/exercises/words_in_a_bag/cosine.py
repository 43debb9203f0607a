"""Lesson 00, words_in_a_bag.cosine: How alike two words are."""

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import bags
from course_lib.exercises.common import SMALLEST, Kind, and_turned_around, hints, integer, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.ready_made import COSINE


def _cosine_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        table = torch.tensor([[3.0, 0.5], [2.2, 2.0], [0.3, 2.8], [-0.5, 0.4]])
        yield Case("worked example: train, station, radio, the; seen from station", (table, 1))
    for name, dtype, transposed in (
        ("some words", torch.float32, False),
        ("double precision", torch.float64, False),
        ("transposed in memory", torch.float32, True),
    ):
        kind = Kind(name, generator, dtype=dtype, transposed=transposed)
        words, d_model = kind.sizes(2)
        yield Case(name, (3 * kind.normal(words, d_model), integer(generator, 0, words)))
    yield Case(SMALLEST, (torch.tensor([[-2.0]]), 0))
    square = 2 * torch.randn(5, 5, generator=generator)
    yield Case("as many words as components", (square, integer(generator, 0, 5)))


def _cosines_with_lists(table: Tensor, i: int) -> Tensor:
    words = table.tolist()
    found = [
        sum(a * b for a, b in zip(word, words[i], strict=True)) / (math.hypot(*word) * math.hypot(*words[i]))
        for word in words
    ]
    return torch.tensor(found, dtype=table.dtype)


EXERCISE = Exercise(
    id="words_in_a_bag.cosine",
    title="How alike two words are",
    statement=(
        "cosine_similarities(table [vocab_size, d_model], i) -> [vocab_size]: the cosine of the angle between word i's "
        "vector and each word's vector, a · b / (|a| |b|)."
    ),
    points=2,
    minutes=8,
    difficulty=2,
    importance=4,
    section="Which words are alike?",
    source="S3, related words have similar vectors",
    reference=bags.cosine_similarities,
    cases=and_turned_around(_cosine_cases),
    correct=(
        _cosines_with_lists,
        lambda table, i: F.normalize(table, dim=-1) @ F.normalize(table[i], dim=0),
        lambda table, i: (
            torch.einsum("vd,d->v", table, table[i]) * (table.square().sum(1) * table[i].dot(table[i])).rsqrt()
        ),
    ),
    steps=("lengths",),
    hints=hints(
        idea=(
            "A cosine is a dot product divided by the lengths of both vectors. A matrix times a vector gives you the "
            "dot products with all rows at once, and `norm` along the last dimension gives you all lengths."
        ),
        outline=(
            "Compute the length of every row of the table, `[vocab_size]`.\n"
            "Compute the dot product of every row with row i, `[vocab_size]`.\n"
            "Divide the dot product for each row by two lengths: the length of that row and the length of row i. Put "
            "the product of the two lengths in parentheses.",
            ("multiplied_by_own_length", "lengths_as_a_column", "own_length_twice"),
        ),
    ),
    misconceptions=slips(
        bags.cosine_similarities,
        dot_product=(
            "Your answer is the dot product alone, so longer vectors score higher. Divide the dot product by both "
            "lengths, |a| and |b|.",
            (" / (lengths * lengths[i])", ""),
        ),
        own_length_only=(
            "Your answer divides by the length of word i's vector only. Divide by the length of the other vector too.",
            ("(lengths * lengths[i])", "lengths[i]"),
        ),
        other_length_only=(
            "Your answer divides by the length of the other word's vector only. Divide by word i's length too, so "
            "that a word's cosine with itself is exactly 1.",
            ("(lengths * lengths[i])", "lengths"),
        ),
        own_length_twice=(
            "Your answer divides by the squared length of word i's vector. Divide by both words' lengths: |a| |b|.",
            ("(lengths * lengths[i])", "lengths[i] ** 2"),
        ),
        squared_lengths=(
            "Your answer divides by squared lengths. Take the square root: a vector's length is the square root of the "
            "sum of its squares.",
            ("(lengths * lengths[i])", "(lengths * lengths[i]) ** 2"),
        ),
        multiplied_by_own_length=(
            "Your answer divides by the other word's length and then multiplies by word i's, because Python evaluates "
            "/ and * from left to right. Put the product in parentheses: / (lengths * lengths[i]).",
            ("(lengths * lengths[i])", "lengths * lengths[i]"),
        ),
        length_of_the_table=(
            "Your answer uses the norm of the whole table as every word's length. Give each row its own length: "
            "table.norm(dim=-1).",
            ("(lengths * lengths[i])", "(torch.linalg.vector_norm(table) * lengths[i])"),
        ),
        lengths_as_a_column=(
            "Your answer has a number for every pair of words, because it divides dot products, [vocab_size], by a "
            "column of lengths, [vocab_size, 1]. Leave out keepdim: table.norm(dim=-1).",
            ("dim=-1", "dim=-1, keepdim=True"),
        ),
        sums_for_lengths=(
            "Your answer uses the sum of absolute values as a vector's length. The length is the square root of the "
            "sum of squares: table.norm(dim=-1).",
            ("torch.linalg.vector_norm(table, dim=-1)", "table.abs().sum(dim=-1)"),
        ),
        counted_from_one=(
            "Your answer compares every word with the word before word i. Words are numbered from 0: use table[i].",
            ("    lengths", "    i = i - 1\n    lengths"),
        ),
        one_minus=(
            "Your answer subtracts the cosine from 1, so it is a distance: 0 for the word itself. Return the cosine.",
            ("return ", "return 1 - "),
        ),
        angle=(
            "Your answer is the angle between the vectors. Return the cosine of that angle: leave out the acos.",
            ("return ", "return torch.acos(("),
            ("lengths[i])", "lengths[i])).clamp(-1, 1))"),
        ),
        absolute=(
            "Your answer has no negative values, but vectors that point away from each other have a negative cosine. "
            "Leave out the absolute value or square.",
            ("table @ table[i]", "(table @ table[i]).abs()"),
        ),
        all_pairs=(
            "Your answer has the cosines of all pairs of words. Return only row i.",
            ("@ table[i]", "@ table.T"),
            ("(lengths ", "(lengths.unsqueeze(1) "),
            ("lengths[i]", "lengths"),
        ),
        lengths_of_columns=(
            "Your answer computes the lengths of the table's columns. The words are its rows: sum the squares over "
            "dim=-1.",
            lambda table, i: (table / table.norm(dim=0)) @ (table / table.norm(dim=0))[i],
        ),
    ),
    forbidden=(COSINE,),
)
