"""Two processes learn what one does, in one launch: with whole weights or a part of each, by any optimizer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from course_lib.training.checkpoints import read_checkpoint
from course_lib.training.loop import TrainingConfig
from course_lib.training.schedules import constant_schedule
from course_lib.training.sharding import sharded_like, whole
from tests.course_lib.training.together import WAYS, learn

Told = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Told, Told]:
    """Where the two processes saved, and what each of them said."""
    folder = tmp_path_factory.mktemp("together")
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*start, "-m", "tests.course_lib.training.together", str(folder)]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((folder / f"told-{rank}.json").read_text()) for rank in range(2))
    return folder, first, second


def assert_alike(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found["losses"] == pytest.approx(expected["losses"], rel=1e-4)
    assert found["validations"] == pytest.approx(expected["validations"], rel=1e-4)
    for name, weight in expected["weights"].items():
        assert found["weights"][name] == pytest.approx(weight, rel=1e-2, abs=2e-4), name


@pytest.mark.parametrize("way", WAYS)
def test_two_processes_learn_what_one_does(launch: tuple[Path, Told, Told], way: str, tmp_path: Path) -> None:
    _, first, second = launch
    assert first[way] == second[way]
    assert_alike(first[way], learn(tmp_path, way))


def test_a_sharded_training_goes_on_bit_for_bit(launch: tuple[Path, Told, Told]) -> None:
    _, first, _ = launch
    assert first["went on"] == first["sharded"]


def test_its_checkpoints_are_whole(launch: tuple[Path, Told, Told]) -> None:
    folder, first, _ = launch
    saved = read_checkpoint(folder / "sharded" / "step-00000006.pt")
    weights = {name: tensor.flatten().tolist() for name, tensor in saved["model"].items()}
    assert weights == first["sharded"]["weights"]
    assert {held["exp_avg"].dim() for held in saved["optimizer"]["state"].values()} == {1, 2}


def test_alone_nothing_is_sharded(tmp_path: Path) -> None:
    assert learn(tmp_path / "one", "sharded") == learn(tmp_path / "other", "sharded", fsdp=False)


def test_what_is_whole_stays_as_it_is() -> None:
    tensor = torch.randn(3)
    assert whole({"a": [tensor, 1]}) == {"a": [tensor, 1]}
    assert sharded_like(tensor, torch.zeros(3)) is tensor


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"precision": "fp16"}, "choose precision 'bf16' or 'fp32'"),
        ({"optimizer": "muon"}, "muon needs whole matrices"),
    ],
)
def test_what_cannot_be_sharded_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        TrainingConfig(1, constant_schedule(0.1), fsdp=True, **changes)
