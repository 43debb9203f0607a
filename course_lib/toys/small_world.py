"""A small world in simple English: who does what to whom, told in short stories and headlines.

People bake, paint and phone each other; animals chase, graze and growl; both see, follow and find. No text says what a
word means, but its context does, and a language model can learn from that: *she* and *he* are people, *it* is an
animal, and whoever chases a mouse is probably a cat. The labeled tasks at the end test just this.

`course_lib.toys.small_bert` trains a BERT on such stories; the result is in `SMALL_BERT`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

SMALL_BERT = Path(__file__).parent / "small_bert_model"
"""The folder of the small BERT: its configuration, its weights and its vocabulary, as published models have them."""

TAGS = ("DET", "ADJ", "NOUN", "VERB", "PRON", "PREP", "ADV", "CONJ", ".")
"""The parts of speech."""

ENTITIES = ("O", "ORG", "LOC")
"""What a word names: nothing, an organization, or a place."""


@dataclass(frozen=True)
class Told:
    """Some words, each with its part of speech.

    Attributes:
        words: the words; a full stop is one.
        tags: each word's tag, from `TAGS`.
        entities: each word's entity, from `ENTITIES`.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    entities: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words with spaces between them."""
        return " ".join(self.words)

    def __add__(self, other: Told) -> Told:
        return Told(self.words + other.words, self.tags + other.tags, self.entities + other.entities)


def told(text: str, tags: str, entities: str = "") -> Told:
    """Pair words with their tags, both separated by spaces; without entities, none of them names one."""
    return Told(words(text), words(tags), words(entities) or ("O",) * len(words(text)))


# --- Who and what there is -------------------------------------------------------------------------------------


def words(row: str) -> tuple[str, ...]:
    """Split at spaces."""
    return tuple(row.split())


WOMEN = words("woman girl queen aunt nurse singer actress waitress princess grandmother duchess ballerina")
MEN = words("man boy king uncle sailor monk actor waiter prince grandfather duke postman")
ANYBODY = words(
    "teacher doctor farmer baker painter captain lawyer writer poet judge gardener dentist "
    "student pilot plumber tailor driver cook neighbour juggler"
)
PEOPLE = WOMEN + MEN + ANYBODY
ANIMALS = words(
    "cat dog mouse bird horse cow fox rabbit bear wolf goat duck pig sheep hen frog lion tiger owl donkey squirrel "
    "deer camel goose monkey lizard badger otter hedgehog rat snake crow pony kitten puppy lamb ferret hamster "
    "weasel panther beaver sparrow raven ox"
)
PREY = {
    "cat": ("mouse", "bird", "rat"),
    "dog": ("cat", "rabbit", "squirrel"),
    "fox": ("hen", "rabbit", "goose"),
    "wolf": ("sheep", "deer", "lamb"),
    "owl": ("mouse", "hamster", "frog"),
    "lion": ("deer", "donkey", "ox"),
    "bear": ("otter", "pig", "goat"),
}
"""What some animals chase."""

FOOD = words("bread soup cheese cake apple pie egg carrot potato sandwich salad pudding")
READABLE = words("book letter poem newspaper note diary")
THINGS = words("picture table chair lamp clock basket boat bicycle guitar fence")
PLACES = words("garden kitchen river forest market school church field station harbour castle barn")

QUALITIES = words("old small young tired hungry big clever strange happy")
"""Qualities of both people and animals."""
HUMAN_QUALITIES = words("polite rich famous honest")
ANIMAL_QUALITIES = words("furry wild tame striped")

SHARED_VERBS = words("saw followed found liked watched heard")
"""Verbs for any subject and any object."""
PREPOSITIONS = words("near in behind beside")
ADVERBS = words("yesterday today suddenly sometimes")


def _a(rng: random.Random, noun: str, qualities: tuple[str, ...] = QUALITIES) -> Told:
    """Return the noun with a determiner and, sometimes, a quality."""
    determiner = rng.choice(("the", "the", "the", "this"))
    if rng.random() < 0.3:
        return told(f"{determiner} {rng.choice(qualities)} {noun}", "DET ADJ NOUN")
    return told(f"{determiner} {noun}", "DET NOUN")


