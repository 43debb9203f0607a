"""Byte-pair encoding and WordPiece by hand, and against the `tokenizers` library."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models

from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.subwords import (
    decode_pieces,
    encode_pieces,
    learn_merges,
    longest_pieces,
    marked_words,
    pair_scores,
    vocabulary_size,
)
from course_lib.text.tokenization import SPECIAL
from course_lib.toys.grammar import toy_translation

# The words of Sennrich et al. (2016), algorithm 1, as often as they stand there.
LOWEST = " ".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3)


def test_merges_are_learned_without_changing_what_comes_in() -> None:
    words, ids = {("▁", "b", "a"): 2}, {"a": 0, "b": 1, "▁": 2}
    assert learn_merges(words, ids, merges=9) == [("b", "a"), ("▁", "ba")]
    assert words == {("▁", "b", "a"): 2}
    assert ids == {"a": 0, "b": 1, "▁": 2}


def test_gpt2_has_its_bytes_its_merges_and_one_special_token() -> None:
    assert vocabulary_size(256, 50_000, 1) == 50_257


def alphabet(texts: list[str]) -> tuple[Counter[tuple[str, ...]], dict[str, int]]:
    """The words of texts in characters, and the characters' ids, as the library numbers them."""
    words = Counter(tuple(word) for text in texts for word in marked_words(text))
    return words, {piece: i for i, piece in enumerate([*SPECIAL, *sorted({one for word in words for one in word})])}


@pytest.mark.parametrize(
    ("texts", "merges", "learned"),
    [
        # The first three are the paper's. Then ▁-lo and lo-w, 7 times each: ▁, a character, has the smaller id.
        ([LOWEST], 4, [("e", "s"), ("es", "t"), ("l", "o"), ("▁", "lo")]),
        (["cb ca"], 1, [("▁", "c")]),  # twice
        (["bc", "ac", "ab"], 1, [("▁", "a")]),  # twice
        (["cba"], 1, [("b", "a")]),  # all once
        (["ab"], 99, [("a", "b"), ("▁", "ab")]),  # every word is one piece
        ([" \n", "▁"], 9, []),
    ],
)
def test_pairs_learned_from_texts(texts: list[str], merges: int, learned: list[tuple[str, str]]) -> None:
    assert learn_merges(*alphabet(texts), merges) == learned


def assert_equals_the_library(texts: list[str], merges: int, others: list[str]) -> None:
    words, ids = alphabet(texts)
    learned = learn_merges(words, ids, merges)
    pieces = list(dict.fromkeys([*ids, *map("".join, learned)]))
    library = SubwordVocabulary.train_bpe(texts, len(pieces))
    assert library.tokens(range(len(library))) == pieces
    for text in [*texts, *others]:
        known = [piece if piece in pieces else "<unk>" for piece in encode_pieces(text, learned)]
        assert library.tokens(library.encode(text)) == known
        assert library.decode(library.encode(text)) == decode_pieces(known)


# Few letters make many ties, overlaps and repetitions; the second alphabet has everything that can be written.
LETTERS = st.sampled_from("ab c")
ANYTHING = st.characters(exclude_categories=["Cs"])
TEXTS = st.lists(st.text(LETTERS, max_size=30) | st.text(ANYTHING, max_size=12), min_size=1, max_size=5)


@settings(max_examples=300)
@given(texts=TEXTS, merges=st.integers(0, 40), other=st.text(LETTERS) | st.text(ANYTHING))
def test_equals_the_library_on_any_text(texts: list[str], merges: int, other: str) -> None:
    if not any(marked_words(text) for text in texts):
        return
    assert_equals_the_library(texts, merges, [other])


def test_equals_the_library_on_the_toy_grammar() -> None:
    german = [pair.target for pair in toy_translation(training=2000, held_out=1).training]
    assert_equals_the_library(german, 150, [])


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
