"""Folders of submissions: nbgrader's exchange, repositories as GitHub Classroom clones them, and a folder a student."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from autograder.errors import BadInput
from autograder.intake.archives import File
from autograder.intake.delivered import EXCHANGE, letters_of, repository_of, unread_platform
from autograder.intake.handed_in import is_notebook, may_be_work
from autograder.platforms.download import Download
from autograder.platforms.readers.found import Found, newest_file, time_in_name, without_time
from autograder.words import printable

_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tar\.gz)$", re.I)
_HOW = "put each student's files into a folder of the student's name (ada/01_attention.ipynb), and collect those"
_BRANCH = re.compile(r"-(?:main|master)$")


def read_exchange(download: Download) -> Iterator[Found]:
    """The submissions in nbgrader's `inbound` folder: every attempt of every student, to any lesson.

    When one was handed in is what its folder's name says, as for nbgrader itself. That name, and whose it is, come
    from the student's own account: `nbgrader collect` also compares the folder's owner, where accounts are ids.
    """
    together: dict[str, dict[str, File]] = defaultdict(dict)
    for file in download.files:
        parts = file.path.split("/")
        place = next((place for place, part in enumerate(parts[:-1]) if EXCHANGE.fullmatch(part)), None)
        if place is None:
            download.refused[file.path] = "it lies in no folder that is named student+lesson+time"
        else:
            together[parts[place]]["/".join(parts[place + 1 :])] = file
    for title, files in together.items():
        match = EXCHANGE.fullmatch(title)
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


def read_github(download: Download, lessons: Sequence[str]) -> Iterator[Found]:
    """The submissions in folders, or archives, that are named after an assignment and an account: `01-ols-ada`.

    Args:
        download: what GitHub Classroom has cloned or offered.
        lessons: those of the course, whose names may begin such a folder's; where none does, what all folders have in
            common counts as the assignment's.
    """
    tops: dict[str, dict[str, File]] = defaultdict(dict)
    wrapper = len(os.path.commonprefix([file.path.split("/")[:-1] for file in download.files]))
    for file in download.files:
        parts = file.path.split("/")
        named = [place for place, part in enumerate(parts[:-1]) if repository_of(part, lessons)]
        place = next((place for place in named if place >= wrapper), named[-1] if named else -1)
        if place >= 0:
            tops[parts[place]]["/".join(parts[place + 1 :])] = file
        elif len(parts) > 1:
            tops[parts[0]]["/".join(parts[1:])] = file
        else:
            tops[_BRANCH.sub("", _ARCHIVE.sub("", file.name))][file.name] = file
    common = _common(list(tops))
    for title, files in tops.items():
        lesson, account = repository_of(title, lessons) or ("", title[len(common) :] if common else "")
        if not account:
            for file in files.values():
                download.refused[file.path] = "its name is not an assignment's and an account's"
            continue
        yield Found(
            title=title,
            files=files,
            number=account,
            id=account,
            lesson=lesson,
            rank=newest_file(files),
        )


def is_github(download: Download, lessons: Sequence[str]) -> bool:
    """Whether most files lie in folders, or archives, that are named after a lesson and something else."""
    named = [
        any(repository_of(part, lessons) for part in file.path.split("/")[:-1])
        or (file.is_archive and repository_of(file.name, lessons) is not None)
        for file in download.files
    ]
    return 2 * sum(named) > len(named)


def _common(names: Sequence[str]) -> str:
    """What several names begin with, up to a dash."""
    return re.sub(r"[^-]*$", "", os.path.commonprefix(names)) if len(names) > 1 else ""


def read_folder(download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
    """The submissions in a folder for each student, or in a file for each, `ada.ipynb` or `ada_01_ols.ipynb`.

    In a student's folder one for each lesson may lie, and in that one for each attempt, with a time in its name.

    Args:
        download: the folder, or an archive of it.
        lessons: those of the course.
        zone: of a time in a name that says none.
    """
    by_letters = {letters_of(lesson): lesson for lesson in lessons}
    together: dict[tuple[str, str, str], dict[str, File]] = defaultdict(dict)
    in_folders = any("/" in file.path for file in download.files)
    for file in download.files:
        *folders, name = _below_wrapper(file.path, download)
        if not folders:
            if in_folders and not may_be_work(name):
                download.refused[file.path] = "it lies in no student's folder"
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
            download.refused[title] = "its name says not whose it is"
            continue
        yield Found(
            title=title,
            files=files,
            number=whose,
            id=whose,
            name=whose,
            lesson=lesson,
            handed_in=time_in_name(attempt or top, zone),
            rank=newest_file(files),
        )


def require_folder(download: Download, lessons: Sequence[str]) -> None:
    """Refuse what may be of a platform that nobody knows: the names in it would be taken for students'.

    Raises:
        BadInput: it is, or everything lies in one folder, as if one student had handed in the work of many.
    """
    unread = unread_platform([file.path for file in download.files])
    if unread:
        raise BadInput(f"{download.path} looks like a download of {unread}, which is not read yet; {_HOW}")
    below = [_below_wrapper(file.path, download) for file in download.files]
    students = {parts[0] for parts in below if len(parts) > 1}
    notebooks = [parts for parts in below if is_notebook(parts[-1])]
    if len(students) == 1 and all(len(parts) > 1 for parts in notebooks):
        [alone] = students
        known = {letters_of(lesson) for lesson in lessons}
        inside = {
            (*(one for one in parts[1:-1] if letters_of(one) not in known), _student_of(parts[-1], lessons))
            for parts in notebooks
            if not any(time_in_name(part, None) for part in parts[1:-1])
        }
        if len(inside) > 1:
            raise BadInput(
                f"all notebooks in {download.path} lie in {printable(alone)}, which may be no student's name; {_HOW}. "
                "If it is one student's, say so with --from folder"
            )


def _below_wrapper(path: str, download: Download) -> list[str]:
    """The parts of a path, without the one folder that an archive of a folder begins with."""
    parts = path.split("/")
    tops = {file.path.split("/")[0] for file in download.files}
    deep = any(file.path.count("/") > 1 for file in download.files)
    return parts[1:] if download.path.is_file() and len(tops) == 1 and deep else parts


def _student_of(file: str, lessons: Sequence[str]) -> str:
    """Whose a file is, by what its name says besides the lesson, a time and a number."""
    stem = re.sub(r"(?:\.tar)?\.\w+$", "", re.sub(r"\.(?:txt|json|download)$", "", file.strip(), flags=re.I))
    stem = re.sub(r"(?:-\d{1,3}| ?\(\d{1,3}\))$", "", without_time(stem))
    for lesson in sorted(lessons, key=len, reverse=True):
        pattern = "[-_ ]".join(map(re.escape, re.split("[-_ ]+", lesson)))
        stem = re.sub(rf"(?:^|(?<=[-_ .])){pattern}(?=$|[-_ .])", "", stem, flags=re.I)
    return stem.strip(" _-.")
