"""Explains how and why a sandbox ended."""

import contextlib
import os
import signal
from dataclasses import dataclass

from autograder.box.protocol import OUT_OF_MEMORY_STATUS
from autograder.limits import Limits, size
from course_lib.judging.observation import Outcome


@dataclass(eq=False)
class BoxLost(Exception):
    """A sandbox ended, or had to be ended.

    Attributes:
        outcome: `timed_out`, `out_of_memory` or `died`.
        reason: a clause that says how; for a sealed sandbox, it says no more than the outcome.
        setting: the limit that it hit, by its name in `nbgrader_config.py`; empty if none.
        out_of_time: whether the whole submission is out of time, so that nothing else can run.
        starved: whether it hit a time limit although the machine had given it less than half of that time.
    """

    outcome: Outcome
    reason: str
    setting: str = ""
    out_of_time: bool = False
    starved: bool = False

    def __str__(self) -> str:
        return f"{self.outcome}: {self.reason}"

    @property
    def for_student(self) -> str:
        """Return the reason for a student, who doesn't need to know about processes."""
        return PYTHON_ENDED if self.reason.startswith(_ENDINGS_OF_PYTHON) else self.reason


_NAMED_SIGNALS = frozenset(int(known) for known in signal.Signals)
"""Real-time signals have no names in Python, except the first and the last."""

SEALED_REASONS = {
    Outcome.TIMED_OUT: "it took too long",
    Outcome.OUT_OF_MEMORY: "it ran out of memory",
    Outcome.DIED: "its process ended",
}
"""All that a message says of a sandbox that has seen hidden inputs: an exit status of its choice could reveal them."""

PYTHON_ENDED = "Python itself exited (by os._exit, or in a crash)"
"""What a student reads when a sandbox has ended by itself, however it did."""

_ENDINGS_OF_PYTHON = ("its process", "it broke the protocol", "it closed its connection", "the code has broken")
"""Starts of reasons that mean nothing to a student."""


class BoxUnavailable(Exception):
    """No sandbox could be opened: a failure of the grader, not of a student."""


class ForkServerEnded(BoxUnavailable):
    """The fork server has ended; another one can be started."""


def cause(status: int, limits: Limits, memory_kill: bool) -> tuple[Outcome, str, str]:
    """Return why a process ended, from its wait status: the outcome, the reason, and the limit that it hit, if any."""
    if os.WIFEXITED(status):
        code = os.WEXITSTATUS(status)
        if code == OUT_OF_MEMORY_STATUS:
            return Outcome.OUT_OF_MEMORY, more_memory(limits), "memory_bytes"
        return Outcome.DIED, f"its process ended with exit status {code}", ""
    number = os.WTERMSIG(status)
    if number == signal.SIGXCPU:
        reason = f"it used more than {limits.processor_seconds} s of processor time"
        return Outcome.TIMED_OUT, reason, "processor_seconds"
    if number == signal.SIGKILL and memory_kill:
        return Outcome.OUT_OF_MEMORY, "the machine ran out of memory", ""
    name = signal.Signals(number).name if number in _NAMED_SIGNALS else f"signal {number}"
    return Outcome.DIED, f"its process was ended by {name}", ""


def more_memory(limits: Limits) -> str:
    """Return the message about code that has hit the memory limit."""
    return f"it needed more memory than the {size(limits.memory_bytes)} that it may use"


def memory_kills() -> int:
    """Return how many processes this machine has killed for lack of memory; 0 if the system does not count them."""
    with contextlib.suppress(OSError, ValueError), open("/proc/vmstat") as file:
        for line in file:
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
