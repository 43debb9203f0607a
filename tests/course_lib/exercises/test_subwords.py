"""Slips in a student's own handwriting are named, and plain Python values are told apart."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise

import pytest

from course_lib import exercises
from course_lib.exercises.subwords.shared import PLAY
from tests.course_lib.exercises.judging import mistake, named, verdict

Words = dict[tuple[str, ...], int]


def test_the_worked_example_is_that_of_the_library() -> None:
    exercise = exercises.find("subwords.learn_merges")
    case = exercise.visible_cases()[0]
    assert exercise.reference(*case.args[:3]) == [("a", "y"), ("l", "ay"), ("p", "lay"), ("▁", "play")]
    assert case.args[0] == PLAY


def test_pairs_that_are_to_be_replayed_make_a_new_piece_each() -> None:
    """Where two pairs made the same one, two honest readings of the paper would differ."""
    exercise = exercises.find("subwords.encode")
    for seed in range(30):
        for case in [*exercise.visible_cases(), *exercise.hidden_cases(seed)]:
            made = ["".join(pair) for pair in case.args[1]]
            assert len(set(made)) == len(made)


def _count_unweighted(words: Words) -> dict[tuple[str, str], int]:
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for pieces in words:
        for pair in pairwise(pieces):
            counts[pair] += 1
    return counts


def _count_in_the_text(words: Words) -> Counter[tuple[str, str]]:
    row: list[str] = []
    for pieces, times in words.items():
        row += list(pieces) * times
    return Counter(zip(row[:-1], row[1:], strict=True))


def _count_written_over(words: Words) -> dict[tuple[str, str], int]:
    counts = {}
    for pieces, times in words.items():
        for i in range(len(pieces) - 1):
            counts[pieces[i], pieces[i + 1]] = times
    return counts


def _replace(pieces: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    return tuple(" ".join(pieces).replace(f"{pair[0]} {pair[1]}", pair[0] + pair[1]).split())


def _join_once(pieces: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    out = list(pieces)
    for i in range(len(out) - 1):
        if (out[i], out[i + 1]) == pair:
            out[i] = out[i] + out.pop(i + 1)
            break
    return tuple(out)


def _join_on_every_piece(pieces: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    out: list[str] = []
    for i in range(len(pieces)):
        out.append(pieces[i] + pieces[i + 1] if pieces[i : i + 2] == pair else pieces[i])
    return tuple(out)


def _join_in_a_list(pieces: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    out = list(pieces)
    for i in range(len(out)):
        if out[i : i + 2] == pair:
            out[i : i + 2] = ["".join(pair)]
    return tuple(out)


def _join_all_but_the_last(pieces: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    out: list[str] = []
    i = 0
    while i + 1 < len(pieces):
        if (pieces[i], pieces[i + 1]) == pair:
            out.append(pieces[i] + pieces[i + 1])
            i += 1
        else:
            out.append(pieces[i])
        i += 1
    return tuple(out)


def _learn_from_stale_counts(words, ids, merges, count, choose, join):  # type: ignore[no-untyped-def]
    ids, counts = dict(ids), dict(count(words))
    learned = []
    for _ in range(min(merges, len(counts))):
        learned.append(choose(counts, ids))
        del counts[learned[-1]]
    return learned


def _learn_without_joining(words, ids, merges, count, choose, join):  # type: ignore[no-untyped-def]
    return [choose(count(words), ids) for _ in range(merges if count(words) else 0)]


def _encode_greedily(text: str, merges: list[tuple[str, str]]) -> list[str]:
    known = {a + b for a, b in merges}
    found: list[str] = []
    for word in ["▁" + word for word in text.split()]:
        i = 0
        while i < len(word):
            end = len(word)
            while end > i + 1 and word[i:end] not in known:
                end -= 1
            found.append(word[i:end])
            i = end
    return found


def _encode_with_lists(text: str, merges: list[tuple[str, str]]) -> list[str]:
    """As the hint of exercise 3 has it, with a list where the hint has a tuple: nothing is ever equal."""
    found: list[str] = []
    for word in text.split():
        pieces = list("▁" + word)
        for pair in merges:
            for i in range(len(pieces)):
                if pieces[i : i + 2] == pair:
                    pieces[i : i + 2] = ["".join(pair)]
        found += pieces
    return found


def _encode_joining_nothing(text: str, merges: list[tuple[str, str]]) -> list[str]:
    found: list[str] = []
    for word in text.split():
        pieces = tuple("▁" + word)
        for pair in merges:
            _join_once(pieces, pair)
        found += pieces
    return found


def _encode_in(merges_of: Callable[[list[tuple[str, str]]], list[tuple[str, str]]], mark: str = "▁"):  # type: ignore[no-untyped-def]
    def encode(text: str, merges: list[tuple[str, str]]) -> list[str]:
        found: list[str] = []
        for word in text.split():
            pieces = list(mark + word)
            for pair in merges_of(merges):
                i = 0
                while i < len(pieces) - 1:
                    if (pieces[i], pieces[i + 1]) == pair:
                        pieces[i : i + 2] = ["".join(pair)]
                    i += 1
            found += pieces
        return found

    return encode


def _encode_along_the_word(text: str, merges: list[tuple[str, str]]) -> list[str]:
    found: list[str] = []
    for word in text.split():
        pieces, i = list("▁" + word), 0
        while i < len(pieces) - 1:
            if (pieces[i], pieces[i + 1]) in merges:
                pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
                i = 0
            else:
                i += 1
        found += pieces
    return found


def _encode_latin_1(words, merges, letters, join):  # type: ignore[no-untyped-def]
    found: list[str] = []
    for word in words:
        tokens = tuple(letters[ord(character)] for character in word)
        for pair in merges:
            tokens = join(tokens, pair)
        found.extend(tokens)
    return found


def _encode_one_pair(words, merges, letters, join):  # type: ignore[no-untyped-def]
    found: list[str] = []
    for word in words:
        tokens = tuple(letters[byte] for byte in word.encode())
        for pair in merges:
            if pair in pairwise(tokens):
                tokens = join(tokens, pair)
                break
        found.extend(tokens)
    return found


def _encode_words_apart(words, merges, letters, join):  # type: ignore[no-untyped-def]
    found = []
    for word in words:
        tokens = tuple(letters[byte] for byte in word.encode())
        for pair in merges:
            tokens = join(tokens, pair)
        found.append(list(tokens))
    return found


def _decode_each(tokens: list[str], letters: list[str]) -> list[str]:
    return [bytes(map(letters.index, token)).decode("utf8", "replace") for token in tokens] + [""]


def _bits_of_every_window(losses, ids, text, context, stride):  # type: ignore[no-untyped-def]
    windows = [ids[i : i + context] for i in range(0, len(ids), stride)]
    return sum(sum(losses(window)) for window in windows) / math.log(2) / len(text.encode())


def _bits_without_overlap(losses, ids, text, context, stride):  # type: ignore[no-untyped-def]
    windows = [ids[i : i + context] for i in range(0, len(ids), context)]
    return sum(sum(losses(window)) for window in windows) / math.log(2) / len(text.encode())


def _cut_with_marks_put_afterwards(word: str, pieces: list[str]) -> list[str]:
    found: list[str] = []
    begin = 0
    while begin < len(word):
        for end in range(len(word), begin, -1):
            if word[begin:end] in pieces:
                found.append(("##" if begin else "") + word[begin:end])
                begin = end
                break
        else:
            return ["[UNK]"]
    return found


def _cut_with_unknowns(word: str, pieces: list[str]) -> list[str]:
    found: list[str] = []
    rest = word
    while rest:
        mark = "##" if len(rest) < len(word) else ""
        fitting = [n for n in range(len(rest), 0, -1) if mark + rest[:n] in pieces]
        found.append(mark + rest[: fitting[0]] if fitting else "[UNK]")
        rest = rest[fitting[0] if fitting else 1 :]
    return found


@pytest.mark.parametrize(
    ("exercise_id", "answer", "expected"),
    [
        ("subwords.count_pairs", _count_unweighted, "every_word_once"),
        ("subwords.count_pairs", _count_in_the_text, "across_words"),
        ("subwords.count_pairs", _count_written_over, "last_word_only"),
        ("subwords.most_frequent_pair", lambda counts, ids: Counter(counts).most_common(1)[0][0], "first_of_several"),
        (
            "subwords.most_frequent_pair",
            lambda counts, ids: sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0],
            "alphabetical",
        ),
        (
            "subwords.most_frequent_pair",
            lambda counts, ids: max(counts, key=lambda pair: (counts[pair], -ids[pair[0]], ids[pair[1]])),
            "largest_right_piece",
        ),
        ("subwords.merge", _replace, "text_replaced"),
        ("subwords.merge", _join_in_a_list, "nothing_joined"),
        ("subwords.merge", _join_on_every_piece, "right_piece_kept"),
        ("subwords.merge", _join_all_but_the_last, "last_piece_lost"),
        ("subwords.merge", _join_once, "first_one_only"),
        ("subwords.learn_merges", _learn_from_stale_counts, "counted_once"),
        ("subwords.learn_merges", _learn_without_joining, "nothing_joined"),
        (
            "subwords.vocabulary_size",
            lambda characters, merges, special: characters + special - merges,
            "two_become_one",
        ),
        ("subwords.encode", _encode_greedily, "longest_piece_first"),
        ("subwords.encode", _encode_along_the_word, "leftmost_pair_first"),
        ("subwords.encode", _encode_with_lists, "characters"),
        ("subwords.encode", _encode_joining_nothing, "characters"),
        ("subwords.encode", _encode_in(lambda merges: merges[::-1]), "reverse_order"),
        ("subwords.encode", _encode_in(list, "_"), "underscores"),
        ("subwords.encode_bytes", _encode_latin_1, "code_points"),
        ("subwords.encode_bytes", _encode_one_pair, "merged_once"),
        ("subwords.encode_bytes", _encode_words_apart, "word_by_word"),
        ("subwords.decode_bytes", _decode_each, "piece_by_piece"),
        ("subwords.decode_bytes", lambda tokens, letters: [*tokens, ""], "letters_kept"),
        ("subwords.windowed_bits", _bits_of_every_window, "overlap_counted_again"),
        ("subwords.windowed_bits", _bits_without_overlap, "no_overlap"),
        ("subwords.wordpiece", _cut_with_unknowns, "one_unknown_character"),
        ("subwords.wordpiece", _cut_with_marks_put_afterwards, "mark_put_afterwards"),
    ],
)
def test_slips_are_named(exercise_id: str, answer: Callable[..., object], expected: str) -> None:
    assert named(exercise_id, answer) == expected


class TestPlainValues:
    def test_a_counter_is_a_dict(self) -> None:
        def count(words: Words) -> Counter[tuple[str, str]]:
            counts: Counter[tuple[str, str]] = Counter()
            for pieces, times in words.items():
                counts.update(dict.fromkeys(pairwise(pieces), 0))
                for pair in pairwise(pieces):
                    counts[pair] += times
            return counts

        assert verdict("subwords.count_pairs", count).passed

    def test_missing_pairs_are_named(self) -> None:
        right = exercises.find("subwords.count_pairs").reference

        def without_the_mark(words: Words) -> dict[tuple[str, str], int]:
            return {pair: times for pair, times in right(words).items() if pair[0] != "▁"}

        worked_example, *_ = verdict("subwords.count_pairs", without_the_mark).cases
        assert worked_example.message == "The result lacks 1 key: ('▁', 'p')."

    def test_ids_changed_in_place_are_noticed(self) -> None:
        def learn(words, ids, merges, count, choose, join):  # type: ignore[no-untyped-def]
            learned = []
            while len(learned) < merges and (counts := count(words)):
                learned.append(choose(counts, ids))
                ids.setdefault("".join(learned[-1]), len(ids))
                words = {join(pieces, learned[-1]): times for pieces, times in words.items()}
            return learned

        found = verdict("subwords.learn_merges", learn)
        assert not found.passed
        assert "changed ids in place" in found.text()


def test_learning_without_an_end_earns_its_part() -> None:
    def learn(words, ids, merges, count, choose, join):  # type: ignore[no-untyped-def]
        ids = dict(ids)
        learned = []
        for _ in range(merges):
            learned.append(choose(count(words), ids))
            ids.setdefault("".join(learned[-1]), len(ids))
            words = {join(pieces, learned[-1]): times for pieces, times in words.items()}
        return learned

    assert verdict("subwords.learn_merges", learn).points == 3


def test_ids_that_are_forgotten_are_asked_for() -> None:
    def learn(words, ids, merges, count, choose, join):  # type: ignore[no-untyped-def]
        learned = []
        while len(learned) < merges and (counts := count(words)):
            learned.append(choose(counts, ids))
            words = {join(pieces, learned[-1]): times for pieces, times in words.items()}
        return learned

    worked_example, *_ = verdict("subwords.learn_merges", learn).cases
    assert "the token 'ay' has no id: give every merged token the next one" in worked_example.message


def test_no_points_for_joining_only_once() -> None:
    assert verdict("subwords.merge", mistake("subwords.merge", "first_one_only")).points == 0
