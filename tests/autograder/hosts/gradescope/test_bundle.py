"""The archive for Gradescope: what is in it, what is not, and that its course grades as the real one."""

import json
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course.course import SECRET_BYTES, Course
from autograder.course.semester import SEMESTER_NAME
from autograder.grading.assignment import Assignment
from autograder.hosts.gradescope.bundle import SCRIPTS, write_bundle
from tests.autograder.small_class import CHECKED, LESSON, MOST, make_course

TERMS = f"""
[lessons.{LESSON}]
due = 2026-11-20T18:00:00+01:00
[lessons.{LESSON}.extensions]
grace_hopper = 2026-11-27T18:00:00+01:00
[exercises."attention.scores"]
accept = ["accepted/scores.py"]
tolerance = {{ relative = 1e-3 }}
[exercises."attention.scale"]
drop = true
[exercises."masking.causal"]
drop = true
"""

CONFIG = """
c.Katze.limits = {"call_seconds": 5, "memory_bytes": 3 << 30}
c.Katze.exercise_limits = {"attention.scores": {"call_seconds": 7}, "masking.causal": {"call_seconds": 8}}
c.CourseDirectory.course_id = "the_private_course"
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "accepted").mkdir()
    (tmp_path / "accepted" / "scores.py").write_text("def dot_product_scores(q, k):\n    return q @ k.mT\n")
    (tmp_path / SEMESTER_NAME).write_text(TERMS)
    made = make_course(tmp_path)
    with open(tmp_path / "nbgrader_config.py", "a") as file:
        file.write(CONFIG)
    return Course.find(made.root)


def load(course: Course) -> Assignment:
    return Assignment.load(course, LESSON, skip_demos=True, feedback=False)


def test_the_course_in_it_grades_as_the_real_one_and_knows_nobody(course: Course, tmp_path: Path) -> None:
    bundled = write_bundle(course, LESSON, tmp_path / "autograder.zip")
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
        inside = b"".join(archive.read(name) for name in archive.namelist() if name.startswith("course/"))
    assert b"grace_hopper" not in inside
    assert b"the_private_course" not in inside
    there = Course.find(tmp_path / "unpacked" / "course")
    assert there.lessons() == [LESSON]
    assert load(there).fingerprints == load(course).fingerprints
    assert load(there).adjustments == load(course).adjustments
    assert there.limits == course.limits
    assert load(there).conditions.release == load(course).conditions.release
    assert (bundled.points, bundled.by_hand) == (CHECKED - 1, MOST - CHECKED)


EXERCISES = """
import slopes.data
from course_lib.judging.exercise import Case, Exercise

