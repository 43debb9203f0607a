"""A lesson in the form that the grader and its workers need, with everything that its grades depend on."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from autograder.course.course import Course
from autograder.course.semester import SEMESTER_NAME, ExerciseTerms
from autograder.errors import BadInput
from autograder.gradebook.changes.adjustments import Adjustment
from autograder.gradebook.record import Conditions
from autograder.grading.answer_keys import AnswerKeys
from autograder.grading.digests import answers, fingerprints
from autograder.grading.digests.reach import Library, held_by_lesson, mentioned
from autograder.grading.digests.sources import limits_that_decide, versions_of
from autograder.intake.handed_in import AnswersIn
from autograder.limits import NO_ALLOWANCE
from autograder.repair import Release, answers_in
from course_lib.exercises.catalogue import CONFIG_NAME
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.compare import Tolerance
from course_lib.judging.errors import UnusableExercises
from course_lib.judging.exercise import Exercise

_GRADING = (
    "autograder.grading.notebook_runner",
    "autograder.repair",
    "autograder.intake.submission",
    "autograder.box.fork_server.server",
)
"""Modules that read, run and judge answers; with everything they import, they decide grades."""

_PACKAGES = ("torch", "numpy", "ipython")
"""Packages that run answers or compare results."""


@dataclass(frozen=True)
class Assignment:
    """A lesson as graded in one run: read once, and passed on.

    Conditions and fingerprints take a while, so they are computed on first use.

    Attributes:
        course: the course.
        lesson: the lesson.
        release: its released notebook.
        skip_demos: whether to leave out cells tagged `demo`.
        feedback: whether to write feedback pages.
        cells: the grade_id of the cell that holds the points, by exercise.
    """

    course: Course
    lesson: str
    release: Release
    skip_demos: bool
    feedback: bool
    cells: Mapping[str, str]

    @classmethod
    def load(cls, course: Course, lesson: str, skip_demos: bool, feedback: bool) -> Assignment:
        """Read the release.

        Raises:
            BadInput: the release is missing, cannot be read, or is of another version of the course; or a course's own
                exercise does not work.
        """
        release = Release.of(course, lesson)
        cells = _check_cells(release, course, lesson)
        if course.exercises.folder is not None:  # those of the library are certified with it
            _try_out(course.exercises.of_lesson(lesson))
        return cls(course, lesson, release, skip_demos, feedback, cells)

    @property
    def exercises(self) -> list[Exercise]:
        """Return the lesson's exercises, in order."""
        return self.course.exercises.of_lesson(self.lesson)

    @property
    def answers_in(self) -> AnswersIn:
        """A function that says which of the exercises a notebook answers."""
        return answers_in(self.release, self.lesson, self.course.exercises)

    @property
    def withheld(self) -> tuple[str, ...]:
        """The modules that no sandbox of the lesson may hold, because one of its exercises withholds them."""
        return tuple(sorted({module for exercise in self.exercises for module in exercise.withheld}))

    @property
    def trains(self) -> bool:
        """Whether sandboxes should preload what training needs, because the lesson's own code mentions an optimizer."""
        return any("optim" in cell["source"] for cell in self.release.notebook["cells"])

    @property
    def outdated(self) -> list[str]:
        """Return a sentence for each course setting that nothing uses any more."""
        found = []
        if "packages" in self.course.config.get("Katze", {}):
            unused = "no longer used; delete the line. Answers may use every package that is installed"
            found.append(f"c.Katze.packages in {CONFIG_NAME}: {unused}")
        for exercise in self.exercises:
            names = [name for name in ("needs", "allowed") if getattr(exercise, name)]
            if names:
                unused = f"{' and '.join(names)} can be deleted: a rule applies to its own exercise only"
                found.append(f"{exercise.id}: {unused}")
        return found

    @cached_property
    def conditions(self) -> Conditions:
        """The conditions that its grades depend on, besides submissions and exercises."""
        settings = {
            "limits": limits_that_decide(self.course.limits),
            "cells tagged demo": "left out" if self.skip_demos else "run",
            "withheld modules": list(self.withheld),
        }
        secret = hmac.digest(self.course.secret(make=False), b"fingerprint", hashlib.sha256).hex()
        return Conditions(self._of_release[0], secret, _versions(self), settings)

    @cached_property
    def fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each exercise: its definition, its own cells in the release, and its limits."""
        return {
            exercise.id: fingerprints.in_course(
                fingerprints.of_exercise(exercise),
                self._of_release[1].get(exercise.id, ""),
                self.course.exercise_limits.get(exercise.id, NO_ALLOWANCE).changes(),
                self.tolerances.get(exercise.id),
            )
            for exercise in self.exercises
        }

    @cached_property
    def adjustments(self) -> dict[str, Adjustment]:
        """The course's decisions in `course.toml` about its exercises and written tasks.

        Raises:
            BadInput: a setting for auto-graded exercises names a written task, or the file of an accepted answer
                cannot be read.
        """
        found = {}
        written = self.course.exercises.written_in(self.lesson)
        for name in (*(exercise.id for exercise in self.exercises), *written):
            terms = self.course.semester.exercise(name)
            if terms == ExerciseTerms():
                continue
            if name in written and (terms.accept or terms.tolerance or terms.never_lower):
                raise BadInput(
                    f'{SEMESTER_NAME}: exercises."{name}" is read by a person: only drop, full_credit and extra_credit '
                    "can be set for it"
                )
            found[name] = _adjustment(self.course, terms)
        return found

    @cached_property
    def tolerances(self) -> dict[str, Tolerance]:
        """How close to the reference answers must be, by exercise, where `course.toml` sets it."""
        terms = {exercise.id: self.course.semester.exercise(exercise.id).tolerance for exercise in self.exercises}
        return {name: Tolerance(**one) for name, one in terms.items() if one}

    def make_keys(self) -> AnswerKeys:
        """Return its answer keys, which are made on demand."""
        return AnswerKeys(self.course.secret(), self.tolerances)

    @cached_property
    def library(self) -> Library:
        """The part of `course_lib` that its sandboxes hold."""
        return Library(self.withheld, self.held)

    @cached_property
    def held(self) -> frozenset[str]:
        """The library names that its sandboxes must hold, along with their imports."""
        return held_by_lesson(self.course.exercises, self.lesson, self.release.code)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The library names in the lesson's own cells."""
        return mentioned(self.release.code)

    def imports_of(self, sources: Iterable[str]) -> dict[str, str]:
        """Return the further library names in a student's cells, each with the fingerprint of what it reaches.

        Args:
            sources: the code of the student's own cells.
        """
        return {name: self.library.digest([name]) for name in sorted(mentioned(sources) - self.own_names)}

    @cached_property
    def _of_release(self) -> tuple[str, dict[str, str]]:
        return fingerprints.of_release(self.release.notebook)


