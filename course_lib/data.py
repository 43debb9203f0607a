"""Data to learn from: a small grammar that makes English sentences with their German translations, and batches.

The grammar is small enough to be learned in under a minute on a laptop, and German enough that word-by-word
translation fails:

- articles and adjectives agree with their noun in gender, number and case;
- the verb decides the case of its object (*sah den Hund*, but *half dem Hund*), the preposition that of its own;
- the verb stands second in a main clause, whatever comes first (*gestern tanzte die Katze*), and last in a
  subordinate clause (*weil die Katze den Hund sah*);
- a separable prefix stands at the end (*lud den Hund ein*), and returns to its verb there (*weil sie den Hund einlud*).

Each English sentence has exactly one translation. Words and commas are separated by spaces.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from course_lib.tokenization import END_ID, PADDING_ID, START_ID, WordVocabulary

GermanCase = Literal["nominative", "accusative", "dative"]
Column = Literal["m", "f", "n", "pl"]
"""Gender in the singular; in the plural German tells no genders apart."""
Table = dict[GermanCase, dict[Column, str]]

# --- The words -------------------------------------------------------------------------------------------------


def table(nominative: str, accusative: str, dative: str, stem: str = "") -> Table:
    """A table of forms: each case lists masculine, feminine, neuter and plural; "-" is an empty ending."""
    columns: tuple[Column, ...] = ("m", "f", "n", "pl")
    rows: dict[GermanCase, str] = {"nominative": nominative, "accusative": accusative, "dative": dative}
    return {
        case: {column: stem + ending.strip("-") for column, ending in zip(columns, row.split(), strict=True)}
        for case, row in rows.items()
    }


# What an adjective ends in depends on how much the determiner before it has already said.
WEAK = table("e e e en", "en e e en", "en en en en")
MIXED = table("er e es en", "en e es en", "en en en en")
STRONG = table("er e es e", "en e es e", "em er em en")


@dataclass(frozen=True)
class Determiner:
    """An article or its like; `singular` or `plural` is None where English has no such form."""

    singular: str | None
    plural: str | None
    german: Table
    adjective_endings: Table


THE = Determiner("the", "the", table("der die das die", "den die das die", "dem der dem den"), WEAK)
THIS = Determiner("this", "these", table("er e es e", "en e es e", "em er em en", stem="dies"), WEAK)
A = Determiner("a", None, table("- e - -", "en e - -", "em er em -", stem="ein"), MIXED)
MY = Determiner("my", "my", table("- e - e", "en e - e", "em er em en", stem="mein"), MIXED)
NO_ARTICLE = Determiner(None, "", table("- - - -", "- - - -", "- - - -"), STRONG)
DETERMINERS = (THE, THIS, A, MY, NO_ARTICLE)


@dataclass(frozen=True)
class Noun:
    """A noun in both languages. A weak one takes the form of its plural in every case but the nominative."""

    english: str
    english_plural: str
    gender: Column
    german: str
    german_plural: str
    weak: bool = False

    def in_german(self, case: GermanCase, plural: bool) -> str:
        """The noun's form: the dative plural adds -n, except after -n and -s."""
        if plural:
            needs_n = case == "dative" and not self.german_plural.endswith(("n", "s"))
            return self.german_plural + "n" * needs_n
        return self.german_plural if self.weak and case != "nominative" else self.german


def nouns(rows: str) -> tuple[Noun, ...]:
    """One noun a line: English, its plural, gender, German, its plural, and perhaps "weak"."""
    genders: dict[str, Column] = {"m": "m", "f": "f", "n": "n"}
    found = []
    for row in rows.strip().splitlines():
        english, english_plural, gender, german, german_plural, *weak = row.split()
        found.append(Noun(english, english_plural, genders[gender], german, german_plural, weak == ["weak"]))
    return tuple(found)


