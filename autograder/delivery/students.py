"""Finds the student who handed in a submission, and names the student's folder."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from autograder.errors import BadInput
from autograder.intake.archives import Refused
from autograder.intake.submission import check_student_id
from autograder.platforms.platform import Found, Platform
from autograder.platforms.roster import Person, Roster
from autograder.words import printable, some

NAME_BYTES = 120
"""The longest name of a folder; file systems allow twice as many bytes."""


def student_of(found: Found, platform: Platform, roster: Roster) -> Person:
    """Return the student who handed in a submission: the match in the roster or, without one, whom the platform names.

    Raises:
        Refused: nobody in the roster matches, or several do; or the platform names nobody.
    """
    id = unicodedata.normalize("NFC", found.id)
    if roster.people:
        fitting = roster.find(Person(id, found.name, found.email, {platform.name: found.number}))
        if not fitting:
            raise Refused("nobody in the roster fits: add a row, then collect again")
        if len(fitting) > 1:
            ids = some([printable(person.id) for person in fitting])
            raise Refused(f"several in the roster fit ({ids}): give the number that {platform} has for each of them")
        return fitting[0]
    number = found.number if platform.numbers_students else ""
    alone = id or found.email or number or found.name
    if not alone:
        raise Refused(f"nothing says whose it is: collect again with --roster, and {platform.roster_table}")
    return Person(alone, found.name if found.name != alone else "", found.email)


def folder_name(id: str) -> str:
    """Return the name of a student's folder in `submitted/`: the id itself, if it can be a folder's name.

    Otherwise, characters that are not allowed become `_`, and a few characters of the id's digest make the name unique.
    The same id always has the same folder; `.katze/collected/` records the id.
    """
    try:
        check_student_id(id)
        if len(id.encode()) <= NAME_BYTES:
            return id
    except (BadInput, UnicodeEncodeError):
        pass
    digest = hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    plain = "".join(c if c.isprintable() and c not in '/\\:+*?"<>|' else "_" for c in id.strip())
    plain = re.sub(r"\.{2,}", ".", plain).lstrip(".-~ ")
    kept = plain.encode()[: NAME_BYTES - 7].decode("utf-8", "ignore").rstrip()
    return f"{kept or 'student'}-{digest}"
