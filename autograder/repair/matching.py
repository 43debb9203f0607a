"""Finds out which submitted cell is which cell of the release."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile

from autograder.intake.submission import Submission
from autograder.repair.prose import begins, count_words, is_prose, may_answer, own_words
from autograder.repair.release import FLAGS, Release, Slot, flags_of, grade_id_of
from autograder.repair.text import defined, is_unanswered, kept, marker, plain
from autograder.words import shown
from course_lib.judging.rules import syntax_tree


class Matching:
    """Finds the cell of the release that each submitted cell is.

    Args:
        submission: what was submitted.
        release: the released lesson.
        events: receives what the receipt should report, by kind of repair.

    Attributes:
        written: for each submitted cell, the names that the student's own code in it defines.
        stubs: submitted answer cells that contain no answer, because it is written elsewhere.
        for_a_person: for questions without an answer in their own cells, what a person should look at instead, in
            words.
    """

    def __init__(self, submission: Submission, release: Release, events: dict[str, list[str]]) -> None:
        self.submission = submission
        self.release = release
        self.slots = release.slots
        self.lesson = release.lesson_cells
        self.by_grade_id = {slot.grade_id: slot for slot in self.slots}
        self.by_marker = {(slot.exercise, slot.role): slot for slot in self.slots}
        self.claims: dict[str, list[int]] = defaultdict(list)
        self.events = events
        self._unnamed: list[tuple[int, Slot]] = []
        self.plain = [plain(cell.source) for cell in submission.cells]
        self.defined = [defined(cell.source) for cell in submission.cells]
        self.stubs: set[int] = set()
        self.for_a_person: dict[str, str] = {}
        self._claim()
        self.written = self._written()
        self._find_lost_cells()
        self._find_lost_answers()
        self._find_lost_words()
        for number, slot in self._unnamed:
            if not self.is_known_copy(number, slot):
                self.events["stripped"].append(slot.grade_id)

    def chosen(self, slot: Slot) -> int | None:
        """Return which of several copies carries the grade; None if the answer is in another answer's cell.

        For an answer, take the last copy before the check, or else the last. For other cells, take the last copy with
        text.
        """
        numbers = [n for n in self.claims[slot.grade_id] if n not in self.stubs]
        if slot.role == "answer":
            answers = [n for n in numbers if self.is_filled(n, slot) and self._defines(n, slot)]
            return self._counting(answers or numbers, slot)
        if slot.role == "written":
            return ([n for n in numbers if self.is_filled(n, slot)] or numbers)[-1]
        return numbers[0 if slot.role == "locked" else -1]

    def _counting(self, numbers: Sequence[int], slot: Slot) -> int | None:
        """Return the last cell before an answer's check, or else the last, among those that define the answer.

        Code in the check's own cell runs before the check.
        """
        slot_of_check = self.by_marker.get((slot.exercise, "check"))
        checks = self.claims[slot_of_check.grade_id] if slot_of_check else []
        before = [number for number in numbers if number <= max(checks, default=len(self.plain))]
        return max(before or numbers, default=None)

    def is_known_copy(self, number: int, slot: Slot) -> bool:
        """Return whether a further copy has only the marker, while the graded one has the metadata.

        An earlier repair leaves such copies. They need no more changes, so nothing is reported.
        """
        graded = self.chosen(slot)
        is_named = graded is not None and grade_id_of(self.submission.cells[graded]) == slot.grade_id
        return number != graded and is_named and not self.submission.cells[number].nbgrader

    def is_filled(self, number: int, slot: Slot) -> bool:
        """Return whether a submitted cell differs from the release's.

        A written answer must have a line that occurs nowhere in the lesson, because Colab's scripts join a question's
        cell with others.
        """
        source = self.submission.cells[number].source
        if slot.role == "written" and source.strip():
            return any(line.strip() not in self.release.lines for line in source.split("\n") if line.strip())
        return self.plain[number] != slot.plain

    def _defines(self, number: int, slot: Slot) -> bool:
        return bool(slot.names) and slot.names <= self.defined[number]

    def _claim(self) -> None:
        """Find the slots that submitted cells claim to be.

        If the metadata and the marker name different slots, text was pasted into another cell. Then the marker is
        right, unless the cell defines what its metadata's slot needs.
        """
        for number, cell in enumerate(self.submission.cells):
            name = grade_id_of(cell)
            named = self.by_grade_id.get(name)
            slot = self.by_marker.get(marker(cell.source)) or named
            if named is not None and self._defines(number, named):
                slot = named
            if slot is None:
                if name and flags_of(cell.nbgrader) & {"grade", "solution", "locked", "task"}:
                    self.events["unknown"].append(shown(name))
                continue
            if named is None:
                self._unnamed.append((number, slot))
            elif named is slot and _has_other_settings(cell.nbgrader, slot):
                self.events["settings"].append(slot.exercise)
            self.claims[slot.grade_id].append(number)

    def slot_of(self) -> dict[int, Slot]:
        """Return the slot of each submitted cell, by its place, from 0; ordinary cells have none."""
        return {number: self.by_grade_id[name] for name, numbers in self.claims.items() for number in numbers}

    def _free(self, kind: str) -> list[int]:
        claimed = self.slot_of()
        return [n for n, cell in enumerate(self.submission.cells) if n not in claimed and cell.kind == kind]

    def _find_lost_cells(self) -> None:
        """Find cells other than answers that have lost grade_id and marker, by their text."""
        for slot in self.slots:
            if self.claims[slot.grade_id] or slot.role == "answer":
                continue
            found = [n for n in self._free(slot.kind) if self.plain[n] == slot.plain]
            if found:
                self.events["stripped"].append(slot.grade_id)
                self.claims[slot.grade_id] = found[-1:]

    def _written(self) -> list[set[str]]:
        """Return the names that the student's own code defines, by cell; text cells count if they are Python."""
        slot_of = self.slot_of()
        found: list[set[str]] = []
        for number, cell in enumerate(self.submission.cells):
            slot = slot_of.get(number)
            is_own = self.is_filled(number, slot) if slot else (cell.kind, self.plain[number]) not in self.lesson
            is_code = (slot or cell).kind == "code"
            if slot is None and is_own and self.defined[number]:
                is_code = is_code or syntax_tree(cell.source) is not None
            found.append(self.defined[number] if is_own and is_code else set())
        return found

    def _find_lost_answers(self) -> None:
        """Find answers outside their own cells: by the names that a cell defines, then by the text that it kept.

        A cell of the student's own then becomes the answer's. The answer's own cell, if it is still empty, would undo
        the definition elsewhere: it is a stub.
        """
        claimed = set(self.slot_of())
        for slot in self.slots:
            if slot.role != "answer":
                continue
            claims = self.claims[slot.grade_id]
            defining = [number for number, names in enumerate(self.written) if slot.names and slot.names <= names]
            elsewhere = [number for number in defining if number not in claims]
            cells = self.submission.cells
            answers = [n for n in defining if n in claims]
            if any(not (elsewhere and is_unanswered(cells[n].source, slot.cell.source)) for n in answers):
                continue
            counting = self._counting(elsewhere, slot)
            found = [] if counting is None or counting in claimed else [counting]
            if elsewhere:
                self.stubs |= {n for n in claims if n in defining or not self.is_filled(n, slot)}
            elif not claims:
                own = [n for n in self._free("code") if ("code", self.plain[n]) not in self.lesson]
                found = [n for n in own if kept(slot.cell.source, cells[n].source) > 0.6][-1:]
            if found or self.stubs & set(claims):
                self.events["found"].append(slot.exercise)
            elif not claims and not elsewhere:
                self.events["no_answer"].append(slot.exercise)
            self.claims[slot.grade_id] = sorted([*claims, *found])
            claimed.update(found)

    def _find_lost_words(self) -> None:
        """Find written answers outside their own cells.

        Adjacent text is the answer: above, below, or in the question. If the answer may be a comment, a picture, or
        text elsewhere, a person has to look.
        """
        cells = self.submission.cells
        for slot in self.slots:
            claims = self.claims[slot.grade_id]
            if slot.role != "written" or any(self.is_filled(number, slot) for number in claims):
                continue
            answered = {n for n, of in self.slot_of().items() if of.role == "written" and self.is_filled(n, of)}
            words = {n: own_words(cell, self.release.lines) for n, cell in enumerate(cells) if n not in answered}
            near = [n for n in self._next_to(slot) if may_answer(cells[n], words[n])]
            text = [n for n in near if cells[n].kind != "code"]
            prose = [n for n in words if is_prose(cells[n], words[n])]
            if text:
                self.events["found"].append(slot.exercise)
                self.claims[slot.grade_id] = sorted([*claims, text[0]])
            elif near:
                self.for_a_person[slot.grade_id] = "what a cell next to it says or shows"
            elif prose:
                longest = max((words[n] for n in prose), key=count_words)
                self.for_a_person[slot.grade_id] = f"the text that begins “{begins(longest)}”"
            if slot.grade_id in self.for_a_person:
                self.events["elsewhere"].append(slot.exercise)

    def _next_to(self, slot: Slot) -> list[int]:
        """Return the student's own cells right below and right above a question's cell, or its expected place."""
        places = {n: found.cell.index for n, found in self.slot_of().items()}
        for n, cell in enumerate(self.submission.cells):
            if same := self.lesson.get((cell.kind, self.plain[n])):
                places[n] = same.index
        claims = self.claims[slot.grade_id]
        earlier = [n for n in places if places[n] < slot.cell.index]
        below = claims or sorted(earlier, key=lambda n: places[n])[-1:]
        ways = [range(n + 1, len(self.plain)) for n in below] + [range(n - 1, -1, -1) for n in claims]
        return [n for way in ways for n in takewhile(lambda n: n not in places, way)]


def _has_other_settings(claimed: Mapping[str, object], slot: Slot) -> bool:
    """Return whether a cell's metadata disagrees with the release about how it is graded.

    Points always come from the lesson, and a difference is not reported: nobody can see whether a student changed them,
    or the instructor, who has since given the exercise other points.
    """
    ours = slot.cell.nbgrader
    differ = any(claimed[name] != ours[name] for name in FLAGS if name in claimed and name in ours)
    return differ or bool(flags_of(claimed) - flags_of(ours))
