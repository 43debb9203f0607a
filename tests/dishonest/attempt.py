"""One dishonest submission: what is in it, what it tries, and how it must come out.

Each answers `attention.scale` honestly, which must keep its point whatever else is tried, and leaves alone what it
does not name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import nbformat

from autograder.demo.student import Expected, Group, Student, graded_cell, no_points, write_plainly
from course_lib.judging.observation import Outcome

LESSON = "01_attention"

Notebook = dict[str, Any]

HONEST_SCALE = "def scale_scores(scores, d_head):\n    return scores / d_head**0.5"
_RETURN_ZEROS = "return torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)"
ZEROS = f"def dot_product_scores(q, k):\n    {_RETURN_ZEROS}"
"""A wrong answer to `attention.scores` of the right type, shape and dtype."""

PASSED, WRONG, RAISED = Outcome.PASSED, Outcome.WRONG, Outcome.RAISED
TIMED_OUT, OUT_OF_MEMORY, DIED = Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.DIED
NEVER_DEFINED, NOT_ATTEMPTED, RULE_BROKEN = Outcome.NEVER_DEFINED, Outcome.NOT_ATTEMPTED, Outcome.RULE_BROKEN
UNREADABLE = Outcome.UNREADABLE


@dataclass(frozen=True)
class Attempt:
    """A dishonest submission.

    Attributes:
        name: the student's id.
        tries: what it tries, in a sentence.
        cells: code by place: "own" is a cell in front of the first answer, "last" one behind everything, and every
            other name an exercise of the lesson ("scores"), whose answer cell it fills.
        expected: how exercises come out, by the same names; those that are not named were not attempted.
        edit: what else happens to the notebook.
        write: how the submission becomes files; by default one notebook.
        otherwise: the outcome of all that is not named.
    """

    name: str
    tries: str
    cells: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, Outcome] = field(default_factory=dict)
    edit: Callable[[Notebook], None] = lambda notebook: None
    write: Callable[[Path, Notebook], None] = write_plainly
    otherwise: Outcome = NOT_ATTEMPTED

    def student(self) -> Student:
        """The submission, as the bundled class has them."""
        expected = {} if self.otherwise is UNREADABLE else {"scale": PASSED}
        return Student(
            self.name,
            Group.HOSTILE,
            (),
            self._fill,
            self.write,
            {f"attention.{name}": _outcome(name, outcome) for name, outcome in (expected | self.expected).items()},
            self.otherwise,
            unanswered=self.otherwise,
        )

    def _fill(self, notebook: Notebook) -> None:
        cells = {"scale": HONEST_SCALE, **self.cells}
        for name, code in cells.items():
            source = dedent(code).strip("\n")
            if name == "own":
                first = next(n for n, cell in enumerate(notebook["cells"]) if _is_answer(cell))
                notebook["cells"].insert(first, code_cell(source, "own-cell"))
            elif name == "last":
                notebook["cells"].append(code_cell(source, "last-cell"))
            else:
                cell = notebook["cells"][graded_cell(notebook, f"attention.{name}", "answer")]
                cell["source"] = f"# katze: attention.{name} answer\n{source}"
        self.edit(notebook)


def edited(
    name: str, tries: str, edit: Callable[[Notebook], None], write: Callable[[Path, Notebook], None] = write_plainly
) -> Attempt:
    """A change of the notebook or of its folder; the answer to `attention.scores` returns zeros."""
    return Attempt(name, tries, {"scores": ZEROS}, {"scores": WRONG}, edit, write)


def in_cell(name: str, tries: str, code: str, outcome: Outcome = WRONG) -> Attempt:
    """Code in a cell in front of all answers; the answer to `attention.scores` returns zeros."""
    return Attempt(name, tries, {"own": code, "scores": ZEROS}, {"scores": outcome})


def spoils_all(name: str, tries: str, code: str, outcome: Outcome) -> Attempt:
    """Code in a cell in front of all answers, which costs its author every point."""
    return Attempt(name, tries, {"own": code, "scores": ZEROS}, {"scale": outcome}, otherwise=outcome)


def in_answer(name: str, tries: str, code: str, outcome: Outcome = RAISED, own: str = "") -> Attempt:
    """The cell that answers `attention.scores`, and perhaps one in front."""
    return Attempt(name, tries, {"scores": code} | ({"own": own} if own else {}), {"scores": outcome})


def in_call(name: str, tries: str, code: str, outcome: Outcome = RAISED, own: str = "") -> Attempt:
    """What the answer to `attention.scores` does when it is called with `q` and `k`, before it returns zeros."""
    body = indent(f"{dedent(code).strip()}\n{_RETURN_ZEROS}", "    ")
    return in_answer(name, tries, f"def dot_product_scores(q, k):\n{body}", outcome, own)


def code_cell(source: str, identity: str) -> dict[str, Any]:
    """A code cell of the student's own."""
    return {**nbformat.v4.new_code_cell(source, id=identity)}


def _is_answer(cell: dict[str, Any]) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("solution"))


def _outcome(name: str, outcome: Outcome) -> Expected:
    if outcome is not PASSED:
        return no_points(outcome)
    assert name == "scale", "nothing else here is earned"
    return Expected(PASSED, 1.0)
