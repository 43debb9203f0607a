"""The stepper's numbers are those of `course_lib.attention`, and its arithmetic is right for every cell."""

from __future__ import annotations

import html
import math
from types import SimpleNamespace

import ipywidgets
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


def value(cell: tuple[str, int, int]) -> float:
    matrix, row, column = cell
    return stepper.MATRICES[matrix][row][column]


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
    exponentials = torch.tensor(stepper.EXPONENTIALS, dtype=torch.float64)
    torch.testing.assert_close(exponentials, steps.scaled.exp(), rtol=1e-12, atol=0)


@pytest.mark.parametrize("cell", COMPUTED_CELLS)
def test_every_side_of_the_arithmetic_gives_the_cell(cell: tuple[str, int, int]) -> None:
    name, *sides = stepper.step(*cell).arithmetic.split(" = ")
    assert name == f"{cell[0]}[{cell[1]},{cell[2]}]"
    numeric = [side for side in sides if "·" not in side]
    assert len(numeric) == len(sides) - (cell[0] in ("scores", "out"))
    for side in numeric:
        assert evaluated(side) == pytest.approx(value(cell), rel=1e-2, abs=0)
    assert evaluated(numeric[-1]) == pytest.approx(value(cell), rel=1e-2, abs=0)
    assert "+" not in numeric[-1], "the last side is the number itself"


def test_the_arithmetic_reads_as_promised() -> None:
    assert stepper.step("scaled", 1, 0).arithmetic == "scaled[1,0] = -20.0000 / √2 = -14.1421"


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


def test_there_is_no_cell_outside() -> None:
    with pytest.raises(KeyError):
        stepper.step("softmax", 0, 0)
    with pytest.raises(IndexError):
        stepper.step("alpha", 2, 0)


def test_the_page_holds_every_number_and_all_the_arithmetic() -> None:
    shown = attention_stepper()
    page = html.unescape(shown.html())
    for cell in CELLS:
        number = f"{value(cell):g}" if cell[0] in "qkv" else f"{value(cell):.4f}"
        assert f">{number}</td>" in page
    for cell in COMPUTED_CELLS:
        assert stepper.step(*cell).arithmetic in page
        assert stepper.step(*cell).arithmetic in shown.text()


def displayed(monkeypatch: pytest.MonkeyPatch, kernel: object | None) -> list[dict[str, str]]:
    bundles: list[dict[str, str]] = []
    monkeypatch.setattr("course_lib.show.live.display", lambda bundle, raw: bundles.append(bundle))
    monkeypatch.setattr("course_lib.show.live.get_ipython", lambda: SimpleNamespace(kernel=kernel))
    attention_stepper()._ipython_display_()
    return bundles


def test_without_a_kernel_there_is_only_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    (page,) = displayed(monkeypatch, kernel=None)
    assert page == {"text/html": attention_stepper().html(), "text/plain": attention_stepper().text()}


def test_with_a_kernel_there_are_the_widget_and_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    widget, page = displayed(monkeypatch, kernel=object())
    assert "application/vnd.jupyter.widget-view+json" in widget
    assert attention_stepper().html() in page["text/html"]


def buttons(widget: ipywidgets.Widget) -> list[ipywidgets.Button]:
    if isinstance(widget, ipywidgets.Button):
        return [widget]
    return [button for child in getattr(widget, "children", ()) for button in buttons(child)]


def test_a_click_explains_the_cell_and_lights_up_what_it_uses() -> None:
    shown = attention_stepper()
    widget = shown.widget()
    found = buttons(widget)
    assert len(found) == len(CELLS)
    by_cell = dict(zip(CELLS, found, strict=True))
    for cell in COMPUTED_CELLS:
        by_cell[cell].click()
        step = stepper.step(*cell)
        assert shown.selected == cell
        assert step.arithmetic in html.unescape(widget.children[-1].value)
        lit = {other for other, button in by_cell.items() if button.button_style == "info"}
        assert lit == set(step.uses)
        assert [other for other, button in by_cell.items() if button.button_style == "primary"] == [cell]
