"""Optimizers: AdamW, or Muon for the matrices of the blocks with AdamW for the rest, used as one.

Loshchilov and Hutter (2019), "Decoupled Weight Decay Regularization" (AdamW); Jordan et al. (2024), "Muon: An optimizer
for hidden layers in neural networks", and Liu et al. (2025), "Muon is Scalable for LLM Training", whose scaling gives a
matrix steps of the same size as AdamW's, so that one learning rate fits both.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from course_lib.ground.modules import blocks_of

OptimizerName = Literal["adamw", "muon"]


class Optimizers:
    """All the optimizers of a model, used like a single one, in checkpoints too.

    Attributes:
        each: the optimizers, each with its own weights.
    """

    def __init__(self, *each: torch.optim.Optimizer) -> None:
        self.each = each

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The groups of weights, of all the optimizers."""
        return [group for one in self.each for group in one.param_groups]

    def zero_grad(self, *, keep: bool = False) -> None:
        """Clear the gradients; with `keep`, fill them with zeros in place."""
        for one in self.each:
            one.zero_grad(set_to_none=not keep)

    def unscale(self, scaler: torch.amp.GradScaler) -> None:
        """Undo the scaling of the gradients, if half precision needed it."""
        for one in self.each:
            scaler.unscale_(one)

    def step(self, rate: float, scaler: torch.amp.GradScaler) -> None:
        """Update the weights at this learning rate, unless half precision made gradients infinite."""
        for group in self.param_groups:
            group["lr"] = rate
        for one in self.each:
            scaler.step(one)
        scaler.update()

    def state_dict(self) -> dict[str, Any]:
        """Return the state for a checkpoint, with consecutive numbers for all weights."""
        groups: list[dict[str, Any]] = []
        state: dict[int, Any] = {}
        for one in self.each:
            found = one.state_dict()
            first = sum(len(group["params"]) for group in groups)
            groups += [{**group, "params": [first + i for i in group["params"]]} for group in found["param_groups"]]
            state |= {first + i: held for i, held in found["state"].items()}
        return {"param_groups": groups, "state": state}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Restore what `state_dict` returned; learning rates and other settings stay as they are now."""
        groups, first = list(saved["param_groups"]), 0
        for one in self.each:
            now = [dict(group) for group in one.param_groups]
            mine, groups = groups[: len(now)], groups[len(now) :]
            count = sum(len(group["params"]) for group in now)
            state = {i: saved["state"].get(first + i) for i in range(count)}
            numbered = [{**group, "params": [i - first for i in group["params"]]} for group in mine]
            one.load_state_dict({"param_groups": numbered, "state": {i: held for i, held in state.items() if held}})
            for group, before in zip(one.param_groups, now, strict=True):
                group.update(before)
            first += count


def make_optimizers(
    name: OptimizerName,
    model: nn.Module,
    *,
    weight_decay: float,
    betas: tuple[float, float],
    epsilon: float,
) -> Optimizers:
    """Return the named optimizer, for all weights of the model that are not frozen.

    Args:
        name: "adamw"; or "muon" for the matrices of the blocks, with AdamW for the rest.
        model: on its device already.
        weight_decay: the decay of matrices; biases and norms are left alone.
        betas, epsilon: AdamW's.

    Raises:
        ValueError: Muon is chosen for a model without blocks.
    """
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if name == "adamw":
        return Optimizers(_adamw(weights, weight_decay, betas, epsilon))
    in_blocks = {weight for block in blocks_of(model) for weight in block.parameters()}
    matrices = [weight for weight in weights if weight in in_blocks and weight.dim() == 2]
    if not matrices:
        raise ValueError("muon moves the matrices of a model's blocks, and this one has none; choose 'adamw'")
    others = [weight for weight in weights if weight not in in_blocks or weight.dim() != 2]
    muon = torch.optim.Muon(matrices, lr=0.0, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
    return Optimizers(muon, _adamw(others, weight_decay, betas, epsilon)) if others else Optimizers(muon)


def _adamw(
    weights: Sequence[Tensor], weight_decay: float, betas: tuple[float, float], epsilon: float
) -> torch.optim.AdamW:
    """Return a fused AdamW (one pass over all weights), with decay for matrices only."""
    groups: list[dict[str, Any]] = [
        {"params": [weight for weight in weights if weight.dim() >= 2], "weight_decay": weight_decay},
        {"params": [weight for weight in weights if weight.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, betas=betas, eps=epsilon, fused=True)
