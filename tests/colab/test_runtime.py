"""Colab is imitated: its packages, a notebook that gets the library by its own first cell, and saves as Colab saves.

The environment has what `runtime-2026.01.txt` lists and the torch of these tests; to install that takes minutes, so it
is done before a release. The repository that the first cell names is a copy of this one, which git takes in its place.
"""

import copy
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import torch
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

import course_lib
from autograder.course.course import Course
from autograder.grading.batch import grade_assignment
from autograder.site.executed import SECONDS_FOR_A_CELL
from course_lib import exercises
from tests.autograder.repair.test_manglings import by_colab
from tests.once import copied_checkout
from tests.solutions.executing import points, printed
from tests.solutions.filling import filled

ROOT = Path(__file__).parents[2]
LESSON = "10_evaluation"
"""The one that needs the most."""

RUNTIME = Path(__file__).with_name("runtime-2026.01.txt")
OURS = ("torch", "torchgen", "functorch", f"torch-{torch.__version__}.dist-info")


@pytest.fixture(scope="module")
def runtime(thorough: None, processes: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with Colab's packages and none of the course's."""
    folder = tmp_path_factory.mktemp("runtime")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    options = ["--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check"]
    subprocess.run([python, "-m", "pip", "install", *options, "--requirement", RUNTIME], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in OURS:
        (packages / name).symlink_to(Path(torch.__file__).parents[1] / name)
    return python


@pytest.fixture(scope="module")
def repository(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository as it stands, tagged as a publisher would."""
    folder = copied_checkout(tmp_path_factory.mktemp("repository"))
    author = ["-c", "user.name=Katze", "-c", "user.email=katze@example.org"]
    for command in (
        ["init", "--quiet"],
        ["add", "--all"],
        [*author, "commit", "--quiet", "--message", "All"],
        ["tag", f"v{course_lib.__version__}"],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.fixture
def home(processes: None, runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder in which the runtime is a kernel."""
    kernel = tmp_path / "kernels" / "colab"
    kernel.mkdir(parents=True)
    argv = [str(runtime), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Colab", "language": "python"}))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KATZE_WORK", "PYTHONPATH", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def _github(processes: None, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address_of(repository.as_uri(), monkeypatch)


def address_of(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git look for the course's repository somewhere else."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{place}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/katze-course/katze")


def ran(notebook: NotebookNode, home: Path) -> NotebookNode:
    """A copy of the notebook, run on the imitation of Colab up to its first error."""
    found = copy.deepcopy(notebook)
    kernel = AsyncKernelManager(
        kernel_name="colab", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(home / "kernels")])
    )
    resources = {"metadata": {"path": str(home)}}
    NotebookClient(found, km=kernel, timeout=SECONDS_FOR_A_CELL, resources=resources).execute(env=dict(os.environ))
    return found


def test_without_a_network_the_first_cell_says_so_in_a_sentence(
    runtime: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run([runtime, "-m", "pip", "uninstall", "--quiet", "--yes", "katze"], check=True)  # of the other test
    address_of((home / "nowhere").as_uri(), monkeypatch)
    notebook = nbformat.read(ROOT / "notebooks" / LESSON / f"{LESSON}.ipynb", as_version=4)
    notebook.cells = notebook.cells[:4]
    with pytest.raises(CellExecutionError) as stopped:
        ran(notebook, home)
    assert "could not install the course's library: fatal: " in str(stopped.value)
    assert stopped.value.ename == "UsageError"


@pytest.mark.usefixtures("_github")
def test_a_lesson_gets_what_it_needs_and_what_colab_saves_of_it_is_graded(home: Path, tmp_path: Path) -> None:
    solved = nbformat.from_dict(filled(LESSON))
    done = ran(solved, home)
    (said,) = printed(done.cells[2]).splitlines()
    assert said.startswith(f"Katze {course_lib.__version__} is installed; torch {torch.__version__} trains on the ")
    assert points(done) == {f"{e.id.replace('.', '-')}-check": float(e.points) for e in exercises.of_lesson(LESSON)}
    assert "sacrebleu's" in "".join(printed(cell) for cell in done.cells)

    saved = json.loads(nbformat.writes(done))
    by_colab(saved)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    course = Course.find(tmp_path)
    handed_in = course.submitted / "ada" / LESSON / f"{LESSON}.ipynb"
    handed_in.parent.mkdir(parents=True)
    handed_in.write_text(json.dumps(saved))
    (ada,) = grade_assignment(course, LESSON).submissions
    earned = {graded.exercise: graded.points for graded in ada.exercises}
    assert earned == {e.id: float(e.points) for e in exercises.of_lesson(LESSON)}
