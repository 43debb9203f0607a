"""Defines `Platform`, and the submissions found in its downloads. Each platform is a subclass in `known/`."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Literal

from autograder.course.store.collected import Delivery
from autograder.intake.archives import File
from autograder.platforms.download import Download

NAME_BYTES = 240
"""The longest file or folder name that is written; file systems allow 255 bytes."""

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that a file name must not contain."""


@dataclass(frozen=True)
class Found:
    """A submission found in a platform's download.

    Attributes:
        title: the platform's name for it, that of a folder or a file.
        files: its files, by path inside the submission.
        number: the platform's number or account name for the student.
        id: the student's id, if the platform gives one.
        name: the student's full name.
        email: the student's address.
        lesson: the lesson that it was handed in to, as the platform writes it.
        handed_in: when it was handed in, in UTC; None if unknown.
        number_of_submission: its number in the platform's running count, 0 if it has none; None if there is no count.
        late: whether the platform calls it late; None if it does not say.
        attempt: the platform's number of the attempt, from 1; 0 if it has none.
        extra: other facts needed to return feedback.
    """

    title: str
    files: Mapping[str, File] = field(repr=False)
    number: str = ""
    id: str = ""
    name: str = ""
    email: str = ""
    lesson: str = ""
    handed_in: datetime | None = None
    number_of_submission: int | None = None
    late: bool | None = None
    attempt: int = 0
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def rank(self) -> int:
        """A number that is higher for the later of a student's two submissions; 0 if their order is unknown."""
        if self.number_of_submission is not None:
            return self.number_of_submission
        newest = max((int(file.modified) for file in self.files.values()), default=0)
        return newest or (int(self.handed_in.timestamp()) if self.handed_in else 0)


