"""Lesson 08, subwords.encode: Encoding a text."""

import re
from collections.abc import Iterator
from functools import reduce

from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.exercises.subwords import shared
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.ready_made import TOKENIZERS
from course_lib.text import subwords
from course_lib.text.subwords import Merge


def _encode_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    play = shared.learned_merges(shared.PLAY, 7)
    if not hidden:
        yield Case("worked example: two words of the text, and stay, which is new", ("play played stay", play))
        research = shared.learned_merges(shared.RESEARCH, 30)
        yield Case("Gesundheitsforschungsinstitut", ("gesundheitsforschungsinstitut", research))
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
    rng = shared.random_source(generator)
    for number in range(1, 4):
        merges = shared.learned_merges(shared.random_words(rng, shared.FEW_LETTERS, 7), integer(generator, 4, 9))
        words = ["".join(rng.choice("aabbc") for _ in range(integer(generator, 3, 8))) for _ in range(5)]
        yield Case(f"few letters, {number}", (" ".join([*words, words[0], "baaa"]), merges))
    merges = shared.learned_merges({("▁", *"aaa"): rng.randint(3, 9), ("▁", *"baaaab"): 2}, 3)
    text = " ".join("b" * (n % 2) + "a" * n for n in rng.sample(range(2, 12), 6))
    yield Case("equal characters in a row", (text, merges))
    merges = shared.learned_merges(shared.random_words(rng, shared.GERMAN.split(), 8), 25)
    yield Case("compounds", (" ".join("".join(rng.sample(shared.GERMAN.split(), 2)) for _ in range(3)), merges))


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


_slip = edits_of(_encode_in_place)
_MARKED, _WALK, _JOINED = '["▁", *word]', "i = 0\n            while i < len(tokens) - 1:", "= [left + right]"
_JOINED_ONCE = (_JOINED, f"{_JOINED}\n                    break")


def _encode_by_joining(text: str, merges: list[Merge]) -> list[str]:
    words = (("▁", *word) for word in text.split())
    return [token for word in words for token in reduce(shared.join_in_a_list, merges, word)]


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
        "encode(text: str, merges: list of pairs in the order of learning) -> list of str: the tokens of all words. "
        "Each word is ▁ and its characters at first; then every pair is merged in that order, from left to right."
    ),
    points=4,
    minutes=15,
    difficulty=4,
    importance=5,
    section="Words that were never seen",
    source="Sennrich et al. (2016), section 3.2; S4",
    reference=subwords.encode_pieces,
    cases=_encode_cases,
    correct=(_encode_in_place, _encode_by_joining, _encode_by_regular_expressions),
    hints=hints(
        idea="Everywhere in the word, merge the first pair that was learned, then the second, and so on.",
        shapes=(
            "Each word becomes a list: the marker, then its characters. Return one list of strings, with the tokens of "
            "all words. `split` without an argument never gives empty words.",
            ("split_at_every_space", "last_word_only", "word_by_word", "repeated_words_once"),
        ),
        outline=(
            "For each word of the text, start with the marker and the characters as single tokens.\n"
            "Take the merges in the order in which they were learned.\n"
            "For each one, go through the tokens from left to right.\n"
            "Where a token and the one after it form the pair, replace both with the merged token, and move on.\n"
            "Add the tokens of the word to the result.",
            ("loops_exchanged", "longest_piece_first", "leftmost_pair_first", "joined_from_the_right"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer leaves out a ▁. Put one before every word, even the first, and then split the word into "
            "characters.",
            not_marked=_slip((_MARKED, "[*word]")),
            first_word_not_marked=_slip(
                ("found: list[str] = []", "found, markers = [], iter(['', *'▁' * len(text)])"),
                (_MARKED, "[*next(markers), *word]"),
            ),
        ),
        *slips(
            _encode_in_place,
            marked_afterwards=(
                "Your answer adds ▁ after merging, so it misses the pairs with ▁. Add it before you merge.",
                (_MARKED, "[*word]"),
                ("extend(tokens)", 'extend(["▁" + tokens[0], *tokens[1:]])'),
            ),
            longest_piece_first=(
                "Your answer takes the longest token from the left, as WordPiece does. Merge the pairs in the order in "
                "which they were learned.",
                ("found: list[str] = []", "found, known = [], [*sorted(map(''.join, merges), key=len)[::-1], '.']"),
                ("extend(tokens)", "extend(re.findall('|'.join(known), '▁' + word))"),
            ),
            reverse_order=(
                "Your answer goes through the pairs from last to first. Start with the one that was learned first.",
                ("in merges", "in merges[::-1]"),
            ),
            underscores=(
                "Your answer marks words with an underscore, _. The marker is a different character, ▁: write MARK.",
                ("▁", "_"),
            ),
            joined_from_the_right=(
                "Your answer merges from right to left: it turns `a a a` into `a aa`. Go from left to right: `aa a`.",
                (_WALK, "for i in range(len(tokens) - 2, -1, -1):"),
            ),
            text_replaced=(
                "Your answer uses replace on the text, so it finds a pair inside larger tokens. Compare whole tokens.",
                ("i = 0", "tokens = ' '.join(tokens).replace(left + ' ' + right, left + right).split(); i = 0"),
            ),
            skips_behind_a_joined_piece=(
                "Your answer skips a token after each merge. The merge makes the list shorter: move on by one.",
                (_JOINED, f"{_JOINED}\n                    i += 1"),
            ),
            repeated_words_once=(
                "Your answer includes a repeated word only once. Encode a word every time it occurs.",
                ("text.split()", "dict.fromkeys(text.split())"),
            ),
            split_at_every_space=(
                "Your answer splits at every single space, which gives empty words. Use split without an argument.",
                ("split()", "split(' ')"),
            ),
            characters=(
                "Your answer never merges. Compare the pair with a tuple, not a list, and keep the merged tokens.",
                ("tokens[i : i + 2] == [left, right]", "False"),
            ),
        ),
        *mistake(
            "Your answer merges the leftmost known pair first. Merge the pair that was learned first, everywhere.",
            leftmost_pair_first=_slip(
                (
                    "in merges:",
                    "in iter(lambda: next((p for p in zip(tokens, tokens[1:]) if p in merges), None), None):",
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
        *mistake(
            "Your answer skips merges. Merge every occurrence of every pair, and if a word doesn't contain a pair, go "
            "on to the next pair.",
            stops_at_a_missing_pair=_slip(
                ("i = 0", "if (left, right) not in zip(tokens, tokens[1:]):\n                break\n            i = 0")
            ),
            one_place_only=_slip(_JOINED_ONCE),
        ),
        *mistake(
            "Your answer is not one list of all tokens. Create one list before the loop, and add the tokens of each "
            "word to it.",
            word_by_word=_slip(("extend(tokens)", "append(tokens)")),
            last_word_only=_slip(("found.extend(tokens)", "found = tokens")),
        ),
    ),
    forbidden=(TOKENIZERS,),
)
