"""A lesson as a script: it runs from top to end, and its checks print what they think."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from autograder.course.released import REPOSITORY
from autograder.learn.script import write_script

NOTEBOOK = REPOSITORY / "notebooks" / "01_attention" / "01_attention.ipynb"


def ran(script: Path) -> str:
    done = subprocess.run(
        [sys.executable, script],
        cwd=script.parent,
        env={**os.environ, "KATZE_WORK": str(script.parent), "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_script_is_answered_and_checked_in_a_terminal(tmp_path: Path) -> None:
    script = tmp_path / "01_attention.py"
    assert write_script(NOTEBOOK, script)
    text = script.read_text()
    assert "colab" not in text
    assert "%pip" not in text
    assert 'print(check("attention.scale"))' in text
    stub = text.index("def scale_scores")
    end = text.index("raise NotImplementedError()", stub)
    script.write_text(text[:end] + "return scores / d_head**0.5" + text[end + len("raise NotImplementedError()") :])
    shown = ran(script)
    assert "attention.scores: Not written yet, 0 of 2 points" in shown
    assert "attention.scale: Right, 1 of 1 point" in shown
    assert (tmp_path / "answers" / "attention.scale.py").is_file()
    assert not write_script(NOTEBOOK, script), "what somebody has written stays"
