"""Answers in plain files, as they are pasted there."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.box import Level
from autograder.grading.single import check_file
from course_lib.exercises import COURSE

PASTED = "def dot_product_scores(q, k):\n    return torch.einsum('...qd,...kd->...qk', q, k)\n"


def test_a_cell_that_was_pasted_into_a_file_finds_what_its_notebook_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "answer.py"
    file.write_text(PASTED, encoding="utf-8")
    monkeypatch.chdir(tmp_path)  # no course is here
    verdict, _level = check_file(COURSE, "attention.scores", str(file), visible_only=True, min_level=Level.L0)
    assert verdict.passed
