"""The captions by rule: German as it should be, and enough of them.

Tests `writer.py` and `words.py`.
"""

from __future__ import annotations

import re

import pytest

from course_lib.scenes import words
from course_lib.scenes.writer import write_captions
from course_lib.text.texts import SentencePair


@pytest.fixture(scope="module")
def captions() -> list[SentencePair]:
    return write_captions(6000, seed=1)


def german_of(captions: list[SentencePair], english: str) -> str:
    return next(pair.target for pair in captions if re.fullmatch(english, pair.source))


def test_no_english_sentence_comes_twice_and_a_seed_gives_the_same_ones(captions: list[SentencePair]) -> None:
    assert len({pair.source for pair in captions}) == 6000
    assert write_captions(50, seed=1) == captions[:50]
    assert write_captions(50, seed=2) != captions[:50]


def test_each_is_one_sentence(captions: list[SentencePair]) -> None:
    for pair in captions:
        for text in (pair.source, pair.target):
            assert re.fullmatch(r"[A-ZÄÖÜ][^.;|=>+]*[^ ,]\.", text), pair
            assert "  " not in text


def test_articles_fit_the_gender_and_the_case(captions: list[SentencePair]) -> None:
    nouns = [*words.PEOPLE.values(), *words.ANIMALS.values(), *words.THINGS.values(), *words.CLOTHES.values()]
    gender = {form: noun.gender for noun in nouns for form in (noun.german, noun.germans if noun.weak else noun.german)}
    fitting = {"ein": "mn", "eine": "f", "einen": "m", "einem": "mn", "einer": "f"}
    found = 0
    for pair in captions:
        for article, noun in re.findall(r"\b([Ee]in\w*)(?: [a-zäöüß]+)? ([A-ZÄÖÜ]\w+)", pair.target):
            if noun in gender and article.lower() in fitting:
                assert gender[noun] in fitting[article.lower()], (article, noun, pair.target)
                found += 1
    assert found > 5000


def test_adjectives_end_as_their_article_asks(captions: list[SentencePair]) -> None:
    endings = {"eine": "e", "einen": "en", "einem": "en", "einer": "en", "ein": ("er", "es"), "zwei": "e", "drei": "e"}
    found = 0
    for pair in captions:
        for article, adjective in re.findall(r"\b([Ee]in\w*|[Zz]wei|[Dd]rei) ([a-zäöüß]+) [A-ZÄÖÜ]", pair.target):
            assert adjective.endswith(endings[article.lower()]), pair.target
            assert not adjective.endswith(("ee", "eer", "ees", "een")), pair.target
            found += 1
    assert found > 3000


def test_a_prefix_leaves_its_verb_in_a_main_clause_alone(captions: list[SentencePair]) -> None:
    main = german_of(captions, r"A (\w+ )?\w+ is putting up a tent\.")
    assert re.fullmatch(r"Eine? .* baut ein Zelt auf\.", main)
    assert any(re.search(r"während .* ein (\w+ )?Zelt auf(baut|bauen)\.", pair.target) for pair in captions)
    assert any(re.search(r"während .* einen (\w+ )?Drachen steigen l[aä]ss(t|en)\.", pair.target) for pair in captions)
    assert not any(re.search(r"während .* (baut|ruft|zieht)\b.* (auf|an|aus)\.", pair.target) for pair in captions)


def test_the_verb_is_second_after_a_place(captions: list[SentencePair]) -> None:
    starts = [pair.target for pair in captions if re.match(r"(In|On|At|Next to|Under|Behind)\b", pair.source)]
    assert len(starts) > 300
    lines = (words.ACTIVITIES + words.ANIMAL_ACTIVITIES).strip().split("\n")
    verbs = "|".join({form for line in lines for form in line.split("|")[1:3] if form})
    for target in starts:
        assert re.match(rf"[^,]+? ({verbs})( sich)? (eine?|zwei|drei) ", target), target


def test_weak_nouns_take_their_ending_outside_the_nominative(captions: list[SentencePair]) -> None:
    assert any("einem Jungen" in pair.target for pair in captions)
    assert not any(re.search(r"eine[nm] (Junge|Polizist|Bauer|Welpe)\b", pair.target) for pair in captions)


def test_several_people_wear_several_hats(captions: list[SentencePair]) -> None:
    for pair in captions:
        if re.match(r"(Two|Three) \w+ with ", pair.source):
            assert not re.match(r"(Two|Three) \w+ with (a|an) ", pair.source)
    assert any(re.search(r"mit (\w+ )?(Hüten|Mützen|Schals|Helmen)", pair.target) for pair in captions)
