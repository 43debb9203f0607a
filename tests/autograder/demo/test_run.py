"""The demo as a whole, with a class of two; and the folder that it may remove."""

import json
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.demo import run
from autograder.demo.run import MARKER, make_course, run_demo
from autograder.demo.student import wrong
from autograder.demo.students import STUDENTS
from autograder.demo.translation import Learned
from autograder.errors import BadInput

REPOSITORY = Path(__file__).parents[3]


def learned(sentence: str, steps: int, progress: Callable[[int, float], None]) -> Learned:
    for step in range(1, steps + 1):
        progress(step, 1.0)
    return Learned(20_000, 900, 1_000, 12.0, "die Katze tanzte", was_known=False)


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Two students a lesson, and no training."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(run, "learn", learned)
    for lesson, everyone in STUDENTS.items():
        few = [student for student in everyone if student.name in ("ada_reference", run.SHOWN)]
        monkeypatch.setitem(STUDENTS, lesson, tuple(few))
    return monkeypatch


@pytest.mark.usefixtures("processes")
def test_the_demo_shows_everything_and_what_it_proposes_works(
    little: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "demo"
    assert run_demo(folder, workers=2, steps=2) == 0
    shown = capsys.readouterr().out
    assert "900 are translated word for word (90.0%)" in " ".join(shown.split())
    assert "the cat danced  ->  die Katze tanzte" in shown
    assert "It is not among the sentences" in shown
    assert "4 of 4 submissions came out as expected" in shown
    assert "unscaled_softmax" in shown
    places = shown.partition("came out as expected")[2].splitlines()
    paths = [Path(line.partition(": ")[2].strip()) for line in places if ": " in line]
    assert len(paths) == 4
    assert all(path.is_file() for path in paths)

    notebook = json.loads(paths[-1].read_text())
    notebook["cells"].append({**notebook["cells"][0], "id": "one-more"})
    paths[-1].write_text(json.dumps(notebook))
    command = shlex.split(shown.strip().splitlines()[-1])
    assert command[1:3] == ["grade", "01_attention"]
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert run.SHOWN in again.stdout

    for lesson in [*STUDENTS][1:]:  # what is as before need not be graded again
        little.delitem(STUDENTS, lesson)
    assert main(["demo", str(folder), "--workers", "1"]) == 0  # a second time, over what the first has made


@pytest.mark.usefixtures("processes")
def test_what_comes_out_otherwise_is_told_and_fails(
    little: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [lesson, *others] = STUDENTS
    for other in others:
        little.delitem(STUDENTS, other)
    ada = replace(STUDENTS[lesson][0], expected={"attention.scale": wrong("multiplied")})
    little.setitem(STUDENTS, lesson, (ada,))
    assert run_demo(tmp_path / "demo", workers=1, steps=1) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "0 of 1 submissions came out as expected" in shown
    assert "attention.scale: expected wrong, 0 points, multiplied, got passed, 1 points" in shown


def test_a_demo_course_has_the_solutions_of_the_other_and_folders_of_its_own(tmp_path: Path) -> None:
    home = Course.find(REPOSITORY)
    made = make_course(tmp_path / "build" / "demo", home)
    assert made.solutions == home.solutions
    assert made.repository == home.repository
    for folder in (made.source, made.release, made.submitted, made.autograded, made.feedback, made.gradebook):
        assert folder.is_relative_to(tmp_path)


def test_only_folders_that_a_demo_made_are_removed(tmp_path: Path) -> None:
    home = Course.find(REPOSITORY)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("all of it")
    with pytest.raises(BadInput, match="name another folder"):
        make_course(mine, home)
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]

    with pytest.raises(BadInput, match="is not a folder"):
        make_course(mine / "thesis.txt", home)
    link = tmp_path / "link"
    make_course(tmp_path / "demo", home)
    link.symlink_to(tmp_path / "demo")
    with pytest.raises(BadInput, match="is not a folder"):
        make_course(link, home)

    (tmp_path / "demo" / "gradebook.db").write_text("old")
    make_course(tmp_path / "demo", home)
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {MARKER, "nbgrader_config.py"}
