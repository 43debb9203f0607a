"""Reports for `katze status` how far each lesson is in its semester, and the next command, without changing
anything.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from shlex import quote
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.course.course import Course
from autograder.course.store.builds import solution_lessons
from autograder.course.store.collected import read_collected, remarks_on_late
from autograder.delivery.history import changed_since, read_returned
from autograder.gradebook import store
from autograder.gradebook.access import open_gradebook, read_only
from autograder.gradebook.grades import current_records, withdrawn_from
from autograder.gradebook.record import Record
from autograder.grading.by_hand import outdated_pages
from autograder.grading.digests import fingerprints
from autograder.intake.submission import list_submissions, refused_submissions
from autograder.platforms.misplaced import misplaced
from autograder.platforms.registry import PLATFORMS
from autograder.words import count, some


@dataclass(frozen=True)
class LessonStatus:
    """The progress of a lesson in its semester.

    Attributes:
        lesson: its name.
        released: whether the students' notebook exists.
        due: the due date; None if the course sets none.
        collected: number of submissions in the folder.
        graded: how many of them have a grade that counts and is up to date.
        to_grade: the students whose submission is new or has changed since it was graded.
        no_score: students who were graded but have no score, so that a person has to look.
        ungraded: students who have a score, but also an exercise that could not be graded.
        by_hand: students with a written answer that nobody has read yet.
        changed_since_read: students with an answer that has changed since a person gave points for it.
        stale: students whose penalty or page is not up to date: deadlines or points by hand have changed, or the page
            is missing or was written by another program.
        marked_late: students whom the platform calls late, without saying by how much.
        withdrawn: students who were graded, but whose submission is no longer there.
        frozen: when it was frozen, so that nothing grades it any more; empty if it is not.
        returned: number of returned pages.
        changed_since: students whose page has changed since it was returned.
        back_to: the one platform that the submissions came from, if it takes feedback pages; else empty.
        refused: for each folder whose name is not a student id, a sentence that says what to do.
        not_looked_at: files in places where no lesson looks for them.
        moved: exercises with grades that the lesson no longer has, each with its successor, or "".
        is_plain: whether it has nbgrader's own test cells instead of exercises.
    """

    lesson: str
    released: bool
    due: datetime | None = None
    collected: int = 0
    graded: int = 0
    to_grade: tuple[str, ...] = ()
    no_score: tuple[str, ...] = ()
    ungraded: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    changed_since_read: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    marked_late: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    frozen: str = ""
    returned: int = 0
    changed_since: tuple[str, ...] = ()
    back_to: str = ""
    refused: tuple[str, ...] = ()
    not_looked_at: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    is_plain: bool = False

    @property
    def grading(self) -> str:
        """The command that grades it."""
        return f"katze {'autograde' if self.is_plain else 'grade'} {quote(self.lesson)}"

    @property
    def stage(self) -> str:
        """The last step that has begun."""
        if not self.released:
            return "not released"
        if self.frozen:
            return "frozen"
        if self.returned:
            return "returned"
        if self.graded or self.no_score:
            return "graded"
        return "collected" if self.collected else "released"

    @property
    def next(self) -> str:
        """The next command; empty if nothing is left to do."""
        if not self.released:
            return f"katze release {quote(self.lesson)}"
        if not self.collected:
            return f"katze collect DOWNLOAD --lesson {quote(self.lesson)}"
        if self.to_grade and not self.frozen:
            return self.grading
        if self.by_hand or self.changed_since_read or self.ungraded:
            return "jupyter lab (Nbgrader > Formgrader)"
        if self.stale:
            return self.grading
        if self.returned < self.graded or self.changed_since:
            if self.is_plain:
                return f"nbgrader release_feedback {quote(self.lesson)}"
            changed = " --changed" if self.returned else ""
            return f"katze return {quote(self.lesson)} --for {self.back_to or 'folder'}{changed}"
        return f"katze log {quote(self.no_score[0])} {quote(self.lesson)}" if self.no_score else ""

    def record(self) -> dict[str, Any]:
        """Return the status as JSON data."""
        due = self.due.isoformat() if self.due else None
        return {**dataclasses.asdict(self), "due": due, "stage": self.stage, "next": self.next}


def status_of(course: Course, lessons: Sequence[str] = ()) -> list[LessonStatus]:
    """Return the status of each of these lessons, in order; by default of all that are released or have solutions.

    Raises:
        BadInput: there is no such lesson; the gradebook cannot be read.
    """
    known = sorted({*solution_lessons(course), *course.lessons()})
    for lesson in lessons:
        if lesson not in known:
            course.release_notebook(lesson)  # a misspelled lesson raises an error that lists the known ones
    graded = _graded(course)
    return [_of_lesson(course, lesson, *graded.get(lesson, ({}, ""))) for lesson in lessons or known]


def _graded(course: Course) -> dict[str, tuple[dict[str, Record], str]]:
    """Return what the gradebook has for each lesson: the records that count, by student, and when it was frozen."""
    if open_gradebook(course.gradebook).is_new():
        return {}
    with read_only(course.gradebook) as session:
        frozen = store.read_frozen(session)
        return {
            lesson: ({one.student: one for one in current_records(course, session, lesson)}, frozen.get(lesson, ""))
            for lesson in store.graded_lessons(session)
        }


def _of_lesson(course: Course, lesson: str, records: Mapping[str, Record], frozen: str) -> LessonStatus:
    terms = course.semester.lesson(lesson)
    bare = LessonStatus(lesson, lesson in course.lessons(), terms.due, is_plain=course.is_plain(lesson))
    if not course.submitted.is_dir():
        return bare
    returned, deliveries = read_returned(course, lesson), read_collected(course, lesson)
    platforms = {one.platform for one in deliveries.values()}
    handed_in = dict(list_submissions(course.submitted, lesson))
    to_grade = [
        student
        for student, folder in handed_in.items()
        if student not in records
        or records[student].void
        or records[student].digest != fingerprints.of_submission(folder)
    ]
    current = {student: records[student] for student in handed_in if student not in to_grade}
    with_page = [record for record in current.values() if "feedback" in record.files]
    outdated = {*outdated_pages(course, lesson, with_page)} if current else set()

    def students_with(holds: Callable[[Record], object]) -> tuple[str, ...]:
        return tuple(student for student, record in current.items() if holds(record))

    def is_marked_late(record: Record) -> bool:
        delivery = deliveries.get(record.student)
        is_called_late = delivery is not None and delivery.is_late_without_time
        return record.lateness.is_unknown and is_called_late and record.student not in terms.extensions

    return replace(
        bare,
        collected=len(handed_in),
        graded=sum(record.total is not None for record in current.values()),
        to_grade=tuple(to_grade),
        no_score=students_with(lambda record: record.total is None),
        ungraded=students_with(lambda record: record.ungraded),
        by_hand=students_with(lambda record: record.waiting),
        changed_since_read=students_with(lambda record: record.changed),
        stale=students_with(lambda record: record.student in outdated or not record.lateness.is_written),
        marked_late=students_with(is_marked_late),
        withdrawn=tuple(sorted(withdrawn_from(course, lesson, records))),
        frozen=frozen,
        returned=len(returned),
        changed_since=tuple(changed_since(course, lesson)),
        back_to=next(iter(platforms)) if len(platforms) == 1 and platforms <= _TAKE_FEEDBACK else "",
        refused=tuple(refused_submissions(course.submitted, lesson).values()),
        not_looked_at=tuple(misplaced(course, lesson)),
        moved={} if bare.is_plain else _moved(course, lesson, current.values()),
    )


def _moved(course: Course, lesson: str, records: Iterable[Record]) -> dict[str, str]:
    """Return the exercises with grades that the lesson no longer has."""
    graded = dict.fromkeys(one.exercise for record in records for one in record.exercises)
    if lesson not in course.exercises.modules or not graded:
        return {}
    known, moved = {one.id for one in course.exercises.of_lesson(lesson)}, course.exercises.moved_in(lesson)
    return {exercise: moved.get(exercise, "") for exercise in graded if exercise not in known}


_TAKE_FEEDBACK = {one.name for one in PLATFORMS if one.feedback}


def print_status(found: Sequence[LessonStatus], console: Console) -> None:
    """Print a row for each lesson, and below the table what needs attention."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("lesson", "stage", "due", "collected", "graded", "to grade", "need you", "returned", "next"):
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left", overflow="fold")
    for one in found:
        due = one.due.strftime("%a %d %b %H:%M") if one.due else ""
        numbers = [str(number or "") for number in (one.collected, one.graded, len(one.to_grade))]
        students = {*one.no_score, *one.ungraded, *one.by_hand, *one.changed_since_read}
        need_you = Text(str(len(students) + len(one.refused) or ""), "bold red")
        table.add_row(one.lesson, one.stage, due, *numbers, need_you, str(one.returned or ""), Text(one.next, "cyan"))
    console.print(table)
    for one in found:
        for line in _to_see_to(one):
            console.print(f"{one.lesson}: {line}", soft_wrap=True)


