"""The training loop: that it learns, adds up, resumes bit for bit, and stops where it should."""

import dataclasses
import gc
import math
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from course_lib.models import GPT, GPTConfig, Transformer, TransformerConfig
from course_lib.objectives.losses import language_model_loss, translation_loss
from course_lib.text.batches import LengthBuckets, TranslationBatch, TranslationExample, Windows, collate
from course_lib.training import loop as training
from course_lib.training.batch_order import BatchOrder
from course_lib.training.checkpoints import (
    CheckpointError,
    Checkpoints,
    read_checkpoint,
    write_checkpoint,
)
from course_lib.training.loop import TrainingConfig, TrainingResult, Validation, evaluate, train
from course_lib.training.loss_log import DivergedError
from course_lib.training.optimizers import make_optimizers
from course_lib.training.progress import TrainingStep
from course_lib.training.schedules import constant_schedule, linear_schedule

SMALL = TransformerConfig(
    source_vocab_size=12,
    target_vocab_size=12,
    d_model=16,
    heads=2,
    d_ff=32,
    encoder_layers=1,
    decoder_layers=1,
    dropout=0.0,
)
WITH_DROPOUT = dataclasses.replace(SMALL, dropout=0.2)


def reversals() -> list[TranslationExample]:
    """Eight sequences of different lengths; each target is its source backwards, from <s> to <e>."""
    generator = torch.Generator().manual_seed(0)
    sources = [torch.randint(4, 12, (length,), generator=generator) for length in (2, 3, 3, 4, 4, 5, 5, 6)]
    return [(source, torch.tensor([1, *source.flip(0).tolist(), 2])) for source in sources]


def data(max_tokens: int) -> LengthBuckets[TranslationExample, TranslationBatch]:
    return LengthBuckets(reversals(), lambda pair: (len(pair[0]), len(pair[1])), max_tokens, collate)


ALL_AT_ONCE = data(1000)
IN_SEVERAL = data(25)


def model(config: TransformerConfig = SMALL) -> Transformer:
    torch.manual_seed(0)
    return Transformer(config)


def config(steps: int, **changes: Any) -> TrainingConfig:
    return TrainingConfig(**{"steps": steps, "schedule": constant_schedule(5e-3), "precision": "fp32", **changes})


def learn(transformer: Transformer, steps: int, **options: Any) -> TrainingResult:
    changes = options.pop("config", {})
    where = options.pop("data", ALL_AT_ONCE)
    return train(transformer, where, translation_loss, config(steps, **changes), "cpu", **options)


def assert_same(one: torch.nn.Module, other: torch.nn.Module) -> None:
    assert_close(one.state_dict(), other.state_dict(), rtol=0, atol=0)


class TestLearning:
    def test_it_learns_by_heart(self) -> None:
        transformer = model()
        result = learn(transformer, 200)
        assert result.losses[0] > 2
        assert result.losses[-1] < 0.05
        assert transformer.training

    @pytest.mark.parametrize("precision", ["bf16", "auto"])
    def test_lower_precision_learns_too(self, precision: str) -> None:
        assert learn(model(), 200, config={"precision": precision}).losses[-1] < 0.1

    def test_the_seed_decides_everything(self) -> None:
        def losses(seed: int) -> list[float]:
            return learn(model(WITH_DROPOUT), 8, data=IN_SEVERAL, config={"seed": seed}).losses

        assert losses(1) == losses(1)
        assert losses(1) != losses(2)

    def test_every_step_is_told(self) -> None:
        told: list[TrainingStep] = []
        result = learn(model(), 5, progress=told.append)
        assert [step.number for step in told] == [1, 2, 3, 4, 5]
        assert [step.loss for step in told] == result.losses
        tokens = ALL_AT_ONCE.batch(range(8)).tokens
        assert [step.tokens for step in told] == [tokens * n for n in range(1, 6)]
        assert result.tokens == 5 * tokens

    def test_the_schedule_sets_each_steps_rate(self) -> None:
        def never_after_one(step: int) -> float:
            return 5e-3 if step == 1 else 0.0

        once, often = model(), model()
        learn(once, 1)
        learn(often, 9, config={"schedule": never_after_one})
        assert_same(once, often)

    def test_gradients_are_clipped_together(self) -> None:
        norms: list[float] = []
        transformer = model()
        step = torch.optim.AdamW.step

        def watched(self: torch.optim.AdamW, *arguments: Any) -> Any:
            gradients = [p.grad for p in transformer.parameters() if p.grad is not None]
            norms.append(torch.linalg.vector_norm(torch.stack([g.norm() for g in gradients])).item())
            return step(self, *arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.optim.AdamW, "step", watched)
            learn(transformer, 3, config={"clip": 0.01})
        assert norms == pytest.approx([0.01] * 3, rel=1e-3)

    def test_only_matrices_decay(self) -> None:
        transformer = model()
        before = {name: p.detach().clone() for name, p in transformer.named_parameters()}
        silent = lambda m, batch: sum(0.0 * p.sum() for p in m.parameters())  # noqa: E731
        train(transformer, ALL_AT_ONCE, silent, config(1, weight_decay=0.5), "cpu")
        for name, parameter in transformer.named_parameters():
            shrunk = 1 - 5e-3 * 0.5 if parameter.dim() >= 2 else 1
            assert_close(parameter.detach(), before[name] * shrunk)


