"""Lesson 01, run."""

from __future__ import annotations

import re

from tests.solutions.executing import ExecutedLesson


class TestAttention(ExecutedLesson):
    lesson = "01_attention"
    pictures = 8

    def test_the_slide_is_printed_by_its_code(self, output: str) -> None:
        for line in ("[ 4.0000,  1.2500, -3.5833]", "[-2.0269, -3.7867]", "[-2.0200, -3.7800]", "cut: 0.99"):
            assert line in output

    def test_the_sum_ends_at_its_last_index_and_the_values_are_english(self, output: str) -> None:
        assert "h[N + 1]: index 7 is out of bounds" in output
        assert "right     averages 0.50 The" in output

    def test_every_length_is_measured_and_judged(self, output: str) -> None:
        lines = re.findall(r"^ +(\d+) words: RNN +([\d.]+) ms, attention +([\d.]+) ms: (.*)$", output, flags=re.M)
        assert [int(words) for words, *_rest in lines] == [2**power for power in range(1, 11)]
        for _words, recurrent, attending, verdict in lines:
            if verdict.startswith("attention"):
                assert float(attending) <= float(recurrent)
            elif verdict.startswith("the RNN"):
                assert float(recurrent) <= float(attending)
