"""Byte-level byte-pair encoding in plain Python, against `tokenizers` and `transformers`."""

import json
import re
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken import Encoding
from tiktoken_ext import openai_public
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import GPT2Tokenizer

from course_lib.text.byte_pairs import GPT2_END, ByteLevelVocabulary, Pattern, merge_ids, split_words
from course_lib.text.gpt2_files import read_piece, written

TEXTS = [
    "A cat danced on the table; the cat's table, and they'll say it's theirs.",
    "Zwei Kätzchen tanzten über die Straße, größer als 1200 andere.",
    "Две кошки танцуют на столе.\r\nДве кошки!",
    "猫在桌子上跳舞。猫在跳舞。",
    "両方の猫が踊っている\tネコ",
    "if  x:\n    return 12_000\n\n\n",
]
HARD = [
    "",
    " ",
    "   three   spaces  ",
    "tabs\tand\r\nCRLF\r\n\r\n end\n",
    "🐈‍⬛ and 👩🏽‍🚀 🇩🇪",
    "cafe\u0301 \u0301\u0302 Zalgo\u0336\u0315",
    "\x00\x01\x1c\x1d\x7f\x85\u2028 \ufeff",
    "'s 'S don't can''t 'll'llama we'v 'r",
    "猫在桌子上跳舞。１２３ ½² Ⅷ",
    "\u00a0\u3000\u00a0no-break",
    "WE'LL 'Ll 'ſ 'lL  \n \n\n  x!\n\n \n",
    "12345678 1 22 333 4444\r\n(a) [b] _c $d",
]
UNICODE = st.text(st.characters(exclude_categories=["Cs"]))
SMALL = st.lists(st.text("ab 's\né猫", min_size=1, max_size=40), min_size=1, max_size=4)


