"""Where another package takes the place of our `autograder`, the command `katze` says so, with the way out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import autograder
import katze

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.usefixtures("processes")


def told(folder: Path, *arguments: str) -> tuple[int, str]:
    """How the command ends where this folder comes before all others on Python's path, and what it says."""
    known = {**os.environ, "PYTHONPATH": f"{folder}:{ROOT}", "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "katze", *arguments]
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def another(folder: Path, code: str, distribution: str = "") -> Path:
    """Another package of that name, as pip leaves it where a distribution brings it."""
    (folder / "autograder").mkdir()
    (folder / "autograder" / "__init__.py").write_text(code)
    if distribution:
        information = folder / f"{distribution}-3.7.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 3.7\n")
        (information / "top_level.txt").write_text("autograder\n")
    return folder


def test_ours_runs(tmp_path: Path) -> None:
    assert Path(autograder.__file__).read_text().startswith(katze.OURS)
    status, said = told(tmp_path, "exercises")
    assert status == 0
    assert "attention.scale" in said


@pytest.mark.parametrize("package", ["torch", "rich", "argcomplete"])
def test_a_package_that_is_missing_is_named_in_a_line(tmp_path: Path, package: str) -> None:
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError('No module', name='{package}.inner')")
    status, said = told(tmp_path, *(["completion", "bash"] if package == "argcomplete" else ["exercises"]))
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith(f"katze: this needs {package}, which {sys.executable} does not have. Run `katze` of the env")


@pytest.mark.parametrize(
    "code",
    [
        "",
        "import antlr4, numba",
        "raise SystemExit(3)",
        '"""The harness: what instructors run."""',
        "\N{LATIN SMALL LETTER E WITH ACUTE} = 1",
    ],
)
def test_a_package_beside_ours_is_named_and_never_run(tmp_path: Path, code: str) -> None:
    status, said = told(another(tmp_path, code, "grading-kit"), "exercises")
    assert status == 2
    assert said == (
        f"katze: {tmp_path}/autograder is not Katze's `autograder` but another package of that name; only one of them "
        f"can be here: run `{sys.executable} -m pip uninstall --yes grading-kit`.\n"
    )


def test_a_folder_that_pip_does_not_know_is_to_be_moved(tmp_path: Path) -> None:
    status, said = told(another(tmp_path, ""), "grade", "01_attention")
    assert status == 2
    assert said.count("\n") == 1
    assert said.endswith("another package of that name: rename it, move it, or take its folder from PYTHONPATH.\n")
