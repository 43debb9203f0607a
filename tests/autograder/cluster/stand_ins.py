"""Grading without grading: a worker and a client side that do what a submission's name says, to see what can go wrong.

Nothing here needs torch, so that workers are there in a second.
"""

import errno
import os
import signal
import time
from pathlib import Path

import msgpack

from autograder.cluster.worker import RunOnWorker, WorkerRefused


class StandInWorker(RunOnWorker):
    """Answers with the submission's name, and writes it into a list of what was graded.

    Args:
        name: of the run.
        folder: where the list is, and what is done only once is noted.
        unfit: the names of workers that cannot take part.
    """

    def __init__(self, name: str, folder: str, unfit: tuple[str, ...] = ()) -> None:
        super().__init__(name)
        self.folder = folder
        self.unfit = unfit

    def open(self, scratch: Path) -> None:
        if str(self._worker.name) in self.unfit:
            raise WorkerRefused("torch is 1.0 there and 2.0 here; install the same versions there")

    def grade(self, task: bytes) -> bytes:
        student = msgpack.unpackb(task)["student"]
        what = student.partition("_")[0]
        once = what.endswith("once")
        if what.startswith("kill") and (not once or self._is_first(student)):
            os.kill(os.getpid(), signal.SIGKILL)
        if what.startswith("stop") and self._is_first(student):
            os.kill(os.getpid(), signal.SIGSTOP)
        if what.startswith("hang") and (not once or self._is_first(student)):
            signal.setitimer(signal.ITIMER_REAL, 0.5)  # as `grade_watched` does
            time.sleep(1000)
        if what.startswith("full") and self._is_first(student):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if what.startswith("slow"):
            time.sleep(0.2)
        if what.startswith("wait"):
            while not (Path(self.folder) / "go on").exists():
                time.sleep(0.02)
        with (Path(self.folder) / "graded").open("a") as file:
            file.write(f"{student} {self._worker.name}\n")
        return task

    def _is_first(self, student: str) -> bool:
        place = Path(self.folder) / f"tried {student}"
        if place.exists():
            return False
        place.touch()
        return True


def graded(folder: Path) -> list[str]:
    """The names of what was graded, in order, with that of the worker behind it."""
    place = folder / "graded"
    return place.read_text().splitlines() if place.exists() else []
