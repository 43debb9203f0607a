"""Lesson 01, run."""

from __future__ import annotations

from tests.solutions.executing import ExecutedLesson


class TestAttention(ExecutedLesson):
    lesson = "01_attention"
    pictures = 8

    def test_the_slide_is_printed_by_its_code(self, output: str) -> None:
        for line in ("[ 4.0000,  1.2500, -3.5833]", "[-2.0269, -3.7867]", "[-2.0200, -3.7800]", "cut: 0.99"):
            assert line in output