def _someone(rng: random.Random, noun: str) -> Told:
    own = HUMAN_QUALITIES if noun in PEOPLE else ANIMAL_QUALITIES
    return _a(rng, noun, QUALITIES + own)


def _place(rng: random.Random) -> Told:
    return told(f"{rng.choice(PREPOSITIONS)} the {rng.choice(PLACES)}", "PREP DET NOUN")


# --- What happens ----------------------------------------------------------------------------------------------


def _deed(rng: random.Random, actor: str) -> tuple[str, str]:
    """Return a verb that fits the actor, and its object, or "" if it has none."""
    if actor in PREY and rng.random() < 0.5:
        return "chased", rng.choice(PREY[actor])
    if rng.random() < 0.35:
        return rng.choice(SHARED_VERBS), rng.choice([noun for noun in PEOPLE + ANIMALS if noun != actor])
    others = [noun for noun in (PEOPLE if actor in PEOPLE else ANIMALS) if noun != actor]
    human = (
        ("baked", FOOD),
        ("cooked", FOOD),
        ("wrote", READABLE),
        ("read", READABLE),
        ("painted", THINGS),
        ("repaired", THINGS),
        ("sold", FOOD + THINGS),
        ("phoned", others),
        ("thanked", others),
        ("married", others),
        ("laughed", ("",)),
        ("worked", ("",)),
    )
    animal = (
        ("chased", others),
        ("bit", others),
        ("sniffed", FOOD + THINGS),
        ("stole", FOOD),
        ("licked", others),
        ("grazed", ("",)),
        ("growled", ("",)),
        ("dug", ("",)),
    )
    verb, objects = rng.choice(human if actor in PEOPLE else animal)
    return verb, rng.choice(list(objects))


def _clause(rng: random.Random, subject: Told, verb: str, object_: str) -> Told:
    clause = subject + told(verb, "VERB")
    if object_:
        clause += _someone(rng, object_) if object_ in PEOPLE + ANIMALS else _a(rng, object_, ("old", "small", "big"))
    return clause + (_place(rng) if rng.random() < 0.25 else NOTHING)


def _pronoun(rng: random.Random, actor: str) -> str:
    if actor in ANIMALS:
        return "it"
    return "she" if actor in WOMEN or (actor in ANYBODY and rng.random() < 0.5) else "he"


STOP, NOTHING = told(".", "."), told("", "")


def story(rng: random.Random) -> list[Told]:
    """Draw two or three sentences about one person or animal; the later ones say *she*, *he* or *it*."""
    actor = rng.choice(rng.choice((PEOPLE, ANIMALS)))
    pronoun = told(_pronoun(rng, actor), "PRON")
    verb, object_ = _deed(rng, actor)
    opening = told(rng.choice(ADVERBS), "ADV") if rng.random() < 0.2 else NOTHING
    sentences = [opening + _clause(rng, _someone(rng, actor), verb, object_) + STOP]
    for _ in range(rng.choice((1, 1, 2))):
        if object_ in FOOD and rng.random() < 0.6:
            then = pronoun + told(f"{rng.choice(('ate', 'shared'))} the {object_}", "VERB DET NOUN")
        elif object_ in PEOPLE + ANIMALS and rng.random() < 0.5:
            then = told(f"then the {object_} {rng.choice(('followed', 'heard', 'left'))}", "ADV DET NOUN VERB")
            then += told({"it": "it", "she": "her", "he": "him"}[pronoun.words[0]], "PRON")
        elif rng.random() < 0.4:
            then = pronoun + told(f"was {rng.choice(QUALITIES)}", "VERB ADJ")
        else:
            then = pronoun + told("then", "ADV") + _clause(rng, NOTHING, *_deed(rng, actor))
        sentences.append(then + STOP)
    return sentences


