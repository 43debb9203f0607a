"""A course of three short lessons, and a class of sixteen that hands in what is known to be right, off, or nothing.

The lessons are the first ones of this course with two exercises left of each, so that the class is graded in seconds.
Sandboxes, checks, hidden inputs and the gradebook are real.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.box.fork_server.client import ForkServer
from autograder.course.course import Course
from autograder.grading import exercise_strategy
from course_lib import exercises
from tests.autograder.small_class import ROOT
from tests.fork_servers import KeptForkServer

ATTENTION, MASKING, POSITIONS = "01_attention", "02_masking", "03_positions"

KEPT = {
    ATTENTION: ("attention.contextual_embedding", "attention.scale"),
    MASKING: ("masking.causal_mask", "masking.padding_mask"),
    POSITIONS: ("positions.binary_counting", "positions.appended_index"),
}
"""What is left of each lesson; the first two end in a question in words, which is worth 2 points."""

RIGHT = {
    "attention.contextual_embedding": (
        "def contextual_embedding(embeddings, position):\n"
        "    return torch.softmax(embeddings @ embeddings[position], dim=-1) @ embeddings\n"
    ),
    "attention.scale": "def scale_scores(scores, d_head):\n    return scores / d_head**0.5\n",
    "masking.causal_mask": "def causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool).tril()\n",
    "masking.padding_mask": (
        "def padding_mask(lengths, max_length):\n"
        "    return torch.arange(max_length, device=lengths.device) < lengths.unsqueeze(-1)\n"
    ),
    "positions.binary_counting": (
        "def binary_counting(length, bits, device=None):\n"
        "    position = torch.arange(length, device=device).unsqueeze(-1)\n"
        "    return (position // 2 ** torch.arange(bits, device=device) % 2).float()\n"
    ),
    "positions.appended_index": (
        "def appended_index(x):\n"
        "    index = torch.arange(x.shape[-2], dtype=x.dtype, device=x.device).expand(x.shape[:-1]).unsqueeze(-1)\n"
        "    return torch.cat([x, index], dim=-1)\n"
    ),
}

Answers = Mapping[str, str]


def make_course(folder: Path) -> Course:
    """The course, with the short lessons released and nothing handed in."""
    modules = folder / "short"
    modules.mkdir(parents=True)
    for lesson, kept in KEPT.items():
        topic = lesson.partition("_")[2]
        lines = (
            f"from course_lib.exercises import {topic}",
            f"EXERCISES = tuple(one for one in {topic}.EXERCISES if one.id in {kept})",
            f"WRITTEN = {exercises.COURSE.written_in(lesson)}",
        )
        (modules / f"{topic}.py").write_text("\n".join(lines))
        whole = json.loads((ROOT / "notebooks" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8"))
        place = folder / "notebooks" / lesson / f"{lesson}.ipynb"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps({**whole, "cells": [cell for cell in whole["cells"] if _is_kept(cell, lesson)]}))
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    listed = {lesson: f"short.{lesson.partition('_')[2]}" for lesson in KEPT}
    (folder / "nbgrader_config.py").write_text(f"{config}\nc.Katze.exercises = {listed}\n", encoding="utf-8")
    return Course.find(folder)


def _is_kept(cell: Mapping[str, Any], lesson: str) -> bool:
    grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
    if grade_id:
        kept = (*KEPT[lesson], *exercises.COURSE.written_in(lesson))
        return grade_id.rpartition("-")[0].replace("-", ".", 1) in kept
    return "".join(cell["source"]).startswith("import math\n")  # what the answers need


def notebook(course: Course, lesson: str, answers: Answers) -> bytes:
    """The release with these exercises answered."""
    made = json.loads(course.release_notebook(lesson).read_text())
    for cell in made["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        exercise, _, role = grade_id.rpartition("-")
        if role in ("answer", "written") and exercise.replace("-", ".", 1) in answers:
            cell["source"] = answers[exercise.replace("-", ".", 1)]
    return json.dumps(made).encode()


@contextlib.contextmanager
def one_fork_server() -> Iterator[None]:
    """Let all runs have their sandboxes from one fork server, which withholds what any of the lessons withholds."""
    withheld = {name for lesson in KEPT for one in exercises.COURSE.of_lesson(lesson) for name in one.withheld}
    kept: list[KeptForkServer] = []

    def take(_withheld: object, *arguments: Any, **more: Any) -> KeptForkServer:
        if not kept:
            of_all = {**more, "channels": 2, "trains": True, "held": None, "root": None}
            kept.append(KeptForkServer(ForkServer(tuple(sorted(withheld)), *arguments, **of_all)))
        return kept[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exercise_strategy, "ForkServer", take)
        try:
            yield
        finally:
            for one in kept:
                one.real.close()
