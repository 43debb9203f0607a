"""Shows a learner's prediction beside the result."""

from dataclasses import dataclass
from html import escape

from IPython import get_ipython
from IPython.display import display

from course_lib.ground.style_sheet import style_sheet


def prediction(what: str, said: float | str | bool | None, found: float | str | bool, unit: str = "") -> None:
    """Print a result, and how close a prediction came; fold it away until there is a prediction.

    Jupyter and VS Code then also fold away the cell's other output, which would give the result away.

    Args:
        what: the quantity that was predicted, in a few words.
        said: the prediction; None, or an empty text, if there is none.
        found: the result: a number, or a word or a truth value to predict exactly.
        unit: the unit of a number, including any space before it.
    """
    counted = isinstance(found, (int, float)) and not isinstance(found, bool)
    truth = f"{_written(found)}{unit if counted else ''}"
    if said is None or said == "":
        display(_Folded(what, truth, explained=_is_first_of_its_cell()))
    elif not counted:
        print(f"{what}: you said {said}, and it is {truth}. {'Right!' if said == found else 'Now find out why.'}")
    elif isinstance(said, (int, float)):
        missed = abs(float(found) - float(said))
        print(f"{what}: you said {_written(said)}{unit}, and it is {truth}; off by {_written(missed)}{unit}.")
    else:
        print(f"{what}: {truth}. (Your prediction, {said!r}, is not a number.)")


@dataclass(frozen=True)
class _Folded:
    """A result for a page to fold away; where nothing can be folded, it is not shown.

    Attributes:
        what: the quantity that was predicted.
        truth: the result.
        explained: whether to explain how to predict it, once in each cell.
    """

    what: str
    truth: str
    explained: bool

    def __repr__(self) -> str:
        how = " Write it down above, run that cell, then this one." if self.explained else ""
        return f"{self.what}: what do you expect?{how}"

    def _repr_html_(self) -> str:
        found = f"{self.what}: {self.truth}."
        return (
            f'{style_sheet("prediction")}<details class="katze-unpredicted"><summary>{escape(repr(self))}</summary>'
            f"{escape(found)}</details>"
        )


_told_in: list[int] = []
"""The execution count of the cell that last explained how to predict."""


def _is_first_of_its_cell() -> bool:
    shell = get_ipython()
    before, _told_in[:] = _told_in[:], [shell.execution_count] if shell is not None else []
    return not before or before != _told_in


def _written(value: float | str | bool) -> str:
    """Return a number with at most one decimal above 10 and two below; other values unchanged."""
    if isinstance(value, (bool, str)):
        return str(value)
    return f"{value:.{1 if abs(value) >= 10 else 2}f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
