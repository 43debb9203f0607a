"""Byte-pair encoding and WordPiece by hand, and against the `tokenizers` library."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models

from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.subwords import (
    BytePairVocabulary,
    count_pairs,
    decode_pieces,
    encode_pieces,
    join,
    learn_merges,
    longest_pieces,
    marked_words,
    most_frequent_pair,
    pair_scores,
    vocabulary_size,
)
from course_lib.text.tokenization import END_ID, PADDING_ID, SPECIAL, START_ID, UNKNOWN_ID
from course_lib.toys.grammar import toy_translation

# The words of Sennrich et al. (2016), algorithm 1, as often as they stand there.
LOWEST = " ".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3)


def test_words_carry_their_space() -> None:
    assert marked_words(" die  Katze\n") == ["▁die", "▁Katze"]


def test_a_mark_in_the_text_is_a_space() -> None:
    assert marked_words("a▁b") == ["▁a", "▁b"]


@pytest.mark.parametrize(
    ("pieces", "merged"),
    [
        (("a", "b", "a", "b"), ("ab", "ab")),
        (("b", "a"), ("b", "a")),
        (("x", "a", "b"), ("x", "ab")),
        ((), ()),
    ],
)
def test_every_occurrence_is_joined(pieces: tuple[str, ...], merged: tuple[str, ...]) -> None:
    assert join(pieces, ("a", "b")) == merged


def test_overlapping_occurrences_are_joined_from_the_left() -> None:
    assert join(("a", "a", "a"), ("a", "a")) == ("aa", "a")


def test_pairs_are_counted_with_their_words() -> None:
    assert count_pairs({("a", "b", "a"): 2, ("a", "b"): 3}) == {("a", "b"): 5, ("b", "a"): 2}


def test_of_equally_frequent_pairs_the_smallest_ids_win() -> None:
    ids = {"a": 4, "b": 5, "c": 6, "ab": 7}
    assert most_frequent_pair({("ab", "c"): 2, ("b", "c"): 2, ("a", "a"): 1}, ids) == ("b", "c")
    assert most_frequent_pair({("b", "c"): 2, ("b", "a"): 2}, ids) == ("b", "a")


def test_merges_are_learned_without_changing_what_comes_in() -> None:
    words, ids = {("▁", "b", "a"): 2}, {"a": 0, "b": 1, "▁": 2}
    assert learn_merges(words, ids, merges=9) == [("b", "a"), ("▁", "ba")]
    assert words == {("▁", "b", "a"): 2}
    assert ids == {"a": 0, "b": 1, "▁": 2}


def test_pieces_of_a_text_and_back() -> None:
    merges = [("b", "a"), ("▁", "ba")]
    assert encode_pieces("ba  bab", merges) == ["▁ba", "▁ba", "b"]
    assert decode_pieces(["▁ba", "▁ba", "b"]) == "ba bab"
    assert decode_pieces(["b", "▁ba"]) == "b ba"


def test_gpt2_has_its_bytes_its_merges_and_one_special_token() -> None:
    assert vocabulary_size(256, 50_000, 1) == 50_257


class TestLearning:
    def test_the_papers_words(self) -> None:
        vocabulary = BytePairVocabulary.learn([LOWEST], merges=4)
        # The first three are the paper's. Then ▁-lo and lo-w, 7 times each: ▁, a character, has the smaller id.
        assert vocabulary.merges == (("e", "s"), ("es", "t"), ("l", "o"), ("▁", "lo"))
        assert vocabulary.cut("▁lowest") == ("▁lo", "w", "est")

    def test_ids_are_special_then_characters_then_pieces(self) -> None:
        vocabulary = BytePairVocabulary.learn(["ba ba"], merges=2)
        assert vocabulary.pieces == (*SPECIAL, "a", "b", "▁", "ba", "▁ba")
        assert vocabulary.encode("ba b") == [8, 6, 5]

    def test_a_tie_goes_to_the_smallest_id_on_the_left_and_then_on_the_right(self) -> None:
        assert BytePairVocabulary.learn(["cb ca"], merges=1).merges == (("▁", "c"),)  # twice
        assert BytePairVocabulary.learn(["bc", "ac", "ab"], merges=1).merges == (("▁", "a"),)  # twice
        assert BytePairVocabulary.learn(["cba"], merges=1).merges == (("b", "a"),)  # all once

    def test_ends_when_every_word_is_one_piece(self) -> None:
        vocabulary = BytePairVocabulary.learn(["ab"], merges=99)
        assert vocabulary.merges == (("a", "b"), ("▁", "ab"))

    @pytest.mark.parametrize("texts", [[], [" \n"], ["▁"]])
    def test_there_must_be_words(self, texts: list[str]) -> None:
        with pytest.raises(ValueError, match="the texts have no words"):
            BytePairVocabulary.learn(texts, merges=1)

    def test_a_negative_number_of_pairs_is_refused(self) -> None:
        with pytest.raises(ValueError, match="cannot be negative, got -1"):
            BytePairVocabulary.learn(["a"], merges=-1)


class TestCoding:
    VOCABULARY = BytePairVocabulary.learn([LOWEST], merges=8)

    def test_a_word_that_was_never_seen_has_pieces(self) -> None:
        text = "lowest wider"
        assert UNKNOWN_ID not in self.VOCABULARY.encode(text)
        assert self.VOCABULARY.decode(self.VOCABULARY.encode(text)) == text

    def test_an_unknown_character_is_unk(self) -> None:
        assert self.VOCABULARY.decode(self.VOCABULARY.encode("löw")) == "l<unk>w"

    def test_decoding_stops_at_the_end_and_skips_start_and_padding(self) -> None:
        ids = self.VOCABULARY.encode("low")
        assert self.VOCABULARY.decode([START_ID, *ids, PADDING_ID, END_ID, *ids]) == "low"

    def test_a_text_that_spells_a_special_token_is_a_text(self) -> None:
        assert START_ID not in BytePairVocabulary.learn(["<s> a"], merges=9).encode("<s>")

    def test_ids_outside_are_refused(self) -> None:
        with pytest.raises(ValueError, match="outside the vocabulary"):
            self.VOCABULARY.decode([len(self.VOCABULARY)])

    def test_pairs_must_lead_to_pieces(self) -> None:
        with pytest.raises(ValueError, match="'ab', which is not among the pieces"):
            BytePairVocabulary((*SPECIAL, "a", "b"), (("a", "b"),))


def library(texts: list[str], like: BytePairVocabulary) -> SubwordVocabulary:
    return SubwordVocabulary.train_bpe(texts, len(like))


# Few letters make many ties, overlaps and repetitions; the second alphabet has everything that can be written.
LETTERS = st.sampled_from("ab c")
ANYTHING = st.characters(exclude_categories=["Cs"])
TEXTS = st.lists(st.text(LETTERS, max_size=30) | st.text(ANYTHING, max_size=12), min_size=1, max_size=5)


@settings(max_examples=300)
@given(texts=TEXTS, merges=st.integers(0, 40), other=st.text(LETTERS) | st.text(ANYTHING))
def test_equals_the_library_on_any_text(texts: list[str], merges: int, other: str) -> None:
    if not any(marked_words(text) for text in texts):
        return
    ours = BytePairVocabulary.learn(texts, merges)
    theirs = library(texts, ours)
    assert theirs.tokenizer.get_vocab() == ours.ids
    for text in [*texts, other]:
        assert theirs.encode(text) == ours.encode(text)
        assert theirs.decode(ours.encode(text)) == ours.decode(ours.encode(text))


def test_equals_the_library_on_the_toy_grammar() -> None:
    german = [pair.target for pair in toy_translation(training=2000, held_out=1).training]
    ours = BytePairVocabulary.learn(german, merges=150)
    theirs = library(german, ours)
    assert theirs.tokens(range(len(theirs))) == list(ours.pieces)
    sample = random.Random(0).sample(german, 50)
    assert theirs.encode_all(sample) == [ours.encode(text) for text in sample]
    assert [ours.decode(ours.encode(text)) for text in sample] == sample


PIECES = ["un", "##aff", "##able", "a", "##b", "##a", "ab", "##bb"]


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("unaffable", ["un", "##aff", "##able"]),
        ("abbb", ["ab", "##bb"]),
        ("abab", ["ab", "##a", "##b"]),
        ("abx", ["[UNK]"]),
        ("b", ["[UNK]"]),
        ("", []),
    ],
)
def test_wordpiece_takes_the_longest_piece_from_the_left(word: str, pieces: list[str]) -> None:
    assert longest_pieces(word, PIECES) == pieces


@settings(max_examples=200)
@given(st.text("abuxfle", min_size=1, max_size=9))
def test_wordpiece_equals_the_library(word: str) -> None:
    library = models.WordPiece({piece: i for i, piece in enumerate([*PIECES, "[UNK]"])}, unk_token="[UNK]")
    assert [token.value for token in library.tokenize(word)] == longest_pieces(word, PIECES)


def test_a_rare_pair_of_rare_pieces_scores_best() -> None:
    words = {("t", "h", "e"): 9, ("q", "u"): 2, ("t", "o"): 5}
    scores = pair_scores(words)
    assert scores[("t", "h")] == 9 / (14 * 9)
    assert scores[("q", "u")] == 2 / (2 * 2)
    assert max(scores, key=scores.__getitem__) == ("q", "u")


def test_learning_takes_any_choice() -> None:
    words = {("t", "h", "e"): 9, ("q", "u"): 2, ("t", "o"): 5}
    ids = {character: i for i, character in enumerate("ehoqtu")}
    assert learn_merges(words, ids, 1) == [("h", "e")]
    best = learn_merges(words, ids, 2, pair_scores, lambda scores, ids: max(scores, key=scores.__getitem__))
    assert best == [("q", "u"), ("h", "e")]
