"""Words to ids and back."""

from __future__ import annotations

import pytest

from course_lib.tokenization import END_ID, PADDING_ID, SPECIAL, START_ID, UNKNOWN_ID, WordVocabulary

VOCABULARY = WordVocabulary.from_sentences(["die Katze tanzte", "die Katze sah die Maus"])


def test_the_special_words_come_first() -> None:
    assert VOCABULARY.words[:4] == ("<pad>", "<s>", "<e>", "<unk>")
    assert (PADDING_ID, START_ID, END_ID, UNKNOWN_ID) == (0, 1, 2, 3)


def test_then_the_most_frequent_and_equals_in_alphabetical_order() -> None:
    assert VOCABULARY.words[4:] == ("die", "Katze", "Maus", "sah", "tanzte")
    assert len(VOCABULARY) == 9


def test_the_order_of_the_sentences_does_not_matter() -> None:
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


def test_special_words_in_a_text_are_not_added_twice() -> None:
    assert WordVocabulary.from_sentences(["<s> die <e>"]).words == (*SPECIAL, "die")


@pytest.mark.parametrize(
    ("words", "message"),
    [(("die", "Katze"), "must begin with <pad>"), ((*SPECIAL, "die", "Maus", "die"), "'die' is there more than once")],
)
def test_an_ill_formed_vocabulary_is_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WordVocabulary(words)
