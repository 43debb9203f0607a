"""Lesson 08, run."""

from __future__ import annotations

import re

from tests.solutions.executing import ExecutedLesson, numbers


class TestSubwords(ExecutedLesson):
    lesson = "08_subwords"
    pictures = 7
    prints = (
        "gesundheitsforschungsinstitut is in the text: False",
        "'▁gesundheits', 'forschungs', 'institut'",
        "and back: True",
        "the same ten pairs in the same order: True",
        "['▁sport', 'c', 'a', 'f', 'é'] and ['[UNK]']",
    )

    def test_stems_and_endings_are_among_the_first_ten_pairs(self, output: str) -> None:
        merged = re.findall(r"^ ?\d+\. .* -> (\S+)$", output, flags=re.M)
        assert len(merged) == 10
        assert merged[0] == "ay"
        assert {"▁play", "▁stay", "ing", "ed"} <= set(merged)

    def test_most_further_words_are_new(self, output: str) -> None:
        assert numbers(r"(\d+) of 200 further words are not among them", output)[0] > 100

    def test_a_larger_vocabulary_makes_shorter_sequences(self, output: str) -> None:
        rows = re.findall(r"(\d+) pairs: (\d+) rows in the table, ([\d.]+) pieces in a word", output)
        sizes = [int(size) for _, size, _ in rows]
        lengths = [float(length) for _, _, length in rows]
        assert sizes == sorted(sizes)
        assert lengths[0] > 15 > 6 > lengths[1] > 4 > lengths[2] > 1

    def test_the_two_ways_to_cut_mostly_agree(self, output: str) -> None:
        different, words = numbers(r"(\d+) of (\d+) new words are cut differently", output)
        assert 0 < different < words / 4

    def test_likelihood_prefers_what_keeps_together(self, output: str) -> None:
        frequent, likely = re.findall(r"first by \w+: \w \+ \w, (\d+) times", output)
        assert int(frequent) > 3 * int(likely)
        for pair in ("j + u", "c + h"):
            assert pair in output.partition("most likely")[2]