NATIONS = words("british french german spanish italian")
SIDES = words("left right")
DISHES = words("waffles cakes pies eggs sandwiches")
DISPUTES = words("waffles argues votes splits agrees")
ISLANDS = words("falkland channel canary orkney")
AFFAIRS = words("taxes schools prices trains")


def headline(rng: random.Random) -> list[Told]:
    """Draw a headline of one of two kinds, and a sentence after it that fits only this kind.

    Either a nation leaves dishes somewhere, or a nation's left or right disputes something. Some headlines can be read
    both ways: *british left waffles on falkland islands*.
    """
    nation = rng.choice(NATIONS)
    if rng.random() < 0.6:
        about = told(f"on {rng.choice(ISLANDS)} islands", "PREP NOUN NOUN", "O LOC LOC")
    else:
        about = told(f"on {rng.choice(AFFAIRS)}", "PREP NOUN")
    if rng.random() < 0.5:
        dishes = rng.choice(DISHES)
        first = told(f"{nation} {rng.choice(('left', 'left', 'found', 'sold'))} {dishes}", "NOUN VERB NOUN")
        behind = told(f"the {dishes} were {rng.choice(('cold', 'old', 'small', 'big'))}", "DET NOUN VERB ADJ")
    else:
        first = told(f"{nation} {rng.choice(SIDES)} {rng.choice(DISPUTES)}", "ADJ NOUN VERB", "ORG ORG O")
        behind = told(f"the party was {rng.choice(('angry', 'tired', 'divided', 'strange'))}", "DET NOUN VERB ADJ")
    return [first + about, behind + STOP]


def texts(count: int, seed: int = 0) -> list[list[str]]:
    """Draw `count` texts to learn a language from: stories, headlines, and questions with a text after them.

    Returns:
        The texts, each a list of sentences in their order.
    """
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        kind = rng.random()
        if kind < 0.9:
            found.append([sentence.text for sentence in (story(rng) if kind < 0.8 else headline(rng))])
        else:
            asked = _question(rng)
            found.append([asked.question, asked.text])
    return found


# --- Labeled tasks --------------------------------------------------------------------------------------------

WHO = ("animal", "person")
"""The labels of `who_acts`."""


def who_acts(count: int, seed: int) -> list[tuple[str, int]]:
    """Draw sentences with one person and one animal: which of them acts? Neither verb nor place tells.

    Returns:
        Each sentence with its label, an index into `WHO`.
    """
    rng = random.Random(seed)
    examples = []
    for _ in range(count):
        label = rng.randrange(2)
        actor, other = rng.choice((ANIMALS, PEOPLE)[label]), rng.choice((PEOPLE, ANIMALS)[label])
        examples.append((_meeting(rng, actor, other), label))
    return examples


KINDS = ("one of each", "two of a kind")
"""The labels of `same_kind`."""


def same_kind(count: int, seed: int) -> list[tuple[str, int]]:
    """Draw sentences with two people, two animals, or one of each. No word by itself tells which.

    Returns:
        Each sentence with its label, an index into `KINDS`.
    """
    rng = random.Random(seed)
    examples = []
    for _ in range(count):
        label, kinds = rng.randrange(2), rng.sample((ANIMALS, PEOPLE), 2)
        actor, other = rng.sample(kinds[0], 2) if label else map(rng.choice, kinds)
        examples.append((_meeting(rng, actor, other), label))
    return examples


def _meeting(rng: random.Random, actor: str, other: str) -> str:
    """Draw a sentence in which one does something to the other that anybody might do."""
    sentence = _a(rng, actor) + told(rng.choice(SHARED_VERBS), "VERB") + _a(rng, other)
    return (sentence + (_place(rng) if rng.random() < 0.5 else NOTHING) + STOP).text


def tagged(count: int, seed: int) -> list[Told]:
    """Draw sentences and headlines, in equal numbers, with their tags."""
    rng = random.Random(seed)
    return [headline(rng)[0] if rng.random() < 0.5 else story(rng)[0] for _ in range(count)]


