"""Lesson 00, run."""

from __future__ import annotations

import re

from tests.solutions.executing import ExecutedLesson


class TestWordsInABag(ExecutedLesson):
    lesson = "00_words_in_a_bag"
    pictures = 8

    def test_the_slides_mean_counts_padding(self, output: str) -> None:
        assert "alone:        tensor([1.5000, 1.9000])" in output
        assert "in the batch: tensor([-0.9000,  1.1800])" in output

    def test_a_bag_reads_reviews_but_cannot_tell_who_chases_whom(self, output: str) -> None:
        """A sentence and its mirror image get the same answer, so exactly one of them is right."""
        results = {
            name: (float(majority), float(bag))
            for name, majority, bag in re.findall(r"(.+): majority ([\d.]+)%, bag ([\d.]+)%", output)
        }
        majority, bag = results["reviews"]
        assert 50 < majority < 80
        assert bag > 95
        majority, bag = results["who chases whom"]
        assert majority == 50
        assert abs(bag - 50) < 2  # but for rounding, where two logits are all but equal

    def test_the_table_is_nearly_everything(self, output: str) -> None:
        assert "3,907,074 parameters, 99.99% of them in the table" in output
        assert "torch counts 3,907,074" in output
