"""A small grammar that makes English sentences with their German translations.

The grammar is small enough to be learned in under a minute on a laptop, and German enough that word-by-word
translation fails:

- articles and adjectives agree with their noun in gender, number and case;
- the verb decides the case of its object (*sah den Hund*, but *half dem Hund*), a preposition decides that of its noun;
- the verb comes second in a main clause, whatever comes first (*gestern tanzte die Katze*), and last in a
  subordinate clause (*weil die Katze den Hund sah*);
- a separable prefix goes to the end (*lud den Hund ein*), and rejoins its verb in a subordinate clause (*weil sie den
  Hund einlud*).

Each English sentence has exactly one translation. Words and commas are separated by spaces.
"""

import functools
import math
import random
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from course_lib.text.texts import SentencePair
from course_lib.toys.lexicon import (
    ADJECTIVES,
    ADJECTIVES_OF_THE_LIVING,
    ADVERBS,
    CONJUNCTIONS,
    DETERMINERS,
    LIVING,
    PREPOSITIONS,
    THE,
    THINGS,
    VERBS,
    VERBS_WITH_LIVING_OBJECT,
    VERBS_WITH_OBJECT,
    Column,
    Determiner,
    GermanCase,
    Noun,
    Preposition,
    Verb,
)


@dataclass(frozen=True)
class NounPhrase:
    """A determiner, perhaps an adjective, and a noun: *the old cat*."""

    determiner: Determiner
    noun: Noun
    adjective: tuple[str, str] | None = None
    plural: bool = False

    @property
    def column(self) -> Column:
        """The column to look up endings in."""
        return "pl" if self.plural else self.noun.gender

    @property
    def english_determiner(self) -> str:
        """The determiner's form for this number; empty if there is no article."""
        form = self.determiner.plural if self.plural else self.determiner.singular
        assert form is not None, "as of *a* in the plural"
        return form

    @property
    def structure(self) -> str:
        """The phrase with kinds of words in place of the words, such as "the adjective f"."""
        return f"{self.english_determiner or 'no article'} {'adjective ' if self.adjective else ''}{self.column}"

    def in_english(self) -> list[str]:
        """Return the words, with *an* instead of *a* before a vowel."""
        determiner = self.english_determiner
        noun = self.noun.english_plural if self.plural else self.noun.english
        words = [self.adjective[0], noun] if self.adjective else [noun]
        if determiner == "a" and words[0].startswith(tuple("aeiou")):
            determiner = "an"
        return [determiner, *words] if determiner else words

    def in_german(self, case: GermanCase) -> list[str]:
        """Return the words, each with the ending of this case."""
        determiner = self.determiner.german[case][self.column]
        words = [determiner] if determiner else []
        if self.adjective:
            words.append(self.adjective[1] + self.determiner.adjective_endings[case][self.column])
        return [*words, self.noun.in_german(case, self.plural)]


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun as the subject."""

    english: str
    german: str
    plural: bool = False

    @property
    def structure(self) -> str:
        """The pronoun itself."""
        return self.english

    def in_english(self) -> list[str]:
        """Return the word."""
        return [self.english]

    def in_german(self, case: GermanCase) -> list[str]:
        """Return the word, in the nominative: in this grammar a pronoun is always the subject."""
        return [self.german]


PRONOUNS = (
    Pronoun("I", "ich"),
    Pronoun("he", "er"),
    Pronoun("she", "sie"),
    Pronoun("we", "wir", plural=True),
    Pronoun("they", "sie", plural=True),
)


@dataclass(frozen=True)
class Clause:
    """A subject, a verb, and what follows it: the verb's object, or a preposition with its phrase."""

    subject: NounPhrase | Pronoun
    verb: Verb
    complement: NounPhrase | None = None
    preposition: Preposition | None = None

    @property
    def structure(self) -> str:
        """The clause with kinds of words in place of words, such as "the f, verb, accusative, a adjective m"."""
        parts = [self.subject.structure, "separable verb" if self.verb.prefix else "verb"]
        if self.preposition:
            parts.append(f"preposition with {self.preposition.case}")
        elif self.verb.object_case:
            parts.append(self.verb.object_case)
        if self.complement:
            parts.append(self.complement.structure)
        return ", ".join(parts)

    def in_english(self) -> list[str]:
        """Return subject, verb and complement."""
        preposition = [self.preposition.english] if self.preposition else []
        complement = self.complement.in_english() if self.complement else []
        return [*self.subject.in_english(), self.verb.english, *preposition, *complement]

    def in_german(self, order: Literal["verb second", "verb first", "verb last"]) -> list[str]:
        """Return the clause as a main clause, as a main clause after an opening, or as a subordinate one."""
        subject = self.subject.in_german("nominative")
        verb = self.verb.plural if self.subject.plural else self.verb.singular
        prefix = [self.verb.prefix] if self.verb.prefix else []
        complement = self._complement_in_german()
        if order == "verb second":
            return [*subject, verb, *complement, *prefix]
        if order == "verb first":
            return [verb, *subject, *complement, *prefix]
        return [*subject, *complement, self.verb.prefix + verb]

    def _complement_in_german(self) -> list[str]:
        if self.complement is None:
            return []
        if self.preposition:
            return [self.preposition.german, *self.complement.in_german(self.preposition.case)]
        assert self.verb.object_case is not None
        return self.complement.in_german(self.verb.object_case)


