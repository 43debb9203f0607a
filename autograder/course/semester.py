"""Reads a course's settings for its semester from `course.toml`, next to `nbgrader_config.py`: deadlines, weights,
exercises.

    drop_lowest = 1                      # of the lessons that count
    [late]                               # for every lesson
    grace = "15 minutes"
    policy = "linear"                    # "none", "linear", "cap" or "nbgrader"
    per_day = 10                         # linear: percent of the lesson's points for each day begun
    at_most = 50                         # linear: percent of the lesson's points that are lost at most
    [lessons.01_ols]
    due = 2026-11-20T18:00:00+01:00
    weight = 2
    late = { policy = "cap", cap = 80 }  # cap: percent of the lesson's points that a late submission can reach
    [lessons.01_ols.extensions]
    ada = 2026-11-27T18:00:00+01:00
    [lessons.01_ols.handed_in]     # if the submission has no time, or a wrong one
    ben = 2026-11-21T09:30:00+01:00
    [exercises."ols.fit"]
    drop = true                          # or full_credit, extra_credit, never_lower
    accept = ["sha256:…", "accepted/scores.py"]
    tolerance = { relative = 1e-3, absolute = 1e-5 }

Everything may be left out, even the file. The whole file is checked before anything else happens.
"""

import difflib
import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from autograder.errors import BadInput

SEMESTER_NAME = "course.toml"

Policy = Literal["none", "linear", "cap", "nbgrader"]
"""The penalty for a late submission: none, some points per day, a cap, or whatever nbgrader's plugin says."""

_NUMBERS_OF: Mapping[Policy, tuple[str, ...]] = {"linear": ("per_day", "at_most"), "cap": ("cap",)}
_NEEDED_BY: Mapping[Policy, tuple[str, int]] = {"linear": ("per_day", 10), "cap": ("cap", 80)}  # with an example
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
_DURATION = re.compile(r"(\d{1,4}) (minute|hour|day)s?")
_YEARS = range(2000, 2200)
_WHOLE = "must be a whole number, 0 or more"
_LARGEST = sys.float_info.max
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class Late:
    """How late submissions are treated.

    Attributes:
        policy: the penalty. By default, `nbgrader_config.py` decides, which means no penalty unless the course sets one
            there.
        grace: how long after the due date a submission still counts as on time.
        per_day: for "linear": the loss for each day begun after the due date, in percent of the lesson's points.
        at_most: for "linear": the largest loss, in percent of the lesson's points.
        cap: for "cap": the most that a late submission can reach, in percent of the lesson's points.
    """

    policy: Policy = "nbgrader"
    grace: timedelta = timedelta()
    per_day: float = 0.0
    at_most: float = 100.0
    cap: float = 100.0


@dataclass(frozen=True)
class LessonTerms:
    """The settings for one lesson.

    Attributes:
        due: the due date, with its offset from UTC; None if none is set.
        weight: its share in the total, relative to the other lessons.
        late: how late submissions are treated.
        extensions: later due dates of single students, by student id.
        handed_in: when single students handed in, by student id; overrides what their submissions say.
    """

    due: datetime | None = None
    weight: float = 1.0
    late: Late = Late()
    extensions: Mapping[str, datetime] = field(default_factory=dict, hash=False)
    handed_in: Mapping[str, datetime] = field(default_factory=dict, hash=False)

    def due_for(self, student: str) -> datetime | None:
        """Return a student's due date: the extension, or else the lesson's."""
        return self.extensions.get(student, self.due)


@dataclass(frozen=True)
class Decision:
    """How an exercise counts, whatever its verdict.

    Attributes:
        drop: whether it counts for nobody, and not toward the maximum.
        full_credit: whether everyone whose submission could be graded gets all its points.
        extra_credit: whether its points count, but not toward the maximum.
        never_lower: whether a submission that is graded again keeps at least the points that it had.
        accept: answers that get all its points: their digests or, in `ExerciseTerms`, files below the course's folder.
    """

    drop: bool = False
    full_credit: bool = False
    extra_credit: bool = False
    never_lower: bool = False
    accept: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExerciseTerms(Decision):
    """The settings for one exercise.

    Attributes:
        tolerance: how far an answer may be from the reference: "relative" to its value, "absolute" or both; empty to
            keep the exercise's own tolerance.
    """

    tolerance: Mapping[str, float] = field(default_factory=dict, hash=False)


