"""Fingerprints what grades depend on: an exercise's definition, the grader's own code, a lesson's release, and a
submission.

Two things with the same fingerprint give the same grade. Whatever does not run is ignored: comments, docstrings,
layout, where an exercise is in the prose.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.course.colab import INSTALL
from autograder.grading.digests import sources
from course_lib.judging.compare import Tolerance
from course_lib.judging.exercise import Exercise

FOLDER_ENTRIES = 1_000
"""Most files and folders of a submission to look at; no reader looks at more."""

FOLDER_DEPTH = 5
"""Deepest nesting of folders to look at."""

FOLDER_BYTES = 200_000_000
"""Most bytes of a submission to read; after that, only size and modification time count."""


# --- an exercise


def of_exercise(exercise: Exercise) -> dict[str, object]:
    """Return the fingerprint of everything that decides grades of one exercise.

    Its definition is the source of its files and of everything they import from the course's own packages. Other
    packages count by their versions, which are recorded separately.

    Returns:
        A SHA-256 in hexadecimal for its definition, with its texts and points; see `in_course`.
    """
    own = [
        exercise.id,
        exercise.name,
        sorted(exercise.withheld),
        sorted(exercise.parts),
        sources.of_files(sources.files_of(exercise)),
    ]
    texts = [(mistake.id, mistake.message) for mistake in exercise.misconceptions]
    return {
        "definition": hashlib.sha256(_json(own)).hexdigest(),
        "texts": hashlib.sha256(_json(texts)).hexdigest(),
        "points": dict(exercise.parts),
    }


def in_course(
    exercise: Mapping[str, object], cells: str, limits: Mapping[str, object], tolerance: Tolerance | None = None
) -> str:
    """Return the fingerprint of an exercise in a course, in parts that `changed` can tell apart.

    Args:
        exercise: from `of_exercise`.
        cells: of its own cells in the release, from `of_release`.
        limits: its own limits, which replace the course's.
        tolerance: how close to the reference an answer must be, if the course sets it.
    """
    own = {} if tolerance is None else {"tolerance": str(tolerance)}
    return json.dumps({**exercise, "cells": cells, "limits": dict(limits), **own}, sort_keys=True)


def changed(before: str, now: str) -> str:
    """Say how two fingerprints of an exercise from `in_course` differ.

    If an earlier version of Katze made one in another format, say only that.
    """
    try:
        old, new = json.loads(before), json.loads(now)
    except ValueError:
        return "redefined"
    if not isinstance(old, dict) or old.keys() - {"tolerance"} != new.keys() - {"tolerance"}:
        return "redefined"
    words = {"definition": "its definition", "cells": "its cells in the release", "texts": "its texts"}
    different = [part for part in words if old[part] != new[part]]
    if "definition" in different:  # a mistake that is new, or no longer known, brings its text or takes it away
        different = [part for part in different if part != "texts"]
    parts = [words[part] for part in different]
    if old["points"] != new["points"]:
        most, now_most = (sum(one["points"].values()) for one in (old, new))
        parts.append(f"its points {most} -> {now_most}" if most != now_most else "how its points are divided")
    for name in sorted(old["limits"].keys() | new["limits"].keys()):
        limit, now_limit = (one["limits"].get(name, "the course's") for one in (old, new))
        if limit != now_limit:
            parts.append(f"its limit {name} {limit} -> {now_limit}")
    tolerance, now_tolerance = (one.get("tolerance", "the exercise's") for one in (old, new))
    if tolerance != now_tolerance:
        parts.append(f"its tolerance {tolerance} -> {now_tolerance}")
    return "; ".join(parts)


# --- a release


def of_release(notebook: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the fingerprint of a release, and of each exercise's own cells in it.

    Prose does not count, and a cell counts together with its position among the code cells: grades depend on the code
    that runs, the answers to fill in, and how they are graded. The cell that installs the library counts by its
    position only: sandboxes have the library, and the cell names a version.

    Args:
        notebook: the release, as in `Release.notebook`.
    """
    common = hashlib.sha256()
    own: dict[str, Any] = {}
    code_cells = 0
    for cell in notebook["cells"]:
        meta = cell["metadata"].get("nbgrader", {})
        exercise = _exercise_of(str(meta.get("grade_id", "")))
        if exercise:  # its points are counted with its definition, and must be the same
            meta = {name: value for name, value in meta.items() if name != "points"}
        tags = cell["metadata"].get("tags", [])
        content = [cell["cell_type"], cell["source"], meta, tags]
        if INSTALL in tags:
            content = [INSTALL]
        if exercise:
            own.setdefault(exercise, hashlib.sha256()).update(_json([code_cells, *content]))
        elif meta or cell["cell_type"] == "code":
            common.update(_json(content))
            code_cells += 1
    return common.hexdigest(), {exercise: digest.hexdigest() for exercise, digest in own.items()}


def _exercise_of(grade_id: str) -> str:
    """Return the exercise whose answer or check has this grade_id, "module-task-answer"; empty for any other."""
    name, _, what = grade_id.rpartition("-")
    return name.replace("-", ".", 1) if what in ("answer", "check") else ""


def _json(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=True).encode() + b"\n"


# --- a submission


def of_submission(folder: Path) -> str:
    """Return the fingerprint of a submission: the names, kinds and bytes of everything in its folder.

    No link is followed, and only plain files are opened; anything else counts by its kind, and an unreadable file as
    unreadable.
    """
    digest = hashlib.sha256()
    left = FOLDER_BYTES
    for path, status in _entries(folder):
        name = str(path.relative_to(folder.parent))
        digest.update(f"{ascii(name)} {stat.S_IFMT(status.st_mode):o}\n".encode())
        if stat.S_ISREG(status.st_mode):
            digest.update(f"{status.st_size}\n".encode())
            left -= status.st_size
            digest.update(_content(path) if left >= 0 else str(status.st_mtime_ns).encode())
    return digest.hexdigest()


def _entries(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the folder and its entries, sorted by name, without descending into folders or following links."""
    waiting, seen = [(folder, 0)], 0
    while waiting and seen < FOLDER_ENTRIES:
        path, depth = waiting.pop()
        try:
            status = path.lstat()
            seen += 1
            yield path, status
            if stat.S_ISDIR(status.st_mode) and depth < FOLDER_DEPTH:
                names = sorted(os.listdir(path))[:FOLDER_ENTRIES]
                waiting.extend((path / name, depth + 1) for name in reversed(names))
        except OSError:
            continue


def _content(path: Path) -> bytes:
    """Return the digest of a file's bytes; of none if it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return f"unreadable: {error.errno}".encode()
