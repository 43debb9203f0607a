"""The words of the toy grammar, form by form."""

from __future__ import annotations

from collections import Counter

import pytest

from course_lib.toys.lexicon import (
    ADJECTIVES,
    ADJECTIVES_OF_THE_LIVING,
    DETERMINERS,
    LIVING,
    MIXED,
    PREPOSITIONS,
    STRONG,
    THINGS,
    THIS,
    VERBS,
    VERBS_WITH_LIVING_OBJECT,
    VERBS_WITH_OBJECT,
    A,
    GermanCase,
    Noun,
    nouns,
    table,
)

NOUNS = {noun.english: noun for noun in LIVING + THINGS}


def test_a_table_has_a_row_for_each_case_and_a_column_for_each_gender() -> None:
    assert table("a b c d", "e f g h", "i - k l", stem="x") == {
        "nominative": {"m": "xa", "f": "xb", "n": "xc", "pl": "xd"},
        "accusative": {"m": "xe", "f": "xf", "n": "xg", "pl": "xh"},
        "dative": {"m": "xi", "f": "x", "n": "xk", "pl": "xl"},
    }
    with pytest.raises(ValueError, match="argument 2 is shorter|argument 2 is longer"):
        table("a b c", "e f g h", "i j k l")


def test_articles_and_endings() -> None:
    assert [A.german[case]["m"] for case in ("nominative", "accusative", "dative")] == ["ein", "einen", "einem"]
    assert THIS.german["dative"]["f"] == "dieser"
    assert (MIXED["nominative"]["n"], STRONG["dative"]["n"]) == ("es", "em")
    assert A.plural is None


@pytest.mark.parametrize(
    ("english", "case", "plural", "german"),
    [
        ("dog", "nominative", False, "Hund"),
        ("dog", "dative", False, "Hund"),
        ("dog", "accusative", True, "Hunde"),
        ("dog", "dative", True, "Hunden"),  # the dative plural adds -n
        ("child", "dative", True, "Kindern"),
        ("cat", "dative", True, "Katzen"),  # which ends in -n already
        ("car", "dative", True, "Autos"),  # nor behind -s
        ("boy", "nominative", False, "Junge"),
        ("boy", "accusative", False, "Jungen"),  # weak
        ("bear", "dative", False, "Bären"),
        ("bear", "nominative", True, "Bären"),
    ],
)
def test_the_forms_of_a_noun(english: str, case: GermanCase, plural: bool, german: str) -> None:
    assert NOUNS[english].in_german(case, plural) == german


def test_nouns_are_read_line_by_line() -> None:
    assert nouns("ox oxen m Ochse Ochsen weak\n  egg eggs n Ei Eier") == (
        Noun("ox", "oxen", "m", "Ochse", "Ochsen", weak=True),
        Noun("egg", "eggs", "n", "Ei", "Eier"),
    )


def test_every_gender_is_there_among_the_living_and_among_things() -> None:
    for some in (LIVING, THINGS):
        assert {noun.gender for noun in some} == {"m", "f", "n"}


def test_no_english_word_has_two_translations() -> None:
    verbs = VERBS + VERBS_WITH_OBJECT + VERBS_WITH_LIVING_OBJECT
    words = [form for noun in NOUNS.values() for form in (noun.english, noun.english_plural)]
    words += [verb.english for verb in verbs] + [english for english, _ in ADJECTIVES + ADJECTIVES_OF_THE_LIVING]
    assert max(Counter(words).values()) == 1


def test_verbs_know_the_case_of_their_object() -> None:
    assert {verb.object_case for verb in VERBS} == {None}
    assert {verb.object_case for verb in VERBS_WITH_OBJECT + VERBS_WITH_LIVING_OBJECT} == {"accusative", "dative"}
    assert {verb.english for verb in VERBS_WITH_LIVING_OBJECT if verb.prefix} == {"invited", "phoned"}


def test_prepositions_take_either_case() -> None:
    assert {preposition.case for preposition in PREPOSITIONS} == {"accusative", "dative"}


def test_every_determiner_has_all_its_forms() -> None:
    for determiner in DETERMINERS:
        for forms in (determiner.german, determiner.adjective_endings):
            assert forms.keys() == {"nominative", "accusative", "dative"}
            assert all(row.keys() == {"m", "f", "n", "pl"} for row in forms.values())
