"""`katze init`: what it writes, and what it leaves alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.errors import BadInput
from autograder.starter.new_course import TEMPLATE, write_course
from tests.autograder.conftest import Katze


def test_a_course_is_written_into_a_new_folder(tmp_path: Path, katze: Katze) -> None:
    folder = tmp_path / "of" / "mine"
    told = katze("init", folder)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    beside = {".gitignore", "README.md", "demo_class.py", "nbgrader_config.py", "ols_exercises.py"}
    assert written == {"solutions/01_ols/01_ols.py"} | beside
    assert all(str(folder / name) in told for name in written)
    assert "run `katze release`" in told


def test_what_is_there_stays(tmp_path: Path, katze: Katze) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert katze("init", tmp_path, status=2) == f"katze: {tmp_path} is not empty; name a new folder for the course.\n"
    with pytest.raises(BadInput, match=r"notes\.txt is not a folder"):
        write_course(tmp_path / "notes.txt")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="link is not a folder"):
        write_course(tmp_path / "link")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["link", "notes.txt"]


@pytest.mark.usefixtures("processes")
def test_the_template_is_written_as_we_write(tmp_path: Path) -> None:
    write_course(tmp_path / "course")
    ruff = [sys.executable, "-m", "ruff", "format", "--line-length", "120", "--check", str(tmp_path / "course")]
    assert subprocess.run(ruff, check=False).returncode == 0
    assert all(path.suffix == ".txt" for path in TEMPLATE.rglob("*") if path.is_file()), "it would count as our code"
