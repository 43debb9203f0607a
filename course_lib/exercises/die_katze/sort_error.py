"""Lesson 11, die_katze.sort_error: What went wrong."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.judging.exercise import Case, Exercise
from course_lib.references import die_katze

Words = Sequence[str]

_WHO = ("Katze", "Hündin", "Frau", "Tänzerin", "Studentin", "Sängerin", "Kuh", "Ziege")
_DOES = ("schläft", "tanzt", "wartet", "singt", "springt", "sitzt", "lacht")
_WHERE = ("Tisch", "Stuhl", "Felsen", "Teppich", "Baum", "Wagen", "Koffer")
_HOW = ("roten", "grünen", "kleinen", "großen", "braunen", "schwarzen", "weißen")


def _error_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def one_of(words: Words) -> str:
        return words[integer(generator, 0, len(words))]

    rounds = 3 if hidden else 1
    for number in range(rounds):
        who, does, how, where = (one_of(words) for words in (_WHO, _DOES, _HOW, _WHERE))
        again = f" ({number + 1})" if hidden else ""
        wanted = ["eine", who, does, "auf", "einem", how, where]
        other = next(word for word in _WHERE if word != where)
        said = {
            "worked example: the wrong case" if not hidden else "the wrong case": [
                *("eine", who, does, "auf", "einen", how, where)
            ],
            "all is right": wanted,
            "another order": ["auf", "einem", how, where, does, "eine", who],
            "two words changed positions": ["eine", who, does, "auf", how, "einem", where],
            "other forms in another order": ["auf", "einer", how, where, does, "eine", who],
            "a word twice": ["eine", who, does, does, "auf", "einem", how, where],
            "a word twice, another missing": ["eine", who, does, "auf", "einem", where, where],
            "a word twice, and it is short": ["eine", who, who],
            "an adjective missing": ["eine", who, does, "auf", "einem", where],
            "only the beginning": ["eine", who],
            "nothing at all": [],
            "another word": ["eine", who, does, "auf", "einem", how, other],
            "another word twice": ["eine", who, does, "auf", "einem", other, other],
            "a word too many": ["eine", who, does, "auf", "einem", how, where, "heute"],
            "a wrong form twice": ["eine", who, does, "auf", "einen", "einen", how, where],
            "a small letter": ["eine", who.lower(), does, "auf", "einem", how, where],
            "a word too many, another missing": ["eine", who, does, "heute", "auf", "einem", where],
            "short, with another word": ["eine", who, does, "auf", other],
        }
        for name, words in said.items():
            yield Case(name + again, (words, wanted))
        twice = ["eine", who, "und", "eine", who, does + "en" if does[-1] != "t" else does]
        alike = (["eine", "Tante", does, "auf", how, where], ["eine", "Tanne", does, "auf", how, where])
        yield Case("another word that begins alike" + again, alike)
        yield Case("the reference has it twice" + again, (twice[:-1], twice))


def _by_rules(hypothesis: Words, reference: Words) -> str:
    said, wanted = list(hypothesis), list(reference)
    stems, right_stems = ([word[:4] for word in words] for words in (said, wanted))
    holds = {
        "right": said == wanted,
        "order": sorted(said) == sorted(wanted),
        "form": sorted(stems) == sorted(right_stems),
        "repeated": any(0 < wanted.count(word) < said.count(word) for word in said),
        "short": len(said) < len(wanted),
    }
    return next((kind for kind in holds if holds[kind]), "word")


_slip = edits_of(_by_rules)
_SETS_OF_WORDS = ("sorted(said) == sorted(wanted)", "set(said) == set(wanted)")
_STEMS, _REPEATED = "sorted(stems) == sorted(right_stems)", "0 < wanted.count(word) < said.count(word)"


def _by_groups(hypothesis: Words, reference: Words) -> str:
    def grouped(words: Words, letters: int | None) -> list[tuple[str, int]]:
        return [(word, len(list(same))) for word, same in groupby(sorted(word[:letters] for word in words))]

    if [*hypothesis] == [*reference]:
        return "right"
    for kind, letters in (("order", None), ("form", 4)):
        if grouped(hypothesis, letters) == grouped(reference, letters):
            return kind
    often = dict(grouped(reference, None))
    if any(times > often.get(word, times) for word, times in grouped(hypothesis, None)):
        return "repeated"
    return ("word", "short")[len(hypothesis) < len(reference)]


def _by_subtraction(hypothesis: Words, reference: Words) -> str:
    said, wanted = Counter(hypothesis), Counter(reference)
    too_often, missing = said - wanted, wanted - said
    if not too_often and not missing:
        return "right" if tuple(hypothesis) == tuple(reference) else "order"
    if sorted(word[:4] for word in too_often.elements()) == sorted(word[:4] for word in missing.elements()):
        return "form"
    if too_often.keys() & wanted.keys():
        return "repeated"
    return "short" if said.total() < wanted.total() else "word"


EXERCISE = Exercise(
    id="die_katze.sort_error",
    title="What went wrong",
    statement=(
        'sort_error(hypothesis list of words, reference list of words) -> the first that fits, of "right", "order", '
        '"form", "repeated", "short" and "word".'
    ),
    points=3,
    minutes=15,
    difficulty=3,
    importance=3,
    section="The worst ten",
    source='Vilar et al. (2006), "Error Analysis of Statistical Machine Translation Output"',
    reference=die_katze.sort_error,
    cases=_error_cases,
    correct=(_by_rules, _by_groups, _by_subtraction),
    hints=hints(
        idea=(
            "Check the classes in the order of the list and return the first that fits. At each check, you know "
            "that all earlier ones have failed.",
            ("short_before_repeated", "form_before_order", "no_word_is_new"),
        ),
        shapes=(
            "You get two lists of strings and return one string. A `Counter` maps each word to how often it occurs; "
            "two Counters are equal if each word occurs the same number of times, in any order.",
            ("sets_compared", "stems_in_order", "strangers_repeated"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer compares which words occur, not how often. Compare Counters, or sorted lists.",
            sets_compared=_slip(_SETS_OF_WORDS, (_STEMS, "set(stems) == set(right_stems)")),
            sets_of_words_compared=_slip(_SETS_OF_WORDS),
        ),
        *mistake(
            'Your answer checks the classes in the wrong order. Follow the list: "order" before "form", "repeated" '
            'before "short".',
            form_before_order=_slip(("in holds", "in ('right', 'form', 'order', 'repeated', 'short')")),
            short_before_repeated=_slip(("in holds", "in ('right', 'order', 'form', 'short', 'repeated')")),
        ),
        *mistake(
            'Your answer never says "form": *einen* for *einem* is the right word with the wrong ending. Compare the '
            "first four letters of all words.",
            no_form=_slip((_STEMS, "False")),
        ),
        *mistake(
            'Your answer compares the wrong letters for "form". Take the first four letters of each word, and '
            "compare how often they occur, in any order.",
            stems_in_order=_slip((_STEMS, "stems == right_stems")),
            one_letter=_slip(("word[:4]", "word[:1]")),
        ),
        *slips(
            _by_rules,
            capitals_ignored=(
                "Your answer ignores case. Compare the words as they are.",
                (
                    "stems, right",
                    "said, wanted = ([word.lower() for word in words] for words in (said, wanted))\n    stems, right",
                ),
            ),
            no_repetition=(
                'Your answer never says "repeated". Return it if a word of the reference occurs more often in the '
                "translation.",
                (f"any({_REPEATED} for word in said)", "False"),
            ),
        ),
        *mistake(
            'Your answer says "repeated" too often. A repeated word also occurs in the reference, but less often.',
            strangers_repeated=_slip((_REPEATED, "wanted.count(word) < said.count(word)")),
            twice_is_too_often=_slip((_REPEATED, "said.count(word) > 1")),
        ),
        *mistake(
            'Your answer says "short" for the wrong lengths. Return it if the translation has fewer words than the '
            "reference and no earlier class fits.",
            another_length=_slip(("len(said) <", "len(said) !=")),
            no_word_is_new=_slip(("len(said) < len(wanted)", "False")),
        ),
    ),
)
