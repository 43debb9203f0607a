"""Builds the repaired notebook from the submission's cells and the release's."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from autograder.intake.submission import CELLS, Submission, SubmittedCell
from autograder.repair.cells import Cell, OwnCells, Repaired
from autograder.repair.matching import Matching
from autograder.repair.prose import is_prose, own_words
from autograder.repair.release import Release, Slot
from autograder.repair.text import has_own_code, imported_names, marker, plain
from autograder.words import count


def repair(submission: Submission, release: Release) -> Repaired:
    """Put a submission back into the shape of its release, and report the changes.

    Cells that the release locks are always the release's own: text, points and metadata. Answers, written answers and
    ordinary cells are the student's, in the order of the submission. A missing answer is not put back: its stub could
    undo a definition elsewhere.

    Args:
        submission: what was submitted.
        release: the released lesson.
    """
    return _Repair(submission, release).run()


class _Repair:
    """Matches cells with slots, then builds the notebook, then writes the receipt."""

    def __init__(self, submission: Submission, release: Release) -> None:
        self.submission = submission
        self.release = release
        self.slots = release.slots
        self.events: dict[str, list[str]] = defaultdict(list)
        self.matching = Matching(submission, release, self.events)
        self.cells: list[Cell] = []
        self.own = OwnCells()

    def run(self) -> Repaired:
        self._place_submitted()
        self._put_back_missing()
        self._move_checks_behind_answers()
        self._put_back_imports()
        cells = with_ids(self.cells, {slot.cell.id for slot in self.slots})
        return Repaired(
            tuple(cells), (*self.submission.repairs, *_receipt(self.events)), self.release.notebook.get("metadata", {})
        )

    def _place_submitted(self) -> None:
        """Place all submitted cells in their order: slots repaired, ordinary cells as they are."""
        slot_of = self.matching.slot_of()
        chosen = {slot.grade_id: self.matching.chosen(slot) for slot in slot_of.values()}
        for number, cell in enumerate(self.submission.cells):
            slot = slot_of.get(number)
            if slot is None:
                self._place_ordinary(number, cell)
            elif number != chosen[slot.grade_id]:
                self._place_copy(number, cell, slot)
            elif slot.role in ("answer", "written"):
                self.cells.append(self._answer(number, cell, slot))
            else:
                self._place_locked(number, cell, slot)

    def _place_copy(self, number: int, cell: SubmittedCell, slot: Slot) -> None:
        """Place a copy that does not carry the grade: keep what a student wrote in it, as an ordinary cell."""
        is_news = not self.matching.is_known_copy(number, slot)
        if slot.role in ("answer", "written"):
            if not self.matching.is_filled(number, slot) or not cell.source.strip():
                self.events["untouched_copy"].append(slot.exercise)
                return
            if number in self.matching.stubs:
                self.events["stub"].append(slot.exercise)
                self.cells.append(self.own.cell(number, replace(cell, source=plain(cell.source)), "raw"))
                return
            if is_news:
                self.events["copies" if slot.role == "answer" else "written_copies"].append(slot.exercise)
            kind = "code" if slot.role == "answer" else "markdown"
            copy = self.own.cell(number, cell, kind)
            self.cells.append(replace(copy, exercise=slot.exercise))
        elif self._has_own(cell, slot):
            if is_news:
                self.events["own_code"].append(slot.name)
            self.cells.append(self.own.cell(number, cell, "code"))
        else:
            self.events["extra_check"].append(slot.name)

    def _place_locked(self, number: int, cell: SubmittedCell, slot: Slot) -> None:
        """Place the release's own cell where the submission has it, after the student's code in it, if any."""
        changed = cell.kind != slot.kind or self.matching.is_filled(number, slot)
        if changed:
            self.events["edited"].append(slot.name)
        if changed and self._has_own(cell, slot):
            self.events["own_code"].append(slot.name)
            self.cells.append(self.own.cell(number, cell, "code"))
        origin = "restored" if changed else "release"
        self.cells.append(replace(slot.cell, origin=origin, position=number + 1, outputs=cell.outputs))

    def _has_own(self, cell: SubmittedCell, slot: Slot) -> bool:
        """Return whether a changed cell of the release has the student's code in it, or a comment that may be an
        answer.
        """
        if slot.kind != "code":
            return False
        return has_own_code(cell.source, slot.cell.source) or is_prose(cell, own_words(cell, self.release.lines))

    def _answer(self, number: int, cell: SubmittedCell, slot: Slot) -> Cell:
        if cell.kind != slot.kind:
            self.events["retyped"].append(slot.exercise)
        if not self.matching.is_filled(number, slot):
            return replace(self._for_a_person(slot) or replace(slot.cell, outputs=cell.outputs), position=number + 1)
        own = self.own.cell(number, cell, slot.kind)
        answer = replace(slot.cell, source=own.source, origin="student", position=own.position)
        return replace(answer, outputs=own.outputs, attachments=own.attachments)

    def _place_ordinary(self, number: int, cell: SubmittedCell) -> None:
        """Place an ordinary cell: the release's if the text is the release's, else the student's."""
        same = self.release.lesson_cells.get((cell.kind, self.matching.plain[number]))
        self.cells.append(
            replace(same, id=cell.id, outputs=cell.outputs, position=number + 1)
            if same
            else self.own.cell(number, cell, cell.kind)
        )

    def _put_back_missing(self) -> None:
        for slot in self.slots:
            if self.matching.claims[slot.grade_id] or slot.role == "answer":
                continue
            self.events["missing_written" if slot.role == "written" else "missing"].append(slot.name)
            restored = self._for_a_person(slot) or replace(slot.cell, origin="restored")
            self.cells.insert(self._place_for(slot), restored)

    def _for_a_person(self, slot: Slot) -> Cell | None:
        """Return the cell of a question whose answer may be elsewhere, with a note; it waits for a person."""
        place = self.matching.for_a_person.get(slot.grade_id)
        if place is None:
            return None
        marked, first = marker(slot.cell.source), slot.cell.source.partition("\n")[0]
        said = f"Nothing is written in this cell. A person decides whether {place} is the answer."
        return replace(slot.cell, source=f"{first}\n\n{said}" if any(marked) else said, origin="student")

    def _put_back_imports(self) -> None:
        """Put the lesson's imports before all code, unless imports before the first answer cover them.

        A student who has moved or deleted them may not have noticed: the names remained from an earlier run.
        """
        codes = [n for n, cell in enumerate(self.cells) if cell.is_code]
        first = next((n for n in codes if self.cells[n].exercise), len(self.cells))
        for imports, names in reversed(self.release.imports):
            before = [self.cells[n] for n in codes if n <= first]
            if any(cell.index == imports.index for cell in before):
                continue
            missing = names.difference(*(imported_names(cell.source) for cell in before))
            if missing:
                self.events["imports"] += sorted(missing)
                self.cells.insert(codes[0] if codes else 0, replace(imports, origin="restored"))

    def _place_for(self, slot: Slot) -> int:
        """Return a missing slot's place: a check goes after its answer, others after the release's previous cell."""
        answers = self._answers_to(slot.exercise)
        if slot.role == "check" and answers:
            return answers[-1] + 1
        before = [(cell.index, n) for n, cell in enumerate(self.cells) if 0 <= cell.index < slot.cell.index]
        if before:
            return max(before)[1] + 1
        after = [(cell.index, n) for n, cell in enumerate(self.cells) if cell.index > slot.cell.index]
        return min(after)[1] if after else len(self.cells)

    def _answers_to(self, exercise: str) -> list[int]:
        """Return the places of an answer's copies that define its names, else other such cells, else all copies."""
        copies = [n for n, cell in enumerate(self.cells) if cell.exercise == exercise and cell.runs]
        defining = self._defining(exercise)
        return [n for n in copies if n in defining] or defining or copies

    def _defining(self, exercise: str) -> list[int]:
        """Return the places where the student's own code defines an answer's names."""
        slot = self.matching.by_marker.get((exercise, "answer"))
        names = slot.names if slot else set()
        own = [n for n, cell in enumerate(self.cells) if cell.runs and cell.origin == "student"]
        return [n for n in own if names and names <= self.matching.written[self.cells[n].position - 1]]

    def _move_checks_behind_answers(self) -> None:
        """Move each check after its answer if it comes before all definitions of the answer."""
        for slot in self.slots:
            if slot.role != "check":
                continue
            check = next(n for n, cell in enumerate(self.cells) if cell.index == slot.cell.index)
            answers = self._answers_to(slot.exercise)
            if answers and check < min([*answers, *self._defining(slot.exercise)]):
                self.cells.insert(answers[-1], self.cells.pop(check))
                self.events["moved"].append(slot.exercise)


