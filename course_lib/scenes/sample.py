"""The captions that come with the course, in the parts that a training needs.

They stand in for Multi30k where there is no network and no GPU. All were written for the course: most by rule
(`writer`), some by hand (`by_hand.tsv`). Half of those by hand are kept for a second test, where a model that has read
the rules' sentences meets freer ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from course_lib.scenes.writer import write_captions
from course_lib.text.texts import SentencePair, read_pairs

BY_HAND = Path(__file__).parent / "by_hand.tsv"
"""The captions that were written by hand."""

TRAINING, HELD_OUT = 6000, 200
"""How many captions by rule there are in the training part, and in each of the other two."""


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
    """The same captions in every call, and in every version that has the same words."""
    written = write_captions(TRAINING + 2 * HELD_OUT)
    by_hand = read_pairs(BY_HAND)
    return SceneParts(
        training=written[:TRAINING] + by_hand[1::2],
        validation=written[TRAINING:-HELD_OUT],
        test=written[-HELD_OUT:],
        by_hand=by_hand[::2],
    )
