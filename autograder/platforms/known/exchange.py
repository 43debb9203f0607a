"""nbgrader's exchange: its `inbound` folder."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from autograder.intake.archives import File
from autograder.platforms.download import Download
from autograder.platforms.platform import Found, Platform, time_in_name

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
        together: dict[str, dict[str, File]] = defaultdict(dict)
        for file in download.files:
            parts = file.path.split("/")
            place = next((place for place, part in enumerate(parts[:-1]) if FOLDER.fullmatch(part)), None)
            if place is None:
                download.refused[file.path] = "it lies in no folder that is named student+lesson+time"
            else:
                together[parts[place]]["/".join(parts[place + 1 :])] = file
        for title, files in together.items():
            match = FOLDER.fullmatch(title)
            assert match is not None
            moment = time_in_name(match["time"], None)
            yield Found(
                title=title,
                files=files,
                number=match["student"],
                id=match["student"],
                lesson=match["lesson"],
                handed_in=moment,
                rank=int(moment.timestamp()) if moment else 0,
            )


PLATFORM = Exchange()
