"""Writing records into our tables, and reading them.

What is written goes into a transaction that the caller has begun, together with nbgrader's own rows: a submission is
recorded in both, or in neither.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

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
from course_lib.checking import Outcome

GRADED, SET_ASIDE = "graded", "set aside"
"""What can happen to a grade."""


def begin_run(connection: Connection, run: RunRecord) -> int:
    """Write down that a run has begun; returns its number."""
    statement = """
        INSERT INTO katze_run (lesson, started, host, platform, workers, boxes, forced, submissions)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    """
    values = (run.lesson, _now(), run.host, run.platform, run.workers, run.boxes, run.forced, run.submissions)
    return int(connection.exec_driver_sql(statement, values).lastrowid)


def end_run(connection: Connection, run: int) -> None:
    """Write down that a run has come to its end."""
    connection.exec_driver_sql("UPDATE katze_run SET finished = ? WHERE id = ?", (_now(), run))


def save(
    connection: Connection, run: int, record: Record, why: Iterable[str] = (), kept: Collection[str] = ()
) -> tuple[Change, ...]:
    """Write a record in place of the submission's earlier one, and what has changed into its history.

    Args:
        connection: the transaction.
        run: the run that has graded it.
        record: the new record.
        why: why it was graded, or graded again; a sentence each.
        kept: exercises that were not judged anew: what is written of them stays as it is.
    """
    before = _standings(connection, record)
    submission = _save_submission(connection, run, record)
    _save_exercises(connection, run, submission, record, kept)
    after = {one.exercise: one.standing for one in record.exercises}
    changes = tuple(
        Change(exercise, before.get(exercise), after.get(exercise))
        for exercise in after | before
        if before.get(exercise) != after.get(exercise)
    )
    event = _add_event(connection, run, record, GRADED, tuple(why), record.points)
    _save_changes(connection, event, changes if before else ())
    return changes


def set_aside(connection: Connection, run: int, lesson: str, students: Collection[str], why: str) -> None:
    """Let the records of these students no longer count. What they say is kept until they are graded again."""
    for record in records(connection, lesson).values():
        if record.student in students and not record.void:
            connection.exec_driver_sql(
                "UPDATE katze_submission SET void = ? WHERE lesson = ? AND student = ?", (why, lesson, record.student)
            )
            _add_event(connection, run, record, SET_ASIDE, (why,), None)


def _standings(connection: Connection, record: Record) -> dict[str, Standing]:
    rows = connection.exec_driver_sql(
        """
        SELECT exercise, outcome, points, misconception FROM katze_exercise
        JOIN katze_submission ON katze_submission.id = submission WHERE lesson = ? AND student = ? ORDER BY number
        """,
        (record.lesson, record.student),
    )
    return {row.exercise: Standing(Outcome(row.outcome), row.points, row.misconception) for row in rows}


def _save_submission(connection: Connection, run: int, record: Record) -> int:
    values = {
        "run": run,
        "conditions": _conditions_id(connection, record.conditions),
        "graded": _now(),
        "digest": record.digest,
        "notebook": record.notebook,
        "handed_in": record.handed_in,
        "slot": record.slot,
        "repairs": _json(record.repairs),
        "problem": record.problem,
        "remarks": _json(record.remarks),
        "by_hand": "",  # the page has been written without
        "seconds": record.seconds,
        "files": _json(record.files),
        "void": record.void,
    }
    columns = ["lesson", "student", *values]
    statement = (
        f"INSERT INTO katze_submission ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))}) "
        f"ON CONFLICT (lesson, student) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in values)} "
        "RETURNING id"
    )
    found = connection.exec_driver_sql(statement, (record.lesson, record.student, *values.values()))
    return int(found.scalar_one())


def _save_exercises(connection: Connection, run: int, submission: int, record: Record, kept: Collection[str]) -> None:
    keep = f"AND exercise NOT IN ({', '.join('?' * len(kept))})"
    for table in ("katze_case", "katze_exercise"):
        connection.exec_driver_sql(f"DELETE FROM {table} WHERE submission = ? {keep}", (submission, *kept))
    exercises, cases = [], []
    for number, one in enumerate(record.exercises):
        if one.exercise in kept:
            order = "UPDATE katze_exercise SET number = ? WHERE submission = ? AND exercise = ?"
            connection.exec_driver_sql(order, (number, submission, one.exercise))
            continue
        judged = (one.outcome, one.points, one.max_points, one.misconception, one.note)
        exercises.append(
            (submission, number, one.exercise, run, one.cell, one.fingerprint, one.seed, one.level, *judged)
        )
        cases += [
            (
                submission,
                one.exercise,
                place,
                case.name,
                case.part,
                case.hidden,
                case.outcome,
                case.message,
                case.seconds,
            )
            for place, case in enumerate(one.cases)
        ]
    for table, rows in (("katze_exercise", exercises), ("katze_case", cases)):
        if rows:
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _conditions_id(connection: Connection, conditions: Conditions) -> int:
    values = (conditions.release, conditions.seed, _json(conditions.versions), _json(conditions.settings))
    connection.exec_driver_sql(
        "INSERT OR IGNORE INTO katze_conditions (release, seed, versions, settings) VALUES (?, ?, ?, ?)", values
    )
    find = "SELECT id FROM katze_conditions WHERE release = ? AND seed = ? AND versions = ? AND settings = ?"
    return int(connection.exec_driver_sql(find, values).scalar_one())


def _add_event(
    connection: Connection, run: int, record: Record, kind: str, why: tuple[str, ...], total: float | None
) -> int:
    statement = """
        INSERT INTO katze_event (lesson, student, run, at, kind, why, digest, handed_in, points, max_points)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
    values = (record.lesson, record.student, run, _now(), kind, _json(why), record.digest, record.handed_in)
    return int(connection.exec_driver_sql(statement, (*values, total, record.max_points)).lastrowid)


