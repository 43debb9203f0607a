"""What two of this machine's cores give beside one: the most that two workers could."""

from __future__ import annotations

import multiprocessing
import statistics
import time

import torch


def _compute(_number: int = 0) -> float:
    """The seconds that a second's work takes, half of it Python and half of it multiplications."""
    torch.set_num_threads(1)
    start = time.perf_counter()
    found = 0
    for number in range(5_000_000):
        found += number * number % 7
    matrix = torch.ones(300, 300)
    for _ in range(150):
        matrix = torch.tanh(matrix @ matrix)
    return time.perf_counter() - start


def two_beside_one(rounds: int) -> float:
    """How many times as much two processes do at once, that share nothing, as one alone."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(_compute, (0, 1))  # torch is imported by then
        found = []
        for _ in range(rounds):
            alone = pool.apply(_compute)
            start = time.perf_counter()
            pool.map(_compute, (0, 1), chunksize=1)
            found.append(2 * alone / (time.perf_counter() - start))
    return statistics.median(found)
