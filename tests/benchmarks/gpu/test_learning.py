"""What is told of a training: all of it, but not how long it took where an earlier run has done a part."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from benchmarks.gpu import learning
from benchmarks.gpu.results import Point, Said, Told
from benchmarks.gpu.running import Settings
from benchmarks.table import Row
from course_lib.toys.grammar import toy_translation
from course_lib.training.recipes import learn_to_translate


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    "steps_before", [0, 2, 3, 4], ids=["from nothing", "resumed", "resumed for one step", "only judged"]
)
def test_minutes_from_nothing_are_told_only_of_a_training_from_nothing(tmp_path: Path, steps_before: int) -> None:
    settings = Settings("cpu", tmp_path, tiny=True, steps=4)
    if steps_before:
        split = toy_translation(training=60, held_out=20)
        recipe = dataclasses.replace(learning.TINY_TRANSLATION, steps=4)
        folder = settings.unfinished / "multi30k-16-wide-4-steps-seed-0"
        learn_to_translate(recipe, split.training, split.held_out, folder, "cpu", until=steps_before)
    told: list[Told] = []
    learning.multi30k(settings, told.append)
    rows = {row.name for row in told if isinstance(row, Row)}
    assert ("from nothing to BLEU" in rows) is not bool(steps_before)
    said = {one.what: one.text for one in told if isinstance(one, Said)}
    assert said.get("resumed", "after 0 steps").startswith(f"after {steps_before} steps")
    assert ("training steps" in rows) is (steps_before < 3), "it takes two steps to tell how fast they are"
    points = [point.step for point in told if isinstance(point, Point) and point.curve == "training loss"]
    assert points == list(range(1 + steps_before, 5))