@dataclass(frozen=True)
class Subordinate:
    """A conjunction and its clause: *because the cat danced*."""

    conjunction: tuple[str, str]
    clause: Clause

    def in_english(self) -> list[str]:
        """Return the conjunction, then an ordinary clause."""
        return [self.conjunction[0], *self.clause.in_english()]

    def in_german(self) -> list[str]:
        """Return the conjunction, then the clause with its verb at the end."""
        return [self.conjunction[1], *self.clause.in_german("verb last")]


@dataclass(frozen=True)
class Sentence:
    """A main clause, perhaps with an opening before it or a subordinate clause after it."""

    main: Clause
    opening: tuple[str, str] | Subordinate | None = None
    closing: Subordinate | None = None

    @property
    def clauses(self) -> list[Clause]:
        """The clauses, the main clause first."""
        opening = [self.opening.clause] if isinstance(self.opening, Subordinate) else []
        closing = [self.closing.clause] if self.closing else []
        return [self.main, *opening, *closing]

    def pair(self) -> SentencePair:
        """Return the sentence in both languages."""
        return SentencePair(" ".join(self.in_english()), " ".join(self.in_german()))

    def in_english(self) -> list[str]:
        """Return the words, with a comma only after a subordinate clause that comes first."""
        closing = self.closing.in_english() if self.closing else []
        return [*self._opening_in_english(), *self.main.in_english(), *closing]

    def in_german(self) -> list[str]:
        """Return the words; an opening takes the first place, so that the verb comes before the subject."""
        main = self.main.in_german("verb first" if self.opening else "verb second")
        closing = [",", *self.closing.in_german()] if self.closing else []
        return [*self._opening_in_german(), *main, *closing]

    def _opening_in_english(self) -> list[str]:
        if isinstance(self.opening, Subordinate):
            return [*self.opening.in_english(), ","]
        return [self.opening[0]] if self.opening else []

    def _opening_in_german(self) -> list[str]:
        if isinstance(self.opening, Subordinate):
            return [*self.opening.in_german(), ","]
        return [self.opening[1]] if self.opening else []


# --- Drawing sentences -----------------------------------------------------------------------------------------


