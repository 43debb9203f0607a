"""Steps as CUDA graphs: the same training, with several shapes, accumulated batches and either precision."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch

from course_lib.models import Transformer, TransformerConfig
from course_lib.objectives.losses import translation_loss
from course_lib.text.shape_buckets import ShapeBuckets
from course_lib.text.tokenization import END_ID, START_ID
from course_lib.training.checkpoints import Checkpoints
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.schedules import constant_schedule

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="a CUDA graph needs a GPU")

CONFIG = TrainingConfig(12, constant_schedule(3e-3), precision="fp32", graphs=True)


def data() -> ShapeBuckets:
    lengths = torch.randint(1, 12, (60, 2), generator=torch.Generator().manual_seed(0)).tolist()
    pairs = [
        (torch.arange(4, 4 + source), torch.tensor([START_ID, *range(4, 4 + target), END_ID]))
        for source, target in lengths
    ]
    return ShapeBuckets(pairs, max_tokens=200)


def losses(config: TrainingConfig, device: str, **options: Any) -> list[float]:
    torch.manual_seed(0)
    sizes = TransformerConfig(20, 20, d_model=32, heads=2, d_ff=64, dropout=0.1, shared_embeddings=True)
    return train(Transformer(sizes), data(), translation_loss, config, device, **options).losses


def test_without_a_gpu_nothing_is_recorded() -> None:
    assert losses(CONFIG, "cpu") == losses(dataclasses.replace(CONFIG, graphs=False), "cpu")


@needs_gpu
@pytest.mark.parametrize(("precision", "accumulate"), [("fp32", 1), ("fp32", 3), ("bf16", 1), ("fp16", 2)])
def test_a_recorded_training_is_the_same(precision: Any, accumulate: int) -> None:
    config = dataclasses.replace(CONFIG, precision=precision, accumulate=accumulate)
    plain = losses(dataclasses.replace(config, graphs=False), "cuda")
    assert losses(config, "cuda") == pytest.approx(plain, rel=1e-4 if precision == "fp32" else 2e-2)


@needs_gpu
@pytest.mark.parametrize("graphs_first", [True, False])
def test_one_goes_on_where_the_other_was(graphs_first: bool, tmp_path: Path) -> None:
    straight = losses(CONFIG, "cuda")
    half = dataclasses.replace(CONFIG, steps=6, graphs=graphs_first)
    options: dict[str, Any] = {"checkpoints": Checkpoints(tmp_path), "resume": True}
    losses(half, "cuda", **options)
    assert losses(dataclasses.replace(CONFIG, graphs=not graphs_first), "cuda", **options) == pytest.approx(
        straight, rel=1e-4
    )
