"""The clock: what is called, on what, and how often; never how long it takes."""

import pytest
import torch
from torch import Tensor

from course_lib.ground.timing import milliseconds, race


def test_the_fastest_run_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.5, 1.0, 1.002, 2.0, 2.1])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    assert milliseconds(lambda: None) == pytest.approx(2.0)


def test_a_run_that_does_not_count_warms_up() -> None:
    calls: list[int] = []
    milliseconds(lambda: calls.append(1), runs=2)
    assert len(calls) == 3


def test_a_race_is_run_without_gradients() -> None:
    layer = torch.nn.Linear(2, 2)
    seen: list[Tensor] = []
    race({"layer": lambda x: seen.append(layer(x))}, [1], lambda words: torch.zeros(words, 2), runs=1)
    assert not any(out.requires_grad for out in seen)
    assert torch.is_grad_enabled()


def test_all_take_part_with_the_same_sentences() -> None:
    met: dict[str, list[Tensor]] = {"first": [], "second": []}
    layers = {name: lambda x, name=name: met[name].append(x) for name in met}
    taken = race(layers, [2, 5], lambda words: torch.randn(words, 3), runs=1)
    assert {name: len(times) for name, times in taken.items()} == {"first": 2, "second": 2}
    assert all(time >= 0 for times in taken.values() for time in times)
    assert [x.shape[0] for x in met["first"]] == [2, 2, 5, 5]  # one of two runs warms up
    assert all(torch.equal(a, b) for a, b in zip(met["first"], met["second"], strict=True))
