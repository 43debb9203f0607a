"""Verdicts, widgets and figures where notebooks are opened: VS Code, Jupyter, Colab, marimo, a site, elsewhere.

Each seat is a page that is marked, colored and filled as that program does it, dark where the reader's system is
light and the other way round.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import pytest
from torch import Tensor

from course_lib.checking.notebook import never_defined
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.judge import judge
from course_lib.judging.observation import observe
from course_lib.show import prediction
from course_lib.show.figures import pictured
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit
from tests.browser.test_widgets import WIDGETS
from tests.course_lib.judging.samples import DOUBLE

IN_PLACE = "old.replaceWith(script)"
"""JupyterLab, Notebook and Colab run a script where it stands."""

ELSEWHERE = "output.appendChild(script).remove()"
"""VS Code's renderer makes each script anew at the end of the output, where it knows nothing of what is around it."""


class Seat(NamedTuple):
    """How a program shows the output of a cell: its marks of a theme, the theme, the reader's system, its scripts."""

    marks: dict[str, str]
    dark: bool
    system_dark: bool
    scripts: str = IN_PLACE
    paper: str = ""

    def page(self, outputs: list[str]) -> str:
        """The program's page with these outputs in it."""
        marks = {name: f'{name.partition(" ")[2]}="{value}"' for name, value in self.marks.items()}
        tags = [
            " ".join([tag, *(mark for name, mark in marks.items() if name.startswith(tag))]) for tag in ("html", "body")
        ]
        paper = self.paper or ("background:#1f1f1f;color:#ccc" if self.dark else "background:#fff;color:#222")
        listed = json.dumps(outputs).replace("</", "<\\/")
        return f"""<!DOCTYPE html><{tags[0]} lang="en"><head><meta charset="utf-8"><title>a notebook</title>
            <meta name="viewport" content="width=device-width, initial-scale=1"></head>
            <{tags[1]} style="{paper}"><main><h1>A notebook</h1></main><script>
            for (const html of {listed}) {{
                const output = document.createElement("div");
                output.innerHTML = html;
                document.querySelector("main").append(output);
                for (const old of output.querySelectorAll("script")) {{
                    const script = document.createElement("script");
                    script.type = old.type;
                    script.text = old.textContent;
                    {self.scripts};
                }}
            }}</script></body></html>"""


SEATS = {
    "vscode, dark": Seat({"body data-vscode-theme-kind": "vscode-dark"}, True, False, ELSEWHERE),
    "vscode, light": Seat({"body data-vscode-theme-kind": "vscode-light"}, False, True, ELSEWHERE),
    "vscode, high contrast": Seat({"body data-vscode-theme-kind": "vscode-high-contrast"}, True, False, ELSEWHERE),
    "vscode, high contrast, light": Seat(
        {"body data-vscode-theme-kind": "vscode-high-contrast-light"}, False, True, ELSEWHERE
    ),
    "jupyter, dark": Seat({"body data-jp-theme-light": "false"}, True, False),
    "jupyter, light": Seat({"body data-jp-theme-light": "true"}, False, True),
    "colab, dark": Seat({"html theme": "dark"}, True, False),
    "colab, light": Seat({"html theme": "light"}, False, True),
    "a site, dark": Seat({"body data-theme": "dark"}, True, False),
    "a site, light": Seat({"body data-theme": "light"}, False, True),
    "marimo, dark": Seat({"html class": "marimo", "body class": "dark"}, True, False),
    "marimo, light": Seat({"html class": "marimo", "body class": "light"}, False, True),
    "a site, like the system": Seat({"body data-theme": "auto"}, True, True),
    "unknown and dark, on a light system": Seat({}, False, False, paper="background:#1f1f1f;color:#ccc"),
    "unknown and light, on a dark system": Seat({}, True, True, paper="background:#fff;color:#222"),
}

TURNED = "() => getComputedStyle(document.querySelector('.katze-figure')).filter !== 'none'"
COLORS = """() => JSON.stringify([...document.querySelectorAll("*")].map(getComputedStyle).map(
    (style) => [style.color, style.backgroundColor, style.fill, style.opacity, style.filter, style.fontSize]))"""