EXERCISES = [Exercise(
    id="ols.slope", lesson="01_ols", name="slope", title="The slope", statement="slope(x, y)",
    points=slopes.data.POINTS,
    minutes=1, section="", source="",
    reference=lambda x: x, cases=lambda generator, hidden: [Case("one", (1.0,))],
    misconceptions=(), correct=(),
)]
"""

CHECK = {
    "cell_type": "code",
    "id": "check",
    "metadata": {"nbgrader": {"grade": True, "grade_id": "ols-slope-check", "locked": True, "points": 3}},
    "source": 'check("ols.slope")',
}


def test_exercises_of_the_course_s_own_go_along_with_what_they_import_and_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "course"
    (root / "slopes").mkdir(parents=True)
    (root / "nbgrader_config.py").write_text('c = get_config()\nc.Katze.exercises = {"01_ols": "own_exercises"}\n')
    (root / "own_exercises.py").write_text(EXERCISES)
    (root / "slopes" / "data.py").write_text(
        "from pathlib import Path\n\nPOINTS = int(Path(__file__).with_name('n').read_text())\n"
    )
    (root / "slopes" / "n").write_text("3")
    (root / "grades.csv").write_text("ada,3")
    (root / "other.py").write_text("raise SystemExit")
    (root / "release" / "01_ols").mkdir(parents=True)
    (root / "release" / "01_ols" / "01_ols.ipynb").write_text(json.dumps({"cells": [CHECK], "metadata": {}}))
    write_bundle(Course.find(root), "01_ols", tmp_path / "autograder.zip")
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
        own = {name.removeprefix("course/") for name in archive.namelist() if name.startswith("course/")}
    exercises = {"own_exercises.py", "slopes/data.py", "slopes/n"}
    assert own == exercises | {"nbgrader_config.py", SEMESTER_NAME, ".katze/secret", "release/01_ols/01_ols.ipynb"}
    there = Course.find(tmp_path / "unpacked" / "course")
    [exercise] = Assignment.load(there, "01_ols", skip_demos=True, feedback=False).exercises
    assert (exercise.id, exercise.points) == ("ols.slope", 3)


def test_its_secret_is_its_own_and_only_the_owner_reads_the_archive(course: Course, tmp_path: Path) -> None:
    target, again, other = (tmp_path / f"{name}.zip" for name in ("one", "again", "other"))
    target.touch(0o644)  # an earlier one, which anybody could read
    for lesson, place in ((LESSON, target), (LESSON, again), ("02_masking", other)):
        write_bundle(course, lesson, place)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.read_bytes() == again.read_bytes(), "the same course gives the same archive"
    with zipfile.ZipFile(target) as archive, zipfile.ZipFile(other) as another:
        secret = archive.read("course/.katze/secret")
        assert len(secret) == SECRET_BYTES
        assert not any(course.secret() in archive.read(name) for name in archive.namelist())
        assert another.read("course/.katze/secret") != secret


@pytest.mark.usefixtures("processes")
def test_what_gradescope_starts_is_at_the_top_and_hides_the_rest_before_anything_can_fail(
    course: Course, tmp_path: Path
) -> None:
    write_bundle(course, LESSON, tmp_path / "autograder.zip")
    source = tmp_path / "source"
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        archive.extractall(source)
        assert all(archive.getinfo(name).external_attr >> 16 & 0o100 for name in SCRIPTS)
    for name in SCRIPTS:
        assert (source / name).read_bytes().startswith(b"#!/usr/bin/env bash\n")
        subprocess.run(["bash", "-n", source / name], check=True)
    pins = (source / "requirements.txt").read_text().splitlines()
    assert {"torch", "sacrebleu"} <= {pin.partition("==")[0] for pin in pins}
    assert all(pin.count("==") == 1 and "+" not in pin and not pin.startswith("katze") for pin in pins)
    tools = tmp_path / "tools"  # of the system's programs only these: no Python, and nothing that could install one
    tools.mkdir()
    for name in ("bash", "cat", "chmod", "dirname"):
        (tools / name).symlink_to(str(shutil.which(name)))
    done = subprocess.run(["bash", source / "setup.sh"], env={"PATH": str(tools)}, capture_output=True, check=False)
    assert done.returncode != 0
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in source.rglob("*")} == {0}


def test_an_unknown_lesson_and_a_full_stop_leave_an_earlier_archive_alone(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "autograder.zip"
    target.write_bytes(b"earlier")
    assert main(["gradescope", "01_attentoin", "--course", str(course.root), "--to", str(target)]) == 2
    assert "no lesson '01_attentoin'" in capsys.readouterr().err

    def full(*_arguments: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match="no room"):
        write_bundle(course, LESSON, target)
    assert target.read_bytes() == b"earlier"
    assert [path.name for path in tmp_path.glob("*.zip*")] == [target.name]


def test_the_command_says_what_to_set_there(course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["gradescope", LESSON, "--course", str(course.root), "--to"]
    assert main([*arguments, str(tmp_path / "build" / "autograder.zip")]) == 0
    told = capsys.readouterr().out
    assert f"{CHECKED - 1} autograder points, and at least 4 GB of memory" in told
    assert (tmp_path / "build" / "autograder.zip").is_file()
    assert main([*arguments, "-"]) == 2
