"""The training loop: what it reads, what it minimises, and that it learns."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from torch.testing import assert_close

from course_lib.data import Batch, Example, collate
from course_lib.models import Transformer, TransformerConfig
from course_lib.training import (
    TrainingConfig,
    linear_schedule,
    paper_schedule,
    shift_right,
    train,
    translation_loss,
)

SMALL = TransformerConfig(
    source_vocabulary=12,
    target_vocabulary=12,
    d_model=16,
    heads=2,
    d_hidden=32,
    encoder_layers=1,
    decoder_layers=1,
    dropout=0.0,
)


def reversals() -> list[Example]:
    """Eight sequences of different lengths; each target is its source backwards, from <s> to <e>."""
    generator = torch.Generator().manual_seed(0)
    sources = [torch.randint(4, 12, (length,), generator=generator) for length in (2, 3, 3, 4, 4, 5, 5, 6)]
    return [(source, torch.tensor([1, *source.flip(0).tolist(), 2])) for source in sources]


def model(seed: int = 0) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(SMALL)


def config(steps: int, **changes: float) -> TrainingConfig:
    return TrainingConfig(steps, batch_size=8, schedule=lambda step: 5e-3, **changes)


def test_the_decoder_reads_each_word_before_it_has_to_say_it() -> None:
    read, expected = shift_right(torch.tensor([[1, 5, 6, 7, 2], [1, 8, 2, 0, 0]]))
    assert read.tolist() == [[1, 5, 6, 7], [1, 8, 2, 0]]
    assert expected.tolist() == [[5, 6, 7, 2], [8, 2, 0, 0]]


class TestSchedules:
    def test_the_papers_rises_to_its_peak_and_falls_with_the_root(self) -> None:
        rate = paper_schedule(d_model=512, warmup=4000)
        assert rate(4000) == pytest.approx(6.987e-4, rel=1e-3)
        assert rate(1000) == pytest.approx(rate(4000) / 4)
        assert rate(16_000) == pytest.approx(rate(4000) / 2)

    def test_the_linear_one_ends_at_nearly_nothing(self) -> None:
        rate = linear_schedule(peak=1.0, warmup=10, steps=100)
        assert [rate(step) for step in (1, 5, 10)] == pytest.approx([0.1, 0.5, 1.0])
        assert rate(100) == pytest.approx(1 / 91)
        assert all(rate(step) > rate(step + 1) > 0 for step in range(10, 100))


class TestLoss:
    BATCH = collate(reversals())

    def log_probabilities(self, transformer: Transformer) -> tuple[torch.Tensor, torch.Tensor]:
        read, expected = shift_right(self.BATCH.target)
        return torch.log_softmax(transformer(self.BATCH.source, read), dim=-1), expected

    def test_is_the_mean_over_the_words_that_are_no_padding(self) -> None:
        transformer = model()
        log_p, expected = self.log_probabilities(transformer)
        total, words = 0.0, 0
        for row, right in zip(log_p, expected, strict=True):
            for place, word in enumerate(right.tolist()):
                if word:
                    total, words = total - row[place, word].item(), words + 1
        assert translation_loss(transformer, self.BATCH).item() == pytest.approx(total / words, rel=1e-5)

    def test_smoothing_spreads_mass_over_all_words_the_right_one_included(self) -> None:
        transformer = model()
        log_p, expected = self.log_probabilities(transformer)
        right = -log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1)
        smoothed = 0.9 * right + 0.1 * -log_p.mean(dim=-1)
        assert_close(translation_loss(transformer, self.BATCH, label_smoothing=0.1), smoothed[expected != 0].mean())

    def test_more_padding_changes_nothing(self) -> None:
        wider = Batch(*(torch.nn.functional.pad(side, (0, 3)) for side in (self.BATCH.source, self.BATCH.target)))
        transformer = model()
        assert_close(translation_loss(transformer, wider), translation_loss(transformer, self.BATCH))


class TestTrain:
    def test_memorises_a_few_pairs(self) -> None:
        transformer, data = model(), reversals()
        losses = train(transformer, data, config(steps=200, label_smoothing=0.0), "cpu")
        assert losses[0] > math.log(12) * 0.7
        assert losses[-1] < 0.05
        read, expected = shift_right(collate(data).target)
        answers = transformer(collate(data).source, read).argmax(dim=-1)
        assert torch.equal(answers[expected != 0], expected[expected != 0])

    def test_tells_of_every_step(self) -> None:
        told: list[tuple[int, float]] = []
        losses = train(model(), reversals(), config(steps=5), "cpu", lambda *news: told.append(news))
        assert told == list(enumerate(losses, start=1))
        assert len(told) == 5

    def test_the_seed_decides(self) -> None:
        def run(seed: int) -> list[float]:
            data = reversals()
            order = TrainingConfig(6, batch_size=3, schedule=lambda step: 5e-3, seed=seed)
            return train(model(), data, order, "cpu")

        assert run(1) == run(1)
        assert run(1) != run(2)

    def test_the_seed_decides_what_is_dropped(self) -> None:
        def run() -> list[float]:
            torch.manual_seed(0)
            transformer = Transformer(dataclasses.replace(SMALL, dropout=0.5))
            torch.seed()  # anything may have happened before
            return train(transformer, reversals(), config(steps=3), "cpu")

        assert run() == run()

    def test_the_schedule_is_followed(self) -> None:
        """Adam's first step moves each weight by the rate itself; a rate of 0 moves nothing."""
        transformer = model()
        before = [parameter.detach().clone() for parameter in transformer.parameters()]
        rates = {1: 0.0, 2: 1e-3}
        moved: list[float] = []

        def measure(step: int, loss: float) -> None:
            pairs = zip(before, transformer.parameters(), strict=True)
            moved.append(max((new.detach() - old).abs().max().item() for old, new in pairs))

        train(transformer, reversals(), TrainingConfig(2, 8, schedule=rates.__getitem__), "cpu", measure)
        assert moved[0] == 0.0
        assert moved[1] == pytest.approx(1e-3, rel=1e-2)

    def test_gradients_are_clipped(self) -> None:
        transformer, norms = model(), []

        def measure(step: int, loss: float) -> None:
            gradients = [p.grad for p in transformer.parameters() if p.grad is not None]
            norms.append(torch.stack([gradient.norm() for gradient in gradients]).norm().item())

        train(transformer, reversals(), config(steps=2, clip=0.01), "cpu", measure)
        assert norms == pytest.approx([0.01, 0.01], rel=1e-3)

    def test_no_data_is_refused(self) -> None:
        with pytest.raises(ValueError, match="the data is empty"):
            train(model(), [], config(steps=1), "cpu")
