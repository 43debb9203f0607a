"""Lesson 08, subwords.decode_bytes: Decoding, while a model is still writing."""

import codecs
from collections.abc import Iterator, Sequence

from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake
from course_lib.exercises.subwords.shared import random_source, shuffled_letters
from course_lib.judging.exercise import CORE, Case, Exercise
from course_lib.judging.ready_made import TOKENIZERS
from course_lib.references import subwords as reference
from course_lib.text.gpt2_files import LETTERS

BROKEN = "invalid bytes"


def _pieces(letters: Sequence[str], *parts: str | bytes) -> tuple[list[str], list[str]]:
    raw = [part if isinstance(part, bytes) else part.encode() for part in parts]
    return ["".join(letters[byte] for byte in part) for part in raw], list(letters)


def _cut(text: str, lengths: Iterator[int]) -> Iterator[bytes]:
    rest = text.encode()
    while rest:
        length = next(lengths)
        yield rest[:length]
        rest = rest[length:]


def _text_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def case(name: str, *parts: str | bytes, letters: Sequence[str] = LETTERS, part: str = CORE) -> Case:
        return Case(name, _pieces(letters, *parts), part=part)

    if not hidden:
        cat, accent = "🐈".encode(), "ä".encode()
        yield case("worked example: a cat in two tokens", "the", " cat", " ", cat[:2], cat[2:], "!")
        yield case("plain letters", "play", "ing", "  with", "\n", "cats ")
        yield case("an ä in one token", "Kätz", "chen")
        yield case("an ä in two tokens", b"K" + accent[:1], accent[1:] + b"tzchen")
        yield case("one byte per token", *(bytes([byte]) for byte in "é🎉".encode()))
        yield case("the end of one cat and the beginning of the next", cat[:3], cat[3:] + cat[:1], cat[1:])
        yield case("no tokens")
        yield case("other letters for the bytes", " ca", "ts ", cat[:1], cat[1:], letters=LETTERS[99:] + LETTERS[:99])
        yield case("cut off within a cat", "a ", cat[:2], part=BROKEN)
        yield case("half a cat, then a letter", "a ", cat[:3], "b", part=BROKEN)
        yield case("a byte that starts no character", b"a\x85", b"\xff", "b", part=BROKEN)
        yield case("half an ä, then a whole one", accent[:1], accent, part=BROKEN)
        return
    rng = random_source(generator)
    for number, text in enumerate(("η γάτα 🐈 χορεύει", "猫が 踊る🎉", " süße Ma\u0308use\n  и кошка"), start=1):
        lengths = iter(lambda: integer(generator, 1, 3), 0)
        yield case(f"script {number}", *_cut(text, lengths), letters=LETTERS if number < 2 else shuffled_letters(rng))
    for number in range(1, 4):
        sample = "".join(rng.sample("äñ猫踊🐈🎉 ab", 5)).encode()
        end = integer(generator, 1, 3)
        broken = (sample[:end], b"\xff", sample[end:], "猫🐈".encode()[: integer(generator, 4, 6)])
        yield case(f"broken, {number}", *broken, part=BROKEN)


def _decode_as_it_comes(tokens: list[str], letters: list[str]) -> list[str]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    printed = []
    for token in tokens:
        raw = bytes(letters.index(letter) for letter in token)
        printed.append(decoder.decode(raw))
    printed.append(decoder.decode(b"", final=True))
    return printed


_slip = edits_of(_decode_as_it_comes)
_PRINTED, _LEFT, _ERRORS = "decoder.decode(raw)", 'decoder.decode(b"", final=True)', 'errors="replace"'


def _decode_what_is_whole(tokens: list[str], letters: list[str]) -> list[str]:
    printed, waiting = [], b""
    for token in tokens:
        waiting += bytes(map(letters.index, token))
        text, used = codecs.utf_8_decode(waiting, "replace", False)
        printed.append(text)
        waiting = waiting[used:]
    return [*printed, waiting.decode(errors="replace")]


