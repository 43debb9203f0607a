"""The check in the notebook, `katze check`, `katze preflight`, progress and the grade speak of the same answer."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from autograder.box.confinement.levels import Level
from autograder.grading.batch import grade_assignment
from autograder.grading.single import check_file
from autograder.preflight import State, preflight
from course_lib.exercises import COURSE
from course_lib.judging.observation import Outcome
from course_lib.judging.verdict import Verdict
from course_lib.learner.kept_answers import kept_at
from course_lib.learner.progress_file import progress_file
from tests.autograder.answered_lesson import EXERCISES, LESSON, Notebook, filled, graded
from tests.autograder.small_class import make_course, rows

pytestmark = pytest.mark.usefixtures("processes")

WRONG_NAME = "Your answer cell defines `dot_products`; the check looks for `dot_product_scores`."
MISSES: Mapping[str, tuple[Outcome, State, str]] = {
    "attention.scores": (Outcome.NEVER_DEFINED, State.UNDEFINED, WRONG_NAME),
    "attention.weights": (Outcome.RULE_BROKEN, State.RULE_BROKEN, "uses softmax"),
    "attention.dot_product_variance": (Outcome.NEVER_DEFINED, State.SYNTAX_ERROR, "SyntaxError"),
}
"""All others pass: the check's outcome, what preflight sees, and what both check and grade say."""


def awkward() -> Notebook:
    """Lesson 01 with an answer written, or lost, in each of the ways that are easily seen differently."""
    notebook = filled()
    cells = {exercise.id: graded(notebook, exercise.id, "answer") for exercise in EXERCISES}
    source = {name: cell["source"] for name, cell in cells.items()}

    def below(name: str, text: str) -> dict[str, Any]:
        """A cell of the student's own below the check of an exercise."""
        own = dict(nbformat.v4.new_code_cell(text))
        notebook["cells"].insert(notebook["cells"].index(graded(notebook, name, "check")) + 1, own)
        return own

    # Below an `if` that stands below a `try`.
    marker, _, rest = source["attention.contextual_embedding"].partition("\n")
    inner = "\n".join(f"        {line}" for line in rest[rest.index("def ") :].split("\n"))
    before = rest[: rest.index("def ")]
    cells["attention.contextual_embedding"]["source"] = (
        f"{marker}\n{before}try:\n    if True:\n{inner}\nexcept ValueError:\n    pass"
    )
    # Renamed, while the right name is written in a string, a comment, and as another class's method.
    cells["attention.scores"]["source"] = (
        source["attention.scores"].replace("dot_product_scores", "dot_products")
        + '\n\nclass Kept:\n    def dot_product_scores(self): "dot_product_scores"  # dot_product_scores'
    )
    # In the cell of another answer, with nothing left in its own; that one has lost marker and metadata.
    cells["attention.scale"]["source"] = "# katze: attention.scale answer"
    cells["attention.scores"]["source"] += "\n\n" + source["attention.scale"].partition("\n")[2]
    # Twice: right in its own cell, and below that with what is forbidden, before its check.
    own = dict(nbformat.v4.new_code_cell("def attention_weights(scaled):\n    return scaled.softmax(-1)"))
    notebook["cells"].insert(notebook["cells"].index(cells["attention.weights"]) + 1, own)
    # Without its marker and metadata, and assigned.
    gradients = cells["attention.gradients"]
    gradients["source"] = (
        gradients["source"].partition("\n")[2] + "\n\nmine = attention_gradients\nattention_gradients = mine"
    )
    gradients["metadata"] = {}
    # Right where it is checked, and broken by a later cell.
    below("attention.scaled_dot_product", "def scaled_dot_product_attention(q, k, v):\n    return F.softmax(q, -1)")
    # No Python.
    cells["attention.dot_product_variance"]["source"] += "\n    return ("
    return notebook


@pytest.fixture(scope="module")
def notebook(processes: None) -> Notebook:
    return awkward()


@pytest.fixture(scope="module")
def checked(notebook: Notebook, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Verdict]]:
    """What each check says where the notebook is run from top to end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KATZE_WORK", str(tmp_path_factory.mktemp("work")))
        shell = InteractiveShell.instance()
        results = [
            shell.run_cell(cell["source"], store_history=True, silent=False, cell_id=cell.get("id"))
            for cell in notebook["cells"]
            if cell["cell_type"] == "code" and "demo" not in cell["metadata"].get("tags", [])
        ]
        yield {one.result.exercise.id: one.result for one in results if isinstance(one.result, Verdict)}
        InteractiveShell.clear_instance()


def test_the_check_in_the_notebook(checked: dict[str, Verdict]) -> None:
    for exercise in EXERCISES:
        outcome, _, said = MISSES.get(exercise.id, (Outcome.PASSED, State.WRITTEN, ""))
        assert checked[exercise.id].outcome is outcome, exercise.id
        assert said in checked[exercise.id].note


def test_progress_counts_and_keeps_what_was_checked(checked: dict[str, Verdict]) -> None:
    for exercise in EXERCISES:
        assert progress_file().of(exercise.id).passed is (exercise.id not in MISSES)
        assert kept_at(exercise.id).is_file() is (exercise.id not in MISSES)
    assert "F.softmax" not in kept_at("attention.scaled_dot_product").read_text()
    for name in ("attention.contextual_embedding", "attention.scale", "attention.gradients"):
        exercise = COURSE.find(name)
        kept: dict[str, Any] = {}
        exec(kept_at(name).read_text(), kept)
        assert callable(kept[exercise.name])


def test_preflight(notebook: Notebook, tmp_path: Path) -> None:
    file = tmp_path / f"{LESSON}.ipynb"
    file.write_text(json.dumps(notebook))
    looks = {answer.exercise: answer for answer in preflight(file).answers}
    for exercise in EXERCISES:
        assert looks[exercise.id].state is MISSES.get(exercise.id, (Outcome.PASSED, State.WRITTEN, ""))[1], exercise.id
    assert looks["attention.scores"].detail == WRONG_NAME


def test_the_grade(notebook: Notebook, tmp_path: Path) -> None:
    course = make_course(tmp_path)
    file = course.submitted / "ada" / LESSON / f"{LESSON}.ipynb"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(notebook))
    grade_assignment(course, LESSON)
    found = {name: rest for name, *rest in rows(course, "SELECT exercise, outcome, note FROM katze_exercise")}
    for exercise in EXERCISES:
        outcome, _, said = MISSES.get(exercise.id, (Outcome.PASSED, State.WRITTEN, ""))
        graded_as, note = found[exercise.id]
        is_broken = said == "SyntaxError"  # which is why nothing is defined: the grade says so by its outcome
        assert graded_as == (Outcome.RAISED if is_broken else outcome), exercise.id
        assert said in note


@pytest.mark.parametrize("name", ["attention.contextual_embedding", "attention.scores"])
def test_katze_check_of_the_script(
    name: str, notebook: Notebook, checked: dict[str, Verdict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"{LESSON}.py"
    file.write_text(jupytext.writes(nbformat.from_dict(notebook), fmt="py:percent"))
    monkeypatch.chdir(tmp_path)
    found = check_file(COURSE, name, str(file), visible_only=True, min_level=Level.L0)
    said = MISSES[name][2] if name in MISSES else ""
    assert found.verdict.passed is (name not in MISSES)
    assert said in found.verdict.note
