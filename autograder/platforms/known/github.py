"""GitHub Classroom: repositories, cloned by it or downloaded as archives."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo

from autograder.intake.archives import File, is_archive
from autograder.intake.handed_in import spelling_of
from autograder.platforms.download import Download
from autograder.platforms.platform import Found, Platform

_ENDING = re.compile(r"(?:-(?:main|master))?(?:\.(?:zip|tar|tgz|tar\.gz))?$", re.I)
"""The end of an archive's name: the branch and the file type."""


class GitHub(Platform):
    """GitHub Classroom, which identifies students by their accounts."""

    name = "github"
    order = 60
    table_marks = (frozenset({"identifier", "github_username"}),)
    table_columns = {"name": ("name",), "number": ("github_username",), "id": ("identifier", "github_username")}

    def has_named(self, folders: Iterable[str], files: Iterable[str], lessons: Sequence[str] = ()) -> bool:
        """Return whether a folder is named after a lesson and something else."""
        return any(_repository(name, lessons) for name in folders)

    def recognises(self, download: Download, lessons: Sequence[str]) -> bool:
        """Return whether most files lie in folders or archives that are named after a lesson and something else."""
        named = [
            self.has_named(file.path.split("/")[:-1] + [file.name] * is_archive(file.name), (), lessons)
            for file in download.files
        ]
        return 2 * sum(named) > len(named)

    def read(self, download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
        """Yield the submissions in folders or archives that are named after an assignment and an account: `01-ols-ada`.

        If a name does not begin with a lesson's, the prefix that all names share counts as the assignment's name.
        """
        tops: dict[str, dict[str, File]] = defaultdict(dict)
        wrapper = len(os.path.commonprefix([file.path.split("/")[:-1] for file in download.files]))
        for file in download.files:
            parts = file.path.split("/")
            named = [place for place, part in enumerate(parts[:-1]) if _repository(part, lessons)]
            place = next((place for place in named if place >= wrapper), named[-1] if named else -1)
            if place >= 0:
                tops[parts[place]]["/".join(parts[place + 1 :])] = file
            elif len(parts) > 1:
                tops[parts[0]]["/".join(parts[1:])] = file
            else:
                tops[_ENDING.sub("", file.name)][file.name] = file
        common = _common(list(tops))
        for title, files in tops.items():
            lesson, account = _repository(title, lessons) or ("", title[len(common) :] if common else "")
            if not account:
                for file in files.values():
                    download.refused[file.path] = "its name does not give an assignment and an account"
                continue
            yield Found(title=title, files=files, number=account, id=account, lesson=lesson)


def _repository(name: str, lessons: Iterable[str]) -> tuple[str, str] | None:
    """Return the lesson and the account in the name of a GitHub Classroom repository: `01-ols-ada`.

    None if the name does not begin with a lesson's.
    """
    for lesson in lessons:
        match = re.match(f"{spelling_of(lesson)}[-_ ](?=.)", name, re.I)
        if match:
            return lesson, name[match.end() :]
    return None


def _common(names: Sequence[str]) -> str:
    """Return the prefix that several names share, up to a dash."""
    return re.sub(r"[^-]*$", "", os.path.commonprefix(names)) if len(names) > 1 else ""


PLATFORM = GitHub()
