"""Lesson 00, run."""

import re

from tests.solutions.executing import ExecutedLesson, numbers, table


class TestWordsInABag(ExecutedLesson):
    lesson = "00_words_in_a_bag"
    pictures = 8
    prints = (
        "alone:        tensor([1.5000, 1.9000])",
        "in the batch: tensor([-0.9000,  1.1800])",
        "You won't be disappointed.",
        "pulls hardest toward positive: great",
        "pulls hardest toward negative: not",
        "30,522 rows, 21,361 of them whole words; 384 numbers each",
        "weights 256, biases 2: 3,907,074 parameters in all",
        "right with three left out: 11",
        "right with nothing left out: 1",
    )

    def test_a_bag_reads_reviews_but_cannot_tell_who_chases_whom(self, output: str) -> None:
        """A sentence and its mirror image get the same answer, so exactly one of them is right."""
        results = table(r"(.+): majority ([\d.]+)%, bag ([\d.]+)%;", output)
        majority, bag = results["reviews"]
        assert 50 < majority < 80
        assert bag > 95
        majority, bag = results["who chases whom"]
        assert majority == 50
        assert abs(bag - 50) < 2  # but for rounding, where two logits are all but equal

    def test_real_reviews_are_read_rightly_four_times_in_five_and_learned_by_heart(self, output: str) -> None:
        line = r"real reviews: majority ([\d.]+)%, bag ([\d.]+)%; on its training set ([\d.]+)%"
        majority, unseen, seen = numbers(line, output)
        assert 45 < majority < 55
        assert 79 < unseen < 88
        assert seen > unseen + 5

    def test_in_validation_the_bag_is_best_after_two_epochs_while_its_loss_falls_on(self, output: str) -> None:
        found = table(r"^ *(\d+) epochs?: loss ([\d.]+), validation accuracy ([\d.]+)%", output)
        losses, right = zip(*found.values(), strict=True)
        assert list(losses) == sorted(losses, reverse=True)
        assert found["2"][1] == max(right) > right[0] > right[-1] - 3

    def test_not_is_hardly_where_the_bag_fails(self, output: str) -> None:
        negated, others = map(int, re.findall(r"wrong in sentences .*?: (\d+)% of", output))
        assert negated < others + 8

    def test_station_has_radio_and_trains_around_it_in_a_published_table(self, output: str) -> None:
        (nearest,) = re.findall(r"^station: (.+)$", output, flags=re.M)
        assert {"radio", "trains", "railway", "chattanooga"} < set(nearest.split(", "))
        (around_cat,) = re.findall(r"^cat: +(.+)$", output, flags=re.M)
        assert {"kitten", "dog"} < set(around_cat.split(", "))
