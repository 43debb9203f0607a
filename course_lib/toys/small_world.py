"""A small world in made English: who does what to whom, told in short stories and in headlines.

People bake, paint and phone each other; animals chase, graze and growl; both see, follow and find. Nobody says of a
word what it is, but the company that it keeps does, which is what a language model can learn from: *she* and *he* are
people, *it* is an animal, and who chases a mouse is probably a cat. The labeled tasks at the end ask for just that.

`course_lib.toys.small_bert` is a BERT that has read such stories; it is in `SMALL_BERT`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

SMALL_BERT = Path(__file__).parent / "small_bert_model"
"""The folder of the small BERT: its configuration, its weights and its vocabulary, as published models have them."""

TAGS = ("DET", "ADJ", "NOUN", "VERB", "PRON", "PREP", "ADV", "CONJ", ".")
"""Parts of speech."""

ENTITIES = ("O", "ORG", "LOC")
"""What a word is the name of: nothing, an organization, a place."""


@dataclass(frozen=True)
class Told:
    """Some words, each with its part of speech.

    Attributes:
        words: between spaces, a full stop being one.
        tags: of each, from `TAGS`.
        entities: of each, from `ENTITIES`.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    entities: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.entities:
            object.__setattr__(self, "entities", ("O",) * len(self.words))

    @property
    def text(self) -> str:
        """The words with spaces between them."""
        return " ".join(self.words)

    def __add__(self, other: Told) -> Told:
        return Told(self.words + other.words, self.tags + other.tags, self.entities + other.entities)


def told(text: str, tags: str, entities: str = "") -> Told:
    """Words and their tags, both with spaces between them."""
    return Told(words(text), words(tags), words(entities))


# --- Who and what there is -------------------------------------------------------------------------------------


def words(row: str) -> tuple[str, ...]:
    """The words between spaces."""
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
"""Whom some animals chase."""

FOOD = words("bread soup cheese cake apple pie egg carrot potato sandwich salad pudding")
READABLE = words("book letter poem newspaper note diary")
THINGS = words("picture table chair lamp clock basket boat bicycle guitar fence")
PLACES = words("garden kitchen river forest market school church field station harbour castle barn")

QUALITIES = words("old small young tired hungry big clever strange happy")
"""Of people and animals alike."""
HUMAN_QUALITIES = words("polite rich famous honest")
ANIMAL_QUALITIES = words("furry wild tame striped")

SHARED_VERBS = words("saw followed found liked watched heard")
"""What everybody does, to whomever."""
PREPOSITIONS = words("near in behind beside")
ADVERBS = words("yesterday today suddenly sometimes")


def _a(rng: random.Random, noun: str, qualities: tuple[str, ...] = QUALITIES) -> Told:
    """The noun with a determiner and, now and then, a quality."""
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
    """A verb that fits who acts, and its object; "" where it has none."""
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
    return clause + (_place(rng) if rng.random() < 0.25 else Told((), ()))


def _pronoun(rng: random.Random, actor: str) -> str:
    if actor in ANIMALS:
        return "it"
    return "she" if actor in WOMEN or (actor in ANYBODY and rng.random() < 0.5) else "he"


STOP = told(".", ".")


def story(rng: random.Random) -> list[Told]:
    """Two or three sentences about the same person or animal; the later ones say *she*, *he* or *it*."""
    actor = rng.choice(rng.choice((PEOPLE, ANIMALS)))
    pronoun = told(_pronoun(rng, actor), "PRON")
    verb, object_ = _deed(rng, actor)
    opening = told(rng.choice(ADVERBS), "ADV") if rng.random() < 0.2 else Told((), ())
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
            then = pronoun + told("then", "ADV") + _clause(rng, Told((), ()), *_deed(rng, actor))
        sentences.append(then + STOP)
    return sentences


NATIONS = words("british french german spanish italian")
SIDES = words("left right")
DISHES = words("waffles cakes pies eggs sandwiches")
DISPUTES = words("waffles argues votes splits agrees")
ISLANDS = words("falkland channel canary orkney")
AFFAIRS = words("taxes schools prices trains")


def headline(rng: random.Random) -> list[Told]:
    """A headline of one of two kinds, and a sentence after it that fits only this kind.

    A nation leaves dishes somewhere, or a nation's left or right disputes. Some headlines can be read both ways:
    *british left waffles on falkland islands*.
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
    """Texts to learn a language from, `count` of them: stories, headlines, and questions with a text after them.

    Returns:
        Each a list of sentences in their order.
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
    """Sentences with one person and one animal: which of the two acts? Neither verb nor place tells.

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
    """Sentences with two people, with two animals, or with one of each. No word by itself tells which.

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
    """A sentence in which one does something to the other that anybody might do."""
    sentence = _a(rng, actor) + told(rng.choice(SHARED_VERBS), "VERB") + _a(rng, other)
    return (sentence + (_place(rng) if rng.random() < 0.5 else Told((), ())) + STOP).text


def tagged(count: int, seed: int) -> list[Told]:
    """Sentences and headlines, in equal numbers, with their tags."""
    rng = random.Random(seed)
    return [headline(rng)[0] if rng.random() < 0.5 else story(rng)[0] for _ in range(count)]


@dataclass(frozen=True)
class Question:
    """A question about a text, and where in the text its answer is.

    Attributes:
        question, text: between spaces.
        first, last: the answer's words, counted from 0, both included.
    """

    question: str
    text: str
    first: int
    last: int

    @property
    def answer(self) -> str:
        """The answer in words."""
        return " ".join(self.text.split()[self.first : self.last + 1])


ASKED = ("who did it ?", "to whom ?", "where ?")
"""What is asked about a sentence."""


def questions(count: int, seed: int) -> list[Question]:
    """Somebody does something to somebody somewhere: who, to whom, or where?"""
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
    """Questions about a text in which two things happen: the words of the question must be found in it first."""
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
    """A sentence about two, and one after it about one of them.

    Attributes:
        first, second: between spaces.
        label: which of the two the second is about, an index into `MEANT`.
        kinds: what the two are, from `COUPLES`.
    """

    first: str
    second: str
    label: int
    kinds: str


MEANT = ("who acts", "the other")
"""The labels of `mentions`."""

COUPLES = ("a person and an animal", "a woman and a man")
"""Who may meet; the pronoun tells them apart."""


def mentions(count: int, seed: int) -> list[Mention]:
    """Whom is the second text about? The pronoun tells, and who of the two acts in the first."""
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