class Platform:
    """A source of submissions and a destination for feedback: a learning platform, a mailbox, a folder.

    Each module in `known/` defines a subclass and, as `PLATFORM`, its only instance. The defaults fit most platforms:
    they export no table, take no feedback, and identify students by numbers.

    Attributes:
        name: its name in `--from` and `--for`, and the heading of its numbers in a course's roster.
        order: platforms with a lower order are asked first whether a download is theirs.
        folder_names, file_names: patterns of its names for the folders or files of a submission.
        is_one_assignment: whether a download holds one assignment, and tables next to the submissions belong to it.
        is_all_lessons: whether a download may hold any lessons, so that lacking the wanted one is not an error.
        numbers_students: whether its numbers identify students rather than submissions.
        roster_table: the table that tells whose its numbers are, as a phrase for messages.
        without_roster: a remark for the case that there is no roster; empty for none.
        table_marks: sets of headings; a table that has all headings of one set is this platform's.
        table_columns: the headings of these tables by role: "id", "name", "first", "last", "email", "number",
            "handed_in", "status"; the first of several whose cell is not empty counts. A table that is filled in when
            pages are returned also has "points", and may have "most", "scale" and "comment".
        has_rows_of_nobody: whether rows without a number are not about a student.
        instead_of_worksheet: what to do instead, if its tables are not filled in.
        feedback: whether it takes pages in a zip or in a folder; empty if it takes none.
        names_by_number: whether a page can be named for a student who is only in the roster.
    """

    name: str
    order: int
    folder_names: Sequence[re.Pattern[str]] = ()
    file_names: Sequence[re.Pattern[str]] = ()
    is_one_assignment = False
    is_all_lessons = False
    numbers_students = True
    roster_table = "a roster"
    without_roster = ""
    table_marks: Sequence[frozenset[str]] = ()
    table_columns: Mapping[str, Sequence[str]] = {}
    has_rows_of_nobody = False
    instead_of_worksheet = "leave it out"
    feedback: Literal["", "zip", "folder"] = ""
    names_by_number = False

    def __str__(self) -> str:
        return self.name

    def has_named(self, folders: Iterable[str], files: Iterable[str], lessons: Sequence[str] = ()) -> bool:
        """Return whether any of these folder and file names is one of its own, in a course with these lessons."""
        return any(pattern.fullmatch(name) for pattern in self.folder_names for name in folders) or any(
            pattern.fullmatch(name) for pattern in self.file_names for name in files
        )

    def recognises(self, download: Download, lessons: Sequence[str]) -> bool:
        """Return whether a download is its own, before archives in it are opened; by default, judge by the names."""
        return self.has_named(*names_in(file.path for file in download.files))

    def read(self, download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
        """Yield the submissions in a download, and add files that belong to none to `download.refused`.

        Args:
            download: the platform's download.
            lessons: the course's lessons.
            zone: the time zone of times written without one; by default this machine's.

        Raises:
            BadInput: the download cannot be read.
        """
        raise NotImplementedError

    def number_in_table(self, cell: str) -> str:
        """Return the number in a cell of its table."""
        return cell

    def page_name(self, delivery: Delivery, lesson: str) -> str:
        """Return the path of a student's feedback page inside the zip or folder that goes back to the platform.

        The platform finds the student by a name from its download, which students can influence. The path may
        therefore lead out of the folder where it is unpacked: check it with `leads_out` before writing.

        Args:
            delivery: the submission as this platform delivered it; for `Folder`, it may come from any platform.
            lesson: the lesson's name.

        Returns:
            Empty if none of the submission's names tells the platform whose it is.
        """
        return ""

    def page_name_by_number(self, name: str, number: str, lesson: str) -> str:
        """Return the same for a student who did not hand in there, by the roster's full name and number."""
        return ""


def leads_out(path: str) -> bool:
    """Return whether a path could lead out of the folder where it is unpacked, or name something other than a file."""
    return any(
        part in ("", ".", "..") or "\\" in part or CONTROL.search(part) or len(part.encode()) > NAME_BYTES
        for part in path.split("/")
    ) or bool(re.match(r"[A-Za-z]:", path))


def by_submission(
    download: Download, names_submission: Callable[[str], object], refusal: str
) -> dict[str, dict[str, File]]:
    """Return a download's files by the name of their submission, then by path inside the submission.

    Args:
        download: the download; files that belong to no submission are added to its `refused`.
        names_submission: whether a folder or file name is a submission's.
        refusal: the reason for refusing those files.
    """
    together: dict[str, dict[str, File]] = defaultdict(dict)
    for file in download.files:
        parts = file.path.split("/")
        place = next((place for place, part in enumerate(parts) if names_submission(part)), None)
        if place is None:
            download.refused[file.path] = refusal
        else:
            together[parts[place]]["/".join(parts[place + 1 :]) or file.name] = file
    return together


def names_in(paths: Iterator[str]) -> tuple[set[str], list[str]]:
    """Return the names of the folders and of the files in these paths."""
    folders, files = set(), []
    for path in paths:
        *above, name = path.split("/")
        folders.update(above)
        files.append(name)
    return folders, files


def letters_of(name: str) -> str:
    """Return a name without what people write in different ways: capitals, spaces, dashes."""
    return re.sub(r"[\W_]+", "", name).casefold()


_TIME = re.compile(
    r"(?<!\d)(20\d\d)[-._]?(\d\d)[-._]?(\d\d)[T _.-]+(\d\d)[-:.h_]?(\d\d)(?:[-:._]?(\d\d))?(?!\d)(?:\.(\d{1,6}))?"
    r" ?(UTC|Z|[+-]\d\d:?\d\d)?",
)


def time_in_name(name: str, zone: tzinfo | None) -> datetime | None:
    """Return the time in a name, such as `2026-11-20T17-50-00`, in UTC; None if there is none.

    Args:
        name: the name of a file or folder.
        zone: the time zone of a time written without one; by default this machine's.
    """
    match = _TIME.search(name)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = match.groups()
    clock = f"{hour}:{minute}:{second or '00'}.{(fraction or '').ljust(6, '0')}"
    try:
        naive = datetime.fromisoformat(f"{year}-{month}-{day}T{clock}")
        if offset and offset[0] in "+-":
            return datetime.fromisoformat(f"{naive.isoformat()}{offset}").astimezone(UTC)
        return in_utc(naive, UTC if offset else zone)
    except (ValueError, OverflowError):
        return None


def without_time(name: str) -> str:
    """Return a name without the time in it."""
    return _TIME.sub("", name)


def in_utc(naive: datetime, zone: tzinfo | None) -> datetime:
    """Convert a local time to UTC; by default, it is local to this machine."""
    return (naive.astimezone() if zone is None else naive.replace(tzinfo=zone)).astimezone(UTC)
