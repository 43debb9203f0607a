"""Lesson 02, masking.packed_mask: Documents in one row."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from course_lib import masking
from course_lib.exercises.common import ANOTHER_DEVICE, elsewhere, hints, integer, made_on_the_cpu, slips
from course_lib.exercises.masking.shared import wrong_dtypes
from course_lib.judging.exercise import CORE, Case, Exercise

END = 2


def _packed_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("die Katze tanzte <e> sie sang <e>", (torch.tensor([[5, 6, 7, 2, 8, 9, 2]]), END))
    for name in ("a batch", "another batch"):
        yield Case(name, (_rows(generator, integer(generator, 3, 6), integer(generator, 9, 20)), END))
    ids = _rows(generator, 3, 8)
    ids[:, 3] = ids[:, 4] = END
    yield Case("an empty document", (ids, END))
    yield Case("one document, cut off", (torch.randint(3, 30, (1, 6), generator=generator), END))
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


EXERCISE = Exercise(
    id="masking.packed_mask",
    title="Documents in one row",
    statement=(
        "packed_mask(ids int64 [batch, tokens], end) -> bool [batch, tokens, tokens], on the device of ids: True where "
        "the key is in the query's own document and not after the query; the id `end` closes a document and belongs "
        "to it."
    ),
    minutes=20,
    difficulty=4,
    importance=4,
    section="Packing",
    source="S4, masks for a batch; Krell et al. (2021)",
    reference=masking.packed_mask,
    cases=_packed_cases,
    parts={CORE: 3, ANOTHER_DEVICE: 1},
    correct=(_packed, _by_loop, _by_ends_in_between),
    hints=hints(
        idea=(
            "Number the documents, and give each token its document's number. Two tokens are in the same document if "
            "their numbers are equal. Then apply the causal mask too."
        ),
        shapes=(
            "Count along each row how many documents have ended: `[batch, tokens]`. Compare these numbers as a "
            "column, `[batch, tokens, 1]`, with the same numbers as a row, `[batch, 1, tokens]`. The causal mask, "
            "`[tokens, tokens]`, is the same for every row of the batch.",
            ("counted_over_the_batch", "end_opens_the_next"),
        ),
        outline=(
            "Find where the ids equal `end`.\n"
            "Find each token's document number: how many documents have ended before it. `cumsum` counts the token "
            "itself, so subtract 1 where the token is an end token.\n"
            "Compare the document numbers of all queries with the document numbers of all keys.\n"
            "Make a causal mask on the device of the ids.\n"
            "Allow a key only where both masks do.",
            ("both_directions", "only_causal", "either_is_enough"),
        ),
    ),
    misconceptions=(
        *slips(
            _packed,
            end_opens_the_next=(
                "Your answer assigns an end token to the next document. It belongs to the document that it ends: count "
                "only the end tokens before a token.",
                ("ends.cumsum(dim=-1) - ends.long()", "ends.cumsum(dim=-1)"),
            ),
            counted_over_the_batch=(
                "Your answer counts end tokens across the rows of the batch. Count along the tokens: dim=-1.",
                ("cumsum(dim=-1)", "cumsum(dim=0)"),
            ),
            keys_as_rows=(
                "Your mask is transposed: it allows the future and forbids the past. Its rows are queries, so allow "
                "only the lower triangle.",
                ("return mask", "return mask.mT"),
            ),
            itself_forbidden=(
                "Your mask keeps each token from attending to itself. Include the diagonal.",
                ("tril()", "tril(-1)"),
            ),
            one_word_ahead=(
                "Your mask also allows the next token, which is the one to predict. Query i may attend only to keys "
                "up to i.",
                ("tril()", "tril(1)"),
            ),
            inverted=(
                "Your mask is True where attention is forbidden. Here, True means `may attend`: invert the mask with "
                "~.",
                ("return mask", "return ~mask"),
            ),
            heads_as_well=(
                "Your mask has an extra dimension of size 1 for heads. Return [batch, tokens, tokens].",
                ("return mask", "return mask.unsqueeze(1)"),
            ),
        ),
        *wrong_dtypes(_packed),
        made_on_the_cpu(_packed, "ids.device"),
        *slips(
            _packed,
            paired=False,
            both_directions=(
                "Your mask separates documents, but allows the future inside each. Apply the causal mask too.",
                ("same & earlier", "same"),
            ),
            only_causal=(
                "Your mask lets a token see earlier documents. Do you use only the causal mask, or compare documents "
                "with >=? Require the query and the key to be in the same document.",
                ("same & earlier", "earlier.expand_as(same)"),
            ),
            either_is_enough=(
                "Your mask allows a key that satisfies either rule. Require both: & instead of |.",
                ("same & earlier", "same | earlier"),
            ),
            first_row_for_all=(
                "Your mask uses the documents of the first row for the whole batch. Use each row's own.",
                ("ends = ids == end", "ends = (ids[:1] == end).expand_as(ids)"),
            ),
            one_row=(
                "Your mask loses the batch dimension when the batch has only one row. Give each row of ids its own "
                "mask: [batch, tokens, tokens].",
                ("return mask", "return mask.squeeze(0)"),
            ),
        ),
    ),
)
