"""Lesson 09, bert.pair_encoding: Pairs of texts."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn.utils.rnn import pad_sequence

from course_lib.exercises.bert.shared import CLS, PAD, SEP
from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.ready_made import PAIRS
from course_lib.objectives import pretraining

MY_DOG_IS_CUTE, HE_LIKES = [2026, 3899, 2003, 10140], [2002, 7777, 2377, 2075]
"""What the paper draws in its figure 2, with the ids of its own vocabulary."""

Encoded = tuple[Tensor, Tensor, Tensor]
IdRows = list[list[int]]
Seconds = list[list[int] | None]


def _pair_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: my dog is cute, he likes playing", ([MY_DOG_IS_CUTE], [HE_LIKES], CLS, SEP, PAD))
        yield Case("one text alone", ([[7, 8, 9]], [None], 1, 2, 0))
        yield Case("a first text without tokens", ([[], [7]], [[8, 9], [4]], 1, 2, 0))
        yield Case("two pairs and one text", ([[7, 8], [9], [4, 5, 6]], [[5, 6, 7, 8], [4, 8], None], 1, 2, 3))
    for name in ("pairs", "other pairs", "pairs and texts"):
        firsts = [_tokens(generator) for _ in range(4)]
        seconds = [None if "texts" in name and i % 2 else _tokens(generator) for i in range(4)]
        special = (1 + torch.randperm(5, generator=generator)[:3]).tolist()
        yield Case(name, (firsts, seconds, *special))


def _tokens(generator: Generator) -> list[int]:
    return torch.randint(10, 90, (integer(generator, 1, 8),), generator=generator).tolist()


def _pairs_by_padding_lists(firsts: IdRows, seconds: Seconds, cls_id: int, sep_id: int, padding_id: int) -> Encoded:
    rows, segments = [], []
    for first, second in zip(firsts, seconds, strict=True):
        one = [cls_id, *first, sep_id]
        two = [] if second is None else [*second, sep_id]
        rows.append(one + two)
        segments.append([0] * len(one) + [1] * len(two))
    longest = max(map(len, rows))

    def padded(row: list[int], fill: int) -> list[int]:
        gap = [fill] * (longest - len(row))
        return row + gap

    ids = torch.tensor([padded(row, padding_id) for row in rows])
    kinds = torch.tensor([padded(row, 0) for row in segments])
    mask = torch.tensor([padded([True] * len(row), False) for row in rows])
    return ids, kinds, mask


_slip = edits_of(_pairs_by_padding_lists)
_SEGMENTS, _PAIR, _RETURN = "[0] * len(one) + [1] * len(two)", "bool(two)", "return ids, kinds, mask"


def _pairs_in_place(firsts: IdRows, seconds: Seconds, cls_id: int, sep_id: int, padding_id: int) -> Encoded:
    longest = max(len(a) + 2 + (0 if b is None else len(b) + 1) for a, b in zip(firsts, seconds, strict=True))
    ids = torch.full((len(firsts), longest), padding_id)
    segments = torch.zeros(len(firsts), longest, dtype=torch.long)
    mask = torch.zeros(len(firsts), longest, dtype=torch.bool)
    for i, (first, second) in enumerate(zip(firsts, seconds, strict=True)):
        middle = len(first) + 2
        ids[i, :middle] = torch.tensor([cls_id, *first, sep_id])
        end = middle
        if second is not None:
            end = middle + len(second) + 1
            ids[i, middle:end] = torch.tensor([*second, sep_id])
            segments[i, middle:end] = 1
        mask[i, :end] = True
    return ids, segments, mask


def _pairs_by_looking_at_ids(firsts: IdRows, seconds: Seconds, cls_id: int, sep_id: int, padding_id: int) -> Encoded:
    after = [[] if second is None else [*second, sep_id] for second in seconds]
    rows = [torch.tensor([cls_id, *a, sep_id, *b]) for a, b in zip(firsts, after, strict=True)]
    ids = pad_sequence(rows, batch_first=True, padding_value=padding_id)
    mask = ids != padding_id
    ends = (ids == sep_id).long()
    segments = ((ends.cumsum(1) - ends) > 0) & mask
    return ids, segments.long(), mask


EXERCISE = Exercise(
    id="bert.pair_encoding",
    title="Pairs of texts",
    statement=(
        "encode_pairs(firsts, seconds, cls_id, sep_id, padding_id) -> a tuple of ids and segments, int64, and a "
        "boolean mask, [batch, tokens] each. A row is [CLS] first [SEP] second [SEP], or [CLS] first [SEP] where the "
        "second is None, with padding at the end."
    ),
    points=3,
    minutes=12,
    difficulty=3,
    importance=4,
    section="What BERT reads",
    source="S1, BERT's representation; Devlin et al. (2019), section 3, figure 2",
    reference=pretraining.encode_pairs,
    cases=_pair_cases,
    correct=(_pairs_by_padding_lists, _pairs_in_place, _pairs_by_looking_at_ids),
    hints=hints(
        idea=(
            "Build each row as two Python lists, ids and segments, and pad afterward. Every [SEP] belongs to the "
            "text before it. A missing second text has no [SEP]."
        ),
        shapes=(
            "After padding, ids, segments and mask are all `[batch, tokens]`. `torch.nn.utils.rnn.pad_sequence` pads "
            "a list of tensors at their ends with a value of your choice; pad segments with 0. A position holds a "
            "token if its index is less than the length of its row.",
            ("segments_padded_with_padding_id", "ids_padded_with_zero", "mask_inverted", "mask_one_too_long"),
        ),
        outline=(
            "For each pair: the first part is [CLS], the first text and [SEP], in segment 0.\n"
            "The second part is the second text and [SEP], in segment 1; without a second text, it is empty.\n"
            "Store the length of each row before you pad it.\n"
            "Pad ids with `padding_id` and segments with 0.\n"
            "For the mask, compare a row of positions with a column of lengths.",
            ("last_sep_in_first_segment", "first_sep_in_second_segment", "a_sep_for_no_text"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your rows have the wrong number of [SEP] tokens. Put one after each text, and none where the second text "
            "is None.",
            last_sep_missing=_slip(("*second, sep_id", "*second")),
            no_sep_behind_one_text=_slip(("*first, sep_id]", "*first, *([] if second is None else [sep_id])]")),
            a_sep_for_no_text=_slip(("[] if", "[sep_id] if")),
        ),
        *mistake(
            "Your rows have the wrong number of [CLS] tokens. Put exactly one in each row, at the very beginning.",
            cls_missing=_slip(("[cls_id, ", "[")),
            cls_before_both=_slip(("[*second", "[cls_id, *second")),
        ),
        *mistake(
            "Your segments assign a [SEP] to the wrong text. Each [SEP] belongs to the text before it.",
            first_sep_in_second_segment=_slip((_SEGMENTS, f"[0] * (len(one) - {_PAIR}) + [1] * (len(two) + {_PAIR})")),
            last_sep_in_first_segment=_slip((_SEGMENTS, f"[0] * len(one) + [1] * (len(two) - 1) + [0] * {_PAIR}")),
        ),
        *mistake(
            "Your segments are not 0 in the padding. Pad them with 0: `padding_id` is only for the ids.",
            padding_in_second_segment=_slip(("row, 0", "row, 1")),
            padding_in_the_last_segment=_slip(("row, 0", "row, row[-1]")),
            segments_padded_with_padding_id=_slip(("row, 0", "row, padding_id")),
        ),
        *slips(
            _pairs_by_padding_lists,
            ids_of_bert=(
                "Your answer uses 101 and 102, BERT's own ids for [CLS] and [SEP]. Use `cls_id` and `sep_id`.",
                ("rows, segments = ", "cls_id, sep_id = 101, 102\n    rows, segments = "),
            ),
            segments_from_one=(
                "Your segments are 1 and 2. Use 0 and 1: a segment is the index of a row in an embedding table.",
                (_SEGMENTS, "[1] * len(one) + [2] * len(two)"),
            ),
            all_behind_in_second_segment=(
                "Your segments change to 1 at the first [SEP]. Change to 1 after it, and give padding segment 0.",
                (_SEGMENTS, "[0] * (len(one) - 1) + [1] * (len(two) + 1)"),
                ("row, 0", "row, 1"),
            ),
            ids_padded_with_zero=(
                "Your ids are padded with 0. Pad them with `padding_id`, which may be a different number.",
                ("row, padding_id", "row, 0"),
            ),
            padded_in_front=(
                "Your padding comes before the tokens. Put it after them, so that [CLS] has position 0 in every row.",
                ("row + gap", "gap + row"),
            ),
            mask_inverted=(
                "Your mask is True at the padding. Make it True at the tokens: True means that a token is read.",
                (_RETURN, "return ids, kinds, ~mask"),
            ),
            mask_one_too_long=(
                "Your mask is also True at the first padding position. Compare positions with lengths using <.",
                (_RETURN, "return ids, kinds, mask | mask.roll(1, dims=1)"),
            ),
            special_tokens_masked=(
                "Your mask hides [CLS] and [SEP]. Hide only padding.",
                (_RETURN, "return ids, kinds, mask & (ids != cls_id) & (ids != sep_id)"),
            ),
            mask_of_numbers=(
                "Your mask contains numbers. A mask is boolean: end with .bool().",
                (_RETURN, "return ids, kinds, mask.long()"),
            ),
        ),
    ),
    forbidden=(PAIRS,),
)
