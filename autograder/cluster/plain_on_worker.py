"""A plain assignment on a worker. A submission comes as the files of its folder, which are opened here alone."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets.config.loader import Config

from autograder.cluster.examining import Examined
from autograder.cluster.grading_on_worker import GradingOnWorker, empty_course
from autograder.cluster.worker import WorkerRefused

if TYPE_CHECKING:
    from autograder.cluster.messages import Opened
    from autograder.grading.plain.strategy import PlainStrategy
    from autograder.grading.strategy import Strategy

_SETTINGS = ("IgnorePattern", "CourseDirectory", "Autograde")
"""The sections of `nbgrader_config.py` that grading a submission looks at."""


@dataclass(frozen=True)
class PlainOrder:
    """What the grades of a plain assignment depend on.

    Attributes:
        assignment: its name, notebooks, limits, and whether it gets feedback pages, pickled: they are opened where the
            same Katze is.
        settings: nbgrader's that count here, by section.
        files: what every submission gets beside its notebooks, by path.
        doubts: what the sandbox has refused to the course's own solution, by test.
        versions: what the client would grade with.
        min_level: the weakest boxes that will do; empty for what grading takes by itself.
        level: boxes of exactly this level; empty for the strongest that hold.
    """

    assignment: bytes
    settings: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, bytes]
    doubts: Mapping[str, tuple[str, ...]]
    versions: Mapping[str, str]
    min_level: str = ""
    level: str = ""

    @classmethod
    def of(cls, strategy: PlainStrategy, min_level: str, level: str) -> PlainOrder:
        """The order to grade an assignment."""
        one = strategy.assignment
        return cls(
            assignment=pickle.dumps((one.name, one.notebooks, one.limits, one.feedback)),
            settings={name: dict(one.course.config.get(name, {})) for name in _SETTINGS},
            files={name: path.read_bytes() for name, path in one.course_files.items()},
            doubts=strategy.doubts,
            versions=strategy.conditions.versions,
            min_level=min_level,
            level=level,
        )


class PlainOnWorker(GradingOnWorker):
    """Grades a plain assignment's submissions.

    Args:
        name: of the run.
        order: what the assignment's grades depend on.
        client: what the client would grade with.
    """

    def __init__(self, name: str, order: PlainOrder, client: Examined) -> None:
        super().__init__(name, order.min_level, order.level, client)
        self._order = order

    def make_strategy(self, scratch: Path) -> Strategy:
        """How the assignment is graded, with the same versions of the packages that its cells import."""
        from autograder.grading.plain.assignment import PlainAssignment
        from autograder.grading.plain.strategy import PlainStrategy

        files = {name: scratch / "files" / name for name in self._order.files}
        for name, path in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._order.files[name])
        course = replace(empty_course(scratch), config=Config(self._order.settings))
        name, notebooks, limits, feedback = pickle.loads(self._order.assignment)  # of the client, not of a student
        assignment = PlainAssignment(course, name, notebooks, limits, feedback, files)
        strategy = PlainStrategy(assignment, doubts=self._order.doubts)
        here, there = strategy.conditions.versions, self._order.versions
        for name in sorted(here.keys() | there.keys()):
            if here.get(name) != there.get(name):
                ours, theirs = (side.get(name, "none") for side in (there, here))
                raise WorkerRefused(f"{name} is {theirs} there and {ours} here; install the same versions there")
        return strategy

    def lay_out(self, opened: Opened, handed_in: bytes, kept: bytes) -> None:
        """Write the files of the submission."""
        from autograder.cluster.messages import write_files

        write_files(handed_in, opened.task.folder)
