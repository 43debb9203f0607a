"""Workers that grade nothing, to see what it costs to have a submission graded elsewhere."""

from __future__ import annotations

from pathlib import Path

from autograder.cluster.worker import RunOnWorker

REPLY_BYTES = 200_000
"""About what a record, an autograded notebook and a feedback page of lesson 01 have."""


class IdleWorker(RunOnWorker):
    """Answers at once.

    Args:
        name: of the run.
        reply: the bytes that it answers with.
    """

    def __init__(self, name: str, reply: int) -> None:
        super().__init__(name)
        self._reply = reply

    def grade(self, task: bytes) -> bytes:
        """A reply of zeros."""
        return bytes(self._reply)


def peak_memory() -> int:
    """The most bytes of memory that this process has had so far."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmHWM"].split()[0]) * 1024
