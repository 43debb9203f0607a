"""Lesson 08, subwords.merge: Merging a pair."""

import re
from collections.abc import Iterator

from torch import Generator

from course_lib.exercises.common import hints, integer, slips
from course_lib.exercises.subwords.shared import join_in_a_list, random_source
from course_lib.judging.exercise import Case, Exercise, Pair
from course_lib.text import subwords
from course_lib.text.subwords import Merge, Pieces


def _merge_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: a and y in playing", (tuple("▁playing"), ("a", "y")))
        yield Case("more than once", (tuple("▁banana"), ("a", "n")))
        yield Case("overlapping", (("a", "a", "a", "b"), ("a", "a")))
        yield Case("overlapping, twice", (("a", "a", "a", "a", "a"), ("a", "a")))
        yield Case("the other way round", (("a", "b", "b", "a", "b"), ("b", "a")))
        yield Case("not there", (tuple("▁play"), ("y", "s")))
        yield Case("inside larger tokens", (("xl", "a", "l", "ay", "l", "a"), ("l", "a")))
        yield Case("the left token alone", (("▁", "p", "l", "p", "a"), ("p", "a")))
        yield Case("one token", (("▁play",), ("a", "y")))
        yield Case("spelled alike, of other tokens", (("a", "bc", "ab", "c", "abc"), ("ab", "c")))
        yield Case("a full stop is a character", (("a", "b", ".", "b", "c", "b"), (".", "b")))
        return
    rng = random_source(generator)
    for number in range(1, 6):
        letters = tuple(rng.choice(("a", "b", "ab", "▁")) for _ in range(integer(generator, 6, 12)))
        pair = (rng.choice("ab"), rng.choice("ab"))
        yield Case(f"few letters, {number}", ((*letters, *pair), pair))
    letters = tuple(rng.choice(("a", "b", "ab", "ba")) for _ in range(8))
    for pair in (("ab", "a"), ("a", "ba")):
        yield Case(f"{pair[0]} and {pair[1]}", (("a", "ba", *letters, "ab", "a", "b"), pair))


def _join_by_while(tokens: Pieces, pair: Merge) -> Pieces:
    out: list[str] = []
    i = 0
    while i < len(tokens):
        both = tokens[i : i + 2]
        if both == pair:
            out.append("".join(both))
            i += 2
        else:
            out.append(tokens[i])
            i += 1
    return tuple(out)


def _replaced_in_the_text(tokens: Pieces, pair: Merge, number: int = -1) -> Pieces:
    return tuple(" ".join(tokens).replace(" ".join(pair), "".join(pair), number).split(" "))


def _join_by_regular_expression(tokens: Pieces, pair: Merge) -> Pieces:
    """As in the paper: tokens with spaces between them, and a pattern that respects them."""
    pattern = r"(?<!\S)" + re.escape(" ".join(pair)) + r"(?!\S)"
    return tuple(re.sub(pattern, "".join(pair), " ".join(tokens)).split(" "))


EXERCISE = Exercise(
    id="subwords.merge",
    title="Merging a pair",
    statement=(
        "join(tokens: tuple of str, pair: tuple of two str) -> tuple of str: the tokens with every occurrence of the "
        "pair merged into one token, from left to right."
    ),
    points=3,
    minutes=12,
    difficulty=3,
    importance=5,
    section="Merging",
    source="Sennrich et al. (2016), section 3.2, algorithm 1",
    reference=subwords.join,
    cases=_merge_cases,
    correct=(_join_by_while, join_in_a_list, _join_by_regular_expression),
    hints=hints(
        idea=(
            "Walk along the tokens with an index. Where the pair begins, take the merged token and move on by two; "
            "elsewhere take the token and move on by one."
        ),
        shapes=(
            "The input is a tuple of strings, and so is the result. You can compare a slice of two tokens with the "
            "pair, since both are tuples. At the end of the word the slice is shorter, so it never equals a pair. A "
            "slice of a list is a list, so it never equals a tuple.",
            ("a_list", "pair_kept_as_a_pair", "last_piece_lost", "nothing_joined"),
        ),
    ),
    misconceptions=slips(
        _join_by_while,
        first_one_only=(
            "Your answer merges only the first occurrence of the pair. Continue to the end of the word.",
            ("both == pair", "both == pair and i == len(out)"),
        ),
        used_twice=(
            "Your answer uses a token twice: it turns `a a a` into `aa aa`. Move on by two after a merge.",
            ("i += 2", "i += 1 if tokens[i + 1 : i + 3] == pair else 2"),
        ),
        right_piece_kept=(
            "Your answer moves on by one token after a merge, so the right token appears again after the merged one. "
            "Move on by two.",
            ("i += 2", "i += 1"),
        ),
        last_piece_lost=(
            "Your answer loses the last token of a word unless it is merged: the loop ends one token too early. "
            "Continue while i < len(tokens).",
            ("i < len(tokens)", "i < len(tokens) - 1"),
        ),
        from_the_right=(
            "Your answer merges from the right: it turns `a a a` into `a aa`. Start at the left: `aa a`.",
            ("i = 0", "tokens, pair = tokens[::-1], pair[::-1]\n    i = 0"),
            ("join(both)", "join(both[::-1])"),
            ("(out)", "(out[::-1])"),
        ),
        either_way_round=(
            "Your answer also merges the two tokens in reverse order. The pair's left token must come first.",
            ("== pair", "in (pair, pair[::-1])"),
        ),
        same_letters=(
            "Your answer merges any tokens with the same spelling, even `a bc` for the pair (ab, c). Compare both "
            "tokens.",
            ("both == pair", "len(both) == 2 and ''.join(both) == ''.join(pair)"),
        ),
        nothing_joined=(
            "Your answer returns the tokens unchanged. Either it never finds the pair (a list never equals a tuple), "
            "or it does not keep the merged tokens.",
            ("both == pair", "False"),
        ),
        space_between=(
            "Your answer leaves a space inside the merged token. Join the two halves directly.",
            ('""', '" "'),
        ),
        a_list=(
            "Your answer is a list. Return a tuple: tokens are keys of a dict, and a list can't be a key.",
            ("return tuple", "return list"),
        ),
        pair_kept_as_a_pair=(
            "Your answer puts the pair itself into the word. Merge its two tokens into one: pair[0] + pair[1].",
            ('"".join(both)', "both"),
        ),
        text_replaced=(
            "Your answer uses replace on the text, so it finds the pair inside larger tokens: `xl a` contains the "
            "text `l a`, but not the token `l`. Compare whole tokens.",
            _replaced_in_the_text,
        ),
    ),
    listed_pairs=(
        Pair("first_one_only", "text_replaced", lambda tokens, pair: _replaced_in_the_text(tokens, pair, 1)),
    ),
)
