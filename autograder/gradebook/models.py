"""The tables of a gradebook: nbgrader's own models, and ours next to them.

    models.Grade        # nbgrader's, by the names of `nbgrader.api`
    models.Submission   # ours: its table begins with `katze_`, which nbgrader's tools ignore

Ours hold what grading leaves behind besides the scores. `nbgrader.api` takes a second to import, so it is imported when
the first of its models is used.
"""

import functools
import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import uuid4

from sqlalchemy import (
    REAL,
    BigInteger,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Select,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    select,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from course_lib.judging.observation import Outcome

_TEXT = Text().with_variant(Text(collation="C"), "postgresql")


class _Json(TypeDecorator[Any]):
    """Plain data, stored as JSON text."""

    impl = _TEXT
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: object) -> str:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)

    def process_result_value(self, value: Any, dialect: object) -> Any:
        return json.loads(value)


class _Outcome(TypeDecorator[Outcome]):
    """An outcome, stored by its public name."""

    impl = _TEXT
    cache_ok = True

    def process_result_value(self, value: Any, dialect: object) -> Outcome | None:
        return None if value is None else Outcome(value)


class _Points(TypeDecorator[float]):
    """A number of points, read as an int where it is whole, whatever the database stores."""

    impl: Double[float] = Double().with_variant(Integer(), "sqlite")
    cache_ok = True

    def process_result_value(self, value: Any, dialect: object) -> float:
        return int(value) if value == int(value) else float(value)


Number = Annotated[int, mapped_column(Identity(), primary_key=True)]
Key = Annotated[str, mapped_column(primary_key=True)]
Points = Annotated[float, mapped_column(_Points)]
Json = Annotated[Any, mapped_column(_Json, nullable=False)]


class Base(DeclarativeBase):
    """Base class of our tables. Text sorts the same way in every database."""

    type_annotation_map = {
        str: _TEXT,
        Outcome: _Outcome,
        int: Integer().with_variant(BigInteger(), "postgresql"),
        float: Double().with_variant(REAL(), "sqlite"),
    }


class ByKey:
    """Base class of a table whose primary key is its natural key."""

    __table_args__ = {"sqlite_with_rowid": False}


class Answer(Base):
    """Checksums of an answer's text when it was last recorded, and of the text that a person gave points for."""

    __tablename__ = "katze_answer"
    grade_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    checksum: Mapped[str | None] = mapped_column(String(128))
    given_for: Mapped[str] = mapped_column(String(128))


class Run(Base):
    """One run of the grader over a lesson; `finished` is missing where it was stopped."""

    __tablename__ = "katze_run"
    id: Mapped[Number]
    lesson: Mapped[str]
    started: Mapped[str]
    finished: Mapped[str | None]
    host: Mapped[str]
    platform: Mapped[str]
    workers: Mapped[int]
    boxes: Mapped[str]
    forced: Mapped[int]
    submissions: Mapped[int]


class Conditions(Base):
    """The conditions that grades depend on besides submission and exercise."""

    __tablename__ = "katze_conditions"
    __table_args__ = (UniqueConstraint("release", "seed", "versions", "settings"),)
    id: Mapped[Number]
    release: Mapped[str]
    seed: Mapped[str]
    versions: Mapped[Json]
    settings: Mapped[Json]


class Submission(Base):
    """The current grade of each submission."""

    __tablename__ = "katze_submission"
    __table_args__ = (UniqueConstraint("lesson", "student"),)
    id: Mapped[Number]
    lesson: Mapped[str]
    student: Mapped[str]
    run: Mapped[int] = mapped_column(ForeignKey(Run.id))
    conditions: Mapped[int] = mapped_column(ForeignKey(Conditions.id))
    graded: Mapped[str]
    digest: Mapped[str]
    notebook: Mapped[str]
    handed_in: Mapped[str]
    slot: Mapped[int]
    repairs: Mapped[Json]
    problem: Mapped[str]
    seconds: Mapped[float]
    files: Mapped[Json]
    void: Mapped[str]
    remarks: Mapped[Json]
    by_hand: Mapped[str]  # which state of the points given by hand its feedback page shows
    imports: Mapped[Json]


class Exercise(ByKey, Base):
    """One exercise of a submission."""

    __tablename__ = "katze_exercise"
    submission: Mapped[int] = mapped_column(ForeignKey(Submission.id), primary_key=True)
    number: Mapped[int]
    exercise: Mapped[Key]
    run: Mapped[int] = mapped_column(ForeignKey(Run.id))
    cell: Mapped[str]
    fingerprint: Mapped[str]
    seed: Mapped[int]
    level: Mapped[str]
    outcome: Mapped[Outcome]
    points: Mapped[float | None]
    max_points: Mapped[Points]
    misconception: Mapped[str | None]
    note: Mapped[str]
    answer: Mapped[str]
    stood: Mapped[float]
    worth_a_look: Mapped[str]


class Case(ByKey, Base):
    """One case of an exercise of a submission."""

    __tablename__ = "katze_case"
    submission: Mapped[int] = mapped_column(ForeignKey(Submission.id), primary_key=True)
    exercise: Mapped[Key]
    number: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    part: Mapped[str]
    hidden: Mapped[int]
    outcome: Mapped[Outcome]
    message: Mapped[str]
    seconds: Mapped[float]


