"""Lesson 07, gpt.document_mask: Several documents in one row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib.exercises.common import integer
from course_lib.exercises.gpt.shared import LESSON, WITHHELD, random_ids
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import CORE, Case, Exercise, Hint, Misconception
from course_lib.references import gpt

ANOTHER_DEVICE = "another device"


def _mask_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: I saw . the dog running", (torch.tensor([[0, 1, 9, 2, 3, 4]]), 9))
        yield Case("a document ends with the row", (torch.tensor([[5, 6, 0], [0, 5, 6]]), 0))
    for name, batch, tokens, ends in (
        ("a batch", 3, integer(generator, 7, 9), 2),
        ("as many rows as tokens", 6, 6, 2),
        ("one document only", 2, integer(generator, 4, 6), 0),
        ("a single token", 1, 1, 0),
        ("two ends side by side", 2, integer(generator, 8, 10), 3),
    ):
        end_id = integer(generator, 3, 8)
        ids = random_ids(generator, end_id, batch, tokens) + (end_id + 1) * random_ids(generator, 2, batch, tokens)
        for row in ids:
            row[torch.randperm(tokens, generator=generator)[:ends]] = end_id
            if "side" in name:
                row[2:4] = end_id
        yield Case(name, (ids, end_id))
        if name == "a batch":
            yield replace(Case(name, (ids, end_id)), name="on another device", elsewhere=True, part=ANOTHER_DEVICE)


def _by_counting(ids: Tensor, end_id: int) -> Tensor:
    ended = (ids == end_id).long()
    document = ended.cumsum(dim=-1) - ended
    same = document.unsqueeze(-1) == document.unsqueeze(-2)
    position = torch.arange(ids.shape[-1], device=ids.device)
    causal = position.unsqueeze(-1) >= position
    mask = same & causal
    return mask


def _row_by_row(ids: Tensor, end_id: int) -> Tensor:
    mask = torch.zeros(*ids.shape, ids.shape[1], dtype=torch.bool, device=ids.device)
    for row, tokens in enumerate(ids.tolist()):
        begin = 0
        for position, token in enumerate(tokens):
            mask[row, position, begin : position + 1] = True
            if token == end_id:
                begin = position + 1
    return mask


def _by_ends_between(ids: Tensor, end_id: int) -> Tensor:
    """Query and key are of one document if as many ends are before the one as before the other."""
    before = torch.nn.functional.pad((ids == end_id).to(torch.int32), (1, 0))[:, :-1].cumsum(dim=1)
    return (before[:, :, None] - before[:, None, :] == 0).tril()


_slip = partial(Edited, _by_counting)
_DOCUMENT, _MASK = "ended.cumsum(dim=-1) - ended", "same & causal"

EXERCISE = Exercise(
    id="gpt.document_mask",
    lesson=LESSON,
    name="document_mask",
    title="Several documents in one row",
    statement=(
        "document_mask(ids int64 [batch, tokens], end_id) -> bool [batch, tokens, tokens]: True where the query (row) "
        "may attend to the key (column): the key is not later, and belongs to the same document; end_id is the last "
        "token of its document."
    ),
    points=4,
    minutes=15,
    difficulty=3,
    importance=4,
    section="Many documents, one stream",
    source="Grattafiori et al. (2024), section 3.2",
    reference=gpt.document_mask,
    cases=_mask_cases,
    parts={CORE: 3, ANOTHER_DEVICE: 1},
    correct=(_by_counting, _row_by_row, _by_ends_between),
    hints=(
        Hint(
            "idea",
            "Give each token the number of its document: how many documents have ended before it. Two tokens belong "
            "together if their numbers are equal. The causal mask you know does the rest.",
            answers=("causal_alone", "documents_alone", "one_document_for_all_rows"),
        ),
        Hint(
            "shapes",
            "A cumulative sum along the tokens counts the ends, `[batch, tokens]`. Compare it as a column, "
            "`[batch, tokens, 1]`, with itself as a row, `[batch, 1, tokens]`: `[batch, tokens, tokens]`. An end is "
            "the last token of its own document, so it must not count itself.",
            answers=("end_begins_the_next", "counted_over_the_batch", "keys_as_rows", "end_in_no_document"),
        ),
    ),
    misconceptions=(
        Misconception(
            "made_on_the_cpu",
            "Your mask is right on the CPU, but part of it is made there wherever the ids are, so that it stops with "
            "an error on a GPU: device=ids.device.",
            _slip((", device=ids.device", "")),
            alone=True,
        ),
        Misconception(
            "end_begins_the_next",
            "Your answer counts an end token to the document after it. It closes its own: count only the ends before "
            "each token.",
            _slip((_DOCUMENT, "ended.cumsum(dim=-1)")),
        ),
        Misconception(
            "causal_alone",
            "Your answer is the plain causal mask, so that documents read those before them in the row.",
            _slip((_MASK, "causal.expand(len(ids), -1, -1)")),
        ),
        Misconception(
            "documents_alone",
            "Your answer lets tokens of a document see those after them. The mask is causal as well: & it with the "
            "lower triangle.",
            _slip((_MASK, "same")),
        ),
        Misconception(
            "either",
            "Your answer joins the two conditions with `or`. A key must be in the same document and not later.",
            _slip((_MASK, "same | causal")),
        ),
        Misconception(
            "keys_as_rows",
            "Your mask is transposed. Rows are queries: query i may attend to keys up to i.",
            _slip((_MASK, "same & causal.T")),
        ),
        Misconception(
            "mask_inverted",
            "Your mask is True where attention is forbidden. In this course True means `may attend`.",
            _slip((_MASK, "~(same & causal)")),
        ),
        Misconception(
            "itself_forbidden",
            "Your mask forbids each token to see itself. The diagonal is allowed.",
            _slip(("unsqueeze(-1) >= position", "unsqueeze(-1) > position")),
        ),
        Misconception(
            "counted_over_the_batch",
            "Your answer counts the ends from row to row. Each row has documents of its own: sum along the tokens, "
            "dim=-1.",
            _slip((_DOCUMENT, "ended.cumsum(dim=0) - ended")),
        ),
        Misconception(
            "one_document_for_all_rows",
            "Your answer uses the first row's documents for the whole batch. Each row has its own mask.",
            _slip((_DOCUMENT, "(ended.cumsum(dim=-1) - ended)[:1].expand_as(ids)")),
        ),
        Misconception(
            "end_in_no_document",
            "In your mask an end token attends to nothing, or nothing to it. It is the last token of its document, "
            "and is predicted and read like any other.",
            _slip((_MASK, "same & causal & (ids != end_id).unsqueeze(-1)")),
        ),
        Misconception(
            "numbers",
            "Your mask holds numbers. Return booleans: drop the last conversion.",
            _slip(("return mask", "return mask.float()")),
        ),
    ),
    withheld=(*WITHHELD, "course_lib.masking"),
)
