"""WordPiece by hand, and against the `tokenizers` library."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models

from course_lib.subwords import learn_merges
from course_lib.wordpiece import longest_pieces, pair_scores

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
def test_the_longest_piece_from_the_left(word: str, pieces: list[str]) -> None:
    assert longest_pieces(word, PIECES) == pieces


@settings(max_examples=200, deadline=None)
@given(st.text("abuxfle", min_size=1, max_size=9))
def test_equals_the_library(word: str) -> None:
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
