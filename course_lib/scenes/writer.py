"""Writes captions of everyday scenes in English with their German translations, as many as are wanted.

    pairs = write_captions(1000, seed=0)

What is hard about German is in them: gender, case and the endings of adjectives (*einen roten Mantel*, *in einem roten
Mantel*), the verb in second place whatever comes first, at the end of a subordinate clause, and without its prefix in a
main one (*baut ein Zelt auf*, *während sie ein Zelt aufbaut*), one English word for two German ones (*is riding*:
*reitet*, *fährt*). Each sentence is put together by rule from `words`; those of `by_hand.tsv` were not, and are freer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from course_lib.scenes.words import (
    ACTIVITIES,
    ADJECTIVES_OF,
    ANIMAL_ACTIVITIES,
    ANIMALS,
    CLOTHES,
    PEOPLE,
    PLACES,
    SPOTS,
    THINGS,
    SceneNoun,
)
from course_lib.text.texts import SentencePair

SceneCase = Literal["nominative", "accusative", "dative"]

_ARTICLE = {
    "nominative": {"m": "ein", "f": "eine", "n": "ein"},
    "accusative": {"m": "einen", "f": "eine", "n": "ein"},
    "dative": {"m": "einem", "f": "einer", "n": "einem"},
}
_ENDING = {
    "nominative": {"m": "er", "f": "e", "n": "es"},
    "accusative": {"m": "en", "f": "e", "n": "es"},
    "dative": {"m": "en", "f": "en", "n": "en"},
}
"""Of an adjective after *ein*."""

_NUMBERS = {2: ("two", "zwei"), 3: ("three", "drei")}
_PLURAL_ENDING = {"nominative": "e", "accusative": "e", "dative": "en"}
"""Of an adjective without an article before it."""
_ON_TOP = ("hat", "cap", "scarf", "helmet", "backpack")
"""What one has on (*mit*), where one is *in* other clothes."""
_SHARED = ("car", "dog")
"""What several people own together."""
_SEPARATE = ("Ski", "steigen")
"""What stands at the end as a word of its own, where a prefix is joined to its verb."""
_KNOWN = {**THINGS, **ANIMALS, **PEOPLE, **CLOTHES}


@dataclass(frozen=True)
class Phrase:
    """The same words in both languages."""

    english: str
    german: str


NOTHING = Phrase("", "")


@dataclass(frozen=True)
class Subject:
    """Who does something: `phrase` in the nominative, `several` of them or one."""

    phrase: Phrase
    noun: SceneNoun
    several: bool


@dataclass(frozen=True)
class Action:
    """What somebody does: the verbs, what goes to the end in German, the object, where to, and where.

    Attributes:
        english: the verb, "reading".
        german: its form for the subject, "liest".
        reflexive: whether *sich* goes with it.
        end: what leaves the verb in a main clause: a prefix, or a word of its own.
        object: in the case that the verb asks for.
        known: whether the object is known (*sein Auto*), and stands before the place.
        where_to: stands last of all.
        place: where it happens.
    """

    english: str
    german: str
    reflexive: bool
    end: str
    object: Phrase
    known: bool
    where_to: Phrase
    place: Phrase

    @property
    def be(self) -> str:
        """What follows the subject in English, but for the form of *be*."""
        return _joined(self.english, self.object.english, self.where_to.english, self.place.english)

    @property
    def middle(self) -> str:
        """What stands between verb and end in German."""
        both = (self.object.german, self.place.german)
        return _joined(*(both if self.known else reversed(both)), self.where_to.german)

    def main(self, subject: str, first: str = "") -> str:
        """A main clause, the verb in second place; `first` takes the first from the subject."""
        sich = "sich" if self.reflexive else ""
        head = (first, self.german, sich, subject) if first else (subject, self.german, sich)
        return _joined(*head, self.middle, self.end)

    def subordinate(self, subject: str) -> str:
        """A clause with the verb at its end."""
        sich = "sich" if self.reflexive else ""
        verb = _joined(self.end, self.german) if self.end in _SEPARATE else self.end + self.german
        return _joined(subject, sich, self.middle, verb)


def write_captions(count: int, seed: int = 0) -> list[SentencePair]:
    """So many different captions, in an order that the seed decides.

    Args:
        count: how many; there are far more than 100,000.
        seed: of the random numbers.
    """
    return Captions(random.Random(seed)).write(count)


class Captions:
    """A writer of captions, by the random numbers that it is given."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def write(self, count: int) -> list[SentencePair]:
        """So many captions, no English sentence twice."""
        found: dict[str, SentencePair] = {}
        kinds: Sequence[Callable[[], Phrase]] = (self._plain, self._place_first, self._two_at_once, self._meanwhile)
        while len(found) < count:
            written = self._chance.choices([*kinds, self._dressed, self._there], (7, 2, 1, 2, 2, 1))[0]()
            pair = SentencePair(_sentence(written.english), _sentence(written.german))
            found.setdefault(pair.source, pair)
        return list(found.values())

    # --- Sentences ---

    def _plain(self) -> Phrase:
        """A man is reading a book in the park."""
        subject, action = self._scene()
        return Phrase(_joined(subject.phrase.english, _be(subject), action.be), action.main(subject.phrase.german))

    def _place_first(self) -> Phrase:
        """In the park, a man is reading a book."""
        subject, action = self._scene()
        place, stays = action.place, replace(action, place=NOTHING)
        if not place.english or not (action.object.english or action.where_to.english):
            return self._plain()
        english = _joined(place.english + ",", subject.phrase.english, _be(subject), stays.be)
        return Phrase(english, stays.main(subject.phrase.german, place.german))

    def _two_at_once(self) -> Phrase:
        """A man is sitting on a bench and reading a book."""
        subject = self._person()
        postures = ("sitting", "standing", "waiting", "resting")
        first = self._action(subject, ACTIVITIES, only=postures)
        second = replace(self._action(subject, ACTIVITIES, without=(*postures, "sleeping")), place=NOTHING)
        english = _joined(subject.phrase.english, _be(subject), first.be, "and", second.be)
        return Phrase(english, _joined(first.main(subject.phrase.german), "und", second.main("")))

    def _meanwhile(self) -> Phrase:
        """A man is reading a book while two boys are putting up a tent."""
        (one, first), (other, second) = self._scene(), self._scene()
        if one.noun is other.noun:
            return self._meanwhile()
        first = replace(first, place=NOTHING)
        english = (one.phrase.english, _be(one), first.be, "while", other.phrase.english, _be(other), second.be)
        german = _joined(first.main(one.phrase.german) + ",", "während", second.subordinate(other.phrase.german))
        return Phrase(_joined(*english), german)

    def _dressed(self) -> Phrase:
        """A man who is wearing a red coat is reading a book."""
        subject = self._subject(PEOPLE)
        action = self._action(subject, ACTIVITIES)
        worn = self._worn(self._chance.choice(list(CLOTHES.values())), "accusative", subject.several)
        who = "die" if subject.several else {"m": "der", "f": "die", "n": "das"}[subject.noun.gender]
        verb = "tragen" if subject.several else "trägt"
        english = _joined(subject.phrase.english, "who", _be(subject), "wearing", worn.english, _be(subject), action.be)
        german = f"{subject.phrase.german}, {who} {worn.german} {verb},"
        return Phrase(english, action.main(german))

    def _there(self) -> Phrase:
        """There is a red bicycle in front of the house."""
        thing = self._one(
            THINGS[self._chance.choice("bicycle car suitcase ladder box chair basket".split())], "nominative"
        )
        spot = self._spot()
        return Phrase(_joined("there is", thing.english, spot.english), _joined(spot.german, "steht", thing.german))

    def _scene(self) -> tuple[Subject, Action]:
        if self._chance.random() < 0.2:
            animal = self._subject(ANIMALS)
            return animal, self._action(animal, ANIMAL_ACTIVITIES)
        person = self._person()
        return person, self._action(person, ACTIVITIES)

    # --- Their parts ---

    def _person(self) -> Subject:
        subject = self._subject(PEOPLE)
        if self._chance.random() < 0.25:
            worn = self._chance.choice(list(CLOTHES.values()))
            link = Phrase("with", "mit") if worn.english in _ON_TOP else Phrase("in", "in")
            dress = _together(link, self._worn(worn, "dative", subject.several))
            return replace(subject, phrase=_together(subject.phrase, dress))
        return subject

    def _subject(self, nouns: dict[str, SceneNoun]) -> Subject:
        chosen = self._chance.choice(list(nouns.values()))
        number = self._chance.choices((1, 2, 3), (7, 2, 1))[0]
        if number == 1:
            return Subject(self._one(chosen, "nominative"), chosen, several=False)
        adjective = self._adjective(chosen)
        english, german = _NUMBERS[number]
        ours = _joined(english, adjective.english, chosen.englishes)
        theirs = _joined(german, adjective.german and adjective.german + "e", chosen.germans)
        return Subject(Phrase(ours, theirs), chosen, several=True)

    def _one(self, noun: SceneNoun, case: SceneCase) -> Phrase:
        """One of it, with *a* and perhaps an adjective."""
        adjective = self._adjective(noun)
        english = _joined(adjective.english, noun.english)
        described = adjective.german and adjective.german + _ENDING[case][noun.gender]
        german = noun.germans if noun.weak and case != "nominative" else noun.german
        article = "an" if english[0] in "aeiou" else "a"
        return Phrase(f"{article} {english}", _joined(_ARTICLE[case][noun.gender], described, german))

    def _worn(self, noun: SceneNoun, case: SceneCase, several: bool) -> Phrase:
        """A red coat, or red coats where several people wear one each."""
        if not several:
            return self._one(noun, case)
        adjective = self._adjective(noun)
        described = adjective.german and adjective.german + _PLURAL_ENDING[case]
        german = noun.germans + ("n" if case == "dative" and noun.germans[-1] not in "ns" else "")
        return Phrase(_joined(adjective.english, noun.englishes), _joined(described, german))

    def _adjective(self, noun: SceneNoun) -> Phrase:
        fitting = " ".join(ADJECTIVES_OF[group] for group in noun.adjectives).split()
        if not fitting or self._chance.random() < 0.6:
            return NOTHING
        return Phrase(*self._chance.choice(fitting).split("="))

    def _action(self, subject: Subject, table: str, only: Sequence[str] = (), without: Sequence[str] = ()) -> Action:
        lines = [line.split("|") for line in table.strip().splitlines()]
        lines = [line for line in lines if (not only or line[0] in only) and line[0] not in without]
        english, one, several, end, objects, places = self._chance.choice(lines)
        choices = [choice.strip() for choice in objects.split(",")]
        if not subject.noun.possessive:
            choices = [choice for choice in choices if not choice.startswith("my ")] or [""]
        chosen = self._chance.choice(choices)
        plain = replace(_EMPTY, english=english, german=several if subject.several else one)
        action = replace(plain, reflexive="sich" in end, end=end.removeprefix("sich").strip())
        if chosen.startswith(">"):
            return replace(action, where_to=Phrase(*chosen[1:].split("=")), place=NOTHING)
        place = self._place(places.split())
        return replace(action, object=self._object(chosen, subject), known=chosen.startswith("my "), place=place)

    def _object(self, chosen: str, subject: Subject) -> Phrase:
        if not chosen:
            return NOTHING
        if chosen.startswith("="):
            return Phrase(*chosen[1:].split("="))
        noun = _KNOWN[chosen.split()[-1]]
        if chosen.startswith("my "):
            return self._own(noun, subject)
        return self._one(noun, "dative" if chosen.startswith("+") else "accusative")

    def _own(self, noun: SceneNoun, subject: Subject) -> Phrase:
        """His car, in the accusative; their coats where each has one."""
        if subject.several and noun.english not in _SHARED:
            return Phrase(f"their {noun.englishes}", f"ihre {noun.germans}")
        whose = "their" if subject.several else subject.noun.possessive
        stem = "ihr" if subject.several or subject.noun.gender == "f" else "sein"
        german = _joined(stem + _ARTICLE["accusative"][noun.gender].removeprefix("ein"), noun.german)
        return Phrase(f"{whose} {noun.english}", german)

    def _place(self, kinds: Sequence[str]) -> Phrase:
        if not kinds or self._chance.random() < 0.25:
            return NOTHING
        kind = self._chance.choice(kinds)
        if kind in ("spot", "beside"):
            return self._spot(SPOTS if kind == "spot" else SPOTS[1:])
        wanted = ("outside", "inside") if kind == "any" else (kind,)
        listed = "; ".join(PLACES[each] for each in wanted).split(";")
        return Phrase(*(" ".join(part.split()) for part in self._chance.choice(listed).split("=")))

    def _spot(self, spots: Sequence[tuple[str, str, str]] = SPOTS) -> Phrase:
        """Next to a red car."""
        english, german, nouns = self._chance.choice(spots)
        where = self._one(THINGS[self._chance.choice(nouns.split())], "dative")
        return _together(Phrase(english, german), where)


_EMPTY = Action("", "", False, "", NOTHING, False, NOTHING, NOTHING)


def _be(subject: Subject) -> str:
    return "are" if subject.several else "is"


def _joined(*words: str) -> str:
    return " ".join(word for word in words if word)


def _together(first: Phrase, second: Phrase) -> Phrase:
    return Phrase(_joined(first.english, second.english), _joined(first.german, second.german))


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "."