def random_sentence(rng: random.Random) -> Sentence:
    """Draw a sentence of any structure."""
    main = random_clause(rng)
    form = rng.choice(["plain", "adverb", "subordinate first", "subordinate last"])
    if form == "adverb":
        return Sentence(main, opening=rng.choice(ADVERBS))
    if form == "subordinate first":
        return Sentence(main, opening=Subordinate(rng.choice(CONJUNCTIONS), random_clause(rng)))
    if form == "subordinate last":
        return Sentence(main, closing=Subordinate(rng.choice(CONJUNCTIONS), random_clause(rng)))
    return Sentence(main)


def random_clause(rng: random.Random) -> Clause:
    """Draw a clause with or without an object; subject and object never have the same noun."""
    subject = rng.choice(PRONOUNS) if rng.random() < 0.2 else random_noun_phrase(rng, LIVING)
    own = subject.noun if isinstance(subject, NounPhrase) else None
    living = [noun for noun in LIVING if noun is not own]
    kind = rng.choice(["alone", "with preposition", "with object", "with living object"])
    if kind == "with preposition":
        complement = random_noun_phrase(rng, [*living, *THINGS])
        return Clause(subject, rng.choice(VERBS), complement, rng.choice(PREPOSITIONS))
    if kind == "with object":
        return Clause(subject, rng.choice(VERBS_WITH_OBJECT), random_noun_phrase(rng, [*living, *THINGS]))
    if kind == "with living object":
        return Clause(subject, rng.choice(VERBS_WITH_LIVING_OBJECT), random_noun_phrase(rng, living))
    return Clause(subject, rng.choice(VERBS))


def random_noun_phrase(rng: random.Random, among: Sequence[Noun]) -> NounPhrase:
    """Draw a phrase around one of these nouns; half the phrases have an adjective."""
    noun = rng.choice(among)
    plural = rng.random() < 0.4
    fitting = [d for d in DETERMINERS if (d.plural if plural else d.singular) is not None]
    adjectives = ADJECTIVES + ADJECTIVES_OF_THE_LIVING if noun in LIVING else ADJECTIVES
    adjective = rng.choice(adjectives) if rng.random() < 0.5 else None
    return NounPhrase(rng.choice(fitting), noun, adjective, plural)


def log_probability(sentence: Sentence) -> float:
    """Return the natural logarithm of the probability that `random_sentence` draws this sentence.

    Each English sentence can be drawn in only one way, so this is its probability as an English sentence as well, and
    gives the lowest average loss that a language model of such sentences can have.
    """
    if isinstance(sentence.opening, tuple):
        opening = -math.log(len(ADVERBS))
    else:
        opening = -math.log(len(CONJUNCTIONS)) if sentence.opening or sentence.closing else 0.0
    return -math.log(4) + opening + sum(map(_log_probability_of_clause, sentence.clauses))


def _log_probability_of_clause(clause: Clause) -> float:
    """Return it for a clause from `random_clause`."""
    if isinstance(clause.subject, Pronoun):
        subject, others = math.log(0.2 / len(PRONOUNS)), len(LIVING)
    else:
        subject = math.log(0.8) + _log_probability_of_noun_phrase(clause.subject, len(LIVING))
        others = len(LIVING) - 1
    verbs = next(kind for kind in (VERBS, VERBS_WITH_OBJECT, VERBS_WITH_LIVING_OBJECT) if clause.verb in kind)
    total = subject - math.log(4) - math.log(len(verbs))
    if clause.preposition:
        total -= math.log(len(PREPOSITIONS))
    if clause.complement:
        among = others if verbs is VERBS_WITH_LIVING_OBJECT else others + len(THINGS)
        total += _log_probability_of_noun_phrase(clause.complement, among)
    return total


def _log_probability_of_noun_phrase(phrase: NounPhrase, among: int) -> float:
    """Return it for a phrase from `random_noun_phrase`, given this many nouns."""
    fitting = [d for d in DETERMINERS if (d.plural if phrase.plural else d.singular) is not None]
    adjectives = ADJECTIVES + ADJECTIVES_OF_THE_LIVING if phrase.noun in LIVING else ADJECTIVES
    adjective = len(adjectives) if phrase.adjective else 1
    return math.log((0.4 if phrase.plural else 0.6) * 0.5 / (among * len(fitting) * adjective))


