"""The everyday captions keep the rules that `everyday.md` gives them."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from nltk.stem import PorterStemmer

from course_lib.scenes.sample import BY_HAND, BY_RULE, everyday_captions
from course_lib.text.texts import SentencePair, read_pairs

FUNCTION_WORDS = set(
    """
    a about above across after again against all along already although always an and are around as at be
    because before behind between but by can cannot do does down each every everything five for four from front
    has have he her herself him himself his i in into is it its many may me much must my near next no nobody not
    nothing now of off on one only other our out over she so some somebody someone still than that the their
    them there they this three through to too two under until up us very was we when where while with without
    you your
    """.split()
)
"""Articles, pronouns, prepositions, conjunctions, auxiliaries, numerals, and adverbs of time and degree."""

IRREGULAR = dict(
    pair.split(":")
    for pair in """
        baking:bake bigger:big bought:buy built:build caught:catch children:child drawn:draw drunk:drink eaten:eat
        fallen:fall faster:fast fishermen:fisherman forgotten:forget found:find goes:go hidden:hide hung:hang
        left:leave longer:long lost:lose lying:lie men:man older:old policemen:policeman seen:see slept:sleep
        sold:sell stronger:strong taken:take taller:tall thrown:throw warmer:warm women:woman workmen:workman
        written:write
    """.split()
)
"""Forms that the stemmer does not lead back to the word."""

stem = PorterStemmer().stem


def words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[\w'-]+", text.lower()))


def content_words(text: str) -> list[str]:
    forms = [word.removesuffix("'").removesuffix("'s") for word in words(text)]
    return [stem(IRREGULAR.get(form, form)) for form in forms if form not in FUNCTION_WORDS]


def too_short_or_long(texts: Sequence[str]) -> set[str]:
    return {text for text in texts if not 4 <= len(words(text)) <= 9}


def near_twins(texts: Sequence[str]) -> set[str]:
    """Those that are an earlier one, once each of the two has lost at most one word."""
    seen: set[tuple[str, ...]] = set()
    found = set()
    for text in texts:
        whole = words(text)
        keys = {whole, *((*whole[:gap], *whole[gap + 1 :]) for gap in range(len(whole)))}
        if keys & seen:
            found.add(text)
        seen |= keys
    return found


def worn_openings(texts: Sequence[str]) -> set[str]:
    """The four words with which more than three begin."""
    openings = Counter(" ".join(words(text)[:4]) for text in texts)
    return {opening for opening, times in openings.items() if times > 3}


def rare_words(training: Sequence[str], held_out: Sequence[str] = ()) -> set[str]:
    """Content words that occur, but fewer than five times in training."""
    known = Counter(word for text in training for word in content_words(text))
    return {word for text in (*training, *held_out) for word in content_words(text) if known[word] < 5}


LANGUAGES = ("source", "target")


@pytest.fixture(scope="module")
def parts() -> tuple[list[SentencePair], list[SentencePair]]:
    return everyday_captions()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("faults", [too_short_or_long, near_twins, worn_openings])
def test_they_keep_the_rules(
    parts: tuple[list[SentencePair], list[SentencePair]], faults: Callable[[Sequence[str]], set[str]], language: str
) -> None:
    assert faults([getattr(pair, language) for part in parts for pair in part]) == set()


def test_their_words_are_few_and_none_is_rare(parts: tuple[list[SentencePair], list[SentencePair]]) -> None:
    training, held_out = ([pair.source for pair in part] for part in parts)
    assert (len(training), len(held_out)) == (1200, 200)
    assert rare_words(training, held_out) == set()
    assert 250 < len({word for text in training for word in content_words(text)}) <= 700


def test_none_is_among_the_other_captions(parts: tuple[list[SentencePair], list[SentencePair]]) -> None:
    others = {pair.source for path in (BY_RULE, BY_HAND) for pair in read_pairs(path)}
    assert not others & {pair.source for part in parts for pair in part}
