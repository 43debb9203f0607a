"""Learning pairs: what costs a part, and what is asked for where it is forgotten."""

from __future__ import annotations

from course_lib import exercises
from tests.course_lib.exercises.judging import verdict


def test_pairs_that_are_to_be_replayed_make_a_new_piece_each() -> None:
    """Where two pairs made the same one, two honest readings of the paper would differ."""
    exercise = exercises.find("subwords.encode")
    for seed in range(30):
        for case in [*exercise.visible_cases(), *exercise.hidden_cases(seed)]:
            made = ["".join(pair) for pair in case.args[1]]
            assert len(set(made)) == len(made)


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
