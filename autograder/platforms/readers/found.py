"""A submission in a download: whose it may be, when it came, and its files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from autograder.intake.archives import File


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
        rank: of two submissions of a student, the later one has the higher: a number that the platform counts up, or
            the time of the newest file; 0 where there is neither.
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
    rank: int = 0
    late: bool | None = None
    attempt: int = 0
    extra: Mapping[str, str] = field(default_factory=dict)


def newest_file(files: Mapping[str, File]) -> int:
    """When the newest of these files was changed, for `rank`."""
    return max((int(file.modified) for file in files.values()), default=0)


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
