"""Runs lesson 11 like somebody with a GPU: the whole notebook in a kernel, with its answers, from scratch."""

import os
import tempfile
import time
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course.course import Course
from autograder.site.executed import execute_notebook, read_solution
from benchmarks.gpu.results import Said, Tell
from benchmarks.gpu.running import Settings
from benchmarks.table import Row
from course_lib import exercises
from course_lib.ground.files import cache_folder

LESSON = "11_die_katze"
CHOICE = "corpus = choose_corpus(device)"
"""The line that chooses the notebook's form, depending on the machine."""

FULL_FORM = "Multi30k: "
"""The beginning of its output in the full form."""

JUDGED = "BLEU"


def lesson(settings: Settings, tell: Tell) -> None:
    """Run the notebook; at the smallest size, only until it has chosen its form."""
    notebook = read_solution(Course.find(Path(__file__).parent), LESSON)
    if settings.tiny:
        del notebook.cells[1 + next(i for i, cell in enumerate(notebook.cells) if CHOICE in cell.source) :]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="katze-lesson-") as folder:
        # Checkpoints go to a new cache, so that it starts with none; texts may come from the existing one.
        texts = os.environ.get("KATZE_DATA") or str(cache_folder())
        environment = {**os.environ, "KATZE_DATA": texts, "KATZE_CACHE": folder, "KATZE_WORK": folder}
        ran = execute_notebook(notebook, Path(folder), environment)
    minutes = (time.perf_counter() - began) / 60
    nbformat.write(ran, settings.out / f"{LESSON}.ipynb")
    printed = [line for cell in ran.cells for line in _printed(cell).splitlines()]
    form = next(line for line in printed if line.startswith((FULL_FORM, "The short form", "There is no GPU")))
    tell(Said("form", form))
    if not settings.tiny and not form.startswith(FULL_FORM):
        raise RuntimeError("the notebook ran in its short form")
    tell(Row.of("the notebook from its first cell to its last", minutes, None, "min", more=False))
    checks = [cell for cell in ran.cells if cell.metadata.get("nbgrader", {}).get("grade_id", "").endswith("-check")]
    if checks:
        got = sum(float(cell.outputs[-1]["data"]["text/plain"]) for cell in checks)
        most = sum(exercise.points for exercise in exercises.of_lesson(LESSON))
        tell(Row.of("points for its answers", got, most, "", more=True, goal=1.0))
    for line in printed:
        if JUDGED in line:
            tell(Said(f"printed: {line[:40].strip()}", line))


def _printed(cell: NotebookNode) -> str:
    return "".join(output.text for output in cell.get("outputs", ()) if output.output_type == "stream")
