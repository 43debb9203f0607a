"""The models beside their peers, as `benchmarks.transformer` compares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from benchmarks import transformer
from benchmarks.gpu.results import Tell
from benchmarks.gpu.running import Settings
from benchmarks.table import Row

ROUNDS = 10


def _told(compare: Callable[[transformer.Setup], Iterable[Row]]) -> Callable[[Settings, Tell], None]:
    def part(settings: Settings, tell: Tell) -> None:
        for row in compare(transformer.Setup(torch.device(settings.device), 1 if settings.tiny else ROUNDS)):
            tell(row)

    return part


step, decoding, compiled, modern, memory = map(
    _told,
    (transformer.step, transformer.decoding, transformer.compiled, transformer.modern, transformer.memory),
)
