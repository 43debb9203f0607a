"""Lesson 02, run."""

from __future__ import annotations

import re

from tests.solutions.executing import ExecutedLesson


class TestMasking(ExecutedLesson):
    lesson = "02_masking"
    pictures = 8

    def test_the_slide_is_printed_by_its_code(self, output: str) -> None:
        for line in (
            "[ 0.5000, -0.8750,  1.7500, -0.2500]",
            "[0.0000, 0.0006, 0.0000, 0.9994]",
            "[1.998342, -2.999715]",
        ):
            assert line in output

    def test_the_cheat_is_caught(self, output: str) -> None:
        """Random symbols cannot be predicted: only a model that sees them gets below log 8."""
        (losses,) = re.findall(r"last loss: sees everything ([\d.]+), sees only the past ([\d.]+)", output)
        free, masked = map(float, losses)
        assert free < 0.05
        assert masked > 2.0
