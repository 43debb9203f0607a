"""The toy grammar, sentence by sentence, and its split."""

import math
import random
from collections import Counter

import pytest

from course_lib.text.texts import SentencePair
from course_lib.toys.grammar import (
    PRONOUNS,
    THE_CAT_DANCED,
    Clause,
    NounPhrase,
    Pronoun,
    Sentence,
    Subordinate,
    is_english,
    is_held_out,
    log_probability,
    random_sentence,
    toy_translation,
)
from course_lib.toys.lexicon import (
    ADJECTIVES,
    ADJECTIVES_OF_THE_LIVING,
    ADVERBS,
    CONJUNCTIONS,
    DETERMINERS,
    LIVING,
    PREPOSITIONS,
    THINGS,
    VERBS,
    VERBS_WITH_LIVING_OBJECT,
    VERBS_WITH_OBJECT,
)

# --- Reading English, to say in a test which sentence is meant ----------------------------------------------------


def phrase(text: str) -> NounPhrase | Pronoun:
    pronoun = next((p for p in PRONOUNS if p.english == text), None)
    if pronoun:
        return pronoun
    *before, word = text.split()
    noun, plural = next(
        (noun, word == noun.english_plural) for noun in LIVING + THINGS if word in (noun.english, noun.english_plural)
    )
    adjective = next((a for a in ADJECTIVES + ADJECTIVES_OF_THE_LIVING if before and a[0] == before[-1]), None)
    if adjective:
        before.pop()
    form = {"an": "a"}.get(before[0], before[0]) if before else ""
    determiner = next(d for d in DETERMINERS if (d.plural if plural else d.singular) == form)
    return NounPhrase(determiner, noun, adjective, plural)


def clause(text: str) -> Clause:
    words = text.split()
    verbs = {verb.english: verb for verb in VERBS + VERBS_WITH_OBJECT + VERBS_WITH_LIVING_OBJECT}
    place = next(i for i, word in enumerate(words) if word in verbs)
    subject, verb, rest = phrase(" ".join(words[:place])), verbs[words[place]], words[place + 1 :]
    preposition = next((p for p in PREPOSITIONS if rest and p.english == rest[0]), None)
    if preposition:
        rest = rest[1:]
    complement = phrase(" ".join(rest)) if rest else None
    assert not isinstance(complement, Pronoun)
    return Clause(subject, verb, complement, preposition)


def sentence(text: str) -> Sentence:
    adverbs, conjunctions = dict(ADVERBS), dict(CONJUNCTIONS)
    first, _, rest = text.partition(" ")
    if first in adverbs:
        return Sentence(clause(rest), opening=(first, adverbs[first]))
    if first in conjunctions:
        inner, main = rest.split(" , ")
        return Sentence(clause(main), opening=Subordinate((first, conjunctions[first]), clause(inner)))
    for english, german in CONJUNCTIONS:
        main, found, inner = text.partition(f" {english} ")
        if found:
            return Sentence(clause(main), closing=Subordinate((english, german), clause(inner)))
    return Sentence(clause(text))


