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
            for name, majority, bag in re.findall(r"(.+): majority ([\d.]+)%, bag ([\d.]+)%;", output)
        }
        majority, bag = results["reviews"]
        assert 50 < majority < 80
        assert bag > 95
        majority, bag = results["who chases whom"]
        assert majority == 50
        assert abs(bag - 50) < 2  # but for rounding, where two logits are all but equal

    def test_real_reviews_are_read_rightly_four_times_in_five_and_learned_by_heart(self, output: str) -> None:
        line = r"real reviews: majority ([\d.]+)%, bag ([\d.]+)%; on what it was trained on ([\d.]+)%"
        majority, unseen, seen = map(float, re.findall(line, output)[0])
        assert 45 < majority < 55
        assert 79 < unseen < 88
        assert seen > unseen + 5

    def test_not_is_hardly_where_the_bag_fails(self, output: str) -> None:
        assert "You won't be disappointed." in output
        negated, others = map(int, re.findall(r"wrong in sentences .*?: (\d+)% of", output))
        assert negated < others + 8
        assert "pulls hardest towards kind: great" in output
        assert "pulls hardest towards unkind: bad" in output

    def test_station_has_radio_and_trains_around_it_in_a_published_table(self, output: str) -> None:
        assert "30,522 rows, 21,361 of them whole words; 384 numbers each" in output
        (nearest,) = re.findall(r"^station: (.+)$", output, flags=re.M)
        assert {"radio", "trains", "railway", "chattanooga"} < set(nearest.split(", "))
        (around_cat,) = re.findall(r"^cat: +(.+)$", output, flags=re.M)
        assert {"kitten", "dog"} < set(around_cat.split(", "))

    def test_the_table_is_nearly_everything(self, output: str) -> None:
        assert "3,907,074 parameters, 99.99% of them in the table" in output
        assert "torch counts 3,907,074" in output
