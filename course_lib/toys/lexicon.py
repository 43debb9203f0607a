"""The words of the toy grammar: English, German, and what German grammar needs to know about each.

A noun has a gender, a verb the case of its object, a preposition its case, and a determiner decides the ending of the
adjective after it. `course_lib.toys.grammar` makes sentences from them.
"""

from dataclasses import dataclass
from typing import Literal

GermanCase = Literal["nominative", "accusative", "dative"]
Column = Literal["m", "f", "n", "pl"]
"""The gender in the singular; the plural has no genders in German."""
Table = dict[GermanCase, dict[Column, str]]


def table(nominative: str, accusative: str, dative: str, stem: str = "") -> Table:
    """Make a table of forms: each case lists masculine, feminine, neuter and plural; "-" is an empty ending."""
    columns: tuple[Column, ...] = ("m", "f", "n", "pl")
    rows: dict[GermanCase, str] = {"nominative": nominative, "accusative": accusative, "dative": dative}
    return {
        case: {column: stem + ending.strip("-") for column, ending in zip(columns, row.split(), strict=True)}
        for case, row in rows.items()
    }


# An adjective's ending depends on how much the determiner before it has already shown.
WEAK = table("e e e en", "en e e en", "en en en en")
MIXED = table("er e es en", "en e es en", "en en en en")
STRONG = table("er e es e", "en e es e", "em er em en")


@dataclass(frozen=True)
class Determiner:
    """An article or the like; `singular` or `plural` is None if English has no such form."""

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
    """A noun in both languages. A weak noun has its plural form in every case but the nominative."""

    english: str
    english_plural: str
    gender: Column
    german: str
    german_plural: str
    weak: bool = False

    def in_german(self, case: GermanCase, plural: bool) -> str:
        """Return the noun's form: the dative plural adds -n, except after -n and -s."""
        if plural:
            needs_n = case == "dative" and not self.german_plural.endswith(("n", "s"))
            return self.german_plural + "n" * needs_n
        return self.german_plural if self.weak and case != "nominative" else self.german


def nouns(rows: str) -> tuple[Noun, ...]:
    """Read one noun per line: English, its plural, gender, German, its plural, and perhaps "weak"."""
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

# The English word, and the German stem to which the ending is added.
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
        english: the only form, for every person and number.
        singular: the form for ich, er, sie, es.
        plural: the form for wir, sie.
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
    """A preposition and the case that it requires."""

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
