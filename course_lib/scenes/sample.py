"""The captions that come with the course, in parts for training, validation and tests.

They stand in for Multi30k where there is no network and no GPU. All were made for the course: most by rule
(`by_rule.tsv`), some by hand (`by_hand.tsv`). Half of the latter are kept for a second test, where a model trained on
the rules' sentences meets freer ones.

They contain what is hard about German: gender, case and the endings of adjectives (*einen roten Mantel*, *in einem
roten Mantel*), the verb in second place whatever comes first, last in a subordinate clause, and without its prefix in a
main clause (*baut ein Zelt auf*, *während sie ein Zelt aufbaut*), one English word for two German ones (*is riding*:
*reitet*, *fährt*).
"""

from dataclasses import dataclass
from pathlib import Path

from course_lib.text.texts import SentencePair, read_pairs

BY_RULE = Path(__file__).parent / "by_rule.tsv"
"""6,400 captions that were composed by rule."""

BY_HAND = Path(__file__).parent / "by_hand.tsv"
"""The captions that were written by hand."""

EVERYDAY = Path(__file__).parent / "everyday.tsv"
"""1,400 shorter captions that were written one by one; `everyday.md` says how."""

HELD_OUT = 200
"""The number of captions by rule, or of everyday ones, in each part that is not for training."""

VALIDATED = 100
"""The number of everyday captions, at the end of those for training, on which lesson 11 measures the loss instead."""


@dataclass(frozen=True)
class SceneParts:
    """Captions of everyday scenes; no English sentence is in two parts.

    Attributes:
        training: captions to learn from, those by hand last.
        validation: captions by rule.
        test: captions by rule, like most of the training part.
        by_hand: a harder test: freer sentences, with words that the training part lacks.
    """

    training: list[SentencePair]
    validation: list[SentencePair]
    test: list[SentencePair]
    by_hand: list[SentencePair]


def everyday_scenes() -> SceneParts:
    """Return the captions of both files, in parts."""
    by_rule, by_hand = read_pairs(BY_RULE), read_pairs(BY_HAND)
    return SceneParts(
        training=by_rule[: -2 * HELD_OUT] + by_hand[1::2],
        validation=by_rule[-2 * HELD_OUT : -HELD_OUT],
        test=by_rule[-HELD_OUT:],
        by_hand=by_hand[::2],
    )


def everyday_captions() -> tuple[list[SentencePair], list[SentencePair]]:
    """Return the everyday captions to learn from, and those held out, whose content words all occur in the former."""
    pairs = read_pairs(EVERYDAY)
    return pairs[:-HELD_OUT], pairs[-HELD_OUT:]
