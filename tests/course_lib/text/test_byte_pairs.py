"""Byte-pair encoding of bytes: the pairs that `tokenizers` learns, the ids that `transformers` gives, and streams."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import GPT2Tokenizer

from course_lib.text.byte_pairs import BYTES, ByteVocabulary, byte_ids, byte_words, in_whole_words, merge_pair
from course_lib.text.fast_subwords import GPT2_END, SubwordVocabulary
from course_lib.toys.small_world import texts

ENGLISH = "\n".join(" ".join(sentences) for sentences in texts(60))
HARD = (
    "The cat's naïve façade: 3,141.59 €!\r\n\tkatze\u0301 tanzte… 'Re're're we'll don't I'VE\n\n\n   "
    "猫が踊った。😺👩‍👩‍👧 \x00\x07\u200b  end  \u3000 \xa0x   y \U0001f431' 's 'l 'll"
)
TEXTS = {
    "english": [ENGLISH],
    "several": ENGLISH.split("\n"),
    "hard": [HARD * 2, HARD],
    "ties": ["ab ba cd dc aab bba", "zz zzz zzzz zzzzz", "xyxyx yxyxy"],
    "one word": ["aaaaaaaaaa"],
    "empty": ["", " "],
}


def theirs(learned_from: list[str], merges: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    size = 256 + merges
    tokenizer.train_from_iterator(
        learned_from, trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    )
    return tokenizer


@pytest.fixture(scope="module")
def vocabulary() -> ByteVocabulary:
    return ByteVocabulary.learn([ENGLISH, HARD], 300, [GPT2_END, "<|end|>"])


@pytest.mark.parametrize("learned_from", TEXTS.values(), ids=TEXTS.keys())
def test_the_same_pairs_as_the_library_learns(learned_from: list[str]) -> None:
    ours, tokenizer = ByteVocabulary.learn(learned_from, 200), theirs(learned_from, 200)
    ids = tokenizer.get_vocab()
    merges = [(ids[left], ids[right]) for left, right in json.loads(tokenizer.to_str())["model"]["merges"]]
    assert list(ours.merges)[: len(merges)] == merges
    assert len(ours.pieces) >= len(ids)
    assert ours.encode(HARD) == tokenizer.encode(HARD).ids


def test_the_same_ids_as_gpt2s_tokenizer_gives(vocabulary: ByteVocabulary, tmp_path: Path) -> None:
    letters = dict(zip((piece[0] for piece in BYTES), sorted(pre_tokenizers.ByteLevel.alphabet()), strict=True))
    written = ["".join(letters[byte] for byte in piece) for piece in vocabulary.pieces]
    ids = {piece: i for i, piece in enumerate([*written, GPT2_END])}
    (tmp_path / "vocab.json").write_text(json.dumps(ids))
    lines = [f"{written[left]} {written[right]}" for left, right in vocabulary.merges]
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(lines) + "\n")
    published = GPT2Tokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    for text in (HARD, ENGLISH):
        assert vocabulary.encode(text) == published(text)["input_ids"]


def test_the_fast_one_learns_the_same_and_is_saved(tmp_path: Path) -> None:
    slow = ByteVocabulary.learn([ENGLISH, HARD], 150, [GPT2_END])
    fast = SubwordVocabulary.train_bytes([ENGLISH, HARD], len(slow))
    fast.save(tmp_path / "tokenizer.json")
    for each in (fast, SubwordVocabulary.load(tmp_path / "tokenizer.json")):
        assert len(each) == len(slow)
        assert each.id(GPT2_END) == len(slow) - 1
        assert each.encode(HARD) == slow.encode(HARD)
        assert each.decode(each.encode(HARD)) == HARD
        assert list(each.encode_stream(iter(HARD))) == slow.encode(HARD)


def test_nothing_is_lost(vocabulary: ByteVocabulary) -> None:
    generator = random.Random(0)
    for _ in range(200):
        codes = [generator.choice([generator.randrange(0x80), generator.randrange(0xD800)]) for _ in range(20)]
        text = "".join(map(chr, codes))
        assert vocabulary.decode(vocabulary.encode(text)) == text


def test_half_a_character_is_shown_as_such(vocabulary: ByteVocabulary) -> None:
    first, *_ = byte_ids("é")
    assert vocabulary.decode([first]) == "�"


def test_words_keep_the_space_before_them() -> None:
    assert byte_words("the cat's  2 €uros \n") == ["the", " cat", "'s", " ", " 2", " €", "uros", " \n"]


def test_pairs_are_joined_from_the_left() -> None:
    assert merge_pair([1, 1, 1, 2, 1, 1], (1, 1), 9) == [9, 1, 2, 9]


def test_a_piece_may_be_joined_in_two_ways() -> None:
    ours = ByteVocabulary.learn(["abc abc bcd bcd bcd bc ab ab ab ab xabc xabc xabc"], 40)
    assert len(set(ours.pieces)) == len(ours.pieces)
    assert ours.decode(ours.encode("abc xabc")) == "abc xabc"


class TestSpecial:
    def test_is_refused_unless_it_is_allowed(self, vocabulary: ByteVocabulary) -> None:
        with pytest.raises(ValueError, match=r"spells the special token '<\|end\|>': give allowed_special="):
            vocabulary.encode("a<|end|>b")

    def test_is_one_id_where_it_is_allowed(self, vocabulary: ByteVocabulary) -> None:
        end = vocabulary.ids["<|end|>"]
        for allowed in ({"<|end|>"}, "all"):
            ids = vocabulary.encode("a <|end|> b", allowed_special=allowed)
            assert ids == [*vocabulary.encode("a "), end, *vocabulary.encode(" b")]
            assert vocabulary.decode(ids) == "a <|end|> b"

    def test_is_cut_like_any_text_where_it_is_neither(self, vocabulary: ByteVocabulary) -> None:
        ids = vocabulary.encode("a<|end|>", disallowed_special=())
        assert vocabulary.ids["<|end|>"] not in ids
        assert vocabulary.decode(ids) == "a<|end|>"

    def test_the_longest_is_found(self) -> None:
        ours = ByteVocabulary((), ("<a>", "<a><b>"))
        assert ours.encode("<a><b><a>", allowed_special="all") == [257, 256]

    def test_an_unknown_one_is_refused(self, vocabulary: ByteVocabulary) -> None:
        with pytest.raises(ValueError, match="there is no special token '<x>'"):
            vocabulary.encode("a", allowed_special={"<x>"})

    def test_the_fast_one_does_the_same_where_it_is_asked_to(self) -> None:
        fast = SubwordVocabulary.train_bytes([ENGLISH], 300)
        end = fast.id(GPT2_END)
        assert fast.encode(f"a{GPT2_END}b", allowed_special="all") == [*fast.encode("a"), end, *fast.encode("b")]
        assert end not in fast.encode(f"a{GPT2_END}b")
        with pytest.raises(ValueError, match="spells the special token"):
            fast.encode(f"a{GPT2_END}b", disallowed_special="all")


class TestStream:
    def test_any_cut_gives_the_same(self, vocabulary: ByteVocabulary) -> None:
        text = HARD[:60] + "<|end|>" + HARD[-40:] + " <|endoftext|>"
        whole = vocabulary.encode(text, allowed_special="all")
        for cut in range(len(text)):
            parts = [text[:cut], text[cut:]]
            assert list(vocabulary.encode_stream(parts, allowed_special="all")) == whole
        for size in (1, 2, 3, 5, 11):
            parts = [text[i : i + size] for i in range(0, len(text), size)]
            assert list(vocabulary.encode_stream(parts, allowed_special="all")) == whole

    def test_a_special_token_is_refused_wherever_it_is_cut(self, vocabulary: ByteVocabulary) -> None:
        for size in (1, 4, 20):
            text = "a b c d  <|end|> e"
            with pytest.raises(ValueError, match="spells the special token"):
                list(vocabulary.encode_stream(text[i : i + size] for i in range(0, len(text), size)))

    def test_little_is_kept(self, vocabulary: ByteVocabulary) -> None:
        read = 0

        def parts() -> Iterator[str]:
            nonlocal read
            for _ in range(1000):
                read += 1
                yield "the cat danced "

        given = 0
        for words in in_whole_words(parts(), vocabulary.special):
            given += len(words)
            assert read * 15 - given < 60
        assert given == 15_000

    def test_an_open_file_is_read_as_it_is(self, vocabulary: ByteVocabulary, tmp_path: Path) -> None:
        path = tmp_path / "text"
        path.write_text(HARD, encoding="utf-8", newline="")
        with path.open(encoding="utf-8", newline="") as file:
            assert list(vocabulary.encode_stream(file)) == vocabulary.encode(HARD)

    def test_one_string_is_refused(self, vocabulary: ByteVocabulary) -> None:
        with pytest.raises(TypeError, match="not one string"):
            list(vocabulary.encode_stream("the cat"))

    def test_a_vocabulary_of_words_cannot(self) -> None:
        words = SubwordVocabulary.train_bpe([ENGLISH], 200)
        with pytest.raises(TypeError, match="only a vocabulary of bytes"):
            list(words.encode_stream(["the cat"]))