def with_ids(cells: Iterable[Cell], reserved: set[str]) -> list[Cell]:
    """Return the cells with valid, unique ids; the ids of the release's slots are reserved for these."""
    used: set[str] = set()
    result = []
    for number, cell in enumerate(cells):
        identity = cell.id
        if not _CELL_ID.fullmatch(identity) or identity in used or (identity in reserved and not cell.nbgrader):
            extras = (f"-{extra}" for extra in range(CELLS * 2))
            identity = next(name for extra in ("", *extras) if (name := f"cell-{number}{extra}") not in used | reserved)
        used.add(identity)
        result.append(replace(cell, id=identity))
    return result


_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


_SENTENCES = {
    "stripped": "The grading information of {cells} had been removed (some editors do that) and was rebuilt.",
    "settings": "The grading settings of {names} differed from the lesson's, which are used.",
    "unknown": "A cell marked as {names}, which this lesson does not have, counts as an ordinary cell.",
    "found": "The answer to {names} was found in a cell other than its own.",
    "no_answer": "There is no answer cell for {names}, and no other cell defines what it asks for.",
    "retyped": "The cell of {names} had been given another type and was changed back.",
    "copies": "There are several copies of the answer to {names}; all of them run, in order.",
    "written_copies": "There are several copies of the written answer {names}; the last one is graded.",
    "untouched_copy": "A copy of the cell of {names} in which nothing was written was left out.",
    "stub": "The cell of {names}, which undid the answer in another cell, is shown as text and does not run.",
    "imports": "The lesson's imports ({names}) were missing in front of the first answer and were put back.",
    "missing": "The check of {names} was missing and was put back.",
    "missing_written": "The written question {names} was missing and was put back, without an answer.",
    "elsewhere": "Nothing is written in the cell of {names}, but elsewhere there may be an answer: a person decides.",
    "edited": "The check of {names} had been changed and was restored.",
    "own_code": "Your code in the check of {names} was kept, in a cell of its own.",
    "extra_check": "An extra copy of the check of {names} was left out.",
    "moved": "The check of {names} came before its answer and was moved after it.",
}


def _receipt(events: Mapping[str, Sequence[str]]) -> list[str]:
    """Return one sentence for each kind of repair, in a fixed order."""
    sentences = []
    for kind, sentence in _SENTENCES.items():
        if kind in events:
            names = _listed(list(dict.fromkeys(events[kind])))
            sentences.append(sentence.format(cells=count(len(events[kind]), "cell"), names=names))
    return sentences


def _listed(names: Sequence[str], most: int = 8) -> str:
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
