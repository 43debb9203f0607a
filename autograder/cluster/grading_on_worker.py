"""Grades an assignment's submissions on a worker.

The course itself stays with the client. Everything that its grades depend on arrives as data. A worker writes files in
its own folder, and sends them to the client.
"""

from __future__ import annotations

import contextlib
import shutil
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cluster.examining import Examined, examine_oneself, why_not
from autograder.cluster.worker import RunOnWorker, WorkerRefused
from autograder.course.course import Course
from course_lib.exercises.catalogue import CONFIG_NAME

if TYPE_CHECKING:
    from autograder.cluster.messages import Opened
    from autograder.grading.strategy import Strategy


Levels = tuple[str, str]


class GradingOnWorker(RunOnWorker):
    """Grades an assignment's submissions on a worker, with its own fork server.

    Args:
        name: the name of the run.
        levels: the weakest acceptable sandbox level, or empty for grading's default; and the exact level, or empty for
            the strongest that works.
        client: what the client would grade with.
    """

    def __init__(self, name: str, levels: Levels, client: Examined) -> None:
        super().__init__(name)
        self._levels = levels
        self._client = client

    @abstractmethod
    def make_strategy(self, scratch: Path) -> Strategy:
        """Return the strategy to grade the assignment here, in a course without files.

        Raises:
            WorkerRefused: it would be graded differently.
        """

    @abstractmethod
    def lay_out(self, opened: Opened) -> None:
        """Put the submission where the strategy reads it; its folder exists and is empty."""

    def open(self, scratch: Path) -> None:
        """Examine this worker, and start a fork server."""
        examined = examine_oneself(*self._levels)
        problem = why_not(examined, self._client)
        if problem:
            raise WorkerRefused(problem)
        import torch

        from autograder.box.confinement.levels import Level
        from autograder.grading.workers import limit_own_memory

        limit_own_memory()
        torch.set_num_threads(1)  # as without a cluster: a worker has one core
        self._resources = contextlib.ExitStack()
        self.strategy = self.make_strategy(scratch)
        fork_server = self.strategy.make_fork_server(Level[examined.level])
        self._fork_server = self._resources.enter_context(fork_server)
        self._grade = self.strategy.begin(self._fork_server, 0)

    def grade(self, task: bytes) -> bytes:
        """Grade one submission."""
        from autograder.box.endings import ForkServerEnded
        from autograder.cluster import messages
        from autograder.grading.workers import grade_watched

        strategy, course = self.strategy, self.strategy.course
        opened = messages.open_task(task, course.submitted, strategy.conditions)
        here = replace(opened.task, folder=course.submitted / opened.task.student / strategy.name)
        here.folder.mkdir(parents=True)
        try:
            self.lay_out(replace(opened, task=here))
            try:
                finished = grade_watched(strategy, self._grade, here)
            except ForkServerEnded:
                self._fork_server.revive()
                finished = grade_watched(strategy, self._grade, here)
            files = strategy.written_files(here.student)
            texts = {kind: files[kind].read_text(encoding="utf-8") for kind in finished.record.files}
            return messages.pack_reply(finished, texts)
        finally:
            for folder in course.root.iterdir():
                shutil.rmtree(folder)

    def close(self) -> None:
        """End the fork server."""
        self._resources.close()


def empty_course(folder: Path) -> Course:
    """Create a course without settings in a new folder below this one."""
    root = folder / "course"
    root.mkdir()
    (root / CONFIG_NAME).touch()
    course = Course.find(root)
    (root / CONFIG_NAME).unlink()
    return course


def write_files(files: Mapping[str, bytes], folder: Path) -> dict[str, Path]:
    """Write files into a folder; return their paths by name."""
    places = {name: folder / name for name in files}
    for name, path in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[name])
    return places
