"""JupyterLab for learners: its first page, and what it leaves out."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from autograder.course.colab import repository_of
from autograder.learn.lab import open_lab, write_start_page
from course_lib import exercises
from course_lib.learner.progress_file import ProgressFile
from tests.autograder.small_class import CHECKED


def test_the_first_page_lists_lessons_with_progress(tmp_path: Path) -> None:
    (tmp_path / "01_attention").mkdir()
    (tmp_path / "01_attention" / "01_attention.ipynb").touch()
    ProgressFile(tmp_path / "progress.jsonl").note_check("attention.scores", 2, True)
    page = nbformat.read(write_start_page(tmp_path), as_version=4)
    nbformat.validate(page)
    shown = page.cells[1].outputs[0].data
    assert 'hint("...")' in page.cells[0].source
    assert page.metadata.language_info["name"] == "python", "as the kernel says it, so that opening it changes nothing"
    assert page.metadata.language_info["version"]
    count = len(exercises.of_lesson("01_attention"))
    assert f"1 of {count} exercises, 1 of {CHECKED} points" in shown["text/plain"]
    assert 'href="01_attention/01_attention.ipynb"' in shown["text/html"]
    assert page.cells[2].source.count("✓ Right.") == 3, "three questions that look back"
    assert NotebookNotary().check_signature(page)
    assert "/issues" not in page.cells[0].source
    assert " You need to know Python, and the basics of PyTorch" in page.cells[0].source


@pytest.mark.parametrize("repository", ["katze-course/katze", "my-school/nlp.2027", ""])
def test_it_links_to_where_questions_are_asked(tmp_path: Path, repository: str) -> None:
    link = f"[Open in Colab](https://colab.research.google.com/github/{repository}/blob/v1/x.ipynb)"
    (tmp_path / "x.ipynb").write_text(json.dumps({"cells": [{"source": link if repository else "# Title"}]}))
    assert repository_of(tmp_path / "x.ipynb") == repository
    page = nbformat.read(write_start_page(tmp_path, repository), as_version=4)
    assert (f"https://github.com/{repository}/issues" in page.cells[0].source) is bool(repository)


def test_jupyterlab_starts_there_without_what_instructors_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: dict[str, Any] = {}

    def call(command: list[str], env: dict[str, str]) -> int:
        started.update(command=command, env=env)
        return 0

    monkeypatch.setattr(subprocess, "call", call)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/elsewhere")
    assert open_lab(tmp_path, ["--no-browser"]) == 0
    assert "--no-browser" in started["command"]
    assert "--LabApp.default_url=/lab/tree/start.ipynb" in started["command"]
    ours, theirs = started["env"]["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert theirs == "/elsewhere"
    assert json.loads(Path(ours, "labconfig", "page_config.json").read_text()) == {
        "disabledExtensions": {"@jupyter/nbgrader": True}
    }
    assert open_lab(tmp_path) == 0
    assert "--no-browser" not in started["command"]
