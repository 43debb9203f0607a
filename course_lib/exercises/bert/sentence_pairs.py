"""Lesson 09, bert.sentence_pairs: Does it follow?."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import torch
from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.objectives import pretraining
from course_lib.objectives.pretraining import FOLLOWING

Texts = Sequence[Sequence[str]]
Pairs = list[tuple[str, str, int]]

_THE_NEXT_ONE = "a drawn sentence that happens to be the next one"


def _pair_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        texts = [["the cat chased the mouse .", "it was hungry ."], ["a baker baked .", "she sang .", "she slept ."]]
        others = ["the duke laughed .", "it then grazed .", "the wolf heard it ."]
        yield Case("worked example: a cat and a baker", (texts, [0.2, 0.7, 0.4], others))
        yield Case("no texts", ([], [], []))
        yield Case("texts of one sentence", ([["the cat slept ."], ["it rained ."]], [], []))
    for name, count in (("a few texts", integer(generator, 4, 6)), ("more texts", integer(generator, 7, 10))):
        texts = _texts(generator, [1, 2, 3, 4, *(integer(generator, 1, 5) for _ in range(count - 4))])
        chances = _chances(generator, sum(len(text) - 1 for text in texts))
        yield Case(name, (texts, chances, _sentences(generator, len(chances), "instead")))
    for name, chance in (("all of them stay", 0.1), ("none of them stays", 0.6)):
        texts = _texts(generator, [3, 4])
        chances = [chance + 0.3 * drawn for drawn in torch.rand(5, generator=generator).tolist()]
        yield Case(name, (texts, chances, _sentences(generator, 5, "instead")))
    texts = _texts(generator, [2, 4, 3])
    true = [second for text in texts for second in text[1:]]
    others = [true[0], true[2], *_sentences(generator, 2, "instead"), true[4], true[5]]
    chances = [0.8, 0.7, 0.9, 0.2, 0.3, 0.6]
    yield Case("what is drawn happens to be the next one", (texts, chances, others), part=_THE_NEXT_ONE)
    before, first, last = _sentences(generator, 3, "first")
    others = [last, before]
    yield Case("what is drawn is elsewhere in the text", ([[before, first, last]], [0.8, 0.5], others))


def _texts(generator: Generator, lengths: Sequence[int]) -> list[list[str]]:
    """Texts of so many sentences, no two of them alike, in an order that is drawn."""
    order = torch.randperm(len(lengths), generator=generator).tolist()
    left = iter(_sentences(generator, sum(lengths), "first"))
    return [[next(left) for _ in range(lengths[text])] for text in order]


def _sentences(generator: Generator, count: int, end: str) -> list[str]:
    """So many sentences, all different."""
    drawn = (torch.randperm(len(_NOUNS) * len(_VERBS), generator=generator)[:count]).tolist()
    return [f"the {_NOUNS[one % len(_NOUNS)]} {_VERBS[one // len(_NOUNS)]} {end} ." for one in drawn]


_NOUNS = ("cat", "dog", "hen", "owl", "fox", "ox", "rat", "pig", "cow", "goat")
_VERBS = ("sang", "slept", "ate", "ran", "dug", "swam", "sat", "hid", "won")


def _chances(generator: Generator, count: int) -> list[float]:
    """None of them is near a half; the first is below it, the second above."""
    drawn = torch.rand(count, generator=generator)
    kept = torch.rand(count, generator=generator) < FOLLOWING
    kept[0], kept[1] = True, False
    found: list[float] = torch.where(kept, 0.45 * drawn, 0.55 + 0.45 * drawn).tolist()
    return found


def _pairs_side_by_side(texts: Texts, chances: Sequence[float], others: Sequence[str]) -> Pairs:
    neighbours = [pair for text in texts for pair in pairwise(text)]
    found = []
    for (first, true), chance, other in zip(neighbours, chances, others, strict=False):
        stays = chance < 0.5
        second = true if stays else other
        label = int(second != true)
        found.append((first, second, label))
    return found


_slip = edits_of(_pairs_side_by_side)
_NEIGHBOURS, _LABEL, _FOUND = "pairwise(text)", "int(second != true)", "found = []"
_BY_THE_CHANCE = (_LABEL, "int(not stays)")


def _pairs_by_iterators(texts: Texts, chances: Sequence[float], others: Sequence[str]) -> Pairs:
    chance, other = iter(chances), iter(others)
    found = []
    for text in texts:
        for first, second in zip(text, text[1:], strict=False):
            drawn = next(other)
            random = next(chance) >= 0.5 and drawn != second
            found.append((first, drawn if random else second, int(random)))
    return found


def _pairs_by_borders(texts: Texts, chances: Sequence[float], others: Sequence[str]) -> Pairs:
    sentences = [sentence for text in texts for sentence in text]
    last = torch.tensor([len(text) for text in texts]).cumsum(0) - 1
    begins = [position for position in range(len(sentences)) if position not in last]
    found = []
    for position, chance, other in zip(begins, chances, others, strict=True):
        true = sentences[position + 1]
        found.append((sentences[position], *((true, 0) if chance < 0.5 or other == true else (other, 1))))
    return found


EXERCISE = Exercise(
    id="bert.sentence_pairs",
    title="Does it follow?",
    statement=(
        "next_sentence_pairs(texts, chances, others) -> a list of (first, second, label), one for each pair of "
        "neighbors in a text. Where the random number is below 0.5, the second sentence is the real neighbor, "
        "otherwise the other sentence. The label is 0 if it follows the first sentence in the text, otherwise 1."
    ),
    minutes=12,
    difficulty=2,
    importance=2,
    section="Pairs that need no labels",
    source="S1 and S2, next-sentence prediction; Devlin et al. (2019), section 3.1, task 2",
    reference=pretraining.next_sentence_pairs,
    cases=_pair_cases,
    parts={CORE: 2, _THE_NEXT_ONE: 1},
    correct=(_pairs_side_by_side, _pairs_by_iterators, _pairs_by_borders),
    hints=hints(
        idea=(
            "Collect all pairs of neighbors, text by text. Then go through the pairs, `chances` and `others` in "
            "parallel."
        ),
        shapes=(
            "A text of n sentences has n - 1 pairs. `itertools.pairwise` gives the pairs of neighbors in a list, and "
            "`zip` goes through three lists at once. For the label, compare the second sentence with the original one."
        ),
    ),
    misconceptions=(
        *mistake(
            "Your labels are swapped. Return 0 where the second sentence follows, and 1 where it does not.",
            labels_exchanged=_slip((_LABEL, "int(second == true)")),
        ),
        *mistake(
            "Your answer keeps the second sentence if the random number is high. Keep it if the number is below 0.5.",
            large_chance_stays=_slip(("chance < 0.5", "chance >= 0.5")),
        ),
        *mistake(
            "Your answer also makes a pair that begins with the last sentence of a text. No sentence of the text "
            "follows it: n sentences make n - 1 pairs.",
            across_texts=_slip(("pair for text in texts for pair in pairwise(text)", "*pairwise(sum(texts, []))")),
            in_a_ring=_slip((_NEIGHBOURS, "zip(text, [*text[1:], text[0]])")),
        ),
        *mistake(
            "Your answer leaves out pairs of neighbors. Pair each sentence of a text with the one after it.",
            two_by_two=_slip((_NEIGHBOURS, "zip(text[::2], text[1::2])")),
            first_pair_of_each_text=_slip((_NEIGHBOURS, "pairwise(text[:2])")),
        ),
        *mistake(
            "Your answer uses the wrong `chances` or `others`. Pair number k goes with chances[k] and others[k], even "
            "if it doesn't need a new sentence.",
            others_one_after_another=_slip((_FOUND, "found, o = [], iter(others)"), ("else other", "else next(o)")),
            restarted_in_each_text=_slip(
                ("chances, others,", "*([x for t in texts for x in a[: len(t) - 1]] for a in (chances, others)),")
            ),
        ),
        *mistake(
            "Your answer changes the first sentence where the random number is high. Replace only the second sentence.",
            first_replaced=_slip(
                ("second = true if stays else other", "first, second = first if stays else other, true"), _BY_THE_CHANCE
            ),
            turned_around=_slip(("else other", "else first"), ("(first, second", "(first if stays else true, second")),
            other_first=_slip(("else other", "else first"), ("(first, second", "(first if stays else other, second")),
        ),
        *mistake(
            "Your answer never uses the other sentences. Where the random number is 0.5 or more, replace the second "
            "sentence with the one from `others`.",
            random_left_out=_slip(("found.append", "if stays:\n            found.append")),
            none_replaced=_slip(("else other", "else true"), _BY_THE_CHANCE),
        ),
        *mistake(
            "Your answer puts the label first. Return the first sentence, then the second sentence, then the label.",
            label_first=_slip(("first, second, label", "label, first, second")),
        ),
        *mistake(
            "Your label depends only on the random number. If the sentence drawn from `others` happens to be the next "
            "one, the label must be 0, too.",
            label_by_the_chance=_slip(_BY_THE_CHANCE),
            alone=True,
        ),
    ),
)
