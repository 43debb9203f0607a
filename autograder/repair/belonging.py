"""Decides whether a notebook belongs to the lesson it was handed in for, and what it answers.

Another notebook, repaired, would be this lesson's with no answer in it: all zeros, for a wrong file. It is refused
instead. Anything that has some of the lesson is graded, however little; a name that others use as well is not enough.
"""

from __future__ import annotations

import ast
import re

from autograder.errors import Unreadable
from autograder.intake.handed_in import AnswersIn
from autograder.intake.submission import Submission, read_notebook
from autograder.repair.placing import repair
from autograder.repair.release import Release, exercise_of, grade_id_of, tags_of
from autograder.repair.text import defined, is_unanswered, kept, marker, plain
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.rules import syntax_tree

FEW, MOST = 0.25, 0.5
"""With at most this much of its own lesson, and more than this much of another, a notebook is the other lesson's.

Both are parts of a lesson's exercises. A student may need a function or two of an earlier lesson in a later one.
"""

KEPT = 0.6
"""With more of the lines of an answer's stub, a cell comes from it."""

_IN_OTHERS = re.compile(r"#|import (?!course_lib)|from (?!course_lib)|$")
"""How lines begin that are in the notebooks of others, too."""

_SOURCE = b"### BEGIN HIDDEN TESTS"
"""What the course's own source of a release holds, and no release."""


def answers_in(release: Release, lesson: str, catalogue: Catalogue) -> AnswersIn:
    """What says which exercises a notebook answers, to choose among several.

    Args:
        release: the lesson as it was released.
        lesson: the lesson's name.
        catalogue: the exercises of this lesson and the course's others.
    """

    def answers(content: bytes) -> dict[str, str] | None:
        submission = read_notebook(content)
        try:
            require_lesson(submission, release, lesson, catalogue)
        except Unreadable:
            return None
        return None if _SOURCE in content else _answers(submission, release)

    return answers


def _answers(submission: Submission, release: Release) -> dict[str, str]:
    """What a notebook answers, also in cells that are no answer's."""
    repaired = repair(submission, release)
    own = [cell.source for cell in repaired.cells if cell.is_code and cell.origin == "student"]
    defining = [(source, defined(source)) for source in own]
    answers = repaired.answers()
    for slot in release.slots:
        where = [(source, names) for source, names in defining if slot.names & names]
        if slot.names and slot.names <= set().union(*(names for _, names in where)):
            answers.setdefault(slot.exercise, "\n".join(source for source, _ in where))
        if slot.role == "answer" and is_unanswered(answers.get(slot.exercise, ""), slot.source):
            del answers[slot.exercise]
    return answers


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
        for other in catalogue.modules:
            own = {exercise.id for exercise in catalogue.of_lesson(other)}
            if other != lesson and len(own & named) > MOST * len(own):
                raise Unreadable(f"This is the notebook of {other}, not of {lesson}: submit {lesson}.ipynb instead.")
    if not submission.cells:
        raise Unreadable(f"The notebook has no cells: submit {lesson}.ipynb with your answers in it.")
    if not is_of(submission, release):
        raise Unreadable(
            f"This is a different notebook: none of its cells is from lesson {lesson}. Submit {lesson}.ipynb, the "
            "notebook that you were given, with your answers in it."
        )


def is_of(submission: Submission, release: Release) -> bool:
    """Whether a notebook has anything of a lesson: one of its cells, or a definition of what an answer defines.

    What any notebook may have does not count: the cell that installs the course on Colab, headings, comments, imports
    of packages, and a function that has the name of one of ours but takes something else.
    """
    texts = {
        (kind, text)
        for (kind, text), index in release.lesson_cells.items()
        if "katze-install" not in tags_of(release.notebook["cells"][index])
        and not all(_IN_OTHERS.match(line) for line in text.splitlines())
    }
    texts |= {(slot.kind, slot.plain) for slot in release.slots}
    if release.graded_cells_in(submission) or any(
        (cell.kind, plain(cell.source)) in texts for cell in submission.cells
    ):
        return True
    stubs = [slot for slot in release.slots if slot.role == "answer"]
    if any(kept(slot.source, cell.source) > KEPT for slot in stubs for cell in submission.cells):
        return True
    own = {name: taken for cell in submission.cells for name, taken in _parameters(cell.source).items()}
    if any((wanted := _parameters(slot.source)) and wanted.items() <= own.items() for slot in stubs):
        return True
    return len(_answered(submission, release)) > max(1, FEW * len({slot.exercise for slot in stubs}))


def _parameters(source: str) -> dict[str, tuple[str, ...]]:
    """What the functions in a cell take, those of classes by the names of both."""
    found = {}
    tree = syntax_tree(source)
    for one in ast.walk(tree) if tree is not None else ():
        named = f"{one.name}." if isinstance(one, ast.ClassDef) else ""
        for function in ast.iter_child_nodes(one):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = (one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg))
                found[named + function.name] = tuple(arguments)
    return found


def _named(submission: Submission) -> set[str]:
    """The exercises that cells name, by their markers or their metadata."""
    by_marker = {marker(cell.source)[0] for cell in submission.cells}
    by_metadata = {exercise_of(grade_id_of(cell)) for cell in submission.cells}
    return (by_marker | by_metadata) - {""}


def _answered(submission: Submission, release: Release) -> set[str]:
    """The exercises whose answers seem to be defined, wherever that is: as a function, by assignment, by import."""

    def seems_defined(name: str) -> bool:
        definition = rf"(?:async[ \t]++)?(?:def|class)[ \t]++{name}\b"
        imported = rf"(?:from|import)\b[^\n]*\b{name}\b"
        pattern = re.compile(rf"^[ \t]*+(?:{definition}|{name}[ \t]*+[:=]|{imported})|[\"']{name}[\"']", re.M)
        return any(pattern.search(cell.source) for cell in submission.cells)

    return {slot.exercise for slot in release.slots if slot.names and all(map(seems_defined, slot.names))}
