"""Shows authors what grading would make of their notebook, before they submit it (`katze preflight`).

The notebook is read and repaired exactly as in grading. None of its code runs unless requested; then its cells run in a
sandbox, and every answer is checked on the cases that students see.
"""

import ast
import contextlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.console import output_console
from autograder.course.released import released_notebooks
from autograder.errors import BadInput, Unreadable
from autograder.intake.archives import NOTEBOOK_BYTES
from autograder.intake.handed_in import AnswersIn, HandedIn, find_notebook, unpack
from autograder.intake.submission import Submission, read_notebook
from autograder.intake.this_notebook import this_notebook
from autograder.limits import size
from autograder.repair import Cell, CellKind, Release, Repaired, answers_in, is_of, repair, require_lesson
from autograder.words import count, printable, shown
from course_lib.exercises.catalogue import NO_EXERCISES, Catalogue, UnknownName
from course_lib.judging.exercise import Exercise
from course_lib.judging.finding import Found, find_answer, wrong_name
from course_lib.judging.render import case_message, heading, lead
from course_lib.judging.rules import Code
from course_lib.judging.verdict import Verdict
from course_lib.learner.current_catalogue import current_catalogue

READY, LOOK, UNREADABLE = 0, 1, 2

_CELL_WIDTH = 80
"""Line length of the output below a cell."""

LARGE_BYTES = 10_000_000
"""Larger files are mentioned: they can be graded, but are slow to upload and open."""


class State(StrEnum):
    """How an answer looks without running it."""

    WRITTEN = "written"
    UNTOUCHED = "untouched"
    UNFINISHED = "unfinished"
    UNDEFINED = "undefined"
    SYNTAX_ERROR = "syntax error"
    RULE_BROKEN = "rule broken"


@dataclass(frozen=True)
class Answer:
    """The result for an exercise.

    Attributes:
        exercise: its id.
        points: its maximum points.
        state: how its answer looks.
        detail: a sentence; empty if the state says everything.
        verdict: the verdict of its check on the visible cases; None if nothing was run.
    """

    exercise: str
    points: float
    state: State
    detail: str = ""
    verdict: Verdict | None = None

    @property
    def is_ready(self) -> bool:
        """Whether there is nothing to look at."""
        return self.state is State.WRITTEN if self.verdict is None else self.verdict.passed


@dataclass(frozen=True, repr=False)
class Preflight:
    """What grading would make of a notebook.

    Attributes:
        file: its name.
        lesson: the lesson that it belongs to.
        answers: a result for each exercise and for each written question, in order.
        repairs: what grading would repair.
        remarks: what else the author should look at.
        repaired: the repaired notebook.
        named_for: the lesson in the file's name, if it is another; else empty.
    """

    file: str
    lesson: str
    answers: tuple[Answer, ...]
    repairs: tuple[str, ...]
    remarks: tuple[str, ...]
    repaired: Repaired
    named_for: str = ""

    @property
    def status(self) -> int:
        """`READY`, or `LOOK` if there is something to look at."""
        return LOOK if self.repairs or self.remarks or not all(answer.is_ready for answer in self.answers) else READY

    def __repr__(self) -> str:
        screen = io.StringIO()
        print_preflight(self, output_console(screen, _CELL_WIDTH))
        return screen.getvalue().rstrip("\n")

    def record(self) -> dict[str, Any]:
        """Return the results as JSON data."""
        return {
            "file": self.file,
            "lesson": self.lesson,
            "ready": self.status == READY,
            "exercises": [
                {**vars(answer), "verdict": answer.verdict.record() if answer.verdict else None}
                for answer in self.answers
            ],
            "repairs": list(self.repairs),
            "remarks": list(self.remarks),
        }


