"""Followed word for word, the page on adding an exercise leaves `make test` green.

Its example is put into a copy of the repository, and the copy is asked. Chosen is what can break when one exercise is
new: style, the release, the certificate, and those tests that take exercises, modules or lessons from a list, or count
those of lesson 01. What checks types, runs whole notebooks or grades a class costs minutes, and is left to `make test`:
there the exercise is one that nobody has attempted (`test_student.py`), or that its own solution passes (asked here).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Add a lesson")[0]
REFERENCE, TEST, EXERCISE, ROW, CELLS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

NOT_COPIED = (".*", "__pycache__", "build", "*.egg-info", "submitted", "autograded", "feedback", "gradebook.db*")

ASKED = (
    *("tests/test_imports.py", "tests/course_lib/test_attention.py", "tests/course_lib/exercises/test_exercises.py"),
    *("tests/solutions/test_cells.py", "tests/solutions/test_lessons.py", "tests/course_lib/learner/test_solutions.py"),
    *("tests/autograder/demo/test_student.py", "tests/autograder/test_preflight.py"),
)
OF_IT = "entropy or 01_attention or test_attention or test_student or untouched or ready"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The repository after a stranger has done what the page says."""
    place = tmp_path_factory.mktemp("stranger") / "katze"
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*NOT_COPIED))
    follow(place)
    run(place, "ruff", "check", "--fix", ".")
    run(place, "ruff", "format", ".")
    katze(place, "release")
    yield place
    shutil.rmtree(place)


def follow(place: Path) -> None:
    """The page's steps 1 to 3; where a reader is trying them, they are done already."""
    exercises = place / "course_lib/exercises/attention"
    if (exercises / "entropy.py").exists():
        return
    append(place / "course_lib/attention.py", REFERENCE)
    tests = place / "tests/course_lib/test_attention.py"
    append(tests, TEST)
    insert(tests, "    attention,\n", "    attention_entropy,\n")
    (exercises / "entropy.py").write_text(EXERCISE, encoding="utf-8")
    insert(exercises / "__init__.py", "    softmax_jacobian,\n", "    entropy,\n", times=2)
    lesson = place / "solutions/01_attention/01_attention.py"
    insert(lesson, "# | 9 | a short answer, in words | 2 | 10 |\n", ROW)
    insert(lesson, "", CELLS, before="# %% [markdown]\n# ## 5. What attention replaced\n")


def append(path: Path, text: str) -> None:
    path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{text}", encoding="utf-8")


def insert(path: Path, after: str, text: str, *, before: str = "", times: int = 1) -> None:
    """Put text between two others, which must be there so many times."""
    whole = path.read_text(encoding="utf-8")
    assert whole.count(after + before) == times, f"{path.name} no longer reads {after + before!r}"
    path.write_text(whole.replace(after + before, after + text + before), encoding="utf-8")


def run(place: Path, *arguments: str) -> str:
    """What a tool says in the copy, which it must take for the repository, and find nothing wrong with."""
    environment = os.environ | {"PYTHONPATH": str(place)}
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def katze(place: Path, *arguments: str) -> str:
    return run(place, "autograder.cli", *arguments)


def test_it_is_released_and_certified(copy: Path) -> None:
    assert "up to date" in katze(copy, "release", "--check")
    assert re.search(r"attention\.entropy +1 +4/4 +6/6 +6/6 +yes", katze(copy, "certify", "attention.entropy"))


def test_its_solution_passes(copy: Path) -> None:
    answer = copy / "answer.py"
    answer.write_text("import torch\n" + CELLS.split("# %%")[2].partition("\n")[2], encoding="utf-8")
    assert "1 of 1 point" in katze(copy, "check", "attention.entropy", str(answer))


@pytest.mark.slow
def test_the_tests_that_meet_it_pass(copy: Path) -> None:
    run(copy, "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", "-k", OF_IT, *ASKED)