FLAGS = ("drop", "full_credit", "extra_credit", "never_lower")
"""The settings of an exercise that are true or false."""


@dataclass(frozen=True)
class Semester:
    """All settings in `course.toml`.

    Attributes:
        drop_lowest: how many of each student's lowest lessons do not count in the total.
        late: how late submissions are treated, unless a lesson says otherwise.
        lessons: settings of the lessons that the file names.
        exercises: settings of the exercises that the file names, by id.
    """

    drop_lowest: int = 0
    late: Late = Late()
    lessons: Mapping[str, LessonTerms] = field(default_factory=dict, hash=False)
    exercises: Mapping[str, ExerciseTerms] = field(default_factory=dict, hash=False)

    def lesson(self, lesson: str) -> LessonTerms:
        """Return the settings for a lesson, named or not."""
        return self.lessons.get(lesson) or LessonTerms(late=self.late)

    def exercise(self, exercise: str) -> ExerciseTerms:
        """Return the settings for an exercise, named or not."""
        return self.exercises.get(exercise) or ExerciseTerms()


def read_semester(root: Path, lessons: Collection[str]) -> Semester:
    """Read `course.toml`; if it is missing, nothing is set.

    Args:
        lessons: the existing lessons. `Course.require_exercises` checks the exercises.

    Raises:
        BadInput: the file or a setting in it cannot be used; the message names it and says what to do.
    """
    path = root / SEMESTER_NAME
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Semester()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}; check that it is a file that you may read") from error
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not in UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{path} is not TOML: {error}; fix that line") from None
    _check_names("", settings, ("drop_lowest", "late", "lessons", "exercises"), "setting")
    late = _late("late", settings.get("late", {}), Late())
    by_lesson, by_exercise = (_table(name, settings.get(name, {})) for name in ("lessons", "exercises"))
    _check_names("lessons", by_lesson, lessons, "lesson")
    return Semester(
        drop_lowest=int(_number("drop_lowest", settings.get("drop_lowest", 0), _WHOLE, True)),
        late=late,
        lessons={name: _lesson(f"lessons.{name}", terms, late) for name, terms in by_lesson.items()},
        exercises={name: _exercise(name, terms, root) for name, terms in by_exercise.items()},
    )


