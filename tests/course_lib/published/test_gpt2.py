"""GPT-2's weights in ours: the same logits, the same text, as the `transformers` library gives."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from course_lib.models import GPT, GPTConfig
from tests.course_lib.published.theirs import IDS, MASK, edit_config, gpt2
from tests.course_lib.writers import new_tokens


class TestGPT2:
    def test_gives_the_same_logits(self, tmp_path: Path) -> None:
        theirs, ours = gpt2(tmp_path), GPT.from_pretrained(tmp_path)
        assert_close(ours(IDS), theirs(IDS).logits, rtol=0, atol=1e-4)

    def test_gives_the_same_logits_beside_padding(self, tmp_path: Path) -> None:
        theirs, ours = gpt2(tmp_path), GPT.from_pretrained(tmp_path)
        expected = theirs(IDS, attention_mask=MASK.long()).logits
        assert_close(ours(IDS, MASK)[MASK], expected[MASK], rtol=0, atol=1e-4)

    @pytest.mark.parametrize("use_cache", [True, False])
    def test_prompts_filled_up_with_the_end_write_the_same_texts(self, tmp_path: Path, use_cache: bool) -> None:
        """GPT-2 has no padding of its own: its tokenizer is commonly told to pad with the end of a text."""
        theirs, ours = gpt2(tmp_path, eos_token_id=50), GPT.from_pretrained(tmp_path)
        assert (ours.config.end_id, ours.config.padding_id) == (50, None)
        prompts = IDS[:1].remainder(50).repeat(4, 1)
        mask = torch.arange(6) >= torch.tensor([[0], [1], [3], [5]])
        prompts = prompts.masked_fill(~mask, 50)
        expected = theirs.generate(
            prompts, attention_mask=mask.long(), max_new_tokens=12, do_sample=False, pad_token_id=50
        )[:, 6:]
        assert new_tokens(ours, prompts, max_new_tokens=12, use_cache=use_cache).tolist() == expected.tolist()

    def test_of_its_true_size_gives_the_same_logits(self, tmp_path: Path) -> None:
        theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config()).eval()
        theirs.save_pretrained(tmp_path)
        ours = GPT.from_pretrained(tmp_path)
        assert ours.config == GPTConfig.gpt2()
        assert sum(parameter.numel() for parameter in ours.parameters()) == 124_439_808
        ids = torch.randint(0, 50_257, (1, 40))
        assert_close(ours(ids), theirs(ids).logits, rtol=0, atol=1e-4)

    def test_is_read_from_the_files_names_of_old(self, tmp_path: Path) -> None:
        """GPT-2's own file has no prefix, and stores the causal masks with the weights."""
        theirs = gpt2(tmp_path)
        path = tmp_path / "model.safetensors"
        tensors = {name.removeprefix("transformer."): tensor for name, tensor in load_file(path).items()}
        tensors |= {f"h.{i}.attn.bias": torch.ones(1, 1, 32, 32).tril() for i in range(3)}
        save_file(tensors, path)
        assert_close(GPT.from_pretrained(tmp_path)(IDS), theirs(IDS).logits, rtol=0, atol=1e-4)

    def test_an_output_that_is_not_tied_is_loaded_too(self, tmp_path: Path) -> None:
        theirs, ours = gpt2(tmp_path, tie_word_embeddings=False), GPT.from_pretrained(tmp_path)
        assert ours.output.weight is not ours.embedding.weight
        assert_close(ours(IDS), theirs(IDS).logits, rtol=0, atol=1e-4)

    def test_half_precision_is_widened(self, tmp_path: Path) -> None:
        gpt2(tmp_path).half().save_pretrained(tmp_path)
        assert GPT.from_pretrained(tmp_path).embedding.weight.dtype == torch.float32


class TestRefusals:
    def test_an_unknown_activation(self, tmp_path: Path) -> None:
        gpt2(tmp_path)
        edit_config(tmp_path, activation_function="mish")
        with pytest.raises(ValueError, match="activation_function='mish'; this library supports 'relu' or 'gelu'"):
            GPT.from_pretrained(tmp_path)

    @pytest.mark.parametrize(
        ("setting", "value", "expected"),
        [
            ("resid_pdrop", None, "a number"),
            ("attn_pdrop", "0.1", "a number"),
            ("layer_norm_epsilon", [1e-5], "a number"),
            ("n_inner", "96", "a positive whole number"),
            ("eos_token_id", [1, 61], "an id from 0 to 60, or as a list of them"),
            ("eos_token_id", 61, "an id from 0 to 60, or as a list of them"),
        ],
    )
    def test_settings_of_a_wrong_kind(self, tmp_path: Path, setting: str, value: Any, expected: str) -> None:
        gpt2(tmp_path)
        edit_config(tmp_path, **{setting: value})
        with pytest.raises(ValueError, match=f"must give {setting} as {expected}, not "):
            GPT.from_pretrained(tmp_path)
