"""The benchmark of training, at its smallest: what is compared does the same work, and figures come out."""

from __future__ import annotations

import time

import pytest
import torch
from torch.testing import assert_close

from benchmarks import transformer_training as benchmark
from benchmarks.transformer_peers import TorchTranslator
from course_lib.models import TransformerConfig
from course_lib.text.tokenization import END_ID
from course_lib.toys.grammar import Split, toy_translation


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> Split:
    split = toy_translation(training=60, held_out=6)
    monkeypatch.setattr(benchmark, "toy_translation", lambda **options: split)
    return split


@pytest.mark.usefixtures("processes")
def test_throughput_has_a_row_with_a_goal(little: Split) -> None:
    first, *_ = benchmark.throughput("toy", 1, "cpu", time.process_time, steps=1, max_tokens=150)
    assert first.ours > 0
    assert first.peer
    assert first.goal == 2.0


def test_both_see_as_many_pairs_in_a_batch(little: Split) -> None:
    text = benchmark.read("toy", 150)
    plan = text.data.plan(torch.Generator())
    assert text.per_batch == pytest.approx(len(little.training) / len(plan), abs=0.5)


@pytest.mark.usefixtures("processes")
def test_the_peer_learns_by_the_same_recipe(little: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "TOY_STEPS", 2)
    learned = benchmark.theirs_from_nothing(0, time.process_time)
    assert learned.share < 0.5
    assert learned.counted == float("inf")


def test_the_peer_sees_no_padding_and_no_later_word() -> None:
    sizes = TransformerConfig(12, 12, d_model=16, heads=2, d_hidden=32, encoder_layers=1, decoder_layers=1)
    model = TorchTranslator(sizes).train(False)
    model.transformer.encoder.enable_nested_tensor = False
    source, target = torch.tensor([[5, 6]]), torch.tensor([[1, 7, 8]])
    logits = model(source, target)
    assert_close(model(torch.tensor([[5, 6, 0]]), target), logits, rtol=1e-4, atol=1e-5)
    assert_close(model(source, torch.tensor([[1, 7, 9]]))[:, :2], logits[:, :2], rtol=1e-4, atol=1e-5)


def test_the_peer_translates_until_the_end() -> None:
    sizes = TransformerConfig(12, 12, d_model=16, heads=2, d_hidden=32, encoder_layers=1, decoder_layers=1)
    torch.manual_seed(0)
    said = TorchTranslator(sizes).train(False).translate(torch.tensor([[5, 6], [7, 8]]), longest=9)
    assert said.shape[0] == 2
    assert said.shape[1] <= 9
    for row in said.tolist():
        if END_ID in row:
            assert set(row[row.index(END_ID) + 1 :]) <= {0}
