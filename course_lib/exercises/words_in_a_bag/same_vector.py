"""Lesson 00, words_in_a_bag.same_vector: Predict: which sentences look alike?."""

import random
from collections.abc import Iterator
from fractions import Fraction

import torch
from torch import Generator

from course_lib import bags
from course_lib.exercises.common import hints, slips
from course_lib.judging.exercise import Case, Exercise

_WORDS = ("the", "a", "dog", "cat", "cow", "mouse", "chased", "saw", "only", "slept", "never", "god", "was", "on", "no")
"""Some of them are others with their letters shuffled."""


def _shuffled(words: list[str], rng: random.Random) -> str:
    """The words in a different order."""
    while (drawn := rng.sample(words, len(words))) == words:
        pass
    return " ".join(drawn)


def _same_vector_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: who chased whom", ("the dog chased the cat", "the cat chased the dog"))
        yield Case("the same sentence", ("the cat slept", "the cat slept"))
        yield Case("only in another position", ("she only eats pizza", "only she eats pizza"))
        yield Case("another word", ("the animal was too tired", "the animal was too wide"))
        yield Case("one word more often", ("the dog saw the cat", "the dog saw cat"))
        yield Case("the same words, other counts", ("no no no dog", "no dog dog dog"))
        yield Case("the same letters", ("the dog was on", "the god saw no"))
        yield Case("laughing longer", ("ha", "ha ha ha"))
        yield Case("two of each, three of each", ("ha ha oh oh", "ha ha ha oh oh oh"))
        yield Case("nearly as many", ("ha oh", " ".join(["ha"] * 6 + ["oh"] * 5)))
        yield Case("twice as often, and once more", ("ha ha ha ha oh oh oh oh oh", "ha ha oh oh"))
        yield Case("said twice", ("meow meow cat", "cat meow meow cat meow meow"))
        yield Case("a word more", ("the dog slept", "the old dog slept"))
        yield Case("a word less", ("the old dog slept", "the dog slept"))
        yield Case("laughing less", ("ha ha ha", "ha"))
        yield Case("backwards", ("a cow saw the dog", "dog the saw cow a"))
        yield Case("other words, as often", ("the cat saw the dog", "a cow chased a mouse"))
        return
    rng = random.Random(int(torch.randint(2**31, (), generator=generator)))
    for number in range(1, 3):
        words = rng.sample(_WORDS[:11], 5) + ["the", "the"]
        text = " ".join(words)
        yield Case(f"another order, {number}", (text, _shuffled(words, rng)))
        yield Case(f"the same sentence, {number}", (text, text))
        yield Case(f"backwards, {number}", (text, " ".join(reversed(words))))
        yield Case(f"another word, {number}", (text, _shuffled([*words[1:], "penguin"], rng)))
        yield Case(f"other counts, {number}", (text, _shuffled([*words[:-1], words[0]], rng)))
        several = _shuffled(words * (number + 1), rng)
        yield Case(f"said {number + 1} times", (text, several) if number == 1 else (several, text))
        yield Case(f"a word once more, {number}", (text, _shuffled([*words, words[0]], rng)))
        yield Case(f"a word more, {number}", (text, _shuffled([*words, "penguin"], rng)))
        yield Case(f"a word less, {number}", (_shuffled([*words, "penguin"], rng), text))
        yield Case(f"the same letters, {number}", (f"the dog {text}", f"the god {text}"))
        yield Case(f"{number + 1} times and {number + 2} times", _repeated(words, number + 1, number + 2, rng))
        yield Case(f"{number + 2} times and {number + 1} times", _repeated(words, number + 2, number + 1, rng))
    a, b = rng.sample(_WORDS, 2)
    for times in (rng.randint(5, 9), rng.randint(50, 60)):
        nearly = _shuffled([a] * (times + 1) + [b] * times, rng)
        yield Case(f"{times + 1} of one and {times} of the other are nearly halves", (f"{a} {b}", nearly))
    times = rng.randint(2, 4)
    halves = _shuffled([a] * times + [b] * times, rng)
    yield Case("twice as often, and once more", (_shuffled([a] * 2 * times + [b] * (2 * times + 1), rng), halves))


def _repeated(words: list[str], first: int, second: int, rng: random.Random) -> tuple[str, str]:
    """The same words a given number of times, in other orders."""
    return _shuffled(words * first, rng), _shuffled(words * second, rng)


_SAME = "all(ours[word] * others == theirs[word] * words for word in ours | theirs)"