def _adjustment(course: Course, terms: ExerciseTerms) -> Adjustment:
    accept = {one if one.startswith("sha256:") else answers.of_file(course.root / one) for one in terms.accept}
    told = str(Tolerance(**terms.tolerance))
    return Adjustment(**{**vars(terms), "accept": tuple(sorted(accept)), "tolerance": told})


def _check_cells(release: Release, course: Course, lesson: str) -> dict[str, str]:
    """Return the grade_id of each exercise's check cell.

    Raises:
        BadInput: the release and the exercises do not match.
    """
    if lesson not in course.exercises.modules:
        others = f"; it has exercises for {', '.join(course.exercises.modules)}" if course.exercises.modules else ""
        raise BadInput(f"this course has no exercises for {lesson}{others}")
    checks = {slot.exercise: slot for slot in release.slots if slot.role == "check"}
    wanted = {exercise.id: exercise.points for exercise in course.exercises.of_lesson(lesson)}
    found = {exercise: slot.cell.nbgrader.get("points") for exercise, slot in checks.items()}
    if found != wanted:
        [first, *_] = sorted(exercise for exercise in found | wanted if found.get(exercise) != wanted.get(exercise))
        raise BadInput(
            f"the release of {lesson} is from another version of the course: {first} has {_points(found.get(first))} "
            f"in the release and {_points(wanted.get(first))} in the exercise; run `katze release`"
        )
    return {exercise: slot.grade_id for exercise, slot in checks.items()}


def _try_out(exercises: Iterable[Exercise]) -> None:
    """Generate each exercise's visible cases, and call its reference on them.

    Raises:
        BadInput: that fails, so nobody could be graded.
    """
    for exercise in exercises:
        try:
            _ = AnswerKey(exercise).expected
        except Exception as error:  # they are programs of the course's: they may fail in any way
            said = str(error) if isinstance(error, UnusableExercises) else f"{type(error).__name__}: {error}"
            raise BadInput(
                f"{exercise.id} cannot be graded: {said.removeprefix(f'{exercise.id}: ')}; nothing was done. Fix it, "
                f"then run `katze certify {exercise.id}`"
            ) from error


def _points(points: object) -> str:
    return "no place" if points is None else f"{points} {'point' if points == 1 else 'points'}"


def grading_versions() -> dict[str, str]:
    """Return the versions of everything that decides grades in any lesson; our own grading code counts by a digest
    ("checks").
    """
    return versions_of(_GRADING, _PACKAGES)


def _versions(assignment: Assignment) -> dict[str, str]:
    return {**grading_versions(), "library": assignment.library.digest(assignment.own_names)}
