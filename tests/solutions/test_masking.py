"""Lesson 02, run."""

import re

from tests.solutions.executing import ExecutedLesson, numbers, table


class TestMasking(ExecutedLesson):
    lesson = "02_masking"
    pictures = 10
    prints = (
        "[ 0.5000, -0.8750,  1.7500, -0.2500]",
        "[0.0000, 0.0006, 0.0000, 0.9994]",
        "[1.998342, -2.999715]",
        "tokens that notice the leak: 2",
    )

    def test_the_slip_in_the_sum_of_s3_is_printed_beside_what_is_right(self, output: str) -> None:
        right, printed, ours = (
            [float(number) for number in found.split(",")]
            for found in re.findall(
                r"(?:w_4 in its context|as printed on S3|our way.*?is)[: ]+tensor\(\[(.*?)\]\)", output
            )
        )
        assert right == ours != printed

    def test_a_leak_shows_at_two_tokens_and_hides_at_the_third(self, output: str) -> None:
        leaks = table(r"^(\S+) +changes by 0\.0000 with your mask, by ([\d.]+) with", output)
        assert leaks["<s>"][0] > 0.1
        assert leaks["die"][0] > 0.001
        assert leaks["Katze"] == [0]
        assert 1e-9 < numbers(r"^Katze +gives (\S+) of its attention", output)[0] < 1e-7

    def test_attention_finds_what_a_mean_blurs(self, output: str) -> None:
        mean, attention = numbers(r"correct answers on new sentences: mean (\d+)%, attention (\d+)%", output)
        assert max(mean + 10, 95) < attention

    def test_the_cheat_is_caught(self, output: str) -> None:
        """Random symbols cannot be predicted: only a model that sees them gets below log 8."""
        free, masked = numbers(r"last loss: sees everything ([\d.]+), sees only the past ([\d.]+)", output)
        assert free < 0.05 < 2.0 < masked