class Event(Base):
    """Something that happened to a submission's grade: its history."""

    __tablename__ = "katze_event"
    __table_args__ = (Index("katze_event_of_student", "lesson", "student"),)
    id: Mapped[Number]
    lesson: Mapped[str]
    student: Mapped[str]
    run: Mapped[int] = mapped_column(ForeignKey(Run.id))
    at: Mapped[str]
    kind: Mapped[str]
    why: Mapped[Json]
    digest: Mapped[str]
    handed_in: Mapped[str]
    points: Mapped[float | None]
    max_points: Mapped[Points]


class Change(ByKey, Base):
    """How an event changed the grade of an exercise."""

    __tablename__ = "katze_change"
    event: Mapped[int] = mapped_column(ForeignKey(Event.id), primary_key=True)
    exercise: Mapped[Key]
    before_outcome: Mapped[Outcome | None]
    before_points: Mapped[float | None]
    before_misconception: Mapped[str | None]
    after_outcome: Mapped[Outcome | None]
    after_points: Mapped[float | None]
    after_misconception: Mapped[str | None]


class Terms(ByKey, Base):
    """The deadline last written into nbgrader's tables for a student; student '' stands for the whole lesson."""

    __tablename__ = "katze_terms"
    lesson: Mapped[Key]
    student: Mapped[Key]
    due: Mapped[str]
    penalty: Mapped[float]


class Adjustment(ByKey, Base):
    """The course's decision about an exercise that the current scores include."""

    __tablename__ = "katze_ruling"
    lesson: Mapped[Key]
    exercise: Mapped[Key]
    ruling: Mapped[Json]


class Frozen(ByKey, Base):
    """A frozen lesson: nothing in it is graded until it is thawed."""

    __tablename__ = "katze_frozen"
    lesson: Mapped[Key]
    since: Mapped[str]


class Kept(ByKey, Base):
    """Points given by hand for a cell that does not count now, kept until it counts again."""

    __tablename__ = "katze_kept"
    lesson: Mapped[Key]
    cell: Mapped[Key]
    student: Mapped[Key]
    grade_id: Mapped[str]
    points: Mapped[float | None]
    extra_credit: Mapped[float | None]
    worth: Mapped[float]
    comment: Mapped[str]


class Worth(ByKey, Base):
    """The maximum of a graded cell in the last graded release."""

    __tablename__ = "katze_worth"
    lesson: Mapped[Key]
    cell: Mapped[Key]
    points: Mapped[float]


class Share(ByKey, Base):
    """Points given by hand when the cell had another maximum than now."""

    __tablename__ = "katze_share"
    grade_id: Mapped[Key]
    given: Mapped[float]
    out_of: Mapped[float]
    counts: Mapped[float]


def __getattr__(name: str) -> Any:
    """Return nbgrader's model of this name."""
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(_api(), name)


def _api() -> Any:
    from nbgrader import api

    return api


def nbgrader_metadata() -> MetaData:
    """Return nbgrader's tables."""
    metadata: MetaData = _api().Base.metadata
    return metadata


def add_new(session: Session, model: Any, **values: Any) -> None:
    """Insert a row unless there is one already, even if another run inserts it at the same time."""
    session.connection().execute(_inserting(session.get_bind().dialect.name, model), values)


def put(session: Session, model: Any, key: Mapping[str, Any], **values: Any) -> Any:
    """Insert the row with this key, or update these values in it; return its id."""
    statement = _inserting(session.get_bind().dialect.name, model, (*key,), (*values,)).returning(model.__table__.c.id)
    return session.connection().scalar(statement, {**key, **values})


def put_all(session: Session, model: Any, key: tuple[str, ...], rows: Sequence[Mapping[str, Any]]) -> None:
    """Do the same for rows that all have the same columns. A row that exists keeps its id."""
    if rows:
        names = tuple(name for name in rows[0] if name not in ("id", *key))
        session.connection().execute(_inserting(session.get_bind().dialect.name, model, key, names), rows)


@functools.cache  # building a statement takes longer than running it
def _inserting(dialect: str, model: Any, key: tuple[str, ...] = (), changed: tuple[str, ...] = ()) -> Any:
    """Return an insert that leaves an existing row as it is or, with a key, updates some of its columns."""
    # the module for PostgreSQL is imported only where it is needed
    statement = importlib.import_module(f"sqlalchemy.dialects.{dialect}").insert(model.__table__)
    if not key:
        return statement.on_conflict_do_nothing()
    values = {name: statement.excluded[name] for name in changed or key}
    return statement.on_conflict_do_update(index_elements=key, set_=values)


def new_id() -> str:
    """Return a new row id of nbgrader's kind."""
    return uuid4().hex


def of_submissions(assignment: str, *columns: Any) -> Select[Any]:
    """Select these columns of nbgrader's tables for every notebook of every submission to an assignment."""
    api = _api()
    submitted = select(*columns).select_from(api.SubmittedNotebook).join(api.SubmittedNotebook.notebook)
    lesson = submitted.join(api.SubmittedNotebook.assignment).join(api.SubmittedAssignment.assignment)
    return lesson.where(api.Assignment.name == assignment)


def submitted_notebook(session: Session, notebook: str, student: str) -> str | None:
    """Return the row id of a student's submitted notebook; None if they have no grade."""
    api = _api()
    of_it = select(api.SubmittedNotebook.id).filter_by(notebook_id=notebook).join(api.SubmittedNotebook.assignment)
    return session.scalar(of_it.where(api.SubmittedAssignment.student_id == student))
