"""Shows a graded class on one HTML page: the distribution of points, hard exercises, and mistakes.

Like a feedback page, it is self-contained: no network, no script, and everything that students wrote is escaped. It
contains names and points, so it is for instructors.
"""

import contextlib
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from autograder.course.course import Course
from autograder.gradebook.grades import most_points, read_grades
from autograder.gradebook.record import ExerciseRecord, Record
from autograder.pages.changes import remarks_on_changes
from autograder.pages.deadlines import late_in_brief, moment_in_words, remarks_on_deadlines, share_in_words
from autograder.pages.feedback import feedback_css, lesson_title, template
from autograder.words import count, some
from course_lib.exercises.catalogue import Catalogue, UnknownName
from course_lib.judging.observation import Outcome

BARS = 10
"""Number of bars in the chart of points."""

TALLEST = 85
"""Height of the tallest bar, in percent, which leaves room for a number above it."""

ENOUGH_TO_COMPARE = 10
"""Minimum number of students for showing how well an exercise separates strong from weak students."""

IN_ANOTHER_WAY = "wrong in another way"
"""Counts wrong answers that no known mistake explains."""

MOST_STUDENTS_SHOWN = 40
"""The list of students in a larger class is folded: on a phone, it would fill a page of its own."""

FEW_EXERCISES = 2
"""A student's row names up to this many exercises that are not right; more are folded."""


def class_page(course: Course, lesson: str) -> str:
    """Return the page about a lesson, from the gradebook and the release.

    Raises:
        BadInput: there is no gradebook, or the lesson has no grades.
    """
    everyone = read_grades(course, [lesson], withdrawn=True)[lesson]
    return render_class(_title_of(course, lesson), everyone, course.exercises, course.semester.lesson(lesson).due)


def class_record(course: Course, lesson: str) -> dict[str, Any]:
    """Return the contents of the page as JSON data.

    Raises:
        BadInput: there is no gradebook, or the lesson has no grades.
    """
    everyone, terms = read_grades(course, [lesson], withdrawn=True)[lesson], course.semester.lesson(lesson)
    return {
        "lesson": lesson,
        "title": _title_of(course, lesson),
        "due": terms.due.isoformat() if terms.due else None,
        "max_points": most_points(_not_withdrawn(everyone)),
        "weight": terms.weight,
        **_rows(everyone, course.exercises),
    }


def _title_of(course: Course, lesson: str) -> str:
    return lesson_title(json.loads(course.release_notebook(lesson).read_bytes())) or lesson


def render_class(title: str, everyone: Sequence[Record], catalogue: Catalogue, due: datetime | None = None) -> str:
    """Render the page about a lesson.

    Args:
        title: the lesson's title.
        everyone: at least one record, from `read_grades`. Withdrawn submissions are only named.
        catalogue: the course's exercises, for their titles and the messages of their mistakes.
        due: the due date.
    """
    results = _not_withdrawn(everyone)
    scored = [one for one in results if one.total is not None]
    return template("class_report.html").render(
        **_rows(everyone, catalogue),
        title=title,
        css=Markup(feedback_css()),
        own_css=Markup(Path(__file__).with_suffix(".css").read_text(encoding="utf-8")),
        most=f"{most_points(results):g}",
        facts=_facts(scored, results),
        bars=_bars(map(_share, scored)),
        compared=len(scored) >= ENOUGH_TO_COMPARE,
        late={one.student: late_in_brief(one) for one in results},
        is_late=any(map(late_in_brief, results)),
        due=moment_in_words(due) if due else "",
        how_many=count(len(results), "student"),
        shown=MOST_STUDENTS_SHOWN,
        few=FEW_EXERCISES,
    )


def _not_withdrawn(everyone: Sequence[Record]) -> list[Record]:
    return [one for one in everyone if not one.is_withdrawn]


def _rows(everyone: Sequence[Record], catalogue: Catalogue) -> dict[str, Any]:
    """Return the data that the page and JSON share: exercises, students, answers to look at, and remarks."""
    results = _not_withdrawn(everyone)
    scored = [one for one in results if one.total is not None]
    exercises = dict.fromkeys(one.exercise for submission in results for one in submission.exercises)
    return {
        "exercises": [_exercise(exercise, scored, catalogue) for exercise in exercises],
        "students": [
            {
                "student": one.student,
                "points": one.total,
                "max_points": one.max_total,
                "late_penalty": one.lateness.penalty,
                "not_right": _not_right(one),
            }
            for one in results
        ],
        "answers_to_look_at": [
            {"student": submission.student, "exercise": one.exercise, "places": one.worth_a_look.splitlines()}
            for submission in results
            for one in submission.exercises
            if one.worth_a_look
        ],
        "remarks": _remarks(everyone),
    }


