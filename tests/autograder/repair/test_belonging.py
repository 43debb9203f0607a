"""Whose notebook it is: another lesson's is refused, whatever has anything of the lesson is graded."""

import copy
import json

import pytest

from autograder.demo.student import read_answers
from autograder.errors import Unreadable
from autograder.intake.submission import Submission, read_notebook
from autograder.repair import Release, is_of, require_lesson
from course_lib.exercises import COURSE
from tests.autograder.answered_lesson import LESSON, RELEASED, ROOT, Notebook, filled, graded, released
from tests.autograder.repair.test_manglings import Mangle, code, in_one_cell, only_answers, stripped
from tests.autograder.repair.test_manglings import stripped_of_markers_too as bare

OTHER = "02_masking"
OTHER_RELEASED = ROOT / "notebooks" / OTHER / f"{OTHER}.ipynb"
DIFFERENT = (
    f"This is a different notebook: none of its cells is from lesson {LESSON}. Submit {LESSON}.ipynb, the notebook "
    "that you were given, with your answers in it."
)
RELEASE, OTHER_RELEASE = Release.load(RELEASED), Release.load(OTHER_RELEASED)


def other() -> Notebook:
    """Lesson 02 with every answer written."""
    notebook = copy.deepcopy(dict(OTHER_RELEASE.notebook))
    answers = read_answers(ROOT / "autograder" / "demo" / "answers" / OTHER / "reference.py")
    for cell in notebook["cells"]:
        meta = cell["metadata"].get("nbgrader", {})
        if meta.get("solution"):
            name = meta["grade_id"].rpartition("-")[0].replace("-", ".", 1)
            cell["source"] = f"{cell['source'].partition(chr(10))[0]}\n{answers.get(name, 'own words')}"
    return notebook


def read(notebook: Notebook) -> Submission:
    return read_notebook(json.dumps(notebook).encode())


def refusal(notebook: Notebook, release: Release = RELEASE, lesson: str = LESSON) -> str:
    with pytest.raises(Unreadable) as refused:
        require_lesson(read(notebook), release, lesson, COURSE)
    return refused.value.reason


def test_another_lesson_s_notebook_is_refused_by_name() -> None:
    said = f"This is the notebook of {OTHER}, not of {LESSON}: submit {LESSON}.ipynb instead."
    untouched = copy.deepcopy(dict(OTHER_RELEASE.notebook))
    without_metadata = other()
    stripped(without_metadata)
    for notebook in (untouched, other(), without_metadata):
        assert refusal(notebook) == said
    assert refusal(filled(), OTHER_RELEASE, OTHER).startswith(f"This is the notebook of {LESSON}, not of {OTHER}")


def test_a_function_of_the_lesson_in_another_one_s_notebook_is_not_enough() -> None:
    notebook = other()
    notebook["cells"].insert(1, code("def attention_weights(scaled):\n    return scaled"))
    notebook["cells"].append(graded(filled(), "attention.scale", "answer"))
    assert "This is the notebook of 02_masking" in refusal(notebook)


def test_another_lesson_without_its_marks_and_a_foreign_notebook_have_nothing_of_the_lesson() -> None:
    notebook = other()
    bare(notebook)
    assert refusal(notebook) == DIFFERENT
    assert refusal({"cells": [], "nbformat": 4}).startswith("The notebook has no cells")


FOREIGN = {
    "nothing of ours": ["print(1)"],
    "a function that takes something else": ["def scaled_dot_product(q, k, v, mask):\n    return q @ k"],
    "a class that has the name of a function": ["class scale_scores:\n    def scale_scores(self, scores, d): ..."],
    "torch's own function": ["from torch.nn.functional import scaled_dot_product", "scaled_dot_product(q, k, v)"],
    "the name of a variable": ["attention_weights = model(x)", "attention_weights.shape"],
    "our imports": ["import math\n\nimport torch", "import torch\nx = 1"],
}


@pytest.mark.parametrize("case", FOREIGN)
def test_a_name_or_a_line_that_others_use_as_well_does_not_make_a_notebook_ours(case: str) -> None:
    cells = [code(source) for source in FOREIGN[case]]
    assert refusal({"cells": cells, "nbformat": 4}) == DIFFERENT


@pytest.mark.parametrize("mangle", [only_answers, in_one_cell])
def test_all_answers_in_another_lesson_s_notebook_are_graded(mangle: Mangle) -> None:
    notebook, own = other(), filled()
    mangle(own)
    notebook["cells"] += own["cells"]
    require_lesson(read(notebook), RELEASE, LESSON, COURSE)


def test_one_answer_alone_is_graded_and_so_is_the_lesson_s_text_alone() -> None:
    for source in (
        "def scale_scores(scores, d_head):\n    return scores",
        "if True:\n    def scale_scores(scores: Tensor, d_head: int = 64) -> Tensor:\n        return scores",
        "scale_scores = max\nattention_weights = min\n\ndef softmax_jacobian(a, b)\n    return",  # three are no chance
    ):
        require_lesson(read({"cells": [code(source)], "nbformat": 4}), RELEASE, LESSON, COURSE)
    text_alone = released()
    text_alone["cells"] = [cell for cell in text_alone["cells"] if not cell["metadata"].get("nbgrader")]
    require_lesson(read(text_alone), RELEASE, LESSON, COURSE)
    assert is_of(read(text_alone), RELEASE)


def test_the_cell_that_installs_the_course_is_no_lesson_s_own() -> None:
    install = [cell for cell in released()["cells"] if "katze-install" in cell["metadata"].get("tags", ())]
    assert len(install) == 1
    assert not is_of(read({"cells": install, "nbformat": 4}), RELEASE)
