"""Keeps a course's data about its students in JSON files below `.katze/`, readable only by their owner."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from autograder.course.course import Course
from autograder.errors import BadInput
from course_lib.ground.files import put_in_place

FORMAT = 1
"""Version of these files; a newer Katze writes a higher number."""

Stored = TypeVar("Stored")


def read_stored(
    course: Course, kind: str, lesson: str, read: Callable[[str, Mapping[str, Any]], Stored], advice: str
) -> dict[str, Stored]:
    """Read what is kept about a lesson's students in `.katze/<kind>/<lesson>.json`; {} if there is no such file.

    Args:
        read: builds an entry from a student id and the stored data.
        advice: what to do about a damaged file.

    Raises:
        BadInput: the file is damaged, or written by a newer Katze.
    """
    path = _place(course, kind, lesson)
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        if written["format"] > FORMAT:
            raise BadInput(f"{path} was written by a newer Katze; install that one")
        return {student: read(student, facts) for student, facts in written["students"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(f"{path} cannot be read ({type(error).__name__}); {advice}") from error


def write_stored(course: Course, kind: str, lesson: str, students: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the entries of a lesson's students, atomically."""
    path = _place(course, kind, lesson)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = {"format": FORMAT, "lesson": lesson, "students": dict(sorted(students.items()))}
    with put_in_place(path) as draft:
        draft.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _place(course: Course, kind: str, lesson: str) -> Path:
    return course.root / ".katze" / kind / f"{lesson}.json"