def library(texts: list[str], size: int) -> Tokenizer:
    """What `tokenizers` learns, with so many pieces."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def library_merges(tokenizer: Tokenizer) -> list[tuple[bytes, bytes]]:
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(read_piece(left), read_piece(right)) for left, right in merges]


@pytest.fixture(scope="module")
def vocabulary() -> ByteLevelVocabulary:
    return ByteLevelVocabulary.learn(TEXTS, 150)


@pytest.fixture(scope="module")
def gpt2(vocabulary: ByteLevelVocabulary, tmp_path_factory: pytest.TempPathFactory) -> GPT2Tokenizer:
    """The vocabulary as `transformers` reads it from the two files."""
    folder = tmp_path_factory.mktemp("gpt2")
    vocabulary.save(folder / "vocab.json", folder / "merges.txt")
    tokenizer: GPT2Tokenizer = GPT2Tokenizer.from_pretrained(folder)
    return tokenizer


@pytest.mark.parametrize("text", [*TEXTS, *HARD])
def test_words_are_those_of_tokenizers(text: str) -> None:
    theirs = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    assert [written(word.encode()) for word in split_words(text)] == [word for word, _ in theirs]


@pytest.fixture(scope="module")
def gpt4() -> tuple[ByteLevelVocabulary, Encoding]:
    """What is learned from GPT-4's words, and the same in `tiktoken`, with its own pattern of GPT-4."""
    ours = ByteLevelVocabulary.learn([*TEXTS, *HARD], 150, pattern="gpt4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: ours.ids)
        pattern = openai_public.cl100k_base()["pat_str"]
    return ours, Encoding("small", pat_str=pattern, mergeable_ranks=ours.ids, special_tokens=ours.special_ids)


class TestGPT4:
    @pytest.mark.parametrize("text", [*TEXTS, *HARD])
    def test_ids_are_those_of_tiktoken(self, gpt4: tuple[ByteLevelVocabulary, Encoding], text: str) -> None:
        ours, theirs = gpt4
        assert ours.encode(text) == theirs.encode(text)

    @settings(max_examples=200)
    @given(text=UNICODE | st.text("ab 'slRV\n\r1!é\u00a0"))
    def test_of_any_text_and_any_chunks(self, gpt4: tuple[ByteLevelVocabulary, Encoding], text: str) -> None:
        ours, theirs = gpt4
        expected = theirs.encode(text, allowed_special="all")
        assert ours.encode(text, allowed_special="all") == expected
        assert list(ours.encode_stream(iter(text), allowed_special="all")) == expected
        assert ours.decode(expected, stop=False) == text


class TestLearning:
    @pytest.mark.parametrize("texts", [TEXTS, *([text] for text in TEXTS), HARD, ["ab ba ab ba cd dc", "zy yz"]])
    def test_merges_and_ids_are_those_of_tokenizers(self, texts: list[str]) -> None:
        ours = ByteLevelVocabulary.learn(texts, 150)
        theirs = library(texts, len(ours.pieces))
        assert list(ours.merges) == library_merges(theirs)
        assert {written(piece): i for piece, i in ours.ids.items()} == theirs.get_vocab()
        for text in [*TEXTS, *HARD]:
            assert ours.encode(text) == theirs.encode(text).ids

    @settings(max_examples=100)
    @given(texts=SMALL, merges=st.integers(1, 30))
    def test_ties_are_broken_as_in_tokenizers(self, texts: list[str], merges: int) -> None:
        ours = ByteLevelVocabulary.learn(["a", *texts], merges)
        theirs = library_merges(library(["a", *texts], len(ours.pieces)))
        assert list(ours.merges[: len(theirs)]) == theirs
        assert len({left + right for left, right in theirs}) == len(ours.pieces) - 256

    @settings(max_examples=100)
    @given(texts=SMALL, merges=st.integers(1, 30))
    def test_ties_may_go_to_the_largest_bytes(self, texts: list[str], merges: int) -> None:
        """Counted anew each time, as one would write it down; Stanford's CS336 asks for this rule."""
        words = Counter(word for text in ["a", *texts] for word in split_words(text))
        cut = {tuple(bytes([byte]) for byte in word.encode()): times for word, times in words.items()}
        expected: list[tuple[bytes, bytes]] = []
        for _ in range(merges):
            counts: Counter[tuple[bytes, bytes]] = Counter()
            for pieces, times in cut.items():
                for pair in pairwise(pieces):
                    counts[pair] += times
            if not counts:
                break
            expected.append(max(counts, key=lambda pair: (counts[pair], pair)))
            merged = b"".join(expected[-1])
            cut = {tuple(merge_ids(pieces, expected[-1], merged)): times for pieces, times in cut.items()}  # type: ignore[arg-type, misc]
        assert list(ByteLevelVocabulary.learn(["a", *texts], merges, ties="largest").merges) == expected

    @pytest.mark.parametrize("pattern", get_args(Pattern))
    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            (f"{GPT2_END}the cat  {GPT2_END}{GPT2_END}\n\nthe cat", ["the cat  ", "\n\nthe cat"]),
            ("cat<a>cat <a><b>s<b> <a <a cat<a><a>", ["cat", "cat ", "s<b> <a <a cat"]),
            ("die猫猫 Katze die猫Katze", ["die", " Katze die", "Katze"]),
        ],
    )
    def test_nothing_is_learned_from_special_tokens_nor_across_them(
        self, text: str, parts: list[str], pattern: Pattern
    ) -> None:
        special = (GPT2_END, "<a>", "<a><b>", "猫")
        learned = ByteLevelVocabulary.learn([text], 50, special, pattern=pattern)
        assert learned == ByteLevelVocabulary.learn(parts, 50, special, pattern=pattern)
        assert learned.merges != ByteLevelVocabulary.learn([text], 50, (), pattern=pattern).merges


class TestVocabulary:
    def test_half_a_character_becomes_a_replacement_character(self, vocabulary: ByteLevelVocabulary) -> None:
        ids = ByteLevelVocabulary(()).encode("a🐈")
        assert len(ids) == 5
        assert vocabulary.decode(ids[:3]) == "a�"

    def test_decoding_stops_at_the_end_of_the_document(self, vocabulary: ByteLevelVocabulary) -> None:
        end = vocabulary.special_ids[GPT2_END]
        assert vocabulary.decode([*vocabulary.encode("the cat"), end, 64]) == "the cat"
        assert vocabulary.decode([end, end, *vocabulary.encode("the cat"), end, 64]) == "the cat"
        assert vocabulary.decode([end]) == vocabulary.decode([]) == ""
        assert vocabulary.decode([end, 64, end, 65], stop=False) == f"{GPT2_END}a{GPT2_END}b"
        assert ByteLevelVocabulary((), ("<a>", GPT2_END)).decode([64, 256, 65]) == "a<a>b", "others are spelled"

    def test_special_tokens_are_refused_allowed_or_plain_text(self, vocabulary: ByteLevelVocabulary) -> None:
        text, end = f"a cat{GPT2_END} the cat", vocabulary.special_ids[GPT2_END]
        with pytest.raises(ValueError, match="the text spells the special token"):
            vocabulary.encode(text)
        expected = [*vocabulary.encode("a cat"), end, *vocabulary.encode(" the cat")]
        assert vocabulary.encode(text, allowed_special={GPT2_END}) == expected
        plain = vocabulary.encode(text, disallowed_special=())
        assert end not in plain
        assert vocabulary.decode(plain) == text