def test_nothing_of_a_training_waits_for_garbage_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU the next training may need the memory."""
    optimizers = []

    def made(*arguments: Any, **options: Any) -> Any:
        optimizer = make_optimizers(*arguments, **options)
        optimizers.append(weakref.ref(optimizer))
        return optimizer

    learn(model(), 1)  # the first optimizer of a process imports much, and what failed there refers to its callers
    monkeypatch.setattr(training, "make_optimizers", made)
    gc.disable()
    try:
        learn(model(), 2, validation=Validation(ALL_AT_ONCE, 1))
        [optimizer] = optimizers
        assert optimizer() is None
    finally:
        gc.enable()


def test_every_pass_has_each_example_once_and_its_own_order() -> None:
    ten = [(torch.tensor([5]), torch.tensor([1, 2]))] * 10
    batches = BatchOrder(LengthBuckets(ten, lambda pair: (1,), 2, collate), torch.Generator().manual_seed(0))
    passes = [[batches.next() for _ in range(5)] for _ in range(3)]
    assert all(sorted(i for batch in one for i in batch) == list(range(10)) for one in passes)
    assert passes[0] != passes[1] != passes[2]


class TestAccumulation:
    def test_equals_the_large_batch(self) -> None:
        """Batches of different sizes: every token counts the same, whichever batch it is in."""
        count = len(IN_SEVERAL.plan(torch.Generator()))
        assert count > 2
        together, apart = model(), model()
        # Where a gradient is 0 but for rounding (that of a key's bias), Adam would make steps of it without an epsilon.
        large = learn(together, 5, config={"epsilon": 1e-4})
        small = learn(apart, 5, data=IN_SEVERAL, config={"epsilon": 1e-4, "accumulate": count})
        assert small.losses == pytest.approx(large.losses, rel=1e-5)
        assert_close(together.state_dict(), apart.state_dict(), rtol=1e-4, atol=1e-5)

    def test_a_batch_without_targets_changes_nothing(self) -> None:
        """As where the target of one of them is empty: a mean over nothing would be NaN."""
        with_it, without = model(), model()
        targetless = LengthBuckets(
            [*reversals()[:2], (torch.tensor([5]), torch.tensor([1]))], lambda pair: (9,), 9, collate
        )
        assert sorted(targetless.batch(one).targets for one in targetless.plan(torch.Generator())) == [0, 3, 4]
        both = LengthBuckets(reversals()[:2], lambda pair: (9,), 9, collate)
        first = learn(with_it, 1, data=targetless, config={"accumulate": 3, "epsilon": 1e-4})
        second = learn(without, 1, data=both, config={"accumulate": 2, "epsilon": 1e-4})
        assert first.losses == pytest.approx(second.losses, rel=1e-6)
        assert_close(with_it.state_dict(), without.state_dict(), rtol=1e-4, atol=1e-6)
        expected = evaluate(without, both, translation_loss, "cpu")
        assert evaluate(without, targetless, translation_loss, "cpu") == pytest.approx(expected)


class TestResuming:
    def straight_and_resumed(self, folder: Path, **options: Any) -> tuple[Transformer, Transformer, Any, Any]:
        changes = options.pop("config", {})

        def go(transformer: Transformer, steps: int, **more: Any) -> TrainingResult:
            return learn(transformer, steps, data=IN_SEVERAL, config=changes, **options, **more)

        straight = model(WITH_DROPOUT)
        whole = go(straight, 13)
        stopped = model(WITH_DROPOUT)
        go(stopped, 7, checkpoints=Checkpoints(folder, every=4))
        torch.manual_seed(99)  # whatever happened in between
        resumed = Transformer(WITH_DROPOUT)
        rest = go(resumed, 13, checkpoints=Checkpoints(folder, every=4), resume=True)
        return straight, resumed, whole, rest

    @pytest.mark.parametrize(
        "changes",
        [
            {},
            {"accumulate": 3},
            {"schedule": linear_schedule(1e-2, 3, 13), "weight_decay": 0.1},
            {"seed": 5},
            {"precision": "bf16", "accumulate": 2},
            {"precision": "fp16"},
        ],
    )
    def test_is_bit_for_bit_as_if_never_stopped(self, tmp_path: Path, changes: dict[str, Any]) -> None:
        straight, resumed, whole, rest = self.straight_and_resumed(tmp_path, config=changes)
        assert_same(straight, resumed)
        assert rest.losses == whole.losses

    def test_validation_changes_nothing_and_is_remembered(self, tmp_path: Path) -> None:
        held_out = Validation(ALL_AT_ONCE, every=3)
        straight, resumed, whole, rest = self.straight_and_resumed(tmp_path, validation=held_out)
        assert_same(straight, resumed)
        assert list(whole.validations) == [3, 6, 9, 12, 13]
        del rest.validations[7]  # where the first part ended
        assert rest.validations == whole.validations

    def test_another_weight_decay_holds_from_there_on(self, tmp_path: Path) -> None:
        def resumed(folder: Path, weight_decay: float) -> Transformer:
            learn(model(), 2, checkpoints=Checkpoints(folder), config={"weight_decay": 0.1})
            transformer = model()
            checkpoints = Checkpoints(folder)
            learn(transformer, 3, checkpoints=checkpoints, resume=True, config={"weight_decay": weight_decay})
            return transformer

        same, other = resumed(tmp_path / "same", 0.1), resumed(tmp_path / "other", 0.5)
        assert (other.output.weight.abs() < same.output.weight.abs()).float().mean() > 0.9
        bias = "encoder.0.feed_forward.W_1.bias"  # which does not decay
        assert torch.equal(same.state_dict()[bias], other.state_dict()[bias])

    def test_passes_may_differ_in_how_many_batches_they_have(self, tmp_path: Path) -> None:
        windows = Windows(torch.randint(11, (103,), generator=torch.Generator().manual_seed(0)), 10, 3)
        generator = torch.Generator().manual_seed(0)
        passes = [len(windows.plan(generator)) for _ in range(5)]
        assert passes[0] != passes[-1]
        sizes = GPTConfig(vocab_size=11, context_length=10, d_model=8, heads=2, layers=1, d_ff=16)

        def go(steps: int, folder: Path) -> GPT:
            torch.manual_seed(0)
            gpt = GPT(sizes)
            kept = Checkpoints(folder)
            train(gpt, windows, language_model_loss, config(steps), "cpu", checkpoints=kept, resume=True)
            return gpt

        go(sum(passes[:-1]) + 1, tmp_path / "stopped")
        assert_same(go(sum(passes), tmp_path / "stopped"), go(sum(passes), tmp_path / "straight"))

    def test_a_folder_in_use_is_not_overwritten(self, tmp_path: Path) -> None:
        learn(model(), 2, checkpoints=Checkpoints(tmp_path))
        with pytest.raises(ValueError, match="step-00000002.pt exists already: resume=True continues from it"):
            learn(model(), 2, checkpoints=Checkpoints(tmp_path))

    def test_a_finished_training_stays_finished(self, tmp_path: Path) -> None:
        learn(model(), 2, checkpoints=Checkpoints(tmp_path))
        assert len(learn(model(), 2, checkpoints=Checkpoints(tmp_path), resume=True).losses) == 2

    @pytest.mark.parametrize(
        ("other", "options", "message"),
        [
            (dataclasses.replace(SMALL, d_ff=64), {}, "is from another model: its encoder.0"),
            (dataclasses.replace(SMALL, encoder_layers=2), {}, "it has no encoder.1"),
            (SMALL, {"config": {"seed": 1}}, "is from another training run: its seed: 0, this one's: 1"),
            (SMALL, {"config": {"accumulate": 2}}, "its accumulate: 1, this one's: 2"),
            (SMALL, {"data": IN_SEVERAL}, r"its batches in a pass: 1, this one's: \d"),
        ],
    )
    def test_another_training_is_refused_before_anything_changes(
        self, tmp_path: Path, other: TransformerConfig, options: dict[str, Any], message: str
    ) -> None:
        learn(model(), 2, checkpoints=Checkpoints(tmp_path))
        transformer = model(other)
        with pytest.raises(CheckpointError, match=message):
            learn(transformer, 4, checkpoints=Checkpoints(tmp_path), resume=True, **options)
        assert_same(transformer, model(other))

    def test_an_optimizer_of_other_weights_is_refused_before_anything_changes(self, tmp_path: Path) -> None:
        learn(model(), 2, checkpoints=Checkpoints(tmp_path))
        frozen = model()
        frozen.encoder.requires_grad_(False)
        with pytest.raises(
            CheckpointError, match=r"its trained parameters: \d+ \+ \d+, this one.s: .* freeze the same ones"
        ):
            learn(frozen, 4, checkpoints=Checkpoints(tmp_path), resume=True)
        assert_same(frozen, model())

    @pytest.mark.parametrize("compiled", ["a copy", "in place", "one block"])
    def test_compiled_or_not_it_goes_on(self, tmp_path: Path, compiled: str) -> None:
        def go(steps: int, folder: str, *, wrapped: bool) -> Transformer:
            transformer = model(WITH_DROPOUT)
            trained = wrap(transformer, compiled) if wrapped else transformer
            held_out = Validation(
                ALL_AT_ONCE, every=3, patience=9
            )  # so that the best weights are saved and loaded, too
            saving = Checkpoints(tmp_path / folder)
            learn(trained, steps, data=IN_SEVERAL, validation=held_out, checkpoints=saving, resume=True)
            return transformer

        with torch.compiler.set_stance("force_eager"):  # what the weights are called is the matter, not what runs
            expected = list(go(9, "straight", wrapped=False).parameters())
            for first in (True, False):
                folder = f"compiled first: {first}"
                go(4, folder, wrapped=first)
                assert_close(list(go(9, folder, wrapped=not first).parameters()), expected, rtol=0, atol=0)
        (saved,) = Checkpoints(tmp_path / "compiled first: True").files()
        assert read_checkpoint(saved)["model"].keys() == model().state_dict().keys()

    def test_names_that_a_compiled_model_was_once_saved_with_are_known(self, tmp_path: Path) -> None:
        learn(model(), 3, checkpoints=Checkpoints(tmp_path))
        (path,) = Checkpoints(tmp_path).files()
        content = read_checkpoint(path)
        content["model"] = {f"_orig_mod.{name}": tensor for name, tensor in content["model"].items()}
        write_checkpoint(path, content)
        resumed, straight = model(), model()
        learn(resumed, 5, checkpoints=Checkpoints(tmp_path), resume=True)
        learn(straight, 5)
        assert_same(resumed, straight)


def wrap(transformer: Transformer, how: str) -> Any:
    if how == "a copy":
        return torch.compile(transformer)
    if how == "in place":
        transformer.compile()
    else:
        transformer.encoder[0] = cast(nn.Module, torch.compile(transformer.encoder[0]))
    return transformer


def failing_at(step: int, failure: Callable[[Tensor], Tensor]) -> Callable[[Transformer, TranslationBatch], Tensor]:
    """A loss that is all right before its n-th call."""
    calls = 0

    def loss(transformer: Transformer, batch: TranslationBatch) -> Tensor:
        nonlocal calls
        calls += 1
        value = translation_loss(transformer, batch)
        return failure(value) if calls == step else value

    return loss


def infinite_gradient(value: Tensor) -> Tensor:
    """The same value, from a root whose slope there is infinite."""
    return value + torch.sqrt(value - value.detach())


class TestStopping:
    @pytest.mark.parametrize(
        ("failure", "message"),
        [
            (lambda value: value * math.nan, "the loss of step 6 is nan, with a learning rate of 0.005"),
            (lambda value: value * math.inf, "the loss of step 6 is inf"),
            (infinite_gradient, "the norm of the gradients of step 6 is nan"),
        ],
    )
    def test_what_is_no_number_ends_it_and_the_last_good_weights_stay(
        self, tmp_path: Path, failure: Callable[[Tensor], Tensor], message: str
    ) -> None:
        checkpoints = Checkpoints(tmp_path, every=2)
        transformer, five_steps = model(), model()
        with pytest.raises(DivergedError, match=message) as caught:
            train(transformer, ALL_AT_ONCE, failing_at(6, failure), config(9), "cpu", checkpoints=checkpoints)
        assert "step-00000004.pt; resume=True continues from it" in caught.value.__notes__[0]
        assert [path.name for path in checkpoints.files()] == ["step-00000004.pt"]
        learn(five_steps, 5)
        assert_same(transformer, five_steps)  # the sixth step has not moved them

    @pytest.mark.parametrize("patience", [None, 3])
    def test_a_validation_loss_that_is_no_number_ends_it_too(self, tmp_path: Path, patience: int | None) -> None:
        """It would count as the best one: nothing is smaller than NaN."""

        def blind(transformer: Transformer, batch: TranslationBatch) -> Tensor:
            value = translation_loss(transformer, batch)
            return value if transformer.training else value * math.nan

        checkpoints, held_out = Checkpoints(tmp_path, every=2), Validation(ALL_AT_ONCE, every=4, patience=patience)
        with pytest.raises(DivergedError, match="the validation loss of step 4 is nan, with a learning rate of 0.005"):
            train(model(), ALL_AT_ONCE, blind, config(9), "cpu", validation=held_out, checkpoints=checkpoints)
        assert [path.name for path in checkpoints.files()] == ["step-00000002.pt"]

    def test_ctrl_c_says_which_is_the_last_good_checkpoint(self, tmp_path: Path) -> None:
        checkpoints = Checkpoints(tmp_path, every=2)

        def stop(value: Tensor) -> Tensor:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as caught:
            train(model(), ALL_AT_ONCE, failing_at(6, stop), config(9), "cpu", checkpoints=checkpoints)
        assert "step-00000004.pt" in caught.value.__notes__[0]

    def test_patience_ends_it_with_the_best_weights_and_again_where_it_is_resumed(self, tmp_path: Path) -> None:
        def go(transformer: Transformer) -> TrainingResult:
            rising = config(500, schedule=lambda step: 5e-3 if step <= 20 else 0.5)
            held_out, saving = Validation(ALL_AT_ONCE, every=5, patience=2), Checkpoints(tmp_path, every=1000)
            options: dict[str, Any] = {"validation": held_out, "checkpoints": saving, "resume": True}
            return train(transformer, ALL_AT_ONCE, translation_loss, rising, "cpu", **options)

        transformer, resumed = model(), model()
        result = go(transformer)
        assert len(result.losses) < 100
        best_step = min(result.validations, key=result.validations.__getitem__)
        assert len([step for step in result.validations if step > best_step]) == 2
        best = min(result.validations.values())
        assert evaluate(transformer, ALL_AT_ONCE, translation_loss, "cpu") == pytest.approx(best)
        assert go(resumed).losses == result.losses
        assert_same(transformer, resumed)


def with_everything(transformer: Transformer, folder: Path, **more: Any) -> TrainingResult:
    """A training with all that a checkpoint must hold: dropout, accumulation, a scaler, patience and what was best."""
    return learn(
        transformer,
        40,
        data=IN_SEVERAL,
        config={"precision": "fp16", "accumulate": 3, "schedule": lambda step: 5e-3 if step <= 6 else 0.5},
        validation=Validation(ALL_AT_ONCE, every=3, patience=2),
        checkpoints=Checkpoints(folder, every=2),
        **more,
    )


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> tuple[Transformer, TrainingResult]:
    """A training that was never stopped."""
    transformer = model(WITH_DROPOUT)
    result = with_everything(transformer, tmp_path_factory.mktemp("straight"))
    assert 6 < len(result.losses) < 40
    return transformer, result


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (BatchOrder, "next"),
        (torch.nn.utils, "clip_grad_norm_"),
        (torch.optim.AdamW, "step"),
        (training, "evaluate"),
        (Checkpoints, "save"),
        (torch, "save"),
        (os, "fsync"),
        (Path, "replace"),
        (Path, "unlink"),
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_ctrl_c_at_any_moment_loses_nothing(
    tmp_path: Path, straight: tuple[Transformer, TrainingResult], owner: Any, name: str, before: bool
) -> None:
    """Before what is called for the second time, or after it."""
    original, calls = getattr(owner, name), 0

    def interrupted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2 and before:
            raise KeyboardInterrupt
        result = original(*arguments, **options)
        if calls == 2:
            raise KeyboardInterrupt
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            with_everything(model(WITH_DROPOUT), tmp_path)
    assert all(path.name.startswith("step-") for path in tmp_path.iterdir())
    resumed = model(WITH_DROPOUT)
    rest = with_everything(resumed, tmp_path, resume=True)
    transformer, whole = straight
    assert_same(transformer, resumed)
    assert (rest.losses, rest.validations) == (whole.losses, whole.validations)


@pytest.mark.usefixtures("processes")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="of POSIX")
@pytest.mark.parametrize("moment", ["os.fsync", "Path.replace"])
def test_killed_while_a_checkpoint_is_written_it_goes_on_bit_for_bit(
    tmp_path: Path, straight: tuple[Transformer, TrainingResult], moment: str
) -> None:
    code = f"""
