"""LoRA: nothing changes at first, only what was added learns, and merged it is as if it had always been there."""

import copy
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.configurations import BERTConfig, GPTConfig, TransformerConfig
from course_lib.models import BERT, GPT, Transformer
from course_lib.objectives.heads import SequenceClassifier
from course_lib.objectives.losses import language_model_loss
from course_lib.text.batches import Windows
from course_lib.training.checkpoints import Checkpoints
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.lora import AdaptedLinear, add_lora, load_lora, lora_state, merge_lora
from course_lib.training.schedules import constant_schedule
from tests.course_lib.parameters import count_parameters

GPT_2 = GPTConfig(vocab_size=11, context_length=12, d_model=16, heads=4, layers=2, d_ff=32, dropout=0.0)
GROUPED = replace(GPTConfig.llama(11, 16, 4, 2, 32), key_value_heads=2)
TWO_LANGUAGES = TransformerConfig(11, 11, 16, 4, 32, 1, 1, dropout=0.0, shared_embeddings=True)
IDS = torch.tensor([[4, 5, 6, 7], [9, 8, 4, 4]])


def model(name: str) -> nn.Module:
    if name == "Transformer":
        return Transformer(TWO_LANGUAGES)
    return GPT(GPT_2 if name == "GPT" else GROUPED)


def outputs(of: nn.Module) -> Tensor:
    with torch.no_grad():
        out: Tensor = of(IDS, IDS) if isinstance(of, Transformer) else of(IDS)
    return out


def as_if_learned(of: nn.Module) -> None:
    """Give everything that learns other numbers."""
    with torch.no_grad():
        for parameter in of.parameters():
            if parameter.requires_grad:
                parameter.copy_(0.1 * torch.randn_like(parameter))


MODELS = {
    "GPT": ("W_qkv", "W_o"),
    "Llama": ("W_qkv", "W_o"),
    "Transformer": ("W_qkv", "W_q", "W_kv", "W_o", "W_1", "W_2"),
}


@pytest.mark.parametrize(("name", "targets"), MODELS.items())
class TestEveryModel:
    def test_is_at_first_what_it_was(self, name: str, targets: tuple[str, ...]) -> None:
        adapted = model(name)
        before = outputs(adapted)
        add_lora(adapted, targets=targets)
        assert torch.equal(outputs(adapted), before)

    def test_learns_only_beside_the_named_layers(self, name: str, targets: tuple[str, ...]) -> None:
        adapted = model(name)
        add_lora(adapted, targets=targets)
        learning = {path for path, parameter in adapted.named_parameters() if parameter.requires_grad}
        assert learning == {path for path in lora_state(adapted) if not path.endswith(".scale")}
        assert {path.split(".")[-2] for path in learning} == set(targets)

    def test_is_ordinary_again_with_the_same_outputs(self, name: str, targets: tuple[str, ...]) -> None:
        adapted = model(name)
        before, untouched = copy.deepcopy(adapted.state_dict()), outputs(adapted)
        add_lora(adapted, targets=targets)
        as_if_learned(adapted)
        learned = outputs(adapted)
        merge_lora(adapted)
        assert_close(outputs(adapted), learned, rtol=0, atol=1e-6)
        assert not torch.allclose(learned, untouched, atol=1e-4)
        assert list(adapted.state_dict()) == list(before)
        assert not any(isinstance(module, AdaptedLinear) for module in adapted.modules())
        assert all(parameter.requires_grad for parameter in adapted.parameters())
        changed = {path for path, tensor in adapted.state_dict().items() if not torch.equal(tensor, before[path])}
        assert {path.rpartition(".")[0].rpartition(".")[2] for path in changed} == set(targets)

    def test_what_was_learned_can_be_taken_to_another_copy(self, name: str, targets: tuple[str, ...]) -> None:
        one = model(name)
        other = copy.deepcopy(one)
        add_lora(one, rank=2, alpha=4.0, targets=targets)
        as_if_learned(one)
        add_lora(other, rank=2, targets=targets)
        load_lora(other, lora_state(one))
        assert torch.equal(outputs(other), outputs(one))


def test_is_the_formula() -> None:
    layer = nn.Linear(6, 4)
    whole = nn.Sequential(layer)
    add_lora(whole, rank=2, alpha=3.0, targets=["0"])
    as_if_learned(whole)
    A, B = whole[0].A, whole[0].B
    x = torch.randn(5, 6)
    assert_close(whole(x), x @ (layer.weight + 3.0 / 2 * B @ A).T + layer.bias)


def test_tied_weights_stay_tied() -> None:
    gpt = GPT(GPT_2)
    before = count_parameters(gpt)
    add_lora(gpt)
    assert gpt.output.weight is gpt.embedding.weight
    merge_lora(gpt)
    assert gpt.output.weight is gpt.embedding.weight
    assert count_parameters(gpt) == before


