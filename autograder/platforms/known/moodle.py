"""Moodle: the zip of "Download all submissions", with or without a folder for each student."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from autograder.course.store.collected import Delivery
from autograder.intake.archives import File
from autograder.platforms.download import Download
from autograder.platforms.platform import CONTROL, Found, Platform, by_submission

NAME = re.compile(r"(?P<name>.*)_(?P<number>\d+)_assignsubmission_(?P<plugin>[a-z]+)(?:_(?P<rest>.*))?", re.S | re.I)
"""A folder's name, `Ada Lovelace_12345_assignsubmission_file_`, or a file's, which goes on
with the student's file name.

See Moodle's `mod/assign/classes/downloader.php`; before version 4.1, folder names ended with an underscore.
"""

_EMAIL = ("Email address", "E-Mail-Adresse")


class Moodle(Platform):
    """Moodle, whose tables are recognized by their headings in English or German."""

    name = "moodle"
    order = 30
    folder_names = file_names = (NAME,)
    is_one_assignment = True
    roster_table = "its worksheet or a list of participants"
    without_roster = "students are known by their names; with --roster and the worksheet they are known by their ids"
    table_marks = tuple(map(frozenset, ({"email address"}, {"e-mail-adresse"}, {"identifier", "full name"})))
    table_columns = {
        "name": ("Full name", "Vollständiger Name"),
        "first": ("First name", "Vorname"),
        "last": ("Last name", "Surname", "Nachname"),
        "email": _EMAIL,
        "number": ("Identifier", "ID"),
        "id": ("Username", "Anmeldename", "ID number", "ID-Nummer", "Matrikelnr.", *_EMAIL),
        "handed_in": ("Last modified (submission)", "Zuletzt geändert (Abgabe)"),
        "status": ("Status",),
        "points": ("Grade", "Bewertung"),
        "most": ("Maximum grade", "Bestwertung"),
        "scale": ("Scale", "Skala"),
        "comment": ("Feedback comments", "Feedback als Kommentar"),
    }
    feedback = "zip"
    names_by_number = True

    def read(self, download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
        """Yield the submissions, one for each participant; the text of a text field is among the files, as
        `onlinetext.html`.

        A participant has a different number in each assignment, so students are also identified by full name, unless
        several share one, as all do under blind marking.
        """
        together: dict[tuple[str, str], dict[str, File]] = defaultdict(dict)
        for title, files in by_submission(download, NAME.fullmatch, "its name does not say whose it is").items():
            match = NAME.fullmatch(title)
            assert match is not None
            for inside, file in files.items():
                inside = match["rest"] or inside if inside == title else inside  # a file without a folder
                together[match["name"], match["number"]].setdefault(inside, file)
        called = Counter(name for name, _ in together)
        for (name, number), files in together.items():
            yield Found(
                title=f"{name}_{number}",
                files=files,
                number=number,
                id=name if called[name] == 1 else "",
                name=name,
                extra={"participant": number},
            )

    def number_in_table(self, cell: str) -> str:
        """Return the digits of "Participant 12345", or in German of "Teilnehmer/in12345"."""
        digits = re.search(r"\d+\s*$", cell)
        return digits.group().strip() if digits else ""

    def page_name(self, delivery: Delivery, lesson: str) -> str:
        """Return a path that names the participant in its folder, or in the file if there are no folders.

        That is where Moodle looks (`mod/assign/feedback/file/importziplib.php`).
        """
        for name in delivery.names:
            *folders, file = name.split("/")
            folder = next((part for part in folders if NAME.fullmatch(part)), "")
            if folder:
                return f"{folder}/{lesson}.html"
            if match := NAME.fullmatch(file):
                return f"{match['name']}_{match['number']}_assignsubmission_{match['plugin']}_{lesson}.html"
        return ""

    def page_name_by_number(self, name: str, number: str, lesson: str) -> str:
        """Return the path of a page in a folder as Moodle would name it."""
        if not number.isdecimal():
            return ""
        plain = re.sub(r"[_/\\:\s]+", " ", CONTROL.sub(" ", name)).strip(". ")[:60] or "Participant"
        return f"{plain}_{number}_assignsubmission_file_/{lesson}.html"


PLATFORM = Moodle()
