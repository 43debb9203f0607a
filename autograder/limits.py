"""What a submission may use: one set of limits for a course, with exceptions for single exercises.

Time is processor time: what an answer computes, on all threads and processes together, is its own, and how long that
takes on a busy machine is not. A sandbox that waits by its own doing (it sleeps, or wants a lock) may do so for as many
seconds as it may compute. The wall clock comes far behind both.

A course sets them in `nbgrader_config.py` (see `settings.py`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

SystemCalls = Literal["allow-list", "deny-list", "recorded"]
"""Which calls of the kernel a sandbox may make: those on a list, all but those on another, or as with the first, with a
record of what was refused, for `katze doctor`."""


@dataclass(frozen=True)
class Limits:
    """What a sandbox may use.

    Attributes:
        memory_bytes: address space beyond what the libraries already take.
        processor_seconds: processor time of one sandbox, which the kernel holds each of its processes to.
        file_bytes: the largest file.
        folder_bytes: all that the sandbox has on disk: files in its folder, and removed ones that it still holds.
        files: files and folders of the sandbox.
        open_files: open files.
        threads: threads of the sandbox.
        output_bytes: what one cell may show.
        frame_bytes: what may cross at once.
        cell_seconds: processor time of one cell.
        call_seconds: processor time of one call of an answer.
        submission_seconds: processor time of all sandboxes of a submission together.
        wall_factor: how many times as long a cell, a call or a submission is awaited at most, by the clock.
        wall_seconds: how long each of them is awaited at least, if it does not end.
        memory_ceiling_bytes: the most memory that an exercise is allowed, where that is more than `memory_bytes`.
        system_calls: which calls of the kernel a sandbox may make, from level L2 on.
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
        """How long to await what may compute for this many seconds."""
        return max(seconds * self.wall_factor, self.wall_seconds)


@dataclass(frozen=True)
class Allowance:
    """What one exercise's answer cell and the calls of its answer may use instead; None leaves a limit as it is.

    Attributes:
        memory_bytes: as in `Limits`.
        output_bytes: as in `Limits`; of its cell.
        cell_seconds: as in `Limits`; of its cell.
        call_seconds: as in `Limits`; of its calls.
    """

    memory_bytes: int | None = None
    output_bytes: int | None = None
    cell_seconds: float | None = None
    call_seconds: float | None = None

    def changes(self) -> dict[str, Any]:
        """What it says, by the names of the limits."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}

    def applied(self, limits: Limits) -> Limits:
        """These limits, with what is allowed instead."""
        return dataclasses.replace(limits, **self.changes())


NO_ALLOWANCE = Allowance()


def size(count: float, *, decimal: bool = False) -> str:
    """A number of bytes in words: "2 GB", in units of 1024, since limits are set in them; file sizes are decimal."""
    step, digits, largest = (1000, ".0f", 2) if decimal else (1024, ".3g", 3)
    power = min(largest, sum(count >= step**power for power in (1, 2, 3)))
    return f"{count / step**power:{digits if power else 'g'}} {('bytes', 'kB', 'MB', 'GB')[power]}"
