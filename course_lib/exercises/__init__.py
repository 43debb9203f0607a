"""The exercises: a folder for each lesson, a file for each exercise, each of them data, found here by id.

    from course_lib import exercises
    exercises.find("attention.scaled_dot_product").points

A lesson's folder is imported when somebody first asks for it. To add an exercise, read
`course_lib/exercises/attention/scale.py`; to add a lesson, name its folder in `LESSONS`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.checking.exercise import Exercise

LESSONS = {
    "00_words_in_a_bag": "course_lib.exercises.words_in_a_bag",
    "01_attention": "course_lib.exercises.attention",
    "02_masking": "course_lib.exercises.masking",
    "03_positions": "course_lib.exercises.positions",
    "04_heads_and_blocks": "course_lib.exercises.heads_and_blocks",
    "05_encoder_decoder": "course_lib.exercises.encoder_decoder",
    "06_decoding": "course_lib.exercises.decoding",
    "07_gpt": "course_lib.exercises.gpt",
    "08_subwords": "course_lib.exercises.subwords",
    "09_bert": "course_lib.exercises.bert",
    "10_evaluation": "course_lib.exercises.evaluation",
    "11_die_katze": "course_lib.exercises.die_katze",
    "12_since_2017": "course_lib.exercises.since_2017",
}
LESSONS = {
    lesson: package
    for lesson, package in LESSONS.items()
    if (Path(__file__).parent / package.rpartition(".")[2]).is_dir()
}
"""Each lesson's folder and the package of its exercises, in lesson order; a class edition has some of them."""

TITLES = {
    "00_words_in_a_bag": "Words in a bag",
    "01_attention": "Attention",
    "02_masking": "Masking",
    "03_positions": "Positions",
    "04_heads_and_blocks": "Heads and blocks",
    "05_encoder_decoder": "The encoder-decoder",
    "06_decoding": "Decoding",
    "07_gpt": "GPT",
    "08_subwords": "Words in pieces",
    "09_bert": "BERT",
    "10_evaluation": "Evaluation",
    "11_die_katze": "Die Katze at full size",
    "12_since_2017": "Since 2017",
}
"""What each lesson is called in its heading."""

PACKAGES = {
    "08_subwords": ("tokenizers",),
    "09_bert": ("tokenizers",),
    "10_evaluation": ("jiwer", "nltk", "rouge-score", "sacrebleu", "tokenizers"),
}
"""Packages that a lesson's own cells show, and that do its exercises' work: its answers are judged without them."""


SECONDS = {
    "00_words_in_a_bag": 25,
    "01_attention": 20,
    "02_masking": 60,
    "03_positions": 50,
    "04_heads_and_blocks": 60,
    "05_encoder_decoder": 160,
    "06_decoding": 70,
    "07_gpt": 100,
    "08_subwords": 20,
    "09_bert": 110,
    "10_evaluation": 40,
}
"""How long a lesson's cells run on two cores of a laptop, all together: measured, and written down by hand."""

WRITTEN = {
    "words_in_a_bag.told_apart": 2,
    "attention.why_scale": 2,
    "masking.why_decoder": 2,
    "evaluation.which_is_better": 3,
    "die_katze.what_next": 3,
    "since_2017.what_to_keep": 2,
}
"""Tasks that are answered in prose, with their points: a person reads them, and they are no `Exercise`."""


class UnknownName(KeyError):
    """There is no exercise, or no lesson, of this name.

    Attributes:
        message: says so, and what was perhaps meant.
        near: the names that are similar.
    """

    def __init__(self, message: str, near: list[str]) -> None:
        self.message, self.near = message, near
        super().__init__(message)

    def __str__(self) -> str:
        """The message itself; a KeyError would put it in quotes."""
        return self.message


def all() -> list[Exercise]:
    """Every exercise, in lesson order."""
    return [exercise for lesson in LESSONS for exercise in of_lesson(lesson)]


def of_lesson(lesson: str) -> list[Exercise]:
    """A lesson's exercises, in its own order.

    Args:
        lesson: the folder's name, such as "01_attention".

    Raises:
        UnknownName: no lesson has this name.
    """
    if lesson not in LESSONS and lesson in TITLES:
        raise UnknownName(
            f"lesson {lesson!r} is not in this edition of the course; there are {', '.join(LESSONS)}.", []
        )
    if lesson not in LESSONS:
        near = difflib.get_close_matches(lesson, LESSONS, n=3, cutoff=_SIMILAR)
        meant = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(LESSONS)}."
        raise UnknownName(f"no lesson {lesson!r}; {meant}", near)
    return list(import_module(LESSONS[lesson]).EXERCISES)


def named(names: Iterable[str]) -> list[Exercise]:
    """The exercises of these names, each once: a lesson stands for all its exercises.

    Args:
        names: lessons and exercises' ids.

    Raises:
        UnknownName: there is no exercise, or no lesson, of one of these names.
    """
    found = (exercise for name in names for exercise in (of_lesson(name) if "." not in name else [find(name)]))
    return list({exercise.id: exercise for exercise in found}.values())


def find(exercise_id: str) -> Exercise:
    """The exercise of this id. Only its own lesson is imported: the name before the dot says which.

    Args:
        exercise_id: such as "attention.scaled_dot_product", of lesson "01_attention".

    Raises:
        UnknownName: no exercise has this id.
    """
    for lesson in TITLES | LESSONS:
        if lesson.partition("_")[2] == exercise_id.partition(".")[0]:
            for exercise in of_lesson(lesson):
                if exercise.id == exercise_id:
                    return exercise
    raise _unknown(exercise_id)


def written_in(lesson: str) -> dict[str, int]:
    """A lesson's tasks that a person reads, with their points."""
    return {name: points for name, points in WRITTEN.items() if name.partition(".")[0] == lesson.partition("_")[2]}


_SIMILAR = 0.5
"""How similar a name must be to one that was asked for, from 0 to 1, to be offered in its place."""


def _unknown(name: str) -> UnknownName:
    """What to say to somebody who asks for an exercise by a name that is no exercise's id."""
    if name in WRITTEN:
        said = "is read by a person: it has no check, no hints and no solution here. Write your answer into its cell."
        return UnknownName(f"{name} {said}", [name])
    known = all()
    called = [exercise.id for exercise in known if name in (exercise.name, exercise.id.partition(".")[2])]
    near = called or difflib.get_close_matches(name, [exercise.id for exercise in known], n=3, cutoff=_SIMILAR)
    meant = f"did you mean {' or '.join(near)}?" if near else "an id looks like attention.scores."
    return UnknownName(f"no exercise {name!r}; {meant}", near)
