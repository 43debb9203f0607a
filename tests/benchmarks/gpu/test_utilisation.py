"""Counting a training's arithmetic, beside what is known about it."""

from __future__ import annotations

import pytest
import torch

from benchmarks.gpu.utilisation import flops_per_token, peak_flops, utilisation
from course_lib.models import GPT, GPTConfig
from course_lib.objectives.losses import language_model_loss
from course_lib.text.batches import TextBatch


class TestUtilisation:
    def test_counts_what_a_pass_multiplies(self) -> None:
        config = GPTConfig(vocab_size=50, context_length=32, d_model=64, heads=2, layers=2, d_ff=256)
        model = GPT(config)
        batch = TextBatch(torch.randint(0, 50, (4, 33)))
        # Six operations for each weight that is multiplied: two forward, four backward; attention adds to it.
        weights = sum(p.numel() for p in model.parameters() if p.dim() == 2) - 32 * 64  # positions are only added
        assert weights * 6 < flops_per_token(model, language_model_loss, batch) < weights * 6 * 1.3

    def test_a_processor_has_no_known_peak(self) -> None:
        assert peak_flops("cpu") is None
        assert utilisation(1e6, 1e3, "cpu") is None

    def test_is_the_share_of_the_peak(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA A100-SXM4-80GB")
        assert utilisation(312e6, 5e5, "cuda") == pytest.approx(0.5)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Unheard Of")
        assert utilisation(312e6, 5e5, "cuda") is None
