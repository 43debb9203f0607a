"""What is told of a training: not how long it took where an earlier run has done a part, and its share of the peak."""

import dataclasses
from pathlib import Path

import pytest
import torch

from benchmarks.gpu import learning
from benchmarks.gpu.results import Point, Said, Told
from benchmarks.gpu.running import Settings
from benchmarks.table import Row
from course_lib.models import GPT, GPTConfig
from course_lib.objectives.losses import language_model_loss
from course_lib.text.batches import TextBatch
from course_lib.toys.grammar import toy_translation
from course_lib.training.recipes import learn_to_translate


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(
    "steps_before", [0, 2, 3, 4], ids=["from nothing", "resumed", "resumed for one step", "only judged"]
)
def test_minutes_from_nothing_are_told_only_of_a_training_from_nothing(tmp_path: Path, steps_before: int) -> None:
    settings = Settings("cpu", tmp_path, tiny=True, steps=4)
    if steps_before:
        split = toy_translation(training=60, held_out=20)
        recipe = dataclasses.replace(learning.TINY_TRANSLATION, steps=4)
        folder = settings.unfinished / "multi30k-16-wide-4-steps-seed-0"
        learn_to_translate(recipe, split.training, split.held_out, folder, "cpu", until=steps_before)
    told: list[Told] = []
    learning.multi30k(settings, told.append)
    rows = {row.name for row in told if isinstance(row, Row)}
    assert ("from nothing to BLEU" in rows) is not bool(steps_before)
    said = {one.what: one.text for one in told if isinstance(one, Said)}
    assert said.get("resumed", "after 0 steps").startswith(f"after {steps_before} steps")
    assert ("training steps" in rows) is (steps_before < 3), "it takes two steps to tell how fast they are"
    points = [point.step for point in told if isinstance(point, Point) and point.curve == "training loss"]
    assert points == list(range(1 + steps_before, 5))


def test_utilisation_counts_what_a_pass_multiplies() -> None:
    config = GPTConfig(vocab_size=50, context_length=32, d_model=64, heads=2, layers=2, d_ff=256)
    model = GPT(config)
    batch = TextBatch(torch.randint(0, 50, (4, 33)))
    # Six operations for each weight that is multiplied: two forward, four backward; attention adds to it.
    weights = sum(p.numel() for p in model.parameters() if p.dim() == 2) - 32 * 64  # positions are only added
    assert weights * 6 < learning.flops_per_token(model, language_model_loss, batch) < weights * 6 * 1.3


def test_utilisation_a_processor_has_no_known_peak() -> None:
    assert learning.utilisation(1e6, 1e3, "cpu") is None


def test_utilisation_is_the_share_of_the_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA A100-SXM4-80GB")
    assert learning.utilisation(312e6, 5e5, "cuda") == pytest.approx(0.5)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Unheard Of")
    assert learning.utilisation(312e6, 5e5, "cuda") is None