class TestFiles:
    def test_what_was_saved_is_loaded(self, vocabulary: ByteLevelVocabulary, tmp_path: Path) -> None:
        files = tmp_path / "vocab.json", tmp_path / "merges.txt"
        vocabulary.save(*files)
        assert ByteLevelVocabulary.load(*files) == vocabulary

    def test_transformers_gives_the_same_ids(self, vocabulary: ByteLevelVocabulary, gpt2: GPT2Tokenizer) -> None:
        for text in [*TEXTS, *HARD]:
            assert vocabulary.encode(text) == gpt2.encode(text)
            assert vocabulary.decode(gpt2.encode(text)) == text
        text = f"  {GPT2_END}".join(TEXTS)
        assert vocabulary.encode(text, allowed_special="all") == gpt2.encode(text)

    @settings(max_examples=200)
    @given(text=UNICODE)
    def test_transformers_gives_the_same_ids_for_any_text(
        self, vocabulary: ByteLevelVocabulary, gpt2: GPT2Tokenizer, text: str
    ) -> None:
        expected = gpt2.encode(text)
        assert vocabulary.encode(text, allowed_special="all") == expected
        assert list(vocabulary.encode_stream(iter(text), allowed_special="all")) == expected

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda ids, merges: (ids, merges + "猫 a\n"), "a piece with '猫', which does not stand for a byte"),
            (lambda ids, merges: (ids, merges + "a b\n"), "does not have the bytes, the pieces of"),
            (lambda ids, merges: ({"!": 1, "a": 0}, merges), "does not have the bytes, the pieces of"),
            (lambda ids, merges: ({"!": 1}, merges), "from 0 without gaps"),
        ],
    )
    def test_files_that_do_not_fit_are_refused(self, tmp_path: Path, change: object, message: str) -> None:
        assert callable(change)
        files = tmp_path / "vocab.json", tmp_path / "merges.txt"
        ByteLevelVocabulary(()).save(*files)
        ids, merges = change(json.loads(files[0].read_text(encoding="utf-8")), files[1].read_text(encoding="utf-8"))
        files[0].write_text(json.dumps(ids), encoding="utf-8")
        files[1].write_text(merges, encoding="utf-8")
        with pytest.raises(ValueError, match=re.escape(message)):
            ByteLevelVocabulary.load(*files)


class TestStreams:
    TRICKY = "don't  we'll'l'x \r\n\n é猫🐈‍⬛12'v 'r   "

    @pytest.mark.parametrize("text", [TRICKY, f"a  {GPT2_END}\n's<|end{GPT2_END}'l", "' 'll", "we'l", *HARD])
    def test_chunks_cut_anywhere_give_the_ids_of_the_whole(self, vocabulary: ByteLevelVocabulary, text: str) -> None:
        whole = vocabulary.encode(text, allowed_special="all")
        for first in range(len(text) + 1):
            for second in range(first, len(text) + 1):
                chunks = [text[:first], text[first:second], text[second:]]
                assert list(vocabulary.encode_stream(chunks, allowed_special="all")) == whole
        assert list(vocabulary.encode_stream(iter(text), allowed_special="all")) == whole

    def test_no_chunk_is_read_before_it_is_needed(self, vocabulary: ByteLevelVocabulary) -> None:
        read: list[str] = []

        def chunks() -> Iterator[str]:
            for chunk in ["the cat's", " on", " a table"]:
                read.append(chunk)
                yield chunk

        ids = vocabulary.encode_stream(chunks())
        first = vocabulary.encode("the cat's")
        assert read == []
        assert [next(ids) for _ in first] == first
        assert read == ["the cat's"]
        next(ids)
        assert read == ["the cat's", " on", " a table"]

    def test_memory_does_not_grow_with_the_text(self, vocabulary: ByteLevelVocabulary) -> None:
        """The longer text has 39 kB more."""

        def peak(chunks: int) -> int:
            tracemalloc.start()
            for _ in vocabulary.encode_stream("the cat's tab" for _ in range(chunks)):
                pass
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return most

        peak(10)
        assert peak(3000) < peak(30) + 10_000

    def test_a_refused_token_is_found_across_chunks(self, vocabulary: ByteLevelVocabulary) -> None:
        with pytest.raises(ValueError, match="the text spells the special token"):
            list(vocabulary.encode_stream(["a cat<|endof", "text|>"]))
