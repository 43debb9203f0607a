"""Slips in a student's own handwriting are named, and plain Python values are told apart."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from course_lib import exercises
from course_lib.exercises.subwords.shared import PLAY
from tests.course_lib.exercises.judging import verdict

Words = dict[tuple[str, ...], int]


def test_the_worked_example_is_that_of_the_library() -> None:
    exercise = exercises.find("subwords.learn_merges")
    case = exercise.visible_cases()[0]
    assert exercise.reference(*case.args[:3]) == [("a", "y"), ("l", "ay"), ("p", "lay"), ("▁", "play")]
    assert case.args[0] == PLAY


def test_pairs_that_are_to_be_replayed_make_a_new_piece_each() -> None:
    """Where two pairs made the same one, two honest readings of the paper would differ."""
    exercise = exercises.find("subwords.encode")
    for seed in range(30):
        for case in [*exercise.visible_cases(), *exercise.hidden_cases(seed)]:
            made = ["".join(pair) for pair in case.args[1]]
            assert len(set(made)) == len(made)


class TestPlainValues:
    def test_a_counter_is_a_dict(self) -> None:
        def count(words: Words) -> Counter[tuple[str, str]]:
            counts: Counter[tuple[str, str]] = Counter()
            for pieces, times in words.items():
                counts.update(dict.fromkeys(pairwise(pieces), 0))
                for pair in pairwise(pieces):
                    counts[pair] += times
            return counts

        assert verdict("subwords.count_pairs", count).passed

    def test_missing_pairs_are_named(self) -> None:
        right = exercises.find("subwords.count_pairs").reference

        def without_the_mark(words: Words) -> dict[tuple[str, str], int]:
            return {pair: times for pair, times in right(words).items() if pair[0] != "▁"}

        worked_example, *_ = verdict("subwords.count_pairs", without_the_mark).cases
        assert worked_example.message == "The result lacks 1 key: ('▁', 'p')."

    def test_ids_changed_in_place_are_noticed(self) -> None:
        def learn(words, ids, merges, count, choose, join):  # type: ignore[no-untyped-def]
            learned = []
            while len(learned) < merges and (counts := count(words)):
                learned.append(choose(counts, ids))
                ids.setdefault("".join(learned[-1]), len(ids))
                words = {join(pieces, learned[-1]): times for pieces, times in words.items()}
            return learned

        found = verdict("subwords.learn_merges", learn)
        assert not found.passed
        assert "changed ids in place" in found.text()


def test_learning_without_an_end_earns_its_part() -> None:
    def learn(words, ids, merges, count, choose, join):  # type: ignore[no-untyped-def]
        ids = dict(ids)
        learned = []
        for _ in range(merges):
            learned.append(choose(count(words), ids))
            ids.setdefault("".join(learned[-1]), len(ids))
            words = {join(pieces, learned[-1]): times for pieces, times in words.items()}
        return learned

    assert verdict("subwords.learn_merges", learn).points == 3


def test_ids_that_are_forgotten_are_asked_for() -> None:
    def learn(words, ids, merges, count, choose, join):  # type: ignore[no-untyped-def]
        learned = []
        while len(learned) < merges and (counts := count(words)):
            learned.append(choose(counts, ids))
            words = {join(pieces, learned[-1]): times for pieces, times in words.items()}
        return learned

    worked_example, *_ = verdict("subwords.learn_merges", learn).cases
    assert "the token 'ay' has no id: give every merged token the next one" in worked_example.message