LIVING = nouns("""
    cat     cats      f  Katze    Katzen
    mouse   mice      f  Maus     Mäuse
    cow     cows      f  Kuh      Kühe
    woman   women     f  Frau     Frauen
    queen   queens    f  Königin  Königinnen
    dog     dogs      m  Hund     Hunde
    bird    birds     m  Vogel    Vögel
    man     men       m  Mann     Männer
    king    kings     m  König    Könige
    boy     boys      m  Junge    Jungen      weak
    bear    bears     m  Bär      Bären       weak
    horse   horses    n  Pferd    Pferde
    pig     pigs      n  Schwein  Schweine
    child   children  n  Kind     Kinder
    girl    girls     n  Mädchen  Mädchen
""")
THINGS = nouns("""
    flower  flowers   f  Blume    Blumen
    door    doors     f  Tür      Türen
    tree    trees     m  Baum     Bäume
    table   tables    m  Tisch    Tische
    apple   apples    m  Apfel    Äpfel
    house   houses    n  Haus     Häuser
    book    books     n  Buch     Bücher
    car     cars      n  Auto     Autos
""")

# English and the German stem, to which the ending is added.
ADJECTIVES = (
    ("small", "klein"),
    ("big", "groß"),
    ("old", "alt"),
    ("beautiful", "schön"),
    ("strange", "seltsam"),
    ("famous", "berühmt"),
)
ADJECTIVES_OF_THE_LIVING = (
    ("young", "jung"),
    ("tired", "müd"),
    ("hungry", "hungrig"),
    ("angry", "wütend"),
    ("clever", "klug"),
    ("happy", "glücklich"),
)


@dataclass(frozen=True)
class Verb:
    """A verb in the past tense, first and third person.

    Attributes:
        english: one form for every person and number.
        singular: ich, er, sie, es.
        plural: wir, sie.
        object_case: the case of its object; None for a verb without one.
        prefix: the separable prefix, such as *ein* of *einladen*.
    """

    english: str
    singular: str
    plural: str
    object_case: GermanCase | None = None
    prefix: str = ""


VERBS = (
    Verb("danced", "tanzte", "tanzten"),
    Verb("slept", "schlief", "schliefen"),
    Verb("laughed", "lachte", "lachten"),
    Verb("sang", "sang", "sangen"),
    Verb("waited", "wartete", "warteten"),
    Verb("played", "spielte", "spielten"),
    Verb("worked", "arbeitete", "arbeiteten"),
)
VERBS_WITH_OBJECT = (
    Verb("saw", "sah", "sahen", "accusative"),
    Verb("found", "fand", "fanden", "accusative"),
    Verb("loved", "liebte", "liebten", "accusative"),
    Verb("painted", "malte", "malten", "accusative"),
    Verb("carried", "trug", "trugen", "accusative"),
)
VERBS_WITH_LIVING_OBJECT = (
    Verb("helped", "half", "halfen", "dative"),
    Verb("followed", "folgte", "folgten", "dative"),
    Verb("thanked", "dankte", "dankten", "dative"),
    Verb("invited", "lud", "luden", "accusative", prefix="ein"),
    Verb("phoned", "rief", "riefen", "accusative", prefix="an"),
)


@dataclass(frozen=True)
class Preposition:
    """A preposition and the case that it demands."""

    english: str
    german: str
    case: GermanCase


PREPOSITIONS = (
    Preposition("with", "mit", "dative"),
    Preposition("without", "ohne", "accusative"),
    Preposition("behind", "hinter", "dative"),
    Preposition("beside", "neben", "dative"),
)
ADVERBS = (
    ("yesterday", "gestern"),
    ("today", "heute"),
    ("sometimes", "manchmal"),
    ("suddenly", "plötzlich"),
)
CONJUNCTIONS = (
    ("because", "weil"),
    ("although", "obwohl"),
    ("while", "während"),
    ("before", "bevor"),
    ("when", "als"),
)

