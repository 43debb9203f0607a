"""Lesson 08, subwords.encode: Encoding a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise

from torch import Generator

from course_lib.exercises.common import alike, integer
from course_lib.exercises.subwords.shared import (
    FEW_LETTERS,
    GERMAN,
    PLAY,
    RESEARCH,
    ids_of,
    join_in_a_list,
    random_source,
    random_words,
)
from course_lib.judging.edits import Edited
from course_lib.judging.exercise import Case, Exercise, Hint, Misconception
from course_lib.judging.ready_made import TOKENIZERS
from course_lib.text import subwords
from course_lib.text.subwords import Merge, Pieces


def _learned(words: Mapping[Pieces, int], merges: int) -> list[Merge]:
    """Pairs learned from words, up to the first token that two pairs make.

    As long as every pair makes a new token, merging the pairs one after another and always merging the one that was
    learned first give the same result; and both are honest readings of the paper.
    """
    learned = subwords.learn_merges(words, ids_of(words), merges)
    made = ["".join(pair) for pair in learned]
    first = next((i for i, token in enumerate(made) if token in made[:i]), len(made))
    return learned[:first]


def _encode_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    play = _learned(PLAY, 7)
    if not hidden:
        yield Case("worked example: two words of the text, and stay, which is new", ("play played stay", play))
        yield Case("Gesundheitsforschungsinstitut", ("gesundheitsforschungsinstitut", _learned(RESEARCH, 30)))
        yield Case("no pairs", ("A cat", []))
        yield Case("an empty text", ("", play))
        yield Case("an unknown character", ("pläy play", play))
        yield Case("several spaces", ("  play   playing play ", play))
        yield Case("the later pair is further left", ("abc", [("b", "c"), ("a", "b")]))
        yield Case("the earlier pair is further left", ("abc", [("a", "b"), ("b", "c")]))
        yield Case("the longest token is merged from the right", ("abc", [("b", "c"), ("a", "b"), ("a", "bc")]))
        yield Case("more than once", ("banana", [("a", "n"), ("an", "a"), ("▁", "b")]))
        yield Case("three equal characters in a row", ("aaa baaaaa", [("a", "a")]))
        return
    rng = random_source(generator)
    for number in range(1, 4):
        merges = _learned(random_words(rng, FEW_LETTERS, 7), integer(generator, 4, 9))
        words = ["".join(rng.choice("aabbc") for _ in range(integer(generator, 3, 8))) for _ in range(5)]
        text = " ".join([*words, words[0], "baaa"])
        yield Case(f"few letters, {number}", (text, merges))
    merges = _learned({("▁", *"aaa"): rng.randint(3, 9), ("▁", *"baaaab"): 2}, 3)
    rows = rng.sample(range(2, 12), 6)
    yield Case("equal characters in a row", (" ".join("b" * (n % 2) + "a" * n for n in rows), merges))
    merges = _learned(random_words(rng, GERMAN.split(), 8), 25)
    yield Case("compounds", (" ".join("".join(rng.sample(GERMAN.split(), 2)) for _ in range(3)), merges))


def _encode_in_place(text: str, merges: list[Merge]) -> list[str]:
    found: list[str] = []
    for word in text.split():
        tokens = ["▁", *word]
        for left, right in merges:
            i = 0
            while i < len(tokens) - 1:
                if tokens[i : i + 2] == [left, right]:
                    tokens[i : i + 2] = [left + right]
                i += 1
        found.extend(tokens)
    return found


_slip = partial(Edited, _encode_in_place)
_MARKED, _WALK, _JOINED = '["▁", *word]', "i = 0\n            while i < len(tokens) - 1:", "= [left + right]"
_NEXT_MARK = (_MARKED, "[*next(markers), *word]")
_JOINED_ONCE = (_JOINED, f"{_JOINED}\n                    break")


def _encode_by_rank(text: str, merges: list[Merge]) -> list[str]:
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    found: list[str] = []
    for word in text.split():
        tokens = list("▁" + word)
        while True:
            known = [(ranks[pair], pair) for pair in pairwise(tokens) if pair in ranks]
            if not known:
                break
            tokens = list(join_in_a_list(tuple(tokens), min(known)[1]))
        found += tokens
    return found


def _encode_by_regular_expressions(text: str, merges: list[Merge]) -> list[str]:
    row = " ".join("".join("▁" + word for word in text.split()))
    for pair in merges:
        row = re.sub(r"(?<!\S)" + re.escape(" ".join(pair)) + r"(?!\S)", "".join(pair), row)
    return row.split()


EXERCISE = Exercise(
    id="subwords.encode",
    name="encode",
    title="Encoding a text",
    statement=(
        "encode(text: str, merges: list of pairs in the order in which they were learned) -> list of str: the tokens "
        "of all words. Each word is ▁ and its characters at first; then every pair is merged in that order, from left "
        "to right."
    ),
    points=4,
    minutes=15,
    difficulty=4,
    importance=5,
    section="Words that were never seen",
    source="Sennrich et al. (2016), section 3.2; S4",
    reference=subwords.encode_pieces,
    cases=_encode_cases,
    correct=(_encode_in_place, _encode_by_rank, _encode_by_regular_expressions),
    hints=(
        Hint(
            "idea",
            "The order of the merges matters: merge the pair learned first everywhere in the word before you try the "
            "next one. The marker is a token at the start of the word, and merges like any other.",
        ),
        Hint(
            "shapes",
            "Each word becomes a list: the marker, then its characters. At the end, join the lists of all words into "
            "one list of strings. `split` without an argument never leaves empty words, however many spaces there are.",
            answers=("split_at_every_space", "last_word_only", "word_by_word", "repeated_words_once"),
        ),
        Hint(
            "outline",
            "Go through the words of the text.\n"
            "Start with the marker and the characters as single tokens.\n"
            "For each merge, in the order of learning, go through the tokens from left to right.\n"
            "Where a token and the next one are the pair, replace both with the merged token, and move on.\n"
            "Add the tokens of the word to the result.",
            answers=(
                "loops_exchanged",
                "longest_piece_first",
                "leftmost_pair_first",
                "joined_from_the_right",
                "skips_behind_a_joined_piece",
                "stops_at_a_missing_pair",
            ),
        ),
    ),
    misconceptions=(
        *alike(
            "Your answer leaves out a ▁. Add one before every word, including the first, and before you split the "
            "word into characters.",
            not_marked=_slip((_MARKED, "[*word]")),
            first_word_not_marked=_slip(
                ("found: list[str] = []", "found, markers = [], iter(['', *'▁' * len(text)])"), _NEXT_MARK
            ),
        ),
        Misconception(
            "marked_afterwards",
            "Your answer adds ▁ after merging, so it misses the pairs with ▁. Add it before you merge: it is a token "
            "like the others.",
            _slip((_MARKED, "[*word]"), ("extend(tokens)", 'extend(["▁" + tokens[0], *tokens[1:]])')),
        ),
        Misconception(
            "longest_piece_first",
            "Your answer always takes the longest known token from the left, as WordPiece does. Byte-pair encoding "
            "merges pairs in the order in which they were learned.",
            _slip(
                (
                    _MARKED,
                    "sorted((re.escape(left + right) for left, right in merges), key=len, reverse=True)\n"
                    "        tokens = re.findall('|'.join([*tokens, '.']), '▁' + word)",
                ),
                ("right in merges", "right in ()"),
            ),
        ),
        *alike(
            "Your answer merges whichever known pair comes first in the word. Merge the pair that was learned first, "
            "everywhere in the word, before you try the next.",
            leftmost_pair_first=_slip(
                (
                    "for left, right in merges:",
                    "while pair := next((pair for pair in pairwise(tokens) if pair in merges), ()):\n"
                    "            left, right = pair",
                ),
                _JOINED_ONCE,
                paired=False,
            ),
            loops_exchanged=_slip(
                (
                    f"for left, right in merges:\n            {_WALK}",
                    "i = 0\n        while i < len(tokens) - 1:\n            for left, right in merges:",
                ),
                ("\n                i += 1", "\n            i += 1"),
            ),
        ),
        *alike(
            "Your answer skips merges. Merge every occurrence of every pair, and continue if a word does not have one.",
            stops_at_a_missing_pair=_slip(
                ("i = 0", "if (left, right) not in pairwise(tokens):\n                break\n            i = 0")
            ),
            one_place_only=_slip(_JOINED_ONCE),
        ),
        Misconception(
            "reverse_order",
            "Your answer goes through the pairs from last to first. Start with the one that was learned first.",
            _slip(("in merges", "in merges[::-1]")),
        ),
        Misconception(
            "underscores",
            "Your answer marks the words with an underscore, _. The marker is a different character, ▁: write MARK.",
            _slip(("▁", "_")),
        ),
        Misconception(
            "joined_from_the_right",
            "Your answer merges from right to left: it turns `a a a` into `a aa`. Go from left to right: `aa a`.",
            _slip((_WALK, "for i in range(len(tokens) - 2, -1, -1):")),
        ),
        Misconception(
            "text_replaced",
            "Your answer uses replace on the text, so it finds a pair inside larger tokens. Compare whole tokens.",
            _slip(
                (
                    "i = 0",
                    "tokens = ' '.join(tokens).replace(f'{left} {right}', left + right).split(' ')\n            i = 0",
                )
            ),
        ),
        Misconception(
            "skips_behind_a_joined_piece",
            "Your answer moves on by two after a merge and skips a token. The list is one shorter now: move on by one.",
            _slip((_JOINED, f"{_JOINED}\n                    i += 1")),
        ),
        Misconception(
            "characters",
            "Your answer never merges. Either it never finds a pair (a list never equals a tuple), or it does not "
            "keep the merged list.",
            _slip(("tokens[i : i + 2] == [left, right]", "False")),
        ),
        *alike(
            "Your answer is not one list with the tokens of all words. Create the list before the loop over the "
            "words, and add each word's tokens to it.",
            word_by_word=_slip(("extend(tokens)", "append(tokens)")),
            last_word_only=_slip(("found.extend(tokens)", "found = tokens")),
        ),
        Misconception(
            "repeated_words_once",
            "Your answer includes a repeated word only once. Encode the words in order, each as many times as it "
            "occurs.",
            _slip(("text.split()", "dict.fromkeys(text.split())")),
        ),
        Misconception(
            "split_at_every_space",
            "Your answer splits at every single space, so several in a row give empty words. text.split() without an "
            "argument skips them.",
            _slip(("split()", "split(' ')")),
        ),
    ),
    forbidden=(TOKENIZERS,),
)
