"""The commands for real data, a few steps on small data each."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest
import torch

from benchmarks import multi30k, shakespeare
from benchmarks.utilisation import flops_per_token, peak_flops, utilisation
from course_lib.models import GPT, GPTConfig
from course_lib.objectives.losses import language_model_loss
from course_lib.text.batches import TextBatch
from course_lib.toys.grammar import toy_translation
from course_lib.training.recipes import MULTI30K, SHAKESPEARE

SMALL_TRANSLATION = dataclasses.replace(
    MULTI30K, pieces=90, d_model=16, d_hidden=32, layers=1, max_tokens=600, save_every=2, averaged=2
)
SMALL_TEXT = dataclasses.replace(SHAKESPEARE, length=16, d_model=24, heads=2, layers=1, batch_size=4)


def reported(monkeypatch: pytest.MonkeyPatch, main: object, *arguments: str | Path) -> dict[str, dict[str, object]]:
    """The rows that a command writes, by name."""
    file = Path(arguments[1]) / "rows.json"
    monkeypatch.setattr(sys, "argv", ["command", *map(str, arguments), "--json", str(file)])
    main()  # type: ignore[operator]
    return {row["name"]: row for row in json.loads(file.read_text())}


def test_multi30k(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    split = toy_translation(training=60, held_out=20)
    parts = {"train": split.training, "val": split.held_out, "test_2016_flickr": split.held_out}
    monkeypatch.setattr(multi30k, "multi30k", parts.__getitem__)
    monkeypatch.setattr(multi30k, "MULTI30K", SMALL_TRANSLATION)
    monkeypatch.setattr(multi30k, "LONGEST", 6)
    rows = reported(monkeypatch, multi30k.main, "--folder", tmp_path, "--steps", "4", "--pairs", "8", "--device", "cpu")
    assert rows["BLEU, tokenised, lower-cased"]["peer"] == 41.02
    assert rows["BLEU, tokenised, lower-cased"]["met"] is False
    assert rows["words learned from"]["ours"] > 0  # type: ignore[operator]
    assert len((tmp_path / "translations.txt").read_text().splitlines()) == 8


def test_shakespeare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shakespeare, "tiny_shakespeare", lambda: "To be, or not to be, that is the question.\n" * 20)
    monkeypatch.setattr(shakespeare, "SHAKESPEARE", SMALL_TEXT)
    rows = reported(monkeypatch, shakespeare.main, "--folder", tmp_path, "--steps", "4", "--device", "cpu")
    assert rows["validation loss"]["peer"] == 1.4697
    assert 1 < rows["validation loss"]["ours"] < 5  # type: ignore[operator]
    assert len((tmp_path / "sample.txt").read_text()) == 15


class TestUtilisation:
    def test_counts_what_a_pass_multiplies(self) -> None:
        config = GPTConfig(vocabulary=50, context=32, d_model=64, heads=2, layers=2, d_hidden=256)
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
