"""Forging what a notebook says about itself: points, checks, checksums."""

import copy
from typing import Any

from autograder.demo.student import graded_cell
from tests.dishonest.attempt import Notebook, code_cell, edited

CHECK = "attention.scores"


def _each_graded(**forged: Any) -> Any:
    def edit(notebook: Notebook) -> None:
        for cell in notebook["cells"]:
            if "nbgrader" in cell["metadata"]:
                cell["metadata"]["nbgrader"].update(forged)

    return edit


def _check_says(source: str, **forged: Any) -> Any:
    def edit(notebook: Notebook) -> None:
        cell = notebook["cells"][graded_cell(notebook, CHECK, "check")]
        cell["source"] = source
        cell["metadata"]["nbgrader"].update(forged)

    return edit


def _second_check(notebook: Notebook) -> None:
    check = copy.deepcopy(notebook["cells"][graded_cell(notebook, CHECK, "check")])
    check["source"], check["id"] = "100", "second-check"
    notebook["cells"].append(check)


def _checks_first(notebook: Notebook) -> None:
    checks = [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade")]
    others = [cell for cell in notebook["cells"] if cell not in checks]
    notebook["cells"] = checks + others


def _no_checks(notebook: Notebook) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("grade")]


def _answers_as_demos(notebook: Notebook) -> None:
    notebook["cells"][graded_cell(notebook, CHECK, "answer")]["metadata"]["tags"] = ["demo"]


def _answers_as_text(notebook: Notebook) -> None:
    cell = notebook["cells"][graded_cell(notebook, CHECK, "answer")]
    cell["cell_type"] = "markdown"


def _own_grades(notebook: Notebook) -> None:
    extra = {"grade": True, "solution": False, "locked": True, "task": False, "points": 100, "schema_version": 3}
    for number, name in enumerate(("attention-bonus-check", "attention-scores-check", "x" * 500, "a\nb", "../../x")):
        cell = code_cell("100", f"own-grade-{number}")
        cell["metadata"]["nbgrader"] = {**extra, "grade_id": name}
        notebook["cells"].append(cell)


def _forged_scores(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["katze"] = {"kind": "check", "exercise": CHECK, "origin": "release", "points": 100}
        cell["metadata"].setdefault("nbgrader", {}).update(score=100, auto_score=100, extra_credit=100)
    notebook["metadata"]["katze"] = {"repairs": [], "points": 17, "outcome": "passed"}


def _lies_about_itself(notebook: Notebook) -> None:
    notebook["metadata"] = {
        "kernelspec": {"name": "../../bin/sh", "display_name": "<script>1</script>", "language": "bash"},
        "language_info": {"name": "bash"},
        "celltoolbar": "Create Assignment",
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": "<script>1</script>"}},
    }


def _same_ids(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["id"] = "the-same"


ATTEMPTS = (
    edited("points_raised", "Says that every check is worth a thousand points.", _each_graded(points=1000)),
    edited("points_negative", "Says that its checks cost points, so that failing pays.", _each_graded(points=-100)),
    edited("points_absurd", "Says that checks are worth what no program can add.", _each_graded(points=[{"a": 1e308}])),
    edited(
        "checks_unlocked",
        "Says that its checks are solutions that a person grades.",
        _each_graded(locked=False, solution=True),
    ),
    edited(
        "schema_unknown",
        "Says that its metadata is of a version that does not exist yet.",
        _each_graded(schema_version=99),
    ),
    edited("checksum_forged", "Forges the checksums with which cells are recognized.", _each_graded(checksum="0" * 32)),
    edited("ids_swapped", "Gives all graded cells the same id.", _each_graded(grade_id="attention-scale-check")),
    edited("check_says_100", "Replaces a check by the number 100.", _check_says("100", locked=False)),
    edited(
        "check_patches",
        "Replaces a check by code that patches the others.",
        _check_says("import torch\ntorch.allclose = lambda *a: True\n2.0"),
    ),
    edited("check_twice", "Adds a second check with the same id, which gives 100.", _second_check),
    edited("checks_first", "Moves all checks in front of the answers, where they cannot fail yet.", _checks_first),
    edited("checks_deleted", "Deletes all checks, so that nothing can fail.", _no_checks),
    edited("grades_of_its_own", "Adds graded cells of its own.", _own_grades),
    edited("scores_forged", "Writes scores and outcomes into the metadata.", _forged_scores),
    edited("notebook_lies", "Says that it is in another language, for a kernel somewhere else.", _lies_about_itself),
    edited("cell_ids", "Gives all cells the same id.", _same_ids),
    edited("answer_as_demo", "Tags a wrong answer as a figure, which need not run.", _answers_as_demos),
    edited("answer_as_text", "Turns its answer into text.", _answers_as_text),
)
