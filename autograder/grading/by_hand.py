"""Puts points given in formgrader and late penalties on the feedback pages, without grading anything.

A page that another program has replaced, as `nbgrader generate_feedback` does, is also rewritten.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from autograder.course.course import Course
from autograder.gradebook import store
from autograder.gradebook.access import read_only
from autograder.gradebook.deadlines import terms
from autograder.gradebook.record import HandGrade, Record
from autograder.gradebook.results import ClassResult
from autograder.gradebook.session import GradebookSession
from autograder.gradebook.store import read_frozen
from autograder.grading.publish import rewrite_feedback
from autograder.grading.strategy import Strategy
from autograder.pages.deadlines import deadline_for_student, remarks_on_frozen
from course_lib.ground.files import sha256_of


def bring_to_pages(strategy: Strategy, book: GradebookSession, records: Mapping[str, Record]) -> ClassResult:
    """Bring the deadlines in nbgrader's tables up to date, and rewrite these students' pages where points by hand,
    comments or deadlines have changed, or where the page itself has been changed.

    Args:
        strategy: of the assignment; without feedback no page is written.
        book: the gradebook.
        records: of the students to look at.

    Returns:
        The records with points by hand and late penalties, and the students whose pages were rewritten.

    Raises:
        BadInput: nbgrader's plugin for late penalties cannot be used; grades are recorded without its penalties.
    """
    name = strategy.name
    if book.is_new():
        return ClassResult(name, "", _in_order(records), 0.0)
    recorded = _complete_records(strategy.course, name, book, records.keys())
    with book.begin() as session:
        odd = terms.warnings_about_students(strategy.course, session, name)
        written = store.pages(session, name) if strategy.feedback else {}
        is_frozen = name in read_frozen(session)
        penalties = strategy.read_penalties(session)
    told = defaultdict[str, list[str]](list)
    rewritten = []
    for student in sorted(written.keys() & recorded.keys()):
        record, page, files = recorded[student], written[student], strategy.written_files(student)
        why = _why_outdated(page.by_hand, page.graded, record, files, is_frozen)
        if not why:
            continue
        made = rewrite_feedback(strategy, record, penalties.get(student, {}))
        told["stale_pages" if made is None else why].append(student)
        if made is not None:
            rewritten.append(replace(record, files={**record.files, **made}))
    if rewritten:
        with book.begin() as session:
            for record in rewritten:
                store.save_page(session, record, _digest(record))
    complete = {
        student: replace(records[student], by_hand=record.by_hand, lateness=record.lateness)
        for student, record in recorded.items()
    }
    return ClassResult(
        name,
        "",
        _in_order({**records, **complete}),
        0.0,
        pages=tuple(told["pages"]),
        due_pages=tuple(told["due_pages"]),
        replaced_pages=tuple(told["replaced_pages"]),
        stale_pages=tuple(told["stale_pages"]),
        notices=(*odd, *remarks_on_frozen(name, recorded.values())),
    )


def _in_order(records: Mapping[str, Record]) -> tuple[Record, ...]:
    return tuple(record for _, record in sorted(records.items()))


def _complete_records(
    course: Course, lesson: str, book: GradebookSession, students: Collection[str]
) -> dict[str, Record]:
    """Return these students' records with points by hand and late penalties, after writing the penalties."""
    with book.begin() as session:
        cells = store.by_hand(session, lesson)
        found = [
            replace(record, by_hand=cells.get(student, ()))
            for student, record in store.counted(session, lesson).items()
            if student in students
        ]
        records = terms.with_lateness(course, session, lesson, found)
        is_written = terms.is_due_date_written(course, session, lesson)
    if not is_written or not all(record.lateness.is_written for record in records):
        with book.begin() as session:
            terms.write_terms(course, session, lesson, records)
        records = [replace(record, lateness=replace(record.lateness, is_written=True)) for record in records]
    return {record.student: record for record in records}


def outdated_pages(course: Course, lesson: str, records: Iterable[Record]) -> list[str]:
    """Return the students whose page is missing, has been changed, or lacks later points by hand or deadlines.

    Args:
        course: the course.
        lesson: the lesson.
        records: of the students to look at, as `read_grades` gives them.

    Raises:
        BadInput: there is no gradebook.
    """
    with read_only(course.gradebook) as session:
        written = store.pages(session, lesson)
        is_frozen = lesson in read_frozen(session)
    return [
        record.student
        for record in records
        if record.student not in written
        or _why_outdated(
            written[record.student].by_hand,
            written[record.student].graded,
            record,
            {"feedback": course.feedback / record.student / lesson / f"{lesson}.html"},
            is_frozen,
        )
    ]


def _why_outdated(shown: str, graded: str, record: Record, files: Mapping[str, Path], is_frozen: bool) -> str:
    """Return why a submission's pages are out of date, by the name of `ClassResult`'s list; empty if they are not.

    Args:
        shown: the digest of what they show.
        graded: when the submission was graded.
        record: what they should show.
        files: where they are, by their names in records.
        is_frozen: whether deadlines do not count.
    """
    now, since = _digest(record), datetime.fromisoformat(graded).timestamp()
    if shown.partition(":")[0] != now.partition(":")[0]:
        return "pages"
    if shown != now and not is_frozen:
        return "due_pages"
    pages = ((path, record.files.get(file, ("", -1))) for file, path in files.items() if file.startswith("feedback"))
    return "replaced_pages" if any(_is_another(path, *made, since) for path, made in pages) else ""


def _is_another(path: Path, sha256: str, size: int, graded: float) -> bool:
    """Return whether a page has been changed. Reads its bytes only if its time says that it may have."""
    try:
        status = path.stat()
        if status.st_size != size:
            return True
        if status.st_mtime < graded + 1:  # that is known to the second
            return False
        return sha256_of(path) != sha256
    except FileNotFoundError:
        return True


def _digest(record: Record) -> str:
    """Return a digest of the points by hand that a page shows, and after a colon, one of its deadline; each may be
    empty.
    """
    given: list[object] = [
        (_named(record, cell), cell.points, cell.extra_credit, cell.comment, *["changed"] * cell.is_changed)
        for cell in record.by_hand
        if cell.is_given or cell.comment
    ]
    given += [(one.exercise, one.points, one.max_points, one.adjustment) for one in record.exercises if one.adjustment]
    given += record.adjustments
    told = deadline_for_student(record)
    return (_sha256(given) if given else "") + (f":{_sha256(told)}" if told else "")


def _named(record: Record, cell: HandGrade) -> str:
    """Return a cell's grade_id, preceded by its notebook if the assignment has several."""
    return cell.cell if cell.notebook in ("", record.lesson) else f"{cell.notebook}/{cell.cell}"


def _sha256(shown: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()