def _same_shares(first: str, second: str) -> bool:
    def shares(text: str) -> dict[str, Fraction]:
        words = text.split()
        return {word: Fraction(words.count(word), len(words)) for word in words}

    return shares(first) == shares(second)


def _same_by_repeating(first: str, second: str) -> bool:
    ours, theirs = first.split(), second.split()
    return sorted(ours * len(theirs)) == sorted(theirs * len(ours))


def _same_by_random_embeddings(first: str, second: str) -> bool:
    words = sorted(set(first.split()) | set(second.split()))
    table = torch.randn(len(words), 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    means = [table[[words.index(word) for word in text.split()]].mean(0) for text in (first, second)]
    return torch.allclose(means[0], means[1])


EXERCISE = Exercise(
    id="words_in_a_bag.same_vector",
    title="Predict: which sentences look alike?",
    statement=(
        "same_vector(first, second) -> bool: whether mean pooling gives two sentences (str, words separated by spaces) "
        "the same vector, whatever the embeddings are."
    ),
    points=2,
    minutes=10,
    difficulty=2,
    importance=3,
    section="What a bag forgets",
    source="S3, order matters",
    reference=bags.same_vector,
    cases=_same_vector_cases,
    correct=(_same_shares, _same_by_repeating, _same_by_random_embeddings),
    hints=hints(
        idea=(
            "A mean weights each word by its share of the sentence. Work out the means of “ha” and “ha ha ha” before "
            "you decide what to compare."
        ),
        outline=(
            "Split both sentences at their spaces.\n"
            "Repeat each sentence as many times as the other has words, so that both have the same length.\n"
            "Count the words of both repeated sentences with `Counter`. Equal counts now mean equal shares.",
            ("whole_multiples",),
        ),
    ),
    misconceptions=slips(
        bags.same_vector,
        counts_must_be_equal=(
            "Your answer compares counts. But `ha` and `ha ha ha` have the same mean: compare shares, each word's "
            "count divided by the length of its sentence.",
            (_SAME, "ours == theirs"),
        ),
        order_matters=(
            "Your answer assumes that word order changes the mean, but a sum is the same in any order. Compare which "
            "words occur and how often they occur.",
            (_SAME, "first == second"),
        ),
        words_without_counts=(
            "Your answer compares which words occur, but not how often. A word that occurs twice counts twice in the "
            "mean: compare each word's share of its sentence.",
            (_SAME, "ours.keys() == theirs.keys()"),
        ),
        words_and_length=(
            "Your answer compares only which words occur and how long the sentences are. It also matters how often "
            "each word occurs: compare each word's share of its sentence.",
            (_SAME, "ours.keys() == theirs.keys() and words == others"),
        ),
        counts_without_words=(
            "Your answer compares how often words occur, but not which words they are. Different words have different "
            "vectors, so compare each word's share of the first sentence with its share of the second.",
            (_SAME, "sorted(ours.values()) == sorted(theirs.values())"),
        ),
        letters=(
            "Your answer compares letters. A bag holds words, so split the sentences at their spaces.",
            ("first.split()", "first.replace(' ', '')"),
            ("second.split()", "second.replace(' ', '')"),
        ),
        whole_multiples=(
            "Your answer works only if one sentence is the other repeated a whole number of times. But a sentence "
            "repeated twice has the same mean as that sentence repeated three times: compare shares, or repeat each "
            "sentence as many times as the other has words.",
            ("* others", "* max(1, others // words)"),
            ("* words", "* max(1, words // others)"),
        ),
        common_words_only=(
            "Your answer compares shares only for words that both sentences have. A word that occurs in only one of "
            "them changes the mean too: go through the words of both, set(a) | set(b).",
            ("ours | theirs", "ours & theirs"),
        ),
        one_word_decides=(
            "Your answer looks only at the first word: a return inside a loop ends the loop in its first iteration. "
            "Return False where a share differs, and return True after the loop.",
            ("ours | theirs", "first.split()[:1]"),
        ),
        always=(
            "Your answer is True for any two sentences. Compare each word's share of one sentence with its share of "
            "the other.",
            (_SAME, "True"),
        ),
        never=(
            "Your answer is False for any two sentences. A sum is the same in any order, so `the dog chased the cat` "
            "and `the cat chased the dog` have the same vector. Compare each word's share of one sentence with its "
            "share of the other.",
            (_SAME, "False"),
        ),
        inverted=(
            "Your answer has True and False swapped. Return True when the two vectors are the same.",
            ("return all", "return not all"),
        ),
    ),
)
