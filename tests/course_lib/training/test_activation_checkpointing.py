"""Activation checkpointing: the same training, with less kept."""

import pytest
import torch
from torch import Tensor, nn

from course_lib.models import GPT, GPTConfig, Transformer, TransformerConfig
from course_lib.objectives.losses import language_model_loss
from course_lib.text.batches import Windows
from course_lib.training.activation_checkpointing import recomputing
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.schedules import constant_schedule

IDS = torch.randint(0, 9, (2, 16), generator=torch.Generator().manual_seed(0))


def gpt() -> GPT:
    torch.manual_seed(0)
    return GPT(GPTConfig(9, 16, d_model=16, heads=2, layers=4, d_ff=64, dropout=0.2))


def kept(model: nn.Module, *inputs: Tensor) -> int:
    """How many bytes the model keeps for its gradients."""
    found: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        found[tensor.data_ptr()] = tensor.nbytes
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model(*inputs)
    return sum(found.values())


@pytest.mark.parametrize(
    ("model", "inputs"),
    [(gpt(), (IDS,)), (Transformer(TransformerConfig(9, 9, 16, 2, 64, 2, 2)), (IDS, IDS))],
    ids=["gpt", "transformer"],
)
def test_less_is_kept(model: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    whole = kept(model.train(), *inputs)
    with recomputing(model):
        assert kept(model, *inputs) < whole / 2
    assert kept(model, *inputs) == whole


def test_the_weights_are_the_same_dropout_included() -> None:
    data = Windows(torch.randint(0, 9, (100,), generator=torch.Generator().manual_seed(0)), 8, batch_size=4)
    trained = {}
    for recompute in (False, True):
        model = gpt()
        config = TrainingConfig(5, constant_schedule(1e-2), precision="fp32", recompute=recompute)
        losses = train(model, data, language_model_loss, config, "cpu").losses
        trained[recompute] = (losses, {name: weight.tolist() for name, weight in model.state_dict().items()})
    assert trained[True] == trained[False]


def test_a_model_without_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="has none"), recomputing(nn.Linear(2, 2)):
        pass