def _decode_by_first_bytes(tokens: list[str], letters: list[str]) -> list[str]:
    """By hand: the first byte of a character says how many follow it."""
    byte_of = dict(zip(letters, range(256), strict=True))
    printed, waiting = [], b""
    for token in tokens:
        waiting += bytes([byte_of[letter] for letter in token])
        begun = max((i for i in range(len(waiting)) if waiting[i] >= 0xC2), default=len(waiting))
        needed = sum(waiting[begun] >= first for first in (0xC2, 0xE0, 0xF0)) if begun < len(waiting) else 0
        following = waiting[begun + 1 :]
        whole = len(following) >= needed or any(byte >> 6 != 2 for byte in following) or waiting[begun] > 0xF4
        ready = len(waiting) if whole else begun
        printed.append(waiting[:ready].decode(errors="replace"))
        waiting = waiting[ready:]
    return [*printed, waiting.decode(errors="replace")]


EXERCISE = Exercise(
    id="subwords.decode_bytes",
    title="Decoding, while a model is still writing",
    statement=(
        "decode_bytes(tokens: list of str, letters: list of 256 str) -> list of str: the text that each token "
        "completes, and at the end the remainder. A character is complete at its last byte; bytes that are not UTF-8 "
        "become �."
    ),
    minutes=15,
    difficulty=3,
    importance=3,
    section="Bytes: nothing is unknown",
    source="Radford et al. (2019), section 2.2; the Unicode Standard, section 3.9",
    reference=reference.decode_bytes,
    cases=_text_cases,
    parts={CORE: 2, BROKEN: 1},
    correct=(_decode_as_it_comes, _decode_what_is_whole, _decode_by_first_bytes),
    hints=hints(
        idea=(
            "Turn each token back into its bytes. The last bytes may be only part of a character: keep them until the "
            "rest arrives. A decoder from `codecs` does that for you."
        ),
        shapes=(
            "A letter's index in `letters` is its byte, and `bytes` turns a list of numbers into a byte string. The "
            "result has one string for each token, often an empty one, and one more at the end.",
            ("letters_kept", "one_string", "no_last_string", "text_so_far"),
        ),
        outline=(
            "Create a decoder that replaces invalid UTF-8.\n"
            "For each token, find its bytes, pass them to the decoder, and store what it returns.\n"
            "At the end, tell the decoder that the input is over, and store what it returns.",
            ("piece_by_piece", "left_over_lost", "broken_left_out"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer returns letters that represent bytes. Turn them into text: a letter's index in `letters` is "
            "its byte, and the bytes are UTF-8.",
            letters_kept=_slip((_PRINTED, "token")),
            spaces_alone=_slip((_PRINTED, "token.replace(letters[32], ' ')")),
        ),
        *mistake(
            "Your answer turns each byte into one character. In UTF-8 an ä has two bytes and a 🐈 has four.",
            one_character_a_byte=_slip(('"utf-8"', '"latin-1"')),
        ),
        *mistake(
            "Your answer decodes each token separately, so a character split between two tokens becomes �. Keep the "
            "bytes of an unfinished character until the next token.",
            piece_by_piece=_slip((_PRINTED, "raw.decode(errors='replace')")),
        ),
        *mistake(
            "Your answer drops bytes that are not UTF-8. Show that they were there: errors='replace' turns them into "
            "�.",
            broken_left_out=_slip((_ERRORS, 'errors="ignore"')),
            alone=True,
        ),
        *mistake(
            "Your answer loses the bytes left at the end. Tell the decoder that the input is over, with final=True.",
            left_over_lost=_slip((", final=True", "")),
            alone=True,
        ),
        *mistake(
            "Your answer leaves out strings. Return one string for each token, even if it is empty, and one for the "
            "end.",
            no_last_string=_slip((f"printed.append({_LEFT})", "pass")),
            empty_left_out=_slip(("return printed", "return [text for text in printed if text]"), paired=False),
        ),
        *mistake(
            "Your answer is one string. Return a list: the text each token completes, and the remainder at the end.",
            one_string=_slip(("return printed", "return ''.join(printed)")),
        ),
        *mistake(
            "Your answer returns all the text so far after each token. Return only what the token adds.",
            text_so_far=_slip(("return printed", "return [''.join(printed[: i + 1]) for i in range(len(printed))]")),
        ),
        *mistake(
            "Your answer strips spaces from tokens. In GPT-2 they belong to the text: keep them.",
            spaces_stripped=_slip((_PRINTED, f"{_PRINTED}.strip()")),
        ),
    ),
    forbidden=(TOKENIZERS,),
)
