"""Decides whether a notebook belongs to the lesson for which it was submitted, and what it answers.

If another lesson's notebook were repaired, it would become this lesson's without any answers: all zeros, for a wrong
file. It is refused instead. A notebook with any part of the lesson is graded, however small; a name that other
notebooks use as well is not enough.
"""

import ast
import re

from autograder.errors import Unreadable
from autograder.intake.handed_in import AnswersIn
from autograder.intake.submission import Submission, read_notebook
from autograder.repair.placing import repair
from autograder.repair.release import Release, exercise_of, grade_id_of
from autograder.repair.text import defined, is_unanswered, kept, marker, plain
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.rules import syntax_tree

FEW, MOST = 0.25, 0.5
"""A notebook with at most this share of its own lesson and more than that share of another belongs to the other.

Both are shares of a lesson's exercises. A student may need a function or two from an earlier lesson in a later one."""

KEPT = 0.6
"""A cell with a larger share of a stub's lines comes from that stub."""

_IN_OTHERS = re.compile(r"#|import (?!course_lib)|from (?!course_lib)|$")
"""The beginnings of lines that any notebook may contain."""

_SOURCE = b"### BEGIN HIDDEN TESTS"
"""A line that the course's source of a release contains, but no release."""


def answers_in(release: Release, lesson: str, catalogue: Catalogue) -> AnswersIn:
    """Return a function that returns a notebook's answers, for choosing among several notebooks.

    Args:
        release: the released lesson.
        lesson: the lesson's name.
        catalogue: the exercises of all lessons of the course.
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
    """Return a notebook's answers, including those in other cells."""
    repaired = repair(submission, release)
    own = [cell.source for cell in repaired.cells if cell.is_code and cell.origin == "student"]
    defining = [(source, defined(source)) for source in own]
    answers = repaired.answers()
    for slot in release.slots:
        where = [(source, names) for source, names in defining if slot.names & names]
        if slot.names and slot.names <= set().union(*(names for _, names in where)):
            answers.setdefault(slot.exercise, "\n".join(source for source, _ in where))
        if slot.role == "answer" and is_unanswered(answers.get(slot.exercise, ""), slot.cell.source):
            del answers[slot.exercise]
    return answers


def require_lesson(submission: Submission, release: Release, lesson: str, catalogue: Catalogue) -> None:
    """Refuse a notebook of another lesson, or of none.

    Args:
        submission: the submitted notebook.
        release: the released lesson.
        lesson: the lesson's name.
        catalogue: the exercises of all lessons of the course.

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
    """Return whether a notebook has any part of a lesson: a cell of it, or a definition that an answer needs.

    Parts that any notebook may have do not count: the cell that installs the course on Colab, headings, comments,
    package imports, and functions with the right name but other parameters.
    """
    texts = {
        (kind, text)
        for (kind, text), cell in release.lesson_cells.items()
        if "katze-install" not in cell.tags and not all(_IN_OTHERS.match(line) for line in text.splitlines())
    }
    texts |= {(slot.kind, slot.plain) for slot in release.slots}
    if release.graded_cells_in(submission) or any(
        (cell.kind, plain(cell.source)) in texts for cell in submission.cells
    ):
        return True
    stubs = [slot for slot in release.slots if slot.role == "answer"]
    if any(kept(slot.cell.source, cell.source) > KEPT for slot in stubs for cell in submission.cells):
        return True
    own = {name: taken for cell in submission.cells for name, taken in _parameters(cell.source).items()}
    if any((wanted := _parameters(slot.cell.source)) and wanted.items() <= own.items() for slot in stubs):
        return True
    return len(_answered(submission, release)) > max(1, FEW * len({slot.exercise for slot in stubs}))


def _parameters(source: str) -> dict[str, tuple[str, ...]]:
    """Return the parameters of a cell's functions; methods are named with their class."""
    found = {}
    tree = syntax_tree(source)
    for node in ast.walk(tree) if tree is not None else ():
        named = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for function in ast.iter_child_nodes(node):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = (part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg))
                found[named + function.name] = tuple(arguments)
    return found


def _named(submission: Submission) -> set[str]:
    """Return the exercises that cells name in their markers or metadata."""
    by_marker = {marker(cell.source)[0] for cell in submission.cells}
    by_metadata = {exercise_of(grade_id_of(cell)) for cell in submission.cells}
    return (by_marker | by_metadata) - {""}


def _answered(submission: Submission, release: Release) -> set[str]:
    """Return the exercises whose answers seem to be defined anywhere: as a function, by assignment, by import."""

    def seems_defined(name: str) -> bool:
        definition = rf"(?:async[ \t]++)?(?:def|class)[ \t]++{name}\b"
        imported = rf"(?:from|import)\b[^\n]*\b{name}\b"
        pattern = re.compile(rf"^[ \t]*+(?:{definition}|{name}[ \t]*+[:=]|{imported})|[\"']{name}[\"']", re.M)
        return any(pattern.search(cell.source) for cell in submission.cells)

    return {slot.exercise for slot in release.slots if slot.names and all(map(seems_defined, slot.names))}