# --- The sentences ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NounPhrase:
    """A determiner, perhaps an adjective, and a noun: *the old cat*."""

    determiner: Determiner
    noun: Noun
    adjective: tuple[str, str] | None = None
    plural: bool = False

    @property
    def column(self) -> Column:
        """Where to look up endings."""
        return "pl" if self.plural else self.noun.gender

    @property
    def english_determiner(self) -> str:
        """The determiner's form for this number; empty where there is no article."""
        form = self.determiner.plural if self.plural else self.determiner.singular
        if form is None:
            raise ValueError(f"English has no {'plural' if self.plural else 'singular'} of {self.determiner}")
        return form

    @property
    def structure(self) -> str:
        """The phrase with kinds of words in place of words, such as "the adjective f"."""
        return f"{self.english_determiner or 'no article'} {'adjective ' if self.adjective else ''}{self.column}"

    def in_english(self) -> list[str]:
        """The words, with *an* for *a* before a vowel."""
        determiner = self.english_determiner
        noun = self.noun.english_plural if self.plural else self.noun.english
        words = [self.adjective[0], noun] if self.adjective else [noun]
        if determiner == "a" and words[0].startswith(tuple("aeiou")):
            determiner = "an"
        return [determiner, *words] if determiner else words

    def in_german(self, case: GermanCase) -> list[str]:
        """The words, each with the ending of this case."""
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
        """The word."""
        return [self.english]

    def in_german(self, case: GermanCase) -> list[str]:
        """The word; there is only the nominative here."""
        if case != "nominative":
            raise ValueError(f"a pronoun of this grammar is a subject, so there is no {case} of {self.german!r}")
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
    """A subject, a verb, and what follows: the verb's object, or a preposition with its phrase."""

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
        """Subject, verb, complement."""
        preposition = [self.preposition.english] if self.preposition else []
        complement = self.complement.in_english() if self.complement else []
        return [*self.subject.in_english(), self.verb.english, *preposition, *complement]

    def in_german(self, order: Literal["verb second", "verb first", "verb last"]) -> list[str]:
        """The clause as a main clause, as one behind an opening, or as a subordinate one."""
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
        if self.verb.object_case is None:
            raise ValueError(f"{self.verb.english!r} takes no object")
        return self.complement.in_german(self.verb.object_case)


@dataclass(frozen=True)
class Subordinate:
    """A conjunction and its clause: *because the cat danced*."""

    conjunction: tuple[str, str]
    clause: Clause

    def in_english(self) -> list[str]:
        """The conjunction before an ordinary clause."""
        return [self.conjunction[0], *self.clause.in_english()]

    def in_german(self) -> list[str]:
        """The conjunction sends the verb to the end."""
        return [self.conjunction[1], *self.clause.in_german("verb last")]


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation."""

    source: str
    target: str


@dataclass(frozen=True)
class Sentence:
    """A main clause, perhaps with an opening before it or a subordinate clause behind it."""

    main: Clause
    opening: tuple[str, str] | Subordinate | None = None
    closing: Subordinate | None = None

    @property
    def clauses(self) -> list[Clause]:
        """The main clause first."""
        opening = [self.opening.clause] if isinstance(self.opening, Subordinate) else []
        closing = [self.closing.clause] if self.closing else []
        return [self.main, *opening, *closing]

    def pair(self) -> Pair:
        """The sentence in both languages."""
        return Pair(" ".join(self.in_english()), " ".join(self.in_german()))

    def in_english(self) -> list[str]:
        """English separates only a subordinate clause that comes first."""
        closing = self.closing.in_english() if self.closing else []
        return [*self._opening_in_english(), *self.main.in_english(), *closing]

    def in_german(self) -> list[str]:
        """The opening, where there is one, takes the first place, so that the verb comes before the subject."""
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
    """A sentence of any structure."""
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
    """A clause with or without an object; nobody does anything to a noun like themselves."""
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
    """A phrase around one of these nouns; every other one has an adjective."""
    noun = rng.choice(among)
    plural = rng.random() < 0.4
    fitting = [d for d in DETERMINERS if (d.plural if plural else d.singular) is not None]
    adjectives = ADJECTIVES + ADJECTIVES_OF_THE_LIVING if noun in LIVING else ADJECTIVES
    adjective = rng.choice(adjectives) if rng.random() < 0.5 else None
    return NounPhrase(rng.choice(fitting), noun, adjective, plural)


THE_CAT_DANCED = Clause(NounPhrase(THE, LIVING[0]), VERBS[0])
"""*die Katze tanzte*, the course's first sentence."""

