"""Putting a submission into `submitted/<student>/<lesson>/`: whole or not at all, and nothing there is lost."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from autograder.course.course import Course
from autograder.delivery.students import NAME_BYTES
from autograder.errors import BadInput, Unreadable
from autograder.intake import timestamps
from autograder.intake.archives import File, Refused
from autograder.intake.handed_in import is_notebook
from autograder.intake.submission import find_submission
from autograder.limits import size
from autograder.platforms.platform import Found
from autograder.repair import Release, answers_in
from course_lib.ground.files import put_in_place, sha256_of

SUBMISSION_BYTES = 200_000_000
"""What the files of one submission may have together."""

FILES = 500
"""The most files of one submission that are taken."""

_BEING_MADE = ".collecting-"
"""What a folder's name in `submitted/` begins with while it is being filled: hidden, so nobody grades it."""


There = Literal["nothing", "the same", "another time", "something else"]
"""What lies where a submission goes; "another time" is the same but for when it was handed in."""


@dataclass(frozen=True)
class Staged:
    """A submission that is written, and not yet where it belongs.

    Attributes:
        folder: where it is now.
        place: where it goes.
        names: what the platform called its files, the one that is graded first.
        digest: SHA-256 of that one, in hexadecimal; empty where there is none.
        problem: why grading will find no notebook; empty where it will.
        left: why files of it were left out, by what the platform calls them.
    """

    folder: Path
    place: Path
    names: tuple[str, ...]
    digest: str
    problem: str
    left: Mapping[str, str]

    def there(self) -> There:
        """What lies where it goes."""
        if not os.path.lexists(self.place):
            return "nothing"
        if self.place.is_symlink() or not self.place.is_dir():
            return "something else"
        before, after = _digests(self.place), _digests(self.folder)
        times = before.pop(timestamps.NAME, None), after.pop(timestamps.NAME, None)
        if before != after:
            return "something else"
        is_new = times[1] not in (None, times[0])  # what somebody knows of the time stays known
        return "another time" if is_new else "the same"


class Deliverer:
    """Takes submissions into a course, one after another; nobody else does so at the same time.

    Args:
        course: where to.
        staging: a folder for what is not there yet, on the same disk.
    """

    def __init__(self, course: Course, staging: Path) -> None:
        self._course = course
        self._staging = staging
        self._began = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")

    def stage(self, found: Found, student: str, lesson: str) -> Staged:
        """Write a submission beside the others.

        Raises:
            Refused: none of its files can be taken.
        """
        above = self._course.submitted / student
        if above.is_symlink() or (above.exists() and not above.is_dir()):
            raise Refused(f"{above} is not a folder of the course's own: move it away")
        folder = Path(tempfile.mkdtemp(dir=self._staging))
        written: dict[str, str] = {}
        left: dict[str, str] = {}
        budget = SUBMISSION_BYTES
        for path, file in sorted(found.files.items(), key=lambda one: not is_notebook(one[0])):
            safe = _safe_path(path, written)
            if safe.casefold() == timestamps.NAME:  # when it was handed in the platform says, and no student's file
                continue
            try:
                if len(written) >= FILES:
                    raise Refused(f"the submission has more than {FILES} files")
                if file.size > budget:
                    most = size(SUBMISSION_BYTES, decimal=True)
                    raise Refused(f"the submission has more than the limit of {most}")
                budget -= _write(folder / safe, file)
                written[safe] = file.path
            except Refused as refusal:
                left[file.path] = refusal.reason
        if not written:
            raise Refused("; ".join(dict.fromkeys(left.values())) or "it has no files")
        if found.handed_in is not None:
            (folder / timestamps.NAME).write_text(f"{found.handed_in.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f UTC}")
        first, digest, problem = "", "", ""
        answers = answers_in(Release.of(self._course, lesson), lesson, self._course.exercises)
        try:
            notebook, _ = find_submission(folder, lesson, answers)
            first, digest = written[notebook.path], hashlib.sha256(notebook.content).hexdigest()
        except Unreadable as unreadable:
            problem = unreadable.reason
        names = tuple(dict.fromkeys([*filter(None, [first]), *written.values()]))
        return Staged(folder, self._course.submitted / student / lesson, names, digest, problem, left)

    def put(self, staged: Staged, there: There) -> str:
        """Put a submission where it belongs; returns where what was there is kept, relative to the course's folder.

        Empty where nothing was, or only the time has changed.
        """
        kept = ""
        if there == "another time":
            with put_in_place(staged.place / timestamps.NAME) as draft:
                draft.write_bytes((staged.folder / timestamps.NAME).read_bytes())
        elif there != "the same":
            staged.place.parent.mkdir(parents=True, exist_ok=True)
            if there == "something else":
                kept = self._keep(staged.place)
            staged.folder.chmod(0o755)
            staged.folder.rename(staged.place)
        return kept

    def _keep(self, place: Path) -> str:
        """Move away what lies in a place."""
        above = self._course.root / ".katze" / "replaced" / place.name / place.parent.name
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = above / self._began
        number = 1
        while kept.exists():
            number += 1
            kept = above / f"{self._began}-{number}"
        shutil.move(place, kept)
        return str(kept.relative_to(self._course.root))


