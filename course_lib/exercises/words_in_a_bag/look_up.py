"""Lesson 00, words_in_a_bag.look_up: Looking words up."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import bags
from course_lib.exercises.common import SMALLEST, Kind, and_turned_around, hints, integer, slips
from course_lib.exercises.words_in_a_bag.shared import DOG_CHASED_CAT, TABLE, random_ids
from course_lib.judging.exercise import Case, Exercise


def _look_up_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: the dog chased the cat", (TABLE, DOG_CHASED_CAT[0]))
    words, vocab_size = integer(generator, 4, 7), integer(generator, 20, 30)
    sentence = random_ids(generator, vocab_size, words)
    sentence[2] = 0
    for name, ids, dtype in (
        ("one sentence", sentence, torch.float32),
        ("a batch of sentences", random_ids(generator, vocab_size, integer(generator, 3, 5), words), torch.float32),
        ("the same sentence, another table in double precision", sentence, torch.float64),
    ):
        kind = Kind(name, generator, dtype=dtype)
        yield Case(name, (kind.normal(vocab_size, kind.d_head()), ids), gradients=(0,))
    yield Case(SMALLEST, (torch.randn(1, 1, generator=generator), torch.zeros(1, 1, dtype=torch.int64)))
    table = torch.randn(6, 4, generator=generator)
    yield Case("a sentence of one word", (table, torch.tensor([integer(generator, 1, 6)])))
    yield Case("more words than the table has rows", (table[:3], random_ids(generator, 3, integer(generator, 6, 9))))


def _look_up_by_loop(table: Tensor, ids: Tensor) -> Tensor:
    rows = torch.stack([table[int(i)] for i in ids.flatten()])
    return rows.reshape(*ids.shape, table.shape[1])


EXERCISE = Exercise(
    id="words_in_a_bag.look_up",
    title="Looking words up",
    statement=(
        "look_up(table [vocab_size, d_model], ids int [..., words]) -> [..., words, d_model]: for each word, the row "
        "of the table at its id, counting from 0."
    ),
    points=1,
    minutes=4,
    difficulty=1,
    importance=4,
    section="A vector for every word",
    source="S3, a simple model: the embedding layer",
    reference=bags.look_up,
    cases=and_turned_around(_look_up_cases),
    correct=(
        _look_up_by_loop,
        lambda table, ids: F.one_hot(ids, len(table)).to(table.dtype) @ table,
        lambda table, ids: F.embedding(ids, table),
    ),
    hints=hints(
        idea=(
            "You can index a tensor with a tensor of integers. The indices 2, 0 and 2 give you three rows: row 2, row "
            "0, and row 2 again."
        ),
        shapes=(
            "Each index becomes a row, so `[..., words]` turns into `[..., words, d_model]`. A batch needs no loop.",
            ("transposed",),
        ),
    ),
    misconceptions=slips(
        _look_up_by_loop,
        counted_from_one=(
            "Your answer takes the row before the right one, as if ids started at 1. Ids and rows both start at 0: "
            "take row i for id i.",
            ("int(i)", "int(i) - 1"),
        ),
        one_row_further=(
            "Your answer takes the row after the right one. Rows start at 0: take row i for id i.",
            ("int(i)", "(int(i) + 1) % len(table)"),
        ),
        each_word_once=(
            "Your answer has each word only once, sorted by id. Return one row for every word, in the order of the "
            "sentence, including repeated words.",
            ("    rows", "    ids = ids.unique()\n    rows"),
        ),
        averaged=(
            "Your answer averages the words of a sentence. Here, return one row for each word; the mean comes later.",
            ("table.shape[1])", "table.shape[1]).mean(dim=-2)"),
        ),
        transposed=(
            "Your answer has one column per word. Give each word a row by leaving out the transpose.",
            ("table.shape[1])", "table.shape[1]).mT"),
        ),
        row_0_zeroed=(
            "Your answer has zeros where the id is 0. Take row 0 from the table like any other row. You will leave "
            "out padding in exercise 4, with the mask.",
            ("table.shape[1])", "table.shape[1]) * (ids != 0).unsqueeze(-1)"),
        ),
    ),
)