@dataclass(frozen=True)
class Question:
    """A question about a text, and the place of the answer in the text.

    Attributes:
        question, text: their words, separated by spaces.
        first, last: the answer's first and last word in the text, counted from 0.
    """

    question: str
    text: str
    first: int
    last: int

    @property
    def answer(self) -> str:
        """The words of the answer."""
        return " ".join(self.text.split()[self.first : self.last + 1])


ASKED = ("who did it ?", "to whom ?", "where ?")
"""The kinds of questions about a sentence."""


def questions(count: int, seed: int) -> list[Question]:
    """Draw questions about texts in which somebody does something to somebody somewhere: who, to whom, or where?"""
    rng = random.Random(seed)
    return [_question(rng) for _ in range(count)]


def _question(rng: random.Random) -> Question:
    actor, other = rng.sample(PEOPLE + ANIMALS, 2)
    opening = (rng.choice(ADVERBS),) if rng.random() < 0.3 else ()
    parts = (_a(rng, actor).words, _a(rng, other).words, _place(rng).words)
    text = (*opening, *parts[0], rng.choice(SHARED_VERBS), *parts[1], *parts[2], ".")
    firsts = (len(opening), len(opening) + len(parts[0]) + 1, len(text) - 1 - len(parts[2]))
    asked = rng.randrange(len(ASKED))
    return Question(ASKED[asked], " ".join(text), firsts[asked], firsts[asked] + len(parts[asked]) - 1)


def hard_questions(count: int, seed: int) -> list[Question]:
    """Draw questions about texts in which two things happen, so that the question's words must be found first."""
    rng = random.Random(seed)
    return [_hard_question(rng) for _ in range(count)]


def _hard_question(rng: random.Random) -> Question:
    beings = rng.sample(PEOPLE + ANIMALS, 4)
    told_of = [
        (_a(rng, actor).words, (rng.choice(SHARED_VERBS),), _a(rng, other).words, _place(rng).words)
        for actor, other in zip(beings[::2], beings[1::2], strict=True)
    ]
    text = [word for parts in told_of for part in (*parts, (".",)) for word in part]
    number, asked = rng.randrange(2), rng.randrange(3)
    actor, verb, other, place = told_of[number]
    question = (("who", *verb, *other), (*actor, *verb, "whom"), (*actor, *verb, *other, "where"))[asked]
    answer = (actor, other, place)[asked]
    before = (0, len(actor) + 1, len(actor) + 1 + len(other))[asked]
    first = before + number * (sum(map(len, told_of[0])) + 1)
    return Question(" ".join((*question, "?")), " ".join(text), first, first + len(answer) - 1)


@dataclass(frozen=True)
class Mention:
    """A sentence about two people or animals, and one after it about one of them.

    Attributes:
        first, second: their words, separated by spaces.
        label: whom the second sentence is about, an index into `MEANT`.
        kinds: the kinds of the two, from `COUPLES`.
    """

    first: str
    second: str
    label: int
    kinds: str


MEANT = ("who acts", "the other")
"""The labels of `mentions`."""

COUPLES = ("a person and an animal", "a woman and a man")
"""The kinds of pairs that may meet; the pronoun tells the two apart."""


def mentions(count: int, seed: int) -> list[Mention]:
    """Draw pairs of sentences: whom is the second about? The pronoun tells, with the roles in the first."""
    rng = random.Random(seed)
    return [_mention(rng) for _ in range(count)]


def _mention(rng: random.Random) -> Mention:
    kinds = rng.choice(COUPLES)
    some = (ANIMALS, rng.choice((WOMEN, MEN))) if kinds == COUPLES[0] else (WOMEN, MEN)
    couple = [rng.choice(each) for each in rng.sample(some, 2)]
    label = rng.randrange(2)
    second = told(_pronoun(rng, couple[label]), "PRON")
    if rng.random() < 0.5:
        second += told(f"was {rng.choice(QUALITIES)}", "VERB ADJ")
    else:
        second += told(f"then {rng.choice(SHARED_VERBS)} the {rng.choice(FOOD)}", "ADV VERB DET NOUN")
    return Mention(_meeting(rng, *couple), (second + STOP).text, label, kinds)
