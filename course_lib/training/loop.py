"""Training: one loop for every model of the course.

    for each step: draw batches -> loss -> gradients -> clip them -> move the weights -> now and then validate and save

What is minimised is passed in (`course_lib.objectives.losses` has the common ones); what is learned from is cut into
batches by `course_lib.text.batches`, in the order of `batch_order`; the learning rate follows one of `schedules`; the
losses are kept by `loss_log`. A training can be saved and resumed bit for bit (`checkpoints`), and runs in several
processes under `torchrun` (`processes`).

Vaswani et al. (2017), section 5; slides S2 ("masked training") and S4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from course_lib.ground.modules import evaluating
from course_lib.ground.refusals import require_at_least, require_not_negative, require_shares
from course_lib.text.batches import AnyBatch, TrainingData
from course_lib.training.batch_order import BatchOrder
from course_lib.training.checkpoints import (
    CheckpointError,
    Checkpoints,
    check_optimizer,
    check_weights,
    read_checkpoint,
)
from course_lib.training.loss_log import DivergedError, LossLog
from course_lib.training.precision import Precision, autocast, precision_for, require_precision
from course_lib.training.processes import SharedLoss, World, join_processes
from course_lib.training.progress import ProgressCallback
from course_lib.training.schedules import Schedule

M = TypeVar("M", bound=nn.Module)
B = TypeVar("B", bound=AnyBatch)

Loss = Callable[[M, B], Tensor]
"""The mean loss over a batch's targets."""


