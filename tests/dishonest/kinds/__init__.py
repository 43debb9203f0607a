"""All dishonest submissions, by kind."""

from __future__ import annotations

from collections.abc import Mapping

from tests.dishonest.attempt import Attempt
from tests.dishonest.kinds import (
    caches,
    channels,
    endings,
    exhaustion,
    folders,
    helpers,
    imports,
    memories,
    metadata,
    network,
    pages,
    processes,
    reading,
    runner,
    tensors,
    wires,
)

KINDS: Mapping[str, tuple[Attempt, ...]] = {
    module.__name__.rpartition(".")[2]: module.ATTEMPTS
    for module in (
        helpers,
        runner,
        imports,
        tensors,
        memories,
        reading,
        network,
        processes,
        channels,
        caches,
        wires,
        exhaustion,
        endings,
        pages,
        metadata,
        folders,
    )
}
"""By kind, the submissions of that kind; students' ids are unlike each other across all kinds."""
