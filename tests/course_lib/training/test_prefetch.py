"""Batches made ahead of time: the same training, resumed in the same place, and no process left behind."""

import multiprocessing
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from course_lib.configurations import GPTConfig
from course_lib.models import GPT
from course_lib.objectives.losses import language_model_loss
from course_lib.text.batches import TextBatch, TranslationBatch, Windows
from course_lib.training.batch_order import BatchOrder
from course_lib.training.checkpoints import Checkpoints
from course_lib.training.loop import TrainingConfig, TrainingResult, train
from course_lib.training.prefetch import Prefetch, _Made
from course_lib.training.schedules import constant_schedule

pytestmark = pytest.mark.usefixtures("processes")


TEXT = torch.randint(7, (70,), generator=torch.Generator().manual_seed(0))
DATA = Windows(TEXT, length=4, batch_size=3)
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Makers(Windows):
    """Windows in whose place there is the process that was asked for them."""

    def batch(self, indices: Sequence[int]) -> TextBatch:
        return TextBatch(torch.full((len(indices), 2), os.getpid()))


@dataclass(frozen=True)
class Broken(Windows):
    def batch(self, indices: Sequence[int]) -> TextBatch:
        raise ValueError("this text cannot be read")


def order(data: Windows = DATA) -> BatchOrder:
    return BatchOrder(data, torch.Generator().manual_seed(0))


def prefetch(workers: int, data: Windows = DATA) -> Prefetch[TextBatch]:
    return Prefetch(data, order(data), list, workers, CPU)


def go(gpt: GPT, steps: int, workers: int, kept: Checkpoints | None = None, **changes: Any) -> TrainingResult:
    config = TrainingConfig(steps, constant_schedule(1e-2), **{"precision": "fp32", **changes})
    return train(gpt, DATA, language_model_loss, config, "cpu", checkpoints=kept, resume=True, workers=workers)


def new(seed: int = 0) -> GPT:
    torch.manual_seed(seed)
    return GPT(GPTConfig(7, 8, 8, 2, 1, 16, dropout=0.2))


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_the_order_is_kept_from_pass_to_pass(workers: int) -> None:
    expected, ahead = order(), prefetch(workers)
    for _ in range(20):
        indices, batch = ahead.next()
        assert indices == expected.next()
        assert torch.equal(batch.ids, DATA.batch(indices).ids)
        assert torch.equal(ahead.state()["begun_at"], expected.state()["begun_at"])
        assert ahead.state()["used"] == expected.state()["used"]
    ahead.close()


def test_workers_are_other_processes() -> None:
    data = Makers(TEXT, length=4, batch_size=3)
    here, elsewhere = prefetch(0, data), prefetch(2, data)
    makers = {int(elsewhere.next()[1].ids[0, 0]) for _ in range(10)}
    elsewhere.close()
    assert os.getpid() not in makers
    assert len(makers) == 2
    assert int(here.next()[1].ids[0, 0]) == os.getpid()


def test_what_goes_wrong_in_a_worker_is_told() -> None:
    ahead = prefetch(1, Broken(TEXT, length=4, batch_size=3))
    with pytest.raises(ValueError, match="this text cannot be read"):
        ahead.next()
    ahead.close()


@pytest.mark.parametrize("changes", [{}, {"accumulate": 2}])
def test_a_training_is_the_same_bit_for_bit(changes: dict[str, Any]) -> None:
    alone, helped = new(), new()
    assert go(helped, 9, workers=2, **changes).losses == go(alone, 9, workers=0, **changes).losses
    assert_close(helped.state_dict(), alone.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize("workers", [(2, 2), (2, 0), (0, 2)])
def test_a_training_resumes_where_it_was_and_not_where_workers_were(tmp_path: Path, workers: tuple[int, int]) -> None:
    straight, resumed = new(), new()
    whole = go(straight, 9, workers=0)
    go(resumed, 5, workers[0], Checkpoints(tmp_path))
    resumed = new(seed=99)  # whatever happened in between
    rest = go(resumed, 9, workers[1], Checkpoints(tmp_path))
    assert rest.losses == whole.losses
    assert_close(resumed.state_dict(), straight.state_dict(), rtol=0, atol=0)


def test_no_worker_outlives_the_training() -> None:
    before = {process.pid for process in multiprocessing.active_children()}
    go(new(), 2, workers=2)
    assert {process.pid for process in multiprocessing.active_children()} == before


def test_all_of_a_batch_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tensor, "pin_memory", lambda tensor: tensor + 100)  # without a GPU there is no such memory
    batch = TranslationBatch(torch.tensor([[1]]), torch.tensor([[2]]))
    pinned = _Made(batch).pin_memory().batch
    assert (pinned.source.item(), pinned.target.item()) == (101, 102)
    assert (batch.source.item(), batch.target.item()) == (1, 2)


@pytest.mark.parametrize(("device", "workers", "pinned"), [("cpu", 2, False), ("cuda", 2, True), ("cuda", 0, True)])
def test_what_is_for_a_gpu_is_pinned(device: str, workers: int, pinned: bool) -> None:
    ahead: Prefetch[TextBatch] = Prefetch(DATA, order(), list, workers, torch.device(device))
    assert ahead._loader.pin_memory is pinned
