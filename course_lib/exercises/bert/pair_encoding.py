"""Lesson 09, bert.pair_encoding: Pairs of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

import numpy
import torch
from torch import Generator, Tensor
from torch.nn.utils.rnn import pad_sequence

from course_lib.checking.exercise import Case, Exercise, Hint, Misconception
from course_lib.checking.ready_made import PAIRS
from course_lib.exercises.bert.shared import CLS, LESSON, PAD, SEP, WITHHELD
from course_lib.exercises.common import integer
from course_lib.objectives import pretraining

EXAMPLE = "worked example: my dog is cute, he likes playing"
"""The input that the paper draws in its figure 2, with the ids of its own vocabulary."""


MY_DOG_IS_CUTE, HE_LIKES_PLAYING = [2026, 3899, 2003, 10140], [2002, 7777, 2377, 2075]


Ids = Sequence[int]


Encoded = tuple[Tensor, Tensor, Tensor]


def _pair_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(EXAMPLE, ([MY_DOG_IS_CUTE], [HE_LIKES_PLAYING], CLS, SEP, PAD))
        yield Case("one text alone", ([[7, 8, 9]], [None], 1, 2, 0))
        yield Case("a first text without tokens", ([[], [7]], [[8, 9], [4]], 1, 2, 0))
        yield Case(
            "a batch of two pairs and one text", ([[7, 8], [9], [4, 5, 6]], [[5, 6, 7, 8], [4, 8], None], 1, 2, 3)
        )
    for name in ("pairs", "other pairs", "pairs and texts"):
        firsts = [_tokens(generator) for _ in range(4)]
        seconds = [None if "texts" in name and i % 2 else _tokens(generator) for i in range(4)]
        special = (1 + torch.randperm(5, generator=generator)[:3]).tolist()
        yield Case(name, (firsts, seconds, *special))


def _tokens(generator: Generator) -> list[int]:
    return torch.randint(10, 90, (integer(generator, 1, 8),), generator=generator).tolist()


_SEGMENTS = ((0, 0, 1, 1), (0, 0, 0, 1))
"""Segments of the first text, its [SEP], the second text and its [SEP]: in a pair, and where there is no second text.
"""


def _encoded(
    firsts: list[Ids],
    seconds: list[Ids | None],
    cls_id: int,
    sep_id: int,
    padding_id: int,
    *,
    known_ids: bool = False,
    cls: int = 1,
    seps: tuple[bool, bool, bool, bool] = (True, True, True, False),
    turned: bool = False,
    numbers: tuple[tuple[int, ...], tuple[int, ...]] = _SEGMENTS,
    in_front: bool = False,
    id_of_padding: int | None = None,
    segment_of_padding: Callable[[list[int], int], int] = lambda segments, padding_id: 0,
    mask: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda tokens, ids, special: tokens,
) -> Encoded:
    """The right batch, unless a setting says otherwise.

    [CLS] stands before `cls` of the texts. `seps` says whether a [SEP] stands after the first and the second text of a
    pair, after a text that is alone, and after a second text that does not exist; `numbers` are like `_SEGMENTS`.
    """
    if known_ids:
        cls_id, sep_id = CLS, SEP
    rows, segments = [], []
    for first, second in zip(firsts, seconds, strict=True):
        ends = seps[:2] if second is not None else seps[2:]
        one, two = (first, second or []) if not turned or second is None else (second, first)
        parts = [[*one], [sep_id] * ends[0], [*two], [sep_id] * ends[1]]
        parts[0], parts[2] = [cls_id] * (cls > 0) + parts[0], [cls_id] * (cls > 1 and bool(two)) + parts[2]
        rows.append([one for part in parts for one in part])
        of_parts = zip(numbers[second is None], parts, strict=True)
        segments.append([number for number, part in of_parts for _ in part])
    longest = max(map(len, rows))

    def padded(row: list[int], fill: int) -> list[int]:
        gap = [fill] * (longest - len(row))
        return gap + row if in_front else row + gap

    ids = torch.tensor([padded(row, padding_id if id_of_padding is None else id_of_padding) for row in rows])
    kinds = torch.tensor([padded(row, segment_of_padding(row, padding_id)) for row in segments])
    tokens = torch.tensor([padded([1] * len(row), 0) for row in rows]).bool()
    return ids, kinds, mask(tokens, ids, (ids == cls_id) | (ids == sep_id))


IdRows = list[list[int]]


Seconds = list[list[int] | None]


def _pairs_by_padding_lists(firsts: IdRows, seconds: Seconds, cls_id: int, sep_id: int, padding_id: int) -> Encoded:
    ids, segments = [], []
    for first, second in zip(firsts, seconds, strict=True):
        row, segment = [cls_id, *first, sep_id], [0] * (len(first) + 2)
        if second is not None:
            row, segment = row + second + [sep_id], segment + [1] * (len(second) + 1)
        ids.append(row)
        segments.append(segment)
    longest = max(map(len, ids))
    mask = [[True] * len(row) + [False] * (longest - len(row)) for row in ids]
    ids = [row + [padding_id] * (longest - len(row)) for row in ids]
    segments = [row + [0] * (longest - len(row)) for row in segments]
    return torch.tensor(ids), torch.tensor(segments), torch.tensor(mask)


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
    rows = [
        torch.tensor([cls_id, *a, sep_id, *([] if b is None else [*b, sep_id])])
        for a, b in zip(firsts, seconds, strict=True)
    ]
    ids = pad_sequence(rows, batch_first=True, padding_value=padding_id)
    mask = ids != padding_id
    ends = (ids == sep_id).long()
    segments = ((ends.cumsum(1) - ends) > 0) & mask
    return ids, segments.long(), mask


def _pairs_in_numpy(firsts: IdRows, seconds: Seconds, cls_id: int, sep_id: int, padding_id: int) -> Encoded:
    texts = [[[cls_id, *a, sep_id], [] if b is None else [*b, sep_id]] for a, b in zip(firsts, seconds, strict=True)]
    lengths = numpy.array([[len(part) for part in text] for text in texts])
    place = numpy.arange(lengths.sum(axis=1).max())
    mask = place < lengths.sum(axis=1, keepdims=True)
    segments = (place >= lengths[:, :1]) & mask
    ids = numpy.full(mask.shape, padding_id, dtype=numpy.int64)
    ids[mask] = list(chain.from_iterable(chain.from_iterable(texts)))
    return torch.from_numpy(ids), torch.from_numpy(segments.astype(numpy.int64)), torch.from_numpy(mask)


CORRECT = (_pairs_by_padding_lists, _pairs_in_place, _pairs_by_looking_at_ids, _pairs_in_numpy)


EXERCISE = Exercise(
    id="bert.pair_encoding",
    lesson=LESSON,
    name="encode_pairs",
    title="Pairs of texts",
    statement=(
        "encode_pairs(firsts, seconds, cls_id, sep_id, padding_id) -> a tuple of ids and segments, int64, and a "
        "boolean mask, [batch, tokens] each: [CLS] first [SEP] second [SEP] in every row, [CLS] first [SEP] where the "
        "second is None, and padding at the end."
    ),
    points=3,
    minutes=12,
    section="What BERT reads",
    source="S1, BERT's representation; Devlin et al. (2019), section 3, figure 2",
    reference=pretraining.encode_pairs,
    cases=_pair_cases,
    correct=CORRECT,
    hints=(
        Hint(
            "idea",
            "Build each row as two Python lists, ids and segments, and pad only afterwards. Every [SEP] belongs to "
            "the text that it ends, and a missing second text brings no [SEP] of its own.",
        ),
        Hint(
            "shapes",
            "Padded, all three are `[batch, tokens]`. `torch.nn.utils.rnn.pad_sequence` pads a list of tensors at "
            "their ends, with the value that you name; segments are padded with 0. A place is a token if it is "
            "smaller than the length of its row.",
            answers=(
                "segments_padded_with_padding_id",
                "ids_padded_with_zero",
                "padding_in_second_segment",
                "mask_inverted",
                "mask_of_numbers",
                "mask_one_too_long",
            ),
        ),
        Hint(
            "outline",
            "For each pair: the first part is [CLS], the first text and [SEP], in segment 0.\n"
            "The second part is the second text and [SEP], in segment 1, or nothing.\n"
            "Note the length of each row before it is padded.\n"
            "Pad ids with `padding_id` and segments with 0.\n"
            "The mask compares positions with lengths, a row with a column.",
            answers=(
                "last_sep_in_first_segment",
                "first_sep_in_second_segment",
                "a_sep_for_no_text",
                "no_sep_behind_one_text",
                "cls_before_both",
                "last_sep_missing",
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "last_sep_missing",
            "Your rows end with the second text's last token. Every text is followed by [SEP], including the second "
            "one.",
            partial(_encoded, seps=(True, False, True, False)),
        ),
        Misconception(
            "no_sep_behind_one_text",
            "Your rows of a single text have no [SEP]. Every text is followed by one, even where it is the only one.",
            partial(_encoded, seps=(True, True, False, False)),
        ),
        Misconception(
            "a_sep_for_no_text",
            "Your rows of a single text end with two [SEP]. Where the second text is None, leave out its [SEP] as "
            "well.",
            partial(_encoded, seps=(True, True, True, True)),
        ),
        Misconception(
            "cls_missing",
            "Your rows begin with the first token. Put [CLS] before it: its vector will stand for the whole input.",
            partial(_encoded, cls=0),
        ),
        Misconception(
            "cls_before_both",
            "Your rows have a second [CLS] before the second text. There is only one, at the very beginning.",
            partial(_encoded, cls=2),
        ),
        Misconception(
            "texts_exchanged",
            "In your rows the second text stands before the first. It is [CLS] first [SEP] second [SEP].",
            partial(_encoded, turned=True),
        ),
        Misconception(
            "ids_of_bert",
            "Your answer writes 101 and 102 for [CLS] and [SEP], which are their ids in BERT's own vocabulary. Use "
            "`cls_id` and `sep_id`.",
            partial(_encoded, known_ids=True),
        ),
        Misconception(
            "first_sep_in_second_segment",
            "Your segments count the first [SEP] of a pair as part of the second text. Each [SEP] belongs to the text "
            "that it ends.",
            partial(_encoded, numbers=((0, 1, 1, 1), (0, 0, 0, 1))),
        ),
        Misconception(
            "last_sep_in_first_segment",
            "In your segments the last [SEP] of a pair has 0. Each [SEP] belongs to the text that it ends.",
            partial(_encoded, numbers=((0, 0, 1, 0), (0, 0, 0, 0))),
        ),
        Misconception(
            "segments_from_one",
            "Your segments are 1 and 2. They are counted from 0, like the rows of an embedding table.",
            partial(_encoded, numbers=((1, 1, 2, 2), (1, 1, 1, 2))),
        ),
        Misconception(
            "all_behind_in_second_segment",
            "Your segments are 1 at everything after the first text's tokens, including its [SEP] and the padding. The "
            "[SEP] belongs to the text that it ends, and padding has segment 0.",
            partial(
                _encoded,
                numbers=((0, 1, 1, 1), (0, 1, 1, 1)),
                segment_of_padding=lambda segments, padding_id: 1,
            ),
        ),
        Misconception(
            "padding_in_second_segment",
            "Your segments are 1 at the padding. Pad them with 0.",
            partial(_encoded, segment_of_padding=lambda segments, padding_id: 1),
        ),
        Misconception(
            "padding_in_the_last_segment",
            "At the padding your segments go on with the last token's, which is 1 after a pair. Pad them with 0.",
            partial(_encoded, segment_of_padding=lambda segments, padding_id: segments[-1]),
        ),
        Misconception(
            "segments_padded_with_padding_id",
            "Your segments are `padding_id` at the padding. That is for the ids; pad the segments with 0.",
            partial(_encoded, segment_of_padding=lambda segments, padding_id: padding_id),
        ),
        Misconception(
            "ids_padded_with_zero",
            "Your ids are padded with 0. Pad them with `padding_id`, which need not be 0.",
            partial(_encoded, id_of_padding=0),
        ),
        Misconception(
            "padded_in_front",
            "Your padding stands in front of the tokens. Put it after them: [CLS] has place 0 in every row.",
            partial(_encoded, in_front=True),
        ),
        Misconception(
            "mask_inverted",
            "Your mask is True at the padding. In this course True means `may attend`: True at the tokens.",
            partial(_encoded, mask=lambda tokens, ids, special: ~tokens),
        ),
        Misconception(
            "mask_one_too_long",
            "Your mask is also True at one place of the padding. Places are counted from 0: a token stands where the "
            "place is smaller (<) than the length of its row.",
            partial(_encoded, mask=lambda tokens, ids, special: tokens | tokens.roll(1, dims=1)),
        ),
        Misconception(
            "special_tokens_masked",
            "Your mask hides [CLS] and [SEP]. Only padding is hidden: they are attended to like tokens.",
            partial(_encoded, mask=lambda tokens, ids, special: tokens & ~special),
        ),
        Misconception(
            "mask_of_numbers",
            "Your mask holds numbers. A mask is boolean: end with .bool().",
            partial(_encoded, mask=lambda tokens, ids, special: tokens.long()),
        ),
    ),
    withheld=WITHHELD,
    forbidden=(PAIRS,),
)
