"""Training: one loop for every model of the course.

    for each step: draw batches -> loss -> gradients -> clip them -> update weights -> now and then validate and save

The loss is passed in (`course_lib.objectives.losses` has the common ones); `course_lib.text.batches` cuts the data into
batches, in the order of `batch_order`; the learning rate follows one of `schedules`; `loss_log` keeps the losses. A run
can be saved and resumed bit for bit (`checkpoints`), and can run in several processes under `torchrun` (`distributed`).

Vaswani et al. (2017), section 5; slides S2 ("masked training") and S4.
"""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from course_lib.ground.modules import evaluating
from course_lib.ground.validation import check_at_least, check_not_negative, check_one_of, check_probability
from course_lib.text.batches import AnyBatch, TrainingData
from course_lib.training.activation_checkpointing import recomputing
from course_lib.training.batch_order import BatchOrder
from course_lib.training.checkpoints import (
    BackgroundSaves,
    CheckpointError,
    Checkpoints,
    check_optimizer,
    check_weights,
    load_weights,
    read_checkpoint,
    uncompiled,
    weights_of,
)
from course_lib.training.cuda_graphs import RecordedGradients
from course_lib.training.distributed import SharedLoss, World, join_processes
from course_lib.training.loss_log import DivergedError, LossLog
from course_lib.training.optimizers import OptimizerName, make_optimizers
from course_lib.training.precision import Precision, autocast, precision_for
from course_lib.training.prefetch import Prefetch
from course_lib.training.progress import ProgressCallback
from course_lib.training.schedules import Schedule

M = TypeVar("M", bound=nn.Module)
B = TypeVar("B", bound=AnyBatch)

Loss = Callable[[M, B], Tensor]
"""The mean loss over a batch's targets."""


@dataclass(frozen=True)
class TrainingConfig:
    """The settings of a training run.

    Attributes:
        steps: the number of weight updates.
        schedule: the learning rate of each step.
        accumulate: the number of batches that each step learns from, as if they were one large batch; only one is in
            memory at a time.
        clip: the largest norm of all gradients together; larger gradients are scaled down to it.
        weight_decay: the share of the learning rate by which the weights of matrices shrink in each step (Loshchilov
            and Hutter, 2019); biases and norms are left alone.
        betas: Adam's; the paper's by default.
        epsilon: Adam's; the paper's by default.
        optimizer: "adamw"; or "muon" for the matrices of the blocks, with AdamW for the rest.
        recompute: keep only the inputs of the model's blocks, and compute the blocks again for the gradients
            (activation checkpointing): less memory, a third more time.
        graphs: on a GPU, launch each step as one CUDA graph (`training.cuda_graphs`): several times as fast for a small
            model whose batches have few shapes; each new shape takes a second. On other devices, and in several
            processes, it has no effect.
        precision: the precision of the arithmetic; weights always stay in single precision. "auto" is `precision_for`.
        seed: the seed of the order of the batches and of dropout.
    """

    steps: int
    schedule: Schedule
    accumulate: int = 1
    clip: float = 1.0
    weight_decay: float = 0.0
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-9
    precision: Precision = "auto"
    seed: int = 0
    optimizer: OptimizerName = "adamw"
    recompute: bool = False
    graphs: bool = False

    def __post_init__(self) -> None:
        check_at_least(1, steps=self.steps, accumulate=self.accumulate)
        if not callable(self.schedule):
            raise TypeError(
                "schedule must say the learning rate of each step, as those of course_lib.training.schedules do: "
                f"constant_schedule({self.schedule!r}), say, instead of {self.schedule!r}"
            )
        if not self.clip > 0:  # NaN fails this test, too
            raise ValueError(f"clip must be above 0, got {self.clip}; math.inf never clips")
        check_not_negative(weight_decay=self.weight_decay, epsilon=self.epsilon)
        check_probability(**{f"betas[{i}]": beta for i, beta in enumerate(self.betas)})
        check_one_of(Precision, precision=self.precision)
        check_one_of(OptimizerName, optimizer=self.optimizer)
        self.require_possible(self.precision)

    def require_possible(self, precision: Precision) -> None:
        """Refuse settings that exclude each other, once "auto" is resolved.

        Raises:
            ValueError: two settings exclude each other; the message says what to choose instead.
        """
        if self.graphs and self.recompute:
            raise ValueError("what is computed twice cannot be recorded as a graph; choose graphs or recompute")
        if precision == "fp16" and self.optimizer == "muon":
            raise ValueError("muon and the AdamW beside it may skip different steps; choose precision 'bf16' or 'fp32'")


