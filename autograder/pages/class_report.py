"""A graded class on one HTML page: how the points fall, which exercises were hard, which mistakes were made.

The page needs nothing else, as a feedback page does: no network, no script, and all that students wrote is escaped. It
holds names and points: it is for instructors.
"""

from __future__ import annotations

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
"""Bars in the picture of the points."""

TALLEST = 85
"""The height of the tallest, in percent: it leaves room for a number above it."""

ENOUGH_TO_COMPARE = 10
"""The fewest students for whom it says how well an exercise tells those who know more from those who know less."""

IN_ANOTHER_WAY = "wrong in another way"
"""Where wrong answers are counted that no known mistake explains."""

MOST_STUDENTS_SHOWN = 40
"""A class of more has its list of students folded: it would be a page of its own on a telephone."""

FEW_EXERCISES = 2
"""Up to so many exercises that are not right are named in a student's row; more are folded in it."""


def class_page(course: Course, lesson: str) -> str:
    """The page about one lesson, from the gradebook and the release.

    Raises:
        BadInput: there is no gradebook, or nothing of the lesson has been graded.
    """
    everyone = read_grades(course, [lesson], withdrawn=True)[lesson]
    return render_class(_title_of(course, lesson), everyone, course.exercises, course.semester.lesson(lesson).due)


def class_record(course: Course, lesson: str) -> dict[str, Any]:
    """What the page tells, as JSON data.

    Raises:
        BadInput: there is no gradebook, or nothing of the lesson has been graded.
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
    """The page about one lesson.

    Args:
        title: the lesson's.
        everyone: from `read_grades`, at least one. Those that were withdrawn are only named.
        catalogue: the course's exercises, with their titles and the messages of their mistakes.
        due: when it was due.
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
    """What page and JSON have in common: exercises, students, answers to look at, and remarks."""
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
    """What should be known about decisions and deadlines, and who is not among the students."""
    gone = [one.student for one in everyone if one.is_withdrawn]
    lesson, results = everyone[0].lesson, _not_withdrawn(everyone)
    share = share_in_words(everyone[0], "each student's")
    said = [f"{lesson}: {share}"] if share else []
    said += [*remarks_on_changes(lesson, results), *remarks_on_deadlines(lesson, results)]
    if gone:
        said.append(f"{lesson}: withdrawn (the submission is no longer there), and not counted: {some(gone)}.")
    return said


def _share(result: Record) -> float:
    """What was earned of the points that have been given out; extra credit may lift it above 1."""
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
    """For each tenth of the points: its name, how many students are in it, and its height in percent."""
    students = Counter(max(0, min(int(BARS * share), BARS - 1)) for share in shares)
    tallest = max(students.values(), default=1)
    step = 100 // BARS
    return [
        (f"{step * place}–{step * (place + 1)}%", students[place], TALLEST * students[place] / tallest)
        for place in range(BARS)
    ]


def _exercise(exercise: str, scored: Sequence[Record], catalogue: Catalogue) -> dict[str, Any]:
    """One exercise in a class: how many have it right, what the class has earned of it, and what went wrong."""
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
    """How an exercise's points go with all others; "–" with too few students, or no differences."""
    if len(points) < ENOUGH_TO_COMPARE or len(set(points)) < 2 or len(set(rest)) < 2:
        return "–"
    return f"{statistics.correlation(points, rest):.2f}".replace("-", "−")


def _mistakes(exercise: str, results: Iterable[ExerciseRecord], catalogue: Catalogue) -> list[dict[str, Any]]:
    """What went wrong, all of it: first the known mistakes, by name, then other wrong answers and outcomes; the most
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
    """The sentence that the author of a known mistake reads; empty where there is none, or the course knows none."""
    with contextlib.suppress(UnknownName):
        mistake = catalogue.find(exercise).mistake(misconception or "")
        return mistake.message if mistake else ""
    return ""


def _not_right(result: Record) -> list[str]:
    """The exercises that a student has not passed, with what went wrong; or why there is no score."""
    if result.total is None:
        return [result.problem] if result.problem else []
    failed = [one for one in result.exercises if one.outcome is not Outcome.PASSED]
    if len({(one.outcome, one.misconception) for one in failed}) == 1 and len(failed) == len(result.exercises) > 1:
        return [f"everything ({failed[0].misconception or failed[0].outcome})"]
    return [f"{one.exercise.partition('.')[2]} ({one.misconception or one.outcome})" for one in failed]
