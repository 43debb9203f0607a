"""Everything that honest notebooks go through, by the tools that do it: full points, and a receipt that says what.

One right notebook of lesson 01, mangled in every way known, read, repaired, and graded in real sandboxes.
"""

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from nbgrader.nbgraderformat.v2 import MetadataValidatorV2
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3

from autograder.box.fork_server.client import ForkServer
from autograder.intake.submission import read_notebook, read_submission
from autograder.repair import Release, answers_in, is_of, repair, require_lesson
from course_lib import exercises
from tests.autograder.answered_lesson import LESSON, RELEASED, Cell, Notebook, filled, graded, released
from tests.autograder.small_lesson import assert_mended_once
from tests.boxes import graded_in

Mangle = Callable[[Notebook], Notebook | None]
NAME = f"{LESSON}.ipynb"
RELEASE = Release.load(RELEASED)
FULL = {exercise.id: float(exercise.points) for exercise in exercises.of_lesson(LESSON)}


def code(source: str) -> Cell:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def code_cells(notebook: Notebook) -> list[Cell]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def place(notebook: Notebook, exercise: str, role: str) -> int:
    return int(notebook["cells"].index(graded(notebook, exercise, role)))


# Tools -------------------------------------------------------------------------------------------------------


def by_colab(notebook: Notebook) -> None:
    """Ids in the metadata, none on the cells, its own fields, and outputs with references to its pages."""
    notebook["nbformat_minor"] = 0
    notebook["metadata"] = {
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
        "colab": {"provenance": [{"file_id": "x", "timestamp": 1}], "toc_visible": True, "gpuType": "T4"},
        "accelerator": "GPU",
    }
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] |= {"id": cell.pop("id"), "colab": {"base_uri": "https://localhost:8080/", "height": 35}}
        if cell["cell_type"] == "code":
            cell["metadata"] |= {"outputId": f"{number}-a", "cellView": "form", "executionInfo": {"user": {"a": "b"}}}
            cell["outputs"] = [
                {
                    "output_type": "execute_result",
                    "execution_count": 3,
                    "metadata": {},
                    "data": {"text/plain": ["1"], "application/vnd.google.colaboratory.intrinsic+json": {"type": "x"}},
                }
            ]


def by_vs_code(notebook: Notebook) -> None:
    notebook["metadata"] = {
        "kernelspec": {"display_name": ".venv (3.12.3)", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "version": "3.12.3", "codemirror_mode": {"name": "ipython", "version": 3}},
        "orig_nbformat": 4,
        "vscode": {"interpreter": {"hash": "31f2aee4e71d21fbe5cf8b01ff0e069b9275f58929596ceb00d14d90e3e16cd6"}},
    }
    notebook["nbformat_minor"] = 2
    for cell in notebook["cells"]:
        del cell["id"]
        cell["metadata"]["vscode"] = {"languageId": "python"}


def by_jupyterlab(notebook: Notebook) -> None:
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] |= {"editable": True, "slideshow": {"slide_type": ""}, "scrolled": True, "deletable": True}
        cell["metadata"].setdefault("tags", [])
        if cell["cell_type"] == "markdown":
            cell["metadata"]["jp-MarkdownHeadingCollapsed"] = True
        else:
            cell["execution_count"] = number
            cell["metadata"]["execution"] = {"iopub.execute_input": "2026-11-20T10:00:00.000000Z"}


def by_kaggle(notebook: Notebook) -> None:
    notebook["metadata"] |= {"kaggle": {"accelerator": "gpu", "dataSources": []}, "papermill": {"duration": 1.5}}
    for cell in notebook["cells"]:
        cell["metadata"] |= {"_uuid": "d629ff2d2480ee46fbb7e2d37f6b5fab8052498a", "_cell_guid": "x", "trusted": True}
        cell["metadata"]["papermill"] = {"status": "completed", "exception": False}
    notebook["cells"].insert(0, code("# This Python 3 environment comes with many helpful libraries\nimport os"))


def by_nbstripout(notebook: Notebook) -> None:
    notebook["metadata"] = {}
    for cell in code_cells(notebook):
        cell |= {"outputs": [], "execution_count": None}
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = str(number)
        cell["metadata"] = {}


def by_jupytext(fmt: str) -> Mangle:
    """A round trip through a text format."""

    def mangle(notebook: Notebook) -> Notebook:
        text = jupytext.writes(nbformat.from_dict(notebook), fmt=fmt)
        return dict(json.loads(nbformat.writes(jupytext.reads(text, fmt=fmt))))

    return mangle