def nearest(name: str, known: Iterable[str]) -> str:
    """Return advice about an unknown name: the most similar known name, or all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names) or 'none'}"


def _late(where: str, settings: Any, default: Late) -> Late:
    """Read a table `late`; it inherits missing settings from the default, except for the numbers of another policy."""
    names = tuple(entry.name for entry in fields(Late))
    _check_names(where, _table(where, settings), names, "setting")
    policy = settings.get("policy", default.policy)
    if policy not in get_args(Policy):
        raise _fault(f"{where}.policy", f"must be one of {', '.join(map(repr, get_args(Policy)))}, not {policy!r}")
    late = default if policy == default.policy else Late(policy, default.grace)
    if "grace" in settings:
        late = replace(late, grace=_duration(f"{where}.grace", settings["grace"]))
    percents: dict[str, Any] = {}
    for name in settings.keys() - {"policy", "grace"}:
        if name not in _NUMBERS_OF.get(policy, ()):
            wanted = next(other for other, numbers in _NUMBERS_OF.items() if name in numbers)
            raise _fault(f"{where}.{name}", f"is for the policy {wanted!r}, but the policy is {policy!r}")
        percents[name] = _number(f"{where}.{name}", settings[name], "is in percent: a number from 0 to 100", most=100)
    needed, example = _NEEDED_BY.get(policy, ("", 0))
    if needed and needed not in settings and policy != default.policy:
        raise _fault(f"{where}.policy", f"{policy!r} needs {needed}, in percent; add {needed} = {example}")
    return replace(late, **percents)


def _lesson(where: str, settings: Any, default: Late) -> LessonTerms:
    _check_names(where, _table(where, settings), ("due", "weight", "late", "extensions", "handed_in"), "setting")
    due = _moment(f"{where}.due", settings["due"]) if "due" in settings else None
    moments: dict[str, dict[str, datetime]] = {}
    for name in ("extensions", "handed_in"):
        times = _table(f"{where}.{name}", settings.get(name, {}))
        moments[name] = {student: _moment(f'{where}.{name}."{student}"', time) for student, time in times.items()}
        if times and due is None:
            raise _fault(f"{where}.{name}", f"has no effect, because the lesson has no due date; add {where}.due")
    for student, until in moments["extensions"].items():
        if due is not None and until < due:
            said = f"is before the due date, {due.isoformat()}; an extension has to be later"
            raise _fault(f'{where}.extensions."{student}"', said)
    weight = _number(f"{where}.weight", settings.get("weight", 1.0))
    return LessonTerms(due, weight, _late(f"{where}.late", settings.get("late", {}), default), **moments)


def _exercise(name: str, settings: Any, root: Path) -> ExerciseTerms:
    where = f'exercises."{name}"'
    for inner, value in _table(where, settings).items():
        if isinstance(value, dict) and "." not in name and inner != "tolerance":  # an unquoted dot nests tables
            raise _fault(f"exercises.{name}.{inner}", f'needs quotes around the id: [exercises."{name}.{inner}"]')
    _check_names(where, settings, (*FLAGS, "accept", "tolerance"), "setting")
    for flag in FLAGS:
        if not isinstance(settings.get(flag, False), bool):
            raise _fault(f"{where}.{flag}", f"must be true or false, not {settings[flag]!r}")
    for other in ("full_credit", "extra_credit"):
        if settings.get("drop") and settings.get(other):
            raise _fault(where, f"drop and {other} contradict each other; choose one")
    accept = settings.get("accept", [])
    if not isinstance(accept, list) or not all(isinstance(answer, str) for answer in accept):
        raise _fault(f"{where}.accept", f"must be a list of digests and files, in quotes, not {accept!r}")
    for answer in accept:
        _check_answer(f"{where}.accept", answer, root)
    tolerance = _tolerance(f"{where}.tolerance", settings["tolerance"]) if "tolerance" in settings else {}
    return ExerciseTerms(**{**settings, "accept": tuple(accept), "tolerance": tolerance})


def _check_answer(where: str, answer: str, root: Path) -> None:
    if answer.startswith("sha256:"):
        if not _DIGEST.fullmatch(answer):
            raise _fault(where, f"{answer!r} is not a digest: write sha256: and 64 characters of 0-9 and a-f")
        return
    path = (root / answer).resolve()
    if not path.is_relative_to(root.resolve()) or not path.is_file():
        raise _fault(where, f"there is no file {answer!r} in the course's folder; name one, or a digest (sha256:…)")


def _tolerance(where: str, settings: Any) -> dict[str, float]:
    _check_names(where, _table(where, settings), ("relative", "absolute"), "setting")
    if not settings:
        raise _fault(where, "is empty; give relative, absolute or both")
    return {name: _number(f"{where}.{name}", value) for name, value in settings.items()}


# --- values


def _fault(where: str, what: str) -> BadInput:
    return BadInput(f"{SEMESTER_NAME}: {where} {what}")


def _table(where: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _fault(where, f"must be a table, [{where}], not {value!r}")
    return value


def _check_names(where: str, settings: Mapping[str, Any], known: Iterable[str], kind: str) -> None:
    names = list(known)
    for name in settings:
        if name not in names:
            there = f"{where}: " if where else ""
            raise BadInput(f"{SEMESTER_NAME}: {there}there is no {kind} {name!r}; {nearest(name, names)}")


def _number(
    where: str, value: Any, rule: str = "must be a number, 0 or more", whole: bool = False, most: float = _LARGEST
) -> float:
    is_number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= most:
        raise _fault(where, f"{rule}, not {value!r}")
    return float(value)


def _duration(where: str, value: Any) -> timedelta:
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise _fault(where, f'must be such as "15 minutes", "2 hours" or "1 day", not {value!r}')
    return int(found[1]) * _UNITS[found[2]]


def _moment(where: str, value: Any) -> datetime:
    """Check that a value is a time with an offset from UTC, and return it; without one, its clock is unknown."""
    example = "such as 2026-11-20T18:00:00+01:00, without quotes"
    if not isinstance(value, date):
        raise _fault(where, f"must be a date and time, {example}, not {value!r}")
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise _fault(where, f"{value} has no time zone; write date, time and offset from UTC, {example}")
    if value.year not in _YEARS:
        raise _fault(where, f"{value} is in the year {value.year}; write one from {_YEARS[0]} to {_YEARS[-1]}")
    return value


def utc(moment: datetime) -> datetime:
    """Convert a time with an offset to UTC without a zone, as nbgrader stores it."""
    return moment.astimezone(UTC).replace(tzinfo=None)