HELD_OUT_SHARE = 10
"""One clause structure in so many is never shown in training."""


def is_held_out(sentence: Sentence) -> bool:
    """Whether a sentence is kept for testing: whether any of its clauses has a structure that is never trained.

    A fixed hash of the structure decides, so that the answer is the same for every seed and size; the structure
    of `THE_CAT_DANCED` is held out in any case.
    """
    structures = [clause.structure for clause in sentence.clauses]
    return any(
        structure == THE_CAT_DANCED.structure or zlib.crc32(structure.encode()) % HELD_OUT_SHARE == 0
        for structure in structures
    )


@dataclass(frozen=True)
class Split:
    """Sentences to train on and sentences to test on.

    Each held-out sentence has a clause of a structure that no training sentence has, so that knowing the
    training sentences by heart does not help.
    """

    training: list[Pair]
    held_out: list[Pair]


def toy_translation(training: int = 20_000, held_out: int = 1_000, seed: int = 0) -> Split:
    """Draw so many different sentences for each side of the split."""
    rng = random.Random(seed)
    sides: dict[bool, dict[str, Pair]] = {False: {}, True: {}}
    wanted = {False: training, True: held_out}
    while any(len(sides[side]) < wanted[side] for side in sides):
        sentence = random_sentence(rng)
        side, pair = is_held_out(sentence), sentence.pair()
        if len(sides[side]) < wanted[side]:
            sides[side][pair.source] = pair
    return Split(list(sides[False].values()), list(sides[True].values()))


# --- Batches ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """Sequences of ids, padded to the longest of their side.

    Attributes:
        source: the sentences to translate.
        target: their translations, each from <s> to <e>.
    """

    source: Int[Tensor, "batch source"]
    target: Int[Tensor, "batch target"]

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        return Batch(self.source.to(device), self.target.to(device))


Example = tuple[Int[Tensor, " source"], Int[Tensor, " target"]]


def examples(pairs: Sequence[Pair], source: WordVocabulary, target: WordVocabulary) -> list[Example]:
    """Pairs as ids, with <s> and <e> around each translation."""
    return [
        (torch.tensor(source.encode(pair.source)), torch.tensor([START_ID, *target.encode(pair.target), END_ID]))
        for pair in pairs
    ]


def pad(sequences: Sequence[Int[Tensor, " words"]]) -> Int[Tensor, "batch words"]:
    """Sequences one below the other, filled up with <pad> to the longest."""
    return pad_sequence(list(sequences), batch_first=True, padding_value=PADDING_ID)


def collate(batch: Sequence[Example]) -> Batch:
    """A batch of these examples."""
    return Batch(pad([source for source, _ in batch]), pad([target for _, target in batch]))


POOL = 50
"""How many batches are sorted by length together."""


def batches(data: Sequence[Example], batch_size: int, generator: torch.Generator) -> Iterator[Batch]:
    """One pass through the data, in random order, with sentences of like lengths together.

    Shuffled examples are sorted by length within pools of `POOL` batches: little padding, and still different
    batches in every pass.
    """
    order = torch.randperm(len(data), generator=generator).tolist()
    pool = batch_size * POOL
    groups = []
    for start in range(0, len(order), pool):
        like = sorted(order[start : start + pool], key=lambda i: (len(data[i][0]), len(data[i][1])))
        groups += [like[i : i + batch_size] for i in range(0, len(like), batch_size)]
    for index in torch.randperm(len(groups), generator=generator).tolist():
        yield collate([data[i] for i in groups[index]])
