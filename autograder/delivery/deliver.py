"""Finds out whose a submission is, and puts it into `submitted/<student>/<lesson>/`, all or nothing; keeps what it
replaces.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from autograder.course.course import Course
from autograder.errors import BadInput, Unreadable
from autograder.intake import timestamps
from autograder.intake.archives import File, Refused
from autograder.intake.handed_in import is_notebook
from autograder.intake.submission import check_student_id, find_submission
from autograder.limits import size
from autograder.platforms.platform import Found, Platform
from autograder.platforms.roster import Person, Roster
from autograder.repair import Release, answers_in
from autograder.words import printable, some
from course_lib.ground.files import put_in_place, sha256_of

SUBMISSION_BYTES = 200_000_000
"""The most bytes that the files of one submission may have together."""

FILES = 500
"""The most files that are taken from one submission."""

_NAME_BYTES = 120
"""The longest name of a folder; file systems allow twice as many bytes."""

_BEING_MADE = ".collecting-"
"""The prefix of a folder in `submitted/` while it is being filled; it is hidden, so nobody grades it."""


There = Literal["nothing", "the same", "another time", "something else"]
"""What is already in a submission's place; "another time" differs only in when it was handed in."""


def student_of(found: Found, platform: Platform, roster: Roster) -> Person:
    """Return the student who handed in a submission: the match in the roster or, without one, whom the platform names.

    Raises:
        Refused: nobody in the roster matches, or several do; or the platform names nobody.
    """
    id = unicodedata.normalize("NFC", found.id)
    if roster.people:
        fitting = roster.find(Person(id, found.name, found.email, {platform.name: found.number}))
        if not fitting:
            raise Refused("nobody in the roster fits: add a row, then collect again")
        if len(fitting) > 1:
            ids = some([printable(person.id) for person in fitting])
            raise Refused(f"several in the roster fit ({ids}): give the number that {platform} has for each of them")
        return fitting[0]
    number = found.number if platform.numbers_students else ""
    alone = id or found.email or number or found.name
    if not alone:
        raise Refused(f"nothing says whose it is: collect again with --roster, and {platform.roster_table}")
    return Person(alone, found.name if found.name != alone else "", found.email)


def folder_name(id: str) -> str:
    """Return the name of a student's folder in `submitted/`: the id itself, if it can be a folder's name.

    Otherwise, characters that are not allowed become `_`, and a few characters of the id's digest make the name unique.
    The same id always has the same folder; `.katze/collected/` records the id.
    """
    try:
        check_student_id(id)
        if len(id.encode()) <= _NAME_BYTES:
            return id
    except (BadInput, UnicodeEncodeError):
        pass
    digest = hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    plain = "".join(c if c.isprintable() and c not in '/\\:+*?"<>|' else "_" for c in id.strip())
    plain = re.sub(r"\.{2,}", ".", plain).lstrip(".-~ ")
    kept = plain.encode()[: _NAME_BYTES - 7].decode("utf-8", "ignore").rstrip()
    return f"{kept or 'student'}-{digest}"


@dataclass(frozen=True)
class Staged:
    """A submission that is written, but not yet in its place.

    Attributes:
        folder: its folder for now.
        place: its final folder.
        names: the platform's names of its files, first that of the graded notebook.
        digest: SHA-256 of the graded notebook, in hexadecimal; empty if there is none.
        problem: why grading will find no notebook; empty if it will find one.
        left: why files were left out, by the platform's names.
    """

    folder: Path
    place: Path
    names: tuple[str, ...]
    digest: str
    problem: str
    left: Mapping[str, str]

    def there(self) -> There:
        """Return what is already in its place."""
        if not os.path.lexists(self.place):
            return "nothing"
        if self.place.is_symlink() or not self.place.is_dir():
            return "something else"
        before, after = _digests(self.place), _digests(self.folder)
        times = before.pop(timestamps.NAME, None), after.pop(timestamps.NAME, None)
        if before != after:
            return "something else"
        is_new = times[1] not in (None, times[0])  # a known time is not dropped for an unknown one
        return "another time" if is_new else "the same"


class Deliverer:
    """Puts submissions into a course, one after another; nobody else does so at the same time.

    Args:
        staging: a folder on the same disk, for submissions that are not in their place yet.
    """

    def __init__(self, course: Course, staging: Path) -> None:
        self._course = course
        self._staging = staging
        self._began = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")

    def stage(self, found: Found, student: str, lesson: str) -> Staged:
        """Write a submission into the staging folder.

        Raises:
            Refused: none of its files can be taken, or the student's folder is a link or a file.
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
            if safe.casefold() == timestamps.NAME:  # the platform says when it was handed in, not a student's file
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
        """Put a submission in its place; return where the earlier one is kept, relative to the course's folder.

        Empty if there was none, or only the time has changed.
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
        """Move what is in this place out of the way, and return where it is kept."""
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
    """Take submissions into a course while the block runs. In a dry run, which only finds out what would happen to each
    one, `put` must not be called.

    Raises:
        BadInput: somebody else is collecting.
    """
    if dry_run:
        with tempfile.TemporaryDirectory() as staging:
            yield Deliverer(course, Path(staging))
        return
    folder = course.root / ".katze" / "collected"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput("another `katze collect` is running in this course; wait until it is done") from None
        course.submitted.mkdir(parents=True, exist_ok=True)
        for left in course.submitted.glob(f"{_BEING_MADE}*"):  # left by a run that was cut off
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(
            prefix=_BEING_MADE, dir=course.submitted, ignore_cleanup_errors=True
        ) as staging:
            yield Deliverer(course, Path(staging))


def _safe_path(path: str, taken: Mapping[str, str]) -> str:
    """Return a path inside a submission that any file system takes and a person can read."""
    parts = [_safe_name(part) for part in path.split("/") if part not in ("", ".", "..")] or ["file"]
    safe = "/".join(parts)
    number = 1
    while safe in taken:
        number += 1
        safe = "/".join([*parts[:-1], f"{number}_{parts[-1]}"])
    return safe


def _safe_name(name: str) -> str:
    safe = "".join(c if c.isprintable() and c != "\\" else "_" for c in name).strip()
    safe = re.sub(r"^\.", "_", safe) or "_"
    stem, dot, ending = safe.rpartition(".")
    room = _NAME_BYTES - len(f"{dot}{ending}".encode())
    if len(safe.encode()) <= _NAME_BYTES or room < 1:
        return safe.encode()[:_NAME_BYTES].decode("utf-8", "ignore")
    return stem.encode()[:room].decode("utf-8", "ignore") + dot + ending


def _write(place: Path, file: File) -> int:
    """Write a file, and return its length in bytes; remove it again if its source cannot be read to the end."""
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
    """Return the digests of the files in a folder, by path; do not follow links."""
    return {
        str(path.relative_to(folder)): sha256_of(path) if path.is_file() and not path.is_symlink() else "no file"
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