# Each translation was written by hand.
TRANSLATIONS = {
    # articles: gender, number, case
    "the cat danced": "die Katze tanzte",
    "the dog slept": "der Hund schlief",
    "the girl sang": "das Mädchen sang",
    "the children laughed": "die Kinder lachten",
    "the cat saw the dog": "die Katze sah den Hund",
    "the dog saw the cat": "der Hund sah die Katze",
    "a woman found a tree": "eine Frau fand einen Baum",
    "a king loved a queen": "ein König liebte eine Königin",
    "a child painted a house": "ein Kind malte ein Haus",
    "this man carried this door": "dieser Mann trug diese Tür",
    "this horse saw this tree": "dieses Pferd sah diesen Baum",
    "these birds found these apples": "diese Vögel fanden diese Äpfel",
    "my cow loved my dog": "meine Kuh liebte meinen Hund",
    "my pig found my books": "mein Schwein fand meine Bücher",
    # verbs that take the dative
    "the man helped the woman": "der Mann half der Frau",
    "the woman helped the man": "die Frau half dem Mann",
    "the queen thanked the child": "die Königin dankte dem Kind",
    "the dogs followed the horses": "die Hunde folgten den Pferden",
    "a girl followed a bird": "ein Mädchen folgte einem Vogel",
    "we thanked this woman": "wir dankten dieser Frau",
    "they helped these men": "sie halfen diesen Männern",
    "he thanked my girls": "er dankte meinen Mädchen",
    # adjectives: weak, mixed, strong
    "the old cat danced": "die alte Katze tanzte",
    "the old dog danced": "der alte Hund tanzte",
    "the old horse danced": "das alte Pferd tanzte",
    "the old cats danced": "die alten Katzen tanzten",
    "an old dog danced": "ein alter Hund tanzte",
    "an old cat danced": "eine alte Katze tanzte",
    "an old horse danced": "ein altes Pferd tanzte",
    "old dogs danced": "alte Hunde tanzten",
    "I saw the small bird": "ich sah den kleinen Vogel",
    "I saw a small bird": "ich sah einen kleinen Vogel",
    "I saw a small house": "ich sah ein kleines Haus",
    "I saw the small house": "ich sah das kleine Haus",
    "I saw small birds": "ich sah kleine Vögel",
    "she helped a hungry mouse": "sie half einer hungrigen Maus",
    "she helped the hungry child": "sie half dem hungrigen Kind",
    "she helped hungry children": "sie half hungrigen Kindern",
    "my tired queen slept": "meine müde Königin schlief",
    "my tired man slept": "mein müder Mann schlief",
    "my tired child slept": "mein müdes Kind schlief",
    "these big tables danced": "diese großen Tische tanzten",
    # weak nouns
    "the boy saw the boy": "der Junge sah den Jungen",
    "the bear helped the bear": "der Bär half dem Bären",
    "a clever boy followed a clever bear": "ein kluger Junge folgte einem klugen Bären",
    "the boys saw the bears": "die Jungen sahen die Bären",
    # datives of the plural that end in -n or -s already
    "cats followed women": "Katzen folgten Frauen",
    "the dog slept beside the cars": "der Hund schlief neben den Autos",
    # prepositions
    "the cat danced with the dog": "die Katze tanzte mit dem Hund",
    "the cat danced without the dog": "die Katze tanzte ohne den Hund",
    "we played behind a beautiful tree": "wir spielten hinter einem schönen Baum",
    "they worked without a famous king": "sie arbeiteten ohne einen berühmten König",
    "I waited beside the flowers": "ich wartete neben den Blumen",
    # separable verbs
    "the king invited the queen": "der König lud die Königin ein",
    "we phoned a strange man": "wir riefen einen seltsamen Mann an",
    # the verb second
    "yesterday the cat danced": "gestern tanzte die Katze",
    "sometimes she saw the cat": "manchmal sah sie die Katze",
    "today we invited the happy children": "heute luden wir die glücklichen Kinder ein",
    "suddenly an angry horse followed the car": "plötzlich folgte ein wütendes Pferd dem Auto",
    # the verb last
    "the dog slept because the cat danced": "der Hund schlief , weil die Katze tanzte",
    "I laughed while the dog saw the cat": "ich lachte , während der Hund die Katze sah",
    "she sang although he invited the king": "sie sang , obwohl er den König einlud",
    "we slept before they phoned the young women": "wir schliefen , bevor sie die jungen Frauen anriefen",
    "when the cat danced , the dog slept": "als die Katze tanzte , schlief der Hund",
    "because a boy played with a cat , he invited my mouse": "weil ein Junge mit einer Katze spielte , "
    "lud er meine Maus ein",
}


@pytest.mark.parametrize(("english", "german"), TRANSLATIONS.items())
def test_translations_by_hand(english: str, german: str) -> None:
    assert sentence(english).pair() == SentencePair(english, german)


class TestRandomSentences:
    SENTENCES = [random_sentence(random.Random(seed)) for seed in range(3000)]

    def test_one_english_sentence_has_one_translation(self) -> None:
        german: dict[str, str] = {}
        for pair in (s.pair() for s in self.SENTENCES):
            assert german.setdefault(pair.source, pair.target) == pair.target

    def test_are_read_back_as_what_they_are(self) -> None:
        for drawn in self.SENTENCES:
            assert sentence(drawn.pair().source).pair() == drawn.pair()

    def test_use_every_word(self) -> None:
        words = Counter(word for s in self.SENTENCES for word in s.pair().source.split())
        for noun in LIVING + THINGS:
            assert words[noun.english]
            assert words[noun.english_plural]
        for verb in VERBS + VERBS_WITH_OBJECT + VERBS_WITH_LIVING_OBJECT:
            assert words[verb.english]
        for english, _ in ADJECTIVES + ADJECTIVES_OF_THE_LIVING + ADVERBS + CONJUNCTIONS:
            assert words[english]

    def test_about_one_clause_in_ten_is_held_out(self) -> None:
        single = [s for s in self.SENTENCES if len(s.clauses) == 1]
        assert 0.05 < sum(is_held_out(s) for s in single) / len(single) < 0.2


