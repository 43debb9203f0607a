"""Byte-pair encoding and WordPiece against the `tokenizers` library."""

from collections import Counter

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
)
from course_lib.text.tokenization import SPECIAL
from course_lib.toys.grammar import toy_translation


def alphabet(texts: list[str]) -> tuple[Counter[tuple[str, ...]], dict[str, int]]:
    """The words of texts in characters, and the characters' ids, as the library numbers them."""
    words = Counter(tuple(word) for text in texts for word in marked_words(text))
    return words, {piece: i for i, piece in enumerate([*SPECIAL, *sorted({one for word in words for one in word})])}


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
