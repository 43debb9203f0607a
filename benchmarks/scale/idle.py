"""Workers that grade nothing, to measure what it costs to send a submission elsewhere."""

from pathlib import Path

from autograder.cluster.worker import RunOnWorker

REPLY_BYTES = 200_000
"""About the size of a record, an autograded notebook and a feedback page for lesson 01."""


class IdleWorker(RunOnWorker):
    """Answers at once.

    Args:
        name: the name of the run.
        reply: the size of its answers, in bytes.
    """

    def __init__(self, name: str, reply: int) -> None:
        super().__init__(name)
        self._reply = reply

    def grade(self, task: bytes) -> bytes:
        """Return a reply of zeros."""
        return bytes(self._reply)


def peak_memory() -> int:
    """Return this process's peak memory so far, in bytes."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmHWM"].split()[0]) * 1024
