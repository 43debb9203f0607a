"""Fork servers that many runs of the grader have together: each takes three seconds of processor time to start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

MOST = 5
"""Of them at once, each with 300 MB; the one that was asked for longest ago goes first."""


class KeptForkServer:
    """Stands for one that is closed when others need the memory, and not when a run has ended.

    Sandboxes are forks of it, so a run finds none the worse for the runs before.
    """

    def __init__(self, fork_server: Any) -> None:
        self.real = fork_server

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def __enter__(self) -> KeptForkServer:
        self.real.ready()
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def close(self) -> None:
        """A run has ended; there may be another one."""

    @property
    def has_ended(self) -> bool:
        """Whether a test has killed it, or it has closed itself because it could not start."""
        process = self.real._root.process
        return process is None or process.poll() is not None


@contextlib.contextmanager
def kept_between_runs() -> Iterator[None]:
    """Let every run in this process that asks for the same sandboxes as an earlier one have them from the same one."""
    from autograder.box.fork_server.client import ForkServer
    from autograder.grading import early, exercise_strategy, single
    from autograder.grading.plain import strategy

    kept: dict[str, KeptForkServer] = {}

    def take(*arguments: Any, root: object = None, **more: Any) -> KeptForkServer:
        key = repr((arguments, sorted(more.items(), key=str)))
        found = kept.pop(key, None)
        if found is not None and found.has_ended:
            found.real.close()
            found = None
        while len(kept) >= MOST:
            kept.pop(next(iter(kept))).real.close()
        kept[key] = found or KeptForkServer(ForkServer(*arguments, **more))
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        for asks in (exercise_strategy, single, strategy):
            patch.setattr(asks, "ForkServer", take)
        patch.setattr(early, "BoxRoot", lambda *_arguments: None)
        try:
            yield
        finally:
            for one in kept.values():
                one.real.close()