def _remarks(everyone: Sequence[Record]) -> list[str]:
    """Return remarks about decisions and deadlines, and about students who are not listed."""
    gone = [one.student for one in everyone if one.is_withdrawn]
    lesson, results = everyone[0].lesson, _not_withdrawn(everyone)
    share = share_in_words(everyone[0], "each student's")
    remarks = [f"{lesson}: {share}"] if share else []
    remarks += [*remarks_on_changes(lesson, results), *remarks_on_deadlines(lesson, results)]
    if gone:
        remarks.append(f"{lesson}: withdrawn (the submission is no longer there), and not counted: {some(gone)}.")
    return remarks


def _share(result: Record) -> float:
    """Return the share earned of the points graded so far; extra credit may lift it above 1."""
    return (result.total or 0.0) / result.max_total if result.max_total else 0.0


def _facts(scored: Sequence[Record], results: Sequence[Record]) -> list[tuple[str, str]]:
    facts = [("submissions", str(len(results))), ("without a score", str(len(results) - len(scored)))]
    if scored:
        shares = [100 * _share(one) for one in scored]
        facts += [("median", f"{statistics.median(shares):.0f}%"), ("mean", f"{statistics.fmean(shares):.0f}%")]
    counted = {
        "handed in late": sum(one.lateness.is_late for one in results),
        "exercises that could not be graded": sum(len(one.ungraded) for one in results),
        "written answers wait for a person": sum(len(one.waiting) for one in results),
        "answers changed since they were read": sum(len(one.changed) for one in results),
    }
    return [*facts, *((name, str(number)) for name, number in counted.items() if number)]


def _bars(shares: Iterable[float]) -> list[tuple[str, int, float]]:
    """Return a bar for each tenth of the points: its name, its number of students, and its height in percent."""
    students = Counter(max(0, min(int(BARS * share), BARS - 1)) for share in shares)
    tallest = max(students.values(), default=1)
    step = 100 // BARS
    return [
        (f"{step * place}–{step * (place + 1)}%", students[place], TALLEST * students[place] / tallest)
        for place in range(BARS)
    ]


def _exercise(exercise: str, scored: Sequence[Record], catalogue: Catalogue) -> dict[str, Any]:
    """Return an exercise's results in a class: how many are right, the share of points earned, and what went wrong."""
    pairs = [(submission, one) for submission in scored for one in submission.exercises if one.exercise == exercise]
    judged = [(submission, one) for submission, one in pairs if one.points is not None]
    points = [one.points or 0.0 for _, one in judged]
    rest = [(submission.points or 0.0) - (one.points or 0.0) for submission, one in judged]
    most = max((one.max_points for _, one in judged), default=0)
    about: dict[str, Any] = {"title": "", "minutes": 0, "difficulty": 0, "importance": 0}
    with contextlib.suppress(UnknownName):
        known = catalogue.find(exercise)
        about = {name: getattr(known, name) for name in about}
    return {
        "exercise": exercise,
        **about,
        "max_points": most,
        "right": sum(one.outcome is Outcome.PASSED for _, one in judged),
        "judged": len(judged),
        "ungraded": len(pairs) - len(judged),
        "share": 100 * statistics.fmean(points) / most if points and most else 0.0,
        "tells_apart": _correlation(points, rest),
        "mistakes": _mistakes(exercise, [one for _, one in judged], catalogue),
    }


def _correlation(points: Sequence[float], rest: Sequence[float]) -> str:
    """Return the correlation of an exercise's points with all others; "–" for too few students or differences."""
    if len(points) < ENOUGH_TO_COMPARE or len(set(points)) < 2 or len(set(rest)) < 2:
        return "–"
    return f"{statistics.correlation(points, rest):.2f}".replace("-", "−")


def _mistakes(exercise: str, results: Iterable[ExerciseRecord], catalogue: Catalogue) -> list[dict[str, Any]]:
    """Return everything that went wrong: first the known mistakes, by name, then other wrong answers and outcomes, most
    frequent first.
    """
    failed = Counter((one.outcome, one.misconception) for one in results if one.outcome is not Outcome.PASSED)
    most_frequent = sorted(failed.items(), key=lambda item: (item[0][1] is None, -item[1]))
    return [
        {
            "name": misconception or (IN_ANOTHER_WAY if outcome is Outcome.WRONG else str(outcome)),
            "message": message_of(exercise, misconception, catalogue),
            "students": students,
        }
        for (outcome, misconception), students in most_frequent
    ]


def message_of(exercise: str, misconception: str | None, catalogue: Catalogue) -> str:
    """Return the sentence that students with a known mistake read; empty if there is none."""
    with contextlib.suppress(UnknownName):
        mistake = catalogue.find(exercise).mistake(misconception or "")
        return mistake.message if mistake else ""
    return ""


def _not_right(result: Record) -> list[str]:
    """Return the exercises that a student did not pass, with what went wrong; or why there is no score."""
    if result.total is None:
        return [result.problem] if result.problem else []
    failed = [one for one in result.exercises if one.outcome is not Outcome.PASSED]
    if len({(one.outcome, one.misconception) for one in failed}) == 1 and len(failed) == len(result.exercises) > 1:
        return [f"everything ({failed[0].misconception or failed[0].outcome})"]
    return [f"{one.exercise.partition('.')[2]} ({one.misconception or one.outcome})" for one in failed]
