"""Lesson 08, subwords.decode: And back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from torch import Generator

from course_lib.exercises.common import integer
from course_lib.exercises.subwords.shared import LESSON, RESEARCH, WITHHELD, ids_of, random_source
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.text import subwords
from course_lib.text.subwords import MARK


def _decode_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: playing, played", (["▁play", "ing", "▁play", "ed"],))
        yield Case("one word", (["▁", "c", "at"],))
        yield Case("a mark that is a piece of its own", (["▁play", "▁", "c", "at"],))
        yield Case("beginning within a word", (["ing", "▁play", "ed"],))
        yield Case("no pieces", ([],))
        yield Case("a word with a hyphen", (["▁Gesundheits", "-", "Forschungs", "-", "Institut", "▁ist", "▁zu"],))
        return
    rng = random_source(generator)
    for number in range(1, 4):
        merges = subwords.learn_merges(RESEARCH, ids_of(RESEARCH), integer(generator, 5, 25))
        words = ["".join(word).removeprefix(MARK) for word in rng.sample(list(RESEARCH), 4)]
        pieces = subwords.encode_pieces(" ".join(words), merges)
        yield Case(f"German words, {number}", (pieces,))
        yield Case(f"German words from the middle of one, {number}", (pieces[2:],))


def _decode_at_once(pieces: list[str]) -> str:
    text = "".join(pieces)
    return text.replace("▁", " ").strip(" ")


_slip = partial(Edited, _decode_at_once)
_NOT_STRIPPED, _BETWEEN = ('.strip(" ")', ""), ('"".join', '" ".join')


def _decode_by_loop(pieces: list[str]) -> str:
    text = ""
    for piece in pieces:
        for character in piece:
            text += " " if character == "▁" else character
    return text.lstrip(" ")


EXERCISE = Exercise(
    id="subwords.decode",
    lesson=LESSON,
    name="decode",
    title="And back",
    statement=(
        "decode(pieces: list of str) -> str: the text that the pieces spell, with a space where a word begins, but "
        "none before the first word."
    ),
    points=1,
    minutes=6,
    difficulty=1,
    importance=3,
    section="Words that were never seen",
    source="Kudo and Richardson (2018), section 3.1, lossless tokenization",
    reference=subwords.decode_pieces,
    cases=_decode_cases,
    correct=(
        _decode_at_once,
        _decode_by_loop,
        lambda pieces: "".join(pieces).removeprefix("▁").replace("▁", " "),
    ),
    hints=(
        Hint(
            "idea",
            "Join all pieces first. Then only one question remains: what does a ▁ at the very beginning stand for?",
        ),
    ),
    misconceptions=(
        Misconception(
            "spaces_between_pieces",
            "Your answer puts a space between all pieces. Spaces are where ▁ is: join the pieces with nothing between "
            "them, and replace ▁ by a space.",
            _slip(_BETWEEN, ('.replace("▁", " ").strip(" ")', '.replace("▁", "")')),
        ),
        Misconception(
            "spaces_between_pieces_and_words",
            "Your answer puts a space between all pieces, and one more where ▁ is. Join the pieces with nothing "
            "between them, and replace ▁ by a space.",
            _slip(_BETWEEN, paired=False),
        ),
        Misconception(
            "marks_kept",
            "Your answer still has the ▁ in it. Replace each by a space.",
            _slip(('.replace("▁", " ")', "")),
        ),
        Misconception(
            "no_spaces",
            "Your answer has no spaces: the ▁ are gone without a trace. Replace each by a space.",
            _slip(('"▁", " "', '"▁", ""')),
        ),
        Misconception(
            "space_in_front",
            "Your answer begins with a space. The first word's ▁ stands for none: strip it.",
            _slip(_NOT_STRIPPED),
        ),
        Misconception(
            "beginning_dropped",
            "Your answer drops what stands before the first ▁. A model may begin in the middle of a word: its letters "
            "stay.",
            _slip(('"".join(pieces)', '"▁" + "".join(pieces).partition("▁")[2]')),
        ),
        Misconception(
            "first_character_cut",
            "Your answer cuts off the first character, whatever it is. Where the pieces begin within a word, that is a "
            "letter: strip only a space.",
            _slip(('.strip(" ")', "[1:]")),
        ),
        Misconception(
            "list_of_words",
            "Your answer is a list of words. Return one string, with a space between them.",
            _slip(('.strip(" ")', '.strip(" ").split(" ")'), paired=False),
        ),
    ),
    withheld=WITHHELD,
)
