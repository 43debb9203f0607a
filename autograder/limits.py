"""Limits of a submission: one set for a course, with exceptions for single exercises.

Time is processor time: what an answer computes, on all threads and processes together, is up to the answer, but how
long that takes on a busy machine is not. A sandbox that waits of its own accord (it sleeps, or waits for a lock) may
wait as long as it may compute. The limits on wall-clock time are far higher.

A course sets its limits in `nbgrader_config.py` (see `settings.py`).
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

SystemCalls = Literal["allow-list", "deny-list", "recorded"]
"""The system calls that a sandbox may make: those on a list; all except those on another list; or those on the first,
with a record of refused calls for `katze doctor`."""


@dataclass(frozen=True)
class Limits:
    """Limits of a sandbox.

    Attributes:
        memory_bytes: address space beyond what the libraries already take.
        processor_seconds: processor time of a sandbox; the kernel enforces it for each of its processes.
        file_bytes: the size of a file.
        folder_bytes: everything that a sandbox has on disk: files in its folder, and removed files that it still holds.
        files: number of files and folders.
        open_files: number of open files.
        threads: number of threads.
        output_bytes: the output of a cell.
        frame_bytes: the size of a message.
        cell_seconds: processor time of a cell.
        call_seconds: processor time of a call of an answer.
        submission_seconds: processor time of all sandboxes of a submission together.
        wall_factor: maximum wall-clock time of a cell, a call or a submission, as a multiple of its processor time.
        wall_seconds: the least wall-clock time that each of them gets.
        memory_ceiling_bytes: the largest memory limit of any exercise, if that is more than `memory_bytes`.
        system_calls: the system calls that a sandbox may make, from level L2 on.
    """

    memory_bytes: int = 2 << 30
    processor_seconds: int = 60
    file_bytes: int = 32 << 20
    folder_bytes: int = 256 << 20
    files: int = 10_000
    open_files: int = 64
    threads: int = 256
    output_bytes: int = 1 << 20
    frame_bytes: int = 64 << 20
    cell_seconds: float = 10.0
    call_seconds: float = 10.0
    submission_seconds: float = 60.0
    wall_factor: float = 10.0
    wall_seconds: float = 60.0
    memory_ceiling_bytes: int = 0
    system_calls: SystemCalls = "allow-list"

    def wall(self, seconds: float) -> float:
        """Return the limit on wall-clock time for a limit on processor time."""
        return max(seconds * self.wall_factor, self.wall_seconds)


@dataclass(frozen=True)
class Allowance:
    """Limits for an exercise's answer cell and for calls of its answer; None keeps the course's limit.

    Attributes:
        memory_bytes: as in `Limits`.
        output_bytes: as in `Limits`; for its cell.
        cell_seconds: as in `Limits`; for its cell.
        call_seconds: as in `Limits`; for its calls.
    """

    memory_bytes: int | None = None
    output_bytes: int | None = None
    cell_seconds: float | None = None
    call_seconds: float | None = None

    def changes(self) -> dict[str, Any]:
        """Return the limits that it sets, by name."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}

    def applied(self, limits: Limits) -> Limits:
        """Return these limits with this allowance applied."""
        return dataclasses.replace(limits, **self.changes())


NO_ALLOWANCE = Allowance()


def size(count: float, *, decimal: bool = False) -> str:
    """Return a number of bytes in words: "2 GB", in units of 1024 for limits, or decimal for file sizes."""
    step, digits, largest = (1000, ".0f", 2) if decimal else (1024, ".3g", 3)
    power = min(largest, sum(count >= step**power for power in (1, 2, 3)))
    return f"{count / step**power:{digits if power else 'g'}} {('bytes', 'kB', 'MB', 'GB')[power]}"