import os, signal
from pathlib import Path
from tests.course_lib.training.test_loop import WITH_DROPOUT, model, with_everything
calls, original = [], {moment}
def killed(*arguments):
    calls.append(arguments)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*arguments)
{moment} = killed
with_everything(model(WITH_DROPOUT), Path({str(tmp_path)!r}))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert len(Checkpoints(tmp_path).files()) == 1
    resumed = model(WITH_DROPOUT)
    rest = with_everything(resumed, tmp_path, resume=True)
    transformer, whole = straight
    assert_same(transformer, resumed)
    assert (rest.losses, rest.validations) == (whole.losses, whole.validations)


class TestEvaluation:
    def test_is_the_mean_over_all_tokens_without_dropout(self) -> None:
        transformer = model(WITH_DROPOUT)
        value = evaluate(transformer, IN_SEVERAL, translation_loss, "cpu")
        assert transformer.training
        together = translation_loss(transformer.eval(), ALL_AT_ONCE.batch(range(8))).item()
        assert value == pytest.approx(together, rel=1e-5)

    def test_leaves_frozen_what_was_frozen(self) -> None:
        transformer = model().train()
        transformer.encoder.eval()
        evaluate(transformer, IN_SEVERAL, translation_loss, "cpu")
        assert transformer.training
        assert transformer.decoder.training
        assert not any(module.training for module in transformer.encoder.modules())

    def test_random_losses_are_the_same_each_time_and_draw_from_nobody(self) -> None:
        def noisy(transformer: Transformer, batch: TranslationBatch) -> Tensor:
            return torch.rand(())

        before = torch.get_rng_state()
        values = {evaluate(model(), IN_SEVERAL, noisy, "cpu") for _ in range(2)}
        torch.manual_seed(0)
        assert len(values) == 1
        assert torch.equal(before, torch.get_rng_state())


class Nothing:
    """Data that gives no batches."""

    def plan(self, generator: torch.Generator) -> list[list[int]]:
        return []

    def batch(self, indices: object) -> TranslationBatch:
        raise AssertionError


class TestBadInput:
    def test_no_batches(self) -> None:
        with pytest.raises(ValueError, match="nothing to train on: the data gives no batches"):
            train(model(), Nothing(), translation_loss, config(1), "cpu")
        with pytest.raises(ValueError, match="nothing to evaluate on"):
            evaluate(model(), Nothing(), translation_loss, "cpu")

    def test_nothing_to_predict(self) -> None:
        only_starts = LengthBuckets([(torch.tensor([5]), torch.tensor([1]))], lambda pair: (2,), 9, collate)
        with pytest.raises(ValueError, match="step 1 have nothing to predict"):
            train(model(), only_starts, translation_loss, config(1), "cpu")
