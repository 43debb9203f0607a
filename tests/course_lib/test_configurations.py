"""Sizes: the published ones as their papers print them, and impossible ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from course_lib.bags import BagOfEmbeddingsConfig
from course_lib.blocks import BlockConfig
from course_lib.configurations import BERTConfig, GPTConfig, TransformerConfig
from course_lib.recurrent import RecurrentConfig


def test_gpt2_is_as_wide_and_deep_as_its_report_says() -> None:
    """Radford et al. (2019), table 2; every head has 64 dimensions."""
    presets = [GPTConfig.gpt2(), GPTConfig.gpt2_medium(), GPTConfig.gpt2_large(), GPTConfig.gpt2_xl()]
    assert [(preset.layers, preset.d_model) for preset in presets] == [(12, 768), (24, 1024), (36, 1280), (48, 1600)]
    for preset in presets:
        assert (preset.d_model // preset.heads, preset.d_ff) == (64, 4 * preset.d_model)
        assert (preset.vocab_size, preset.context_length, preset.end_id) == (50_257, 1024, 50_256)
        assert (preset.activation, preset.norm_first, preset.tied_output) == ("gelu_tanh", True, True)


def test_bert_is_as_its_paper_says() -> None:
    """Devlin et al. (2019), section 3: L=12, H=768, A=12 and L=24, H=1024, A=16."""
    sizes = [(preset.layers, preset.d_model, preset.heads) for preset in (BERTConfig.base(), BERTConfig.large())]
    assert sizes == [(12, 768, 12), (24, 1024, 16)]
    assert BERTConfig.large().block == BlockConfig(1024, 16, 4096, 0.1, 0.1, "gelu", False, 1e-12)


def test_the_papers_are_as_its_table_3_says() -> None:
    base, big = TransformerConfig.base(), TransformerConfig.big()
    assert base == TransformerConfig(37_000, 37_000, 512, 8, 2048, 6, 6, 0.1, shared_embeddings=True)
    assert big == TransformerConfig(37_000, 37_000, 1024, 16, 4096, 6, 6, 0.3, shared_embeddings=True)
    assert base.block == BlockConfig(512, 8, 2048, 0.1)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"vocab_size": 0}, "vocab_size must be at least 1, not 0"),
        ({"context_length": 0}, "context_length must be at least 1, not 0"),
        ({"layers": 0}, "layers must be at least 1, not 0"),
        ({"d_model": 0}, "d_model must be at least 1, not 0"),
        ({"d_ff": 0}, "d_ff must be at least 1, not 0"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, not 1.0"),
        ({"attention_dropout": -0.1}, "attention_dropout must be at least 0 and below 1, not -0.1"),
        ({"activation": "tanh"}, "must be one of relu, gelu, gelu_tanh, silu, not 'tanh'"),
        ({"heads": 5}, "multiple of the number of heads, not 768 for 5 heads"),
    ],
)
def test_impossible_sizes(settings: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        dataclasses.replace(GPTConfig.gpt2(), **settings)


@pytest.mark.parametrize("config", [RecurrentConfig(11), BagOfEmbeddingsConfig(11)])
class TestBaselines:
    def test_without_a_state(self, config: Any) -> None:
        with pytest.raises(ValueError, match="d_model must be at least 1, not 0"):
            dataclasses.replace(config, d_model=0)

    @pytest.mark.parametrize("share", [1.0, -0.5])
    def test_an_impossible_share_to_drop(self, config: Any, share: float) -> None:
        with pytest.raises(ValueError, match=f"dropout must be at least 0 and below 1, not {share}"):
            dataclasses.replace(config, dropout=share)


@pytest.mark.parametrize("make", [RecurrentConfig, BagOfEmbeddingsConfig])
def test_a_baseline_without_tokens(make: Callable[[int], object]) -> None:
    with pytest.raises(ValueError, match="vocab_size must be at least 1, not 0"):
        make(0)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: GPTConfig(11, end_id=11), "end_id must be from 0 to 10, the vocabulary's last, not 11"),
        (lambda: GPTConfig(11, padding_id=-1), "padding_id must be from 0 to 10, the vocabulary's last, not -1"),
        (lambda: TransformerConfig(11, 13, padding_id=12), "padding_id must be from 0 to 10"),
        (lambda: TransformerConfig(11, 13, start_id=13), "start_id must be from 0 to 12"),
        (lambda: TransformerConfig(11, 2), "end_id must be from 0 to 1, the vocabulary's last, not 2"),
    ],
)
def test_special_tokens_outside_the_vocabulary(make: Callable[[], object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make()


def test_the_vocabularys_last_token_may_be_special() -> None:
    assert GPTConfig(11, end_id=10, padding_id=0).end_id == 10
    assert TransformerConfig(11, 13, start_id=12, end_id=12, padding_id=10).start_id == 12


def test_shared_embeddings_of_two_vocabularies() -> None:
    with pytest.raises(ValueError, match="need one vocabulary, not 11 and 13 tokens"):
        TransformerConfig(11, 13, shared_embeddings=True)
    with pytest.raises(ValueError, match="target_vocab_size must be at least 1, not 0"):
        TransformerConfig(11, 0)
