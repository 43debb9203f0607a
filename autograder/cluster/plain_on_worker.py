"""Grades a plain assignment on a worker. A submission arrives as its folder's files, which are opened only here."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets.config.loader import Config

from autograder.cluster.examining import Examined, why_not
from autograder.cluster.grading_on_worker import GradingOnWorker, empty_course, write_files
from autograder.cluster.worker import WorkerRefused

if TYPE_CHECKING:
    from autograder.cluster.messages import Opened
    from autograder.grading.plain.strategy import PlainStrategy
    from autograder.grading.strategy import Strategy

_SETTINGS = ("IgnorePattern", "CourseDirectory", "Autograde")
"""The sections of `nbgrader_config.py` that matter for grading a submission."""


@dataclass(frozen=True)
class PlainOrder:
    """Everything that the grades of a plain assignment depend on.

    Attributes:
        assignment: its name, notebooks, limits, and whether it gets feedback pages, pickled: workers have the same
            Katze.
        settings: nbgrader's settings that matter here, by section.
        files: the files that every submission gets besides its notebooks, by path.
        doubts: what the sandbox refused when the course's own solution ran, by test.
        versions: the versions that the client would grade with.
    """

    assignment: bytes
    settings: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, bytes]
    doubts: Mapping[str, tuple[str, ...]]
    versions: Mapping[str, str]

    @classmethod
    def of(cls, strategy: PlainStrategy) -> PlainOrder:
        """Return the order to grade an assignment."""
        assignment = strategy.assignment
        return cls(
            assignment=pickle.dumps(
                (assignment.name, assignment.notebooks, assignment.course.limits, assignment.feedback)
            ),
            settings={name: dict(assignment.course.config.get(name, {})) for name in _SETTINGS},
            files={name: path.read_bytes() for name, path in assignment.course_files.items()},
            doubts=strategy.doubts,
            versions=strategy.conditions.versions,
        )


class PlainOnWorker(GradingOnWorker):
    """Grades a plain assignment's submissions according to a `PlainOrder`."""

    def make_strategy(self, scratch: Path) -> Strategy:
        """Return the strategy, and require the same versions of the packages that the assignment's cells import."""
        from autograder.grading.plain.assignment import PlainAssignment
        from autograder.grading.plain.strategy import PlainStrategy

        files = write_files(self._order.files, scratch / "files")
        name, notebooks, limits, feedback = pickle.loads(self._order.assignment)  # from the client, not from a student
        course = replace(empty_course(scratch), config=Config(self._order.settings), limits=limits)
        assignment = PlainAssignment(course, name, notebooks, feedback, files)
        strategy = PlainStrategy(assignment, doubts=self._order.doubts)
        here, client = (Examined("", versions) for versions in (strategy.conditions.versions, self._order.versions))
        problem = why_not(here, client)
        if problem:
            raise WorkerRefused(problem)
        return strategy

    def lay_out(self, opened: Opened) -> None:
        """Write the submission's files."""
        from autograder.cluster.messages import unpack

        write_files(unpack(opened.handed_in), opened.task.folder)
