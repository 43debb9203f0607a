"""Grades Katze's exercises: runs them in sandboxes, and judges them from outside, one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from autograder.box.confinement.levels import Level
from autograder.box.fork_server.client import ForkServer
from autograder.box.fork_server.root import BoxRoot
from autograder.errors import Unreadable
from autograder.gradebook.changes.adjustments import Adjustments
from autograder.gradebook.record import CaseRecord, Change, Conditions, ExerciseRecord, Record
from autograder.gradebook.session import GradebookSession
from autograder.grading.answer_keys import AnswerKeys
from autograder.grading.assignment import Assignment
from autograder.grading.digests import answers, fingerprints
from autograder.grading.notebook_runner import Graded, grade_notebook
from autograder.grading.publish import read_written, write_graded
from autograder.grading.strategy import Strategy, stable
from autograder.grading.task import Finished, Task
from autograder.intake.submission import Submission, read_submission
from autograder.pages.feedback import lesson_title, render_feedback
from autograder.repair import Repaired, repair, require_lesson
from course_lib.judging.exercise import Exercise
from course_lib.judging.observation import Outcome
from course_lib.judging.render import case_message
from course_lib.judging.verdict import CaseResult, Verdict

if TYPE_CHECKING:
    from autograder.gradebook.writer import GradebookWriter

_SEED_BITS = 256


class ExerciseStrategy(Strategy):
    """A lesson with Katze's exercises.

    Attributes:
        assignment: the lesson.
        gradebook: the writer of nbgrader's tables, after `open_gradebook`.
    """

    gradebook: GradebookWriter

    def __init__(self, assignment: Assignment, read: Callable[[Task], Submission] | None = None) -> None:
        """Set up; compute nothing slow yet.

        Args:
            read: reads a submission, or raises `Unreadable`; by default from where it was handed in.
        """
        super().__init__(assignment.course, assignment.lesson, assignment.feedback)
        self.assignment = assignment
        self.notebooks = {"": assignment.lesson}
        self.notices = assignment.outdated
        self._read = read or (lambda task: read_submission(task.folder, self.name, assignment.answers_in))

    @cached_property
    def keys(self) -> AnswerKeys:
        """Its answer keys; making them creates the course's secret."""
        return self.assignment.make_keys()

    # --- what is to be done

    @property
    def conditions(self) -> Conditions:
        """What its grades depend on, besides submissions and exercises."""
        return self.assignment.conditions

    @property
    def exercises(self) -> frozenset[str]:
        """The ids of all that is judged in it."""
        return frozenset(self.assignment.fingerprints)

    @property
    def adjustments(self) -> Adjustments:
        """What the course has decided about its exercises."""
        return self.assignment.adjustments

    def find_changes(self, record: Record) -> Iterator[str]:
        """Yield the changed modules that a student's own cells import."""
        for name, before in record.imports.items():
            if self.assignment.library.digest([name]) != before:
                yield f"{name}, which it imports, has changed"

    def find_redefined(self, record: Record) -> dict[str, str]:
        """The exercises that are not, or no longer, those that were graded, each with the reason."""
        known = {one.exercise: one.fingerprint for one in record.exercises}
        return {
            name: f"{name}: {fingerprints.changed(known[name], now) if name in known else 'new in the lesson'}"
            for name, now in self.assignment.fingerprints.items()
            if known.get(name) != now
        }

    # --- how it is run and judged

    def make_fork_server(self, level: Level, channels: int = 1, root: BoxRoot | None = None) -> ForkServer:
        """Where sandboxes come from, with a channel for each worker, perhaps begun earlier."""
        assignment = self.assignment
        return ForkServer(
            assignment.withheld,
            level,
            assignment.course.limits,
            channels=channels,
            trains=assignment.trains,
            own={module.partition(".")[0] for module in assignment.course.exercises.modules.values()},
            held=assignment.held,
            root=root,
        )

    def begin(self, fork_server: ForkServer, channel: int) -> Callable[[Task], Finished]:
        """What a worker does with each task."""
        return partial(self._grade, fork_server, channel, self.assignment.make_keys())  # its own, even in a thread

    def _grade(self, fork_server: ForkServer, channel: int, keys: AnswerKeys, task: Task) -> Finished:
        assignment = self.assignment
        try:
            submission = self._read(task)
            require_lesson(submission, assignment.release, assignment.lesson, assignment.course.exercises)
            repaired = repair(submission, assignment.release)
        except Unreadable as problem:
            return self.refuse(task, problem.reason)
        earlier = self._read_earlier(task)
        if earlier is None:  # nothing to keep: everything is judged
            earlier, task = {}, replace(task, judged=self.exercises)
        graded = grade_notebook(
            [cell.skip() if cell.is_checked and cell.exercise not in task.judged else cell for cell in repaired.cells],
            assignment.course.exercises,
            open_box=lambda seconds: fork_server.open_box(
                channel=channel, seed=keys.box_seed(task.student), seconds=seconds
            ),
            key_for=lambda exercise: keys.key(exercise, task.student),
            limits=assignment.course.limits,
            skip_demos=assignment.skip_demos,
            allowances=assignment.course.exercise_limits,
        )
        own = [cell.source for cell in repaired.cells if cell.is_code and cell.origin == "student"]
        drawing = [one.drawing_failed for one in graded.verdicts.values()]
        exercises = self._record_exercises(task, fork_server.level.name, graded, repaired)
        record = replace(
            self.make_record(task, exercises, remarks=[*graded.remarks, *drawing]),
            notebook=submission.digest,
            handed_in=submission.timestamp,
            repairs=repaired.repairs,
            imports=assignment.imports_of(own),
        )
        verdicts = earlier | show_verdicts(graded.verdicts)
        notebooks = {self.name: repaired.notebook(graded.outputs, verdicts, graded.notices)}
        files = write_graded(self, record, notebooks)
        return Finished(task, replace(record, files=files), notebooks, graded.starved)

    def _read_earlier(self, task: Task) -> dict[str, list[dict[str, Any]]] | None:
        """Read the verdicts on exercises that are not graded again from the notebook written earlier.

        Returns:
            None if that notebook is gone or has been changed: then there is nothing to keep.
        """
        others = self.exercises - task.judged
        if task.earlier is None or not others:
            return None if others else {}
        notebook = read_written(self, task.earlier)
        if notebook is None:
            return None
        shown = self._shown_in(notebook, others)
        return shown if all(shown.values()) else None

    def refuse(self, task: Task, reason: str) -> Finished:
        """Return the result for an unusable submission: a page that says so, and no score."""
        finished = self.give_up(task, reason, Outcome.UNREADABLE)
        return replace(finished, record=replace(finished.record, files=write_graded(self, finished.record, {})))

    # --- its records

    def slot(self, student: str) -> int:
        """Which of the class's sets of hidden inputs a student gets."""
        return self.keys.slot(student)

    def make_unscored(self, task: Task, outcome: Outcome, problem: str) -> tuple[ExerciseRecord, ...]:
        """The records of all its exercises, without a score."""
        return tuple(self._make_unscored(task, one, outcome) for one in self.assignment.exercises)

    def _make_unscored(self, task: Task, exercise: Exercise, outcome: Outcome) -> ExerciseRecord:
        return ExerciseRecord(
            exercise=exercise.id,
            cell=self.assignment.cells[exercise.id],
            fingerprint=self.assignment.fingerprints[exercise.id],
            seed=self.keys.seed(exercise.id, self.slot(task.student)) >> _SEED_BITS - 63,
            level="",
            outcome=outcome,
            points=None,
            max_points=exercise.points,
            stood=task.best_share(exercise.id),
        )

    def _record_exercises(
        self, task: Task, level: str, graded: Graded, repaired: Repaired
    ) -> tuple[ExerciseRecord, ...]:
        """Return the records of its exercises in the lesson's order: new ones for verdicts, earlier ones otherwise."""
        written, verdicts = answers.of_cells(repaired.cells), graded.verdicts
        return tuple(
            replace(
                self._make_unscored(task, verdict.exercise, verdict.outcome),
                level=level,
                points=verdict.points,
                misconception=verdict.misconception.id if verdict.misconception else None,
                note=stable(verdict.note),
                cases=tuple(_record_case(result, case_message(verdict, result)) for result in verdict.cases),
                answer=written.get(name, ""),
                worth_a_look="\n".join(graded.worth_a_look.get(name, ())),
            )
            if (verdict := verdicts.get(name))
            else task.before[name]
            for name in self.assignment.fingerprints
        )

    # --- how it is recorded

    def open_gradebook(self, book: GradebookSession) -> list[str]:
        """Make nbgrader's tables ready."""
        from autograder.gradebook.writer import GradebookWriter  # takes a second, while the sandboxes warm up

        self.gradebook = GradebookWriter(book, self.name, self.course.course_id)
        return self.gradebook.ensure_assignment(self.assignment.release.notebook, self.adjustments)

    def recount(self, run: int) -> list[str]:
        """Bring the scores that are there up to the adjustments."""
        return [f"counted anew, {change}" for change in self.gradebook.apply_adjustments(run)]

    def set_aside(self, run: int, students: Collection[str], why: str) -> None:
        """Let the grades of these students no longer count."""
        self.gradebook.set_aside(run, students, why)

    def save(self, run: int, finished: Finished) -> tuple[Change, ...]:
        """Write one graded submission."""
        notebook = finished.notebooks.get(self.name)
        return self.gradebook.record(run, finished.record, notebook, finished.task.why, finished.unchanged)

    # --- what people see

    def page(self, record: Record, notebook: str, graded: Mapping[str, Any] | None, penalty: float) -> str:
        """The feedback page of one notebook."""
        shown = {} if graded is None else self._shown_in(graded, self.assignment.fingerprints)
        return render_feedback(
            graded,
            record,
            {exercise: outputs[0]["data"]["text/html"] for exercise, outputs in shown.items() if outputs},
            title=lesson_title(self.assignment.release.notebook),
            questions=[
                {"metadata": {"nbgrader": slot.cell.nbgrader, "katze": {"exercise": slot.exercise}}}
                for slot in self.assignment.release.slots
            ],
        )

    def _shown_in(self, notebook: Mapping[str, Any], exercises: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the verdicts on these exercises in an autograded notebook: the outputs of their check cells."""
        outputs = {
            cell["metadata"]["nbgrader"]["grade_id"]: cell["outputs"]
            for cell in notebook["cells"]
            if cell["cell_type"] == "code" and "nbgrader" in cell["metadata"]
        }
        return {exercise: outputs.get(self.assignment.cells[exercise], []) for exercise in exercises}


def _record_case(result: CaseResult, note: str) -> CaseRecord:
    case = result.case
    return CaseRecord(case.name, case.part, result.hidden, result.outcome, stable(note), result.actual.seconds)


def show_verdicts(verdicts: Mapping[str, Verdict]) -> dict[str, list[dict[str, Any]]]:
    """Return verdicts as the outputs of their check cells."""
    return {
        exercise: [
            {
                "output_type": "display_data",
                "data": {"text/html": verdict.html(), "text/plain": verdict.text()},
                "metadata": {},
            }
        ]
        for exercise, verdict in verdicts.items()
    }
