"""The pieces of a language model, each beside what it is a piece of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.masking import packed_mask
from course_lib.models import GPT, GPTConfig
from course_lib.objectives.losses import language_model_loss
from course_lib.positions import LearnedPositions
from course_lib.published.hub import PublishedModel
from course_lib.references.gpt import (
    CausalLanguageModel,
    fine_tuning_loss,
    from_gpt2,
    generate,
    influence,
    loss_without_mask,
    tied_logits,
    training_windows,
)
from course_lib.references.heads_and_blocks import AddAndNorm, EncoderBlock, FeedForward, MultiHeadAttention
from course_lib.text.batches import TextBatch
from tests.course_lib.parameters import count_parameters
from tests.course_lib.writers import new_tokens

IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])


def test_without_a_mask_only_the_last_target_is_not_there_to_be_copied() -> None:
    honest = torch.tensor([[2.0, 1.5, 0.5], [1.0, 3.0, 2.5]])
    assert_close(loss_without_mask(honest), torch.tensor([[0.0, 0.0, 0.5], [0.0, 0.0, 2.5]]))


def parts(vocab_size: int, context_length: int, d_model: int, heads: int, layers: int) -> dict[str, Any]:
    """The parts of a `CausalLanguageModel`, with GPT-2's choices: pre-norm, the approximate GELU, small embeddings."""

    def block() -> EncoderBlock:
        first, second = (AddAndNorm(nn.LayerNorm(d_model), nn.Identity(), norm_first=True) for _ in range(2))
        network = FeedForward(d_model, 4 * d_model, partial(F.gelu, approximate="tanh"))
        return EncoderBlock(MultiHeadAttention(d_model, heads), first, network, second)

    embedding = nn.Embedding(vocab_size, d_model)
    nn.init.normal_(embedding.weight, std=0.02)
    return {
        "embedding": embedding,
        "positions": LearnedPositions(d_model, context_length),
        "blocks": [block() for _ in range(layers)],
        "norm": nn.LayerNorm(d_model),
    }


def model(causal: bool = True) -> CausalLanguageModel:
    torch.manual_seed(0)
    made = CausalLanguageModel(**parts(11, context_length=7, d_model=12, heads=3, layers=2), causal=causal)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return made


def as_gpt(ours: CausalLanguageModel) -> GPT:
    gpt = GPT(
        GPTConfig(11, context_length=7, d_model=12, heads=3, layers=2, d_ff=48, dropout=0.0, activation="gelu_tanh")
    )
    gpt.load_state_dict(together(ours.state_dict()) | {"output.weight": ours.embedding.weight})
    return gpt


