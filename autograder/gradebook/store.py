"""Writing records into our tables, and reading them.

What is written goes into a transaction that the caller has begun, together with nbgrader's own rows: a submission is
recorded in both, or in neither.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    String,
    TableClause,
    and_,
    cast,
    delete,
    exists,
    func,
    insert,
    inspect,
    or_,
    select,
    text,
    update,
)

from autograder.gradebook.changes.rulings import Rulings, read_rulings, ruled
from autograder.gradebook.record import (
    CaseRecord,
    Change,
    Conditions,
    ExerciseRecord,
    HandGrade,
    Record,
    RunRecord,
    Standing,
    WrittenPage,
)
from autograder.gradebook.schema import WITH_READ_TEXTS, version
from autograder.gradebook.tables import (
    ANSWER,
    ASSIGNMENT,
    CASE,
    CELL,
    CELL_TABLES,
    CHANGE,
    COMMENT,
    CONDITIONS,
    EVENT,
    EXERCISE,
    GRADE,
    GRADED,
    NOTEBOOK,
    RUN,
    SHARE,
    STUDENT,
    SUBMISSION,
    SUBMITTED,
    inserting,
)
from course_lib.checking import Outcome

NO_RULINGS: Rulings = {}
WAS_GRADED, WAS_SET_ASIDE, WAS_RULED = "graded", "set aside", "counted anew"
"""What can happen to a grade."""

_OF_A_RECORD = ("digest", "notebook", "handed_in", "slot", "problem", "seconds", "void")
_OF_AN_EXERCISE = [field.name for field in fields(ExerciseRecord) if field.name not in ("cases", "ruling", "counts")]
_OF_A_CASE = [field.name for field in fields(CaseRecord)]
"""What has a column of its own name, and is stored there as it is."""


def begin_run(connection: Connection, run: RunRecord) -> int:
    """Write down that a run has begun; returns its number."""
    values = {**vars(run), "forced": int(run.forced), "started": _now()}
    return int(connection.execute(insert(RUN).values(**values).returning(RUN.c.id)).scalar_one())


def end_run(connection: Connection, run: int) -> None:
    """Write down that a run has come to its end."""
    connection.execute(update(RUN).where(RUN.c.id == run).values(finished=_now()))


def save(
    connection: Connection,
    run: int,
    record: Record,
    why: Iterable[str] = (),
    kept: Collection[str] = (),
    rulings: Rulings = NO_RULINGS,
) -> tuple[Change, ...]:
    """Write a record in place of the submission's earlier one, and what has changed into its history.

    Args:
        connection: the transaction.
        run: the run that has graded it.
        record: the new record.
        why: why it was graded, or graded again; a sentence each.
        kept: exercises that were not judged anew: what is recorded of them stays as it is.
        rulings: what the course has decided: history and changes tell of points as they count.
    """
    earlier = records(connection, record.lesson, record.student).get(record.student)
    submission = _save_submission(connection, run, record)
    if earlier is not None:
        _remove_exercises(connection, submission, kept)
    _save_exercises(connection, run, submission, record, kept)
    counted = ruled(record, rulings)
    changes = changes_between(None if earlier is None else ruled(earlier, rulings), counted)
    add_event(connection, run, counted, WAS_GRADED, tuple(why), counted.points, () if earlier is None else changes)
    return changes


def changes_between(before: Record | None, after: Record) -> tuple[Change, ...]:
    """What differs in how the exercises of a submission stand."""
    old = {} if before is None else {one.exercise: one.standing for one in before.exercises}
    new = {one.exercise: one.standing for one in after.exercises}
    return tuple(
        Change(exercise, old.get(exercise), new.get(exercise))
        for exercise in new | old
        if old.get(exercise) != new.get(exercise)
    )


def set_aside(connection: Connection, run: int, lesson: str, students: Collection[str], why: str) -> None:
    """Let the records of these students no longer count. What they say is kept until they are graded again."""
    for record in records(connection, lesson).values():
        if record.student in students and not record.void:
            connection.execute(update(GRADED).where(*_of(lesson, record.student)).values(void=why))
            add_event(connection, run, record, WAS_SET_ASIDE, (why,), None)


def _of(lesson: str, student: str | None) -> list[ColumnElement[bool]]:
    """Which rows of `GRADED` are those of a lesson, or of one student in it."""
    return [GRADED.c.lesson == lesson, *([] if student is None else [GRADED.c.student == student])]


def _save_submission(connection: Connection, run: int, record: Record) -> int:
    values = {
        "run": run,
        "conditions": _conditions_id(connection, record.conditions),
        "graded": _now(),
        "by_hand": "",  # the page has been written without
        **{name: getattr(record, name) for name in _OF_A_RECORD},
        **{name: _json(getattr(record, name)) for name in ("repairs", "remarks", "files", "imports")},
    }
    statement = inserting(connection, GRADED).values(lesson=record.lesson, student=record.student, **values)
    statement = statement.on_conflict_do_update(index_elements=["lesson", "student"], set_=values)
    return int(connection.execute(statement.returning(GRADED.c.id)).scalar_one())


def _remove_exercises(connection: Connection, submission: int, kept: Collection[str]) -> None:
    for table in (CASE, EXERCISE):
        anew = (table.c.submission == submission, table.c.exercise.not_in(kept))
        connection.execute(delete(table).where(*anew))


def _save_exercises(connection: Connection, run: int, submission: int, record: Record, kept: Collection[str]) -> None:
    exercises, cases = [], []
    for number, one in enumerate(record.exercises):
        if one.exercise in kept:
            row = (EXERCISE.c.submission == submission, EXERCISE.c.exercise == one.exercise)
            connection.execute(update(EXERCISE).where(*row).values(number=number))
            continue
        own = {name: getattr(one, name) for name in _OF_AN_EXERCISE}
        exercises.append({"submission": submission, "number": number, "run": run, **own})
        cases += [
            {
                "submission": submission,
                "exercise": one.exercise,
                "number": place,
                **vars(case),
                "hidden": int(case.hidden),
            }
            for place, case in enumerate(one.cases)
        ]
    for table, rows in ((EXERCISE, exercises), (CASE, cases)):
        if rows:
            connection.execute(insert(table), rows)


def _conditions_id(connection: Connection, conditions: Conditions) -> int:
    values = {
        "release": conditions.release,
        "seed": conditions.seed,
        "versions": _json(conditions.versions),
        "settings": _json(conditions.settings),
    }
    which = select(CONDITIONS.c.id).filter_by(**values)
    known: int | None = connection.scalar(which)
    if known is not None:
        return known
    connection.execute(inserting(connection, CONDITIONS).values(**values).on_conflict_do_nothing())
    return int(connection.execute(which).scalar_one())


def add_event(
    connection: Connection,
    run: int,
    record: Record,
    kind: str,
    why: tuple[str, ...],
    total: float | None,
    changes: Iterable[Change] = (),
) -> None:
    """Write something that has happened to a submission's grade into its history.

    Args:
        connection: the transaction.
        run: in which it has happened.
        record: the submission, as it counts from then on.
        kind: what: `WAS_GRADED` and the like.
        why: the reasons.
        total: its points; None where it has none, or none any more.
        changes: what is different in its exercises.
    """
    statement = insert(EVENT).values(
        lesson=record.lesson,
        student=record.student,
        run=run,
        at=_now(),
        kind=kind,
        why=_json(why),
        digest=record.digest,
        handed_in=record.handed_in,
        points=total,
        max_points=record.max_points,
    )
    event = int(connection.execute(statement.returning(EVENT.c.id)).scalar_one())
    _save_changes(connection, event, changes)


def _save_changes(connection: Connection, event: int, changes: Iterable[Change]) -> None:
    rows = [
        {"event": event, "exercise": one.exercise, **_columns("before", one.before), **_columns("after", one.after)}
        for one in changes
    ]
    if rows:
        connection.execute(insert(CHANGE), rows)


def _columns(when: str, standing: Standing | None) -> dict[str, object]:
    names = ("outcome", "points", "misconception")
    return {f"{when}_{name}": getattr(standing, name, None) for name in names}


# --- reading


def records(connection: Connection, lesson: str, student: str | None = None) -> dict[str, Record]:
    """The records of a lesson, or of one student in it, by student; without their cases."""
    which = _of(lesson, student)
    rows = connection.execute(_whatever_is_in(GRADED).where(*which).order_by(GRADED.c.student)).all()
    if not rows:
        return {}
    conditions = {
        row.id: Conditions(row.release, row.seed, json.loads(row.versions), json.loads(row.settings))
        for row in connection.execute(select(CONDITIONS))
    }
    exercises: dict[int, list[ExerciseRecord]] = {}
    of_these = select(GRADED.c.id).where(*which)
    for row in connection.execute(
        _whatever_is_in(EXERCISE)
        .where(EXERCISE.c.submission.in_(of_these))
        .order_by(EXERCISE.c.submission, EXERCISE.c.number)
    ):
        own = {name: row._mapping[name] for name in _OF_AN_EXERCISE if name in row._mapping}
        one = ExerciseRecord(**{**own, "outcome": Outcome(row.outcome), "max_points": _whole(row.max_points)})
        exercises.setdefault(row.submission, []).append(one)
    return {
        row.student: Record(
            student=row.student,
            lesson=row.lesson,
            conditions=conditions[row.conditions],
            exercises=tuple(exercises.get(row.id, ())),
            repairs=tuple(json.loads(row.repairs)),
            remarks=tuple(json.loads(row._mapping.get("remarks", "[]"))),  # version 2 has none
            imports=json.loads(row._mapping.get("imports", "{}")),  # nor has version 4 any of these
            files={name: (digest, size) for name, (digest, size) in json.loads(row.files).items()},
            **{name: row._mapping[name] for name in _OF_A_RECORD},
        )
        for row in rows
    }


def counted(connection: Connection, lesson: str, student: str | None = None) -> dict[str, Record]:
    """The same as they count, by the rulings that are in the scores."""
    rulings = read_rulings(connection, lesson)
    return {name: ruled(record, rulings) for name, record in records(connection, lesson, student).items()}


def _whatever_is_in(table: TableClause) -> Select[Any]:
    """All columns that a table has: in earlier versions it has fewer."""
    return select(text("*")).select_from(table)


def cases(connection: Connection, lesson: str, student: str) -> dict[str, tuple[CaseRecord, ...]]:
    """The cases of a submission, by exercise."""
    found: dict[str, list[CaseRecord]] = {}
    for exercise, *own in connection.execute(
        select(CASE.c.exercise, *(CASE.c[name] for name in _OF_A_CASE))
        .join(GRADED, GRADED.c.id == CASE.c.submission)
        .where(*_of(lesson, student))
        .order_by(CASE.c.exercise, CASE.c.number)
    ):
        case = CaseRecord(*own)
        case = replace(case, hidden=bool(case.hidden), outcome=Outcome(case.outcome))
        found.setdefault(exercise, []).append(case)
    return {exercise: tuple(seen) for exercise, seen in found.items()}


def runs(connection: Connection) -> dict[int, dict[str, Any]]:
    """All runs of the grader, by their numbers."""
    return {row.id: dict(row._mapping) for row in connection.execute(select(RUN))}


def graded_by(connection: Connection, lesson: str, student: str) -> tuple[str, int, dict[str, int]]:
    """When the submission that counts was graded, by which run, and which run has judged each exercise."""
    which = select(GRADED.c.id, GRADED.c.graded, GRADED.c.run).where(*_of(lesson, student))
    submission = connection.execute(which).one()
    judged = select(EXERCISE.c.exercise, EXERCISE.c.run).where(EXERCISE.c.submission == submission.id)
    return submission.graded, submission.run, {row.exercise: row.run for row in connection.execute(judged)}


def graded_lessons(connection: Connection) -> list[str]:
    """The lessons of which anything has been graded, in order."""
    return list(connection.scalars(select(GRADED.c.lesson).distinct().order_by(GRADED.c.lesson)))


def known_students(connection: Connection) -> set[str]:
    """The students that nbgrader knows."""
    return set(connection.scalars(select(STUDENT.c.id)))


def history(connection: Connection, lesson: str, student: str) -> list[tuple[dict[str, Any], list[Change]]]:
    """Everything that has happened to a submission's grade, in order, each with what it changed."""
    events = connection.execute(
        select(EVENT).where(EVENT.c.lesson == lesson, EVENT.c.student == student).order_by(EVENT.c.id)
    ).all()
    found = []
    for event in events:
        rows = connection.execute(select(CHANGE).where(CHANGE.c.event == event.id).order_by(CHANGE.c.exercise))
        changes = [Change(row[1], _standing(*row[2:5]), _standing(*row[5:8])) for row in rows]
        told = {**event._mapping, "why": json.loads(event.why), "max_points": _whole(event.max_points)}
        found.append((told, changes))
    return found


