"""Whether a notebook belongs to the lesson it was handed in for.

Another lesson's notebook, repaired, would be this lesson's with no answer in it: all zeros, for a wrong file. It is
refused instead. Anything that has some of the lesson is graded, however little.
"""

from __future__ import annotations

import re
from collections import defaultdict

from autograder.errors import Unreadable
from autograder.intake.submission import Submission
from autograder.repair.matching import Matching
from autograder.repair.release import Release, exercise_of, grade_id_of, tags_of
from autograder.repair.text import marker, plain
from course_lib.exercises.catalogue import Catalogue

FEW, MOST = 0.25, 0.5
"""With at most this much of its own lesson, and more than this much of another, a notebook is the other lesson's.

Both are parts of a lesson's exercises. A student may need a function or two of an earlier lesson in a later one.
"""


def require_lesson(submission: Submission, release: Release, lesson: str, catalogue: Catalogue) -> None:
    """Refuse a notebook of another lesson, or of none.

    Args:
        submission: what was handed in.
        release: the lesson as it was released.
        lesson: the lesson's name.
        catalogue: the exercises of this lesson and the course's others.

    Raises:
        Unreadable: it is another lesson's notebook, or has nothing of the lesson: no cell, and no answer's name.
    """
    wanted = {slot.exercise for slot in release.slots}
    named = _named(submission)
    if len(wanted & named) > FEW * len(wanted):
        return
    if len(wanted & named | _answered(submission, release)) <= FEW * len(wanted):
        other = _mostly(named, lesson, catalogue)
        if other:
            raise Unreadable(f"This is the notebook of {other}, not of {lesson}: submit {lesson}.ipynb instead.")
    if not submission.cells:
        raise Unreadable(f"The notebook has no cells: submit {lesson}.ipynb with your answers in it.")
    if not is_of(submission, release):
        raise Unreadable(
            f"None of its cells is from lesson {lesson}: submit {lesson}.ipynb, the notebook that you were given, "
            "with your answers in it."
        )


def is_of(submission: Submission, release: Release) -> bool:
    """Whether a notebook has anything of a lesson: one of its cells, or a definition of what an answer defines.

    What every lesson has does not count: the cell that installs the course on Colab, and a code cell that holds nothing
    but a comment, such as the place for experiments.
    """
    texts = {
        (kind, text)
        for (kind, text), index in release.lesson_cells.items()
        if "katze-install" not in tags_of(release.notebook["cells"][index])
        and not (kind == "code" and all(line.startswith("#") for line in text.splitlines()))
    }
    if any((cell.kind, plain(cell.source)) in texts for cell in submission.cells):
        return True
    if any(Matching(submission, release, defaultdict(list)).claims.values()):
        return True
    return bool(_answered(submission, release))


def _named(submission: Submission) -> set[str]:
    """The exercises that cells name, by their markers or their metadata."""
    by_marker = {marker(cell.source)[0] for cell in submission.cells}
    by_metadata = {exercise_of(grade_id_of(cell)) for cell in submission.cells}
    return (by_marker | by_metadata) - {""}


def _answered(submission: Submission, release: Release) -> set[str]:
    """The exercises whose answers seem to be defined, wherever that is: as a function, by assignment, by import."""
    return {
        slot.exercise
        for slot in release.slots
        if slot.names and all(_seems_defined(name, submission) for name in slot.names)
    }


def _seems_defined(name: str, submission: Submission) -> bool:
    definition = rf"(?:async[ \t]++)?(?:def|class)[ \t]++{name}\b"
    imported = rf"(?:from|import)\b[^\n]*\b{name}\b"
    pattern = re.compile(rf"^[ \t]*+(?:{definition}|{name}[ \t]*+[:=]|{imported})|[\"']{name}[\"']", re.M)
    return any(pattern.search(cell.source) for cell in submission.cells)


def _mostly(named: set[str], lesson: str, catalogue: Catalogue) -> str:
    """The other lesson that most of these exercises are from; empty where there is none."""
    for other in catalogue.modules:
        own = {exercise.id for exercise in catalogue.of_lesson(other)}
        if other != lesson and len(own & named) > MOST * len(own):
            return other
    return ""
