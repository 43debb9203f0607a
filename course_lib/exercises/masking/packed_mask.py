"""Lesson 02, masking.packed_mask: Documents in one row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.exercises.common import ANOTHER_DEVICE, elsewhere, integer, made_on_the_cpu, slips
from course_lib.exercises.masking.shared import LESSON, WITHHELD, wrong_dtypes
from course_lib.judging.exercise import CORE, Case, Exercise, Hint

END = 2


def _packed_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("die Katze tanzte <e> sie sang <e>", (torch.tensor([[5, 6, 7, 2, 8, 9, 2]]), END))
    for name in ("a batch", "another batch"):
        yield Case(name, (_rows(generator, integer(generator, 3, 6), integer(generator, 9, 20)), END))
    ids = _rows(generator, 3, 8)
    ids[:, 3] = ids[:, 4] = END
    yield Case("an empty document", (ids, END))
    yield Case("one document, cut off", (torch.randint(3, 30, (2, 6), generator=generator), END))
    yield Case("it begins with an end", (torch.tensor([[END, 5, 4, 3, END, 7]]), END))
    yield Case("another id closes a document", (_rows(generator, 2, 9) + 7, END + 7))
    yield Case("a single token", (torch.tensor([[4]]), END))
    yield elsewhere(Case("a batch", (_rows(generator, 2, 7), END)))


def _rows(generator: Generator, batch: int, tokens: int) -> Tensor:
    """Ids in which about one of four closes a document, and in each row at least two do, at places of its own."""
    ids = torch.randint(3, 30, (batch, tokens), generator=generator)
    ends = torch.rand(batch, tokens, generator=generator) < 0.2
    ends[torch.arange(batch), 1 + torch.arange(batch) % 3] = True
    ends[torch.arange(batch), tokens - 2 - torch.arange(batch) % 2] = True
    return ids.masked_fill(ends, END)


def _packed(ids: Tensor, end: int) -> Tensor:
    ends = ids == end
    document = ends.cumsum(dim=-1) - ends.long()
    same = document.unsqueeze(-1) == document.unsqueeze(-2)
    earlier = torch.ones(ids.shape[-1], ids.shape[-1], dtype=torch.bool, device=ids.device).tril()
    mask = same & earlier
    return mask


_slips = partial(slips, _packed)
_slips_alone = partial(slips, _packed, paired=False)
"""Those that are not tried together with others."""

_DOCUMENT = "ends.cumsum(dim=-1) - ends.long()"


def _by_loop(ids: Tensor, end: int) -> Tensor:
    mask = torch.zeros(*ids.shape, ids.shape[1], dtype=torch.bool, device=ids.device)
    for row, tokens in enumerate(ids.tolist()):
        first = 0
        for query, token in enumerate(tokens):
            mask[row, query, first : query + 1] = True
            first = query + 1 if token == end else first
    return mask


def _by_ends_in_between(ids: Tensor, end: int) -> Tensor:
    """A key is seen if no document ends between it and the query: then as many have ended before the one as before."""
    before = (ids == end).long().cumsum(1).roll(1, dims=1)
    before[:, 0] = 0
    position = torch.arange(ids.shape[1]).to(ids.device)
    return (before[:, :, None] <= before[:, None, :]) & (position[:, None] >= position)


CORRECT = (_packed, _by_loop, _by_ends_in_between)


EXERCISE = Exercise(
    id="masking.packed_mask",
    lesson=LESSON,
    name="packed_mask",
    title="Documents in one row",
    statement=(
        "packed_mask(ids int64 [batch, tokens], end) -> bool [batch, tokens, tokens], on the device of ids: True where "
        "the key is in the query's own document and not after the query; the id `end` closes a document and belongs "
        "to it."
    ),
    points=4,
    minutes=20,
    difficulty=4,
    importance=4,
    section="Packing",
    source="S4, masks for a batch; Krell et al. (2021)",
    reference=masking.packed_mask,
    cases=_packed_cases,
    parts={CORE: 3, ANOTHER_DEVICE: 1},
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Give each token the number of its document. Then two tokens are in the same one if their numbers are "
            "equal, and the causal rule does the rest.",
        ),
        Hint(
            "shapes",
            "How many documents have ended so far is a sum along the row, `[batch, tokens]`. As a column "
            "`[batch, tokens, 1]` and as a row `[batch, 1, tokens]` it makes a table for each row of the batch; the "
            "causal mask `[tokens, tokens]` is the same for all of them.",
            answers=("counted_over_the_batch", "end_opens_the_next"),
        ),
        Hint(
            "outline",
            "Where the ids are `end`.\n"
            "Each token's document: how many have ended before it. `cumsum` counts the token itself, so take it off "
            "again where it is an end.\n"
            "Compare the documents of all queries with those of all keys.\n"
            "A causal mask on the device of the ids.\n"
            "Both must allow it.",
            answers=("both_directions", "only_causal", "either_is_enough"),
        ),
    ),
    misconceptions=(
        *_slips(
            end_opens_the_next=(
                "In your answer an end belongs to the document that follows it. It closes its own: count the ends "
                "before a token, and not the token itself.",
                (_DOCUMENT, "ends.cumsum(dim=-1)"),
            ),
            counted_over_the_batch=(
                "Your answer counts the ends from one row of the batch to the next. Documents follow one another along "
                "the tokens: dim=-1.",
                ("cumsum(dim=-1)", "cumsum(dim=0)"),
            ),
            keys_as_rows=(
                "Your mask is transposed: it allows the future and forbids the past. Rows are queries: the allowed "
                "part is in the lower triangle.",
                ("return mask", "return mask.mT"),
            ),
            itself_forbidden=(
                "Your mask forbids each token to attend to itself. The diagonal is allowed.",
                ("tril()", "tril(-1)"),
            ),
            one_word_ahead=(
                "Your mask also allows the next token, which is the very one that a token has to predict.",
                ("tril()", "tril(1)"),
            ),
            inverted=(
                "Your mask is True where attention is forbidden. In this course True means `may attend`.",
                ("return mask", "return ~mask"),
            ),
            heads_as_well=(
                "Your mask has a dimension of size 1 for heads. Here it is [batch, tokens, tokens].",
                ("return mask", "return mask.unsqueeze(1)"),
            ),
        ),
        *wrong_dtypes(_packed),
        made_on_the_cpu(_packed, "ids.device"),
        *_slips_alone(
            both_directions=(
                "Your mask keeps documents apart, but allows the future inside each. Apply the causal rule too.",
                ("same & earlier", "same"),
            ),
            only_causal=(
                "Your mask lets a token see the documents before its own, as the causal mask or a comparison with >= "
                "does. The query's document and the key's must be equal.",
                ("same & earlier", "earlier.expand_as(same)"),
            ),
            either_is_enough=(
                "Your mask allows a key that satisfies either rule. It must satisfy both: & rather than |.",
                ("same & earlier", "same | earlier"),
            ),
            first_row_for_all=(
                "Your mask uses the documents of the first row for the whole batch. Each row has its own.",
                ("ends = ids == end", "ends = (ids[:1] == end).expand_as(ids)"),
            ),
            one_row=(
                "Your mask loses the batch where it is 1. Each row of ids has its mask: [batch, tokens, tokens].",
                ("return mask", "return mask.squeeze(0)"),
            ),
        ),
    ),
    withheld=WITHHELD,
)
