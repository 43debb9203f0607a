"""Lesson 08, subwords.encode_bytes: Bytes instead of characters."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from torch import Generator

from course_lib.exercises.common import edits_of, hints, integer, mistake, slips
from course_lib.exercises.subwords.shared import JoinRule, byte_merges, join_in_a_list, random_source, shuffled_letters
from course_lib.judging.exercise import Callback, Case, Exercise
from course_lib.judging.ready_made import TOKENIZERS
from course_lib.references import subwords as reference
from course_lib.text import subwords
from course_lib.text.byte_pairs import split_words
from course_lib.text.gpt2_files import LETTERS
from course_lib.text.subwords import Merge, Pieces

_TEXTS = (
    "the cats danced, the cat's dancing: don't they dance? they've danced.",
    "Die Mäuse hören süße Flöten, die Kätzchen träumen. Übermäßig süß!",
    "🐈🐈‍⬛ la gata soñó; 猫が踊る。猫は猫。 🐈🎉🐈",
    "кошка танцует, кошки танцевали; η γάτα χορεύει",
    "e\u0301te\u0301, na\u0308chste Na\u0308he, e\u0323\u0301  \n\n  cat\t\tcats    dance",
)
"""To learn pairs from, and to cut: several scripts, emoji, combining characters, many spaces."""


def _join_at_hand(tokens: object, pair: object) -> Pieces:
    if not (isinstance(tokens, (tuple, list)) and isinstance(pair, (tuple, list)) and len(pair) == 2):
        raise TypeError("join takes a tuple of tokens and a pair of two")
    return subwords.join(tuple(tokens), (pair[0], pair[1]))


_JOIN = Callback("join", _join_at_hand)


def _byte_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    def case(name: str, text: str, merges: list[Merge], letters: Sequence[str] = LETTERS) -> Case:
        return Case(name, (split_words(text), merges, list(letters), _JOIN))

    if not hidden:
        dance = byte_merges(_TEXTS[:1], 14)
        yield case("worked example: the cat danced", "the cat danced", dance)
        yield case("an ä, which is two bytes", "die Kätzchen träumen", byte_merges(_TEXTS[1:2], 12))
        yield case("an ä, two bytes that no pair merges", "Mäuse", dance)
        yield case("a cat of four bytes", "🐈 🐈🎉", byte_merges(_TEXTS[2:3], 6))
        yield case("a separate accent", "e\u0301te\u0301", byte_merges(_TEXTS[4:], 4))
        yield case("many spaces, and new lines", "cats   dance \n\n  cat", byte_merges(_TEXTS[4:], 9))
        yield case("apostrophes", "they've cats' don't", dance)
        yield case("no pairs", "η γάτα", [])
        yield case("no words", "", dance)
        yield case("the later pair is further left", "abc", [("b", "c"), ("a", "b")])
        yield case("the earlier pair is further left", "abc", [("a", "b"), ("b", "c")])
        yield case("a short pair was learned first", "abcdbc", [("a", "b"), ("c", "d"), ("ab", "c"), ("b", "c")])
        yield case("three equal bytes in a row", "aaa aaaaa", [("a", "a"), ("Ġ", "aa")])
        yield case("the end of a word and the next one", "a7b 7", [("a", "7"), ("7", "Ġ"), ("7", "b"), ("Ġ", "7")])
        yield case("a word that comes again", "cat cat cat", byte_merges(_TEXTS[:1], 20))
        other = LETTERS[128:] + LETTERS[:128]
        yield case("other letters for the bytes", "the cat's ä", byte_merges(_TEXTS[:1], 9, other), other)
        return
    rng = random_source(generator)
    for number, text in enumerate(_TEXTS, start=1):
        letters = LETTERS if number < 4 else shuffled_letters(rng)
        words = text.split(" ")
        chosen = " ".join(rng.sample(words, min(len(words), 5)))
        tail = rng.choice(("🎉", "ñ", "é", "猫")) + rng.choice(("'s", "  ", "\n "))
        yield case(f"script {number}", chosen + tail, byte_merges((text,), integer(generator, 9, 20), letters), letters)
    merges = byte_merges(("aabab abbab baab aabb bbaa",), 6)
    text = " ".join("".join(rng.choice("aab") for _ in range(integer(generator, 4, 9))) for _ in range(4))
    yield case("two letters", text, merges)
    yield case("every byte of the first 300 characters", "".join(map(chr, rng.sample(range(32, 300), 12))), merges)


def _encode_by_rank(words: list[str], merges: list[Merge], letters: list[str], join: JoinRule) -> list[str]:
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    found: list[str] = []
    for word in words:
        tokens = tuple(letters[byte] for byte in word.encode())
        while known := [pair for pair in pairwise(tokens) if pair in ranks]:
            tokens = join(tokens, min(known, key=lambda pair: ranks[pair]))
        found.extend(tokens)
    return found


_slip = edits_of(_encode_by_rank)
_BYTES, _CHOSEN, _KEY = "letters[byte] for byte in word.encode()", "min(known,", "key=lambda pair: ranks[pair]"
_WHILE = "while known := [pair for pair in pairwise(tokens) if pair in ranks]:"


def _encode_by_replaying(words: list[str], merges: list[Merge], letters: list[str], join: JoinRule) -> list[str]:
    found: list[str] = []
    for word in words:
        tokens = tuple(map(letters.__getitem__, bytes(word, "utf-8")))
        for pair in merges:
            if len(tokens) > 1:
                tokens = join(tokens, pair)
        found += tokens
    return found


def _encode_alone(words: list[str], merges: list[Merge], letters: list[str], join: JoinRule) -> list[str]:
    table = dict(enumerate(letters))
    cut: dict[str, Pieces] = {}
    for word in words:
        if word not in cut:
            tokens = tuple(table[byte] for byte in word.encode("utf8"))
            for pair in merges:
                tokens = join_in_a_list(tokens, pair)
            cut[word] = tokens
    return [token for word in words for token in cut[word]]


EXERCISE = Exercise(
    id="subwords.encode_bytes",
    title="Bytes instead of characters",
    statement=(
        "encode_bytes(words: list of str, merges: list of pairs in the order in which they were learned, letters: list "
        "of 256 str, join) -> list of str: the tokens of all words. Each word starts as its UTF-8 bytes, written as "
        "letters[byte]. Among its known pairs, merge the one learned first, until none are left."
    ),
    points=4,
    minutes=18,
    difficulty=4,
    importance=5,
    section="Bytes: nothing is unknown",
    source="Radford et al. (2019), section 2.2",
    reference=reference.encode_bytes,
    cases=_byte_cases,
    correct=(_encode_by_rank, _encode_by_replaying, _encode_alone),
    hints=hints(
        idea=(
            "A pair's rank is its index in `merges`. Find the neighbors in a word that have a rank, merge the pair "
            "with the smallest rank, and look again: there are new neighbors now."
        ),
        shapes=(
            "A string's method `encode` returns its bytes, and iterating over bytes gives numbers from 0 to 255, "
            "which are indices of `letters`. `join` takes a tuple of tokens and a pair, and returns a tuple. Make a "
            "dict from pairs to ranks.",
            ("characters", "code_points", "chr_of_each_byte", "word_by_word", "last_word_only"),
        ),
        outline=(
            "Number the pairs in a dict.\n"
            "For each word, make a tuple with the letter of each byte.\n"
            "While it has known pairs, merge the one that was learned first.\n"
            "Add the word's tokens to the result.",
            ("leftmost_pair_first", "last_learned_first", "merged_once", "longest_first", "nothing_merged"),
        ),
    ),
    misconceptions=(
        *mistake(
            "Your answer does not write each byte as letters[byte]. word.encode() gives the bytes, two for an ä.",
            characters=_slip((_BYTES, "character for character in word")),
            code_points=_slip((_BYTES, "letters[ord(character)] for character in word")),
            chr_of_each_byte=_slip(("letters[byte]", "chr(byte)")),
        ),
        *slips(
            _encode_by_rank,
            across_words=(
                "Your answer merges across word boundaries. Encode each word separately, so *dog.* is never a token.",
                ("in words", "in [''.join(words)]"),
            ),
            spaces_stripped=(
                "Your answer drops spaces. In GPT-2 the space before a word belongs to the word: keep it.",
                ("word.encode()", "word.strip().encode()"),
            ),
            repeated_words_once=(
                "Your answer includes a repeated word only once. Encode a word every time it occurs.",
                ("in words", "in dict.fromkeys(words)"),
            ),
        ),
        *mistake(
            "Your answer merges the wrong pair first. Merge the known pair that was learned first.",
            longest_first=_slip((_KEY, "key=lambda pair: (-len(''.join(pair)), ranks[pair])"), paired=False),
            leftmost_pair_first=_slip((_KEY, "key=lambda pair: 0"), paired=False),
            last_learned_first=_slip((_CHOSEN, "max(known,")),
        ),
        *mistake(
            "Your answer merges too few pairs. Keep what `join` returns, and continue until no known pairs are left.",
            merged_once=_slip(("while known :=", "if known :="), paired=False),
            nothing_merged=_slip((_WHILE, "while known := []:"), paired=False),
        ),
        *mistake(
            "Your answer is not one list of all tokens. Create one list before the loop, and add the tokens of each "
            "word to it.",
            word_by_word=_slip(("extend(tokens)", "append(list(tokens))")),
            last_word_only=_slip(("found.extend(tokens)", "found = list(tokens)")),
        ),
    ),
    forbidden=(TOKENIZERS,),
)
