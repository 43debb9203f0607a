"""Our tables in the gradebook, and how those of earlier versions are brought up to date.

The tables are next to nbgrader's and begin with `katze_`; nbgrader's own tools ignore them. `katze_schema` says
which version they have. A gradebook without it has version 0: nbgrader's alone, or with the table of the first
Katze.
"""

from __future__ import annotations

from sqlalchemy import Connection, inspect, select, update

from autograder.gradebook.tables import OUR_VERSION

_VERSION = "CREATE TABLE katze_schema (version INTEGER NOT NULL)"

_ANSWERS = """
CREATE TABLE IF NOT EXISTS katze_answer (  -- which text a written answer had when it was last recorded
    grade_id VARCHAR(32) NOT NULL PRIMARY KEY,
    checksum VARCHAR(128)
)
"""

_RUNS = """
CREATE TABLE katze_run (  -- one run of the grader over a lesson; `finished` is missing where it was stopped
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    started TEXT NOT NULL,
    finished TEXT,
    host TEXT NOT NULL,
    platform TEXT NOT NULL,
    workers INTEGER NOT NULL,
    boxes TEXT NOT NULL,
    forced INTEGER NOT NULL,
    submissions INTEGER NOT NULL
)
"""

_CONDITIONS = """
CREATE TABLE katze_conditions (  -- what the grades of a run follow from, beside submission and exercise
    id INTEGER PRIMARY KEY,
    release TEXT NOT NULL,
    seed TEXT NOT NULL,
    versions TEXT NOT NULL,
    settings TEXT NOT NULL,
    UNIQUE (release, seed, versions, settings)
)
"""

_SUBMISSIONS = """
CREATE TABLE katze_submission (  -- the grade that counts of each submission
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    student TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES katze_run (id),
    conditions INTEGER NOT NULL REFERENCES katze_conditions (id),
    graded TEXT NOT NULL,
    digest TEXT NOT NULL,
    notebook TEXT NOT NULL,
    handed_in TEXT NOT NULL,
    slot INTEGER NOT NULL,
    repairs TEXT NOT NULL,
    problem TEXT NOT NULL,
    seconds REAL NOT NULL,
    files TEXT NOT NULL,
    void TEXT NOT NULL,
    UNIQUE (lesson, student)
)
"""

_EXERCISES = """
CREATE TABLE katze_exercise (
    submission INTEGER NOT NULL REFERENCES katze_submission (id),
    number INTEGER NOT NULL,
    exercise TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES katze_run (id),
    cell TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    seed INTEGER NOT NULL,
    level TEXT NOT NULL,
    outcome TEXT NOT NULL,
    points REAL,
    max_points INTEGER NOT NULL,
    misconception TEXT,
    note TEXT NOT NULL,
    PRIMARY KEY (submission, exercise)
) WITHOUT ROWID
"""

_CASES = """
CREATE TABLE katze_case (
    submission INTEGER NOT NULL REFERENCES katze_submission (id),
    exercise TEXT NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    part TEXT NOT NULL,
    hidden INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    message TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (submission, exercise, number)
) WITHOUT ROWID
"""

_EVENTS = """
CREATE TABLE katze_event (  -- each time that something happened to a submission's grade
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    student TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES katze_run (id),
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    why TEXT NOT NULL,
    digest TEXT NOT NULL,
    handed_in TEXT NOT NULL,
    points REAL,
    max_points INTEGER NOT NULL
)
"""

_CHANGES = """
CREATE TABLE katze_change (  -- what an event changed in the grade of an exercise
    event INTEGER NOT NULL REFERENCES katze_event (id),
    exercise TEXT NOT NULL,
    before_outcome TEXT,
    before_points REAL,
    before_misconception TEXT,
    after_outcome TEXT,
    after_points REAL,
    after_misconception TEXT,
    PRIMARY KEY (event, exercise)
) WITHOUT ROWID
"""

_REMARKS = "ALTER TABLE katze_submission ADD COLUMN remarks TEXT NOT NULL DEFAULT '[]'"
_BY_HAND = "ALTER TABLE katze_submission ADD COLUMN by_hand TEXT NOT NULL DEFAULT ''"  # what the page shows of it

_TERMS = """
CREATE TABLE katze_terms (  -- what was last written into nbgrader's tables for a deadline; the lesson's own is of ''
    lesson TEXT NOT NULL,
    student TEXT NOT NULL,
    due TEXT NOT NULL,
    penalty REAL NOT NULL,
    PRIMARY KEY (lesson, student)
) WITHOUT ROWID
"""

_IMPORTS = "ALTER TABLE katze_submission ADD COLUMN imports TEXT NOT NULL DEFAULT '{}'"  # of the library
_ANSWER = "ALTER TABLE katze_exercise ADD COLUMN answer TEXT NOT NULL DEFAULT ''"
_STOOD = "ALTER TABLE katze_exercise ADD COLUMN stood REAL NOT NULL DEFAULT 0"

_RULINGS = """
CREATE TABLE katze_ruling (  -- what a course has decided about an exercise, as it is in the scores
    lesson TEXT NOT NULL,
    exercise TEXT NOT NULL,
    ruling TEXT NOT NULL,
    PRIMARY KEY (lesson, exercise)
) WITHOUT ROWID
"""