def together(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A state dict with W_qkv for each W_q, W_k and W_v."""
    found: dict[str, Tensor] = {}
    for name, value in weights.items():
        whole = re.sub(r"W_[qkv]\b", "W_qkv", name)
        found[whole] = torch.cat([found[whole], value]) if whole in found else value
    return found


class TestCausalLanguageModel:
    def test_is_gpt(self) -> None:
        ours = model()
        assert_close(ours(IDS), as_gpt(ours)(IDS))

    def test_only_a_leak_moves_what_comes_before(self) -> None:
        with torch.no_grad():
            honest, cheat = (influence(model(causal), IDS[0], 11) for causal in (True, False))
        assert honest.triu(1).max() == 0
        assert honest.diagonal().min() > 0.01
        assert cheat.triu(1).max() > 0.01

    def test_packed_documents_are_read_as_if_alone(self) -> None:
        ours, row = model(), torch.tensor([[3, 1, 9, 2, 6, 5, 9]])
        block, x = ours.blocks[0], torch.randn(1, 7, 12)
        packed = block(x, packed_mask(row, 9))
        for document in (slice(0, 3), slice(3, 7)):
            alone = block(x[:, document], packed_mask(row[:, document], 9))
            assert_close(packed[:, document], alone)

    def test_learns_what_gpt_learns(self) -> None:
        ours = model()
        tokens = IDS.shape[1] - 1
        windows = [training_windows(text, torch.tensor([0]), tokens) for text in IDS]
        inputs, targets = (torch.cat(parts) for parts in zip(*windows, strict=True))
        loss = F.cross_entropy(ours(inputs).flatten(0, 1), targets.flatten())
        assert_close(loss, language_model_loss(as_gpt(ours), TextBatch(IDS)))


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(GPTConfig(23, context_length=9, d_model=20, heads=4, layers=3, d_ff=80, activation="gelu_tanh")),
        pytest.param(GPTConfig.gpt2()),
    ],
    ids=["small", "12 layers of 768"],
)
def test_gpt2s_weights_make_it_gpt2(config: GPTConfig, tmp_path: Path) -> None:
    torch.manual_seed(0)
    library = GPT(config).eval()
    for parameter in library.parameters():
        if parameter.ndim == 1:  # biases and norms, which begin as zeros and ones
            torch.nn.init.normal_(parameter, mean=0.5, std=0.3)
    library.save_pretrained(tmp_path)
    sizes = (config.vocab_size, config.context_length, config.d_model, config.heads, config.layers)
    own = CausalLanguageModel(**parts(*sizes))
    own.load_state_dict(from_gpt2(dict(PublishedModel.read(tmp_path, "gpt2").tensors)))
    ids = torch.randint(config.vocab_size, (2, 9))
    with torch.no_grad():
        assert_close(own(ids), library(ids), atol=1e-4, rtol=1e-5)


def test_copies_of_gpt2_may_hold_more() -> None:
    more = {"transformer.ln_f.bias": torch.ones(2), "h.0.attn.bias": torch.ones(1), "lm_head.weight": torch.ones(3, 2)}
    assert from_gpt2(more).keys() == {"norm.bias"}


def test_logits_are_dot_products_with_embeddings() -> None:
    states, embedding = torch.randn(2, 3, 4), torch.randn(5, 4)
    logits = tied_logits(states, embedding)
    assert_close(logits[1, 2, 3], states[1, 2] @ embedding[3])


class TestGenerate:
    def test_writes_as_greedy_decoding_does(self) -> None:
        ours = model()
        prompt = torch.tensor([3, 1])
        expected = new_tokens(as_gpt(ours), prompt.unsqueeze(0), 5)
        assert generate(ours, prompt, 5, context_length=7).tolist() == [3, 1, *expected[0].tolist()]

    def test_goes_on_past_the_context(self) -> None:
        lengths = []

        def counting(ids: Tensor) -> Tensor:
            lengths.append(ids.shape[1])
            return F.one_hot((ids + 1) % 11, 11).float()

        assert generate(counting, torch.tensor([8, 9]), 4, context_length=3).tolist() == [8, 9, 10, 0, 1, 2]
        assert lengths == [2, 3, 3, 3]


def test_fine_tuning_loss_adds_a_share_of_the_language_model() -> None:
    classes, labels = torch.randn(4, 2), torch.tensor([0, 1, 1, 0])
    logits, targets = torch.randn(4, 5, 6), torch.randint(6, (4, 5))
    expected = F.cross_entropy(classes, labels) + 0.5 * F.cross_entropy(logits.transpose(1, 2), targets)
    assert_close(fine_tuning_loss(classes, labels, logits, targets, 0.5), expected)


@pytest.mark.parametrize(
    ("layers", "d_model", "released", "printed"),
    [
        (12, 768, 124_439_808, 117),
        (24, 1024, 354_823_168, 345),
        (36, 1280, 774_030_080, 762),
        (48, 1600, 1_557_611_200, 1542),
    ],
)
def test_what_was_printed_is_gpt_2_with_the_vocabulary_of_gpt_1(
    layers: int, d_model: int, released: int, printed: int
) -> None:
    with torch.device("meta"):
        found, with_gpt_1s = (
            count_parameters(CausalLanguageModel(**parts(vocab_size, 1024, d_model, 8, layers)))
            for vocab_size in (50_257, 40_478)
        )
    assert found == released
    assert round(with_gpt_1s / 1e6) == printed
