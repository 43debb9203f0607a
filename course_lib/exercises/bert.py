"""The exercises of lesson 09: BERT's input, its pre-training, and the heads that solve tasks on its states.

Built like those of `course_lib/exercises/attention.py`; read that file first.

What is random in pre-training is passed in, so that there is one right answer. Heads take an encoder's states, or a
function that reads for them, so that nobody needs a trained model to be checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib import heads, pretraining
from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception
from course_lib.exercises.common import Kind, integer, kinds, predicted, sizes
from course_lib.exercises.correct import bert as correct
from course_lib.labelled_data import IGNORED

LESSON = "09_bert"
WITHHELD = ("course_lib.heads", "course_lib.pretraining")

EXAMPLE = "worked example: my dog is cute, he likes playing"
"""The input that the paper draws in its figure 2, with the ids of its own vocabulary."""
CLS, SEP, PAD, MASK = 101, 102, 0, 103
MY_DOG_IS_CUTE, HE_LIKES_PLAYING = [2026, 3899, 2003, 10140], [2002, 7777, 2377, 2075]


def _softmax_note(what: str) -> str:
    return f"Your answer is {what}. Return the scores as they are: the loss takes the softmax itself."


# bert.pair_encoding ----------------------------------------------------------------------------------------

Ids = Sequence[int]
Encoded = tuple[Tensor, Tensor, Tensor]
Build = Callable[[list[int], "list[int] | None", int, int], tuple[list[int], list[int]]]


def _pair_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(EXAMPLE, ([MY_DOG_IS_CUTE], [HE_LIKES_PLAYING], CLS, SEP, PAD))
        yield Case("one text alone", ([[7, 8, 9]], [None], 1, 2, 0))
        yield Case(
            "a batch of two pairs and one text", ([[7, 8], [9], [4, 5, 6]], [[5, 6, 7, 8], [4, 8], None], 1, 2, 3)
        )
    for name in ("pairs", "other pairs", "pairs and texts"):
        firsts = [_words(generator) for _ in range(4)]
        seconds = [None if "texts" in name and i % 2 else _words(generator) for i in range(4)]
        special = (1 + torch.randperm(5, generator=generator)[:3]).tolist()
        yield Case(name, (firsts, seconds, *special))


def _words(generator: Generator) -> list[int]:
    return torch.randint(10, 90, (integer(generator, 1, 8),), generator=generator).tolist()


def _batch_of(
    build: Build, segment_of_padding: int | None = 0, id_of_padding: int | None = None
) -> Callable[..., Encoded]:
    """An answer that builds each row by itself, and pads them; None is for `padding_id`."""

    def encode(firsts: list[Ids], seconds: list[Ids | None], cls_id: int, sep_id: int, padding_id: int) -> Encoded:
        rows = [
            build(list(first), None if second is None else list(second), cls_id, sep_id)
            for first, second in zip(firsts, seconds, strict=True)
        ]
        longest = max(len(ids) for ids, _ in rows)
        fill_ids = padding_id if id_of_padding is None else id_of_padding
        fill_segments = padding_id if segment_of_padding is None else segment_of_padding
        ids = torch.tensor([row + [fill_ids] * (longest - len(row)) for row, _ in rows])
        segments = torch.tensor([row + [fill_segments] * (longest - len(row)) for _, row in rows])
        mask = torch.tensor([[True] * len(row) + [False] * (longest - len(row)) for row, _ in rows])
        return ids, segments, mask

    return encode


def _joined(first: list[int], second: list[int] | None, cls: int, sep: int) -> tuple[list[int], list[int]]:
    """The right row."""
    ids = [cls, *first, sep]
    behind = [] if second is None else [*second, sep]
    return ids + behind, [0] * len(ids) + [1] * len(behind)


right_pairs = _batch_of(_joined)


def _without_last_sep(first: list[int], second: list[int] | None, cls: int, sep: int) -> tuple[list[int], list[int]]:
    ids, segments = _joined(first, second, cls, sep)
    return (ids, segments) if second is None else (ids[:-1], segments[:-1])


def _without_first_sep(first: list[int], second: list[int] | None, cls: int, sep: int) -> tuple[list[int], list[int]]:
    if second is None:
        return _joined(first, second, cls, sep)
    return [cls, *first, *second, sep], [0] * (len(first) + 1) + [1] * (len(second) + 1)


def _without_cls(first: list[int], second: list[int] | None, cls: int, sep: int) -> tuple[list[int], list[int]]:
    ids, segments = _joined(first, second, cls, sep)
    return ids[1:], segments[1:]


def _two_cls(first: list[int], second: list[int] | None, cls: int, sep: int) -> tuple[list[int], list[int]]:
    if second is None:
        return _joined(first, second, cls, sep)
    return [cls, *first, sep, cls, *second, sep], [0] * (len(first) + 2) + [1] * (len(second) + 2)


def _sep_in_second(first: list[int], second: list[int] | None, cls: int, sep: int) -> tuple[list[int], list[int]]:
    ids, _ = _joined(first, second, cls, sep)
    if second is None:
        return ids, [0] * len(ids)
    return ids, [0] * (len(first) + 1) + [1] * (len(second) + 2)


def _last_sep_in_first(first: list[int], second: list[int] | None, cls: int, sep: int) -> tuple[list[int], list[int]]:
    ids, segments = _joined(first, second, cls, sep)
    return ids, [*segments[:-1], 0]


def _one_segment(first: list[int], second: list[int] | None, cls: int, sep: int) -> tuple[list[int], list[int]]:
    ids, _ = _joined(first, second, cls, sep)
    return ids, [0] * len(ids)


def _segments_from_one(first: list[int], second: list[int] | None, cls: int, sep: int) -> tuple[list[int], list[int]]:
    ids, segments = _joined(first, second, cls, sep)
    return ids, [segment + 1 for segment in segments]


def _empty_second(first: list[int], second: list[int] | None, cls: int, sep: int) -> tuple[list[int], list[int]]:
    return _joined(first, [] if second is None else second, cls, sep)


def _word_0_as_padding(
    firsts: list[Ids], seconds: list[Ids | None], cls_id: int, sep_id: int, padding_id: int
) -> Encoded:
    ids, segments, _mask = _batch_of(_joined)(firsts, seconds, cls_id, sep_id, padding_id)
    return ids, segments, ids != 0


PAIR_ENCODING = Exercise(
    id="bert.pair_encoding",
    lesson=LESSON,
    name="encode_pairs",
    title="Pairs of texts",
    statement=(
        "encode_pairs(firsts, seconds, cls_id, sep_id, padding_id) -> a tuple of ids, segments and mask, "
        "[batch, words] each: [CLS] first [SEP] second [SEP] in every row, [CLS] first [SEP] where the second is None, "
        "and padding behind."
    ),
    points=3,
    minutes=12,
    section="What BERT reads",
    source="S1, BERT's representation; Devlin et al. (2019), section 3, figure 2",
    reference=pretraining.encode_pairs,
    cases=_pair_cases,
    correct=correct.PAIR_ENCODING,
    misconceptions=(
        Misconception(
            "last_sep_missing",
            "Your rows end with the second text's last word. Every text is followed by [SEP], the second one too.",
            _batch_of(_without_last_sep),
        ),
        Misconception(
            "no_sep_between",
            "Your rows have no [SEP] between the two texts. Every text is followed by one.",
            _batch_of(_without_first_sep),
        ),
        Misconception(
            "cls_missing",
            "Your rows begin with the first word. Put [CLS] before it: its vector is to stand for the whole input.",
            _batch_of(_without_cls),
        ),
        Misconception(
            "cls_before_both",
            "Your rows have a second [CLS] before the second text. There is only one, at the very beginning.",
            _batch_of(_two_cls),
        ),
        Misconception(
            "first_sep_in_second_segment",
            "The ids are right, but your segments count the first [SEP] to the second text. Each [SEP] belongs to the "
            "text that it ends.",
            _batch_of(_sep_in_second),
        ),
        Misconception(
            "last_sep_in_first_segment",
            "The ids are right, but the last [SEP] of a pair has segment 0. Each [SEP] belongs to the text that it "
            "ends.",
            _batch_of(_last_sep_in_first),
        ),
        Misconception(
            "one_segment",
            "The ids are right, but all segments are 0. Those of the second text, with its [SEP], are 1.",
            _batch_of(_one_segment),
        ),
        Misconception(
            "segments_from_one",
            "The ids are right, but your segments are 1 and 2. They are counted from 0, as the rows of an embedding "
            "table are.",
            _batch_of(_segments_from_one),
        ),
        Misconception(
            "padding_in_second_segment",
            "Your segments are 1 at the padding. Fill them up with 0.",
            _batch_of(_joined, segment_of_padding=1),
        ),
        Misconception(
            "segments_padded_with_padding_id",
            "Your segments are `padding_id` at the padding. That is for the ids; fill the segments up with 0.",
            _batch_of(_joined, segment_of_padding=None),
        ),
        Misconception(
            "ids_padded_with_zero",
            "Your ids are filled up with 0. Fill them up with `padding_id`, which need not be 0.",
            _batch_of(_joined, id_of_padding=0),
        ),
        Misconception(
            "a_sep_for_no_text",
            "Your rows of a single text end with two [SEP]. Where the second text is None, leave its [SEP] out too.",
            _batch_of(_empty_second),
        ),
        Misconception(
            "mask_inverted",
            "The ids and segments are right, but your mask is True at the padding. In this course True means `may "
            "attend`: True at the words.",
            lambda *args: (*right_pairs(*args)[:2], ~right_pairs(*args)[2]),
        ),
        Misconception(
            "special_tokens_masked",
            "The ids and segments are right, but your mask hides [CLS] and [SEP]. Only padding is hidden: they are "
            "attended to like words.",
            lambda firsts, seconds, cls_id, sep_id, padding_id: (
                *(encoded := right_pairs(firsts, seconds, cls_id, sep_id, padding_id))[:2],
                encoded[2] & (encoded[0] != cls_id) & (encoded[0] != sep_id),
            ),
        ),
        Misconception(
            "segments_and_mask_exchanged",
            "You return ids, mask, segments. The order is ids, segments, mask.",
            lambda *args: tuple(right_pairs(*args)[i] for i in (0, 2, 1)),
        ),
        Misconception(
            "mask_of_numbers",
            "The ids and segments are right, but your mask holds numbers. A mask is boolean: end with .bool().",
            lambda *args: (*right_pairs(*args)[:2], right_pairs(*args)[2].long()),
        ),
        Misconception(
            "word_0_as_padding",
            "Your mask is False wherever an id is 0. Padding has the id `padding_id`, whichever that is, and 0 may "
            "be a word.",
            _word_0_as_padding,
        ),
    ),
    withheld=WITHHELD,
    forbidden=("join_pair", "encode_pair", "collate_labelled"),
)


# bert.expected_counts --------------------------------------------------------------------------------------


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: 1000 words", (1000,))
    for name, most in (("few words", 90), ("some words", 900), ("many words", 90_000)):
        yield Case(name, (integer(generator, most // 3, most),))


EXPECTED_COUNTS = Exercise(
    id="bert.expected_counts",
    lesson=LESSON,
    name="expected_counts",
    title="Predict first: how many?",
    statement=(
        "expected_counts(words) -> a tuple of three floats: of so many words, how many on the average become [MASK], "
        "how many become another word, and how many are asked for as they stand."
    ),
    points=1,
    minutes=4,
    section="Hiding words",
    source="Devlin et al. (2019), section 3.1 and appendix A.1",
    reference=pretraining.expected_counts,
    cases=predicted(_count_cases),
    correct=correct.EXPECTED_COUNTS,
    misconceptions=(
        Misconception(
            "shares_of_all_words",
            "Your numbers add up to all the words. Only 15 % of them are chosen, and 80, 10 and 10 % are shares of "
            "the chosen ones.",
            lambda words: (0.8 * words, 0.1 * words, 0.1 * words),
        ),
        Misconception(
            "all_become_mask",
            "In your answer all the chosen words become [MASK]. Only 80 % of them do; 10 % become another word, and "
            "10 % stay.",
            lambda words: (0.15 * words, 0.0, 0.0),
        ),
        Misconception(
            "all_the_unchanged",
            "Your third number counts the words that were not chosen, too. Asked for are only the 10 % of the chosen "
            "ones that stay; at the others nothing is asked.",
            lambda words: (0.12 * words, 0.015 * words, 0.865 * words),
        ),
        Misconception(
            "the_words_not_chosen",
            "Your third number is that of the words that were not chosen. Meant are those that are chosen and shown "
            "as they are: 10 % of the chosen ones.",
            lambda words: (0.12 * words, 0.015 * words, 0.85 * words),
        ),
        Misconception(
            "thresholds_as_shares",
            "You took the thresholds 0.8, 0.9 and 1 for shares. The shares are the distances between them: 0.8, 0.1 "
            "and 0.1.",
            lambda words: (0.12 * words, 0.135 * words, 0.15 * words),
        ),
        Misconception(
            "tenths_of_all",
            "Your first number is right. The other two are 10 % of the 15 % that were chosen, not of all the words.",
            lambda words: (0.12 * words, 0.1 * words, 0.1 * words),
        ),
        Misconception(
            "percent",
            "Your answer is in percent of the words. Asked for are numbers of words.",
            lambda words: (12.0, 1.5, 1.5),
        ),
        Misconception(
            "fractions",
            "Your answer is in fractions of the words. Multiply them by the number of words.",
            lambda words: (0.12, 0.015, 0.015),
        ),
    ),
    withheld=WITHHELD,
)


# bert.mask_words -------------------------------------------------------------------------------------------


def _mask_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        ids = torch.tensor([[CLS, 1996, 4937, 13303, 1996, 8000, 1012, SEP]])
        special = torch.tensor([[True, *[False] * 6, True]])
        chance = torch.tensor([[0.02, 0.60, 0.45, 0.05, 0.10, 0.14, 0.90, 0.01]])
        fate = torch.tensor([[0.50, 0.95, 0.30, 0.20, 0.85, 0.93, 0.10, 0.99]])
        anything = torch.tensor([[11, 12, 13, 14, 6207, 16, 17, 18]])
        yield Case("worked example: the cat chased the mouse", (ids, special, chance, fate, anything, MASK))
    shapes = [(1, 12), (integer(generator, 3, 6), integer(generator, 14, 20)), (integer(generator, 6, 9), 25)]
    for batch, words in shapes:
        ids = torch.randint(20, 90, (batch, words), generator=generator)
        special = torch.zeros(batch, words, dtype=torch.bool)
        special[:, 0] = True
        special[:, -integer(generator, 2, 5) :] = True
        ids[special] = torch.randint(0, 5, (int(special.sum()),), generator=generator)
        chance, fate = (torch.rand(batch, words, generator=generator) for _ in range(2))
        chance = torch.where(torch.rand(batch, words, generator=generator) < 0.6, 0.15 * chance, chance)
        fate = torch.where(torch.rand(batch, words, generator=generator) < 0.5, 0.75 + 0.25 * fate, fate)
        # Of every fate there is one, whatever was drawn.
        chance[0, 1:6], fate[0, 1:6] = (
            torch.tensor([0.01, 0.02, 0.03, 0.6, 0.04]),
            torch.tensor([0.1, 0.85, 0.95, 0, 0]),
        )
        anything = torch.randint(100, 190, (batch, words), generator=generator)
        yield Case(f"{batch} x {words} words", (ids, special, chance, fate, anything, 99))
    ids = torch.randint(20, 90, (3, 7), generator=generator)
    none = torch.zeros(3, 7, dtype=torch.bool)
    draws = (torch.full((3, 7), 0.5), torch.full((3, 7), 0.2), torch.full((3, 7), 150))
    yield Case("no word is chosen", (ids, none, *draws, 99))


def _masked(
    ids: Tensor,
    special: Tensor,
    chance: Tensor,
    fate: Tensor,
    anything: Tensor,
    mask_id: int,
    *,
    share: float = 0.15,
    mask_below: float = 0.8,
    other_below: float = 0.9,
) -> tuple[Tensor, Tensor]:
    """The corruption with other shares than BERT's."""
    chosen = (chance < share) & ~special
    shown = torch.where(fate < mask_below, mask_id, torch.where(fate < other_below, anything, ids))
    return torch.where(chosen, shown, ids), torch.where(chosen, ids, IGNORED)