def is_english(text: str) -> bool:
    """Return whether `random_sentence` could draw a text as an English sentence.

    One rule is not checked: that subject and object never have the same noun.
    """
    first, _, rest = text.partition(" ")
    conjunctions = [english for english, _ in CONJUNCTIONS]
    if first in (english for english, _ in ADVERBS):
        clauses = [rest]
    elif first in conjunctions:
        clauses = rest.split(" , ")
        if len(clauses) == 1:
            return False
    else:
        clauses = re.split(f" {_one_of(conjunctions)} ", text)
    return len(clauses) <= 2 and all(map(_english_clause().fullmatch, clauses))


@functools.cache
def _english_clause() -> re.Pattern[str]:
    living, thing = _phrases(LIVING, ADJECTIVES + ADJECTIVES_OF_THE_LIVING), _phrases(THINGS, ADJECTIVES)
    subject = _one_of([*living, *(pronoun.english for pronoun in PRONOUNS)])
    preposition = _one_of(preposition.english for preposition in PREPOSITIONS)
    alone, with_object, with_living_object = (
        _one_of(verb.english for verb in verbs) for verbs in (VERBS, VERBS_WITH_OBJECT, VERBS_WITH_LIVING_OBJECT)
    )
    return re.compile(
        f"{subject} (?:{alone}|(?:{alone} {preposition}|{with_object}) {_one_of([*living, *thing])}"
        f"|{with_living_object} {_one_of(living)})"
    )


def _phrases(nouns: Sequence[Noun], adjectives: Sequence[tuple[str, str]]) -> list[str]:
    """Return all phrases around these nouns, in English."""
    return [
        " ".join(NounPhrase(determiner, noun, adjective, plural).in_english())
        for plural in (False, True)
        for determiner in DETERMINERS
        if (determiner.plural if plural else determiner.singular) is not None
        for noun in nouns
        for adjective in (None, *adjectives)
    ]


def _one_of(texts: Iterable[str]) -> str:
    return f"(?:{'|'.join(texts)})"


THE_CAT_DANCED = Clause(NounPhrase(THE, LIVING[0]), VERBS[0])
"""*die Katze tanzte*, the course's first sentence."""

HELD_OUT_SHARE = 10
"""One clause structure in this many never occurs in training."""


def is_held_out(sentence: Sentence) -> bool:
    """Return whether a sentence is held out for testing: whether any of its clauses has a held-out structure.

    A fixed hash of the structure decides, so the answer is the same for every seed and size; the structure of
    `THE_CAT_DANCED` is always held out.
    """
    structures = [clause.structure for clause in sentence.clauses]
    return any(
        structure == THE_CAT_DANCED.structure or zlib.crc32(structure.encode()) % HELD_OUT_SHARE == 0
        for structure in structures
    )


@dataclass(frozen=True)
class Split:
    """Sentences to train on and sentences to test on.

    Each held-out sentence has a clause of a structure that no training sentence has, so knowing the training sentences
    by heart does not help.
    """

    training: list[SentencePair]
    held_out: list[SentencePair]


def toy_translation(training: int = 20_000, held_out: int = 1_000, seed: int = 0) -> Split:
    """Draw this many different sentences for each side of the split.

    Args:
        training: the number of sentences to train on.
        held_out: the number of sentences to test on.
        seed: decides which sentences.
    """
    rng = random.Random(seed)
    sides: dict[bool, dict[str, SentencePair]] = {False: {}, True: {}}
    wanted = {False: training, True: held_out}
    while any(len(sides[side]) < wanted[side] for side in sides):
        sentence = random_sentence(rng)
        side, pair = is_held_out(sentence), sentence.pair()
        if len(sides[side]) < wanted[side]:
            sides[side][pair.source] = pair
    return Split(list(sides[False].values()), list(sides[True].values()))