def by_nbgrader_update(notebook: Notebook) -> Notebook:
    """Back to the metadata of an older nbgrader, and forward again by `nbgrader update`'s own code."""
    for cell in notebook["cells"]:
        meta = cell["metadata"].get("nbgrader")
        if meta:
            meta["schema_version"] = 2
            meta.pop("task", None)
    updated = MetadataValidatorV2().upgrade_notebook_metadata(nbformat.from_dict(notebook))
    return dict(json.loads(nbformat.writes(MetadataValidatorV3().upgrade_notebook_metadata(updated))))


def by_an_old_nbgrader(notebook: Notebook) -> None:
    """Metadata of its first schema."""
    for cell in notebook["cells"]:
        meta = cell["metadata"].get("nbgrader")
        if meta:
            meta["schema_version"] = 1
            for name in ("task", "cell_type", "checksum"):
                meta.pop(name, None)


def in_format_3(notebook: Notebook) -> Notebook:
    for cell in notebook["cells"]:
        cell.get("metadata", {}).pop("nbgrader", None)
    return dict(json.loads(nbformat.v3.writes_json(nbformat.convert(nbformat.from_dict(notebook), 3))))


def by_a_formatter(notebook: Notebook) -> None:
    """White space at the ends of lines and cells, as formatters and editors leave it or take it away."""
    for cell in notebook["cells"]:
        cell["source"] = "\n" + "\n".join(f"{line}  " for line in cell["source"].split("\n")) + "\n\n"


# Hands -------------------------------------------------------------------------------------------------------


def without_checks(notebook: Notebook) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("grade")]


def edited_checks(notebook: Notebook) -> None:
    for exercise in FULL:
        graded(notebook, exercise, "check")["source"] = "# done"


def print_in_a_check(notebook: Notebook) -> None:
    check = graded(notebook, "attention.scale", "check")
    check["source"] += "\nprint(scale_scores(torch.ones(2, 2), 4))"


def answer_in_its_check(notebook: Notebook) -> None:
    answer, check = (graded(notebook, "attention.scale", role) for role in ("answer", "check"))
    check["source"] = answer["source"].partition("\n")[2] + "\n" + check["source"]
    notebook["cells"].remove(answer)


def duplicated(notebook: Notebook) -> None:
    notebook["cells"] = [copy.deepcopy(cell) for cell in notebook["cells"] for _ in range(2)]


def pasted_twice(notebook: Notebook) -> None:
    notebook["cells"] += copy.deepcopy(notebook["cells"])


def check_in_front(notebook: Notebook) -> None:
    check = graded(notebook, "attention.scale", "check")
    notebook["cells"].remove(check)
    notebook["cells"].insert(0, check)


def checks_at_the_end(notebook: Notebook) -> None:
    checks = [graded(notebook, exercise, "check") for exercise in FULL]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in checks] + checks


def shuffled(notebook: Notebook) -> None:
    random.Random(3).shuffle(notebook["cells"])


def in_reverse(notebook: Notebook) -> None:
    notebook["cells"].reverse()


def retyped(kind: str, role: str) -> Mangle:
    def mangle(notebook: Notebook) -> None:
        cell = graded(notebook, "attention.scale", role)
        cell["cell_type"] = kind
        for name in ("outputs", "execution_count"):
            cell.pop(name, None)

    return mangle