def _save_changes(connection: Connection, event: int, changes: Iterable[Change]) -> None:
    rows = [(event, change.exercise, *_columns(change.before), *_columns(change.after)) for change in changes]
    if rows:
        connection.exec_driver_sql("INSERT INTO katze_change VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _columns(standing: Standing | None) -> tuple[str | None, float | None, str | None]:
    return (None, None, None) if standing is None else (standing.outcome, standing.points, standing.misconception)


# --- reading


def records(connection: Connection, lesson: str, student: str | None = None) -> dict[str, Record]:
    """The records of a lesson, or of one student in it, by student; without their cases."""
    which = "lesson = ? AND student = ?" if student is not None else "lesson = ?"
    names = (lesson,) if student is None else (lesson, student)
    conditions = {
        row.id: Conditions(row.release, row.seed, json.loads(row.versions), json.loads(row.settings))
        for row in connection.exec_driver_sql("SELECT * FROM katze_conditions")
    }
    exercises: dict[int, list[ExerciseRecord]] = {}
    for row in connection.exec_driver_sql(
        f"""
        SELECT katze_exercise.* FROM katze_exercise JOIN katze_submission ON katze_submission.id = submission
        WHERE {which} ORDER BY submission, number
        """,
        names,
    ):
        (submission, _, exercise, _, cell, fingerprint, seed, level, outcome, points, most, misconception, note) = row
        exercises.setdefault(submission, []).append(
            ExerciseRecord(
                exercise, cell, fingerprint, seed, level, Outcome(outcome), points, most, misconception, note
            )
        )
    rows = connection.exec_driver_sql(f"SELECT * FROM katze_submission WHERE {which} ORDER BY student", names)
    return {
        row.student: Record(
            student=row.student,
            lesson=row.lesson,
            digest=row.digest,
            notebook=row.notebook,
            handed_in=row.handed_in,
            slot=row.slot,
            conditions=conditions[row.conditions],
            exercises=tuple(exercises.get(row.id, ())),
            repairs=tuple(json.loads(row.repairs)),
            problem=row.problem,
            remarks=tuple(json.loads(row._mapping.get("remarks", "[]"))),  # version 2 has none
            seconds=row.seconds,
            files={name: (digest, size) for name, (digest, size) in json.loads(row.files).items()},
            void=row.void,
        )
        for row in rows
    }


def cases(connection: Connection, lesson: str, student: str) -> dict[str, tuple[CaseRecord, ...]]:
    """The cases of a submission, by exercise."""
    found: dict[str, list[CaseRecord]] = {}
    for row in connection.exec_driver_sql(
        """
        SELECT katze_case.* FROM katze_case JOIN katze_submission ON katze_submission.id = submission
        WHERE lesson = ? AND student = ? ORDER BY exercise, number
        """,
        (lesson, student),
    ):
        case = CaseRecord(row.name, row.part, bool(row.hidden), Outcome(row.outcome), row.message, row.seconds)
        found.setdefault(row.exercise, []).append(case)
    return {exercise: tuple(seen) for exercise, seen in found.items()}


def runs(connection: Connection) -> dict[int, dict[str, Any]]:
    """All runs of the grader, by their numbers."""
    return {row.id: dict(row._mapping) for row in connection.exec_driver_sql("SELECT * FROM katze_run")}


def graded_by(connection: Connection, lesson: str, student: str) -> tuple[str, int, dict[str, int]]:
    """When the submission that counts was graded, by which run, and which run has judged each exercise."""
    submission = connection.exec_driver_sql(
        "SELECT id, graded, run FROM katze_submission WHERE lesson = ? AND student = ?", (lesson, student)
    ).one()
    rows = connection.exec_driver_sql("SELECT exercise, run FROM katze_exercise WHERE submission = ?", (submission.id,))
    return submission.graded, submission.run, {row.exercise: row.run for row in rows}


def history(connection: Connection, lesson: str, student: str) -> list[tuple[dict[str, Any], list[Change]]]:
    """Everything that has happened to a submission's grade, in order, each with what it changed."""
    events = connection.exec_driver_sql(
        "SELECT * FROM katze_event WHERE lesson = ? AND student = ? ORDER BY id", (lesson, student)
    ).all()
    found = []
    for event in events:
        rows = connection.exec_driver_sql("SELECT * FROM katze_change WHERE event = ? ORDER BY exercise", (event.id,))
        changes = [Change(row[1], _standing(*row[2:5]), _standing(*row[5:8])) for row in rows]
        found.append(({**event._mapping, "why": json.loads(event.why)}, changes))
    return found


def _standing(outcome: str | None, points: float | None, misconception: str | None) -> Standing | None:
    return None if outcome is None else Standing(Outcome(outcome), points, misconception)


def by_hand(connection: Connection, lesson: str, student: str | None = None) -> dict[str, tuple[HandGrade, ...]]:
    """What people have given and written in formgrader, and what waits for them, by student; or of one student alone.

    Cells of exercises that nobody has touched are left out; written answers are all there.
    """
    which = "" if student is None else "AND submitted.student_id = ?"
    rows = connection.exec_driver_sql(
        f"""
        SELECT submitted.student_id AS student, cell.name AS cell,
               cell.name NOT IN (SELECT cell FROM katze_exercise) AS written, grade.id IS NOT NULL AS graded,
               grade.auto_score AS automatic, grade.manual_score AS points, grade.extra_credit AS extra_credit,
               grade.needs_manual_grade AS waits, comment.manual_comment AS comment,
               coalesce(grade_cells.max_score, task_cells.max_score, 0) AS max_points
        FROM assignment
        JOIN submitted_assignment submitted ON submitted.assignment_id = assignment.id
        JOIN submitted_notebook page ON page.assignment_id = submitted.id
        JOIN base_cell cell ON cell.notebook_id = page.notebook_id
        LEFT JOIN grade_cells ON grade_cells.id = cell.id
        LEFT JOIN task_cells ON task_cells.id = cell.id
        LEFT JOIN grade ON grade.cell_id = cell.id AND grade.notebook_id = page.id
        LEFT JOIN comment ON comment.cell_id = cell.id AND comment.notebook_id = page.id
        WHERE assignment.name = ? {which}
            AND (written AND grade.id IS NOT NULL OR grade.manual_score IS NOT NULL OR grade.extra_credit IS NOT NULL
                 OR grade.needs_manual_grade OR comment.manual_comment != '')
        ORDER BY submitted.student_id, cell.name, cell.type
        """,
        (lesson,) if student is None else (lesson, student),
    )
    found: dict[str, dict[str, HandGrade]] = {}
    for row in rows:
        cells = found.setdefault(row.student, {})
        comment = row.comment or (cells[row.cell].comment if row.cell in cells else "")
        if row.graded or row.cell not in cells:  # a written answer has a row for its points, one for its comment
            cells[row.cell] = HandGrade(
                row.cell,
                bool(row.written and row.graded),
                row.automatic,
                row.points,
                row.extra_credit,
                row.max_points,
                bool(row.waits),
                comment,
            )
        else:
            cells[row.cell] = replace(cells[row.cell], comment=comment)
    return {name: tuple(cells.values()) for name, cells in found.items()}


def pages(connection: Connection, lesson: str) -> dict[str, WrittenPage]:
    """The feedback pages of all students whose grade counts, by student; one that was not written has no bytes."""
    rows = connection.exec_driver_sql("SELECT * FROM katze_submission WHERE lesson = ? AND void = ''", (lesson,))
    found = {}
    for row in rows:
        digest, size = json.loads(row.files).get("feedback", ("", -1))
        by_hand = row._mapping.get("by_hand", "")  # version 2 has none
        found[row.student] = WrittenPage(by_hand, digest, size, datetime.fromisoformat(row.graded).timestamp())
    return found


def save_page(connection: Connection, record: Record, by_hand: str) -> None:
    """Write down that a feedback page was written anew, with what was given by hand."""
    connection.exec_driver_sql(
        "UPDATE katze_submission SET files = ?, by_hand = ? WHERE lesson = ? AND student = ?",
        (_json(record.files), by_hand, record.lesson, record.student),
    )


def overwritten(connection: Connection, lesson: str) -> set[str]:
    """The students of a lesson whose automatic scores in nbgrader's tables are not those that were recorded."""
    rows = connection.exec_driver_sql(
        """
        SELECT DISTINCT own.student FROM katze_submission own
        JOIN katze_exercise exercise ON exercise.submission = own.id
        LEFT JOIN assignment ON assignment.name = own.lesson
        LEFT JOIN submitted_assignment submitted
            ON submitted.assignment_id = assignment.id AND submitted.student_id = own.student
        LEFT JOIN notebook ON notebook.assignment_id = assignment.id AND notebook.name = own.lesson
        LEFT JOIN submitted_notebook page ON page.assignment_id = submitted.id AND page.notebook_id = notebook.id
        LEFT JOIN base_cell cell
            ON cell.name = exercise.cell AND cell.notebook_id = notebook.id AND cell.type = 'GradeCell'
        LEFT JOIN grade ON grade.cell_id = cell.id AND grade.notebook_id = page.id
        WHERE own.lesson = ? AND own.void = '' AND (grade.id IS NULL OR grade.auto_score IS NOT exercise.points)
        """,
        (lesson,),
    )
    return {row.student for row in rows}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _json(value: Mapping[str, Any] | Collection[Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
