"""Words and characters to ids and back, and two texts as one input."""

from __future__ import annotations

import pytest

from course_lib.text.tokenization import (
    END_ID,
    PADDING_ID,
    SPECIAL,
    START_ID,
    UNKNOWN_ID,
    CharacterVocabulary,
    WordVocabulary,
    join_pair,
)

VOCABULARY = WordVocabulary.from_sentences(["die Katze tanzte", "die Katze sah die Maus"])


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
    assert VOCABULARY.decode([END_ID, PADDING_ID]) == ""
    assert VOCABULARY.decode([START_ID, 4, END_ID, 5], stop=False) == "<s> die <e> Katze"


def test_special_words_in_a_text_are_not_added_twice() -> None:
    assert WordVocabulary.from_sentences(["<s> die <e>"]).words == (*SPECIAL, "die")


@pytest.mark.parametrize(
    ("words", "message"),
    [(("die", "Katze"), "must begin with <pad>"), ((*SPECIAL, "die", "Maus", "die"), "'die' is there more than once")],
)
def test_an_ill_formed_vocabulary_is_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WordVocabulary(words)


@pytest.mark.parametrize("wrong", [9, -1])
def test_an_id_outside_the_vocabulary_is_refused(wrong: int) -> None:
    with pytest.raises(ValueError, match=f"id {wrong} is outside the vocabulary: expected 0 to 8"):
        VOCABULARY.decode([4, wrong])


class TestCharacters:
    VOCABULARY = CharacterVocabulary.from_text("die Katze\n")

    def test_are_in_the_order_of_their_code_points(self) -> None:
        assert self.VOCABULARY.characters == "\n Kadeitz"
        assert len(self.VOCABULARY) == 9

    def test_encode_and_decode_are_inverse(self) -> None:
        assert self.VOCABULARY.encode("Katze") == [2, 3, 7, 8, 5]
        assert self.VOCABULARY.decode(self.VOCABULARY.encode("die Katze\n")) == "die Katze\n"

    def test_an_unknown_character_is_named(self) -> None:
        with pytest.raises(ValueError, match="holds 'r', which is not among the 9 known"):
            self.VOCABULARY.encode("Kater")

    def test_an_id_outside_is_refused(self) -> None:
        with pytest.raises(ValueError, match="id 9 is outside"):
            self.VOCABULARY.decode([9])

    def test_a_repeated_character_is_refused(self) -> None:
        with pytest.raises(ValueError, match="each character once"):
            CharacterVocabulary("aba")


class TestJoinPair:
    def test_two_texts(self) -> None:
        joined = join_pair([5, 6], [7], cls_id=1, sep_id=2)
        assert joined.ids == [1, 5, 6, 2, 7, 2]
        assert joined.segments == [0, 0, 0, 0, 1, 1]

    def test_one_text(self) -> None:
        joined = join_pair([5, 6], cls_id=1, sep_id=2)
        assert joined.ids == [1, 5, 6, 2]
        assert joined.segments == [0, 0, 0, 0]

    def test_an_empty_second_text_still_has_its_end(self) -> None:
        assert join_pair([5], [], cls_id=1, sep_id=2).ids == [1, 5, 2, 2]

    @pytest.mark.parametrize(
        ("longest", "ids"),
        [(9, [1, 5, 6, 7, 2, 8, 9, 2]), (7, [1, 5, 6, 2, 8, 9, 2]), (6, [1, 5, 6, 2, 8, 2]), (3, [1, 2, 2])],
    )
    def test_the_longer_text_is_cut_first(self, longest: int, ids: list[int]) -> None:
        assert join_pair([5, 6, 7], [8, 9], cls_id=1, sep_id=2, max_length=longest).ids == ids

    def test_the_special_ids_must_fit(self) -> None:
        with pytest.raises(ValueError, match="room for 3 special tokens, got 2"):
            join_pair([5], [6], cls_id=1, sep_id=2, max_length=2)
