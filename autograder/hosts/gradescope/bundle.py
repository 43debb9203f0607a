"""Builds the archive from which Gradescope makes an assignment's autograder.

    setup.sh, run_autograder      started by Gradescope: once, and for each submission
    python, requirements.txt      the versions of Python and of all packages that this machine grades with
    library/                      `course_lib` and `autograder`, as they are here
    course/                       the lesson's release and exercises, the course's settings for its grades, the secret

The archive contains no student's name and no deadline. Its secret is derived from the course's secret, so that someone
who gets hold of an archive knows only the hidden inputs of that archive.
"""

import hashlib
import hmac
import json
import os
import stat
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import autograder
import course_lib
from autograder.box.confinement.grants import package_folders
from autograder.box.confinement.packages import closure, pinned
from autograder.course.course import Course
from autograder.course.own_exercises import files_of_own
from autograder.course.semester import FLAGS, SEMESTER_NAME
from autograder.grading.assignment import Assignment
from autograder.hosts.gradescope.results import points_by_hand
from course_lib.exercises.catalogue import CONFIG_NAME
from course_lib.ground.files import put_in_place

SCRIPTS = ("setup.sh", "run_autograder")
"""The scripts that Gradescope starts; both must be at the top of the archive."""

_OLDEST = (1980, 1, 1, 0, 0, 0)  # zip's earliest date, so that the same course gives the same bytes
_FILE, _PROGRAM = 0o600, 0o700
_OWN_BYTES = 1 << 30  # for the grader and the fork server


@dataclass(frozen=True)
class Bundled:
    """Facts about an archive.

    Attributes:
        exercises: the number of exercises.
        points: their total, which must be the assignment's points on Gradescope.
        by_hand: the points for written answers, which a person gives in addition.
        memory: bytes of memory that the container needs.
    """

    exercises: int
    points: float
    by_hand: float
    memory: int


def write_bundle(course: Course, lesson: str, target: Path) -> Bundled:
    """Write the archive for a lesson, all or nothing, readable only by its owner.

    Raises:
        BadInput: there is no such lesson, or its release belongs to another version of the course.
        OSError: it cannot be written.
    """
    assignment = Assignment.load(course, lesson, skip_demos=True, feedback=False)
    contents = dict(_contents(assignment))
    with (
        put_in_place(target) as draft,
        open(draft, "xb", opener=partial(os.open, mode=_FILE)) as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for name, content in sorted(contents.items()):
            info = zipfile.ZipInfo(name, _OLDEST)
            info.external_attr = (stat.S_IFREG | (_PROGRAM if name in SCRIPTS else _FILE)) << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    adjustments = assignment.adjustments
    counted = [one for one in assignment.exercises if one.id not in adjustments or adjustments[one.id].counts_in_all]
    return Bundled(
        exercises=len(assignment.exercises),
        points=sum(exercise.points for exercise in counted),
        by_hand=points_by_hand(assignment),
        memory=max(course.limits.memory_bytes, course.limits.memory_ceiling_bytes) + _OWN_BYTES,
    )


def _contents(assignment: Assignment) -> Iterator[tuple[str, bytes]]:
    """Yield every file of the archive."""
    here = Path(__file__).parent
    yield from ((name, (here / name).read_bytes()) for name in SCRIPTS)
    yield "python", f"python{sys.version_info.major}.{sys.version_info.minor}\n".encode()
    needed = sorted(closure(["katze"], package_folders()) - {"katze"})  # in the versions here; a course may add to them
    yield "requirements.txt", "".join(f"{pinned(name)}\n" for name in needed).encode()
    for package in (course_lib, autograder):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*")):
            place = path.relative_to(root.parent)
            if path.is_file() and "__pycache__" not in place.parts:
                yield f"library/{place.as_posix()}", path.read_bytes()
    course, lesson = assignment.course, assignment.lesson
    yield from ((f"course/{name}", content) for name, content in files_of_own(course.exercises, lesson))
    yield f"course/release/{lesson}/{lesson}.ipynb", course.release_notebook(lesson).read_bytes()
    yield f"course/{CONFIG_NAME}", _config(assignment).encode()
    yield f"course/{SEMESTER_NAME}", _terms(assignment).encode()
    yield "course/.katze/secret", hmac.digest(course.secret(), f"gradescope {lesson}".encode(), hashlib.sha256)


def _config(assignment: Assignment) -> str:
    """Return the course's settings for its sandboxes, without those about folders and people."""
    settings = assignment.course.config.get("Katze", {})
    own = {exercise.id for exercise in assignment.exercises}
    allowances = {name: allowance for name, allowance in settings.get("exercise_limits", {}).items() if name in own}
    kept: dict[str, Any] = {
        "limits": dict(settings.get("limits", {})),
        "exercise_limits": {name: dict(allowance) for name, allowance in allowances.items()},
        "system_calls": assignment.course.limits.system_calls,
    }
    if assignment.course.exercises.folder is not None:
        kept["exercises"] = {assignment.lesson: assignment.course.exercises.modules[assignment.lesson]}
    lines = [f"c.Katze.{name} = {value!r}" for name, value in kept.items()]
    return "\n".join([f'"""What {assignment.lesson} is graded with."""', "", "c = get_config()", *lines, ""])


def _terms(assignment: Assignment) -> str:
    """Return `course.toml`'s settings for the lesson's exercises, with digests instead of accepted answers' files."""
    lines = []
    for name, adjustment in assignment.adjustments.items():
        terms = assignment.course.semester.exercise(name)
        lines.append(f"[exercises.{json.dumps(name)}]")
        lines += [f"{flag} = true" for flag in FLAGS if getattr(terms, flag)]
        if adjustment.accept:
            lines.append(f"accept = {json.dumps(list(adjustment.accept))}")
        if terms.tolerance:
            bounds = ", ".join(f"{kind} = {value!r}" for kind, value in terms.tolerance.items())
            lines.append(f"tolerance = {{ {bounds} }}")
    return "".join(f"{line}\n" for line in lines)