_NUMBERS = {"collected", "graded", "to grade", "need you", "returned"}


def _to_see_to(one: LessonStatus) -> list[str]:
    lesson, says_why = quote(one.lesson), f"`katze log STUDENT {quote(one.lesson)}` says why."
    late = "".join(remarks_on_late(one.lesson, one.marked_late)).removeprefix(f"{one.lesson}: ")
    moved = ", ".join(f"{old} (now {new})" if new else old for old, new in one.moved.items())
    keeps = "" if one.frozen else f"; `katze freeze {lesson}` keeps them when it is graded again"
    lines: dict[str, object] = {
        f"no score: {some(one.no_score)}; {says_why}": one.no_score,
        f"an exercise could not be graded: {some(one.ungraded)}; {says_why} Points given for it in formgrader "
        "count.": one.ungraded,
        f"{count(len(one.by_hand), 'student')} with written answers that nobody has read yet.": one.by_hand,
        "changed after a person gave points, which count until the answer is read again in formgrader: "
        f"{some(one.changed_since_read)}.": one.changed_since_read,
        f"penalties or pages are not up to date for {some(one.stale)}; `{one.grading}` brings them up to date without "
        "grading anything.": one.stale,
        late: late,
        f"{count(len(one.withdrawn), 'submission')} withdrawn: {some(one.withdrawn)}; `katze export` leaves them out "
        "unless you add --withdrawn.": one.withdrawn,
        f"frozen, so {some(one.to_grade)} will not be graded until you run `katze thaw {lesson}`.": (
            one.frozen and one.to_grade
        ),
        f"grades are for exercises that the lesson no longer has: {moved}. They count, but not in nbgrader's own "
        f"totals{keeps}.": moved,
        f"the page has changed since it was returned: {some(one.changed_since)}.": one.changed_since,
        f"not looked at: {some(one.not_looked_at)}.": one.not_looked_at,
    }
    return [*one.refused, *(line for line, holds in lines.items() if holds)]
