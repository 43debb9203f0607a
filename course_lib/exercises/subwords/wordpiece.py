"""Lesson 08, subwords.wordpiece: WordPiece."""

import re
from collections.abc import Iterator

from torch import Generator

from course_lib.exercises.common import edits_of, hints, mistake, slips
from course_lib.exercises.subwords.shared import random_source
from course_lib.judging.exercise import Case, Exercise
from course_lib.judging.ready_made import TOKENIZERS
from course_lib.text import subwords

_BERT_LIKE = "p l a y ##i ##n ##g ##e ##d ##l ##a ##y play ##ing ##ed pla".split()


def _wordpiece_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        yield Case("worked example: playing", ("playing", _BERT_LIKE))
        yield Case("the whole word", ("play", _BERT_LIKE))
        yield Case("a character that is not known", ("played!", _BERT_LIKE))
        yield Case("no token is known", ("play", []))
        yield Case("begins with no token", ("ingplay", _BERT_LIKE))
        yield Case("greedy, and stuck", ("abcd", ["a", "abc", "##bcd", "##b", "##c", "ab", "##cd"]))
        yield Case("greedy, and not the fewest", ("abcde", ["ab", "abc", "##d", "##e", "##cde", "##de", "##c"]))
        yield Case("the same token in both forms", ("ingaing", ["ing", "##ing", "##a", "a", "##aing", "i", "##i"]))
        yield Case("capitals, and a long word", ("Ab" * 60 + "b", ["Ab", "A", "a", "##b", "##A", "##a", "##ab"]))
        yield Case("a token that only begins words", ("abxcd", ["ab", "x", "c", "cd", "##d", "##xc", "##c", "xcd"]))
        yield Case("the longest of all is further right", ("xabcd", ["x", "xa", "##abcd", "##b", "##c", "##d"]))
        yield Case("known only without its marker", ("abx", ["ab", "x", "##b", "a"]))
        yield Case("the same token again and again", ("ababab", ["ab", "##ab", "##a", "##b"]))
        yield Case("longest at the end", ("abcabc", ["a", "##b", "##c", "##a", "##bc", "##abc", "##cabc", "##bcabc"]))
        return
    rng = random_source(generator)
    for number in range(1, 5):
        inside = {"##" + "".join(rng.choice("abc") for _ in range(rng.randint(2, 4))) for _ in range(9)}
        begin = {"".join(rng.choice("abc") for _ in range(rng.randint(1, 3))) for _ in range(9)}
        tokens = sorted({*begin, *inside, "##a", "##b", "##c", "a", "b", "c"})
        rng.shuffle(tokens)
        yield Case(f"few letters, {number}", ("".join(rng.choice("abc") for _ in range(9)), tokens))
    yield Case("few letters and an unknown one", ("abcaxb", tokens))


def _cut_from_the_left(word: str, tokens: list[str]) -> list[str]:
    found: list[str] = []
    begin = 0
    while begin < len(word):
        marker = "##" if begin else ""
        fitting = [end for end in range(begin + 1, len(word) + 1) if marker + word[begin:end] in tokens]
        if not fitting:
            return ["[UNK]"]
        end = max(fitting)
        found.append(marker + word[begin:end])
        begin = end
    return found


_slip = edits_of(_cut_from_the_left)
_STUCK = 'return ["[UNK]"]'


def _from_the_end(word: str, tokens: list[str]) -> list[str]:
    found: list[str] = []
    end = len(word)
    while end:
        known = (begin for begin in range(end) if ("##" if begin else "") + word[begin:end] in tokens)
        begin = next(known, None)
        if begin is None:
            return ["[UNK]"]
        found.insert(0, ("##" if begin else "") + word[begin:end])
        end = begin
    return found


def _cut_by_recursion(word: str, tokens: list[str]) -> list[str]:
    def rest(begin: int) -> list[str] | None:
        if begin == len(word):
            return []
        for end in range(len(word), begin, -1):
            token = ("" if begin == 0 else "##") + word[begin:end]
            if token in tokens:
                following = rest(end)
                return None if following is None else [token, *following]
        return None

    found = rest(0)
    return ["[UNK]"] if found is None else found


