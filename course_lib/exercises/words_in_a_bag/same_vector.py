"""Lesson 00, words_in_a_bag.same_vector: Predict: which sentences look alike?."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import torch
from torch import Generator

from course_lib import bags
from course_lib.exercises.words_in_a_bag.shared import LESSON, WITHHELD
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception

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
        yield Case("where only stands", ("she only eats pizza", "only she eats pizza"))
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


_slip = partial(Edited, bags.same_vector)
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
    lesson=LESSON,
    name="same_vector",
    title="Predict: which sentences look alike?",
    statement=(
        "same_vector(first, second) -> bool: whether mean pooling gives two sentences (str, words between spaces) the "
        "same vector, whatever the embeddings are."
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
    hints=(
        Hint(
            "idea",
            "A mean weighs each word by its share of the sentence. Work out the mean of “ha” and that of “ha ha ha” "
            "before you decide what to compare.",
        ),
        Hint(
            "outline",
            "Split both sentences at their spaces.\n"
            "Repeat each sentence as many times as the other has words, so that both are equally long.\n"
            "Count the words of both with `Counter`; equal counts now mean equal shares.",
            answers=("whole_multiples", "divided_by_the_smallest_count", "repeated_in_order"),
        ),
    ),
    misconceptions=(
        Misconception(
            "counts_must_be_equal",
            "Your answer is True only where everything occurs equally often in both. Nearly: `ha` and `ha ha ha` have "
            "the same mean. Compare shares: a word's count, divided by the number of words in its own sentence.",
            _slip((_SAME, "ours == theirs")),
        ),
        Misconception(
            "order_matters",
            "You expect that the order of the words changes their mean. It does not: a sum is the same in every "
            "order, and so is a mean. Compare which words there are, and how often.",
            _slip((_SAME, "first == second")),
        ),
        Misconception(
            "repeated_in_order",
            "You allow for a sentence that is repeated, but expect the order of its words to matter. A sum is the "
            "same in every order: sort the words before you compare them.",
            lambda first, second: first.split() * len(second.split()) == second.split() * len(first.split()),
        ),
        Misconception(
            "words_without_counts",
            "Your answer asks only which words occur, not how often. A word that occurs twice pulls the mean twice as "
            "hard: compare each word's share of its sentence.",
            _slip((_SAME, "ours.keys() == theirs.keys()")),
        ),
        Misconception(
            "words_and_length",
            "Your answer asks which words occur, and how many words there are in all. It depends on how often each of "
            "them occurs: compare each word's share of its sentence.",
            _slip((_SAME, "ours.keys() == theirs.keys() and words == others")),
        ),
        Misconception(
            "counts_without_words",
            "Your answer compares how often words occur, but not which words. Other words have other vectors: compare "
            "word by word, each with its share of the sentence.",
            _slip((_SAME, "sorted(ours.values()) == sorted(theirs.values())")),
        ),
        Misconception(
            "divided_by_the_smallest_count",
            "Your answer divides the counts by the smallest of them and drops what remains: two and three become one "
            "and one. Divide by the number of words in the sentence, with / and not //.",
            _slip(
                ("ours[word] * others", "ours[word] // min(ours.values())"),
                ("theirs[word] * words", "theirs[word] // min(theirs.values())"),
            ),
        ),
        Misconception(
            "letters",
            "Your answer compares letters. The bag holds words: `dog` and `god` have different vectors. Split the "
            "sentences at their spaces.",
            _slip(("first.split()", "first.replace(' ', '')"), ("second.split()", "second.replace(' ', '')")),
        ),
        Misconception(
            "whole_multiples",
            "Your answer allows one sentence to be the other repeated a whole number of times. Repeated twice and "
            "three times, a sentence has the same mean as well: compare shares, or repeat each as many times as the "
            "other has words.",
            _slip(("* others", "* max(1, others // words)"), ("* words", "* max(1, words // others)")),
        ),
        Misconception(
            "first_in_second",
            "Your answer asks whether the second sentence has all the words of the first. It may have others as well, "
            "or have some more often: compare each word's share of its sentence, for the words of both.",
            _slip((_SAME, "ours.keys() <= theirs.keys()")),
        ),
        Misconception(
            "common_words_only",
            "Your answer compares the shares of those words only that both sentences have. A word that only one of "
            "them has changes the mean as well: go through the words of both, set(a) | set(b).",
            _slip(("ours | theirs", "ours & theirs")),
        ),
        Misconception(
            "one_word_decides",
            "Your answer looks only at the first word: a return in a loop ends it in the first round. Return False "
            "where a share differs, and True only after the loop.",
            _slip(("ours | theirs", "first.split()[:1]")),
        ),
        Misconception(
            "always",
            "You expect the same vector for any two sentences. A sentence with other words has another mean: compare "
            "which words there are, and how large a share each has.",
            _slip((_SAME, "True")),
        ),
        Misconception(
            "never",
            "You expect that no two sentences have the same vector. Sums do not depend on the order, so `the dog "
            "chased the cat` and `the cat chased the dog` do: compare which words there are, and their shares.",
            _slip((_SAME, "False")),
        ),
        Misconception(
            "inverted",
            "Your answer is True where it should be False, and the other way round. Return True where the two vectors "
            "are the same.",
            _slip(("return all", "return not all")),
        ),
    ),
    withheld=WITHHELD,
)
