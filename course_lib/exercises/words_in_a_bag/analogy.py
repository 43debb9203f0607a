"""Lesson 00, words_in_a_bag.analogy: Man is to king as woman is to ..."""

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import bags
from course_lib.exercises.common import Kind, and_turned_around, hints, integer, slips
from course_lib.judging.exercise import Case, Exercise

_WORDS = ["man", "king", "woman", "queen", "boy", "prince", "girl", "princess", "cat"]
_ROYAL_FEMALE_YOUNG = torch.tensor(
    [
        *([0.3, -1.0, 0.2], [4.0, -1.5, 0.1], [0.2, 0.9, 0.4], [1.9, 0.9, -0.2]),
        *([-0.2, -1.9, 2.0], [1.5, -0.6, 1.1], [0.0, 0.7, 0.9], [2.2, 1.4, 1.8], [-1.5, 0.1, 0.4]),
    ]
)


def _analogy_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: man, king, woman", (_ROYAL_FEMALE_YOUNG, _WORDS, "man", "king", "woman", 3))
    for name, dtype, transposed in (
        ("some words", torch.float32, False),
        ("double precision", torch.float64, False),
        ("transposed in memory", torch.float32, True),
    ):
        kind = Kind(name, generator, dtype=dtype, transposed=transposed)
        vocab_size = integer(generator, 8, 12)
        table = kind.normal(vocab_size, integer(generator, 4, 7)) * (1 + kind.normal(vocab_size, 1).abs())
        words = [f"w{number}" for number in torch.randperm(vocab_size, generator=generator).tolist()]
        asked = [words[row] for row in torch.randperm(vocab_size, generator=generator)[:3].tolist()]
        yield Case(name, (table, words, *asked, integer(generator, 3, 5) if transposed else vocab_size - 3))
    drawn = torch.randn(5, 2, generator=generator)
    yield Case("a single word is asked for", (drawn, ["a", "b", "c", "d", "e"], "d", "a", "e", 1))
    yield Case(
        "one number for each word", (torch.tensor([[2.0], [-1.0], [0.5], [3.0]]), ["n", "e", "w", "s"], *"wen", 1)
    )


def _found(table: Tensor, words: list[str], a: str, b: str, c: str, count: int) -> list[str]:
    lengths = table.norm(dim=-1, keepdim=True)
    unit = table / lengths
    i, j, k = words.index(a), words.index(b), words.index(c)
    target = unit[j] - unit[i] + unit[k]
    cosines = unit @ target
    cosines[[i, j, k]] = -math.inf
    nearest = cosines.topk(count).indices
    return [words[row] for row in nearest.tolist()]


def _sorted_in_python(table: Tensor, words: list[str], a: str, b: str, c: str, count: int) -> list[str]:
    unit = {word: F.normalize(row, dim=0) for word, row in zip(words, table, strict=True)}
    target = unit[c] + unit[b] - unit[a]
    others = [word for word in words if word not in (a, b, c)]
    return sorted(others, key=lambda word: float(-torch.cosine_similarity(unit[word], target, dim=0)))[:count]


def _by_distance(table: Tensor, words: list[str], a: str, b: str, c: str, count: int) -> list[str]:
    """All vectors have length 1, so the one with the largest cosine is also the nearest."""
    unit = F.normalize(table.double(), dim=-1)
    rows = {word: row for row, word in enumerate(words)}
    away = (unit - (unit[rows[b]] - unit[rows[a]] + unit[rows[c]])).norm(dim=-1)
    return [words[row] for row in away.argsort().tolist() if words[row] not in {a, b, c}][:count]


