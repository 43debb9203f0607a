"""A student's own pairs as a vocabulary of the library's, if there is time."""

from typing import Any

import pytest

from course_lib.scenes.sample import everyday_scenes
from course_lib.text import subwords
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.timed_merges import TooSlow, first_ids, learn_in_time, vocabulary_of, word_counts

TEXTS = [text for pair in everyday_scenes().training[:60] for text in (pair.source, pair.target)]
STEPS: dict[str, Any] = {
    "count": subwords.count_pairs,
    "choose": subwords.most_frequent_pair,
    "join": subwords.join,
}


def test_the_librarys_pieces_come_out_with_the_librarys_ids() -> None:
    theirs = SubwordVocabulary.train_bpe(TEXTS, 200, split_punctuation=True)
    words = word_counts(TEXTS)
    merges = learn_in_time(subwords.learn_merges, words, 200 - len(first_ids(words)), 1000, **STEPS)
    ours = vocabulary_of(words, merges)
    assert ours.tokenizer.get_vocab() == theirs.tokenizer.get_vocab()
    for text in [*TEXTS, "Ein neuer Satz, mit <s> darin, und Ξ."]:
        assert ours.encode(text) == theirs.encode(text)
    assert [ours.decode(ours.encode(text)) for text in TEXTS] == TEXTS


def test_a_punctuation_mark_is_a_word_of_its_own() -> None:
    assert word_counts(["a dog, a dog."]) == {("▁", "a"): 2, tuple("▁dog"): 2, (",",): 1, (".",): 1}


def test_what_would_take_too_long_is_given_up_early() -> None:
    words = word_counts(TEXTS)
    rounds = []

    def count(pieces: dict[subwords.Pieces, int]) -> Any:
        rounds.append(1)
        return subwords.count_pairs(pieces)

    with pytest.raises(TooSlow, match="10,000,000 pairs would take about"):
        learn_in_time(subwords.learn_merges, words, 10_000_000, 0.1, **{**STEPS, "count": count})
    assert len(rounds) <= 25
