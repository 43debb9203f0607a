"""A course on disk: the folder with `nbgrader_config.py`, and the places of everything in it.

nbgrader's own settings (`c.CourseDirectory...`) name the folders, so that both tools always agree. Katze's settings are
`c.Katze.exercises`, `c.Katze.repository`, `c.Katze.revision`, `c.Katze.website`, `c.Katze.solutions_directory`,
`c.Katze.solutions`, `c.Katze.slides`, `c.Katze.limits`, `c.Katze.exercise_limits` and `c.Katze.system_calls`. Whatever
changes from semester to semester, such as deadlines, is in `course.toml` next to it (`semester.py`).
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from shlex import quote

from traitlets.config.loader import Config

import course_lib
from autograder.course.address import DEFAULT_URL, Address, address_from
from autograder.course.semester import SEMESTER_NAME, Semester, read_semester
from autograder.course.settings import (
    exercises_from,
    jupyter_settings,
    limits_from,
    read_settings,
    shows_from,
    text_from,
)
from autograder.errors import BadInput
from autograder.limits import Allowance, Limits
from course_lib.exercises.catalogue import CONFIG_NAME, Catalogue, UnknownName

SECRET_BYTES = 32

_REPOSITORY = r"([A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+)?"
_WEBSITE = r"(https?://[^\s/]\S*)?"
_REVISION = r"[A-Za-z0-9][A-Za-z0-9._/-]*"


@dataclass(frozen=True)
class Course:
    """A course's settings and folders. All paths are absolute; a folder need not exist yet.

    Attributes:
        root: the folder with `nbgrader_config.py`.
        exercises: the exercises of its lessons.
        course_id: nbgrader's name for the course; may be empty.
        repository: OWNER/NAME on GitHub, for the notebooks' link to Colab and install cell; empty if the course is not
            released on GitHub.
        revision: the tag, branch or commit from which the install cell gets the library.
        website: the address of the published website that `katze site` builds; may be empty.
        solutions: the lessons as people write them, as text: `<lesson>/<lesson>.py`.
        shows_solutions: whether students may ask for them.
        shows_slides: whether lessons include the cells about a lecture's slides.
        source: nbgrader's source notebooks, made from `solutions`.
        release: the students' notebooks, made from `source`.
        submitted: submissions, as `<student>/<lesson>/<lesson>.ipynb`.
        autograded: graded notebooks, in the same layout.
        feedback: feedback, in the same layout.
        gradebook: nbgrader's database: a file, or a database on a server.
        limits: what each submission may use.
        exercise_limits: what single exercises may use instead, by id.
        semester: deadlines, weights, and settings of single exercises.
        config: all settings in `nbgrader_config.py`, for nbgrader's own classes.
    """

    root: Path
    exercises: Catalogue
    course_id: str
    repository: str
    revision: str
    website: str
    solutions: Path
    shows_solutions: bool
    shows_slides: bool
    source: Path
    release: Path
    submitted: Path
    autograded: Path
    feedback: Path
    gradebook: Address
    limits: Limits
    exercise_limits: Mapping[str, Allowance] = field(hash=False)
    semester: Semester
    config: Config = field(repr=False, compare=False)

    @classmethod
    def find(cls, folder: Path | None = None) -> Course:
        """Find the course that `folder` belongs to: the nearest folder, from it upwards, with an `nbgrader_config.py`,
        whose `c.CourseDirectory.root` may name another folder. If there is none, use the root from Jupyter's own
        settings.

        Args:
            folder: where to start; by default the current directory. Only then may Jupyter's settings name another
                course, as they may for nbgrader.

        Raises:
            BadInput: there is no such folder, or its settings cannot be used.
        """
        start = (folder or Path.cwd()).resolve()
        if not start.is_dir():
            raise BadInput(f"there is no folder {start}; name the folder of the course")
        config = jupyter_settings()
        here = next((root for root in (start, *start.parents) if (root / CONFIG_NAME).is_file()), None)
        if here is not None:
            if folder is not None and "root" in config.CourseDirectory:
                del config.CourseDirectory["root"]
            config.merge(read_settings(here / CONFIG_NAME))
        root = Path(here or start, text_from(config, "CourseDirectory.root", "")).resolve()
        if here is None and "root" not in config.CourseDirectory:
            raise BadInput(f"no {CONFIG_NAME} in {start} or above it; go to the folder of the course")
        if not root.is_dir():
            raise BadInput(f"c.CourseDirectory.root is {root}, and there is no such folder; fix it in {CONFIG_NAME}")
        if root != here and (root / CONFIG_NAME).is_file():
            config.merge(read_settings(root / CONFIG_NAME))
        return cls._load(root, config)

    @classmethod
    def _load(cls, root: Path, config: Config) -> Course:
        folders = {
            step: root / text_from(config, f"CourseDirectory.{step}_directory", step)
            for step in ("source", "release", "submitted", "autograded", "feedback")
        }
        limits, exercise_limits = limits_from(config)
        exercises = exercises_from(root / CONFIG_NAME, config)
        revision = f"v{course_lib.__version__}"
        return cls(
            root=root,
            exercises=exercises,
            limits=limits,
            exercise_limits=exercise_limits,
            semester=read_semester(root, {*exercises.modules, *_assignments(folders["release"])}),
            course_id=text_from(config, "CourseDirectory.course_id", ""),
            repository=text_from(config, "Katze.repository", "", _REPOSITORY, '"OWNER/NAME"'),
            revision=text_from(config, "Katze.revision", revision, _REVISION, "a tag, a branch or a commit"),
            website=text_from(config, "Katze.website", "", _WEBSITE, 'an address, such as "https://example.org/katze"'),
            solutions=root / text_from(config, "Katze.solutions_directory", "solutions"),
            shows_solutions=shows_from(config, "solutions"),
            shows_slides=shows_from(config, "slides"),
            gradebook=address_from(root, text_from(config, "CourseDirectory.db_url", DEFAULT_URL)),
            config=config,
            **folders,
        )

    def require_exercises(self) -> None:
        """Refuse settings for unknown exercises: a misspelled id would silently change nothing.

        Raises:
            BadInput: `c.Katze.exercise_limits` or `course.toml` names an exercise that the course lacks.
        """
        in_semester = set(self.semester.exercises)
        if in_semester:  # it may also name written exercises, which a person grades
            in_semester -= self.exercises.all_written().keys()
        named = dict.fromkeys(in_semester, f"{SEMESTER_NAME}: exercises")
        named |= dict.fromkeys(self.exercise_limits, f"{CONFIG_NAME}: c.Katze.exercise_limits")
        for exercise, where in sorted(named.items()):
            try:
                self.exercises.find(exercise)
            except UnknownName as error:
                raise BadInput(f"{where}: {error}") from None

    @property
    def solved(self) -> Path | None:
        """The folder of the solutions that students may ask for; None if the course has no `course_lib` of its own."""
        learner = self.root / "course_lib" / "learner"
        return learner / "solved" if learner.is_dir() else None

    def lessons(self) -> list[str]:
        """Return the released lessons, sorted: the folders of `release` that contain a notebook of the same name."""
        return sorted(path.parent.name for path in self.release.glob("*/*.ipynb") if path.stem == path.parent.name)

    def assignments(self) -> list[str]:
        """Return all released assignments, sorted, lessons or not: the folders of `release` with a notebook."""
        return _assignments(self.release)

    def grading(self, lesson: str) -> str:
        """Return the command that grades a lesson, or an assignment without exercises."""
        return f"katze {'autograde' if self.is_plain(lesson) else 'grade'} {quote(lesson)}"

    def is_plain(self, lesson: str) -> bool:
        """Return whether this is a released assignment with nbgrader's own test cells instead of exercises."""
        return lesson not in self.exercises.modules and lesson in self.assignments()

    def release_notebook(self, lesson: str) -> Path:
        """Return the path of a lesson's released notebook.

        Raises:
            BadInput: there is no such lesson.
        """
        lessons = self.lessons()
        if lesson in lessons:
            return self.release / lesson / f"{lesson}.ipynb"
        if lesson in self.assignments():
            raise BadInput(
                f"{lesson} is a plain nbgrader assignment, without exercises: `katze autograde {quote(lesson)}` grades "
                "it, and `katze log` and `katze export` work for it too"
            )
        known = ", ".join(lessons) or "none yet: run `katze release`"
        near = [name for name in lessons if name.startswith(lesson)] or get_close_matches(lesson, lessons, n=1)
        meant = f"did you mean {near[0]}? There are" if near else "there are"
        raise BadInput(f"no lesson {lesson!r} in {self.release}; {meant}: {known}")

    @property
    def secret_file(self) -> Path:
        """The secret's file, which the first use creates."""
        return self.root / ".katze" / "secret"

    def secret(self, make: bool = True) -> bytes:
        """Return the 32 random bytes from which hidden inputs are derived; made on first use, readable only by the
        owner. If a missing secret is not to be made, return b"".

        Raises:
            BadInput: the file is damaged.
        """
        path = self.secret_file
        if not path.exists():
            if not make:
                return b""
            _create_secret(path)
        value = path.read_bytes()
        if len(value) != SECRET_BYTES:
            raise BadInput(
                f"{path} holds {len(value)} bytes, not {SECRET_BYTES}; restore it, or remove it to draw a new one "
                "(hidden inputs will then differ from those of earlier grades)"
            )
        return value


def _assignments(release: Path) -> list[str]:
    return sorted({path.parent.name for path in release.glob("*/*.ipynb")})


def _create_secret(path: Path) -> None:
    """Write a new secret atomically, so that two competing processes read the same one."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    draft = path.with_name(f"secret.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
        with contextlib.suppress(FileExistsError):  # another process was first: its secret is the course's
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