def preflight(
    file: Path | str | None = None, lesson: str | None = None, release: Path | None = None, run: bool = False
) -> Preflight:
    """Look at a notebook as grading will.

    Args:
        file: the notebook, or a zip archive, a compressed notebook, a notebook saved as a script, or a folder with
            everything to submit; by default the notebook in which this runs.
        lesson: the lesson that it is meant for; by default the lesson that its cells belong to.
        release: the released lesson; by default found in the course's folder, in this repository, or next to the
            installed package.
        run: whether to run it in a sandbox and check every answer on the visible cases.

    Raises:
        BadInput: the file or the release cannot be opened, they are the same, or there is no sandbox to run it in.
        Unreadable: the notebook could not be graded.
    """
    if file is None:
        name, content = this_notebook()
        with TemporaryDirectory() as folder:
            copy = Path(folder) / name
            copy.write_bytes(content)
            return preflight(copy, lesson, release, run)
    file = Path(file)
    catalogue = current_catalogue(Path.cwd(), file.resolve().parent)
    if not catalogue.modules:
        raise BadInput(NO_EXERCISES)
    try:
        files = {release.stem: release} if release else released_notebooks(Path.cwd(), file.resolve().parent)
    except BadInput as problem:
        raise BadInput(f"{problem}; name the one you were given with --release FILE.ipynb") from None
    released = {name: _loaded(path) for name, path in files.items()}

    def answers(content: bytes) -> Mapping[str, str] | None:
        found = (answers_in(released[name], name, catalogue)(content) for name in released if name in (lesson or name))
        return next((one for one in found if one is not None), None)

    handed_in = _found(file, lesson or file.resolve().stem, answers)
    try:
        submission = read_notebook(handed_in.content)
    except Unreadable:
        if file.suffix == ".py":
            raise BadInput(
                f"{file} is not a notebook; check one answer in it with `katze check EXERCISE_ID {quote(str(file))}`"
            ) from None
        raise
    own = _lesson_of(submission, released)
    if lesson is None and own is not None and handed_in.notes:  # search again, now that the lesson is known
        return preflight(file, own, release, run)
    meant = lesson or own
    if meant is None:
        raise Unreadable(
            f"None of the cells is from a lesson known here ({', '.join(released)}): is this the notebook you meant?"
        )
    if meant not in released:
        raise BadInput(f"no lesson {meant!r}; there are: {', '.join(released)}")
    if (file / handed_in.path if file.is_dir() else file).samefile(files[meant]):
        raise BadInput(
            f"{file} is the released notebook itself: there is nothing to compare it with. Write your answers in the "
            f"copy that `katze learn` makes; `katze learn --move-answers {quote(meant)}` moves there what is in it "
            "already"
        )
    require_lesson(submission, released[meant], meant, catalogue)
    repaired = repair(submission, released[meant])
    verdicts = _verdicts(repaired, released[meant], catalogue) if run else {}
    looks = [replace(answer, verdict=verdicts.get(answer.exercise)) for answer in _answers(repaired, catalogue)]
    named_for = _other_lesson_in(file.name, meant, {*released, *catalogue.modules})
    remarks = []
    if named_for:
        remarks.append(
            f"The file is named {shown(file.name)}, but it is the notebook of {meant}. Handed in for {named_for} it "
            f"would get no grade: name it {meant}.ipynb, and submit it for {meant}."
        )
    remarks += _remarks(handed_in.content, submission, released[meant], meant, own)
    repairs = (*handed_in.notes, *repaired.repairs)
    return Preflight(file.name, meant, tuple(looks), repairs, tuple(remarks), repaired, named_for)


