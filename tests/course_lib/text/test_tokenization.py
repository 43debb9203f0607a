"""Words and characters to ids and back, and two texts as one input."""

import pytest

from course_lib.text.tokenization import (
    END_ID,
    PADDING_ID,
    SPECIAL,
    START_ID,
    UNKNOWN_ID,
    CharacterVocabulary,
    JoinedPair,
    WordVocabulary,
    join_pair,
)

VOCABULARY = WordVocabulary.from_sentences(["die Katze tanzte", "die Katze sah die Maus"])


def test_the_special_words_come_first_then_the_most_frequent_and_equals_in_alphabetical_order() -> None:
    assert WordVocabulary((*SPECIAL, "die", "Katze", "Maus", "sah", "tanzte")) == VOCABULARY
    assert WordVocabulary.from_sentences(["die Katze sah die Maus", "die Katze tanzte"]) == VOCABULARY


def test_encode_and_decode_are_inverse() -> None:
    ids = VOCABULARY.encode("die Maus sah die Katze")
    assert ids == [4, 6, 7, 4, 5]
    assert VOCABULARY.decode(ids) == "die Maus sah die Katze"


def test_an_unknown_word_is_unk() -> None:
    assert VOCABULARY.encode("die katze") == [4, UNKNOWN_ID]
    assert VOCABULARY.decode([4, UNKNOWN_ID]) == "die <unk>"


def test_decode_stops_at_the_end_and_skips_start_and_padding() -> None:
    assert VOCABULARY.decode([START_ID, PADDING_ID, 4, 5, END_ID, 6]) == "die Katze"
    assert VOCABULARY.decode([END_ID, PADDING_ID]) == ""
    assert VOCABULARY.decode([START_ID, 4, END_ID, 5], stop=False) == "<s> die <e> Katze"


def test_special_words_in_a_text_are_not_added_twice() -> None:
    assert WordVocabulary.from_sentences(["<s> die <e>"]).words == (*SPECIAL, "die")


def test_characters_are_in_the_order_of_their_code_points_and_come_back() -> None:
    characters = CharacterVocabulary.from_text("die Katze\n")
    assert characters == CharacterVocabulary("\n Kadeitz")
    assert characters.encode("Katze") == [2, 3, 7, 8, 5]
    assert characters.decode(characters.encode("die Katze\n")) == "die Katze\n"


@pytest.mark.parametrize(
    ("texts", "longest", "ids", "segments"),
    [
        (([5, 6], [7]), None, [1, 5, 6, 2, 7, 2], [0, 0, 0, 0, 1, 1]),
        (([5, 6],), None, [1, 5, 6, 2], [0, 0, 0, 0]),
        (([5], []), None, [1, 5, 2, 2], [0, 0, 0, 1]),
        (([5, 6, 7], [8, 9]), 9, [1, 5, 6, 7, 2, 8, 9, 2], [0, 0, 0, 0, 0, 1, 1, 1]),
        (([5, 6, 7], [8, 9]), 7, [1, 5, 6, 2, 8, 9, 2], [0, 0, 0, 0, 1, 1, 1]),
        (([5, 6, 7], [8, 9]), 6, [1, 5, 6, 2, 8, 2], [0, 0, 0, 0, 1, 1]),
        (([5, 6, 7], [8, 9]), 3, [1, 2, 2], [0, 0, 1]),
    ],
)
def test_texts_are_joined_and_the_longer_one_is_cut_first(
    texts: tuple[list[int], ...], longest: int | None, ids: list[int], segments: list[int]
) -> None:
    assert join_pair(*texts, cls_id=1, sep_id=2, max_length=longest) == JoinedPair(ids, segments)
