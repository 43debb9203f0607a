"""The exercises of lesson 09: BERT's input, its pre-training, and the heads that solve tasks on its states.

Built like those of `course_lib/exercises/attention.py`; read that file first.

What is random in pre-training is passed in, so that there is one right answer. Heads take an encoder's states, or a
function that reads for them, so that nobody needs a trained model to be checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from course_lib.checking.exercise import CORE, Callback, Case, Exercise, Misconception
from course_lib.exercises.common import Kind, integer, kinds, predicted, sizes
from course_lib.exercises.correct import bert as correct
from course_lib.objectives import heads, pretraining
from course_lib.objectives.labelled_data import IGNORED

LESSON = "09_bert"
WITHHELD = ("course_lib.objectives.heads", "course_lib.objectives.pretraining")

EXAMPLE = "worked example: my dog is cute, he likes playing"
"""The input that the paper draws in its figure 2, with the ids of its own vocabulary."""
CLS, SEP, PAD, MASK = 101, 102, 0, 103
MY_DOG_IS_CUTE, HE_LIKES_PLAYING = [2026, 3899, 2003, 10140], [2002, 7777, 2377, 2075]


def _softmax_note(what: str) -> str:
    return f"Your answer is {what}. Return the scores as they are: the loss takes the softmax itself."


# bert.pair_encoding ----------------------------------------------------------------------------------------

Ids = Sequence[int]
Encoded = tuple[Tensor, Tensor, Tensor]


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


_SEGMENTS = ((0, 0, 1, 1), (0, 0, 0, 1))
"""Of the first text, its [SEP], the second text and its [SEP]: in a pair, and where there is no second text."""


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
    mask: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda words, ids, special: words,
    order: tuple[int, int, int] = (0, 1, 2),
) -> Encoded:
    """The right batch, unless a setting says otherwise.

    Args:
        known_ids: take BERT's own special ids.
        cls: before how many of the texts [CLS] stands.
        seps: whether a [SEP] stands behind the first and the second text of a pair, behind a text that is alone,
            and behind a second text that does not exist.
        turned: the second text first.
        numbers: see `_SEGMENTS`.
        in_front: padding stands before the words.
        id_of_padding: None for `padding_id`.
        segment_of_padding: from a row's segments and `padding_id`.
        mask: from the mask, the ids, and where they are special.
        order: of what is returned.
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
    words = torch.tensor([padded([1] * len(row), 0) for row in rows]).bool()
    result = ids, kinds, mask(words, ids, (ids == cls_id) | (ids == sep_id))
    return result[order[0]], result[order[1]], result[order[2]]


PAIR_ENCODING = Exercise(
    id="bert.pair_encoding",
    lesson=LESSON,
    name="encode_pairs",
    title="Pairs of texts",
    statement=(
        "encode_pairs(firsts, seconds, cls_id, sep_id, padding_id) -> a tuple of ids and segments, int64, and a "
        "boolean mask, [batch, words] each: [CLS] first [SEP] second [SEP] in every row, [CLS] first [SEP] where the "
        "second is None, and padding behind."
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
            partial(_encoded, seps=(True, False, True, False)),
        ),
        Misconception(
            "no_sep_between",
            "Your rows have no [SEP] between the two texts. Every text is followed by one.",
            partial(_encoded, seps=(False, True, True, False)),
        ),
        Misconception(
            "no_sep_behind_one_text",
            "Your rows of a single text have no [SEP]. Every text is followed by one, also where it is the only one.",
            partial(_encoded, seps=(True, True, False, False)),
        ),
        Misconception(
            "a_sep_for_no_text",
            "Your rows of a single text end with two [SEP]. Where the second text is None, leave its [SEP] out too.",
            partial(_encoded, seps=(True, True, True, True)),
        ),
        Misconception(
            "cls_missing",
            "Your rows begin with the first word. Put [CLS] before it: its vector is to stand for the whole input.",
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
            "Your segments count the first [SEP] of a pair to the second text. Each [SEP] belongs to the text that it "
            "ends.",
            partial(_encoded, numbers=((0, 1, 1, 1), (0, 0, 0, 1))),
        ),
        Misconception(
            "last_sep_in_first_segment",
            "In your segments the last [SEP] of a pair has 0. Each [SEP] belongs to the text that it ends.",
            partial(_encoded, numbers=((0, 0, 1, 0), (0, 0, 0, 0))),
        ),
        Misconception(
            "one_segment",
            "Your segments are 0 at all the tokens. Those of the second text, with its [SEP], are 1.",
            partial(_encoded, numbers=((0, 0, 0, 0), (0, 0, 0, 0))),
        ),
        Misconception(
            "segments_from_one",
            "Your segments are 1 and 2. They are counted from 0, as the rows of an embedding table are.",
            partial(_encoded, numbers=((1, 1, 2, 2), (1, 1, 1, 2))),
        ),
        Misconception(
            "all_behind_in_second_segment",
            "Your segments are 1 at everything behind the first text's words, its [SEP] and the padding included. The "
            "[SEP] belongs to the text that it ends, and padding has segment 0.",
            partial(
                _encoded,
                numbers=((0, 1, 1, 1), (0, 1, 1, 1)),
                segment_of_padding=lambda segments, padding_id: 1,
            ),
        ),
        Misconception(
            "padding_in_second_segment",
            "Your segments are 1 at the padding. Fill them up with 0.",
            partial(_encoded, segment_of_padding=lambda segments, padding_id: 1),
        ),
        Misconception(
            "padding_in_the_last_segment",
            "At the padding your segments go on with the last token's, which is 1 behind a pair. Fill them up with 0.",
            partial(_encoded, segment_of_padding=lambda segments, padding_id: segments[-1]),
        ),
        Misconception(
            "segments_padded_with_padding_id",
            "Your segments are `padding_id` at the padding. That is for the ids; fill the segments up with 0.",
            partial(_encoded, segment_of_padding=lambda segments, padding_id: padding_id),
        ),
        Misconception(
            "ids_padded_with_zero",
            "Your ids are filled up with 0. Fill them up with `padding_id`, which need not be 0.",
            partial(_encoded, id_of_padding=0),
        ),
        Misconception(
            "padded_in_front",
            "Your padding stands in front of the words. Put it behind them: [CLS] has place 0 in every row.",
            partial(_encoded, in_front=True),
        ),
        Misconception(
            "mask_inverted",
            "Your mask is True at the padding. In this course True means `may attend`: True at the words.",
            partial(_encoded, mask=lambda words, ids, special: ~words),
        ),
        Misconception(
            "mask_one_too_long",
            "Your mask is True at one place of the padding, too. Places are counted from 0: a token stands where the "
            "place is smaller (<) than the length of its row.",
            partial(_encoded, mask=lambda words, ids, special: words | words.roll(1, dims=1)),
        ),
        Misconception(
            "special_tokens_masked",
            "Your mask hides [CLS] and [SEP]. Only padding is hidden: they are attended to like words.",
            partial(_encoded, mask=lambda words, ids, special: words & ~special),
        ),
        Misconception(
            "word_0_as_padding",
            "Your mask is False wherever an id is 0, and nowhere else. Padding has the id `padding_id`, whichever that "
            "is.",
            partial(_encoded, mask=lambda words, ids, special: ids != 0),
        ),
        Misconception(
            "mask_of_numbers",
            "Your mask holds numbers. A mask is boolean: end with .bool().",
            partial(_encoded, mask=lambda words, ids, special: words.long()),
        ),
        Misconception(
            "segments_and_mask_exchanged",
            "You return ids, mask, segments. The order is ids, segments, mask.",
            partial(_encoded, order=(0, 2, 1)),
        ),
    ),
    withheld=WITHHELD,
    forbidden=("join_pair", "encode_pair", "collate_labelled"),
)


# bert.expected_counts --------------------------------------------------------------------------------------


