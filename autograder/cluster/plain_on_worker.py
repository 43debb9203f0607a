"""Grades a plain assignment on a worker. A submission arrives as its folder's files, which are opened only here."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from traitlets.config.loader import Config

from autograder.cluster.examining import Examined, why_not
from autograder.cluster.grading_on_worker import GradingOnWorker, Levels, empty_course, write_files
from autograder.cluster.worker import WorkerRefused

if TYPE_CHECKING:
    from autograder.cluster.messages import Opened
    from autograder.grading.plain.strategy import PlainStrategy
    from autograder.grading.strategy import Strategy

_SETTINGS = ("IgnorePattern", "CourseDirectory", "Autograde")
"""The sections of `nbgrader_config.py` that matter for grading a submission."""


class PlainOnWorker(GradingOnWorker):
    """Grades a plain assignment's submissions on a worker; there are no hidden inputs, and so no secret."""

    def __init__(self, name: str, strategy: PlainStrategy, levels: Levels, client: Examined) -> None:
        """Collect everything that the assignment's grades depend on."""
        super().__init__(name, levels, client)
        assignment, course = strategy.assignment, strategy.course
        # pickled: it is opened only where Katze is the same
        self._assignment = pickle.dumps((assignment.name, assignment.notebooks, course.limits, assignment.feedback))
        self._settings = {section: dict(course.config.get(section, {})) for section in _SETTINGS}
        self._files = {file: path.read_bytes() for file, path in assignment.course_files.items()}
        self._doubts = strategy.doubts
        self._versions = strategy.conditions.versions

    def make_strategy(self, scratch: Path) -> Strategy:
        """Return the strategy, and require the same versions of the packages that the assignment's cells import."""
        from autograder.grading.plain.assignment import PlainAssignment
        from autograder.grading.plain.strategy import PlainStrategy

        files = write_files(self._files, scratch / "files")
        name, notebooks, limits, feedback = pickle.loads(self._assignment)  # from the client, not from a student
        course = replace(empty_course(scratch), config=Config(self._settings), limits=limits)
        assignment = PlainAssignment(course, name, notebooks, feedback, files)
        strategy = PlainStrategy(assignment, doubts=self._doubts)
        here, client = (Examined("", versions) for versions in (strategy.conditions.versions, self._versions))
        problem = why_not(here, client)
        if problem:
            raise WorkerRefused(problem)
        return strategy

    def lay_out(self, opened: Opened) -> None:
        """Write the submission's files."""
        from autograder.cluster.messages import unpack

        write_files(unpack(opened.handed_in), opened.task.folder)
