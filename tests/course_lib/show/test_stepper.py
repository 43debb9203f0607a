"""The stepper's numbers are those of `course_lib.attention`, and its arithmetic is right for every cell."""

import html
import math

import pytest
import torch

from course_lib.attention import attention
from course_lib.show import attention_stepper
from course_lib.show.widgets import stepper

CELLS = [
    (matrix, row, column)
    for matrix, values in stepper.MATRICES.items()
    for row in range(len(values))
    for column in range(len(values[0]))
]
COMPUTED_CELLS = [cell for cell in CELLS if cell[0] in stepper.COMPUTED]


def value(cell: tuple[str, int, int], slide: bool = False) -> float:
    matrix, row, column = cell
    return (stepper.SLIDE if slide else stepper.MATRICES)[matrix][row][column]


def evaluated(expression: str) -> float:
    """A side of an equation, as Python would compute it."""
    python = expression.replace("×", "*").replace("√2", "sqrt(2)")
    return float(eval(python, {"__builtins__": {}}, {"exp": math.exp, "sqrt": math.sqrt}))


def test_the_stored_matrices_are_what_attention_computes() -> None:
    q, k, v = (torch.tensor(stepper.MATRICES[name], dtype=torch.float64) for name in "qkv")
    steps = attention(q, k, v)
    for name in stepper.COMPUTED:
        stored = torch.tensor(stepper.MATRICES[name], dtype=torch.float64)
        torch.testing.assert_close(stored, getattr(steps, name), rtol=1e-12, atol=0)


def test_the_slide_s_matrices_follow_from_dividing_by_the_number_of_keys() -> None:
    slide = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in stepper.SLIDE.items()}
    scaled = slide["scores"] / 3
    torch.testing.assert_close(slide["scaled"], scaled, rtol=1e-12, atol=0)
    torch.testing.assert_close(slide["alpha"], scaled.softmax(-1), rtol=1e-12, atol=0)
    torch.testing.assert_close(slide["out"], slide["alpha"] @ slide["v"], rtol=1e-12, atol=0)


@pytest.mark.parametrize("slide", [False, True], ids=["formula", "slide"])
@pytest.mark.parametrize("cell", COMPUTED_CELLS)
def test_every_side_of_the_arithmetic_gives_the_cell(cell: tuple[str, int, int], slide: bool) -> None:
    name, *sides = stepper.step(*cell, slide=slide).arithmetic.split(" = ")
    assert name == f"{cell[0]}[{cell[1]},{cell[2]}]"
    numeric = [side for side in sides if "·" not in side]
    assert len(numeric) == len(sides) - (cell[0] in ("scores", "out"))
    for side in numeric:
        assert evaluated(side) == pytest.approx(value(cell, slide), rel=3e-2, abs=0)
    assert "+" not in numeric[-1], "the last side is the number itself"


def test_the_arithmetic_reads_as_promised() -> None:
    assert stepper.step("scaled", 1, 0).arithmetic == "scaled[1,0] = -20.0000 / √2 = -14.1421"
    assert stepper.step("scaled", 1, 0, slide=True).arithmetic == "scaled[1,0] = -20.0000 / 3 = -6.6667"


@pytest.mark.parametrize("cell", COMPUTED_CELLS)
def test_the_cells_that_light_up_are_those_that_the_arithmetic_uses(cell: tuple[str, int, int]) -> None:
    matrix, row, column = cell
    expected = {
        "scores": {("q", row, i) for i in range(2)} | {("k", column, i) for i in range(2)},
        "scaled": {("scores", row, column)},
        "alpha": {("scaled", row, key) for key in range(3)},
        "out": {("alpha", row, key) for key in range(3)} | {("v", key, column) for key in range(3)},
    }[matrix]
    assert set(stepper.step(*cell).uses) == expected


def test_given_cells_use_nothing() -> None:
    for matrix, row, column in CELLS:
        if matrix in "qkv":
            step = stepper.step(matrix, row, column)
            assert step.uses == ()
            assert step.arithmetic == f"{matrix}[{row},{column}] = {value((matrix, row, column)):g}"


def test_the_page_holds_every_number_and_all_the_arithmetic() -> None:
    shown = attention_stepper()
    page = html.unescape(shown.still)
    for cell in CELLS:
        number = f"{value(cell):g}" if cell[0] in "qkv" else f"{value(cell):.4f}"
        assert f">{number}</td>" in page
    for cell in COMPUTED_CELLS:
        assert stepper.step(*cell).arithmetic in page
        assert stepper.step(*cell).arithmetic in shown.text


def test_the_data_hold_both_versions_of_every_cell() -> None:
    by_formula, by_slide = attention_stepper().data["versions"]
    for matrix, row, column in CELLS:
        for version, slide in ((by_formula, False), (by_slide, True)):
            cell = version["cells"][matrix][row][column]
            assert cell["arithmetic"] == stepper.step(matrix, row, column, slide=slide).arithmetic
            assert float(cell["text"]) == pytest.approx(value((matrix, row, column), slide), abs=5e-5)
