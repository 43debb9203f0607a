"""Measures how long a layer takes on this machine, for the comparisons of the lessons (S2, S4).

The lectures say that attention is faster to train than a recurrent network, because no step has to wait for another.
Steps can be counted, but time must be measured: it depends on the machine, its load and the length of the input.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import torch
from torch import Tensor


def milliseconds(work: Callable[[], object], runs: int = 3) -> float:
    """Return the fastest of several runs after a warm-up, since other work on the machine can only make runs longer.

    Args:
        work: the function to call. A GPU works in the background; the clock waits for it.
        runs: the number of measurements.

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
    """Return each layer's milliseconds for a forward pass at each length, on the same input, without gradients.

    Args:
        layers: the layers to compare, by name.
        lengths: the numbers of words in a sentence to measure.
        sentences: makes an input of this many words, on the device to measure.
        runs: the number of measurements, of which the fastest counts.
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
