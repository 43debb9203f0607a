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
}
"""Each lesson's folder and the package of its exercises, in lesson order."""

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
}
"""What each lesson is called in its heading."""

PACKAGES = {
    "08_subwords": ("tokenizers",),
    "09_bert": ("tokenizers",),
    "10_evaluation": ("jiwer", "nltk", "rouge-score", "sacrebleu", "tokenizers"),
}
"""Packages that a lesson's own cells show, and that do its exercises' work: its answers are judged without them."""


class UnknownName(KeyError):
    """There is no exercise, or no lesson, of this name; the message lists similar ones."""

    def __init__(self, what: str, name: str, known: list[str]) -> None:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."
        self.message = f"no {what} {name!r}; {hint}"
        super().__init__(self.message)

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
    if lesson not in LESSONS:
        raise UnknownName("lesson", lesson, list(LESSONS))
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
    for lesson in LESSONS:
        if lesson.partition("_")[2] == exercise_id.partition(".")[0]:
            for exercise in of_lesson(lesson):
                if exercise.id == exercise_id:
                    return exercise
    raise UnknownName("exercise", exercise_id, [exercise.id for exercise in all()])
