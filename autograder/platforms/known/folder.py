"""Folders: a folder or a file for each student, with names that no platform gave."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo

from autograder.course.store.collected import Delivery
from autograder.errors import BadInput
from autograder.intake.archives import File
from autograder.intake.handed_in import is_notebook, may_be_work, spelling_of
from autograder.platforms.download import Download
from autograder.platforms.platform import Found, Platform, letters_of, time_in_name, without_time
from autograder.words import printable

_HOW = "put each student's files into a folder with the student's name (ada/lesson.ipynb), and collect those"


_UNREAD: Mapping[str, re.Pattern[str]] = {
    "Blackboard": re.compile(r".*_attempt_\d{4}(?:-\d\d){5}(?:_[^/]*|\.txt)", re.S),
    "Brightspace": re.compile(r"(?:.*/)?\d+-\d+ - [^/]+ - [^/]+/.*", re.S),
    "Google Classroom": re.compile(r"(?:.*/)?[^/]+ - (?:Copy of|Kopie von|Copie de|Copia de) [^/]+", re.S),
    "ILIAS": re.compile(r"(?:.*/)?[^/]+_[^/]+_\d+/\d{14}_[^/]+", re.S),
    "Microsoft Teams": re.compile(r"(?:.*/)?[^/]+/[^/]+/Version \d+/.*", re.S),
    "Sakai": re.compile(r"(?:.*/)?[^/]+\([^/()]+\)/(?:Submission attachment\(s\)/.*|timestamp\.txt)", re.S),
}
"""Patterns of file paths in the downloads of platforms that Katze cannot read yet, by platform."""


class Folder(Platform):
    """Identifies students by folder and file names. It comes last, and takes whatever no other platform recognizes."""

    name = "folder"
    order = 70
    feedback = "folder"

    def recognises(self, download: Download, lessons: Sequence[str]) -> bool:
        """Return True for any download that no other platform recognizes, unless its names are clearly not students'.

        Raises:
            BadInput: the download is from a platform that cannot be read, or everything lies in one folder, as if one
                student had handed in the work of many.
        """
        for name, pattern in _UNREAD.items():
            if 2 * sum(pattern.fullmatch(file.path) is not None for file in download.files) > len(download.files):
                raise BadInput(f"{download.path} looks like a download of {name}, which Katze cannot read yet; {_HOW}")
        below = [_below_wrapper(file.path, download) for file in download.files]
        students = {parts[0] for parts in below if len(parts) > 1}
        notebooks = [parts for parts in below if is_notebook(parts[-1])]
        if len(students) == 1 and all(len(parts) > 1 for parts in notebooks):
            known = {letters_of(lesson) for lesson in lessons}
            inside = {
                (*(part for part in parts[1:-1] if letters_of(part) not in known), _student_of(parts[-1], lessons))
                for parts in notebooks
                if not any(time_in_name(part, None) for part in parts[1:-1])
            }
            if len(inside) > 1:
                raise BadInput(
                    f"all notebooks in {download.path} are in {printable(students.pop())}, which may not be a "
                    f"student's name; {_HOW}. If it is one student's, say so with --from folder"
                )
        return True

    def read(self, download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
        """Yield the submissions: a folder for each student, or a file for each, `ada.ipynb` or `ada_01_ols.ipynb`.

        A student's folder may contain a folder for each lesson, and that one a folder for each attempt, with a time in
        its name.
        """
        by_letters = {letters_of(lesson): lesson for lesson in lessons}
        together: dict[tuple[str, str, str], dict[str, File]] = defaultdict(dict)
        in_folders = any("/" in file.path for file in download.files)
        for file in download.files:
            *folders, name = _below_wrapper(file.path, download)
            if not folders:
                if in_folders and not may_be_work(name):
                    download.refused[file.path] = "it is not in a student's folder"
                else:
                    together[name, "", ""][name] = file
                continue
            student, *deeper = folders
            lesson = by_letters.get(letters_of(deeper[0]), "") if deeper else ""
            deeper = deeper[1:] if lesson else deeper
            attempt = deeper.pop(0) if deeper and time_in_name(deeper[0], zone) else ""
            together[student, lesson, attempt]["/".join((*deeper, name))] = file
        for (top, lesson, attempt), files in together.items():
            is_file = list(files) == [top] and not lesson and not attempt
            whose = _student_of(top, lessons) if is_file else without_time(top).strip(" _-.")
            title = "/".join(filter(None, (top, lesson, attempt)))
            if not whose or " - " in whose:
                download.refused[title] = "its name does not say whose it is"
                continue
            yield Found(
                title=title,
                files=files,
                number=whose,
                id=whose,
                name=whose,
                lesson=lesson,
                handed_in=time_in_name(attempt or top, zone),
            )

    def page_name(self, delivery: Delivery, lesson: str) -> str:
        """Return the path of a page in the student's own folder."""
        return f"{delivery.student}/{lesson}.html"


def _below_wrapper(path: str, download: Download) -> list[str]:
    """Return the parts of a path, without the top folder that an archive of a single folder begins with."""
    parts = path.split("/")
    tops = {file.path.split("/")[0] for file in download.files}
    deep = any(file.path.count("/") > 1 for file in download.files)
    return parts[1:] if download.path.is_file() and len(tops) == 1 and deep else parts


def _student_of(file: str, lessons: Sequence[str]) -> str:
    """Return the student's name in a file name: what is left without the lesson, a time and a number."""
    stem = re.sub(r"(?:\.tar)?\.\w+$", "", re.sub(r"\.(?:txt|json|download)$", "", file.strip(), flags=re.I))
    stem = re.sub(r"(?:-\d{1,3}| ?\(\d{1,3}\))$", "", without_time(stem))
    for lesson in sorted(lessons, key=len, reverse=True):
        stem = re.sub(rf"(?:^|(?<=[-_ .])){spelling_of(lesson)}(?=$|[-_ .])", "", stem, flags=re.I)
    return stem.strip(" _-.")


PLATFORM = Folder()