def _whole(number: float) -> float:
    """A number that is whole as such, as a file keeps it; a server has it as a fraction."""
    return int(number) if number == int(number) else number


def _standing(outcome: str | None, points: float | None, misconception: str | None) -> Standing | None:
    return None if outcome is None else Standing(Outcome(outcome), points, misconception)


def by_hand(connection: Connection, lesson: str, student: str | None = None) -> dict[str, tuple[HandGrade, ...]]:
    """What people have given and written in formgrader, and what waits for them, by student; or for one student only.

    Cells of exercises that nobody has touched are left out; written answers are all there.
    """
    with_grade, task, beside = CELL_TABLES["GradeCell"], CELL_TABLES["TaskCell"], CELL.alias()
    same = (beside.c.notebook_id == CELL.c.notebook_id, beside.c.name == CELL.c.name)
    is_answer = exists(select(beside.c.id).where(*same, beside.c.type == "SolutionCell"))
    written = or_(is_answer, task.c.id.is_not(None), cast(with_grade.c.cell_type, String) == "markdown")
    touched = or_(
        and_(written, GRADE.c.id.is_not(None)),
        GRADE.c.manual_score.is_not(None),
        GRADE.c.extra_credit.is_not(None),
        GRADE.c.needs_manual_grade.is_(True),
        COMMENT.c.manual_comment != "",
    )
    rows = connection.execute(
        select(
            SUBMISSION.c.student_id.label("student"),
            CELL.c.name.label("cell"),
            CELL.c.type.label("kind"),
            NOTEBOOK.c.name.label("notebook"),
            written.label("written"),
            GRADE,
            func.coalesce(with_grade.c.max_score, task.c.max_score, 0).label("max_points"),
            COMMENT.c.manual_comment,
        )
        .select_from(ASSIGNMENT)
        .join(SUBMISSION, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
        .join(SUBMITTED, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
        .join(NOTEBOOK, NOTEBOOK.c.id == SUBMITTED.c.notebook_id)
        .join(CELL, CELL.c.notebook_id == SUBMITTED.c.notebook_id)
        .outerjoin(with_grade, with_grade.c.id == CELL.c.id)
        .outerjoin(task, task.c.id == CELL.c.id)
        .outerjoin(GRADE, and_(GRADE.c.cell_id == CELL.c.id, GRADE.c.notebook_id == SUBMITTED.c.id))
        .outerjoin(COMMENT, and_(COMMENT.c.cell_id == CELL.c.id, COMMENT.c.notebook_id == SUBMITTED.c.id))
        .where(ASSIGNMENT.c.name == lesson, touched, *([] if student is None else [SUBMISSION.c.student_id == student]))
    )
    found: dict[str, dict[tuple[str, str], HandGrade]] = {}
    shares = {}
    if inspect(connection).has_table(SHARE.name):  # not in a gradebook of an earlier version
        shares = {share.grade_id: share for share in connection.execute(select(SHARE))}
    changed = _changed_since_read(connection)
    for row in sorted(rows, key=lambda row: (row.student, row.notebook, row.cell, row.kind)):  # not as the server sorts
        share = shares.get(row.id)
        cells, key = found.setdefault(row.student, {}), (row.notebook, row.cell)
        comment = row.manual_comment or (cells[key].comment if key in cells else "")
        graded = row.id is not None
        if graded or key not in cells:  # a written answer has a row for its points, one for its comment
            cells[key] = HandGrade(
                row.cell,
                bool(row.written and graded),
                row.auto_score,
                row.manual_score,
                row.extra_credit,
                row.max_points,
                bool(row.needs_manual_grade),
                comment,
                "" if row.notebook == lesson else row.notebook,
                None if share is None or share.counts != row.manual_score else (share.given, share.out_of),
                bool(row.needs_manual_grade) and row.id in changed,
            )
        else:
            cells[key] = replace(cells[key], comment=comment)
    return {name: tuple(cells.values()) for name, cells in found.items()}


def _changed_since_read(connection: Connection) -> set[str]:
    """The rows of nbgrader's grades with points by a person for another text than is there now, read again or not."""
    if version(connection) < WITH_READ_TEXTS:
        return set()
    given = or_(GRADE.c.manual_score.is_not(None), GRADE.c.extra_credit.is_not(None))
    return set(
        connection.scalars(
            select(GRADE.c.id)
            .join(ANSWER, ANSWER.c.grade_id == GRADE.c.id)
            .where(ANSWER.c.given_for != ANSWER.c.checksum, given)
        )
    )


def pages(connection: Connection, lesson: str) -> dict[str, WrittenPage]:
    """The feedback pages of all students whose grade counts, by student; one that was not written has no bytes."""
    rows = connection.execute(_whatever_is_in(GRADED).where(GRADED.c.lesson == lesson, GRADED.c.void == ""))
    found = {}
    for row in rows:
        digest, size = json.loads(row.files).get("feedback", ("", -1))
        by_hand = row._mapping.get("by_hand", "")  # version 2 has none
        found[row.student] = WrittenPage(by_hand, digest, size, datetime.fromisoformat(row.graded).timestamp())
    return found


def save_page(connection: Connection, record: Record, by_hand: str) -> None:
    """Write down that a feedback page was written anew, with what was given by hand."""
    values = {"files": _json(record.files), "by_hand": by_hand}
    connection.execute(update(GRADED).where(*_of(record.lesson, record.student)).values(**values))


def overwritten(connection: Connection, lesson: str, counted: Mapping[str, Record]) -> set[str]:
    """The students of a lesson whose automatic scores in nbgrader's tables are not those that follow from our records.

    Args:
        connection: the transaction.
        lesson: the lesson.
        counted: the records by student, as they count.
    """
    rows = connection.execute(
        select(SUBMISSION.c.student_id, CELL.c.name, GRADE.c.auto_score)
        .select_from(ASSIGNMENT)
        .join(SUBMISSION, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
        .join(SUBMITTED, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
        .join(NOTEBOOK, and_(NOTEBOOK.c.id == SUBMITTED.c.notebook_id, NOTEBOOK.c.name == lesson))
        .join(GRADE, GRADE.c.notebook_id == SUBMITTED.c.id)
        .join(CELL, and_(CELL.c.id == GRADE.c.cell_id, CELL.c.type == "GradeCell"))
        .where(ASSIGNMENT.c.name == lesson)
    )
    scores: dict[str, dict[str, float | None]] = {}
    for student, cell, score in rows:
        scores.setdefault(student, {})[cell] = score
    return {
        student
        for student, record in counted.items()
        if not record.void
        and any(
            one.cell not in scores.get(student, {}) or scores[student][one.cell] != one.points
            for one in record.exercises
        )
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _json(value: Mapping[str, Any] | Collection[Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
