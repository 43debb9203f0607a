"""The benchmark of the models, at its smallest: who is compared does the same work, and every row has its figures."""

from __future__ import annotations

import itertools

import pytest
import torch

from benchmarks import transformer as benchmark

CPU = torch.device("cpu")


def test_runs_alternate_and_the_first_round_does_not_count() -> None:
    order: list[str] = []
    ticks = itertools.count()
    setup = benchmark.Setup(CPU, rounds=2, clock=lambda: float(next(ticks)))
    medians = setup.medians([lambda: order.append("ours"), lambda: order.append("theirs")])
    assert order == ["ours", "theirs"] * 3
    assert medians[0] > 0


def test_both_write_as_many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "NEW_WORDS", 3)
    monkeypatch.setattr(benchmark, "PROMPT", 2)
    ours, theirs = benchmark.decoders(16, 1, 2, CPU)
    prompt = torch.randint(benchmark.VOCABULARY, (2, 2))
    assert benchmark.generate(theirs, prompt).shape == (2, 5)
    assert benchmark.greedy_decode(ours, prompt, 3).shape == (2, 3)
    rows = benchmark.decoding_rows("little", ours, theirs, 1, 2.5, benchmark.Setup(CPU, rounds=1))
    assert [row.goal for row in rows] == [2.5, None]
    assert all(row.ours > 0 and row.peer for row in rows)


@pytest.mark.parametrize("name", ["Transformer", "nn.Transformer", "GPT", "GPT-2", "nanoGPT", "modern", "Llama"])
def test_a_step_trains_every_parameter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[torch.nn.Module] = []
    stepping = benchmark.stepping

    def remembered(model: torch.nn.Module, *rest: object) -> benchmark.Run:
        trained.append(model)
        return stepping(model, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(benchmark, "stepping", remembered)
    run = benchmark.training_step(name, CPU)
    (model,) = trained
    before = [parameter.detach().clone() for parameter in model.parameters()]
    run()
    unchanged = [
        key for (key, now), then in zip(model.named_parameters(), before, strict=True) if torch.equal(now, then)
    ]
    assert not unchanged


def test_every_part_can_be_asked_for() -> None:
    assert list(benchmark.PARTS) == ["decoding", "compiled", "modern", "step", "memory", "throughput", "toy"]
