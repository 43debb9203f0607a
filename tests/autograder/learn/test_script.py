"""A lesson as a script: it runs from top to end, and its checks print what they think."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course.released import REPOSITORY
from autograder.errors import BadInput
from autograder.intake.submission import read_notebook
from autograder.learn.script import write_script, write_scripts
from autograder.repair import Release, repair
from course_lib import exercises
from tests.autograder.small_class import CHECKED

NOTEBOOK = REPOSITORY / "notebooks" / "01_attention" / "01_attention.ipynb"


def ran(script: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, script, *arguments],
        cwd=script.parent,
        env={
            **{name: text for name, text in os.environ.items() if name != "KATZE_WORK"},
            "PYTHONPATH": str(REPOSITORY),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.usefixtures("processes")
def test_a_script_is_answered_and_checked_in_a_terminal(tmp_path: Path) -> None:
    script = tmp_path / "01_attention.py"
    *written, following = write_scripts({"01_attention": NOTEBOOK}, tmp_path)
    assert written == [str(script)]
    assert following == f"Next: open {script}, write an answer, and run it: {sys.executable} {script}"
    text = script.read_text()
    assert "colab" not in text
    assert "%pip" not in text
    assert 'print(check("attention.scale"))' in text
    assert "# - c) the cosine of the two sentences\n# - d)" in text
    assert "Zeros add nothing" not in text, "the reason of a choice, which nothing can fold here"
    handed_in = repair(read_notebook(text.encode()), Release.load(NOTEBOOK))
    assert [told.partition(" ")[0] for told in handed_in.repairs] == ["A", "The"], "a script, without metadata"
    assert {cell.origin for cell in handed_in.cells if cell.exercise} == {"release"}
    stub = text.index("def scale_scores")
    end = text.index("raise NotImplementedError()", stub)
    script.write_text(text[:end] + "return scores / d_head**0.5" + text[end + len("raise NotImplementedError()") :])
    alone = ran(script, "attention.scale")
    assert alone.startswith("attention.scale: Right, 1 of 1 point")
    count = len(exercises.of_lesson("01_attention"))
    assert f"01 Attention: 1 of {count} exercises, 1 of {CHECKED} points" in alone
    assert "attention.scores:" not in alone
    assert (tmp_path / "answers" / "attention.scale.py").is_file(), "what has passed is kept beside it"
    script.write_text(script.read_text().replace("def dot_product_scores(", "def dot_products("))
    shown = ran(script)
    assert "Your answer cell defines `dot_products`; the check looks for" in shown
    assert "attention.weights: Not written yet, 0 of 3 points" in shown
    assert "attention.scale: Right, 1 of 1 point" in shown
    assert "[picture: " in shown
    assert not write_script(NOTEBOOK, script), "what somebody has written stays"


def test_beside_notebooks_it_says_that_they_are_two(tmp_path: Path) -> None:
    (tmp_path / "01_attention").mkdir()
    (tmp_path / "01_attention" / "01_attention.ipynb").touch()
    told = list(write_scripts({"01_attention": NOTEBOOK}, tmp_path))
    assert told[1].startswith(f"{tmp_path} has the lessons as notebooks, too. Progress counts both;")
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="is a file; name a folder"):
        list(write_scripts({"01_attention": NOTEBOOK}, tmp_path / "file"))