THEMES = """() => [...document.querySelectorAll(".katze-widget, .katze-verdict")].map(
    (one) => getComputedStyle(one).colorScheme).filter((name, i, all) => all.indexOf(name) === i)"""


@pytest.fixture(scope="module")
def outputs() -> list[str]:
    """All widgets, a verdict of each color and a figure, as HTML."""
    shown: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["course_lib.show.interactive"], "display", shown.append)
        for make in WIDGETS.values():
            shown += filter(None, [make()])
    drawn, _axes = plt.subplots()
    shown.append(pictured(drawn, "a figure"))
    plt.close(drawn)
    key = AnswerKey(DOUBLE, None)
    answers: list[Callable[[Tensor], Tensor]] = [lambda x: x + x, lambda x: x**2, lambda x: 2 * x if len(x) > 2 else x]
    verdicts = [judge(key, lambda case, answer=answer: observe(answer, case)) for answer in answers]  # type: ignore[misc]
    pictures = [one._repr_mimebundle_()["text/html"] for one in shown]  # type: ignore[attr-defined]
    return pictures + [verdict.html() for verdict in [*verdicts, never_defined(DOUBLE)]]


@pytest.fixture(scope="module")
def legible() -> set[str]:
    """The colors of pages in which nothing is wrong: most seats of a theme have the same, and it takes a second."""
    return set()


@pytest.mark.parametrize("seat", SEATS.values(), ids=SEATS)
def test_everything_moves_and_is_legible_in_every_theme(
    seat: Seat, outputs: list[str], visit: Visit, tmp_path: Path, legible: set[str]
) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(seat.page(outputs), encoding="utf-8")
    page = visit(path, dark=seat.system_dark)
    assert page.locator(".katze-live").count() == len(WIDGETS)
    assert page.locator(".katze-still").count() == 0
    assert page.evaluate(TURNED) is seat.dark
    assert page.evaluate(THEMES) in (["dark" if seat.dark else "light"], ["light dark"])
    colors = page.evaluate(COLORS)
    assert colors in legible or faults(page) == []
    legible.add(colors)
    assert page.get_by_role("region").count() == 0, "shown twice on a page, they would be two landmarks of one name"
    page.emulate_media(media="print")
    assert page.evaluate(TURNED) is False
    assert page.evaluate(THEMES) == ["light"]


def test_everything_fits_a_phone(outputs: list[str], visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(SEATS["jupyter, light"].page(outputs), encoding="utf-8")
    page = visit(path, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert faults(page, every=True, contrast=False) == [], "a theme has the same colors at every width"


CELLS = {
    "jupyter": (
        '<div class="jp-NotebookPanel"><div class="jp-OutputArea">{}</div></div>|'
        '<div class="jp-OutputArea-child">{}</div>'
    ),
    "vscode": '<div class="cell_container">{}</div>|<div class="output_container"><div class="output">{}</div></div>',
    "a site": '<div class="cell_output">{}</div>|<div class="output">{}</div>',
}
"""How a program holds the outputs of a cell together, and each of them."""


@pytest.mark.parametrize("seat", CELLS)
def test_until_there_is_a_prediction_the_cell_gives_nothing_away(seat: str, visit: Visit, tmp_path: Path) -> None:
    """A site's reader can predict nothing, and sees all but the number."""
    cell, output = CELLS[seat].split("|")
    shown: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["course_lib.show.predictions"], "display", shown.append)
        prediction("the loss", None, 42.5, " nats")
        prediction("the word", "", "cat")
    folded = [one._repr_html_() for one in shown]
    first, other = ("".join(map(output.format, each)) for each in (["<p id=x>42.5</p>", *folded], ["<p id=y>7</p>"]))
    path = tmp_path / "cell.html"
    path.write_text(cell.format(first) + cell.format(other), encoding="utf-8")
    page = visit(path)
    assert page.locator("#x").is_visible() is (seat == "a site")
    assert page.locator("#y").is_visible()
    for summary in page.locator("summary").all():
        summary.click()
    assert page.locator("#x").is_visible()
    assert page.get_by_text("the loss: 42.5 nats.").is_visible()