def stripped(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def stripped_of_markers_too(notebook: Notebook) -> None:
    stripped(notebook)
    for cell in notebook["cells"]:
        cell["source"] = "\n".join(line for line in cell["source"].split("\n") if "katze: " not in line)


def stripped_of_markers_alone(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["source"] = "\n".join(line for line in cell["source"].split("\n") if "katze: " not in line)


def with_more_points(notebook: Notebook) -> None:
    for exercise in FULL:
        graded(notebook, exercise, "check")["metadata"]["nbgrader"]["points"] = 100


def unlocked(notebook: Notebook) -> None:
    for exercise in FULL:
        graded(notebook, exercise, "check")["metadata"]["nbgrader"]["locked"] = False


def all_called_the_same(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader"):
            cell["metadata"]["nbgrader"]["grade_id"] = "cell-1"


def with_kernel(**fields: Any) -> Mangle:
    def mangle(notebook: Notebook) -> None:
        notebook["metadata"]["kernelspec"] = fields

    return mangle


def in_r(notebook: Notebook) -> None:
    notebook["metadata"] = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}


def in_python_2(notebook: Notebook) -> None:
    notebook["metadata"]["language_info"] = {"name": "python", "version": "2.7.18"}


def without_imports(notebook: Notebook) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if "show.use_style()" not in cell["source"]]


def older_imports(notebook: Notebook) -> None:
    first = next(cell for cell in notebook["cells"] if "show.use_style()" in cell["source"])
    first["source"] = first["source"].replace("case, check, hint, progress, solution", "check")
    assert "import check\n" in first["source"]


def imports_at_the_end(notebook: Notebook) -> None:
    notebook["cells"].sort(key=lambda cell: "show.use_style()" in cell["source"])


def merged_with_its_check(notebook: Notebook) -> None:
    for exercise in FULL:
        answer, check = (graded(notebook, exercise, role) for role in ("answer", "check"))
        answer["source"] += "\n\n" + check["source"]
        notebook["cells"].remove(check)


def two_answers_merged(notebook: Notebook) -> None:
    first, second = (graded(notebook, name, "answer") for name in ("attention.scores", "attention.scale"))
    first["source"] += "\n\n" + second["source"]
    notebook["cells"].remove(second)


def split_in_two(notebook: Notebook) -> None:
    """The marker and a helper in one half, the function in the other, as JupyterLab splits: both keep the metadata."""
    answer = graded(notebook, "attention.scale", "answer")
    marker, _, body = answer["source"].partition("\n")
    second = copy.deepcopy(answer)
    answer["source"], second["source"] = f"{marker}\nhalf = 0.5", body
    notebook["cells"].insert(place(notebook, "attention.scale", "answer") + 1, second)


def only_answers(notebook: Notebook) -> None:
    """Everything else deleted, metadata as well: what is left of an answer is its definition."""
    answers = [graded(notebook, exercise, "answer")["source"].partition("\n")[2] for exercise in FULL]
    notebook["cells"] = [code("import math\nimport torch"), *map(code, answers)]


def in_one_cell(notebook: Notebook) -> None:
    answers = [graded(notebook, exercise, "answer")["source"].partition("\n")[2] for exercise in FULL]
    notebook["cells"] = [code("\n\n".join(["import math\nimport torch", *answers]))]


def copied_into_the_release(behind: int) -> Mangle:
    """The answers written into new cells above or below the empty ones, whose stubs stay."""

    def mangle(notebook: Notebook) -> Notebook:
        fresh = released()
        for exercise in FULL:
            own = code(graded(notebook, exercise, "answer")["source"].partition("\n")[2])
            fresh["cells"].insert(place(fresh, exercise, "answer") + behind, own)
        return fresh

    return mangle


def with_magics(notebook: Notebook) -> None:
    for exercise in FULL:
        answer = graded(notebook, exercise, "answer")
        answer["source"] = f"%%time\n{answer['source']}"
    notebook["cells"].insert(0, code("!pip install torch\n%matplotlib inline"))


def with_a_stub_of_its_own(notebook: Notebook) -> None:
    """An untouched copy of an answer's cell behind the answer."""
    stub = graded(released(), "attention.scale", "answer")
    notebook["cells"].insert(place(notebook, "attention.scale", "check"), stub)


WITHOUT_MARKER = "was found in a cell other than its own"
EMPTY_COPY = "in which nothing was written was left out"
PUT_BACK = "was missing and was put back."
REBUILT = "had been removed (some editors do that) and was rebuilt."

MANGLED: dict[str, tuple[Mangle, tuple[str, ...]]] = {
    "nothing": (lambda notebook: None, ()),
    "Colab": (by_colab, ()),
    "VS Code": (by_vs_code, ()),
    "JupyterLab": (by_jupyterlab, ()),
    "Kaggle": (by_kaggle, ()),
    "nbstripout": (by_nbstripout, (REBUILT,)),
    "jupytext py:percent": (by_jupytext("py:percent"), ()),
    "jupytext py:light": (by_jupytext("py:light"), ()),
    "jupytext md": (by_jupytext("md"), ()),
    "nbgrader update": (by_nbgrader_update, ()),
    "an old nbgrader": (by_an_old_nbgrader, ()),
    "format 3": (in_format_3, ("The notebook was in the old format 3; it was converted.", REBUILT)),
    "a formatter": (by_a_formatter, ()),
    "checks deleted": (without_checks, (PUT_BACK, "question attention.why_scale was missing")),
    "checks edited": (edited_checks, ("had been changed and was restored.",)),
    "code in a check": (
        print_in_a_check,
        (
            "The check of attention.scale had been changed and was restored.",
            "Your code in the check of attention.scale was kept, in a cell of its own.",
        ),
    ),
    "an answer in its check": (answer_in_its_check, ("changed", "was kept")),
    "every cell twice": (duplicated, ("several copies", "the last one is graded", "An extra copy of the check of")),
    "pasted twice": (pasted_twice, ("several copies", "the last one is graded", "An extra copy of the check of")),
    "a check in front": (check_in_front, ("The check of attention.scale came before its answer and was moved",)),
    "checks at the end": (checks_at_the_end, ()),
    "in reverse": (in_reverse, ("The lesson's imports", "came before its answer")),
    "shuffled": (shuffled, ("The lesson's imports", "came before its answer")),
    "a check as text": (retyped("markdown", "check"), ("The check of attention.scale had been changed",)),
    "a check as raw": (retyped("raw", "check"), ("The check of attention.scale had been changed",)),
    "an answer as text": (retyped("markdown", "answer"), ("The cell of attention.scale had been given another type",)),
    "an answer as raw": (retyped("raw", "answer"), ("The cell of attention.scale had been given another type",)),
    "metadata stripped": (stripped, (REBUILT,)),
    "metadata and markers stripped": (stripped_of_markers_too, (REBUILT, "was found in a cell other than its own")),
    "markers stripped": (stripped_of_markers_alone, ()),
    "points changed": (with_more_points, ()),
    "unlocked": (unlocked, ("The grading settings of attention.contextual_embedding",)),
    "all ids the same": (all_called_the_same, (REBUILT,)),
    "another kernel": (with_kernel(name="conda-env-torch-py", display_name="torch", language="python"), ()),
    "a nameless kernel": (with_kernel(), ()),
    "R": (in_r, ("set to a language other than Python",)),
    "Python 2": (in_python_2, ("set to Python 2; it was run as Python 3",)),
    "imports deleted": (without_imports, ("imports (check, math, product, show and torch) were missing",)),
    "imports of an older release": (older_imports, ()),
    "imports at the end": (imports_at_the_end, ("imports (check, math, product, show and torch) were missing",)),
    "answers merged with checks": (merged_with_its_check, (PUT_BACK,)),
    "two answers merged": (two_answers_merged, ()),
    "an answer split": (split_in_two, ("several copies of the answer to attention.scale",)),
    "only the answers": (
        only_answers,
        (
            "The answer to attention.contextual_embedding, attention.scores, attention.scale, attention.weights",
            "The lesson's imports (check, product and show) were missing",
            PUT_BACK,
            "The written question attention.why_scale was missing",
        ),
    ),
    "everything in one cell": (
        in_one_cell,
        (
            "The answer to attention.contextual_embedding was found in a cell other than its own.",
            "The lesson's imports (check, product and show) were missing",
            PUT_BACK,
            "The written question attention.why_scale was missing",
        ),
    ),
    "answers below the stubs": (copied_into_the_release(1), (WITHOUT_MARKER, EMPTY_COPY)),
    "answers above the stubs": (copied_into_the_release(0), (WITHOUT_MARKER, EMPTY_COPY)),
    "magics": (with_magics, ()),
    "an empty copy": (with_a_stub_of_its_own, (EMPTY_COPY,)),
}


@pytest.mark.parametrize("case", MANGLED)
def test_honest_work_keeps_its_points(case: str, tmp_path: Path, fork_server: ForkServer) -> None:
    """The submission earns everything, its release's own points, and the receipt holds these phrases and no more."""
    mangle, said = MANGLED[case]
    notebook = filled()
    folder = tmp_path / "ada" / LESSON
    folder.mkdir(parents=True)
    (folder / NAME).write_text(json.dumps(mangle(notebook) or notebook, ensure_ascii=False), encoding="utf-8")
    repaired = repair(read_submission(folder, LESSON, answers_in(RELEASE, LESSON, exercises.COURSE)), RELEASE)
    written = repaired.notebook()
    nbformat.validate(nbformat.from_dict(written))
    checks = [cell["metadata"] for cell in written["cells"] if cell["metadata"]["katze"]["kind"] == "check"]
    assert {meta["katze"]["exercise"]: meta["nbgrader"]["points"] for meta in checks} == FULL
    found = graded_in(fork_server, repaired.cells)
    earned = {name: verdict.points for name, verdict in found.verdicts.items()}
    assert earned == FULL, (repaired.repairs, [verdict.text() for verdict in found.verdicts.values() if verdict.note])
    assert len(repaired.repairs) == len(said), repaired.repairs
    for phrase in said:
        assert any(phrase in sentence for sentence in repaired.repairs), (phrase, repaired.repairs)


@pytest.mark.parametrize("case", MANGLED)
def test_honest_work_belongs_to_its_lesson_and_is_mended_once(case: str) -> None:
    mangle, _ = MANGLED[case]
    notebook = filled()
    submission = read_notebook(json.dumps(mangle(notebook) or notebook).encode())
    require_lesson(submission, RELEASE, LESSON, exercises.COURSE)
    assert is_of(submission, RELEASE)
    assert_mended_once(repair(submission, RELEASE), RELEASE)
