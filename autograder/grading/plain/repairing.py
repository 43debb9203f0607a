"""Restores a submitted notebook to the structure of its release, as nbgrader's own autograde does; it also restores
missing test cells and lost metadata, which nbgrader does not. A receipt says what was done.

Test cells and locked cells always come from the course. Of several copies of a cell, all run and the last is graded.
What students have written stays where it is.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from autograder.errors import Unreadable
from autograder.grading.plain.assignment import MasterCell, MasterNotebook
from autograder.intake.handed_in import AnswersIn
from autograder.intake.submission import Submission, SubmittedCell, read_notebook
from autograder.repair.cells import Cell, CellKind, OwnCells, Repaired
from autograder.repair.placing import with_ids
from autograder.repair.release import FLAGS, grade_id_of
from autograder.repair.text import plain
from autograder.words import shown, some

_SENTENCES = {
    "stripped": "Some cells had lost their grading information (some editors remove it); it was put back: {names}.",
    "settings": "Grading settings that differed from the assignment's were reset: {names}.",
    "unknown": "Cells that are marked as graded, but are not in the assignment, count as ordinary cells: {names}.",
    "copies": "Some cells have several copies; all of them run, and the last one is graded: {names}.",
    "retyped": "Cells that had been given another type were changed back: {names}.",
    "edited": "Cells of the assignment that had been changed were restored: {names}.",
    "missing": "Missing tests were put back: {names}.",
    "unanswered": "Missing questions were put back, without an answer: {names}.",
}


def put_back(submission: Submission, master: MasterNotebook) -> Repaired:
    """Return the notebook to run and grade.

    Raises:
        Unreadable: none of its cells is from this notebook.
    """
    events: dict[str, list[str]] = defaultdict(list)
    texts = [plain(cell.source) for cell in submission.cells]
    claims = _claims(submission, texts, master, events)
    known = {(cell.kind, text) for cell, text in zip(submission.cells, texts, strict=True)}
    if not claims and not known & master.ordinary.keys():
        raise Unreadable(
            f"None of its cells is from {master.name}: submit {master.name}.ipynb, the notebook that you were given, "
            "with your answers in it."
        )
    own, slots = OwnCells(), {number: name for name, number in claims.items()}
    placed: list[tuple[int, Cell]] = []
    for number, cell in enumerate(submission.cells):
        if number in slots:
            place = master.named[slots[number]]
            placed.append((place, _graded(number, cell, texts[number], master, place, own, events)))
        else:
            place = master.ordinary.get((cell.kind, texts[number]), -1)
            origin = "student" if place < 0 else "release"
            placed.append((place, replace(own.cell(number, cell, cell.kind), origin=origin)))
    for name, place in master.named.items():
        if name not in claims and master.cells[place].role in ("test", "manual"):
            events["missing" if master.cells[place].role == "test" else "unanswered"].append(name)
            placed.insert(_after(placed, place), (place, _missing(master, place)))
    cells = with_ids([replace(cell, id="") for _, cell in placed], set())
    receipt = [_SENTENCES[kind].format(names=some(sorted(set(events[kind])))) for kind in _SENTENCES if events[kind]]
    return Repaired(tuple(cells), (*submission.repairs, *receipt), master.metadata)


def answers_in(master: MasterNotebook) -> AnswersIn:
    """Return a function that says whether a notebook answers anything; among those that do, the name decides, as in
    nbgrader.
    """

    def answers(content: bytes) -> dict[str, str] | None:
        submission = read_notebook(content)
        try:
            return {master.name: "answered"} if put_back(submission, master).answers() else {}
        except Unreadable:
            return None

    return answers


# --- which submitted cell is which


def _claims(
    submission: Submission, texts: Sequence[str], master: MasterNotebook, events: dict[str, list[str]]
) -> dict[str, int]:
    """Return the submitted cell to grade for each cell of the release, by grade_id."""
    claims: dict[str, int] = {}
    for number, cell in enumerate(submission.cells):
        name = grade_id_of(cell)
        if name in master.named:
            if name in claims:
                events["copies"].append(name)
            claims[name] = number
            if _differs(cell, master.cells[master.named[name]]):
                events["settings"].append(name)
        elif name:
            events["unknown"].append(shown(name))
    for name, number in _lost(submission, texts, master, claims):
        events["stripped"].append(name)
        claims[name] = number
    return claims


def _lost(
    submission: Submission, texts: Sequence[str], master: MasterNotebook, claims: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    """Find cells that have lost their grade_id: by their text, and a written answer by the cell before it."""
    free = [n for n, cell in enumerate(submission.cells) if not grade_id_of(cell) and texts[n]]
    for name, place in master.named.items():
        cell = master.cells[place]
        if name in claims:
            continue
        found = [n for n in free if submission.cells[n].kind == cell.kind and texts[n] == cell.plain]
        if not found and cell.role == "manual" and place:
            before = master.cells[place - 1].plain
            found = [
                n
                for n in free
                if n
                and before
                and texts[n - 1] == before
                and (submission.cells[n].kind, texts[n]) not in master.ordinary
                and submission.cells[n].kind == cell.kind
            ]
        if found:
            free.remove(found[-1])
            yield name, found[-1]


def _differs(cell: SubmittedCell, master: MasterCell) -> bool:
    """Return whether a cell's metadata disagrees with the release about its grading."""
    stated = ("points", *FLAGS)
    return any(name in cell.nbgrader and cell.nbgrader[name] != master.nbgrader.get(name, False) for name in stated)


