"""Learning-rate schedules: they rise for a while, then fall.

Vaswani et al. (2017), section 5.3; slide S4. Steps count from 1.
"""

import math
from collections.abc import Callable

from course_lib.ground.validation import check_at_least, check_not_negative

Schedule = Callable[[int], float]
"""The learning rate of each step."""


def constant_schedule(rate: float) -> Schedule:
    """Return the same rate at every step.

    Raises:
        ValueError: it is negative or not finite.
    """
    check_not_negative(rate=rate)
    return _from_step_1(lambda step: rate)


def paper_schedule(d_model: int, warmup: int = 4000, factor: float = 1.0) -> Schedule:
    """Return the paper's schedule: linearly up for `warmup` steps, then down with 1 / √step (section 5.3).

    rate(step) = factor · d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)

    Its peak, at step `warmup`, is factor / √(d_model · warmup).

    Raises:
        ValueError: `d_model` or `warmup` is below 1, or `factor` negative or not finite.
    """
    check_at_least(1, d_model=d_model)
    check_not_negative(factor=factor)
    _check_warmup(warmup)
    return _from_step_1(lambda step: factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def inverse_root_schedule(peak: float, warmup: int) -> Schedule:
    """Return the paper's shape with another peak: rate(step) = peak · min(step / warmup, √(warmup / step)).

    Raises:
        ValueError: `warmup` is below 1, or `peak` negative or not finite.
    """
    check_not_negative(peak=peak)
    _check_warmup(warmup)
    return _from_step_1(lambda step: peak * min(step / warmup, math.sqrt(warmup / step)))


def linear_schedule(peak: float, warmup: int, steps: int) -> Schedule:
    """Return a schedule: linearly up to `peak` at step `warmup`, then linearly down to 0 after the last step.

    For a run of known length: the small rates at the end are worth many steps at a larger one. After the last step the
    rate stays 0.

    Raises:
        ValueError: `warmup` is below 1 or above `steps`, or `peak` negative or not finite.
    """
    check_not_negative(peak=peak)
    _check_warmup(warmup, steps)
    return _from_step_1(lambda step: peak * max(0.0, min(step / warmup, (steps + 1 - step) / (steps + 1 - warmup))))


def cosine_schedule(peak: float, warmup: int, steps: int, least: float = 0.0) -> Schedule:
    """Return a schedule: linearly up to `peak` at step `warmup`, then along half a cosine to `least` at the last step.

    rate(step) = least + (peak - least) · (1 + cos(π · (step - warmup) / (steps - warmup))) / 2

    Loshchilov and Hutter (2017), "SGDR", equation 5. After the last step the rate stays at `least`.

    Raises:
        ValueError: `warmup` is below 1 or above `steps`, or a rate negative or not finite.
    """
    check_not_negative(peak=peak, least=least)
    _check_warmup(warmup, steps)

    def rate(step: int) -> float:
        if step <= warmup:
            return peak * step / warmup
        done = min(1.0, (step - warmup) / max(1, steps - warmup))
        return least + (peak - least) * (1 + math.cos(math.pi * done)) / 2

    return _from_step_1(rate)


def _from_step_1(rate: Schedule) -> Schedule:
    def checked(step: int) -> float:
        if step < 1:
            raise ValueError(f"the steps of a training count from 1: there is no step {step}")
        return rate(step)

    return checked


def _check_warmup(warmup: int, steps: int | None = None) -> None:
    if warmup < 1 or (steps is not None and warmup > steps):
        limit = "" if steps is None else f" and at most the {steps} steps of the training"
        raise ValueError(f"the warm-up must have at least 1 step{limit}, got {warmup}")