EXERCISE = Exercise(
    id="words_in_a_bag.analogy",
    title="Man is to king as woman is to ...",
    statement=(
        "analogy(table [vocab_size, d_model], words, a, b, c, count) -> list of `count` words: with all vectors "
        "scaled to length 1, the words whose cosine with b - a + c is largest, best first, without a, b and c."
    ),
    points=3,
    minutes=15,
    difficulty=3,
    importance=3,
    section="Directions have a meaning",
    source="Mikolov et al. (2013), Linguistic Regularities in Continuous Space Word Representations, section 4",
    reference=bags.analogy,
    cases=and_turned_around(_analogy_cases),
    correct=(_found, _sorted_in_python, _by_distance),
    steps=("target", "cosines"),
    hints=hints(
        idea=(
            "b - a is the step from one word to the other. Take the same step from c, and find the nearest words, as "
            "in exercise 2. Leave out the three given words, which are always close by."
        ),
        shapes=(
            "The lengths are a column, `[vocab_size, 1]`, so that each row is divided by its own length. The target "
            "is a single vector, `[d_model]`, and the cosines have shape `[vocab_size]`. The target's length doesn't "
            "change the ranking.",
            ("lengths_kept", "raw_directions", "raw_words"),
        ),
        outline=(
            "Divide each row of the table by its length.\n"
            "Look up the rows of the three words, and compute the target: b's row minus a's row plus c's row.\n"
            "Take the target's dot product with every row.\n"
            "Set the cosines of the three given words to minus infinity, so that they can't win.\n"
            "Take the `count` largest cosines, with topk or a sort, and return their words.",
            ("asked_words_kept", "only_the_last_left_out", "rows_instead_of_words", "worst_first"),
        ),
    ),
    misconceptions=(
        *slips(
            _found,
            asked_words_kept=(
                "Your answer can return one of the three given words: c or b is almost always the nearest. Leave out "
                "all three.",
                ("    cosines[[i, j, k]] = -math.inf\n", ""),
            ),
            only_the_last_left_out=(
                "Your answer leaves out c, but can still return a or b. Leave out all three.",
                ("cosines[[i, j, k]]", "cosines[k]"),
            ),
            lengths_kept=(
                "Your answer uses unscaled vectors, so long vectors score higher. Scale each row to length 1 first.",
                ("table / lengths", "table"),
            ),
            raw_directions=(
                "Your answer adds and subtracts unscaled vectors, so the longest vector dominates. Scale all three "
                "vectors to length 1 first.",
                ("unit[j] - unit[i] + unit[k]", "table[j] - table[i] + table[k]"),
            ),
            wrong_way_round=(
                "Your answer takes the step from b to a. Take the step from a to b, which is b - a.",
                ("unit[j] - unit[i]", "unit[i] - unit[j]"),
            ),
            all_added=(
                "Your answer adds all three vectors. Subtract a: b - a + c.",
                ("unit[j] - unit[i]", "unit[j] + unit[i]"),
            ),
            step_alone=(
                "Your answer looks for words near b - a alone. Add c's vector, because the step starts from c.",
                (" + unit[k]", ""),
            ),
            near_c_alone=(
                "Your answer looks for the neighbors of c and ignores a and b. Add the step b - a to c.",
                ("unit[j] - unit[i] + ", ""),
            ),
        ),
        *slips(
            _found,
            paired=False,
            raw_words=(
                "Your answer compares the target with unscaled vectors. Compare the target with vectors of length 1.",
                ("unit @ target", "table @ target"),
            ),
            distance_of_raw_vectors=(
                "Your answer finds the nearest points among unscaled vectors. Scale each row to length 1 first; then "
                "distance and cosine agree.",
                ("table / lengths", "table"),
                ("unit @ target", "-(unit - target).norm(dim=-1)"),
            ),
            lengths_of_columns=(
                "Your answer divides by the lengths of the table's columns. The words are its rows: "
                "table.norm(dim=-1, keepdim=True).",
                ("table.norm(dim=-1, keepdim=True)", "table.norm(dim=0, keepdim=True)"),
            ),
            c_subtracted=(
                "Your answer subtracts c. Add c, because the step b - a starts from c: b - a + c.",
                ("+ unit[k]", "- unit[k]"),
            ),
            worst_first=(
                "Your answer returns the words that are farthest away. Take the largest cosines, not the smallest.",
                ("unit @ target", "-(unit @ target)"),
            ),
            best_last=(
                "Your answer has the right words in reverse order. Put the best word first.",
                ("nearest.tolist()", "nearest.flip(0).tolist()"),
            ),
            rows_instead_of_words=(
                "Your answer returns row numbers. Return the words: words[row].",
                ("[words[row] for row in nearest.tolist()]", "nearest.tolist()"),
            ),
        ),
    ),
)
