"""Optimizers: which moves what, and that each goes on bit for bit."""

from pathlib import Path

import pytest
import torch
from torch import nn

from course_lib.models import GPT, GPTConfig
from course_lib.training.checkpoints import CheckpointError, read_checkpoint, write_checkpoint
from course_lib.training.optimizers import make_optimizers
from tests.course_lib.training.together import learn

SETTINGS = {"weight_decay": 0.1, "betas": (0.9, 0.98), "epsilon": 1e-9}


def gpt() -> GPT:
    torch.manual_seed(0)
    return GPT(GPTConfig(9, 8, d_model=8, heads=2, layers=2, d_ff=12, dropout=0.0))


def names(model: nn.Module, optimizer: torch.optim.Optimizer) -> set[str]:
    moved = {weight for group in optimizer.param_groups for weight in group["params"]}
    return {name for name, weight in model.named_parameters() if weight in moved}


def test_muon_moves_the_matrices_of_the_blocks_and_adamw_the_rest() -> None:
    model = gpt()
    muon, adamw = make_optimizers("muon", model, **SETTINGS).each
    attention, feed_forward = {"self_attention.W_qkv", "self_attention.W_o"}, {"feed_forward.W_1", "feed_forward.W_2"}
    matrices = {f"{layer}.weight" for layer in attention | feed_forward}
    assert {name.split(".", 2)[2] for name in names(model, muon)} == matrices
    assert names(model, adamw) == dict(model.named_parameters()).keys() - names(model, muon)
    assert {"embedding.weight", "positions.encoding", "norm.bias"} <= names(model, adamw)


def test_decay_is_for_matrices_and_what_is_frozen_stays() -> None:
    model = gpt()
    model.embedding.requires_grad_(False)
    [optimizer] = make_optimizers("adamw", model, **SETTINGS).each
    decays = {group["weight_decay"]: {weight.dim() for weight in group["params"]} for group in optimizer.param_groups}
    assert decays == {0.1: {2}, 0.0: {1}}
    assert "embedding.weight" not in names(model, optimizer)


@pytest.mark.parametrize("name", ["adamw", "muon"])
def test_each_learns_and_goes_on_bit_for_bit(name: str, tmp_path: Path) -> None:
    straight = learn(tmp_path / "straight", "accumulated", steps=12, optimizer=name)
    assert straight["losses"][-1] < straight["losses"][0]
    learn(tmp_path / "halved", "accumulated", steps=6, optimizer=name)
    assert learn(tmp_path / "halved", "accumulated", steps=12, optimizer=name) == straight


def test_each_goes_its_own_way(tmp_path: Path) -> None:
    ends = {learn(tmp_path / name, "accumulated", optimizer=name)["losses"][-1] for name in ("adamw", "muon")}
    assert len(ends) == 2


def test_another_optimizers_checkpoint_is_refused(tmp_path: Path) -> None:
    learn(tmp_path, "accumulated", optimizer="muon")
    with pytest.raises(CheckpointError, match="its optimizer: muon, this one's: adamw"):
        learn(tmp_path, "accumulated", steps=9)


def test_a_checkpoint_from_before_there_was_a_choice_goes_on(tmp_path: Path) -> None:
    straight = learn(tmp_path / "straight", "accumulated")
    learn(tmp_path / "halved", "accumulated", steps=3)
    [path] = (tmp_path / "halved" / "accumulated").glob("step-*.pt")
    content = read_checkpoint(path)
    del content["settings"]["optimizer"]
    write_checkpoint(path, content)
    assert learn(tmp_path / "halved", "accumulated") == straight


def test_two_are_saved_as_one_is() -> None:
    model = gpt()
    both = make_optimizers("muon", model, **SETTINGS)
    model(torch.tensor([[1, 2, 3]])).sum().backward()
    both.step(0.1, torch.amp.GradScaler("cpu", enabled=False))
    saved = both.state_dict()
    numbers = [i for group in saved["param_groups"] for i in group["params"]]
    assert numbers == list(range(len(list(model.parameters()))))
    again = make_optimizers("muon", gpt(), **SETTINGS)
    again.load_state_dict(saved)
    assert str(again.state_dict()["state"]) == str(saved["state"])


def test_a_model_without_blocks_is_not_for_muon() -> None:
    with pytest.raises(ValueError, match="choose 'adamw'"):
        make_optimizers("muon", nn.Linear(3, 3), **SETTINGS)