def _with_labels(change: Callable[[Tensor], Tensor], *inputs: Any) -> tuple[Tensor, Tensor]:
    """The right corruption, with other labels."""
    shown, labels = _masked(*inputs)
    return shown, change(labels)


MASK_WORDS = Exercise(
    id="bert.mask_words",
    lesson=LESSON,
    name="mask_words",
    title="Hide words",
    statement=(
        "mask_words(ids, special, chance, fate, anything, mask_id) -> corrupted, labels, all [batch, words]: choose "
        "where chance < 0.15 and not special; there show [MASK] (fate < 0.8), anything (fate < 0.9) or the word "
        "itself; labels hold the chosen words, and -100 elsewhere."
    ),
    points=4,
    minutes=15,
    section="Hiding words",
    source="S1 and S2, masked language modelling; Devlin et al. (2019), section 3.1 and appendix A.1",
    reference=pretraining.mask_words,
    cases=_mask_cases,
    correct=correct.MASK_WORDS,
    misconceptions=(
        Misconception(
            "special_chosen",
            "Your answer also chooses [CLS], [SEP] and padding. Leave out the places where `special` is True.",
            lambda ids, special, *rest: _masked(ids, torch.zeros_like(special), *rest),
        ),
        Misconception(
            "only_special_chosen",
            "Your answer chooses only among [CLS], [SEP] and padding. `special` is True at those: turn it round, "
            "with ~.",
            lambda ids, special, *rest: _masked(ids, ~special, *rest),
        ),
        Misconception(
            "unchosen_hidden_too",
            "The labels are right, but what the model reads is changed also where no word was chosen. Look at `fate` "
            "only where one was; the others stay as they are.",
            lambda ids, special, chance, fate, anything, mask_id: (
                _masked(ids, torch.zeros_like(special), chance, fate, anything, mask_id, share=2.0)[0],
                _masked(ids, special, chance, fate, anything, mask_id)[1],
            ),
        ),
        Misconception(
            "always_mask",
            "Your answer replaces every chosen word by [MASK]. That is for `fate`, the second draw, below 0.8 only: "
            "below 0.9 show the word in `anything`, and above leave the word as it is.",
            lambda *args: _masked(*args, mask_below=2.0),
        ),
        Misconception(
            "no_word_stays",
            "Your answer leaves none of the chosen words as it is. Show the word in `anything` only from 0.8 to 0.9; "
            "above that the chosen word stays.",
            lambda *args: _masked(*args, other_below=2.0),
        ),
        Misconception(
            "no_other_word",
            "Your answer never shows a word of `anything`. From 0.8 to 0.9 the chosen word is replaced by it.",
            lambda *args: _masked(*args, other_below=0.8),
        ),
        Misconception(
            "others_and_stays_exchanged",
            "Your answer leaves words as they are from 0.8 to 0.9, and shows `anything` above. It is the other way "
            "round.",
            lambda ids, special, chance, fate, *rest: _masked(
                ids, special, chance, torch.where(fate < 0.8, fate, torch.where(fate < 0.9, 0.95, 0.85)), *rest
            ),
        ),
        Misconception(
            "labels_only_where_changed",
            "Your labels are missing where a chosen word stays as it is. The model is asked there, too: that is why "
            "those words were chosen.",
            lambda ids, *rest: (
                (corrupted := _masked(ids, *rest)[0]),
                torch.where(corrupted == ids, IGNORED, ids),
            ),
        ),
        Misconception(
            "labels_only_where_mask",
            "Your labels are there only where [MASK] is shown. All chosen words are asked for, whatever is shown in "
            "their place.",
            lambda ids, special, chance, fate, anything, mask_id: (
                (corrupted := _masked(ids, special, chance, fate, anything, mask_id)[0]),
                torch.where(corrupted == mask_id, ids, IGNORED),
            ),
        ),
        Misconception(
            "labels_everywhere",
            "Your labels are all the words. Only the chosen ones are asked for; the others are -100.",
            lambda ids, *rest: (_masked(ids, *rest)[0], ids.clone()),
        ),
        Misconception(
            "labels_after_hiding",
            "Your labels are what the model reads, not what it is to guess: they were taken after the words were "
            "hidden. Take them from the ids as they came.",
            lambda ids, *rest: (
                (corrupted := _masked(ids, *rest)[0]),
                torch.where(_masked(ids, *rest)[1] == IGNORED, IGNORED, corrupted),
            ),
        ),
        Misconception(
            "labels_inverted",
            "Your labels are -100 at the chosen words, and hold the others. It is the other way round: the chosen ones "
            "are asked for.",
            lambda ids, *rest: (
                _masked(ids, *rest)[0],
                torch.where(_masked(ids, *rest)[1] == IGNORED, ids, IGNORED),
            ),
        ),
        Misconception(
            "labels_zero",
            "Your labels are 0 where nothing is asked. 0 is the id of a word: write -100, which the loss leaves out.",
            lambda ids, *rest: (
                _masked(ids, *rest)[0],
                torch.where(_masked(ids, *rest)[1] == IGNORED, 0, _masked(ids, *rest)[1]),
            ),
        ),
        Misconception(
            "the_other_words_hidden",
            "Your answer hides the 85 % that were not chosen. A word is chosen where chance is *below* 0.15.",
            lambda ids, special, chance, *rest: _masked(ids, special, 0.15 - chance, *rest, share=1e-9),
        ),
        Misconception(
            "fate_for_all",
            "Your answer does not look at `chance`: every word that is not special is chosen. Choose only those whose "
            "chance is below 0.15.",
            lambda *args: _masked(*args, share=2.0),
        ),
        Misconception(
            "one_draw_for_both",
            "Your answer divides the chosen words by `chance` once more: below 0.12, below 0.135, and above. What is "
            "shown in a chosen word's place depends on `fate`, its second draw.",
            lambda ids, special, chance, fate, *rest: _masked(ids, special, chance, chance / 0.15, *rest),
        ),
        Misconception(
            "exchanged",
            "You return labels, corrupted. The order is: what the model reads, then what it is to guess.",
            lambda *args: _masked(*args)[::-1],
        ),
        Misconception(
            "mask_overwritten",
            "Your answer writes [MASK] first and then another word wherever fate < 0.9, so that no [MASK] is left. "
            "Another word is for fate from 0.8 to 0.9.",
            lambda *inputs: _masked(*inputs, mask_below=0.0),
        ),
        Misconception(
            "special_asked_for",
            "Your answer leaves [CLS], [SEP] and padding as they are, but asks for them in the labels. Where "
            "`special` is True the label is -100.",
            lambda ids, special, *rest: (
                _masked(ids, special, *rest)[0],
                _masked(ids, torch.zeros_like(special), *rest)[1],
            ),
        ),
        Misconception(
            "labels_minus_one",
            "Your labels are -1 where nothing is asked. Write -100, which the loss leaves out.",
            lambda *inputs: _with_labels(lambda labels: labels.masked_fill(labels == IGNORED, -1), *inputs),
        ),
        Misconception(
            "labels_are_places",
            "Your labels say where something is asked, by 1 and 0. They are to say what: the id of the word that "
            "stood there, and -100 elsewhere.",
            lambda *inputs: _with_labels(lambda labels: (labels != IGNORED).long(), *inputs),
        ),
    ),
    withheld=WITHHELD,
)


