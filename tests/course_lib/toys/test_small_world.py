"""The small world: what its texts and labeled tasks promise."""

import random
from collections import Counter

from course_lib.toys import small_world
from course_lib.toys.small_world import (
    ANIMALS,
    COUPLES,
    ENTITIES,
    MEN,
    PEOPLE,
    PLACES,
    PREPOSITIONS,
    SHARED_VERBS,
    TAGS,
    WOMEN,
    hard_questions,
    headline,
    mentions,
    questions,
    same_kind,
    story,
    tagged,
    texts,
    who_acts,
)


def test_texts_are_those_of_their_seed() -> None:
    assert texts(50, seed=3) == texts(50, seed=3)
    assert texts(50, seed=3) != texts(50, seed=4)
    assert len(texts(50)) == 50
    assert all(len(text) > 1 for text in texts(200))


def test_every_word_has_one_tag_of_each_kind() -> None:
    for told in tagged(300, seed=0):
        assert len(told.words) == len(told.tags) == len(told.entities)
        assert set(told.tags) <= set(TAGS)
        assert set(told.entities) <= set(ENTITIES)


def test_later_sentences_of_a_story_speak_of_the_same_one() -> None:
    rng = random.Random(0)
    for _ in range(300):
        first, *later = story(rng)
        actor = next(word for word in first.words if word in PEOPLE + ANIMALS)
        pronouns = {word for told in later for word in told.words if word in ("she", "he", "it")}
        if actor in ANIMALS:
            assert pronouns <= {"it"}
        assert len(pronouns - {"it"}) <= 1


def test_the_headline_is_ambiguous() -> None:
    rng = random.Random(0)
    readings = Counter(
        (told.tags[1], told.tags[2])
        for told in (headline(rng)[0] for _ in range(5000))
        if told.words[1:3] == ("left", "waffles")
    )
    assert set(readings) == {("VERB", "NOUN"), ("NOUN", "VERB")}
    assert min(readings.values()) > 10


def test_who_acts_is_told_by_the_first_noun_alone() -> None:
    examples = who_acts(500, seed=1)
    assert 200 < sum(label for _, label in examples) < 300
    for text, label in examples:
        nouns = [word for word in text.split() if word in PEOPLE + ANIMALS]
        assert [noun in PEOPLE for noun in nouns] == [label == 1, label == 0]
        assert sum(word in SHARED_VERBS for word in text.split()) == 1


def test_same_kind_needs_both_nouns() -> None:
    examples = same_kind(1000, seed=1)
    found: Counter[tuple[bool, bool, int]] = Counter()
    for text, label in examples:
        first, second = (word in PEOPLE for word in text.split() if word in PEOPLE + ANIMALS)
        found[first, second, label] += 1
    assert all(label == (first == second) for first, second, label in found)
    assert len(found) == 4
    assert min(found.values()) > 200


def test_answers_stand_where_they_are_said_to() -> None:
    for asked in questions(300, seed=0):
        words = asked.text.split()
        verb = next(place for place, word in enumerate(words) if word in SHARED_VERBS)
        if asked.question == "who did it ?":
            assert asked.last == verb - 1
        elif asked.question == "to whom ?":
            assert asked.first == verb + 1
        else:
            assert asked.last == len(words) - 2
            assert asked.answer.split()[0] in PREPOSITIONS
        assert asked.answer.split()[-1] in PEOPLE + ANIMALS + PLACES


def test_hard_questions_and_their_answers_say_what_one_of_two_sentences_says() -> None:
    kinds: Counter[str] = Counter()
    for asked in hard_questions(300, seed=0):
        *said, end = asked.question.split()
        assert end == "?"
        said[0 if said[0] == "who" else -1] = asked.answer
        assert asked.text.count(" .") == 2
        assert f" {' '.join(said)} " in f" {asked.text} "
        kinds[next(word for word in asked.question.split() if word in ("who", "whom", "where"))] += 1
    assert min(kinds[word] for word in ("who", "whom", "where")) > 60


def test_whom_a_sentence_is_about_needs_both_of_two() -> None:
    found: Counter[tuple[str, int, str]] = Counter()
    for pair in mentions(800, seed=0):
        actor, other = (word for word in pair.first.split() if word in PEOPLE + ANIMALS)
        pronouns = {"it": ANIMALS, "she": WOMEN, "he": MEN}
        pronoun = pair.second.split()[0]
        assert (actor in pronouns[pronoun], other in pronouns[pronoun]) == ((True, False), (False, True))[pair.label]
        assert (actor in ANIMALS or other in ANIMALS) == (pair.kinds == COUPLES[0])
        found[pair.kinds, pair.label, "it" if pronoun == "it" else "person"] += 1
    assert len(found) == 6
    assert min(found.values()) > 60


def test_nouns_are_of_one_kind() -> None:
    kinds = (PEOPLE, ANIMALS, small_world.FOOD, small_world.THINGS, small_world.READABLE, small_world.PLACES)
    nouns = [noun for kind in kinds for noun in kind]
    assert len(nouns) == len(set(nouns))