@contextlib.contextmanager
def deliverer(course: Course, dry_run: bool) -> Iterator[Deliverer]:
    """Take submissions into a course, for as long as the block runs.

    Args:
        course: where to.
        dry_run: only find out what would become of each; nothing may be `put`.

    Raises:
        BadInput: somebody else is collecting.
    """
    if dry_run:
        with tempfile.TemporaryDirectory() as staging:
            yield Deliverer(course, Path(staging))
        return
    with _alone(course):
        course.submitted.mkdir(parents=True, exist_ok=True)
        for left in course.submitted.glob(f"{_BEING_MADE}*"):  # by a run that was cut off
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(
            prefix=_BEING_MADE, dir=course.submitted, ignore_cleanup_errors=True
        ) as staging:
            yield Deliverer(course, Path(staging))


@contextlib.contextmanager
def _alone(course: Course) -> Iterator[None]:
    folder = course.root / ".katze" / "collected"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput("another `katze collect` is running in this course; wait until it is done") from None
        yield


def _safe_path(path: str, taken: Mapping[str, str]) -> str:
    """A path inside a submission that can be written anywhere and read by a person."""
    parts = [_safe_name(part) for part in path.split("/") if part not in ("", ".", "..")] or ["file"]
    safe = "/".join(parts)
    number = 1
    while safe in taken:
        number += 1
        safe = "/".join([*parts[:-1], f"{number}_{parts[-1]}"])
    return safe


def _safe_name(name: str) -> str:
    printable = "".join(c if c.isprintable() and c != "\\" else "_" for c in name).strip()
    printable = re.sub(r"^\.", "_", printable) or "_"
    stem, dot, ending = printable.rpartition(".")
    room = NAME_BYTES - len(f"{dot}{ending}".encode())
    if len(printable.encode()) <= NAME_BYTES or room < 1:
        return printable.encode()[:NAME_BYTES].decode("utf-8", "ignore")
    return stem.encode()[:room].decode("utf-8", "ignore") + dot + ending


def _write(place: Path, file: File) -> int:
    """Write a file; returns how many bytes it has. Nothing is left of one that cannot be read to its end."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as written:
            return sum(written.write(piece) for piece in file.pieces())
    except Refused:
        place.unlink(missing_ok=True)
        raise
    except (FileExistsError, NotADirectoryError) as error:
        raise Refused("its name is another file's folder") from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise Refused("its path is too long") from error
        raise


def _digests(folder: Path) -> dict[str, str]:
    """What is in a folder, by path; links are not followed."""
    return {
        str(path.relative_to(folder)): sha256_of(path) if path.is_file() and not path.is_symlink() else "no file"
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