class TestProbabilities:
    @pytest.mark.parametrize(
        ("text", "probability"),
        [
            ("I danced", 1 / 4 * 0.2 / 5 * 1 / 4 / 7),
            ("today I danced", 1 / 4 / 4 * 0.2 / 5 * 1 / 4 / 7),
            ("the cat danced", 1 / 4 * 0.8 * (1 / 15 * 0.6 / 4 * 0.5) * 1 / 4 / 7),
            ("we saw my old doors", 1 / 4 * 0.2 / 5 * 1 / 4 / 5 * (1 / 23 * 0.4 / 4 * 0.5 / 6)),
            ("a cat helped happy dogs", 1 / 4 * 0.8 * (1 / 15 * 0.6 / 4 * 0.5) / 4 / 5 * (1 / 14 * 0.4 / 4 * 0.5 / 12)),
            ("I sang with a dog", 1 / 4 * 0.2 / 5 * 1 / 4 / 7 / 4 * (1 / 23 * 0.6 / 4 * 0.5)),
            ("I sang because he slept", 1 / 4 / 5 * (0.2 / 5 * 1 / 4 / 7) ** 2),
        ],
    )
    def test_of_sentences_by_hand(self, text: str, probability: float) -> None:
        assert math.exp(log_probability(sentence(text))) == pytest.approx(probability)

    def test_are_those_of_the_drawing(self) -> None:
        """Of the draws, as many repeat none of the others as the probabilities say."""
        rng, draws = random.Random(4), 20_000
        drawn = [random_sentence(rng) for _ in range(draws)]
        texts = Counter(one.pair().source for one in drawn)
        expected = sum((1 - math.exp(log_probability(one))) ** (draws - 1) for one in drawn)
        assert sum(texts[one.pair().source] == 1 for one in drawn) == pytest.approx(expected, rel=0.01)


class TestEnglish:
    def test_is_what_is_drawn(self) -> None:
        rng = random.Random(5)
        assert all(is_english(random_sentence(rng).pair().source) for _ in range(100))

    @pytest.mark.parametrize(
        "text",
        (
            ";danced;the cat;cat danced;a angry cat slept;an cat slept;the cat cat danced;these cat slept;"
            "this cats slept;cats helped a door;a hungry door slept;the cat slept dogs;I danced , he slept;"
            "because I danced he slept;I danced , because he slept;today , I danced;the cat danced .;The cat danced;"
            "with a cat;I saw"
        ).split(";"),
    )
    def test_is_nothing_else(self, text: str) -> None:
        assert not is_english(text)


def test_there_are_more_than_a_hundred_thousand_sentences() -> None:
    rng = random.Random(0)
    drawn = {" ".join(random_sentence(rng).in_english()) for _ in range(120_000)}
    assert len(drawn) > 100_000


class TestSplit:
    def test_is_as_large_as_asked_and_without_repetition(self) -> None:
        split = toy_translation(training=500, held_out=100)
        assert len({pair.source for pair in split.training}) == 500
        assert len({pair.source for pair in split.held_out}) == 100

    def test_every_held_out_sentence_has_a_structure_that_is_never_trained(self) -> None:
        split = toy_translation(training=2000, held_out=300)
        trained = {c.structure for pair in split.training for c in sentence(pair.source).clauses}
        for pair in split.held_out:
            assert {c.structure for c in sentence(pair.source).clauses} - trained

    def test_structure_leaves_out_the_words_and_keeps_the_grammar(self) -> None:
        assert clause("the old dog saw a cat").structure == "the adjective m, verb, accusative, a f"
        assert clause("the clever man found a door").structure == clause("the old dog saw a cat").structure
        different = [
            "the old dog saw a tree",  # gender of the object
            "the old dogs saw a cat",  # number of the subject
            "this old dog saw a cat",  # determiner
            "the dog saw a cat",  # adjective
            "the old dog helped a cat",  # case
            "the old dog invited a cat",  # separable prefix
            "the old dog danced without a cat",  # preposition
        ]
        assert len({clause(text).structure for text in different} | {clause("the old dog saw a cat").structure}) == 8

    @pytest.mark.parametrize("seed", range(3))
    def test_the_cat_never_dances_in_training(self, seed: int) -> None:
        split = toy_translation(training=5000, held_out=1, seed=seed)
        assert all(
            c.structure != THE_CAT_DANCED.structure for pair in split.training for c in sentence(pair.source).clauses
        )
        assert "the cat danced" not in {pair.source for pair in split.training}

    def test_the_seed_decides(self) -> None:
        assert toy_translation(50, 10, seed=1) == toy_translation(50, 10, seed=1)
        assert toy_translation(50, 10, seed=1) != toy_translation(50, 10, seed=2)
