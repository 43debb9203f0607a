"""Canvas: the zip of "Download Submissions", in which each file's name says whose it is.

It holds the last attempt alone and no times: "LATE" in a name is all that it says about when.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from re import Match

from autograder.intake.archives import File
from autograder.intake.delivered import CANVAS, CANVAS_ANONYMOUS
from autograder.platforms.download import Download
from autograder.platforms.readers.found import Found


def read_canvas(download: Download) -> Iterator[Found]:
    """The submissions, one for each student."""
    together: dict[str, list[tuple[Match[str], File]]] = defaultdict(list)
    for file in download.files:
        match = CANVAS_ANONYMOUS.fullmatch(file.name) or CANVAS.fullmatch(file.name)
        if match is None:
            download.refused[file.path] = "its name says not whose it is"
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
            rank=last,
            late=any(match["late"] for match, _ in parts),
            extra={"file": str(last)},
        )