# --- what becomes of it


def _graded(
    number: int,
    cell: SubmittedCell,
    text: str,
    master: MasterNotebook,
    place: int,
    own: OwnCells,
    events: dict[str, list[str]],
) -> Cell:
    """Build a cell that nbgrader knows."""
    model = master.cells[place]
    if cell.kind != model.kind:
        events["retyped"].append(model.name)
    same = text == model.plain
    if model.role in ("test", "locked") or (model.row is not None and model.row.locked):
        if not same and text != plain(model.source):
            events["edited"].append(model.name)
            return _of_course(master, place, "restored", number + 1)
        return _of_course(master, place, "release", number + 1)
    if same:
        return _of_course(master, place, "release", number + 1)
    answer = own.cell(number, cell, model.kind)
    return replace(answer, kind=_kind(model), nbgrader=model.nbgrader, exercise=_shown_as(master, model))


def _of_course(master: MasterNotebook, place: int, origin: str, position: int = 0) -> Cell:
    model = master.cells[place]
    return Cell(
        _kind(model),
        model.source,
        exercise=_shown_as(master, model),
        origin=origin,
        nbgrader=model.nbgrader,
        attachments=model.attachments,
        position=position,
    )


def _missing(master: MasterNotebook, place: int) -> Cell:
    """Build a missing cell. A missing answer does not run: its stub could undo a definition elsewhere."""
    cell = _of_course(master, place, "restored")
    return cell if master.cells[place].role == "test" else cell.skip()


def _kind(model: MasterCell) -> CellKind:
    if model.role == "test":
        return CellKind.CHECK
    if model.row is not None and model.row.solution:
        return CellKind.ANSWER if model.kind == "code" else CellKind.WRITTEN
    return CellKind.CODE if model.kind == "code" else CellKind.MARKDOWN


def _shown_as(master: MasterNotebook, model: MasterCell) -> str | None:
    """Return its name on a page; a locked cell has none."""
    return None if model.role == "locked" else master.exercise(model.name)


def _after(placed: Sequence[tuple[int, Cell]], place: int) -> int:
    """Return where a missing cell belongs: after the cell that precedes it in the release."""
    before = [(there, number) for number, (there, _) in enumerate(placed) if 0 <= there < place]
    return max(before)[1] + 1 if before else 0
