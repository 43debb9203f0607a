"""How a box ends: what is said of it, and the clocks that stop it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass

from autograder.box.protocol import OUT_OF_MEMORY_STATUS
from autograder.limits import Limits, size
from course_lib.checking.observation import Outcome


class BoxLost(Exception):
    """A box has ended, or had to be ended.

    Attributes:
        outcome: `timed_out`, `out_of_memory` or `died`.
        reason: a clause on how, for the student; of a sealed box no more than the outcome says.
        seconds: where a clock has stopped it, after how long.
        out_of_time: whether that was the time for the whole submission, so that nothing can follow.
    """

    def __init__(self, outcome: Outcome, reason: str, seconds: float | None = None, out_of_time: bool = False) -> None:
        super().__init__(f"{outcome}: {reason}")
        self.outcome = outcome
        self.reason = reason
        self.seconds = seconds
        self.out_of_time = out_of_time


_NAMED_SIGNALS = frozenset(int(known) for known in signal.Signals)
"""Real-time signals have no names in Python, but for the first and the last."""

SEALED_REASONS = {
    Outcome.TIMED_OUT: "it took too long",
    Outcome.OUT_OF_MEMORY: "it ran out of memory",
    Outcome.DIED: "its process ended",
}
"""All that is said of a box that has seen hidden inputs: an exit status or a signal of its choice could tell them."""


class BoxUnavailable(Exception):
    """No box could be opened: the grader's own failure, not a student's."""


@dataclass(frozen=True)
class Clock:
    """When to give up waiting.

    Attributes:
        deadline: by the monotonic clock.
        seconds: after how long that is.
        out_of_time: whether it ends the whole submission.
    """

    deadline: float
    seconds: float
    out_of_time: bool = False

    @property
    def reason(self) -> str:
        """What to say when it has stopped a box."""
        if self.out_of_time:
            return "the time for the whole submission was used up"
        return f"it took longer than {self.seconds:g} s"

    @classmethod
    def of(cls, seconds: float, out_of_time: bool = False) -> Clock:
        """A clock that starts now."""
        return cls(time.monotonic() + seconds, seconds, out_of_time)


def cause(status: int, limits: Limits, memory_kill: bool) -> tuple[Outcome, str]:
    """Why a process ended, from its wait status."""
    if os.WIFEXITED(status):
        code = os.WEXITSTATUS(status)
        if code == OUT_OF_MEMORY_STATUS:
            return Outcome.OUT_OF_MEMORY, f"it needed more than {size(limits.memory_bytes)} of memory"
        return Outcome.DIED, f"its process ended with exit status {code}"
    number = os.WTERMSIG(status)
    if number == signal.SIGXCPU:
        return Outcome.TIMED_OUT, f"it used more than {limits.processor_seconds} s of processor time"
    if number == signal.SIGKILL and memory_kill:
        return Outcome.OUT_OF_MEMORY, "the machine ran out of memory"
    name = signal.Signals(number).name if number in _NAMED_SIGNALS else f"signal {number}"
    return Outcome.DIED, f"its process was ended by {name}"


def memory_kills() -> int:
    """How many processes this machine has killed for memory so far; 0 where nobody counts."""
    with contextlib.suppress(OSError, ValueError), open("/proc/vmstat") as file:
        for line in file:
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
