"""The losses of a training run, step by step: stored, reported, and checked to be finite."""

import math
import time

from jaxtyping import Float
from torch import Tensor

from course_lib.training.distributed import World
from course_lib.training.progress import ProgressCallback, TrainingStep
from course_lib.training.schedules import Schedule

READ_TOGETHER = 10
"""The number of steps whose losses are read back from a GPU at once: waiting for each would leave it idle."""


class DivergedError(ValueError):
    """The loss or the gradients are no longer finite."""


class LossLog:
    """The loss of each step, in nats per target.

    Attributes:
        losses: those read back so far, in order.
    """

    def __init__(self, world: World, schedule: Schedule, progress: ProgressCallback | None, *, scaled: bool) -> None:
        """Begin a log.

        Args:
            world: the processes, each of which has a share of every loss.
            schedule: the learning rate of each step.
            progress: called after every step.
            scaled: whether the loss is scaled (fp16), so that gradients out of range are normal.
        """
        self.losses: list[float] = []
        self._world, self._schedule, self._progress, self._scaled = world, schedule, progress, scaled
        self._noted: list[tuple[Tensor, Tensor, int]] = []  # loss, norm and tokens, not yet read back from the device
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Wall-clock time since the log began."""
        return time.perf_counter() - self._began

    def note(self, loss: Float[Tensor, ""], norm: Float[Tensor, ""], tokens: int) -> None:
        """Record a step, and read back the losses once enough have gathered.

        Args:
            loss: this process's share.
            norm: the norm of all gradients together, before clipping.
            tokens: the number of tokens learned from so far.

        Raises:
            DivergedError: a loss or a norm is not finite.
        """
        self._noted.append((loss, norm, tokens))
        if self._world.device.type != "cuda" or len(self._noted) == READ_TOGETHER:
            self.settle()

    def settle(self) -> None:
        """Read back all recorded steps.

        Raises:
            DivergedError: a loss or a norm is not finite; the message names the step.
        """
        if not self._noted:
            return
        losses = self._world.sum([float(loss) for loss, _, _ in self._noted])
        noted, self._noted = self._noted, []
        for loss, (_, norm, tokens) in zip(losses, noted, strict=True):
            number = len(self.losses) + 1
            self.check_finite(loss, "loss", number)
            if not self._scaled:  # a scaler skips steps whose gradients are out of range
                self.check_finite(float(norm), "norm of the gradients", number)
            self.losses.append(loss)
            if self._progress:
                self._progress(TrainingStep(number, loss, self._schedule(number), tokens, self.seconds))

    def check_finite(self, value: float, what: str, number: int) -> None:
        """Refuse a value that is infinite or NaN.

        Args:
            value: the number.
            what: its name, such as "loss".
            number: the step that it belongs to.

        Raises:
            DivergedError: it is NaN or infinite; the message names it and the step.
        """
        if not math.isfinite(value):
            raise DivergedError(
                f"the {what} of step {number} is {value}, with a learning rate of {self._schedule(number):.3g}; a "
                "smaller rate, a longer warm-up or a smaller clip may help, unless the data or the loss itself is at "
                "fault"
            )