_FROZEN = """
CREATE TABLE katze_frozen (  -- the lessons in which nothing is graded until they are thawed
    lesson TEXT NOT NULL PRIMARY KEY,
    since TEXT NOT NULL
) WITHOUT ROWID
"""

_KEPT = """
CREATE TABLE katze_kept (  -- what was given by hand for a cell that does not count, until it counts again
    lesson TEXT NOT NULL,
    cell TEXT NOT NULL,
    student TEXT NOT NULL,
    grade_id TEXT NOT NULL,
    points REAL,
    extra_credit REAL,
    worth REAL NOT NULL,
    comment TEXT NOT NULL,
    PRIMARY KEY (lesson, cell, student)
) WITHOUT ROWID
"""

_WORTH = """
CREATE TABLE katze_worth (  -- the points of each graded cell in the release that was graded last
    lesson TEXT NOT NULL,
    cell TEXT NOT NULL,
    points REAL NOT NULL,
    PRIMARY KEY (lesson, cell)
) WITHOUT ROWID
"""

_SHARED = """
CREATE TABLE katze_share (  -- points given by hand out of other points than the cell has now
    grade_id TEXT NOT NULL PRIMARY KEY,
    given REAL NOT NULL,
    out_of REAL NOT NULL,
    counts REAL NOT NULL
) WITHOUT ROWID
"""

_GIVEN_FOR = "ALTER TABLE katze_answer ADD COLUMN given_for VARCHAR(128) NOT NULL DEFAULT ''"

_ANSWERS_TO_CHECKS = """
INSERT INTO katze_answer (grade_id, checksum)  -- until now only of written answers
SELECT grade.id, katze_exercise.answer FROM katze_exercise
JOIN katze_submission ON katze_submission.id = katze_exercise.submission
JOIN assignment ON assignment.name = katze_submission.lesson COLLATE BINARY
JOIN submitted_assignment
    ON submitted_assignment.assignment_id = assignment.id
    AND submitted_assignment.student_id = katze_submission.student COLLATE BINARY
JOIN submitted_notebook ON submitted_notebook.assignment_id = submitted_assignment.id
JOIN notebook ON notebook.id = submitted_notebook.notebook_id AND notebook.name = assignment.name
JOIN grade ON grade.notebook_id = submitted_notebook.id
JOIN base_cell ON base_cell.id = grade.cell_id AND base_cell.name = katze_exercise.cell COLLATE BINARY
WHERE katze_exercise.answer != '' AND grade.id NOT IN (SELECT grade_id FROM katze_answer)
"""

_WORTH_A_LOOK = "ALTER TABLE katze_exercise ADD COLUMN worth_a_look TEXT NOT NULL DEFAULT ''"
_BY_STUDENT = "CREATE INDEX katze_event_of_student ON katze_event (lesson, student)"

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    # 1: the table of version 0 is adopted with what it holds, and the version is written down from now on
    (_VERSION, "INSERT INTO katze_schema VALUES (0)", _ANSWERS),
    # 2: records
    (_RUNS, _CONDITIONS, _SUBMISSIONS, _EXERCISES, _CASES, _EVENTS, _CHANGES, _BY_STUDENT),
    # 3: remarks for the instructor, and which points given by hand a feedback page shows
    (_REMARKS, _BY_HAND),
    # 4: deadlines and late penalties
    (_TERMS,),
    # 5: changes in the middle of a semester
    (_IMPORTS, _ANSWER, _STOOD, _RULINGS, _FROZEN, _KEPT, _WORTH, _SHARED),
    # 6: which text points by hand were given for, and what the answers to checks say
    (_GIVEN_FOR, _ANSWERS_TO_CHECKS),
    # 7: where an answer could hide a call of what its rule forbids
    (_WORTH_A_LOOK,),
)
"""The statements that lead from each version to the next. A step that has been released is never changed."""

_IN_POSTGRESQL = {
    "id INTEGER PRIMARY KEY": "id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    "max_points INTEGER": "max_points DOUBLE PRECISION",  # a plain assignment may give half points
    " INTEGER": " BIGINT",
    " REAL": " DOUBLE PRECISION",
    " TEXT": ' TEXT COLLATE "C"',  # in the order of SQLite
    " COLLATE BINARY": ' COLLATE "C"',
    " WITHOUT ROWID": "",
}
"""What SQLite's words in these statements are in PostgreSQL, which holds values to their types."""

LATEST = len(MIGRATIONS)
"""The version that this Katze writes."""

WITH_RECORDS = 2
"""The first version that has records; those of all versions since can be read."""

WITH_READ_TEXTS = 6
"""The first version that knows which text points by hand were given for."""


def version(connection: Connection) -> int:
    """The version of our tables in a gradebook; 0 where it does not say."""
    if not inspect(connection).has_table(OUR_VERSION.name):
        return 0
    return int(connection.scalar(select(OUR_VERSION.c.version)) or 0)


def migrate(connection: Connection) -> None:
    """Bring our tables up to date, step by step, within the transaction that is open."""
    for number, statements in enumerate(MIGRATIONS[version(connection) :], version(connection) + 1):
        for statement in statements:
            connection.exec_driver_sql(_in_words_of(connection, statement))
        connection.execute(update(OUR_VERSION).values(version=number))


def _in_words_of(connection: Connection, statement: str) -> str:
    if connection.dialect.name == "postgresql":
        for before, now in _IN_POSTGRESQL.items():
            statement = statement.replace(before, now)
    return statement