def _count_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: 1000 words", (1000,))
        yield Case("a short sentence: 6 words", (6,))
    for name, most in (("hardly any words", 6), ("few words", 90), ("some words", 900), ("many words", 90_000)):
        yield Case(name, (integer(generator, most // 3, most),))


def _counts(
    words: int,
    *,
    share: float = 0.15,
    shares: Sequence[float] = (0.8, 0.1, 0.1),
    special: int = 0,
    of_all: float | None = None,
    chosen: Callable[[float], float] = float,
    rounded: Callable[[float], float] = float,
    turned: bool = False,
) -> tuple[float, ...]:
    """The right counts, unless a setting says otherwise; with `of_all` of so many words, however many there are."""
    asked = chosen((words - special if of_all is None else of_all) * share)
    counts = tuple(float(rounded(asked * one)) for one in shares)
    return counts[::-1] if turned else counts


def _whole_part(count: float) -> int:
    return math.floor(count + 1e-9)


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
            "Your numbers are shares of all the words. Only 15 % of them are chosen, and 80, 10 and 10 % are shares of "
            "the chosen ones.",
            partial(_counts, share=1.0),
        ),
        Misconception(
            "all_become_mask",
            "In your answer all the chosen words become [MASK]. Only 80 % of them do; 10 % become another word, and "
            "10 % stay.",
            partial(_counts, shares=(1.0, 0.0, 0.0)),
        ),
        Misconception(
            "all_the_chosen_first",
            "Your first number is that of all the chosen words. Of these only 80 % become [MASK].",
            partial(_counts, shares=(1.0, 0.1, 0.1)),
        ),
        Misconception(
            "none_stays",
            "In your answer all the chosen words that do not become [MASK] become another word. 10 % of the chosen "
            "ones do, and 10 % stay as they are.",
            partial(_counts, shares=(0.8, 0.2, 0.0)),
        ),
        Misconception(
            "all_the_unchanged",
            "Your third number counts the words that were not chosen, too. Asked for are only the 10 % of the chosen "
            "ones that stay; at the others nothing is asked.",
            partial(_counts, shares=(0.8, 0.1, 0.865 / 0.15)),
        ),
        Misconception(
            "the_words_not_chosen",
            "Your third number is that of the words that were not chosen. Meant are those that are chosen and shown "
            "as they are: 10 % of the chosen ones.",
            partial(_counts, shares=(0.8, 0.1, 0.85 / 0.15)),
        ),
        Misconception(
            "thresholds_as_shares",
            "You took the thresholds 0.8, 0.9 and 1 for shares. The shares are the distances between them: 0.8, 0.1 "
            "and 0.1.",
            partial(_counts, shares=(0.8, 0.9, 1.0)),
        ),
        Misconception(
            "tenths_of_all",
            "Your second and third numbers are 10 % of all the words. They are 10 % of the 15 % that were chosen.",
            partial(_counts, shares=(0.8, 0.1 / 0.15, 0.1 / 0.15)),
        ),
        Misconception(
            "tenths_of_the_rest",
            "Your second and third numbers are 10 % of the words that were not chosen. They are 10 % of those that "
            "were.",
            partial(_counts, shares=(0.8, 0.085 / 0.15, 0.085 / 0.15)),
        ),
        Misconception(
            "a_hundred_times",
            "Your numbers are a hundred times too large: 12 % of the words are 0.12 times their number.",
            partial(_counts, share=15.0, of_all=None),
        ),
        Misconception(
            "fractions",
            "Your answer is in fractions of the words. Multiply them by the number of words.",
            partial(_counts, of_all=1),
        ),
        Misconception(
            "rounded",
            "Your numbers are rounded to whole ones. An average need not be a whole number: leave it as it is.",
            partial(_counts, rounded=round),
        ),
        Misconception(
            "cut_down",
            "Your numbers are cut down to whole ones. An average need not be a whole number: leave it as it is.",
            partial(_counts, rounded=_whole_part),
        ),
        Misconception(
            "chosen_rounded",
            "Your answer rounds the number of chosen words. It is an average, and need not be a whole number: leave it "
            "as it is.",
            partial(_counts, chosen=round),
        ),
        Misconception(
            "chosen_cut_down",
            "Your answer cuts the number of chosen words down to a whole one. It is an average: leave it as it is.",
            partial(_counts, chosen=_whole_part),
        ),
        Misconception(
            "special_taken_off",
            "Your answer takes two words off, for [CLS] and [SEP]. None of these words is special: count them all.",
            partial(_counts, special=2),
        ),
        Misconception(
            "order_reversed",
            "Your numbers stand in reverse. The order is: as [MASK], as another word, unchanged.",
            partial(_counts, turned=True),
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
        anything = torch.randint(100, 190, (batch, words), generator=generator)
        # Of every fate there is one, whatever was drawn. A word is drawn for itself, and two are [MASK] already.
        chance[0, 1:8] = torch.tensor([0.01, 0.02, 0.03, 0.6, 0.04, 0.05, 0.7])
        fate[0, 1:8] = torch.tensor([0.1, 0.85, 0.95, 0, 0, 0.86, 0.5])
        anything[0, 6] = ids[0, 6]
        ids[0, 3] = ids[0, 7] = 99
        name = f"{batch} x {words} words, of which two are [MASK] already"
        yield Case(name, (ids, special, chance, fate, anything, 99))
    ids = torch.randint(20, 90, (3, 7), generator=generator)
    none = torch.zeros(3, 7, dtype=torch.bool)
    draws = (torch.full((3, 7), 0.5), torch.full((3, 7), 0.2), torch.full((3, 7), 150))
    yield Case("no word is chosen", (ids, none, *draws, 99))


def _where_chosen(chosen: Tensor, corrupted: Tensor, ids: Tensor, fate: Tensor) -> Tensor:
    """The right labels."""
    return torch.where(chosen, ids, IGNORED)


def _masked(
    ids: Tensor,
    special: Tensor,
    chance: Tensor,
    fate: Tensor,
    anything: Tensor,
    mask_id: int,
    *,
    choose: Callable[[Tensor, Tensor], Tensor] = lambda small, special: small & ~special,
    known_id: bool = False,
    one_draw: bool = False,
    borders: tuple[float, float] = (0.8, 0.9),
    exchanged: bool = False,
    hide: Callable[[Tensor, Tensor], Tensor] = lambda chosen, special: chosen,
    in_a_row: bool = False,
    ask: Callable[[Tensor, Tensor], Tensor] = lambda chosen, small: chosen,
    labels: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor] = _where_chosen,
    at_masks: bool = False,
    turned: bool = False,
) -> tuple[Tensor, Tensor]:
    """The right corruption, unless a setting says otherwise.

    Args:
        choose: from where chance is below 0.15, and `special`.
        known_id: take BERT's own id of [MASK].
        one_draw: `chance` decides for `fate` as well.
        borders: below which `fate` means [MASK], and below which another word.
        exchanged: the other word and the word itself.
        hide: where the model reads something else, from the chosen places and `special`.
        in_a_row: the other words from the beginning of `anything`, and not place by place.
        ask: where there are labels, from the chosen places and those whose chance is below 0.15.
        labels: from these places, what the model reads, ids and fate.
        at_masks: labels wherever the model reads [MASK].
        turned: the labels first.
    """
    small, mask_id = chance < 0.15, MASK if known_id else mask_id
    fate = chance / 0.15 if one_draw else fate
    chosen = choose(small, special)
    if in_a_row:
        other = hide(chosen, special) & (fate >= borders[0]) & (fate < borders[1])
        anything = anything.flatten()[(other.flatten().cumsum(0) - 1).clamp(min=0)].view_as(ids)
    above, below = (anything, ids) if exchanged else (ids, anything)
    shown = torch.where(fate < borders[0], mask_id, torch.where(fate < borders[1], below, above))
    corrupted = torch.where(hide(chosen, special), shown, ids)
    asked = corrupted == mask_id if at_masks else ask(chosen, small)
    result = corrupted, labels(asked, corrupted, ids, fate)
    return result[::-1] if turned else result


MASK_WORDS = Exercise(
    id="bert.mask_words",
    lesson=LESSON,
    name="mask_words",
    title="Hide words",
    statement=(
        "mask_words(ids, special, chance, fate, anything, mask_id) -> corrupted, labels, all [batch, words]: choose "
        "where chance < 0.15 and not special; there show [MASK] (fate < 0.8), anything (fate < 0.9) or the word "
        "itself; labels hold the ids of the chosen words, and -100 elsewhere."
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
            partial(_masked, choose=lambda small, special: small),
        ),
        Misconception(
            "only_special_chosen",
            "Your answer chooses only among [CLS], [SEP] and padding. `special` is True at those: turn it round, "
            "with ~.",
            partial(_masked, choose=lambda small, special: small & special),
        ),
        Misconception(
            "or_for_and",
            "Your answer chooses every word that is not special, and the special ones with a small chance. Both must "
            "hold, a chance below 0.15 and a word that is not special: join them by &, not by |.",
            partial(_masked, choose=lambda small, special: small | ~special),
        ),
        Misconception(
            "the_other_words_hidden",
            "Your answer hides the 85 % that were not chosen. A word is chosen where chance is *below* 0.15.",
            partial(_masked, choose=lambda small, special: ~small & ~special),
        ),
        Misconception(
            "fate_for_all",
            "Your answer does not look at `chance`: every word that is not special is chosen. Choose only those whose "
            "chance is below 0.15.",
            partial(_masked, choose=lambda small, special: ~special),
        ),
        Misconception(
            "first_and_last_left_out",
            "Your answer takes the first and the last place of each row for the special ones. Which are special says "
            "`special`: padding is, too.",
            partial(_masked, choose=lambda small, special: F.pad(small[:, 1:-1], (1, 1))),
        ),
        Misconception(
            "unchosen_hidden_too",
            "In your answer what the model reads is changed also where no word was chosen. Look at `fate` only where "
            "one was; the others stay as they are.",
            partial(_masked, hide=lambda chosen, special: torch.ones_like(chosen)),
        ),
        Misconception(
            "all_but_special_hidden",
            "In your answer every word that is not special meets its `fate`; `chance` decides on the labels alone. "
            "Words that are not chosen stay as they are.",
            partial(_masked, hide=lambda chosen, special: ~special),
        ),
        Misconception(
            "always_mask",
            "Your answer replaces every chosen word by [MASK]. That is for `fate`, the second draw, below 0.8 only: "
            "below 0.9 show the word in `anything`, and above leave the word as it is.",
            partial(_masked, borders=(2.0, 2.0)),
        ),
        Misconception(
            "no_word_stays",
            "Your answer leaves none of the chosen words as it is. Show the word in `anything` only from 0.8 to 0.9; "
            "above that the chosen word stays.",
            partial(_masked, borders=(0.8, 2.0)),
        ),
        Misconception(
            "no_other_word",
            "Your answer never shows a word of `anything`. From 0.8 to 0.9 the chosen word is replaced by it.",
            partial(_masked, borders=(0.8, 0.8)),
        ),
        Misconception(
            "mask_overwritten",
            "Your answer shows another word wherever fate < 0.9, below 0.8 too, so that no [MASK] is left. Another "
            "word is for fate from 0.8 to 0.9.",
            partial(_masked, borders=(0.0, 0.9)),
        ),
        Misconception(
            "others_and_stays_exchanged",
            "Your answer leaves words as they are from 0.8 to 0.9, and shows `anything` above. It is the other way "
            "round.",
            partial(_masked, borders=(0.8, 0.9), exchanged=True),
        ),
        Misconception(
            "one_draw_for_both",
            "Your answer divides the chosen words by `chance` once more: below 0.12, below 0.135, and above. What is "
            "shown in a chosen word's place depends on `fate`, its second draw.",
            partial(_masked, one_draw=True),
        ),
        Misconception(
            "others_in_a_row",
            "Your answer takes the other words one after another from the beginning of `anything`. Each place has its "
            "own: anything[i, j] is for the word ids[i, j].",
            partial(_masked, in_a_row=True),
        ),
        Misconception(
            "mask_id_of_bert",
            "Your answer writes 103 for [MASK], which is its id in BERT's own vocabulary. Use `mask_id`.",
            partial(_masked, known_id=True),
        ),
        Misconception(
            "labels_only_where_changed",
            "Your labels are missing where the model reads the right word itself. It is asked there, too: that is why "
            "those words were chosen.",
            partial(_masked, labels=lambda asked, read, ids, fate: torch.where(read == ids, IGNORED, ids)),
        ),
        Misconception(
            "labels_missing_where_kept",
            "Your labels are missing where a chosen word stays as it is. The model is asked there, too: that is why "
            "those words were chosen.",
            partial(_masked, labels=lambda asked, read, ids, fate: torch.where(asked & (fate < 0.9), ids, IGNORED)),
        ),
        Misconception(
            "labels_only_where_mask",
            "Your labels are there only where a word was replaced by [MASK]. All chosen words are asked for, whatever "
            "is shown in their place.",
            partial(_masked, labels=lambda asked, read, ids, fate: torch.where(asked & (fate < 0.8), ids, IGNORED)),
        ),
        Misconception(
            "labels_at_every_mask",
            "Your labels are there only where the model reads [MASK]. All chosen words are asked for, whatever is "
            "shown in their place, and no others: a text may have a [MASK] of its own.",
            partial(_masked, at_masks=True),
        ),
        Misconception(
            "labels_everywhere",
            "Your labels are all the words. Only the chosen ones are asked for; the others are -100.",
            partial(_masked, labels=lambda asked, read, ids, fate: ids.clone()),
        ),
        Misconception(
            "labels_after_hiding",
            "Your labels are what the model reads, not what it is to guess: they were taken after the words were "
            "hidden. Take them from the ids as they came.",
            partial(_masked, labels=lambda asked, read, ids, fate: torch.where(asked, read, IGNORED)),
        ),
        Misconception(
            "labels_inverted",
            "Your labels are -100 at the chosen words, and hold the others. It is the other way round: the chosen ones "
            "are asked for.",
            partial(_masked, labels=lambda asked, read, ids, fate: torch.where(asked, IGNORED, ids)),
        ),
        Misconception(
            "labels_zero",
            "Your labels are 0 where nothing is asked. 0 is the id of a word: write -100, which the loss leaves out.",
            partial(_masked, labels=lambda asked, read, ids, fate: torch.where(asked, ids, 0)),
        ),
        Misconception(
            "labels_minus_one",
            "Your labels are -1 where nothing is asked. Write -100, which the loss leaves out.",
            partial(_masked, labels=lambda asked, read, ids, fate: torch.where(asked, ids, -1)),
        ),
        Misconception(
            "special_asked_for",
            "Your answer leaves [CLS], [SEP] and padding as they are, but asks for them in the labels. Where "
            "`special` is True the label is -100.",
            partial(
                _masked,
                choose=lambda small, special: small & ~special,
                ask=lambda chosen, small: small,
            ),
        ),
        Misconception(
            "exchanged",
            "You return labels, corrupted. The order is: what the model reads, then what it is to guess.",
            partial(_masked, turned=True),
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
        labels = torch.randint(1, vocabulary, (batch, words), generator=generator)
        asked = torch.zeros(batch, words, dtype=torch.bool)
        for row in range(batch):  # another number in each
            asked[row, torch.randperm(words, generator=generator)[: 2 + (2 * row) % 5]] = True
        if batch == 1:
            asked[0, :3] = True
        labels[0, asked[0].nonzero()[-1]] = 0  # the first word of the vocabulary is asked for, too
        yield Case(
            kind.name, (2 * drawn.normal(words, vocabulary), labels.masked_fill(~asked, IGNORED)), gradients=(0,)
        )
    words, vocabulary = integer(generator, 4, 8), integer(generator, 6, 9)
    logits = 2 * torch.randn(2, words, vocabulary, generator=generator)
    labels = torch.full((2, words), IGNORED)
    labels[:, 2], labels[1, 0] = 3, 0
    logits[0, 2, 4], logits[1, 2, 3] = 150.0, 160.0  # a wrong word and a right one
    yield Case("one word towers above the others", (logits, labels), part="large logits")


def _by_hand(logits: Tensor) -> Tensor:
    powers = logits.exp()
    return (powers / powers.sum(dim=-1, keepdim=True)).log()


def _viewed(logits: Tensor) -> Tensor:
    """What becomes of the scores if words and vocabulary are exchanged by a view."""
    batch, words, vocabulary = logits.shape
    return logits.reshape(batch, vocabulary, words).mT.log_softmax(dim=-1)


def _mean(losses: Tensor, asked: Tensor) -> Tensor:
    """The right mean."""
    return losses[asked].mean()


def _loss(
    logits: Tensor,
    labels: Tensor,
    *,
    log_p: Callable[[Tensor], Tensor] = lambda logits: logits.log_softmax(dim=-1),
    is_asked: Callable[[Tensor], Tensor] = lambda labels: labels != IGNORED,
    shift: int = 0,
    mean: Callable[[Tensor, Tensor], Tensor] = _mean,
    told: Callable[[Tensor], Tensor] = lambda loss: loss,
) -> Tensor:
    """The right loss, unless a setting says otherwise; with `shift` each place predicts the word so much further on."""
    logits, labels = logits[:, : logits.shape[1] - shift], labels[:, shift:]
    losses = -log_p(logits).gather(2, labels.clamp(min=0).unsqueeze(2)).squeeze(2)
    return told(mean(losses, is_asked(labels)))


MASKED_LM_LOSS = Exercise(
    id="bert.masked_lm_loss",
    lesson=LESSON,
    name="masked_lm_loss",
    title="The loss of masked words",
    statement=(
        "masked_lm_loss(logits [batch, words, vocabulary], labels [batch, words]) -> []: the mean negative "
        "log-probability of the right words, over the places whose label is not -100; at least one is not."
    ),
    points=2,
    minutes=8,
    section="What is learned from",
    source="S1, masked language modelling; Devlin et al. (2019), section 3.1",
    reference=heads.label_loss,
    cases=_loss_cases,
    parts={CORE: 1, "large logits": 1},
    correct=correct.MASKED_LM_LOSS,
    misconceptions=(
        Misconception(
            "every_place_asked",
            "Your answer also learns from the places that were not chosen, as if the word 0 were right there. Leave "
            "out the places whose label is -100.",
            partial(_loss, is_asked=lambda labels: torch.ones_like(labels, dtype=torch.bool)),
        ),
        Misconception(
            "word_0_left_out",
            "Your answer leaves out the places whose label is 0. 0 is the id of a word like any other; leave out those "
            "whose label is -100.",
            partial(_loss, is_asked=lambda labels: labels > 0),
        ),
        Misconception(
            "shifted",
            "Your answer holds each place against the label of the next one, as GPT's loss does. BERT guesses the word "
            "that stands at the place itself.",
            partial(_loss, shift=1),
        ),
        Misconception(
            "divided_by_all_places",
            "Your answer divides by the number of all places. Divide by that of the chosen ones, or the loss depends "
            "on how many were chosen.",
            partial(_loss, mean=lambda losses, asked: losses[asked].sum() / losses.numel()),
        ),
        Misconception(
            "summed",
            "Your answer is the sum over the chosen words. Divide it by their number.",
            partial(_loss, mean=lambda losses, asked: losses[asked].sum()),
        ),
        Misconception(
            "divided_by_the_batch",
            "Your answer divides the sum by the number of sentences. Divide it by the number of chosen words.",
            partial(_loss, mean=lambda losses, asked: losses[asked].sum() / len(losses)),
        ),
        Misconception(
            "mean_of_means",
            "Your answer is a mean over sentences of means over words, so that a word counts less where many were "
            "chosen. Every chosen word counts the same.",
            partial(_loss, mean=lambda losses, asked: ((losses * asked).sum(1) / asked.sum(1)).mean()),
        ),
        Misconception(
            "first_sentence_only",
            "Your answer looks at the first sentence of the batch alone. Take the mean over the chosen words of all of "
            "them.",
            partial(_loss, mean=lambda losses, asked: losses[0][asked[0]].mean()),
        ),
        Misconception(
            "probabilities_as_logits",
            "Your answer takes the softmax twice: cross_entropy wants the logits themselves, and takes the softmax of "
            "whatever it is given.",
            partial(_loss, log_p=lambda logits: logits.softmax(-1).log_softmax(-1)),
        ),
        Misconception(
            "without_normaliser",
            "Your answer takes the right words' logits for log-probabilities. They are none until the normaliser is "
            "taken off: use log_softmax.",
            partial(_loss, log_p=lambda logits: logits),
        ),
        Misconception(
            "logarithm_missing",
            "Your answer takes the right words' probabilities, with a minus, where their logarithms are due: nll_loss "
            "takes no logarithm itself. Give it log_softmax.",
            partial(_loss, log_p=lambda logits: logits.softmax(-1)),
        ),
        Misconception(
            "softmax_over_the_words",
            "Your softmax runs over the words of the text. At each place it must run over the vocabulary, the last "
            "dimension.",
            partial(_loss, log_p=lambda logits: logits.log_softmax(dim=1)),
        ),
        Misconception(
            "softmax_over_the_batch",
            "Your softmax runs over the sentences of the batch. At each place it must run over the vocabulary, the "
            "last dimension.",
            partial(_loss, log_p=lambda logits: logits.log_softmax(dim=0)),
        ),
        Misconception(
            "view_for_transpose",
            "Your answer brings the vocabulary to dimension 1 by view or reshape, which mixes the scores of different "
            "words: the numbers stay in line, and only the borders move. Use transpose(1, 2).",
            partial(_loss, log_p=_viewed),
        ),
        Misconception(
            "negative",
            "Your answer has the wrong sign: the logarithm of a probability is negative, and a loss is its opposite.",
            partial(_loss, told=lambda loss: -loss),
        ),
        Misconception(
            "in_bits",
            "Your answer is in bits: it takes the logarithm to base 2. Take the natural one.",
            partial(_loss, told=lambda loss: loss / math.log(2)),
        ),
        Misconception(
            "perplexity",
            "Your answer is the perplexity, exp of the loss. Return the loss itself.",
            partial(_loss, told=lambda loss: loss.exp()),
        ),
        Misconception(
            "detached",
            "The value is right, but it is detached from the logits (.detach(), .data, no_grad or torch.tensor(...)), "
            "so that nothing could be learned from it.",
            partial(_loss, told=lambda loss: loss.detach()),
            alone=True,
        ),
        Misconception(
            "log_of_the_softmax",
            "Your answer takes the logarithm of a probability that is too small for its dtype and has become 0: the "
            "loss is infinite. F.log_softmax and F.cross_entropy never compute that probability.",
            partial(_loss, log_p=lambda logits: logits.softmax(dim=-1).log()),
        ),
        Misconception(
            "softmax_by_hand",
            "Your answer takes exp of the logits themselves, which overflows at large ones. F.log_softmax and "
            "F.cross_entropy take the largest off first.",
            partial(_loss, log_p=_by_hand),
        ),
    ),
    withheld=WITHHELD,
)


# bert.sequence_classifier ----------------------------------------------------------------------------------

Change = Callable[[Tensor], Tensor]
Layer = Callable[[Tensor, nn.Linear], Tensor]


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
    for name, dtype, training in (
        ("a batch", torch.float32, False),
        ("another batch, in training mode", torch.float32, True),
        ("double precision, transposed in memory", torch.float64, False),
    ):
        batch, words, classes = sizes(generator, 3)
        d_model = integer(generator, 8, 12)
        if training:
            classes += d_model  # more than a state has numbers
        states = Kind(name, generator, (batch,), dtype, transposed=dtype == torch.float64).normal(words, d_model)
        yield Case(
            name,
            (states,),
            construct={"d_model": d_model, "classes": classes},
            weights={
                **_layer(generator, "dense", d_model, d_model, dtype),
                **_layer(generator, "output", d_model, classes, dtype),
            },
            gradients=(0,),
            weight_gradients=True,
            training=training,
        )


def _layer(
    generator: Generator, name: str, ins: int, outs: int, dtype: torch.dtype = torch.float32
) -> dict[str, Tensor]:
    weight = torch.randn(outs, ins, generator=generator, dtype=dtype) / math.sqrt(ins)
    return {f"{name}.weight": weight, f"{name}.bias": torch.randn(outs, generator=generator, dtype=dtype)}


def _same(x: Tensor) -> Tensor:
    return x


def _applied(x: Tensor, layer: nn.Linear) -> Tensor:
    out: Tensor = layer(x)
    return out


def _without_bias(x: Tensor, layer: nn.Linear) -> Tensor:
    return F.linear(x, layer.weight)


class _SequenceHead(nn.Module):
    """The right head, unless a setting says otherwise.

    Args:
        pick: takes the state, [batch, d_model], from those of all words.
        before: what happens to it first.
        dense: how the dense layer is applied.
        between: what stands between the two layers.
        dropout: the share that is dropped there in training.
        output: how the output layer is applied.
        end: what happens to the scores.
    """

    def __init__(
        self,
        d_model: int,
        classes: int,
        *,
        pick: Change = lambda states: states[:, 0],
        before: Change = _same,
        dense: Layer = _applied,
        between: Change = torch.tanh,
        dropout: float = 0.0,
        output: Layer = _applied,
        end: Change = _same,
    ) -> None:
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, classes)
        self.dropout = nn.Dropout(dropout)
        self.steps = (pick, before, dense, between, output, end)

    def forward(self, states: Tensor) -> Tensor:
        pick, before, dense, between, output, end = self.steps
        return end(output(self.dropout(between(dense(before(pick(states)), self.dense))), self.output))


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
            partial(_SequenceHead, pick=_same),
        ),
        Misconception(
            "mean_of_the_words",
            "Your answer classifies the mean of all the words' states. Here the first one, of [CLS], stands for the "
            "text.",
            partial(_SequenceHead, pick=lambda states: states.mean(dim=1)),
        ),
        Misconception(
            "mean_of_the_scores",
            "Your answer takes the mean over the words only behind the layers. Take one state, that of the first word, "
            "[CLS].",
            partial(_SequenceHead, pick=_same, between=torch.tanh, end=lambda scores: scores.mean(dim=1)),
        ),
        Misconception(
            "last_word",
            "Your answer classifies the last word's state. That is what GPT does, whose last word alone has seen all "
            "the others; BERT has [CLS], the first.",
            partial(_SequenceHead, pick=lambda states: states[:, -1]),
        ),
        Misconception(
            "second_word",
            "Your answer classifies the second word's state. Places are counted from 0: [CLS] is states[:, 0].",
            partial(_SequenceHead, pick=lambda states: states[:, 1]),
        ),
        Misconception(
            "first_sequence",
            "Your answer takes the first text of the batch, states[0]. Take the first word of every text, "
            "states[:, 0].",
            partial(_SequenceHead, pick=lambda states: states[0]),
        ),
        Misconception(
            "rows_in_a_row",
            "Your answer makes one long row of all words of all texts, and takes its first ones. Take the first word "
            "of every text, states[:, 0].",
            partial(_SequenceHead, pick=lambda states: states.flatten(0, 1)[: len(states)]),
        ),
        Misconception(
            "largest_of_the_words",
            "Your answer takes the largest value over all the words in each dimension. Take the state of the first "
            "word, [CLS].",
            partial(_SequenceHead, pick=lambda states: states.amax(dim=1)),
        ),
        Misconception(
            "sum_of_the_words",
            "Your answer adds up all words' states. Take the first word's, [CLS], alone.",
            partial(_SequenceHead, pick=lambda states: states.sum(dim=1)),
        ),
        Misconception(
            "states_detached",
            "No gradient reaches the states: they are detached (.detach(), .data or torch.tensor), so that the encoder "
            "below could not be fine-tuned.",
            partial(_SequenceHead, pick=lambda states: states[:, 0].detach()),
        ),
        Misconception(
            "tanh_missing",
            "Your answer has no tanh between the two layers; then the two are no more than one linear layer.",
            partial(_SequenceHead, between=_same),
        ),
        Misconception(
            "relu",
            "Your answer has ReLU between the two layers, where BERT has tanh.",
            partial(_SequenceHead, between=torch.relu),
        ),
        Misconception(
            "gelu",
            "Your answer has a GELU between the two layers. Here it is tanh, as in BERT's own pooling layer.",
            partial(_SequenceHead, between=F.gelu),
        ),
        Misconception(
            "sigmoid",
            "Your answer has a sigmoid between the two layers. Here it is tanh.",
            partial(_SequenceHead, between=torch.sigmoid),
        ),
        Misconception(
            "dense_left_out",
            "Your answer leaves out `dense`, and its tanh. The state goes through both before it is classified.",
            partial(_SequenceHead, dense=lambda x, layer: x, between=_same),
        ),
        Misconception(
            "tanh_of_the_state",
            "Your answer takes the tanh of the state, and no dense layer. The order is dense, tanh, output.",
            partial(_SequenceHead, dense=lambda x, layer: x, between=torch.tanh),
        ),
        Misconception(
            "tanh_before_dense",
            "Your answer takes the tanh before the dense layer. The order is dense, tanh, output.",
            partial(_SequenceHead, before=torch.tanh, between=_same),
        ),
        Misconception(
            "tanh_before_dense_too",
            "Your answer takes a tanh of the state as well. There is only one, between the two layers.",
            partial(_SequenceHead, before=torch.tanh, between=torch.tanh),
        ),
        Misconception(
            "tanh_at_the_end",
            "Your answer takes the tanh of the scores, which presses them between -1 and 1. It belongs between the "
            "two layers.",
            partial(_SequenceHead, between=_same, end=torch.tanh),
        ),
        Misconception(
            "tanh_at_the_end_too",
            "Your answer takes a tanh of the scores as well, which presses them between -1 and 1. There is only one, "
            "between the two layers.",
            partial(_SequenceHead, between=torch.tanh, end=torch.tanh),
        ),
        Misconception(
            "dropout",
            "In training your answer drops out a tenth of the vector that is classified. BERT does that; here nothing "
            "is dropped, in training as in evaluation.",
            partial(_SequenceHead, dropout=0.1),
        ),
        Misconception(
            "dense_transposed",
            "Your answer multiplies the state by the dense layer's weight the wrong way round. nn.Linear computes "
            "x @ weight.T + bias; best call the layer itself.",
            partial(_SequenceHead, dense=lambda x, layer: x @ layer.weight + layer.bias),
        ),
        Misconception(
            "dense_bias_missing",
            "Your answer leaves out the dense layer's bias. Call the layer itself, self.dense(x): it adds it.",
            partial(_SequenceHead, dense=_without_bias),
        ),
        Misconception(
            "output_bias_missing",
            "Your answer leaves out the output layer's bias. Call the layer itself, self.output(x): it adds it.",
            partial(_SequenceHead, output=_without_bias),
        ),
        Misconception(
            "exponentials",
            "Your answer is exp of the scores, which slide S1 calls probabilities. They are none without the "
            "normaliser; and the loss wants the scores themselves.",
            partial(_SequenceHead, end=torch.exp),
        ),
        Misconception(
            "probabilities",
            _softmax_note("probabilities"),
            partial(_SequenceHead, end=lambda scores: scores.softmax(dim=-1)),
        ),
        Misconception(
            "softmax_over_the_batch",
            "Your answer takes a softmax over the texts (dim=0). Return the scores as they are; and if a softmax were "
            "due, it would run over the classes.",
            partial(_SequenceHead, end=lambda scores: scores.softmax(dim=0)),
        ),
        Misconception(
            "log_probabilities",
            "Your answer ends in a log-softmax. Return the scores as they are: cross-entropy takes the softmax itself.",
            partial(_SequenceHead, end=lambda scores: scores.log_softmax(dim=-1)),
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
    for name, dtype, training in (
        ("a batch", torch.float32, False),
        ("another batch, in training mode", torch.float32, True),
        ("double precision, transposed in memory", torch.float64, False),
    ):
        batch, words, classes = sizes(generator, 3)
        d_model, pieces = integer(generator, 8, 10), words + integer(generator, 4, 8)
        states = Kind(name, generator, (batch,), dtype, transposed=dtype == torch.float64).normal(pieces, d_model)
        starts = torch.stack(
            [torch.randperm(pieces - 2, generator=generator)[:words].sort().values + 1 for _ in range(batch)]
        )
        starts[0, -1], starts[1] = pieces - 2, starts[0].flip(0) * 0 + torch.arange(2, words + 2)
        yield Case(
            name,
            (states, starts),
            construct={"d_model": d_model, "classes": classes},
            weights=_layer(generator, "output", d_model, classes, dtype),
            gradients=(0,),
            weight_gradients=True,
            training=training,
        )
    # Nobody reads the scores at padding. [CLS] and the bias are 0 here, so that [CLS]'s scores are 0 as well.
    d_model, classes = sizes(generator, 2)
    states = torch.randn(3, 9, d_model, generator=generator)
    states[:, 0] = 0.0
    yield Case(
        "rows with fewer words",
        (states, torch.tensor([[1, 3, 4, 7], [2, 5, 0, 0], [6, 0, 0, 0]])),
        construct={"d_model": d_model, "classes": classes},
        weights=_layer(generator, "output", d_model, classes) | {"output.bias": torch.zeros(classes)},
        part="fewer words",
    )


class _TokenHead(nn.Module):
    """The right head, unless a setting says otherwise.

    Args:
        pick: takes the states of the words from those of the pieces.
        before: what happens to them first.
        output: how the layer is applied.
        end: what happens to the scores.
    """

    def __init__(
        self,
        d_model: int,
        classes: int,
        *,
        pick: Callable[[Tensor, Tensor], Tensor] | None = None,
        before: Change = _same,
        output: Layer = _applied,
        end: Change = _same,
    ) -> None:
        super().__init__()
        self.output = nn.Linear(d_model, classes)
        self.steps = (pick or gathered, before, output, end)

    def forward(self, states: Tensor, starts: Tensor) -> Tensor:
        pick, before, output, end = self.steps
        return end(output(before(pick(states, starts)), self.output))


def gathered(states: Tensor, starts: Tensor) -> Tensor:
    """The states at these places, [batch, words, d_model]."""
    return states[torch.arange(len(states)).unsqueeze(1), starts]


def _ends(starts: Tensor, behind: int | None) -> Tensor:
    """For each word the place behind its last piece: where the next word begins, and for the last word `behind`.

    With None the last word has one piece, and so has each before padding.
    """
    ends = torch.cat(
        [starts[:, 1:], starts[:, -1:] + 1 if behind is None else torch.full_like(starts[:, :1], behind)], 1
    )
    return torch.where(ends > starts, ends, starts + 1) if behind is None else ends


def _mean_of_pieces(states: Tensor, starts: Tensor, behind: int | None) -> Tensor:
    """For each word the mean of its pieces; see `_ends`."""
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
        "state of its first piece; where `starts` is 0 there is no word, and the scores are [CLS]'s or 0."
    ),
    points=3,
    minutes=12,
    section="A label for every word",
    source="S1, BERTForTokenClassification; Devlin et al. (2019), section 5.3",
    reference=heads.WordHead,
    cases=_token_cases,
    parts={CORE: 2, "fewer words": 1},
    correct=correct.TOKEN_CLASSIFIER,
    misconceptions=(
        Misconception(
            "every_piece",
            "Your answer is [batch, pieces, classes]: scores for every piece, [CLS] and [SEP] included. Take only the "
            "pieces at `starts`.",
            partial(_TokenHead, pick=lambda states, starts: states),
        ),
        Misconception(
            "the_first_pieces",
            "Your answer takes the first so many pieces of the row. Take those at the places in `starts`.",
            partial(_TokenHead, pick=lambda states, starts: states[:, : starts.shape[1]]),
        ),
        Misconception(
            "pieces_behind_cls",
            "Your answer takes the pieces behind [CLS] in a row, as if every word were one piece. Take those at the "
            "places in `starts`.",
            partial(_TokenHead, pick=lambda states, starts: states[:, 1 : starts.shape[1] + 1]),
        ),
        Misconception(
            "first_sequence_for_all",
            "Your answer uses the first sentence's `starts` for all of them. Each sentence has a row of its own.",
            partial(_TokenHead, pick=lambda states, starts: states[:, starts[0]]),
        ),
        Misconception(
            "first_states_for_all",
            "Your answer looks the words of all the sentences up in the first sentence's states. Look up row i of "
            "`starts` in sentence i.",
            partial(_TokenHead, pick=lambda states, starts: states[0][starts]),
        ),
        Misconception(
            "every_row_of_starts",
            "Your answer looks up every row of `starts` in every sentence: indexing states[:, starts] pairs all with "
            "all. Look up row i in sentence i only.",
            partial(_TokenHead, pick=lambda states, starts: states[:, starts]),
        ),
        Misconception(
            "offsets_of_words",
            "Your answer makes one long row of all the pieces, and looks for sentence i behind i times the number of "
            "words. It begins behind i times the number of pieces, states.shape[1].",
            partial(
                _TokenHead,
                pick=lambda states, starts: states.flatten(0, 1)[
                    starts + torch.arange(len(states)).unsqueeze(1) * starts.shape[1]
                ],
            ),
        ),
        Misconception(
            "piece_behind",
            "Your answer takes the piece behind each word's first one. `starts` are places in the row as it is, "
            "[CLS] being place 0.",
            partial(
                _TokenHead, pick=lambda states, starts: gathered(states, (starts + 1).clamp(max=states.shape[1] - 1))
            ),
        ),
        Misconception(
            "piece_before",
            "Your answer takes the piece before each word. `starts` are places in the row as it is, [CLS] being place "
            "0.",
            partial(_TokenHead, pick=lambda states, starts: gathered(states, starts - 1)),
        ),
        Misconception(
            "mean_of_pieces",
            "Your answer takes the mean of each word's pieces. Here the first piece speaks for the whole word.",
            partial(_TokenHead, pick=lambda states, starts: _mean_of_pieces(states, starts, states.shape[1] - 1)),
        ),
        Misconception(
            "mean_of_pieces_and_sep",
            "Your answer takes the mean of each word's pieces, and for the last word of all that is left, [SEP] "
            "included. Here the first piece speaks for the whole word.",
            partial(_TokenHead, pick=lambda states, starts: _mean_of_pieces(states, starts, states.shape[1])),
        ),
        Misconception(
            "mean_up_to_the_next_word",
            "Your answer takes the mean of the pieces up to where the next word begins. Here the first piece speaks "
            "for the whole word.",
            partial(_TokenHead, pick=lambda states, starts: _mean_of_pieces(states, starts, None)),
        ),
        Misconception(
            "last_piece",
            "Your answer takes each word's last piece. Here the first one speaks for the whole word.",
            partial(
                _TokenHead,
                pick=lambda states, starts: gathered(states, _ends(starts, states.shape[1] - 1) - 1),
            ),
        ),
        Misconception(
            "piece_before_the_next_word",
            "Your answer takes the piece before the next word's first one. Here the word's own first piece speaks for "
            "it.",
            partial(_TokenHead, pick=lambda states, starts: gathered(states, _ends(starts, None) - 1)),
        ),
        Misconception(
            "states_detached",
            "No gradient reaches the states: they are detached (.detach(), .data or torch.tensor), so that the encoder "
            "below could not be fine-tuned.",
            partial(_TokenHead, before=torch.detach),
        ),
        Misconception(
            "tanh_before",
            "Your answer takes the tanh of the states first. Here there is only a linear layer.",
            partial(_TokenHead, before=torch.tanh),
        ),
        Misconception(
            "bias_missing",
            "Your answer leaves out the layer's bias. Call the layer itself, self.output(x): it adds it.",
            partial(_TokenHead, output=_without_bias),
        ),
        Misconception(
            "exponentials",
            "Your answer is exp of the scores, which slide S1 calls probabilities. They are none without the "
            "normaliser; and the loss wants the scores themselves.",
            partial(_TokenHead, end=torch.exp),
        ),
        Misconception(
            "probabilities",
            _softmax_note("probabilities"),
            partial(_TokenHead, end=lambda scores: scores.softmax(dim=-1)),
        ),
        Misconception(
            "softmax_over_the_words",
            "Your answer takes a softmax over the words (dim=1). Return the scores as they are; and if a softmax were "
            "due, it would run over the classes of each word.",
            partial(_TokenHead, end=lambda scores: scores.softmax(dim=1)),
        ),
        Misconception(
            "log_probabilities",
            "Your answer ends in a log-softmax. Return the scores as they are: cross-entropy takes the softmax itself.",
            partial(_TokenHead, end=lambda scores: scores.log_softmax(dim=-1)),
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
        drawn = 2 * torch.randn(batch, 2, words, generator=generator, dtype=dtype)
        if dtype == torch.float64:  # the first text's best two spans are so near that float32 calls it a tie
            drawn[0, 0, 1], drawn[0, 0, 4], drawn[0, 1, 5] = 12.0, 12.0 + 1e-8, 12.0
        yield Case(f"a batch, {str(dtype).removeprefix('torch.')}", (drawn,))
    yield Case("all scores negative", (-8 - torch.randn(batch, 2, words, generator=generator).abs(),))
    batch, words = integer(generator, 6, 9), integer(generator, 8, 11)
    padded = 3 * torch.randn(batch, 2, words, generator=generator)
    padded[0, :, 5:], padded[1, :, 3:] = -math.inf, -math.inf
    yield Case("with padding of -inf", (padded,))
    backwards = torch.zeros(2, 2, words)
    backwards += 0.1 * torch.randn(2, 2, words, generator=generator)
    backwards[:, 0, -2], backwards[:, 1, 1] = 9.0, 8.0
    yield Case("the best end stands before the best beginning", (backwards,))
    yield Case("texts of a single word", (torch.randn(3, 2, 1, generator=generator),))
    for most in (1, 2, 4, 20):
        drawn = 2 * torch.randn(batch, 2, words, generator=generator)
        yield Case(f"at most {most} word{'s' * (most > 1)}", (drawn, most), part="longest span")


def _spans(
    logits: Tensor,
    max_words: int | None = None,
    *,
    rows: tuple[int, int] = (0, 1),
    both: Callable[[Tensor, Tensor], Tensor] = torch.add,
    backwards: bool = False,
    single: bool = True,
    hide: Callable[[Tensor, Tensor], Tensor] = lambda table, possible: table.masked_fill(~possible, -math.inf),
    longest: Callable[[int], int] | None = lambda max_words: max_words,
    told: Callable[[Tensor, Tensor], Tensor] = lambda first, last: torch.stack([first, last], dim=1),
) -> Tensor:
    """The best spans, unless a setting says otherwise.

    Args:
        rows: of the logits, for the beginning and for the end.
        both: makes one score of two.
        backwards: spans end before they begin.
        single: whether a span may be a single word.
        hide: from the table [batch, first, last] and where it holds spans.
        longest: from `max_words`; None for any length.
        told: from the places.
    """
    table = both(logits[:, rows[0]].unsqueeze(2), logits[:, rows[1]].unsqueeze(1))
    possible = torch.ones_like(table, dtype=torch.bool).triu(0 if single else 1)
    if max_words is not None and longest is not None:
        possible = possible.tril(longest(max_words) - 1)
    found = hide(table, possible.mT if backwards else possible).flatten(1).argmax(dim=1)
    return told(found // table.shape[2], found % table.shape[2])


def _cut_off(logits: Tensor, max_words: int | None = None) -> Tensor:
    first, last = _spans(logits).unbind(dim=1)
    longest = logits.shape[2] if max_words is None else max_words
    return torch.stack([first, torch.minimum(last, first + longest - 1)], dim=1)


def _best_above_zero(logits: Tensor, max_words: int | None = None) -> Tensor:
    """The best span if its sum is above 0, and 0, 0 if none is."""
    found = _spans(logits, max_words)
    return found * (logits.gather(2, found.unsqueeze(2)).sum(dim=1) > 0)


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


def _best_of_all(logits: Tensor, max_words: int | None) -> Tensor:
    """For every text the span of the one with the largest sum."""
    found = _spans(logits, max_words)
    sums = logits.gather(2, found.unsqueeze(2)).sum(dim=1).squeeze(1)
    return found[sums.argmax()].expand(len(logits), 2)


ANSWER_SPAN = Exercise(
    id="bert.answer_span",
    lesson=LESSON,
    name="best_spans",
    title="The best span",
    statement=(
        "best_spans(logits [batch, 2, words], max_words=None) -> int [batch, 2]: the positions first <= last whose "
        "scores logits[:, 0, first] + logits[:, 1, last] are largest together; of no more than max_words words, if "
        "that is given. The largest sum is finite, and there are no ties."
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
            "Your answer takes the best of all pairs, which is the best beginning and the best end, each by itself: an "
            "answer may end before it begins. Look for the best pair with first <= last.",
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
            "search_from_zero",
            "Your answer returns 0, 0 where all sums are negative: it looks for a sum above 0. Let the best sum so far "
            "begin at -inf.",
            _best_above_zero,
        ),
        Misconception(
            "one_for_the_batch",
            "Your answer finds one span, the best of the whole batch, and returns it for every text. Flatten the table "
            "of each text by itself, .flatten(1), and take argmax(dim=1).",
            lambda logits, max_words=None: _best_of_all(logits, max_words),
        ),
        Misconception(
            "lower_triangle",
            "Your spans end before they begin, or are single words: you keep the wrong triangle. With beginnings as "
            "rows and ends as columns the possible spans are the upper one, triu.",
            partial(_spans, rows=(0, 1), backwards=True),
        ),
        Misconception(
            "one_word_excluded",
            "Your answer allows no span of a single word. First and last may be the same word: keep the diagonal.",
            partial(_spans, single=False),
        ),
        Misconception(
            "impossible_spans_at_zero",
            "Where all sums are negative, spans that do not exist win in your answer: they hold 0, as after triu of "
            "the sums, or another number that is not small enough. Give them -inf.",
            partial(_spans, hide=lambda table, possible: table.masked_fill(~possible, 0.0)),
        ),
        Misconception(
            "triangle_multiplied",
            "Your answer multiplies the sums by a triangle of 0 and 1. That leaves 0 where no span is, which beats a "
            "negative sum, and makes NaN of -inf: fill these places with -inf instead.",
            partial(_spans, hide=lambda table, possible: table * possible),
        ),
        Misconception(
            "scores_exchanged",
            "Your answer takes row 0 of the logits for the end and row 1 for the beginning. It is the other way round.",
            partial(_spans, rows=(1, 0)),
        ),
        Misconception(
            "multiplied",
            "Your answer multiplies the two scores. They are logarithms but for a constant, so that probabilities are "
            "multiplied by adding scores.",
            partial(_spans, both=torch.mul),
        ),
        Misconception(
            "sum_of_probabilities",
            "Your answer adds the two probabilities. The probability of a span is their product; of the scores, which "
            "are logarithms, it is the sum.",
            partial(_spans, both=lambda first, last: first.softmax(dim=1) + last.softmax(dim=2)),
        ),
        Misconception(
            "last_and_first",
            "Your answer returns the last place, then the first. The order is first, last.",
            partial(_spans, rows=(0, 1), told=lambda first, last: torch.stack([last, first], dim=1)),
        ),
        Misconception(
            "end_behind_the_span",
            "Your second number is the place behind the span, as in a Python slice. Return the last word's own place.",
            partial(_spans, told=lambda first, last: torch.stack([first, last + 1], dim=1)),
        ),
        Misconception(
            "first_and_length",
            "Your second number says how many words the span has. Return the last word's place.",
            partial(_spans, told=lambda first, last: torch.stack([first, last - first + 1], dim=1)),
        ),
        Misconception(
            "columns",
            "Your answer is [2, batch]. Each row of the batch has its own first and last: [batch, 2].",
            partial(_spans, told=lambda first, last: torch.stack([first, last])),
        ),
        Misconception(
            "limit_ignored",
            "Your answer does not look at max_words. Where it is given, leave out the spans that have more words.",
            partial(_spans, longest=None),
        ),
        Misconception(
            "one_word_too_many",
            "Your answer allows one word more than max_words. From first to last there are last - first + 1 words.",
            partial(_spans, longest=lambda max_words: max_words + 1),
        ),
        Misconception(
            "one_word_too_few",
            "Your answer leaves out the spans of exactly max_words words. From first to last there are last - first + "
            "1 words, and max_words of them are allowed.",
            partial(_spans, longest=lambda max_words: max_words - 1),
        ),
        Misconception(
            "first_words_only",
            "Your answer looks at the first max_words words of the text alone. The limit is the length of the span, "
            "which may stand anywhere.",
            lambda logits, max_words=None: _spans(logits[:, :, :max_words]),
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


def score(ids: Tensor, segments: Tensor, mask: Tensor, dtype: torch.dtype = torch.float32, gap: float = 0.0) -> Tensor:
    """A stand-in for an encoder with a head: one number for each row, which depends on all that it is given.

    Args:
        ids: [rows, words].
        segments: [rows, words].
        mask: bool [rows, words].
        dtype: of the scores.
        gap: so far apart are the scores of rows that begin with different words.
    """
    for name, tensor in (("ids", ids), ("segments", segments), ("mask", mask)):
        if tensor.dim() != 2:
            raise ValueError(f"score reads rows of words, [rows, words]; {name} are {list(tensor.shape)}")
    if mask.is_floating_point():
        raise TypeError(f"the mask of score is boolean, as it came in, and not {mask.dtype}")
    place = torch.arange(ids.shape[1], device=ids.device)
    read = (torch.sin(0.7 * ids.to(dtype) + 0.4 * place + 1.1 * segments) * mask).sum(dim=1)
    return read + gap * (1 - ids[:, 0] % 3)


def _choice_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    reading = Callback("score", score)
    exact = Callback("score", partial(score, dtype=torch.float64))
    apart = Callback("score", partial(score, gap=110.0))
    if not hidden:
        ids = torch.tensor([[[1, 8, 9, 2, 5, 2], [1, 8, 9, 2, 7, 2], [1, 8, 9, 2, 6, 2]]])
        segments = torch.tensor([[[0, 0, 0, 0, 1, 1]] * 3])
        yield Case("worked example: three choices", (reading, ids, segments, torch.ones_like(ids, dtype=torch.bool)))
    for name, how, part in (
        ("a batch", reading, CORE),
        ("scores in double precision", exact, CORE),
        ("one question, more choices", reading, CORE),
        ("large scores, positive and negative", apart, "large scores"),
    ):
        batch, choices, words = integer(generator, 2, 4), integer(generator, 4, 6), integer(generator, 7, 10)
        if name.startswith("one"):
            batch, choices = 1, choices + 2
        if how is apart:
            batch = 3
        ids = torch.randint(10, 60, (batch, choices, words), generator=generator)
        ids[:, :, 0] = torch.arange(batch).unsqueeze(1)  # what the rows of a question begin with
        lengths = torch.randint(3, words, (batch, choices, 1), generator=generator)
        place = torch.arange(words)
        mask = place < lengths
        yield Case(name, (how, ids, ((place > 2) & mask).long(), mask), part=part)


Rows = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


def _choices(
    score: Callable[..., Tensor],
    ids: Tensor,
    segments: Tensor,
    mask: Tensor,
    *,
    handed: Rows = lambda ids, segments, mask: (ids, segments, mask),
    laid_out: Callable[[Tensor], Tensor] = lambda tensor: tensor,
    back: Callable[[Tensor, int, int], Tensor] = lambda rows, batch, choices: rows.view(batch, choices),
    normalise: Callable[[Tensor], Tensor] = lambda scores: scores.softmax(dim=1),
    told: Callable[[Tensor], Tensor] = lambda p: p,
) -> Tensor:
    """The right probabilities, unless a setting says otherwise.

    Args:
        handed: what `score` is given.
        laid_out: brings it into the order of the rows.
        back: makes [batch, choices] of the scores.
        normalise: makes probabilities of them.
        told: what is returned of these.
    """
    batch, choices = ids.shape[:2]
    rows = (laid_out(tensor).flatten(0, 1) for tensor in handed(ids, segments, mask))
    return told(normalise(back(score(*rows), batch, choices)))


def _shares(powers: Tensor, added: float = 0.0) -> Tensor:
    return powers / (powers.sum(dim=1, keepdim=True) + added)


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
    parts={CORE: 2, "large scores": 1},
    correct=correct.MULTIPLE_CHOICE,
    misconceptions=(
        Misconception(
            "scores_returned",
            "Your answer is the scores. One step is missing: the softmax over the choices.",
            partial(_choices, normalise=lambda scores: scores),
        ),
        Misconception(
            "softmax_over_the_batch",
            "Your answer takes the softmax over the questions, so that they compete with each other. The choices of "
            "one question do.",
            partial(_choices, normalise=lambda scores: scores.softmax(dim=0)),
        ),
        Misconception(
            "softmax_over_all_rows",
            "Your answer takes the softmax over all rows of the batch. The probabilities of one question's choices "
            "must sum to 1: shape the scores [batch, choices] first.",
            partial(_choices, normalise=lambda scores: scores.flatten().softmax(dim=0).view_as(scores)),
        ),
        Misconception(
            "softmax_twice",
            "Your answer takes the softmax of the softmax. One is enough: the scores go into it as they are.",
            partial(_choices, normalise=lambda scores: scores.softmax(dim=1).softmax(dim=1)),
        ),
        Misconception(
            "each_by_itself",
            "Your answer asks of each choice by itself whether it is right (a sigmoid). Exactly one of them is: take "
            "the softmax over the choices.",
            partial(_choices, normalise=torch.sigmoid),
        ),
        Misconception(
            "decision",
            "Your answer is 1 for the choice with the largest score and 0 for the others. Asked for are probabilities: "
            "the softmax over the choices.",
            partial(
                _choices,
                normalise=lambda scores: F.one_hot(scores.argmax(dim=1), scores.shape[1]).to(scores.dtype),
            ),
        ),
        Misconception(
            "log_probabilities",
            "Your answer is log-probabilities. Return the probabilities themselves, which sum to 1.",
            partial(_choices, normalise=lambda scores: scores.log_softmax(dim=1)),
        ),
        Misconception(
            "divided_by_their_sum",
            "Your answer divides the scores by their sum. They may be negative, so take exp of each of them first: "
            "that is the softmax.",
            partial(_choices, normalise=_shares),
        ),
        Misconception(
            "exponentials",
            "Your answer is exp of the scores, which slide S1 calls probabilities. Divide them by their sum over the "
            "choices: that is the normaliser.",
            partial(_choices, normalise=torch.exp),
        ),
        Misconception(
            "rows_mixed_up",
            "Your answer puts the scores back in the wrong order: [choices, batch] turned round is not [batch, "
            "choices] here. The rows were laid out question by question: view them as [batch, choices].",
            partial(_choices, back=lambda rows, batch, choices: rows.view(choices, batch).T),
        ),
        Misconception(
            "laid_out_by_choices",
            "Your answer lays the rows out choice by choice, and takes the scores as if they stood question by "
            "question. Leave the tensors as they are: flatten(0, 1) lays them out question by question.",
            partial(_choices, laid_out=lambda tensor: tensor.transpose(0, 1)),
        ),
        Misconception(
            "still_in_rows",
            "Your answer is [batch · choices], one long row. Shape the scores [batch, choices] before the softmax.",
            partial(_choices, told=torch.flatten),
        ),
        Misconception(
            "squeezed",
            "Your answer is not [batch, choices] where there is a single question: its dimension is lost, as by a "
            "squeeze().",
            partial(_choices, told=torch.squeeze),
        ),
        Misconception(
            "choices_as_rows",
            "Your answer is [choices, batch]. Questions are rows: [batch, choices].",
            partial(_choices, told=lambda p: p.T.contiguous()),
        ),
        Misconception(
            "first_question_only",
            "Your answer returns the first question's probabilities for every question. Each has scores of its own.",
            partial(_choices, told=lambda p: p[:1].expand_as(p)),
        ),
        Misconception(
            "padding_read",
            "Your answer reads the padding too: it hands `score` a mask that is True everywhere. Hand on the mask that "
            "came in.",
            partial(_choices, handed=lambda ids, segments, mask: (ids, segments, torch.ones_like(mask))),
        ),
        Misconception(
            "mask_inverted",
            "Your answer hands `score` the mask inverted, so that it reads the padding alone. Hand on the mask that "
            "came in: True means `may attend`.",
            partial(_choices, handed=lambda ids, segments, mask: (ids, segments, ~mask)),
        ),
        Misconception(
            "one_segment",
            "Your answer hands `score` segments of 0 only. Hand on those that came in: they say where the choice "
            "begins.",
            partial(_choices, handed=lambda ids, segments, mask: (ids, torch.zeros_like(segments), mask)),
        ),
        Misconception(
            "ids_and_segments_exchanged",
            "Your answer passes segments and ids the other way round. It is score(ids, segments, mask).",
            partial(_choices, handed=lambda ids, segments, mask: (segments, ids, mask)),
        ),
        Misconception(
            "segments_and_mask_exchanged",
            "Your answer passes mask and segments the other way round. It is score(ids, segments, mask).",
            partial(_choices, handed=lambda ids, segments, mask: (ids, mask, segments)),
        ),
        Misconception(
            "exponentials_too_large",
            "Your answer takes exp of the scores themselves: of large ones it overflows, and of very negative ones all "
            "become 0. torch.softmax takes the question's largest score off first.",
            partial(_choices, normalise=lambda scores: _shares(scores.exp())),
        ),
        Misconception(
            "something_added_below",
            "Your answer takes exp of the scores themselves, which overflows at large ones, and keeps the sum from 0 "
            "by a small number, so that probabilities do not sum to 1. torch.softmax needs neither.",
            partial(_choices, normalise=lambda scores: _shares(scores.exp(), 1e-8)),
        ),
        Misconception(
            "largest_of_the_batch",
            "Your answer takes the largest score of the whole batch off, so that of a question with much smaller ones "
            "all exponentials become 0. Take off the largest of each question, as torch.softmax does.",
            partial(_choices, normalise=lambda scores: _shares((scores - scores.max()).exp())),
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
