"""A model of which each process keeps a part; `test_processes.py` has two of them learn, in one launch with others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from course_lib.training.loop import TrainingConfig
from course_lib.training.schedules import constant_schedule
from course_lib.training.sharding import sharded_like, whole
from tests.course_lib.training.together import learn


def test_alone_nothing_is_sharded(tmp_path: Path) -> None:
    assert learn(tmp_path / "one", "sharded") == learn(tmp_path / "other", "sharded", fsdp=False)


def test_what_is_whole_stays_as_it_is() -> None:
    tensor = torch.randn(3)
    assert whole({"a": [tensor, 1]}) == {"a": [tensor, 1]}
    assert sharded_like(tensor, torch.zeros(3)) is tensor


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"precision": "fp16"}, "choose precision 'bf16' or"), ({"optimizer": "muon"}, "muon needs whole matrices")],
)
def test_what_cannot_be_sharded_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        TrainingConfig(1, constant_schedule(0.1), fsdp=True, **changes)
