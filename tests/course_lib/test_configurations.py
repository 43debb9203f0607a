"""Sizes: the published ones as their papers print them, and impossible ones."""

from course_lib.blocks import BlockConfig
from course_lib.configurations import BERTConfig, GPTConfig, TransformerConfig


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


def test_the_vocabularys_last_token_may_be_special() -> None:
    assert GPTConfig(11, end_id=10, padding_id=0).end_id == 10
    assert TransformerConfig(11, 13, start_id=12, end_id=12, padding_id=10).start_id == 12
