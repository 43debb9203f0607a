"""A lesson as the grader and its workers need it, with everything that its grades depend on."""

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
from autograder.limits import NO_ALLOWANCE, Limits
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
"""What reads, runs and judges an answer; together with all that it imports, it decides grades."""

_PACKAGES = ("torch", "numpy", "ipython")
"""Packages that run answers, or compare what they give."""


@dataclass(frozen=True)
class Assignment:
    """A lesson as it is graded in one run: read once, and passed on.

    What takes a while to find out, conditions and fingerprints, is found out when it is first asked for.

    Attributes:
        course: where everything is.
        lesson: the lesson.
        release: its released notebook.
        limits: what each submission may use.
        skip_demos: leave out cells tagged `demo`.
        feedback: write feedback pages.
        cells: for each exercise the grade_id of the cell that holds its points.
    """

    course: Course
    lesson: str
    release: Release
    limits: Limits
    skip_demos: bool
    feedback: bool
    cells: Mapping[str, str]

    @classmethod
    def load(cls, course: Course, lesson: str, limits: Limits, skip_demos: bool, feedback: bool) -> Assignment:
        """Read the release.

        Raises:
            BadInput: the release is missing, cannot be read, or is of another version of the course; or a course's own
                exercise does not work.
        """
        release = Release.of(course, lesson)
        cells = _check_cells(release, course, lesson)
        if course.exercises.folder is not None:  # those of the library are certified with it
            _try_out(course.exercises.of_lesson(lesson))
        return cls(course, lesson, release, limits, skip_demos, feedback, cells)

    @property
    def exercises(self) -> list[Exercise]:
        """The lesson's exercises, in order."""
        return self.course.exercises.of_lesson(self.lesson)

    @property
    def answers_in(self) -> AnswersIn:
        """Says which of its exercises a notebook answers."""
        return answers_in(self.release, self.lesson, self.course.exercises)

    @property
    def withheld(self) -> tuple[str, ...]:
        """The modules that no sandbox of the lesson may have: those that any of its exercises withholds."""
        return tuple(sorted({module for exercise in self.exercises for module in exercise.withheld}))

    @property
    def trains(self) -> bool:
        """Whether sandboxes load at the start what training needs: the lesson's own code mentions an optimizer."""
        return any("optim" in cell["source"] for cell in self.release.notebook["cells"])

    @property
    def outdated(self) -> list[str]:
        """What the course still sets and nothing uses any more, a sentence each."""
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
        """What its grades depend on, besides submissions and exercises."""
        settings = {
            "limits": limits_that_decide(self.limits),
            "cells tagged demo": "left out" if self.skip_demos else "run",
            "withheld modules": list(self.withheld),
        }
        secret = hmac.digest(self.course.secret(make=False), b"fingerprint", hashlib.sha256).hex()
        return Conditions(self._of_release[0], secret, _versions(self), settings)

    @cached_property
    def fingerprints(self) -> Mapping[str, str]:
        """Of each exercise: its definition, its own cells in the release, and its limits."""
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
        """What `course.toml` sets for its exercises and written tasks, where it sets anything.

        Raises:
            BadInput: a setting is for exercises that are judged, and this task is read by a person; or the file of an
                accepted answer cannot be read.
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
        """How near to the reference answers must be, where `course.toml` sets it, by exercise."""
        terms = {exercise.id: self.course.semester.exercise(exercise.id).tolerance for exercise in self.exercises}
        return {name: Tolerance(**one) for name, one in terms.items() if one}

    def make_keys(self) -> AnswerKeys:
        """Its answer keys, to be made as they are asked for."""
        return AnswerKeys(self.course.secret(), self.tolerances)

    @cached_property
    def library(self) -> Library:
        """The part of `course_lib` that is in its sandboxes."""
        return Library(self.withheld, self.held)

    @cached_property
    def held(self) -> frozenset[str]:
        """What its sandboxes hold of the library, with whatever that needs."""
        return held_by_lesson(self.course.exercises, self.lesson, self.release.code)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """What the lesson's own cells name of it."""
        return mentioned(self.release.code)

    def imports_of(self, sources: Iterable[str]) -> dict[str, str]:
        """What a student's cells name of the library beyond that, each with the fingerprint of what it reaches.

        Args:
            sources: the code of the student's own cells.
        """
        return {name: self.library.digest([name]) for name in sorted(mentioned(sources) - self.own_names)}

    @cached_property
    def _of_release(self) -> tuple[str, dict[str, str]]:
        return fingerprints.of_release(self.release.notebook)


def _adjustment(course: Course, terms: ExerciseTerms) -> Adjustment:
    accept = {one if one.startswith("sha256:") else answers.of_file(course.root / one) for one in terms.accept}
    return Adjustment(
        drop=terms.drop,
        full_credit=terms.full_credit,
        extra_credit=terms.extra_credit,
        never_lower=terms.never_lower,
        accept=tuple(sorted(accept)),
        tolerance=str(Tolerance(**terms.tolerance)),
    )


def _check_cells(release: Release, course: Course, lesson: str) -> dict[str, str]:
    """The grade_id of each exercise's check cell.

    Raises:
        BadInput: the release and the exercises do not belong together.
    """
    if lesson not in course.exercises.modules:
        others = f"; it has exercises for {', '.join(course.exercises.modules)}" if course.exercises.modules else ""
        raise BadInput(f"this course has no exercises for {lesson}{others}")
    checks = {slot.exercise: slot for slot in release.slots if slot.role == "check"}
    wanted = {exercise.id: exercise.points for exercise in course.exercises.of_lesson(lesson)}
    found = {exercise: slot.nbgrader.get("points") for exercise, slot in checks.items()}
    if found != wanted:
        [first, *_] = sorted(exercise for exercise in found | wanted if found.get(exercise) != wanted.get(exercise))
        raise BadInput(
            f"the release of {lesson} is from another version of the course: {first} has {_points(found.get(first))} "
            f"in the release and {_points(wanted.get(first))} in the exercise; run `katze release`"
        )
    return {exercise: slot.grade_id for exercise, slot in checks.items()}


def _try_out(exercises: Iterable[Exercise]) -> None:
    """Make each exercise's visible cases, and call its reference on them.

    Raises:
        BadInput: that does not work: nobody could be graded.
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
    """Of all that decides a grade here, whatever the lesson; of our own code that grades, a digest ("checks")."""
    return versions_of(_GRADING, _PACKAGES)


def _versions(assignment: Assignment) -> dict[str, str]:
    return {**grading_versions(), "library": assignment.library.digest(assignment.own_names)}
