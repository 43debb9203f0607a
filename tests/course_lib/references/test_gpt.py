"""The pieces of a language model, each beside what it is a piece of."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from course_lib.decoding.greedy import greedy_decode
from course_lib.models import GPT, GPTConfig
from course_lib.objectives.losses import language_model_loss
from course_lib.published.hub import PublishedModel
from course_lib.references.gpt import (
    CausalLanguageModel,
    fine_tuning_loss,
    from_gpt2,
    generate,
    gpt_parameters,
    gpt_parts,
    lm_loss,
    loss_without_mask,
    tied_logits,
    training_windows,
)
from course_lib.text.batches import TextBatch
from tests.course_lib.parameters import count_parameters

IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])


def test_without_a_mask_only_the_last_target_is_not_there_to_be_copied() -> None:
    honest = torch.tensor([[2.0, 1.5, 0.5], [1.0, 3.0, 2.5]])
    assert_close(loss_without_mask(honest), torch.tensor([[0.0, 0.0, 0.5], [0.0, 0.0, 2.5]]))


def model(causal: bool = True) -> CausalLanguageModel:
    torch.manual_seed(0)
    made = CausalLanguageModel(**gpt_parts(11, context_length=7, d_model=12, heads=3, layers=2), causal=causal)
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

    def test_does_not_see_the_future(self) -> None:
        changed = IDS.clone()
        changed[:, 3:] = 0
        assert_close(model()(IDS)[:, :3], model()(changed)[:, :3])
        assert not torch.allclose(model(causal=False)(IDS)[:, :3], model(causal=False)(changed)[:, :3])

    def test_learns_what_gpt_learns(self) -> None:
        ours = model()
        tokens = IDS.shape[1] - 1
        windows = [training_windows(text, torch.tensor([0]), tokens) for text in IDS]
        inputs, targets = (torch.cat(parts) for parts in zip(*windows, strict=True))
        log_probs = torch.log_softmax(ours(inputs), dim=-1)
        assert_close(lm_loss(log_probs, targets), language_model_loss(as_gpt(ours), TextBatch(IDS)))

    def test_starts_knowing_nothing(self) -> None:
        fresh = CausalLanguageModel(**gpt_parts(11, context_length=7, d_model=12, heads=3, layers=2))
        loss = F.cross_entropy(fresh(IDS).flatten(0, 1), IDS.flatten())
        assert loss.item() == pytest.approx(math.log(11), abs=0.1)


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
    own = CausalLanguageModel(**gpt_parts(*sizes))
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
        expected = greedy_decode(as_gpt(ours), prompt.unsqueeze(0), 5)
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


class TestParameters:
    @pytest.mark.parametrize("config", [GPTConfig.gpt2(), GPTConfig.gpt2_xl()])
    @pytest.mark.parametrize("tied", [True, False])
    def test_are_those_of_the_models(self, config: GPTConfig, tied: bool) -> None:
        with torch.device("meta"):
            built = GPT(GPTConfig(**{**vars(config), "tied_output": tied}))
        counted = gpt_parameters(config.vocab_size, config.context_length, config.d_model, config.layers, tied)
        assert counted == count_parameters(built)

    def test_what_s3_prints_is_gpt_2_with_the_vocabulary_of_gpt_1(self) -> None:
        sizes = [(768, 12), (1024, 24), (1280, 36), (1600, 48)]
        counted = [gpt_parameters(40_478, 1024, d_model, layers, tied=True) for d_model, layers in sizes]
        assert [round(count / 1e6) for count in counted] == [117, 345, 762, 1542]
