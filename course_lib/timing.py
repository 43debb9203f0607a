"""How long a layer takes on the machine at hand, for the comparisons of the lessons (S2, S4).

The lectures say that attention is faster to train than a recurrent network, because none of its steps has to wait for
another. Steps can be counted; time must be measured, and depends on the machine, its load and the length of the input.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor


@torch.no_grad()
def milliseconds(layer: Callable[[Tensor], object], x: Tensor, runs: int = 3) -> float:
    """The fastest of several forward passes: the first one warms up, and another may be disturbed.

    Args:
        layer: what is called, as `layer(x)`, without gradients.
        x: its input. A GPU works in the background, so that the clock waits for it where `x` is on one.
        runs: how often it is called.

    Raises:
        ValueError: `runs` is less than 1.
    """
    if runs < 1:
        raise ValueError(f"runs must be at least 1, not {runs}")
    taken = []
    for _ in range(runs):
        _wait(x)
        start = time.perf_counter()
        layer(x)
        _wait(x)
        taken.append(1000 * (time.perf_counter() - start))
    return min(taken)


def race(
    layers: Mapping[str, Callable[[Tensor], object]],
    lengths: Iterable[int],
    sentences: Callable[[int], Tensor],
    runs: int = 3,
) -> dict[str, list[float]]:
    """The milliseconds of each layer for each length, all on the same input.

    Args:
        layers: what is compared, by name.
        lengths: how many words a sentence has, time after time.
        sentences: makes the input of so many words, on the device that is measured.
        runs: of which the fastest counts.
    """
    taken: dict[str, list[float]] = {name: [] for name in layers}
    for length in lengths:
        x = sentences(length)
        for name, layer in layers.items():
            taken[name].append(milliseconds(layer, x, runs))
    return taken


def _wait(x: Tensor) -> None:
    if x.device.type == "cuda":
        torch.cuda.synchronize(x.device)