def write_mended(found: Preflight, target: Path) -> None:
    """Write the repaired notebook, as it would be graded, to a new file.

    Raises:
        BadInput: the file exists already, or cannot be written.
    """
    notebook = found.repaired.notebook()
    for part in (notebook, *notebook["cells"]):
        part["metadata"].pop("katze", None)  # only for the feedback pages
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    try:
        with open(target, "x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError:
        raise BadInput(f"{target} exists already; name a new file for the repaired notebook") from None
    except OSError as error:
        raise BadInput(f"cannot write {target}: {error.strerror}") from error


# Reading -----------------------------------------------------------------------------------------------------


def _found(file: Path, lesson: str, answers: AnswersIn) -> HandedIn:
    if not file.is_dir():
        return unpack(file.name, _content(file), lesson, answers)
    with contextlib.ExitStack() as resources:
        try:
            folder = os.open(file, os.O_RDONLY | os.O_DIRECTORY)
        except (OSError, AttributeError) as error:  # the latter on Windows
            raise BadInput(f"{file} is a folder that cannot be opened here; name the notebook in it") from error
        resources.callback(os.close, folder)
        return find_notebook(folder, lesson, answers)


def _content(file: Path) -> bytes:
    try:
        held = file.stat().st_size
        if held > NOTEBOOK_BYTES:
            most = size(NOTEBOOK_BYTES, decimal=True)
            raise Unreadable(
                f"{shown(file.name)} is {size(held, decimal=True)}, more than the limit of {most}: clear its outputs "
                "(Edit > Clear Outputs of All Cells), and save it."
            )
        return file.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from error


def _loaded(path: Path) -> Release:
    try:
        release = Release.load(path)
        if release.slots:
            return release
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    raise BadInput(f"{path} is not a released notebook; name the .ipynb that you were given, before you changed it")


def _lesson_of(submission: Submission, released: dict[str, Release]) -> str | None:
    """Return the lesson that most of the notebook's graded cells belong to, else one that it has any part of, else
    None.
    """
    matches = {lesson: release.graded_cells_in(submission) for lesson, release in released.items()}
    best = max(matches, key=lambda lesson: matches[lesson], default=None)
    if best is not None and matches[best]:
        return best
    return next((lesson for lesson, release in released.items() if is_of(submission, release)), None)


def _other_lesson_in(name: str, meant: str, lessons: Iterable[str]) -> str:
    """Return the lesson in a file's name, if it is not the intended one; else ""."""
    said = [lesson for lesson in sorted(lessons) if lesson.lower() in name.lower()]
    return said[0] if said and meant not in said else ""


def _remarks(content: bytes, submission: Submission, release: Release, meant: str, own: str | None) -> list[str]:
    remarks = []
    if own is not None and own != meant:
        remarks.append(f"This is the notebook of lesson {own}, not of {meant}.")
    elif release.share_of_text_in(submission) < 0.5:
        remarks.append(
            "Most of the lesson's own cells are gone or changed: the notebook may come from another version of the "
            "lesson. If that is not what you meant, copy your answers into the current one."
        )
    if len(content) > LARGE_BYTES:
        remarks.append(f"The file is {size(len(content), decimal=True)}: clear the outputs that you do not need.")
    return remarks


# Answers -----------------------------------------------------------------------------------------------------


def _answers(repaired: Repaired, catalogue: Catalogue) -> Iterator[Answer]:
    sources = [cell.source if cell.runs else "" for cell in repaired.cells]
    code = Code(sources)
    for place, cell in sorted(enumerate(repaired.cells), key=lambda one: one[1].index):
        if cell.exercise is None or cell.kind not in (CellKind.WRITTEN, CellKind.CHECK):
            continue
        state, detail = State.UNTOUCHED, ""
        if cell.kind is CellKind.CHECK:
            state, detail = _look(cell.exercise, repaired.cells, sources, code, place, catalogue)
        elif cell.origin == "student":
            state, detail = State.WRITTEN, "a person reads it"
        points = cell.nbgrader.get("points")
        yield Answer(cell.exercise, float(points) if isinstance(points, (int, float)) else 0.0, state, detail)


def _look(
    name: str, cells: Sequence[Cell], sources: Sequence[str], code: Code, place: int, catalogue: Catalogue
) -> tuple[State, str]:
    """Return how the answer to an exercise looks whose check is in this place, and the detail."""
    own = [n for n, cell in enumerate(cells) if cell.exercise == name and cell.kind is CellKind.ANSWER]
    exercise = _known(name, catalogue)
    found = find_answer(exercise.name, sources[:place], own) if exercise else Found(own[-1] if own else None)
    looked_at = own if found.cell is None else [found.cell]
    broken = next(filter(None, (syntax_error(sources[n]) for n in looked_at)), "")
    if broken:
        return State.SYNTAX_ERROR, broken
    if found.cell is not None and cells[found.cell].origin == "release":
        return State.UNTOUCHED, ""
    if exercise is None:
        return State.WRITTEN, ""
    if found.cell is None:
        missing = wrong_name(exercise, found.other) if found.other else f"no cell defines {exercise.name}"
        return State.UNDEFINED, missing
    rule = code.broken_rule(exercise.name, exercise.forbidden_names, cells=place)  # as in grading: before its check
    if rule is not None:
        return State.RULE_BROKEN, f"{rule.name} may not be used ({rule.place})"
    if "raise NotImplementedError" in found.text:
        return State.UNFINISHED, "it still raises NotImplementedError"
    return State.WRITTEN, ""


def _known(name: str | None, catalogue: Catalogue) -> Exercise | None:
    try:
        return catalogue.find(name or "")
    except UnknownName:
        return None


def syntax_error(source: str) -> str:
    """Return where and why a cell is not Python, apart from magics; empty if it is."""
    try:
        ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError as error:
        lines = source.splitlines()
        line = min(error.lineno or 1, max(1, len(lines)))
        shown_line = f": {lines[line - 1].strip()[:60]}" if lines else ""
        return f"line {line}: {error.msg}{shown_line}"
    except (ValueError, RecursionError, MemoryError):
        return "it is too deeply nested, or contains characters that Python cannot read"
    return ""


# Running -----------------------------------------------------------------------------------------------------


def _verdicts(repaired: Repaired, release: Release, catalogue: Catalogue) -> dict[str, Verdict]:
    """Run the notebook in a sandbox and return the verdicts on the visible cases."""
    if os.name == "nt":
        raise BadInput("sandboxes need Linux or macOS; run the checks in the notebook (Kernel > Restart & Run All)")
    from autograder.box.confinement.levels import Level
    from autograder.box.confinement.selftest import choose_level
    from autograder.box.fork_server.client import ForkServer  # not available on Windows, and only needed to run
    from autograder.grading.digests.reach import held_by_lesson
    from autograder.grading.notebook_runner import grade_notebook
    from autograder.limits import Limits
    from course_lib.judging.answer_key import AnswerKey

    checks = {cell.id: _known(cell.exercise, catalogue) for cell in repaired.cells if cell.kind is CellKind.CHECK}
    cells = [cell for cell in repaired.cells if checks.get(cell.id, True)]
    found = list(filter(None, checks.values()))
    withheld = sorted({module for exercise in found for module in exercise.withheld})
    limits = Limits()
    held = held_by_lesson(catalogue, found[0].lesson if found else "", release.code)
    with ForkServer(withheld, choose_level(Level.L1), limits, held=held) as fork_server:
        return grade_notebook(
            cells, catalogue, lambda seconds: fork_server.open_box(seconds=seconds), AnswerKey, limits
        ).verdicts


# Showing -----------------------------------------------------------------------------------------------------


def print_preflight(found: Preflight, console: Console) -> None:
    """Print a line for each exercise, then what would be repaired, what else to look at, and a conclusion."""
    console.print(Text.assemble((shown(found.file), "bold"), f", lesson {found.lesson}\n"))
    table = Table.grid(padding=(0, 2))
    for no_wrap in (True, True, False):
        table.add_column(no_wrap=no_wrap, overflow="fold")
    for answer in found.answers:
        table.add_row("ok" if answer.is_ready else "--", answer.exercise, _in_words(answer))
    console.print(Padding(table, (0, 0, 0, 2), expand=False))
    for title, sentences in (
        ("Grading will repair this:", found.repairs),
        ("Look at this as well:", found.remarks),
    ):
        if sentences:
            console.print(f"\n{title}")
        for sentence in sentences:
            console.print(Padding(sentence, (0, 0, 0, 2), expand=False))
    console.print(f"\n{_conclusion(found)}")


def _in_words(answer: Answer) -> str:
    if answer.verdict is not None:
        shown = answer.verdict.shown
        said = lead(answer.verdict) or (case_message(answer.verdict, shown) if shown is not None else "")
        return printable(f"{heading(answer.verdict)}{': ' if said else ''}{said}")
    detail = "nothing is written there yet" if answer.state is State.UNTOUCHED else answer.detail
    between = {State.SYNTAX_ERROR: " in ", State.WRITTEN: "; "}.get(answer.state, ": ")
    return printable(f"{answer.state}{between if detail else ''}{detail}")


def _conclusion(found: Preflight) -> str:
    open_ones = [answer for answer in found.answers if not answer.is_ready]
    was_run = any(answer.verdict is not None for answer in found.answers)
    if found.status == READY:
        return "Ready to submit." + ("" if was_run else " Nothing was run; add --run to check the answers as well.")
    if found.answers and all(answer.state is State.UNTOUCHED for answer in found.answers):
        return "Nothing is written yet, so there is nothing to submit."
    looked = {"exercise": open_ones, "repair": found.repairs, "remark": found.remarks}
    parts = [count(len(these), unit) for unit, these in looked.items() if these]
    as_it_is = "You can also submit the notebook as it is: everything else counts."
    where = f"Submit it for {found.lesson}, not for {found.named_for}." if found.named_for else as_it_is
    return f"Look at this before you submit: {', '.join(parts)}. {where}"
