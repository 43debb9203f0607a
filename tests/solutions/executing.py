"""A lesson run from top to end in a kernel, with the solutions in it.

Each lesson has its own test file, `test_<lesson>.py`, with a class derived from `ExecutedLesson`. The class has the
solved notebook run once for all its tests, and for the website (fixtures `solved` and `output`), and adds what this
lesson's prose leans on. On every change the longest trainings are cut short (`short.py`): what a model has learned from
them is in a second class, which asks for `thorough`.
"""

import re
from html import unescape

from nbformat import NotebookNode

from course_lib import exercises

WAITING = re.compile(r"This cell is waiting for|Nothing to show yet")
FIGURE = re.compile(r'<img class="katze-figure" alt="([^"]*)"')


def printed(cell: NotebookNode) -> str:
    """What a cell printed, on either stream, and what it has folded away until it is predicted."""
    texts = []
    for output in cell.get("outputs", ()):
        folded = _FOLDED.fullmatch(output.get("data", {}).get("text/html", ""))
        texts.append(output.text if output.output_type == "stream" else f"{unescape(folded[1])}\n" if folded else "")
    return "".join(texts)


_FOLDED = re.compile(r'.*<details class="katze-unpredicted"><summary>.*</summary>(.*)</details>', re.S)


def points(notebook: NotebookNode) -> dict[str, float]:
    """The last value of each check cell, as nbgrader reads it."""
    return {
        cell.metadata.nbgrader.grade_id: float(cell.outputs[-1]["data"]["text/plain"])
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id", "").endswith("-check")
    }


def numbers(pattern: str, output: str) -> list[float]:
    """The numbers in the only line like this."""
    (found,) = re.findall(pattern, output, re.M)
    return [float(number) for number in ([found] if isinstance(found, str) else found)]


def table(pattern: str, output: str) -> dict[str, list[float]]:
    """The numbers in every line like this, by the name in front of them."""
    return {name: [float(number) for number in found] for name, *found in re.findall(pattern, output, re.M)}


class ExecutedLesson:
    """What holds for every lesson once it has run. Derived classes name the lesson and add their own.

    Attributes:
        lesson: the lesson's folder.
        pictures: how many pictures it shows at least.
        prints: what its text says that it prints, each somewhere.
    """

    lesson: str
    pictures = 4
    prints: tuple[str, ...] = ()

    def test_it_prints_what_its_text_says(self, output: str) -> None:
        assert [line for line in self.prints if line not in output] == []

    def test_the_solutions_get_full_marks(self, solved: NotebookNode) -> None:
        expected = {f"{e.id.replace('.', '-')}-check": float(e.points) for e in exercises.of_lesson(self.lesson)}
        assert points(solved) == expected

    def test_with_the_solutions_no_cell_waits_and_none_complains(self, solved: NotebookNode) -> None:
        for cell in solved.cells:
            assert not WAITING.search(printed(cell)), cell.source[:100]
            streams = {output.name for output in cell.get("outputs", ()) if output.output_type == "stream"}
            assert "stderr" not in streams, printed(cell)

    def test_every_demo_shows_something(self, solved: NotebookNode) -> None:
        demos = [cell for cell in solved.cells if cell.metadata.get("tags") == ["demo"]]
        assert demos
        for cell in demos:
            assert cell.outputs, cell.source[:100]

    def test_figures_say_what_they_show(self, solved: NotebookNode) -> None:
        outputs = [output for cell in solved.cells for output in cell.get("outputs", ())]
        shown = [alt for output in outputs for alt in FIGURE.findall(output.get("data", {}).get("text/html", ""))]
        assert len(shown) >= self.pictures
        assert all(len(alt) > 20 for alt in shown)
        assert not any("image/png" in output.get("data", {}) for output in outputs)