def test_only_what_was_added_moves_in_training() -> None:
    gpt = GPT(GPT_2)
    before = copy.deepcopy(gpt.state_dict())
    add_lora(gpt, rank=4)
    windows = Windows(torch.arange(100) % 7, length=8, batch_size=4)
    config = TrainingConfig(20, constant_schedule(1e-2), weight_decay=0.1, precision="fp32")
    result = train(gpt, windows, language_model_loss, config, "cpu")
    assert result.losses[-1] < result.losses[0] - 0.1
    assert all(torch.equal(gpt.state_dict()[path], tensor) for path, tensor in before.items())
    assert all(tensor.any() for path, tensor in lora_state(gpt).items())


def test_a_training_of_it_resumes_bit_for_bit(tmp_path: Path) -> None:
    windows = Windows(torch.arange(100) % 7, length=8, batch_size=4)
    torch.manual_seed(1)
    straight, resumed = GPT(GPT_2), GPT(GPT_2)
    resumed.load_state_dict(straight.state_dict())
    for gpt in (straight, resumed):
        add_lora(gpt, dropout=0.2, generator=torch.Generator().manual_seed(0))

    def go(gpt: GPT, steps: int, kept: Checkpoints | None = None) -> None:
        config = TrainingConfig(steps, constant_schedule(1e-2), precision="fp32")
        train(gpt, windows, language_model_loss, config, "cpu", checkpoints=kept, resume=True)

    go(straight, 6)
    go(resumed, 3, Checkpoints(tmp_path))
    as_if_learned(resumed)  # whatever happened in between
    go(resumed, 6, Checkpoints(tmp_path))
    assert_close(lora_state(straight), lora_state(resumed), rtol=0, atol=0)


def test_a_head_around_the_model_learns_in_full() -> None:
    classifier = SequenceClassifier(BERT(BERTConfig(11, 12, 16, 4, 1, 32)), 2)
    add_lora(classifier.encoder)
    learning = [path for path, parameter in classifier.named_parameters() if parameter.requires_grad]
    assert {path.split(".")[0] for path in learning} == {"encoder", "output"}
    assert all(path.endswith((".A", ".B")) for path in learning if path.startswith("encoder"))


def test_dropout_is_only_for_training_and_only_before_what_is_learned() -> None:
    whole = nn.Sequential(nn.Linear(6, 4))
    add_lora(whole, targets=["0"], dropout=0.5)
    x = torch.randn(5, 6)
    assert torch.equal(whole(x), whole(x))  # where nothing was learned nothing is dropped
    as_if_learned(whole)
    assert not torch.equal(whole(x), whole(x))
    whole.eval()
    assert torch.equal(whole(x), whole(x))


def test_the_layers_dtype_and_mode_are_kept() -> None:
    gpt = GPT(GPT_2).bfloat16().eval()
    add_lora(gpt)
    assert {tensor.dtype for tensor in lora_state(gpt).values()} == {torch.bfloat16}
    assert not any(module.training for module in gpt.modules())
    merge_lora(gpt)
    assert not any(module.training for module in gpt.modules())


class TestRefusals:
    def test_twice(self) -> None:
        gpt = GPT(GPT_2)
        add_lora(gpt)
        with pytest.raises(ValueError, match=r"has adapted layers already: merge_lora\(model\) folds them in"):
            add_lora(gpt, targets=["W_1"])

    def test_a_weight_that_another_layer_has_too(self) -> None:
        gpt = GPT(GPT_2)
        with pytest.raises(ValueError, match="output shares its weight with another layer.*leave it out of targets"):
            add_lora(gpt, targets=["W_o", "output"])
        assert all(parameter.requires_grad for parameter in gpt.parameters())

    @pytest.mark.parametrize("changes", [{"rank": 4}, {"targets": ["W_1"]}, {"targets": ["W_qkv"]}])
    def test_what_was_learned_elsewhere(self, changes: dict[str, object]) -> None:
        one, other = GPT(GPT_2), GPT(GPT_2)
        add_lora(one)
        as_if_learned(one)
        add_lora(other, **changes)  # type: ignore[arg-type]
        before = copy.deepcopy(lora_state(other))
        with pytest.raises(ValueError, match="beside other layers or with another rank: its blocks.0"):
            load_lora(other, lora_state(one))
        assert_close(lora_state(other), before, rtol=0, atol=0)


@pytest.mark.parametrize("norm_first", [True, False], ids=["as GPT-2", "in our own layout"])
def test_an_adapted_model_is_saved_once_it_is_merged(norm_first: bool, tmp_path: Path) -> None:
    model = GPT(GPTConfig(11, 8, 8, 2, 1, 12, norm_first=norm_first))
    add_lora(model)
    with pytest.raises(ValueError, match=r"no place for .*; merge_lora\(model\) folds in what add_lora added"):
        model.save_pretrained(tmp_path)
    merge_lora(model)
    model.save_pretrained(tmp_path)
    assert GPT.from_pretrained(tmp_path).config == model.config