def _cut_by_pattern(word: str, tokens: list[str]) -> list[str]:
    by_length = sorted(tokens, key=len, reverse=True)
    begin = "|".join(re.escape(token) for token in by_length if not token.startswith("##")) or "(?!)"
    within = "|".join(re.escape(token[2:]) for token in by_length if token.startswith("##")) or "(?!)"
    found: list[str] = []
    position = 0
    while position < len(word):
        match = re.compile(within if found else begin).match(word, position)
        if match is None:
            return ["[UNK]"]
        found.append("##" * bool(found) + match[0])
        position = match.end()
    return found


EXERCISE = Exercise(
    id="subwords.wordpiece",
    name="wordpiece",
    title="WordPiece",
    statement=(
        "wordpiece(word: str, tokens: list of str) -> list of str: from the left, always the longest known token, "
        "with ## before every token except the first. If no token fits, return ['[UNK]'] for the whole word."
    ),
    points=3,
    minutes=15,
    difficulty=3,
    importance=3,
    section="WordPiece",
    source="Devlin et al. (2019), section 3; S1",
    reference=subwords.longest_pieces,
    cases=_wordpiece_cases,
    correct=(_cut_from_the_left, _cut_by_recursion, _cut_by_pattern),
    hints=hints(
        idea="Take the longest token that fits at the start of what is left. If none fits, give up.",
        shapes=(
            "Every token except the word's first has `##` before it, in the vocabulary and in the result, so add `##` "
            "before you look the token up. The marker isn't part of the word, so don't count its characters.",
            ("looked_up_without_mark", "mark_put_afterwards", "marks_dropped", "mark_counted"),
        ),
        outline=(
            "Keep the position where the rest of the word begins, starting at 0.\n"
            "Try all the remaining characters as one token, with the marker if the position is not 0, and drop "
            "characters from its end until it is a known token.\n"
            "If nothing is left to try, return only the unknown token.\n"
            "Otherwise keep the token and move the position past it; stop at the end of the word.",
            ("one_unknown_character", "beginning_kept", "stops_where_stuck", "goes_back", "from_the_end"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer does not take the longest token. Try all the remaining characters first, then one fewer.",
            shortest_first=_slip(("max(", "min(")),
            first_in_the_list=_slip(
                ("max(fitting)", "min(fitting, key=lambda end: tokens.index(marker + word[begin:end]))"), paired=False
            ),
        ),
        *slips(
            _cut_by_recursion,
            from_the_end=("Your answer starts from the end of the word. Start from its beginning.", _from_the_end),
            goes_back=(
                "Your answer goes back and tries shorter tokens when no token fits the rest. Return ['[UNK]'] as soon "
                "as that happens.",
                ("return None if following is None else", "if following is None: continue\n                return"),
            ),
        ),
        *mistake(
            "Your answer looks up tokens without ##. After the first token, look up '##' + text.",
            looked_up_without_mark=_slip(('"##" if begin else ""', '""')),
            mark_put_afterwards=_slip(("if marker + word", "if word"), paired=False),
        ),
        *mistake(
            "Your answer keeps the first tokens of a word when no token fits the rest. Return just ['[UNK]'] for the "
            "whole word.",
            one_unknown_character=_slip((_STUCK, 'found.append("[UNK]"); begin += 1; continue')),
            beginning_kept=_slip((_STUCK, 'return [*found, "[UNK]"]')),
            stops_where_stuck=_slip((_STUCK, "return found")),
        ),
        *mistake(
            "Your answer returns the wrong thing for an unknown word. Return BERT's unknown token in a list: "
            "['[UNK]'].",
            unknown_as_a_string=_slip((_STUCK, 'return "[UNK]"')),
            other_unknown=_slip((_STUCK, 'return ["<unk>"]')),
        ),
        *slips(
            _cut_from_the_left,
            marks_dropped=(
                "Your answer drops the ## of the tokens. Keep it: `##ing` and `ing` are two different tokens.",
                ("(marker + word", "(word"),
            ),
            single_characters_left_out=(
                "Your answer never tries a single character as a token. Try it too: the smallest end is begin + 1.",
                ("begin + 1", "begin + 2"),
            ),
            mark_counted=(
                "Your answer counts the ## of a token, so it skips two characters of the word. Don't count the ##.",
                ("begin = end", "begin = end + len(marker)"),
            ),
        ),
        *mistake(
            "Your answer lowercases the word. Don't: a capital is a different character.",
            lower_case=_slip(("begin = 0", "begin, word = 0, word.lower()"), paired=False),
        ),
    ),
    forbidden=(TOKENIZERS,),
)
