"""Compares the models with their peers, as `benchmarks.transformer` does."""

import logging
from collections.abc import Callable, Iterator

import torch

from benchmarks import transformer
from benchmarks.gpu.results import Tell
from benchmarks.gpu.running import Settings
from benchmarks.table import Row


def _told(compare: Callable[[transformer.Setup], Iterator[Row]]) -> Callable[[Settings, Tell], None]:
    def part(settings: Settings, tell: Tell) -> None:
        logging.getLogger("transformers").setLevel(logging.ERROR)
        setup = transformer.Setup(torch.device(settings.device))
        if settings.tiny:
            setup = transformer.Setup(setup.device, rounds=1, sizes=transformer.TINY)
        for row in compare(setup):
            tell(row)

    return part


step, decoding, compiled, modern, memory = map(
    _told, (transformer.step, transformer.decoding, transformer.compiled, transformer.modern, transformer.memory)
)