@dataclass(frozen=True)
class Validation(Generic[B]):
    """How to measure the loss on data that is not trained on.

    Attributes:
        data: the data to measure on.
        every: the number of steps from one measurement to the next.
        patience: end training after this many measurements without a new best one, and restore the best weights; None
            to train to the end and keep the last weights.
    """

    data: TrainingData[B]
    every: int
    patience: int | None = None

    def __post_init__(self) -> None:
        if self.every < 1 or (self.patience is not None and self.patience < 1):
            raise ValueError(f"every and patience must be at least 1, got {self.every} and {self.patience}")


@dataclass(frozen=True)
class TrainingResult:
    """The result of a training run, including the part before it was resumed.

    Attributes:
        losses: the loss of each step, in nats per target.
        validations: the loss on the validation data, by step.
        tokens: the number of tokens learned from since training began or was resumed, without padding.
        seconds: wall-clock time since then, validation and saving included.
    """

    losses: list[float]
    validations: dict[int, float]
    tokens: int
    seconds: float


def train(
    model: M,
    data: TrainingData[B],
    loss: Loss[M, B],
    config: TrainingConfig,
    device: torch.device | str,
    *,
    validation: Validation[B] | None = None,
    checkpoints: Checkpoints | None = None,
    resume: bool = False,
    progress: ProgressCallback | None = None,
    workers: int = 0,
) -> TrainingResult:
    """Train `model` in place on `device`.

    Stopped by Ctrl-C or an error, it leaves the newest checkpoint as it is; with `resume`, the same call continues from
    there and ends with the same weights, bit for bit, as if it had never been stopped. From there on, the present
    `config` applies: another schedule, say, or another weight decay.

    Args:
        model: what to train; it is left in training mode.
        data: what to learn from.
        loss: what to minimize.
        config: how long and how.
        device: where to compute; the model is moved there. Under `torchrun`, "cuda" is each process's own GPU.
        validation: what to measure on the way, and whether to stop early.
        checkpoints: where and how often to save.
        resume: continue from the newest checkpoint, if there is one.
        progress: called after every step, in the first process.
        workers: the number of processes that make the next batches while the model learns from this one; the result is
            the same with any number.

    Raises:
        TypeError: `data` cannot be cut into batches again, as a `DataLoader` cannot.
        ValueError: the folder holds checkpoints already and `resume` is False, or the data gives no batches.
        CheckpointError: the checkpoint is damaged, or from another model or run.
        DivergedError: a loss (of training or validation) or the gradients are not finite; the message names the step.
    """
    for given in (data, *([validation.data] if validation else ())):
        if not (hasattr(given, "plan") and hasattr(given, "batch")):
            raise TypeError(
                f"train plans its own batches, so that it can resume bit for bit, and takes no {type(given).__name__}: "
                "give it data with plan(generator) and batch(indices), such as those of course_lib.text.batches"
            )
    saved = checkpoints.files() if checkpoints else []
    if saved and not resume:
        raise ValueError(f"{saved[-1]} exists already: resume=True continues from it; or choose another folder")
    content = read_checkpoint(saved[-1]) if saved else None
    world = join_processes(device)
    torch.manual_seed(config.seed + world.rank)
    told = progress if world.is_first else None
    run = _Run(model, data, loss, config, world, validation, checkpoints, told, workers)
    if content is not None:
        run.restore(content, saved[-1])
    try:
        return run.to_its_end()
    except (KeyboardInterrupt, DivergedError) as error:
        run.close()
        if checkpoints and (left := checkpoints.files()):
            error.add_note(f"The last good checkpoint is {left[-1]}; resume=True continues from it.")
        raise
    finally:
        run.close()


@torch.no_grad()
def evaluate(
    model: M,
    data: TrainingData[B],
    loss: Loss[M, B],
    device: torch.device | str,
    precision: Precision = "fp32",
) -> float:
    """Return the mean loss over all targets of the data, without dropout; each of the model's modules keeps its mode.

    The loss's random draws (masked tokens, say) are the same in every call, and the global generators are left
    unchanged.

    Args:
        model: on `device` already.
        data: the data to measure on.
        loss: the loss to measure.
        device: where to compute; under `torchrun` the processes share the batches.
        precision: the precision of the arithmetic.

    Raises:
        ValueError: the data gives no batches, or none with targets.
    """
    world = join_processes(device)
    plan = data.plan(torch.Generator().manual_seed(0))
    total, targets = torch.zeros((), dtype=torch.float64), 0
    with torch.random.fork_rng([world.device] if world.device.type == "cuda" else []), evaluating(model):
        torch.manual_seed(world.rank)
        for indices in world.share(plan):
            batch: Any = data.batch(indices)
            if not batch.targets:
                continue  # a mean over nothing is not a number
            with autocast(world.device, precision):
                mean = loss(model, batch.to(world.device))
            total, targets = total + mean.cpu().double() * batch.targets, targets + batch.targets
    sums = world.sum([float(total), targets])
    if not sums[1]:
        raise ValueError("there is nothing to evaluate on: the data gives no batches, or none with targets")
    return sums[0] / sums[1]


