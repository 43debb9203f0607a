"""nbgrader's exchange: its `inbound` folder."""

import re
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from autograder.platforms.download import Download
from autograder.platforms.platform import Found, Platform, by_submission, time_in_name

FOLDER = re.compile(
    r"(?P<student>.+)\+(?P<lesson>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^+]*)(?:\+(?P<random>[^+]*))?", re.S
)
"""A folder's name below `inbound` in nbgrader's exchange; a student's id may itself contain a `+`."""


class Exchange(Platform):
    """nbgrader's exchange, which holds the submissions to all assignments of a course."""

    name = "exchange"
    order = 40
    folder_names = (FOLDER,)
    is_all_lessons = True

    def read(self, download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
        """Yield the submissions in nbgrader's `inbound` folder: every attempt of every student, to any lesson.

        The folder's name gives the time, as in nbgrader itself. That name, with the student's id in it, is written by
        the student's own account: `nbgrader collect` also checks the folder's owner, where account names are ids.
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
