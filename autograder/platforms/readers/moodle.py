"""Moodle: the zip of "Download all submissions", with a folder for each student or without."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from autograder.intake.archives import File
from autograder.intake.delivered import MOODLE
from autograder.platforms.download import Download
from autograder.platforms.readers.found import Found, newest_file


def read_moodle(download: Download) -> Iterator[Found]:
    """The submissions, one for each participant; what a text field holds is among the files, as `onlinetext.html`.

    A participant's number is another one in each assignment, so a student is also known by the full name, unless
    several share it, as all do where the marking is blind.
    """
    together: dict[tuple[str, str], dict[str, File]] = defaultdict(dict)
    for file in download.files:
        parts = file.path.split("/")
        match = next(((place, found) for place, part in enumerate(parts) if (found := MOODLE.fullmatch(part))), None)
        if match is None:
            download.refused[file.path] = "its name says not whose it is"
            continue
        place, found = match
        inside = "/".join(parts[place + 1 :]) or found["rest"] or file.name
        together[found["name"], found["number"]].setdefault(inside, file)
    called = Counter(name for name, _ in together)
    for (name, number), files in together.items():
        yield Found(
            title=f"{name}_{number}",
            files=files,
            number=number,
            id=name if called[name] == 1 else "",
            name=name,
            rank=newest_file(files),
            extra={"participant": number},
        )