BEFORE = {"optimizer": "adamw"}
"""Settings that older checkpoints lack, since there was no choice yet when they were saved."""


# --- The loop --------------------------------------------------------------------------------------------------


class _Run(Generic[M, B]):
    """A training run in progress."""

    def __init__(
        self,
        model: M,
        data: TrainingData[B],
        loss: Loss[M, B],
        config: TrainingConfig,
        world: World,
        validation: Validation[B] | None,
        checkpoints: Checkpoints | None,
        progress: ProgressCallback | None,
        workers: int,
    ) -> None:
        self.order = BatchOrder(data, torch.Generator().manual_seed(config.seed))
        self.model, self.data, self.loss, self.config, self.world = model, data, loss, config, world
        self.workers, self.batches = workers, Prefetch(data, self.order, world.share_or_first, workers, world.device)
        self.validation, self.checkpoints = validation, checkpoints
        self.saves = BackgroundSaves(checkpoints) if checkpoints else None
        self.precision = precision_for(world.device) if config.precision == "auto" else config.precision
        config.require_possible(self.precision)
        model.train().to(world.device)
        with autocast(world.device, self.precision):
            self.shared_loss = SharedLoss(model, loss, world, self._example() if world.size > 1 else None)
        self.optimizer = make_optimizers(
            config.optimizer, model, weight_decay=config.weight_decay, betas=config.betas, epsilon=config.epsilon
        )
        self.recorded: RecordedGradients | None = None
        if config.graphs and world.size == 1 and world.device.type == "cuda":
            self.recorded = RecordedGradients(self.model, self._gradients, world.device)
        self.scaler = torch.amp.GradScaler(world.device.type, enabled=self.precision == "fp16")
        self.log = LossLog(world, config.schedule, progress, scaled=self.precision == "fp16")
        self.step = 0
        self.saved_at = time.perf_counter()
        self.validations: dict[int, float] = {}
        self.best_weights: dict[str, Tensor] | None = None
        self.tokens = 0

    def _example(self) -> AnyBatch | None:
        """Return a batch of this process with something to predict; None if this pass has none."""
        for indices in self.order.plan:
            mine = self.world.share(indices)
            if mine and (batch := self.data.batch(mine)).targets:
                return batch.to(self.world.device)
        return None

    def to_its_end(self) -> TrainingResult:
        """Take the remaining steps."""
        with recomputing(self.model) if self.config.recompute else nullcontext():
            self._take_steps()
        self.log.settle()
        if self.best_weights is not None:
            load_weights(self.model, self.best_weights)
        if self.saves:
            self.saves.wait()
            self.world.wait()  # otherwise another process might look for the last checkpoint too early
        return TrainingResult(self.log.losses, self.validations, self.tokens, self.log.seconds)

    def _take_steps(self) -> None:
        while self.step < self.config.steps and not self._is_stale():
            self._take_step()
            is_last = self.step == self.config.steps
            if self.validation and (is_last or self.step % self.validation.every == 0):
                self._validate(self.validation)
            if self.checkpoints and (self._is_stale() or self._is_time_to_save(self.checkpoints)):
                self._save()
                self.saved_at = time.perf_counter()

    def _is_time_to_save(self, checkpoints: Checkpoints) -> bool:
        due = checkpoints.are_due(self.step, self.config.steps, time.perf_counter() - self.saved_at)
        return self.world.sum([due and self.world.is_first])[0] > 0  # one clock decides for all

    def _take_step(self) -> None:
        """Learn from the next batches together, with equal weight for every target, whichever batch it is in."""
        self.step += 1
        batches, targets = self._draw()
        total = sum(targets) if self.world.size == 1 else self.world.sum([sum(targets)])[0]
        if not total:
            raise ValueError(f"the batches of step {self.step} have nothing to predict")
        loss = torch.zeros((), device=self.world.device)
        self.optimizer.zero_grad(keep=self.recorded is not None)
        for i, (batch, count) in enumerate(zip(batches, targets, strict=True), start=1):
            if self.recorded is not None:
                loss += self.recorded(batch, count / total)
                continue
            with self.shared_loss.exchanging(i == len(batches)):  # once a step, with the last batch
                loss += self._gradients(batch.to(self.world.device), count / total, counts=count > 0)
        self.optimizer.unscale(self.scaler)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.log.note(loss, norm, self.tokens)
        self.optimizer.step(self.config.schedule(self.step), self.scaler)

    def _gradients(self, batch: Any, weight: float | Tensor, *, counts: bool = True) -> Tensor:
        """Return a batch's loss times its weight, and add its gradients to the weights' own."""
        with autocast(self.world.device, self.precision):
            share = self.shared_loss(batch, counts=counts) * weight
        # DistributedDataParallel takes the mean over the processes; we want the sum.
        self.scaler.scale(share * self.world.size).backward()
        return share.detach()

    def _draw(self) -> tuple[list[B], list[int]]:
        """Take this process's part of each of the next batches, and the number of targets that count in it."""
        batches, targets = [], []
        for _ in range(self.config.accumulate):
            indices, batch = self.batches.next()
            mine = self.world.share(indices)
            batches.append(batch)
            targets.append(batch.targets if mine else 0)
            self.tokens += batch.tokens if mine else 0
        return batches, targets

    # --- Validating on the way ---

    def _validate(self, validation: Validation[B]) -> None:
        self.log.settle()
        loss = evaluate(self.model, validation.data, self.loss, self.world.device, self.precision)
        self.log.check_finite(loss, "validation loss", self.step)
        self.validations[self.step] = loss
        if validation.patience is not None and self._best_step() == self.step:
            self.best_weights = {name: tensor.clone() for name, tensor in weights_of(self.model).items()}

    def _best_step(self) -> int | None:
        return min(self.validations, key=self.validations.__getitem__, default=None)

    def _is_stale(self) -> bool:
        """Return whether patience has run out."""
        if not self.validation or self.validation.patience is None or not self.validations:
            return False
        since = [step for step in self.validations if step > (self._best_step() or 0)]
        return len(since) >= self.validation.patience

    # --- Saving and resuming ---

    def close(self) -> None:
        """End the run's background work, after finishing the current checkpoint."""
        if self.saves:
            self.saves.close()
        self.batches.close()
        self.recorded = None  # else its reference to this run would keep the graphs' memory until garbage collection

    def _save(self) -> None:
        self.log.settle()
        device = self.world.device
        on_device = torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.empty(0, dtype=torch.uint8)
        content = {
            "settings": self._settings(),
            "step": self.step,
            "model": weights_of(self.model),
            "best": self.best_weights,
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "order": self.batches.state(),
            "random": self.world.gather(torch.get_rng_state()),
            "random_on_device": self.world.gather(on_device),
            "losses": self.log.losses,
            "validations": self.validations,
        }
        if self.saves and self.world.is_first:
            self.saves.save(self.step, content)

    def _settings(self) -> dict[str, Any]:
        """Return the settings that must not change for a run to resume exactly."""
        return {
            "seed": self.config.seed,
            "accumulate": self.config.accumulate,
            "precision": self.precision,
            "processes": self.world.size,
            "optimizer": self.config.optimizer,
        }

    def restore(self, saved: dict[str, Any], path: Any) -> None:
        """Restore what was saved, once all of it is known to fit.

        Raises:
            CheckpointError: it is from another model or run.
        """
        weights = uncompiled(saved["model"])
        check_weights(weights, weights_of(self.model), path)
        order = BatchOrder.at(self.data, saved["order"])
        # Compared within the interrupted pass, since passes differ in their numbers of batches.
        found = {**BEFORE, **saved["settings"], "batches in a pass": saved["order"]["batches"]}
        for name, ours in {**self._settings(), "batches in a pass": len(order.plan)}.items():
            theirs = found.get(name)
            if theirs != ours:
                raise CheckpointError(f"{path} is from another training run: its {name}: {theirs}, this one's: {ours}")
        check_optimizer(saved["optimizer"], self.optimizer, path)
        load_weights(self.model, weights)
        self.optimizer.load_state_dict(saved["optimizer"])
        self.scaler.load_state_dict(saved["scaler"])
        self.order, self.step = order, saved["step"]
        self.batches = Prefetch(self.data, order, self.world.share_or_first, self.workers, self.world.device)
        self.log.losses, self.validations = saved["losses"], saved["validations"]
        if saved["best"] is not None:
            self.best_weights = uncompiled(saved["best"])
        torch.set_rng_state(saved["random"][self.world.rank])
        if self.world.device.type == "cuda":
            torch.cuda.set_rng_state(saved["random_on_device"][self.world.rank], self.world.device)