@dataclass(frozen=True)
class TrainingConfig:
    """How to train.

    Attributes:
        steps: how often the weights move.
        schedule: the learning rate of each step.
        accumulate: how many batches each step learns from, as if they were one large batch; only one of them is in
            memory at a time.
        clip: the largest norm of all gradients together; longer ones are shortened to it.
        weight_decay: by what share of the learning rate the weights of matrices shrink in each step
            (Loshchilov and Hutter, 2019); biases and norms are left alone.
        betas: Adam's; the paper's by default.
        epsilon: Adam's; the paper's by default.
        precision: of the arithmetic; the weights are kept in single precision in any case. "auto" is `precision_for`.
        seed: of the order of the batches and of dropout.
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

    def __post_init__(self) -> None:
        require_at_least(1, steps=self.steps, accumulate=self.accumulate)
        if not self.clip > 0:  # neither is NaN
            raise ValueError(f"clip must be above 0, got {self.clip}; math.inf never clips")
        require_not_negative(weight_decay=self.weight_decay, epsilon=self.epsilon)
        require_shares(**{f"betas[{i}]": beta for i, beta in enumerate(self.betas)})
        require_precision(self.precision)


@dataclass(frozen=True)
class Validation(Generic[B]):
    """Measuring the loss on data that is not trained on.

    Attributes:
        data: which.
        every: steps from one measurement to the next.
        patience: end the training after this many measurements without a new best one, and go back to the weights of
            the best; None to train to the end and keep the last weights.
    """

    data: TrainingData[B]
    every: int
    patience: int | None = None

    def __post_init__(self) -> None:
        if self.every < 1 or (self.patience is not None and self.patience < 1):
            raise ValueError(f"every and patience must be at least 1, got {self.every} and {self.patience}")


@dataclass(frozen=True)
class TrainingResult:
    """What a training did, the part before it was resumed included.

    Attributes:
        losses: of each step, in nats for each target.
        validations: the loss on the validation data, by step.
        tokens: how many were learned from since the training began or was resumed, padding left out.
        seconds: wall-clock time since then, validation and saving included.
        best_step: where the validation loss was smallest; None without validation.
    """

    losses: list[float]
    validations: dict[int, float]
    tokens: int
    seconds: float
    best_step: int | None


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
) -> TrainingResult:
    """Train `model` in place on `device`, with AdamW.

    Stopped by Ctrl-C, or by an error, it leaves the newest checkpoint as it is; with `resume` the same call goes on
    from there, and ends with the same weights, bit for bit, as if it had never been stopped. What `config` says now
    holds from there on: another schedule, say, or another weight decay.

    Args:
        model: what to train; it is left in training mode.
        data: what to learn from.
        loss: what to minimise.
        config: how long and how.
        device: where to compute; the model is moved there. Under `torchrun`, "cuda" is each process's own GPU.
        validation: what to measure on the way, and whether to stop early.
        checkpoints: where and how often to save.
        resume: go on from the newest checkpoint, if there is one.
        progress: told about every step, in the first process.

    Raises:
        ValueError: the folder holds checkpoints already and `resume` is False, or the data gives no batches.
        CheckpointError: the checkpoint is damaged, or from another model or training.
        DivergedError: a loss, the validation's too, or the gradients are not finite; the message names the step.
    """
    saved = checkpoints.files() if checkpoints else []
    if saved and not resume:
        raise ValueError(f"{saved[-1]} is there already: resume=True goes on from it; or choose another folder")
    content = read_checkpoint(saved[-1]) if saved else None
    world = join_processes(device)
    torch.manual_seed(config.seed + world.rank)
    run = _Run(model, data, loss, config, world, validation, checkpoints, progress if world.is_first else None)
    if content is not None:
        run.restore(content, saved[-1])
    try:
        return run.to_its_end()
    except (KeyboardInterrupt, DivergedError) as error:
        if checkpoints and (left := checkpoints.files()):
            error.add_note(f"The last good checkpoint is {left[-1]}; resume=True goes on from it.")
        raise


@torch.no_grad()
def evaluate(
    model: M,
    data: TrainingData[B],
    loss: Loss[M, B],
    device: torch.device | str,
    precision: Precision = "fp32",
) -> float:
    """The mean loss over all targets of the data, without dropout; the mode of each of the model's modules is restored.

    What a loss draws at random (masked words, say) is the same in every call, and the global generators are left
    as they were.

    Args:
        model: on `device` already.
        data: what to measure on.
        loss: what to measure.
        device: where to compute; under `torchrun` the processes share the batches.
        precision: of the arithmetic.

    Raises:
        ValueError: the data gives no batches, or none with targets.
    """
    world = join_processes(device)
    with torch.random.fork_rng([world.device] if world.device.type == "cuda" else []):
        return _evaluate(model, data, loss, world, precision)


def _evaluate(model: M, data: TrainingData[B], loss: Loss[M, B], world: World, precision: Precision) -> float:
    torch.manual_seed(world.rank)
    total, targets = torch.zeros((), dtype=torch.float64), 0
    with evaluating(model):
        for indices in data.plan(torch.Generator().manual_seed(0))[world.rank :: world.size]:
            batch = data.batch(indices)
            if not batch.targets:
                continue  # a mean over nothing is not a number
            with autocast(world.device, precision):
                mean = loss(model, batch.to(world.device))  # type: ignore[arg-type]  # the same kind of batch
            total, targets = total + mean.cpu().double() * batch.targets, targets + batch.targets
    sums = world.sum([float(total), targets])
    if not sums[1]:
        raise ValueError("there is nothing to evaluate on: the data gives no batches, or none with targets")
    return sums[0] / sums[1]


# --- The loop --------------------------------------------------------------------------------------------------


class _Run(Generic[M, B]):
    """A training under way."""

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
    ) -> None:
        self.order = BatchOrder(data, torch.Generator().manual_seed(config.seed))
        self.model, self.data, self.loss, self.config, self.world = model, data, loss, config, world
        self.validation, self.checkpoints = validation, checkpoints
        self.precision = precision_for(world.device) if config.precision == "auto" else config.precision
        model.to(world.device).train()
        with autocast(world.device, self.precision):
            self.shared_loss = SharedLoss(model, loss, world, self._example() if world.size > 1 else None)
        self.optimizer = _adamw(model, config)
        self.scaler = torch.amp.GradScaler(world.device.type, enabled=self.precision == "fp16")
        self.log = LossLog(world, config.schedule, progress, scaled=self.precision == "fp16")
        self.step = 0
        self.validations: dict[int, float] = {}
        self.best_weights: dict[str, Tensor] | None = None
        self.tokens = 0

    def _example(self) -> AnyBatch | None:
        """A batch of this process with something to predict; None where it has none in this pass."""
        for indices in self.order.plan:
            if (mine := self.world.share(indices)) and (batch := self.data.batch(mine)).targets:
                return batch.to(self.world.device)
        return None

    def to_its_end(self) -> TrainingResult:
        """Take the steps that are left."""
        while self.step < self.config.steps and not self._is_stale():
            self._take_step()
            is_last = self.step == self.config.steps
            if self.validation and (is_last or self.step % self.validation.every == 0):
                self._validate(self.validation)
            if self.checkpoints and (is_last or self.step % self.checkpoints.every == 0 or self._is_stale()):
                self._save(self.checkpoints)
        self.log.settle()
        if self.best_weights is not None:
            self.model.load_state_dict(self.best_weights)
        return TrainingResult(self.log.losses, self.validations, self.tokens, self.log.seconds, self._best_step())

    def _take_step(self) -> None:
        """Learn from the next batches together: every target counts the same, whichever batch it is in."""
        self.step += 1
        batches, targets = self._draw()
        total = sum(targets) if self.world.size == 1 else self.world.sum([sum(targets)])[0]
        if not total:
            raise ValueError(f"the batches of step {self.step} have nothing to predict")
        loss = torch.zeros((), device=self.world.device)
        self.optimizer.zero_grad()
        for i, (batch, count) in enumerate(zip(batches, targets, strict=True), start=1):
            is_last = i == len(batches)  # gradients are exchanged once a step, with those of the last batch
            with self.shared_loss.exchanging(is_last), autocast(self.world.device, self.precision):
                share = self.shared_loss(batch.to(self.world.device), counts=count > 0) * (count / total)
                # DistributedDataParallel takes the mean over the processes; we want the sum.
                self.scaler.scale(share * self.world.size).backward()
            loss += share.detach()
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.log.note(loss, norm, self.tokens)
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.schedule(self.step)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def _draw(self) -> tuple[list[B], list[int]]:
        """Take the next batches: of each the part of this process, and how many of its targets count."""
        batches, targets = [], []
        for _ in range(self.config.accumulate):
            indices = self.order.next()
            mine = self.world.share(indices)
            # All processes must compute something: one without examples takes one that does not count.
            batch = self.data.batch(mine or indices[:1])
            batches.append(batch)
            targets.append(batch.targets if mine else 0)
            self.tokens += batch.tokens if mine else 0
        return batches, targets

    # --- What is looked at on the way ---

    def _validate(self, validation: Validation[B]) -> None:
        self.log.settle()
        loss = evaluate(self.model, validation.data, self.loss, self.world.device, self.precision)
        self.log.require_finite(loss, "validation loss", self.step)
        self.validations[self.step] = loss
        if validation.patience is not None and self._best_step() == self.step:
            self.best_weights = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}

    def _best_step(self) -> int | None:
        return min(self.validations, key=self.validations.__getitem__, default=None)

    def _is_stale(self) -> bool:
        """Whether patience has run out."""
        if not self.validation or self.validation.patience is None or not self.validations:
            return False
        since = [step for step in self.validations if step > (self._best_step() or 0)]
        return len(since) >= self.validation.patience

    # --- Saving and going on ---

    def _save(self, checkpoints: Checkpoints) -> None:
        self.log.settle()
        device = self.world.device
        on_device = torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.empty(0, dtype=torch.uint8)
        content = {
            "settings": self._settings(),
            "step": self.step,
            "model": self.model.state_dict(),
            "best": self.best_weights,
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "order": self.order.state(),
            "random": self.world.gather(torch.get_rng_state()),
            "random_on_device": self.world.gather(on_device),
            "losses": self.log.losses,
            "validations": self.validations,
        }
        if self.world.is_first:
            checkpoints.save(self.step, content)

    def _settings(self) -> dict[str, Any]:
        """What must be as it was for a training to go on as it would have."""
        return {
            "seed": self.config.seed,
            "accumulate": self.config.accumulate,
            "precision": self.precision,
            "processes": self.world.size,
        }

    def restore(self, saved: dict[str, Any], path: Any) -> None:
        """Go back to what was saved, once all of it is known to fit.

        Raises:
            CheckpointError: it is from another model or training.
        """
        check_weights(saved["model"], self.model.state_dict(), path)
        check_optimizer(saved["optimizer"], self.optimizer, path)
        order = BatchOrder.at(self.data, saved["order"])
        # Compared for the pass that was under way: passes differ in how many batches they have.
        found = {**saved["settings"], "batches in a pass": saved["order"]["batches"]}
        for name, ours in {**self._settings(), "batches in a pass": len(order.plan)}.items():
            theirs = found.get(name)
            if theirs != ours:
                raise CheckpointError(f"{path} is from another training: its {name}: {theirs}, this one's: {ours}")
        self.model.load_state_dict(saved["model"])
        groups = [dict(group) for group in self.optimizer.param_groups]
        self.optimizer.load_state_dict(saved["optimizer"])
        for group, ours in zip(self.optimizer.param_groups, groups, strict=True):
            group.update(ours)  # what this configuration says, not what the saved training's said
        self.scaler.load_state_dict(saved["scaler"])
        self.order, self.step = order, saved["step"]
        self.log.losses, self.validations = saved["losses"], saved["validations"]
        self.best_weights = saved["best"]
        torch.set_rng_state(saved["random"][self.world.rank])
        if self.world.device.type == "cuda":
            torch.cuda.set_rng_state(saved["random_on_device"][self.world.rank], self.world.device)


def _adamw(model: nn.Module, config: TrainingConfig) -> torch.optim.AdamW:
    """AdamW in one pass over all weights (fused), with decay for matrices only."""
    weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in weights if p.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in weights if p.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, betas=config.betas, eps=config.epsilon, fused=True)
