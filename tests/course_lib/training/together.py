"""The same small trainings by one process or by several: `torchrun -m tests.course_lib.training.together FOLDER`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch

from course_lib.models import GPT, GPTConfig
from course_lib.objectives.losses import language_model_loss
from course_lib.text.batches import Windows
from course_lib.training.checkpoints import Checkpoints
from course_lib.training.loop import TrainingConfig, Validation, train
from course_lib.training.schedules import constant_schedule

WAYS: dict[str, dict[str, Any]] = {
    "accumulated": {"accumulate": 2},
    "muon": {"optimizer": "muon"},
    "sharded": {"fsdp": True},
    "sharded in every way": {
        "fsdp": True,
        "accumulate": 2,
        "ema_decay": 0.5,
        "recompute": True,
        "weight_decay": 0.1,
        "optimizer": "sgd",
        "momentum": 0.5,
    },
}


def learn(folder: Path, way: str, steps: int = 6, **changes: Any) -> dict[str, Any]:
    """A GPT with tied embeddings learns from 5 windows in batches of 3, so that one of the last batch is alone."""
    data = Windows(torch.randint(0, 9, (41,), generator=torch.Generator().manual_seed(0)), 8, batch_size=3)
    torch.manual_seed(1)
    model = GPT(GPTConfig(9, 8, d_model=8, heads=2, layers=2, d_hidden=12, dropout=0.0))
    config = TrainingConfig(
        steps, constant_schedule(1e-2), clip=0.5, epsilon=1e-4, precision="fp32", **(WAYS[way] | changes)
    )
    kept = {"validation": Validation(data, every=3), "checkpoints": Checkpoints(folder / way, every=3, keep=9)}
    result = train(model, data, language_model_loss, config, "cpu", resume=True, **kept)
    assert model.output.weight is model.embedding.weight
    weights = {name: tensor.flatten().tolist() for name, tensor in model.state_dict().items()}
    return {"losses": result.losses, "validations": list(result.validations.values()), "weights": weights}


def main() -> None:
    folder = Path(sys.argv[1])
    told = {way: learn(folder, way) for way in WAYS}
    told["went on"] = learn(folder / "short", "sharded", steps=3)
    told["went on"] = learn(folder / "short", "sharded")
    (folder / f"told-{os.environ['RANK']}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
