"""The captions that come with the course, in the parts that a training needs.

They stand in for Multi30k where there is no network and no GPU. All were made for the course: most by rule
(`by_rule.tsv`), some by hand (`by_hand.tsv`). Half of those by hand are kept for a second test, where a model that has
read the rules' sentences meets freer ones.

What is hard about German is in them: gender, case and the endings of adjectives (*einen roten Mantel*, *in einem roten
Mantel*), the verb in second place whatever comes first, at the end of a subordinate clause, and without its prefix in a
main one (*baut ein Zelt auf*, *während sie ein Zelt aufbaut*), one English word for two German ones (*is riding*:
*reitet*, *fährt*).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from course_lib.text.texts import SentencePair, read_pairs

BY_RULE = Path(__file__).parent / "by_rule.tsv"
"""6,400 captions that were put together by rule."""

BY_HAND = Path(__file__).parent / "by_hand.tsv"
"""The captions that were written by hand."""

EVERYDAY = Path(__file__).parent / "everyday.tsv"
"""1,400 shorter captions that were written one by one; `everyday.md` says how."""

HELD_OUT = 200
"""How many captions by rule, or everyday ones, there are in each part that is not for training."""

VALIDATED = 100
"""How many of the everyday captions to learn from, at their end, lesson 11 measures the loss on instead."""


@dataclass(frozen=True)
class SceneParts:
    """Captions of everyday scenes, no English sentence in two parts.

    Attributes:
        training: to learn from, those by hand last.
        validation: by rule.
        test: by rule, as those that were learned from.
        by_hand: a harder test: freer sentences, with words that the training part lacks.
    """

    training: list[SentencePair]
    validation: list[SentencePair]
    test: list[SentencePair]
    by_hand: list[SentencePair]


def everyday_scenes() -> SceneParts:
    """The captions of both files."""
    by_rule, by_hand = read_pairs(BY_RULE), read_pairs(BY_HAND)
    return SceneParts(
        training=by_rule[: -2 * HELD_OUT] + by_hand[1::2],
        validation=by_rule[-2 * HELD_OUT : -HELD_OUT],
        test=by_rule[-HELD_OUT:],
        by_hand=by_hand[::2],
    )


def everyday_captions() -> tuple[list[SentencePair], list[SentencePair]]:
    """The everyday captions: those to learn from, and those held out, whose content words are all in the others."""
    pairs = read_pairs(EVERYDAY)
    return pairs[:-HELD_OUT], pairs[-HELD_OUT:]
