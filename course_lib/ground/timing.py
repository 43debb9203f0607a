"""Measures how long a layer takes on this machine, for the comparisons of the lessons (S2, S4).

The lectures say that attention is faster to train than a recurrent network, because none of its steps has to wait for
another. Steps can be counted; time must be measured, and depends on the machine, its load and the length of the input.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import torch
from torch import Tensor


def milliseconds(work: Callable[[], object], runs: int = 3) -> float:
    """The fastest of several runs, after one that warms up: other work on the machine can only make a run longer.

    Args:
        work: what is called. A GPU works in the background; the clock waits for it.
        runs: how many times it is measured.

    Raises:
        ValueError: `runs` is less than 1.
    """
    if runs < 1:
        raise ValueError(f"runs must be at least 1, not {runs}")
    work()
    taken = []
    for _ in range(runs):
        _wait_for_gpu()
        start = time.perf_counter()
        work()
        _wait_for_gpu()
        taken.append(1000 * (time.perf_counter() - start))
    return min(taken)


@torch.no_grad()
def race(
    layers: Mapping[str, Callable[[Tensor], object]],
    lengths: Iterable[int],
    sentences: Callable[[int], Tensor],
    runs: int = 3,
) -> dict[str, list[float]]:
    """The milliseconds of a forward pass of each layer for each length, all on the same input, without gradients.

    Args:
        layers: what is compared, by name.
        lengths: how many words a sentence has, time after time.
        sentences: makes the input of this many words, on the device that is measured.
        runs: how many; the fastest counts.
    """
    taken: dict[str, list[float]] = {name: [] for name in layers}
    for length in lengths:
        x = sentences(length)
        for name, layer in layers.items():
            taken[name].append(milliseconds(partial(layer, x), runs))
    return taken


def _wait_for_gpu() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
