"""What a feedback page is called in what goes back: a platform knows whose it is by the names that it gave out.

The names come from students and from outside. A page gets none that leads out of where it is unpacked.
"""

from __future__ import annotations

import re

from autograder.course.kept.collected import Delivery
from autograder.intake.delivered import CANVAS, CANVAS_ANONYMOUS, GRADESCOPE, MOODLE

NAME_BYTES = 240
"""The longest name of a file or folder that is written; file systems take 255."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def page_name(platform: str, delivery: Delivery, lesson: str) -> str:
    """The path of a student's page in the zip for a platform, or in a folder.

    Args:
        platform: "moodle", "canvas", "gradescope" or "folder".
        delivery: the submission, as that platform delivered it; for a folder, however it came.
        lesson: the lesson's name.

    Returns:
        Empty where none of the submission's names tells the platform whose it is.
    """
    match platform:
        case "moodle":
            return _moodle(delivery, lesson)
        case "canvas":
            return _canvas(delivery)
        case "gradescope":
            return _gradescope(delivery)
    return f"{delivery.student}/{lesson}.html"


def moodle_page_name(name: str, number: str, lesson: str) -> str:
    """A page's path in the zip for Moodle, of a participant who did not hand in there.

    Args:
        name: the student's full name.
        number: the participant's number.
        lesson: the lesson's name.
    """
    plain = re.sub(r"[_/\\:\s]+", " ", _CONTROL.sub(" ", name)).strip(". ")[:60] or "Participant"
    return f"{plain}_{number}_assignsubmission_file_/{lesson}.html"


def leads_out(path: str) -> bool:
    """Whether a path could name a place outside of where it is unpacked, or something other than a file there."""
    return any(
        part in ("", ".", "..") or "\\" in part or _CONTROL.search(part) or len(part.encode()) > NAME_BYTES
        for part in path.split("/")
    ) or bool(re.match(r"[A-Za-z]:", path))


def _moodle(delivery: Delivery, lesson: str) -> str:
    """Moodle looks for the participant in a folder's name, or in a file's where there are no folders
    (`mod/assign/feedback/file/importziplib.php`).
    """
    for name in delivery.names:
        *folders, file = name.split("/")
        folder = next((part for part in folders if MOODLE.fullmatch(part)), "")
        if folder:
            return f"{folder}/{lesson}.html"
        if match := MOODLE.fullmatch(file):
            return f"{match['name']}_{match['number']}_assignsubmission_{match['plugin']}_{lesson}.html"
    return ""


def _canvas(delivery: Delivery) -> str:
    """Canvas looks for the numbers of the student and of the file that was handed in, and takes the kind of file from
    the end (`infer_comment_context_from_filename`); a text or a link has no such file.
    """
    for name in delivery.names:
        file = name.rpartition("/")[2]
        match = CANVAS_ANONYMOUS.fullmatch(file) or CANVAS.fullmatch(file)
        if match is not None and match["rest"]:
            return f"{file[: match.start('rest')]}{match['rest'].partition('.')[0]}.html"
    return ""


def _gradescope(delivery: Delivery) -> str:
    """The members of a group have a submission together, and a page each."""
    parts = [part for name in delivery.names for part in name.split("/")[:-1]]
    folder = next((part for part in parts if GRADESCOPE.fullmatch(part)), "")
    return folder and f"{folder}/{delivery.student}.html"
