"""What a platform is, and what is found in its downloads. Each platform is a class of its own, below `known/`."""

from __future__ import annotations

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
"""The longest name of a file or folder that is written; file systems take 255."""

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that no name of a file may have."""


@dataclass(frozen=True)
class Found:
    """What a reader of a platform's downloads finds.

    Attributes:
        title: what the platform calls it: a folder or a file.
        files: its files, by their paths inside the submission.
        number: the platform's number for the student, or name of an account.
        id: the student's id, where the platform writes one.
        name: the full name.
        email: the address.
        lesson: what it was handed in to, as the platform writes it.
        handed_in: when, in UTC; None where nothing tells.
        number_of_submission: one that the platform counts up, 0 where this has none; None where it does not count.
        late: whether the platform calls it late; None where it does not say.
        attempt: the platform's number of the attempt, from 1; 0 where it has none.
        extra: what else the way back needs.
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
        """Of two submissions of a student, the later one has the higher; 0 where nothing tells."""
        if self.number_of_submission is not None:
            return self.number_of_submission
        newest = max((int(file.modified) for file in self.files.values()), default=0)
        return newest or (int(self.handed_in.timestamp()) if self.handed_in else 0)


class Platform:
    """Where submissions come from, and where feedback goes: a learning platform, a mailbox, a folder.

    A file in `known/` defines a subclass and, as `PLATFORM`, its one instance. What a platform does not say is what
    most have in common: it exports no table, takes no feedback, and knows its students by numbers.

    Attributes:
        name: what `--from` and `--for` call it, and a column of a course's roster with its numbers.
        order: platforms with a lower one are asked first whether a download is theirs.
        folder_names, file_names: what it calls the folders or files of a submission.
        is_one_assignment: whether a download holds one assignment, and tables beside the submissions are its own.
        is_all_lessons: whether a download may hold any lessons, so that it is no mistake if it lacks the one wanted.
        numbers_students: whether its numbers are students' rather than submissions'.
        roster_table: what says who its numbers are, in a sentence that asks for it.
        without_roster: what is to be known where there is no roster; empty where nothing is.
        table_marks: sets of headings, of which any is enough to know a table that it exports.
        table_columns: the headings of these tables by what they hold: "id", "name", "first", "last", "email",
            "number", "handed_in", "status"; of several the first that says anything counts. A table that is filled in
            when pages go back has "points" as well, and may have "most", "scale" and "comment".
        has_rows_of_nobody: whether rows without a number are no student's.
        instead_of_worksheet: what to do where no table is filled in.
        feedback: how it takes pages: in a zip, or in a folder; empty where it takes none.
        names_by_number: whether a page can be named for a student who is known by the roster alone.
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
        """Whether it has given such names to folders and files, in a course of these lessons."""
        return any(pattern.fullmatch(name) for pattern in self.folder_names for name in folders) or any(
            pattern.fullmatch(name) for pattern in self.file_names for name in files
        )

    def recognises(self, download: Download, lessons: Sequence[str]) -> bool:
        """Whether a download is its own, before archives in it are opened; by default its names tell."""
        return self.has_named(*names_in(file.path for file in download.files))

    def read(self, download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
        """The submissions in a download; files that are part of none are added to `download.refused`.

        Args:
            download: what it has delivered.
            lessons: those of the course.
            zone: of times that are written without one; by default this machine's.

        Raises:
            BadInput: the download cannot be read.
        """
        raise NotImplementedError

    def number_in_table(self, cell: str) -> str:
        """The number that a cell of its table gives."""
        return cell

    def page_name(self, delivery: Delivery, lesson: str) -> str:
        """The path of a student's feedback page in what goes back to it.

        A platform knows whose a page is by the names that it gave out, which came from students: a path may lead out
        of where it is unpacked: check it with `leads_out` before writing.

        Args:
            delivery: the submission, as this platform delivered it; for a folder, however it came.
            lesson: the lesson's name.

        Returns:
            Empty where none of the submission's names tells the platform whose it is.
        """
        return ""

    def page_name_by_number(self, name: str, number: str, lesson: str) -> str:
        """The same for a student who did not hand in there, by the full name and the number in the roster."""
        return ""


def leads_out(path: str) -> bool:
    """Whether a path could name a place outside of where it is unpacked, or something other than a file there."""
    return any(
        part in ("", ".", "..") or "\\" in part or CONTROL.search(part) or len(part.encode()) > NAME_BYTES
        for part in path.split("/")
    ) or bool(re.match(r"[A-Za-z]:", path))


def by_submission(
    download: Download, names_submission: Callable[[str], object], refusal: str
) -> dict[str, dict[str, File]]:
    """The files of a download by the name of the submission that they are part of, each by its path in it.

    Args:
        download: takes those that are part of none as refused.
        names_submission: whether a folder, or a file, has the name of a submission.
        refusal: why a file is refused.
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
    """The names of the folders, and of the files, in these paths."""
    folders, files = set(), []
    for path in paths:
        *above, name = path.split("/")
        folders.update(above)
        files.append(name)
    return folders, files


def letters_of(name: str) -> str:
    """A name without what people write differently: capitals, spaces, dashes."""
    return re.sub(r"[\W_]+", "", name).casefold()


_TIME = re.compile(
    r"(?<!\d)(20\d\d)[-._]?(\d\d)[-._]?(\d\d)[T _.-]+(\d\d)[-:.h_]?(\d\d)(?:[-:._]?(\d\d))?(?!\d)(?:\.(\d{1,6}))?"
    r" ?(UTC|Z|[+-]\d\d:?\d\d)?",
)


def time_in_name(name: str, zone: tzinfo | None) -> datetime | None:
    """The time that is written in a name, such as `2026-11-20T17-50-00`, in UTC; None where there is none.

    Args:
        name: of a file or folder.
        zone: of a time that names none; by default this machine's.
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
    """A name without the time in it."""
    return _TIME.sub("", name)


def in_utc(naive: datetime, zone: tzinfo | None) -> datetime:
    """A time of a clock on the wall, in UTC; by default of this machine's wall."""
    return (naive.astimezone() if zone is None else naive.replace(tzinfo=zone)).astimezone(UTC)
