"""Llama's weights, and its relatives', in ours: the same logits, the same text, as the `transformers` library gives."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.testing import assert_close

from course_lib.configurations import RotaryConfig
from course_lib.models import GPT, GPTConfig
from tests.course_lib.published.theirs import IDS, MASK, edit_config, published

SMALL = {
    "vocab_size": 61,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "eos_token_id": None,
    "bos_token_id": None,
    "pad_token_id": None,
}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "original_max_position_embeddings": 16, "low_freq_factor": 1.0}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "Llama": ("Llama", {"rms_norm_eps": 1e-5}),
    "Llama, as many keys as queries": ("Llama", {"num_key_value_heads": 4}),
    "Llama 3": ("Llama", {"rope_parameters": LLAMA3 | {"high_freq_factor": 4.0, "rope_theta": 5e5}}),
    "Llama, slowed": ("Llama", {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}}),
    "Llama, tied": ("Llama", {"tie_word_embeddings": True, "head_dim": 10}),
    "Llama, heads of their own length": ("Llama", {"hidden_size": 20, "head_dim": 8, "eos_token_id": [3, 7, 9]}),
    "Mistral, heads of their own length": ("Mistral", {"hidden_size": 28, "head_dim": 4, "eos_token_id": [4]}),
    "Mistral": ("Mistral", {"sliding_window": 3}),
    "Mistral without a window": ("Mistral", {"sliding_window": None}),
    "Qwen2": ("Qwen2", {"tie_word_embeddings": True}),
    "Qwen2 with yarn": (
        "Qwen2",
        {
            "rope_parameters": {
                "rope_type": "yarn",
                "factor": 4.0,
                "original_max_position_embeddings": 16,
                "rope_theta": 1e4,
            }
        },
    ),
    "Qwen2 with a window": ("Qwen2", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}),
    "Qwen3": ("Qwen3", {"head_dim": 8, "eos_token_id": 7}),
    "Qwen3, heads of their own length": (
        "Qwen3",
        {"hidden_size": 18, "num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 4, "eos_token_id": [3, 7]},
    ),
    "Qwen3 with a window": (
        "Qwen3",
        {"head_dim": 6, "use_sliding_window": True, "sliding_window": 2, "max_window_layers": 2},
    ),
}


def llama(folder: Path, family: str = "Llama", **changes: Any) -> transformers.PreTrainedModel:
    config = getattr(transformers, f"{family}Config")(**(SMALL | changes))
    return published(getattr(transformers, f"{family}ForCausalLM")(config), folder)


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[transformers.PreTrainedModel, GPT]:
    family, changes = request.param
    return llama(tmp_path, family, **changes), GPT.from_pretrained(tmp_path)


def test_the_same_logits(pair: tuple[transformers.PreTrainedModel, GPT]) -> None:
    theirs, ours = pair
    ids = torch.randint(61, (2, 40), generator=torch.Generator().manual_seed(0))
    assert_close(ours(ids), theirs(ids).logits, rtol=0, atol=1e-4)


def test_the_same_logits_beside_padding(pair: tuple[transformers.PreTrainedModel, GPT]) -> None:
    theirs, ours = pair
    for mask in (MASK, MASK.flip(1)):
        places = (mask.cumsum(1) - 1).clamp(min=0)
        expected = theirs(IDS, attention_mask=mask.long(), position_ids=places).logits
        assert_close(ours(IDS, mask)[mask], expected[mask], rtol=0, atol=1e-4)


def test_the_same_logits_with_a_cache(pair: tuple[transformers.PreTrainedModel, GPT]) -> None:
    theirs, ours = pair
    kv_cache = ours.kv_cache(2, 6)
    steps = [
        ours(IDS[:, :2], kv_cache=kv_cache),
        *(ours(IDS[:, i : i + 1], kv_cache=kv_cache) for i in range(2, 6)),
    ]
    assert_close(torch.cat(steps, dim=1), theirs(IDS).logits, rtol=0, atol=1e-4)


def test_saved_again_it_is_the_same_for_both_libraries(
    pair: tuple[transformers.PreTrainedModel, GPT], tmp_path: Path
) -> None:
    theirs, ours = pair
    folder = tmp_path / "again"
    ours.save_pretrained(folder)
    again = transformers.AutoModelForCausalLM.from_pretrained(folder)
    assert_close(again(IDS).logits, theirs(IDS).logits, rtol=0, atol=0)
    assert_close(GPT.from_pretrained(folder)(IDS), ours(IDS), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("found", "ours"), [(7, 7), ([7], 7), ([5, 9], (5, 9)), ([9, 5, 60], (9, 5, 60)), ([61, 5], 5), ([], None)]
)
def test_all_ends_are_kept_and_saved(tmp_path: Path, found: Any, ours: Any) -> None:
    llama(tmp_path / "theirs", num_hidden_layers=1)
    edit_config(tmp_path / "theirs", eos_token_id=found)
    model = GPT.from_pretrained(tmp_path / "theirs")
    assert model.config.end_id == ours
    model.save_pretrained(tmp_path / "ours")
    assert GPT.from_pretrained(tmp_path / "ours").config == model.config
    again = transformers.AutoConfig.from_pretrained(tmp_path / "ours").eos_token_id
    assert again == (list(ours) if isinstance(ours, tuple) else ours)


def test_in_several_files(tmp_path: Path) -> None:
    theirs = llama(tmp_path / "whole")
    theirs.save_pretrained(tmp_path / "parts", max_shard_size="10KB")
    assert len(list((tmp_path / "parts").glob("model-*.safetensors"))) > 2
    assert_close(GPT.from_pretrained(tmp_path / "parts")(IDS), theirs(IDS).logits, rtol=0, atol=1e-4)


def test_the_settings_that_older_files_have(tmp_path: Path) -> None:
    theirs = llama(tmp_path, rope_parameters=LLAMA3 | {"high_freq_factor": 4.0, "rope_theta": 5e5})
    old = {key: value for key, value in LLAMA3.items() if key != "rope_type"}
    edit_config(
        *(tmp_path,),
        rope_parameters=None,
        rope_theta=5e5,
        rope_scaling=old | {"type": "llama3", "high_freq_factor": 4.0},
        eos_token_id=[5, 9],
    )
    ours = GPT.from_pretrained(tmp_path)
    assert ours.config.end_id == (5, 9)
    assert_close(ours(IDS), theirs(IDS).logits, rtol=0, atol=1e-4)


def test_in_half_precision(tmp_path: Path) -> None:
    theirs = llama(tmp_path).to(torch.bfloat16)
    ours = GPT.from_pretrained(tmp_path, dtype=torch.bfloat16)
    assert_close(ours(IDS), theirs(IDS).logits, rtol=0, atol=0.15)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"attention_bias": True}, "attention_bias=True; this library supports False"),
        ({"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, "rope_type='dynamic'; this library supports"),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor=0.5; this library supports 1.0"),
        ({"num_key_value_heads": 3}, "heads must be a multiple of key_value_heads, not 4 for 3"),
        ({"hidden_act": "tanh"}, "hidden_act='tanh'; this library supports"),
        ({"vocab_size": 62}, r"would be \[61, 24\] here, but config.json asks for \[62, 24\]"),
    ],
)
def test_what_ours_cannot_do_is_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    llama(tmp_path)
    edit_config(tmp_path, **changes)
    with pytest.raises(ValueError, match=said):
        GPT.from_pretrained(tmp_path)


def test_what_no_published_model_can_say_is_saved_in_our_own_layout(tmp_path: Path) -> None:
    sizes = replace(GPTConfig.llama(61, 24, 4, 3, 40, 64), key_value_heads=2, window=3, windowed=(1,))
    model = GPT(replace(sizes, rotary=RotaryConfig(extension="linear", factor=2.0))).eval()
    model.save_pretrained(tmp_path)
    again = GPT.from_pretrained(tmp_path)
    assert again.config == model.config
    assert_close(again(IDS), model(IDS), rtol=0, atol=0)