# bert.masked_lm_loss ---------------------------------------------------------------------------------------


def _loss_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        logits = torch.tensor([[[0.0, 0, 0, 0, 0], [1, 3, 0, 1, 0], [0, 2, 2, 0, 1], [1, 0, 0, 4, 2]]]).log1p()
        labels = torch.tensor([[IGNORED, 1, IGNORED, 0]])
        yield Case("worked example: two of four words were chosen", (logits, labels))
    for kind in kinds(generator):
        if len(kind.leading) > 1:
            continue
        batch, words, vocabulary = (kind.leading or (1,))[0], integer(generator, 8, 11), integer(generator, 12, 16)
        drawn = Kind(kind.name, generator, (batch,), kind.dtype, kind.transposed)
        labels = torch.randint(vocabulary, (batch, words), generator=generator)
        asked = torch.zeros(batch, words, dtype=torch.bool)
        for row in range(batch):  # another number in each
            asked[row, torch.randperm(words, generator=generator)[: 1 + (2 * row) % 5]] = True
        if batch == 1:
            asked[0, :3] = True
        yield Case(
            kind.name, (2 * drawn.normal(words, vocabulary), labels.masked_fill(~asked, IGNORED)), gradients=(0,)
        )


def _asked(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """The logits and the labels of the chosen words."""
    return logits[labels != IGNORED], labels[labels != IGNORED]


MASKED_LM_LOSS = Exercise(
    id="bert.masked_lm_loss",
    lesson=LESSON,
    name="masked_lm_loss",
    title="The loss of masked words",
    statement=(
        "masked_lm_loss(logits [batch, words, vocabulary], labels [batch, words]) -> []: the mean negative "
        "log-probability of the right words, over the places whose label is not -100."
    ),
    points=2,
    minutes=8,
    section="What is learned from",
    source="S1, masked language modelling; Devlin et al. (2019), section 3.1",
    reference=heads.label_loss,
    cases=_loss_cases,
    correct=correct.MASKED_LM_LOSS,
    misconceptions=(
        Misconception(
            "every_place_asked",
            "Your answer also learns from the places that were not chosen, as if the word 0 were right there. Leave "
            "out the places whose label is -100.",
            lambda logits, labels: F.cross_entropy(logits.flatten(0, 1), labels.clamp(min=0).flatten()),
        ),
        Misconception(
            "divided_by_all_places",
            "Your answer divides by the number of all places. Divide by that of the chosen ones, or the loss depends "
            "on how many were chosen.",
            lambda logits, labels: F.cross_entropy(*_asked(logits, labels), reduction="sum") / labels.numel(),
        ),
        Misconception(
            "summed",
            "Your answer is the sum over the chosen words. Divide it by their number.",
            lambda logits, labels: F.cross_entropy(*_asked(logits, labels), reduction="sum"),
        ),
        Misconception(
            "divided_by_the_batch",
            "Your answer divides the sum by the number of sentences. Divide it by the number of chosen words.",
            lambda logits, labels: F.cross_entropy(*_asked(logits, labels), reduction="sum") / len(labels),
        ),
        Misconception(
            "mean_of_means",
            "Your answer is a mean over sentences of means over words, so that a word counts less where many were "
            "chosen. Every chosen word counts the same.",
            lambda logits, labels: torch.stack(
                [F.cross_entropy(*_asked(*row)) for row in zip(logits, labels, strict=True)]
            ).mean(),
        ),
        Misconception(
            "probabilities_as_logits",
            "Your answer takes the softmax twice: cross_entropy wants the logits themselves, and takes the softmax of "
            "whatever it is given.",
            lambda logits, labels: F.cross_entropy(*_asked(logits.softmax(-1), labels)),
        ),
        Misconception(
            "without_normaliser",
            "Your answer is the mean of the right words' negative logits. A logit is no log-probability until the "
            "normaliser is taken off: use log_softmax.",
            lambda logits, labels: F.nll_loss(*_asked(logits, labels)),
        ),
        Misconception(
            "negative",
            "Your answer has the wrong sign: the logarithm of a probability is negative, and a loss is its opposite.",
            lambda logits, labels: -F.cross_entropy(*_asked(logits, labels)),
        ),
        Misconception(
            "probability_of_error",
            "Your answer averages 1 - p. Take -log p: it tells 0.1 from 0.001, and its gradient does not vanish "
            "where the model is sure and wrong.",
            lambda logits, labels: (
                1 - _asked(logits, labels)[0].softmax(-1).gather(1, _asked(logits, labels)[1].unsqueeze(1)).mean()
            ),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits: it takes the logarithm to base 2. Take the natural one.",
            lambda logits, labels: F.cross_entropy(*_asked(logits, labels)) / math.log(2),
        ),
        Misconception(
            "perplexity",
            "Your answer is the perplexity, exp of the loss. Return the loss itself.",
            lambda logits, labels: F.cross_entropy(*_asked(logits, labels)).exp(),
        ),
        Misconception(
            "detached",
            "The value is right, but it is detached from the logits (.detach(), .data, no_grad or torch.tensor(...)), "
            "so that nothing could be learned from it.",
            lambda logits, labels: F.cross_entropy(*_asked(logits.detach(), labels)),
        ),
    ),
    withheld=WITHHELD,
)


# bert.sequence_classifier ----------------------------------------------------------------------------------


def _sequence_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case(
            "worked example: three words, two dimensions",
            (torch.tensor([[[1.0, -0.5], [0.3, 2.0], [-1.0, 0.7]]]),),
            construct={"d_model": 2, "classes": 2},
            weights={
                "dense.weight": torch.tensor([[1.0, 0.5], [-0.5, 1.0]]),
                "dense.bias": torch.tensor([0.1, -0.2]),
                "output.weight": torch.tensor([[1.0, -1.0], [0.5, 2.0]]),
                "output.bias": torch.tensor([0.0, 0.3]),
            },
        )
    for name, transposed in (("a batch", False), ("another batch", False), ("transposed in memory", True)):
        batch, words, classes = sizes(generator, 3)
        d_model = integer(generator, 8, 12)
        states = Kind(name, generator, (batch,), transposed=transposed).normal(words, d_model)
        yield Case(
            name,
            (states,),
            construct={"d_model": d_model, "classes": classes},
            weights={
                **_layer(generator, "dense", d_model, d_model),
                **_layer(generator, "output", d_model, classes),
            },
            gradients=(0,),
            weight_gradients=True,
        )


def _layer(generator: Generator, name: str, ins: int, outs: int) -> dict[str, Tensor]:
    weight = torch.randn(outs, ins, generator=generator) / math.sqrt(ins)
    return {f"{name}.weight": weight, f"{name}.bias": torch.randn(outs, generator=generator)}


def sequence_head(forward: Callable[[Tensor, nn.Linear, nn.Linear], Tensor]) -> type[nn.Module]:
    """A class like `course_lib.heads.SequenceHead` whose forward is `forward(states, dense, output)`."""

    class SequenceClassifier(nn.Module):
        def __init__(self, d_model: int, classes: int) -> None:
            super().__init__()
            self.dense = nn.Linear(d_model, d_model)
            self.output = nn.Linear(d_model, classes)

        def forward(self, states: Tensor) -> Tensor:
            return forward(states, self.dense, self.output)

    return SequenceClassifier


SEQUENCE_CLASSIFIER = Exercise(
    id="bert.sequence_classifier",
    lesson=LESSON,
    name="SequenceClassifier",
    title="One label for a text",
    statement=(
        "class SequenceClassifier(nn.Module): __init__(d_model, classes) makes the layers `dense` and `output`; "
        "forward(states [batch, words, d_model]) -> [batch, classes]: output(tanh(dense(the first word's state)))."
    ),
    points=3,
    minutes=12,
    section="One label for a text or a pair",
    source="S1, BERTForSequenceClassification; Devlin et al. (2019), sections 3.2 and 4.1",
    reference=heads.SequenceHead,
    cases=_sequence_cases,
    correct=correct.SEQUENCE_CLASSIFIER,
    misconceptions=(
        Misconception(
            "every_word",
            "Your answer is [batch, words, classes], scores for every word. Take the state of the first word, [CLS], "
            "for the whole text.",
            sequence_head(lambda states, dense, output: output(torch.tanh(dense(states)))),
        ),
        Misconception(
            "mean_of_the_words",
            "Your answer classifies the mean of all the words' states. Here the first one, of [CLS], stands for the "
            "text.",
            sequence_head(lambda states, dense, output: output(torch.tanh(dense(states.mean(dim=1))))),
        ),
        Misconception(
            "mean_of_the_scores",
            "Your answer scores every word, and takes the mean of the scores. Score the first word, [CLS], alone.",
            sequence_head(lambda states, dense, output: output(torch.tanh(dense(states))).mean(dim=1)),
        ),
        Misconception(
            "last_word",
            "Your answer classifies the last word's state. That is what GPT does, whose last word alone has seen all "
            "the others; BERT has [CLS], the first.",
            sequence_head(lambda states, dense, output: output(torch.tanh(dense(states[:, -1])))),
        ),
        Misconception(
            "first_sequence",
            "Your answer takes the first text of the batch, states[0]. Take the first word of every text, "
            "states[:, 0].",
            sequence_head(lambda states, dense, output: output(torch.tanh(dense(states[0])))),
        ),
        Misconception(
            "largest_of_the_words",
            "Your answer takes the largest value over all the words in each dimension. Take the state of the first "
            "word, [CLS].",
            sequence_head(lambda states, dense, output: output(torch.tanh(dense(states.amax(dim=1))))),
        ),
        Misconception(
            "tanh_missing",
            "Your answer has no tanh between the two layers; then the two are no more than one linear layer.",
            sequence_head(lambda states, dense, output: output(dense(states[:, 0]))),
        ),
        Misconception(
            "dense_left_out",
            "Your answer leaves out `dense`, and its tanh. The state goes through both before it is classified.",
            sequence_head(lambda states, dense, output: output(states[:, 0])),
        ),
        Misconception(
            "tanh_of_the_state",
            "Your answer takes the tanh of the state, and no dense layer. The order is dense, tanh, output.",
            sequence_head(lambda states, dense, output: output(torch.tanh(states[:, 0]))),
        ),
        Misconception(
            "tanh_before_dense",
            "Your answer takes the tanh before the dense layer. The order is dense, tanh, output.",
            sequence_head(lambda states, dense, output: output(dense(torch.tanh(states[:, 0])))),
        ),
        Misconception(
            "tanh_at_the_end",
            "Your answer takes the tanh of the scores, which presses them between -1 and 1. It belongs between the "
            "two layers.",
            sequence_head(lambda states, dense, output: torch.tanh(output(dense(states[:, 0])))),
        ),
        Misconception(
            "relu",
            "Your answer has ReLU between the two layers, where BERT has tanh.",
            sequence_head(lambda states, dense, output: output(torch.relu(dense(states[:, 0])))),
        ),
        Misconception(
            "exponentials",
            "Your answer is exp of the scores, which slide S1 calls probabilities. They are none without the "
            "normaliser; and the loss wants the scores themselves.",
            sequence_head(lambda states, dense, output: output(torch.tanh(dense(states[:, 0]))).exp()),
        ),
        Misconception(
            "probabilities",
            _softmax_note("probabilities"),
            sequence_head(lambda states, dense, output: output(torch.tanh(dense(states[:, 0]))).softmax(dim=-1)),
        ),
        Misconception(
            "gelu",
            "Your answer has a GELU between the two layers. Here it is tanh, as in BERT's own pooling layer.",
            sequence_head(lambda states, dense, output: output(F.gelu(dense(states[:, 0])))),
        ),
        Misconception(
            "sigmoid",
            "Your answer has a sigmoid between the two layers. Here it is tanh.",
            sequence_head(lambda states, dense, output: output(torch.sigmoid(dense(states[:, 0])))),
        ),
        Misconception(
            "log_probabilities",
            "Your answer ends in a log-softmax. Return the scores as they are: cross-entropy takes the softmax itself.",
            sequence_head(lambda states, dense, output: output(torch.tanh(dense(states[:, 0]))).log_softmax(dim=-1)),
        ),
        Misconception(
            "sum_of_the_words",
            "Your answer adds up all words' states. Take the first word's, [CLS], alone.",
            sequence_head(lambda states, dense, output: output(torch.tanh(dense(states.sum(dim=1))))),
        ),
    ),
    withheld=WITHHELD,
)


# bert.token_classifier -------------------------------------------------------------------------------------


def _token_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        # [CLS] a ##b c d [SEP]: three words begin at 1, 3 and 4.
        states = torch.tensor([[[0.5, 0.1], [1.0, 0.0], [-2.0, 0.5], [0.0, 1.0], [2.0, -1.0], [0.3, 0.3]]])
        yield Case(
            "worked example: three words, four pieces",
            (states, torch.tensor([[1, 3, 4]])),
            construct={"d_model": 2, "classes": 4},
            weights={
                "output.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5], [0.5, -0.5]]),
                "output.bias": torch.tensor([0.1, 0.2, 0.3, 0.4]),
            },
        )
    for name, transposed in (("a batch", False), ("another batch", False), ("transposed in memory", True)):
        batch, words, classes = sizes(generator, 3)
        d_model, pieces = integer(generator, 8, 10), words + integer(generator, 4, 8)
        states = Kind(name, generator, (batch,), transposed=transposed).normal(pieces, d_model)
        starts = torch.stack(
            [torch.randperm(pieces - 2, generator=generator)[:words].sort().values + 1 for _ in range(batch)]
        )
        starts[0, -1], starts[1] = pieces - 2, starts[0].flip(0) * 0 + torch.arange(2, words + 2)
        yield Case(
            name,
            (states, starts),
            construct={"d_model": d_model, "classes": classes},
            weights=_layer(generator, "output", d_model, classes),
            gradients=(0,),
            weight_gradients=True,
        )


def token_head(forward: Callable[[Tensor, Tensor, nn.Linear], Tensor]) -> type[nn.Module]:
    """A class like `course_lib.heads.WordHead` whose forward is `forward(states, starts, output)`."""

    class TokenClassifier(nn.Module):
        def __init__(self, d_model: int, classes: int) -> None:
            super().__init__()
            self.output = nn.Linear(d_model, classes)

        def forward(self, states: Tensor, starts: Tensor) -> Tensor:
            return forward(states, starts, self.output)

    return TokenClassifier


def gathered(states: Tensor, starts: Tensor) -> Tensor:
    """The states at these places, [batch, words, d_model]."""
    return states[torch.arange(len(states)).unsqueeze(1), starts]


def _ends(starts: Tensor, behind: int) -> Tensor:
    """For each word the place behind its last piece: where the next word begins, and for the last word `behind`."""
    return torch.cat([starts[:, 1:], torch.full_like(starts[:, :1], behind)], dim=1)


def _mean_of_pieces(states: Tensor, starts: Tensor, behind: int) -> Tensor:
    """For each word the mean of its pieces; those of the last one end before `behind`."""
    place = torch.arange(states.shape[1])
    inside = (place >= starts.unsqueeze(-1)) & (place < _ends(starts, behind).unsqueeze(-1))
    return inside.to(states.dtype) @ states / inside.sum(dim=-1, keepdim=True)


TOKEN_CLASSIFIER = Exercise(
    id="bert.token_classifier",
    lesson=LESSON,
    name="TokenClassifier",
    title="A label for every word",
    statement=(
        "class TokenClassifier(nn.Module): __init__(d_model, classes) makes the layer `output`; forward(states "
        "[batch, pieces, d_model], starts [batch, words]) -> [batch, words, classes]: each word's scores, from the "
        "state of its first piece."
    ),
    points=3,
    minutes=12,
    section="A label for every word",
    source="S1, BERTForTokenClassification; Devlin et al. (2019), section 5.3",
    reference=heads.WordHead,
    cases=_token_cases,
    correct=correct.TOKEN_CLASSIFIER,
    misconceptions=(
        Misconception(
            "every_piece",
            "Your answer is [batch, pieces, classes]: scores for every piece, [CLS] and [SEP] included. Take only the "
            "pieces at `starts`.",
            token_head(lambda states, starts, output: output(states)),
        ),
        Misconception(
            "the_first_pieces",
            "Your answer takes the first so many pieces of the row. Take those at the places in `starts`.",
            token_head(lambda states, starts, output: output(states[:, : starts.shape[1]])),
        ),
        Misconception(
            "pieces_behind_cls",
            "Your answer takes the pieces behind [CLS] in a row, as if every word were one piece. Take those at the "
            "places in `starts`.",
            token_head(lambda states, starts, output: output(states[:, 1 : starts.shape[1] + 1])),
        ),
        Misconception(
            "first_sequence_for_all",
            "Your answer uses the first sentence's `starts` for all of them. Each sentence has a row of its own.",
            token_head(lambda states, starts, output: output(states[:, starts[0]])),
        ),
        Misconception(
            "every_row_of_starts",
            "Your answer looks up every row of `starts` in every sentence: indexing states[:, starts] pairs all with "
            "all. Look up row i in sentence i only.",
            token_head(lambda states, starts, output: output(states[:, starts])),
        ),
        Misconception(
            "piece_behind",
            "Your answer takes the piece behind each word's first one. `starts` are places in the row as it is, "
            "[CLS] being place 0.",
            token_head(
                lambda states, starts, output: output(gathered(states, (starts + 1).clamp(max=states.shape[1] - 1)))
            ),
        ),
        Misconception(
            "piece_before",
            "Your answer takes the piece before each word. `starts` are places in the row as it is, [CLS] being place "
            "0.",
            token_head(lambda states, starts, output: output(gathered(states, starts - 1))),
        ),
        Misconception(
            "mean_of_pieces",
            "Your answer takes the mean of each word's pieces. Here the first piece speaks for the whole word.",
            token_head(lambda states, starts, output: output(_mean_of_pieces(states, starts, states.shape[1] - 1))),
        ),
        Misconception(
            "mean_of_pieces_and_sep",
            "Your answer takes the mean of each word's pieces, and for the last word of all that is left, [SEP] "
            "included. Here the first piece speaks for the whole word.",
            token_head(lambda states, starts, output: output(_mean_of_pieces(states, starts, states.shape[1]))),
        ),
        Misconception(
            "last_piece",
            "Your answer takes each word's last piece. Here the first one speaks for the whole word.",
            token_head(lambda states, starts, output: output(gathered(states, _ends(starts, states.shape[1] - 1) - 1))),
        ),
        Misconception(
            "exponentials",
            "Your answer is exp of the scores, which slide S1 calls probabilities. They are none without the "
            "normaliser; and the loss wants the scores themselves.",
            token_head(lambda states, starts, output: output(gathered(states, starts)).exp()),
        ),
        Misconception(
            "probabilities",
            _softmax_note("probabilities"),
            token_head(lambda states, starts, output: output(gathered(states, starts)).softmax(dim=-1)),
        ),
        Misconception(
            "softmax_over_the_words",
            "Your answer takes a softmax over the words (dim=1). Return the scores as they are; and if a softmax were "
            "due, it would run over the classes of each word.",
            token_head(lambda states, starts, output: output(gathered(states, starts)).softmax(dim=1)),
        ),
        Misconception(
            "states_detached",
            "The values are right, but no gradient reaches the states: they are detached (.detach(), .data or "
            "torch.tensor), so that the encoder below could not be fine-tuned.",
            token_head(lambda states, starts, output: output(gathered(states.detach(), starts))),
        ),
        Misconception(
            "log_probabilities",
            "Your answer ends in a log-softmax. Return the scores as they are: cross-entropy takes the softmax itself.",
            token_head(lambda states, starts, output: output(gathered(states, starts)).log_softmax(dim=-1)),
        ),
        Misconception(
            "tanh_before",
            "Your answer takes the tanh of the states first. Here there is only a linear layer.",
            token_head(lambda states, starts, output: output(torch.tanh(gathered(states, starts)))),
        ),
    ),
    withheld=WITHHELD,
)


# bert.answer_span ------------------------------------------------------------------------------------------


def _span_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        first = [2.0, 1.0, 0.0, 2.5, 1.0, -1.0]
        last = [0.0, 3.0, 0.2, 0.5, 2.4, -1.0]
        yield Case("worked example: the cat chased the mouse .", (torch.tensor([[first, last]]),))
        yield Case("worked example: one word at most", (torch.tensor([[first, last]]), 1), part="longest span")
    for dtype in (torch.float32, torch.float64):
        batch, words = integer(generator, 6, 9), integer(generator, 7, 11)
        drawn = torch.randn(batch, 2, words, generator=generator, dtype=dtype)
        yield Case(f"a batch, {str(dtype).removeprefix('torch.')}", (2 * drawn,))
    yield Case("all scores negative", (-1 - drawn.abs(),))
    batch, words = integer(generator, 6, 9), integer(generator, 8, 11)
    padded = 3 * torch.randn(batch, 2, words, generator=generator)
    padded[0, :, 5:], padded[1, :, 3:] = -math.inf, -math.inf
    yield Case("with padding of -inf", (padded,))
    backwards = torch.zeros(2, 2, words)
    backwards += 0.1 * torch.randn(2, 2, words, generator=generator)
    backwards[:, 0, -2], backwards[:, 1, 1] = 9.0, 8.0
    yield Case("the best end stands before the best beginning", (backwards,))
    for most in (1, 2, 4):
        drawn = 2 * torch.randn(batch, 2, words, generator=generator)
        yield Case(f"at most {most} word{'s' * (most > 1)}", (drawn, most), part="longest span")


def _spans(pick: Callable[[Tensor, int | None], Tensor]) -> Callable[..., Tensor]:
    """An answer that picks the best entry of a table [batch, first, last]."""

    def best(logits: Tensor, max_words: int | None = None) -> Tensor:
        table = pick(logits, max_words)
        found = table.flatten(1).argmax(dim=1)
        return torch.stack([found // table.shape[2], found % table.shape[2]], dim=1)

    return best


def _table(
    first: Tensor,
    last: Tensor,
    max_words: int | None,
    shift: int = 0,
    diagonal: int = 0,
    impossible: float = -math.inf,
) -> Tensor:
    """The sums of both scores where the span is possible, and `impossible` elsewhere."""
    scores = first.unsqueeze(2) + last.unsqueeze(1)
    possible = torch.ones_like(scores, dtype=torch.bool).triu(diagonal)
    if max_words is not None:
        possible = possible.tril(max_words - 1 + shift)
    return scores.masked_fill(~possible, impossible)


def _cut_off(logits: Tensor, max_words: int | None = None) -> Tensor:
    first, last = _spans(lambda logits, _limit: _table(logits[:, 0], logits[:, 1], None))(logits).unbind(dim=1)
    longest = logits.shape[2] if max_words is None else max_words
    return torch.stack([first, torch.minimum(last, first + longest - 1)], dim=1)


def _best_above_zero(logits: Tensor, max_words: int | None = None) -> Tensor:
    """The best span if its sum is above 0, and 0, 0 if none is."""
    best = _table(logits[:, 0], logits[:, 1], max_words).flatten(1).amax(dim=1, keepdim=True)
    return heads.best_spans(logits, max_words) * (best > 0)


def _first_then_last(logits: Tensor, max_words: int | None = None) -> Tensor:
    first = logits[:, 0].argmax(dim=1)
    places = torch.arange(logits.shape[2])
    possible = places >= first.unsqueeze(1)
    if max_words is not None:
        possible &= places < first.unsqueeze(1) + max_words
    return torch.stack([first, logits[:, 1].masked_fill(~possible, -math.inf).argmax(dim=1)], dim=1)


def _last_then_first(logits: Tensor, max_words: int | None = None) -> Tensor:
    last = logits[:, 1].argmax(dim=1)
    places = torch.arange(logits.shape[2])
    possible = places <= last.unsqueeze(1)
    if max_words is not None:
        possible &= places > last.unsqueeze(1) - max_words
    return torch.stack([logits[:, 0].masked_fill(~possible, -math.inf).argmax(dim=1), last], dim=1)


ANSWER_SPAN = Exercise(
    id="bert.answer_span",
    lesson=LESSON,
    name="best_spans",
    title="The best span",
    statement=(
        "best_spans(logits [batch, 2, words], max_words=None) -> int [batch, 2]: the positions first <= last whose "
        "scores logits[:, 0, first] + logits[:, 1, last] are largest together; no longer than max_words. There "
        "are no ties."
    ),
    points=4,
    minutes=18,
    section="A span of the text",
    source="S1, question answering; Devlin et al. (2019), section 4.2",
    reference=heads.best_spans,
    cases=_span_cases,
    parts={CORE: 3, "longest span": 1},
    correct=correct.ANSWER_SPAN,
    misconceptions=(
        Misconception(
            "each_by_itself",
            "Your answer takes the best beginning and the best end, each by itself, so that an answer may end before "
            "it begins. Look for the best pair with first <= last.",
            lambda logits, max_words=None: logits.argmax(dim=2),
        ),
        Misconception(
            "sorted_afterwards",
            "Your answer takes the best beginning and the best end, and exchanges them where they stand the wrong way "
            "round. That is some span, but not the best: look for the pair with the largest sum.",
            lambda logits, max_words=None: logits.argmax(dim=2).sort(dim=1).values,
        ),
        Misconception(
            "beginning_first",
            "Your answer takes the best beginning, and the best end behind it. A beginning that is a little worse may "
            "have a much better end: compare the sums of all pairs.",
            _first_then_last,
        ),
        Misconception(
            "end_first",
            "Your answer takes the best end, and the best beginning before it. An end that is a little worse may have "
            "a much better beginning: compare the sums of all pairs.",
            _last_then_first,
        ),
        Misconception(
            "lower_triangle",
            "Your spans end before they begin, or are single words: you keep the wrong triangle. With beginnings as "
            "rows and ends as columns the possible spans are the upper one, triu.",
            _spans(lambda logits, most: _table(logits[:, 1], logits[:, 0], most).mT),
        ),
        Misconception(
            "last_and_first",
            "You found the right spans, but return the last place, then the first. The order is first, last.",
            lambda logits, max_words=None: heads.best_spans(logits, max_words).flip(1),
        ),
        Misconception(
            "impossible_spans_at_zero",
            "Your answer gives 0 to the spans that do not exist, as triu of the sums does. That beats a negative sum: "
            "give them -inf.",
            _spans(lambda logits, most: _table(logits[:, 0], logits[:, 1], most, impossible=0.0)),
        ),
        Misconception(
            "search_from_zero",
            "Your answer returns 0, 0 where all sums are negative: it looks for a sum above 0. Let the best sum so far "
            "begin at -inf.",
            _best_above_zero,
        ),
        Misconception(
            "scores_exchanged",
            "Your answer takes row 0 of the logits for the end and row 1 for the beginning. It is the other way round.",
            _spans(lambda logits, most: _table(logits[:, 1], logits[:, 0], most)),
        ),
        Misconception(
            "one_word_excluded",
            "Your answer allows no span of a single word. First and last may be the same word: keep the diagonal.",
            _spans(lambda logits, most: _table(logits[:, 0], logits[:, 1], most, diagonal=1)),
        ),
        Misconception(
            "end_behind_the_span",
            "Your second number is the place behind the span, as in a Python slice. Return the last word's own place.",
            lambda logits, max_words=None: heads.best_spans(logits, max_words) + torch.tensor([0, 1]),
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies the two scores. They are logarithms but for a constant, so that probabilities are "
            "multiplied by adding scores.",
            _spans(
                lambda logits, most: (logits[:, 0].unsqueeze(2) * logits[:, 1].unsqueeze(1)).masked_fill(
                    _table(torch.zeros_like(logits[:, 0]), torch.zeros_like(logits[:, 1]), most) < 0, -math.inf
                )
            ),
        ),
        Misconception(
            "sum_of_probabilities",
            "Your answer adds the two probabilities. The probability of a span is their product; of the scores, which "
            "are logarithms, it is the sum.",
            _spans(lambda logits, most: _table(logits[:, 0].softmax(dim=-1), logits[:, 1].softmax(dim=-1), most)),
        ),
        Misconception(
            "columns",
            "Your answer is [2, batch]. Each row of the batch has its own first and last: [batch, 2].",
            lambda logits, max_words=None: heads.best_spans(logits, max_words).T.contiguous(),
        ),
        Misconception(
            "limit_ignored",
            "Your answer is right, but for max_words, which it does not look at. Leave out the spans that have more "
            "words.",
            lambda logits, max_words=None: heads.best_spans(logits),
        ),
        Misconception(
            "one_word_too_many",
            "Your answer allows one word more than max_words. From first to last there are last - first + 1 words.",
            _spans(lambda logits, most: _table(logits[:, 0], logits[:, 1], most, shift=1)),
        ),
        Misconception(
            "cut_off",
            "Your answer finds the best span of any length and then cuts off its end. Another one, which is short "
            "enough as it is, may have the larger sum: search among those alone.",
            _cut_off,
        ),
    ),
    withheld=WITHHELD,
)


# bert.multiple_choice --------------------------------------------------------------------------------------


def score(ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    """A stand-in for an encoder with a head: one number for each row, which depends on all that it is given."""
    for name, tensor in (("ids", ids), ("segments", segments), ("mask", mask)):
        if tensor.dim() != 2:
            raise ValueError(f"score reads rows of words, [rows, words]; {name} are {list(tensor.shape)}")
    place = torch.arange(ids.shape[1], device=ids.device)
    return (torch.sin(0.7 * ids + 0.4 * place + 1.1 * segments) * mask).sum(dim=1)


def _choice_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    reading = Callback("score", score)
    if not hidden:
        ids = torch.tensor([[[1, 8, 9, 2, 5, 2], [1, 8, 9, 2, 7, 2], [1, 8, 9, 2, 6, 2]]])
        segments = torch.tensor([[[0, 0, 0, 0, 1, 1]] * 3])
        yield Case("worked example: three choices", (reading, ids, segments, torch.ones_like(ids, dtype=torch.bool)))
    for name in ("a batch", "another batch", "more choices"):
        batch, choices, words = integer(generator, 2, 4), integer(generator, 4, 6), integer(generator, 7, 10)
        ids = torch.randint(10, 60, (batch, choices, words), generator=generator)
        lengths = torch.randint(3, words, (batch, choices, 1), generator=generator)
        place = torch.arange(words)
        mask = place < lengths
        yield Case(name, (reading, ids, ((place > 2) & mask).long(), mask))


def _rows(reading: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """The scores of all rows, one below the other."""
    return reading(*(tensor.flatten(0, 1) for tensor in tensors))


def _choose(change: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """An answer that makes something of the rows' scores and the ids."""
    return lambda score, ids, segments, mask: change(_rows(score, ids, segments, mask), ids)


MULTIPLE_CHOICE = Exercise(
    id="bert.multiple_choice",
    lesson=LESSON,
    name="choice_probabilities",
    title="One of several",
    statement=(
        "choice_probabilities(score, ids, segments, mask), tensors [batch, choices, words] -> [batch, choices]: how "
        "probable each choice is, where score(ids, segments, mask) reads rows [rows, words] and gives [rows]."
    ),
    points=3,
    minutes=12,
    section="One of several choices",
    source="S1, multiple choice; Devlin et al. (2019), section 4.4",
    reference=heads.choice_probabilities,
    cases=_choice_cases,
    correct=correct.MULTIPLE_CHOICE,
    misconceptions=(
        Misconception(
            "scores_returned",
            "Your answer is the scores. One step is missing: the softmax over the choices.",
            _choose(lambda rows, ids: rows.view(ids.shape[:2])),
        ),
        Misconception(
            "softmax_over_the_batch",
            "Your answer takes the softmax over the questions (dim=0), so that they compete with each other. The "
            "choices of one question do: dim=1.",
            _choose(lambda rows, ids: rows.view(ids.shape[:2]).softmax(dim=0)),
        ),
        Misconception(
            "softmax_over_all_rows",
            "Your answer takes the softmax over all rows of the batch. The probabilities of one question's choices "
            "must sum to 1: shape the scores [batch, choices] first.",
            _choose(lambda rows, ids: rows.softmax(dim=0).view(ids.shape[:2])),
        ),
        Misconception(
            "each_by_itself",
            "Your answer asks of each choice by itself whether it is right (a sigmoid). Exactly one of them is: take "
            "the softmax over the choices.",
            _choose(lambda rows, ids: rows.view(ids.shape[:2]).sigmoid()),
        ),
        Misconception(
            "rows_mixed_up",
            "Your answer puts the scores back in the wrong order: [choices, batch] turned round is not [batch, "
            "choices] here. The rows were laid out question by question: view them as [batch, choices].",
            _choose(lambda rows, ids: rows.view(ids.shape[1], ids.shape[0]).T.softmax(dim=1)),
        ),
        Misconception(
            "still_in_rows",
            "Your answer is [batch · choices], one long row. Shape the scores [batch, choices] before the softmax.",
            _choose(lambda rows, ids: rows.view(ids.shape[:2]).softmax(dim=1).flatten()),
        ),
        Misconception(
            "choices_as_rows",
            "Your answer is [choices, batch]. Questions are rows: [batch, choices].",
            _choose(lambda rows, ids: rows.view(ids.shape[:2]).softmax(dim=1).T.contiguous()),
        ),
        Misconception(
            "padding_read",
            "Your answer reads the padding too: it hands `score` a mask that is True everywhere. Hand on the mask that "
            "came in.",
            lambda score, ids, segments, mask: (
                _rows(score, ids, segments, torch.ones_like(mask)).view(ids.shape[:2]).softmax(dim=1)
            ),
        ),
        Misconception(
            "one_segment",
            "Your answer hands `score` segments of 0 only. Hand on those that came in: they say where the choice "
            "begins.",
            lambda score, ids, segments, mask: (
                _rows(score, ids, torch.zeros_like(segments), mask).view(ids.shape[:2]).softmax(dim=1)
            ),
        ),
        Misconception(
            "log_probabilities",
            "Your answer is log-probabilities. Return the probabilities themselves, which sum to 1.",
            _choose(lambda rows, ids: rows.view(ids.shape[:2]).log_softmax(dim=1)),
        ),
        Misconception(
            "divided_by_their_sum",
            "Your answer divides the scores by their sum. They may be negative, so take exp of each of them first: "
            "that is the softmax.",
            _choose(lambda rows, ids: rows.view(ids.shape[:2]) / rows.view(ids.shape[:2]).sum(dim=1, keepdim=True)),
        ),
        Misconception(
            "exponentials",
            "Your answer is exp of the scores, which slide S1 calls probabilities. Divide them by their sum over the "
            "choices: that is the normaliser.",
            _choose(lambda rows, ids: rows.view(ids.shape[:2]).exp()),
        ),
        Misconception(
            "segments_and_mask_exchanged",
            "Your answer passes mask and segments the other way round. It is score(ids, segments, mask).",
            lambda score, ids, segments, mask: (
                _rows(score, ids, mask.to(segments.dtype), segments.to(mask.dtype)).view(ids.shape[:2]).softmax(dim=-1)
            ),
        ),
    ),
    withheld=WITHHELD,
)


EXERCISES = (
    PAIR_ENCODING,
    EXPECTED_COUNTS,
    MASK_WORDS,
    MASKED_LM_LOSS,
    SEQUENCE_CLASSIFIER,
    TOKEN_CLASSIFIER,
    ANSWER_SPAN,
    MULTIPLE_CHOICE,
)
"""In the order of the lesson."""
