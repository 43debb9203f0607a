"""nbgrader's exchange: its `inbound` folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from autograder.platforms.download import Download
from autograder.platforms.platform import Found, Platform, by_submission, time_in_name

FOLDER = re.compile(
    r"(?P<student>.+)\+(?P<lesson>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^+]*)(?:\+(?P<random>[^+]*))?", re.S
)
"""A folder's name in nbgrader's exchange, below `inbound`; a student's id may hold a `+` itself."""


class Exchange(Platform):
    """It holds the submissions to all assignments of a course."""

    name = "exchange"
    order = 40
    folder_names = (FOLDER,)
    is_all_lessons = True

    def read(self, download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
        """The submissions in nbgrader's `inbound` folder: every attempt of every student, to any lesson.

        When one was handed in is what its folder's name says, as for nbgrader itself. That name, and whose it is, come
        from the student's own account: `nbgrader collect` also compares the folder's owner, where accounts are ids.
        """
        refusal = "it is not in a folder named student+lesson+time"
        for title, files in by_submission(download, FOLDER.fullmatch, refusal).items():
            match = FOLDER.fullmatch(title)
            assert match is not None
            yield Found(
                title=title,
                files=files,
                number=match["student"],
                id=match["student"],
                lesson=match["lesson"],
                handed_in=time_in_name(match["time"], None),
            )


PLATFORM = Exchange()
