"""Small tasks made from the toy grammar, one for each kind of head. A model learns them in seconds.

Each is made so that the words alone do not answer it: a word's place and its neighbours do. So a bag of embeddings
fails where a model that sees the whole sentence does not. As for translation, the held-out sentences have clauses of
structures that are never trained.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from course_lib.objectives.labelled_data import LabelledText
from course_lib.text.tokenization import END_ID, START_ID, JoinedPair, WordVocabulary, join_pair
from course_lib.toys.grammar import (
    Clause,
    NounPhrase,
    Sentence,
    Subordinate,
    is_held_out,
    random_clause,
    random_sentence,
)
from course_lib.toys.lexicon import (
    ADJECTIVES,
    ADJECTIVES_OF_THE_LIVING,
    ADVERBS,
    CONJUNCTIONS,
    LIVING,
    MY,
    PREPOSITIONS,
    THE,
    THINGS,
    THIS,
    VERBS,
    A,
    Noun,
)

CLS_ID, SEP_ID = START_ID, END_ID
"""In these vocabularies <s> does the work of [CLS], and <e> that of [SEP]."""

MASK = "[MASK]"
"""Stands for a word that is to be guessed."""


PATIENCE = 100_000
"""How many draws without a new example are enough to give up."""


@dataclass(frozen=True)
class ToyTask:
    """Examples to learn from, and others to test on.

    Attributes:
        training: what to learn from.
        held_out: what to test on.
        vocabulary: of all the words.
        labels: what the labels mean; empty where a label is a place, a choice or a word.
    """

    training: list[LabelledText]
    held_out: list[LabelledText]
    vocabulary: WordVocabulary
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Draft:
    """An example in words: pairs of texts, with a second one or not, and its labels; None for the words themselves."""

    texts: tuple[tuple[str, str | None], ...]
    labels: int | list[int] | None


def _task(
    draw: Callable[[random.Random], tuple[Sentence, _Draft] | None],
    training: int,
    held_out: int,
    seed: int,
    labels: Sequence[str] = (),
    more_words: Sequence[str] = (),
) -> ToyTask:
    """Draw different examples until there are enough for both sides; `draw` may say None, and is asked again."""
    if training < 1 or held_out < 1:
        raise ValueError(f"a task needs examples on both sides, not {training} and {held_out}")
    rng = random.Random(seed)
    sides: dict[bool, dict[tuple[tuple[str, str | None], ...], _Draft]] = {False: {}, True: {}}
    wanted = {False: training, True: held_out}
    vain = 0
    while any(len(sides[side]) < wanted[side] for side in sides):
        vain += 1
        if vain > PATIENCE:
            counts = f"{len(sides[False])} to train on and {len(sides[True])} held out"
            raise ValueError(f"there are hardly more different examples than {counts}: ask for fewer")
        drawn = draw(rng)
        if drawn is None:
            continue
        sentence, draft = drawn
        side = sides[is_held_out(sentence)]
        if len(side) < wanted[is_held_out(sentence)] and draft.texts not in side:
            side[draft.texts] = draft
            vain = 0
    drafts = [*sides[False].values(), *sides[True].values()]
    texts = [text for draft in drafts for pair in draft.texts for text in pair if text is not None]
    vocabulary = WordVocabulary.from_sentences([*texts, *more_words])
    examples = [_encoded(draft, vocabulary) for draft in drafts]
    return ToyTask(examples[:training], examples[training:], vocabulary, tuple(labels))


def _encoded(draft: _Draft, vocabulary: WordVocabulary) -> LabelledText:
    inputs = tuple(_joined(vocabulary, first, second) for first, second in draft.texts)
    labels = inputs[0].ids if draft.labels is None else draft.labels
    return LabelledText(inputs, torch.tensor(labels))


def _joined(vocabulary: WordVocabulary, first: str, second: str | None) -> JoinedPair:
    behind = None if second is None else vocabulary.encode(second)
    return join_pair(vocabulary.encode(first), behind, cls_id=CLS_ID, sep_id=SEP_ID)


# --- One label for a sentence ----------------------------------------------------------------------------------

PEOPLE = frozenset({"woman", "queen", "man", "king", "boy", "child", "girl"})
"""Those of the living who are not animals."""


def person_or_animal(training: int = 6000, held_out: int = 500, seed: int = 0) -> ToyTask:
    """Sequence classification: is the subject of the main clause a person or an animal?

    There is one of each kind in every sentence, such as *the dog followed the queen*, so that the words alone say
    nothing.
    """

    def draw(rng: random.Random) -> tuple[Sentence, _Draft] | None:
        sentence = random_sentence(rng)
        subject = sentence.main.subject
        if not isinstance(subject, NounPhrase):
            return None
        others = [noun for noun in _nouns(sentence) if noun is not subject.noun and noun in LIVING]
        if not others or any(_is_person(noun) == _is_person(subject.noun) for noun in others):
            return None
        return sentence, _Draft(((" ".join(sentence.in_english()), None),), int(_is_person(subject.noun)))

    return _task(draw, training, held_out, seed, labels=("animal", "person"))


def _nouns(sentence: Sentence) -> list[Noun]:
    phrases = [phrase for clause in sentence.clauses for phrase in (clause.subject, clause.complement)]
    return [phrase.noun for phrase in phrases if isinstance(phrase, NounPhrase)]


def _is_person(noun: Noun) -> bool:
    return noun.english in PEOPLE


# --- A label for every word ------------------------------------------------------------------------------------

ROLES = ("other", "subject", "verb", "object", "preposition", "its noun")
"""The parts that words play in a clause."""


def roles(training: int = 4000, held_out: int = 400, seed: int = 0) -> ToyTask:
    """Token classification: what does each word do? *the cat* is subject, object, or after a preposition."""

    def draw(rng: random.Random) -> tuple[Sentence, _Draft]:
        sentence = random_sentence(rng)
        tagged = [("<s>", "other"), *_tagged(sentence), ("<e>", "other")]
        text = " ".join(sentence.in_english())
        return sentence, _Draft(((text, None),), [ROLES.index(role) for _, role in tagged])

    return _task(draw, training, held_out, seed, labels=ROLES)


def _tagged(sentence: Sentence) -> list[tuple[str, str]]:
    """The English words with their roles, in the order of `Sentence.in_english`."""
    opening = sentence.opening
    if isinstance(opening, Subordinate):
        before = [(opening.conjunction[0], "other"), *_tagged_clause(opening.clause), (",", "other")]
    else:
        before = [(opening[0], "other")] if opening else []
    closing = sentence.closing
    behind = [(closing.conjunction[0], "other"), *_tagged_clause(closing.clause)] if closing else []
    return [*before, *_tagged_clause(sentence.main), *behind]


def _tagged_clause(clause: Clause) -> list[tuple[str, str]]:
    tagged = [(word, "subject") for word in clause.subject.in_english()] + [(clause.verb.english, "verb")]
    role = "object"
    if clause.preposition:
        tagged.append((clause.preposition.english, "preposition"))
        role = "its noun"
    return tagged + [(word, role) for word in (clause.complement.in_english() if clause.complement else [])]


# --- A span ----------------------------------------------------------------------------------------------------

QUESTIONS = {"who": "who did it ?", "verb": "what did they do ?", "whom": "to whom ?"}
"""What is asked about the main clause."""


def who_did_what(training: int = 6000, held_out: int = 400, seed: int = 0) -> ToyTask:
    """Question answering: where in *because a dog slept , the cat saw a bird* is the answer to *who did it ?*

    It asks for the subject, the verb or the object of the main clause; a subordinate clause has its own, which are
    wrong. The question is the first text, the sentence the second.
    """

    def draw(rng: random.Random) -> tuple[Sentence, _Draft] | None:
        sentence = random_sentence(rng)
        main = sentence.main
        if main.complement is None or main.preposition:
            return None
        asked = rng.choice(sorted(QUESTIONS))
        subject, complement = main.subject.in_english(), main.complement.in_english()
        begins = {"who": 0, "verb": len(subject), "whom": len(subject) + 1}[asked]
        words = {"who": len(subject), "verb": 1, "whom": len(complement)}[asked]
        # [CLS] question [SEP] comes before the sentence, and perhaps an opening before the main clause.
        first = 2 + len(QUESTIONS[asked].split()) + _words_before_main(sentence) + begins
        draft = _Draft(((QUESTIONS[asked], " ".join(sentence.in_english())),), [first, first + words - 1])
        return sentence, draft

    return _task(draw, training, held_out, seed)


def _words_before_main(sentence: Sentence) -> int:
    behind = sentence.closing.in_english() if sentence.closing else []
    return len(sentence.in_english()) - len(sentence.main.in_english()) - len(behind)


# --- A choice --------------------------------------------------------------------------------------------------


def word_order(training: int = 6000, held_out: int = 400, seed: int = 0) -> ToyTask:
    """Multiple choice: how does *weil*, or *gestern*, go on: with the verb first, second, or last?

    The three choices have the same words, so that a bag of embeddings can only guess.
    """

    def draw(rng: random.Random) -> tuple[Sentence, _Draft] | None:
        clause = random_clause(rng)
        if clause.complement is None:
            return None  # without one, a verb that stands second stands last
        adverb, conjunction = rng.choice(ADVERBS)[1], rng.choice(CONJUNCTIONS)[1]
        orders = [
            " ".join(words)
            for words in (
                clause.in_german("verb first"),
                clause.in_german("verb second"),
                clause.in_german("verb last"),
            )
        ]
        first, right = rng.choice([(adverb, orders[0]), (conjunction, orders[2])])
        rng.shuffle(orders)
        return Sentence(clause), _Draft(tuple((first, german) for german in orders), orders.index(right))

    return _task(draw, training, held_out, seed)


# --- Words ---------------------------------------------------------------------------------------------------------


def habits(training: int = 4000, held_out: int = 400, seed: int = 0) -> ToyTask:
    """Masked language modelling, each word being its own label: what belongs together in a small world?

    Everyone there has one number, one determiner, one adjective and one verb, and everything one preposition, so
    that a hidden word follows from those around it, on both sides. The vocabulary knows [MASK]; `MaskedWords` hides.
    """

    def draw(rng: random.Random) -> tuple[Sentence, _Draft]:
        closing = Subordinate(rng.choice(CONJUNCTIONS), _habit(rng)) if rng.random() < 0.5 else None
        sentence = Sentence(_habit(rng), closing=closing)
        return sentence, _Draft(((" ".join(sentence.in_english()), None),), None)

    return _task(draw, training, held_out, seed, more_words=(MASK,))


def _habit(rng: random.Random) -> Clause:
    """Someone does what they do, with, without, behind or beside something."""
    actor, thing = rng.randrange(len(LIVING)), rng.randrange(len(THINGS))
    return Clause(
        _habitual(actor, LIVING, ADJECTIVES + ADJECTIVES_OF_THE_LIVING),
        VERBS[actor % len(VERBS)],
        _habitual(thing, THINGS, ADJECTIVES),
        PREPOSITIONS[thing % len(PREPOSITIONS)],
    )


def _habitual(index: int, among: Sequence[Noun], adjectives: Sequence[tuple[str, str]]) -> NounPhrase:
    """The noun of this index as it always is; with its verb or preposition, no two are the same in all the rest."""
    plural = index % 2 == 1
    fitting = (THE, THIS, MY) if plural else (THE, THIS, A, MY)
    return NounPhrase(fitting[index % len(fitting)], among[index], adjectives[index % len(adjectives)], plural)
