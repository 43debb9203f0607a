"""Canvas: the zip of "Download Submissions", in which each file's name says whose it is.

It holds only the last attempt, and no times: "LATE" in a name is all that it says about them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo

from autograder.course.store.collected import Delivery
from autograder.intake.archives import File
from autograder.platforms.download import Download
from autograder.platforms.platform import Found, Platform

_NAME = re.compile(
    r"(?P<name>.+?)(?P<late>_LATE)?_(?P<number>\d+)_(?:(?P<file>\d+)_(?P<rest>.+)|(?P<kind>text|link)\.html)", re.S
)
"""A file's name, `lovelaceada_LATE_123_456_01_ols-1.ipynb`: 123 is the student, 456 the file.

See Canvas's `lib/content_zipper.rb`.
"""

_ANONYMOUS = re.compile(r"(?P<late>LATE_)?anon_(?P<number>[^_]+)_(?P<file>\d+)_(?P<rest>.+)", re.S)
"""The same for an assignment that is graded anonymously."""


class Canvas(Platform):
    """Canvas, whose gradebook `katze export` fills in."""

    name = "canvas"
    order = 50
    file_names = (_ANONYMOUS, _NAME)
    is_one_assignment = True
    roster_table = "the gradebook that Canvas exports"
    without_roster = (
        "students are known by Canvas's numbers; with --roster and its gradebook they are known by their ids"
    )
    table_marks = (frozenset({"student", "id", "section"}),)
    table_columns = {"name": ("Student",), "number": ("ID",), "id": ("SIS Login ID", "SIS User ID", "ID")}
    has_rows_of_nobody = True
    instead_of_worksheet = "fill in Canvas's gradebook with `katze export --roster`"
    feedback = "zip"

    def has_named(self, folders: Iterable[str], files: Iterable[str], lessons: Sequence[str] = ()) -> bool:
        """Return whether most files have such names; a few may have them by chance."""
        handed_in = [name for name in files if not name.lower().endswith(".csv")]
        return 2 * sum(_parsed(name) is not None for name in handed_in) > len(handed_in)

    def read(self, download: Download, lessons: Sequence[str], zone: tzinfo | None) -> Iterator[Found]:
        """Yield the submissions, one for each student."""
        together: dict[str, list[tuple[re.Match[str], File]]] = defaultdict(list)
        for file in download.files:
            match = _parsed(file.name)
            if match is None:
                download.refused[file.path] = "its name does not say whose it is"
            else:
                together[match["number"]].append((match, file))
        for number, parts in together.items():
            last = max(int(match["file"] or 0) for match, _ in parts)
            first = parts[0][0].groupdict()
            files: dict[str, File] = {}
            for match, file in sorted(parts, key=lambda part: int(part[0]["file"] or 0)):
                name = match["rest"] or f"{match.groupdict().get('kind')}.html"
                files[name if name not in files else f"{match['file']}_{name}"] = file
            yield Found(
                title=parts[0][1].name,
                files=files,
                number=number,
                name=first.get("name") or "",
                number_of_submission=last,
                late=any(match["late"] for match, _ in parts),
                extra={"file": str(last)},
            )

    def page_name(self, delivery: Delivery, lesson: str) -> str:
        """Return the submitted file's name with the ending `.html`.

        Canvas looks in it for the student's and the submitted file's numbers, and takes the file type from the end
        (`infer_comment_context_from_filename`); a text or a link has no such file.
        """
        for name in delivery.names:
            file = name.rpartition("/")[2]
            match = _parsed(file)
            if match is not None and match["rest"]:
                return f"{file[: match.start('rest')]}{match['rest'].partition('.')[0]}.html"
        return ""


def _parsed(file: str) -> re.Match[str] | None:
    return _ANONYMOUS.fullmatch(file) or _NAME.fullmatch(file)


PLATFORM = Canvas()
