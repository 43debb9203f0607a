"""What the benchmarks of grading rest on: a command's cost, submissions from a seed, a download like Canvas's."""

import csv
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from autograder.delivery.collect import collect
from autograder.demo.student import Group
from autograder.pages.export import export
from benchmarks.grading.commands import run
from benchmarks.grading.courses import KINDS, LESSON, make_course, ordinary, read, submission
from benchmarks.semester import _ASSIGNMENT, _BACK, _DOWNLOAD, _FILLED, _GRADES, _deliver, _require_all
from course_lib.judging.observation import Outcome
from tests.autograder import small_class
from tests.autograder.records import exercise_record, record

COMPUTES = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(40_000_000))'], check=True)"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    for name, body in {"work": COMPUTES, "fail": "import sys; sys.exit('the disk is full')"}.items():
        path = tmp_path / name
        path.write_text(f"#!{sys.executable}\n{body}\n")
        path.chmod(0o755)
    return tmp_path


@pytest.mark.usefixtures("processes")
def test_a_command_is_watched_with_all_its_processes(programs: Path) -> None:
    spent = run(programs, programs, "work")
    assert (spent.wall > 0, spent.processor > 0.02, max(spent.memory) > 1) == (True, True, True)


@pytest.mark.usefixtures("processes")
def test_a_command_that_fails_says_why(programs: Path) -> None:
    with pytest.raises(RuntimeError, match="fail now: the disk is full"):
        run(programs, programs, "fail", "now")


def test_the_seed_decides_the_order_and_every_kind_has_its_share() -> None:
    students = ordinary(2 * len(KINDS), seed=3)
    assert list(students) == list(ordinary(2 * len(KINDS), seed=3))
    assert list(students) != list(ordinary(2 * len(KINDS), seed=4))
    assert set(Counter(student.name for student in students.values()).values()) == {2}
    assert {student.group for student in students.values()} == {Group.RIGHT, Group.UNFINISHED, Group.MISTAKEN}


def test_a_course_is_made_with_and_without_demo_cells(tmp_path: Path) -> None:
    students = ordinary(2, seed=1)
    whole = make_course(tmp_path / "whole", students, keep_demos=True)
    short = make_course(tmp_path / "short", students, keep_demos=False)
    for name in students:
        cells = [read(submission(course, name))["cells"] for course in (whole, short)]
        kept = [cell for cell in cells[0] if "demo" not in cell["metadata"].get("tags", [])]
        assert len(cells[0]) > len(kept) == len(cells[1])
    assert LESSON in {path.name for path in short.release.iterdir()}


NAMES = ("0001_ada_reference", "0002_hana_slides_numbers", "0003_gus_untouched")


def test_its_class_is_collected_and_its_gradebook_filled(tmp_path: Path) -> None:
    course = small_class.make_course(tmp_path)
    for name in NAMES:
        small_class.hand_in(course, name)
    _deliver(course)
    assert not course.submitted.exists()
    found = collect(course, tmp_path / _DOWNLOAD, rosters=[tmp_path / _GRADES])
    assert (found.platform, [row.student for row in found.rows]) == ("canvas", [*NAMES])
    assert [row.student for row in found.rows if row.late] == [NAMES[0]]
    graded = [record(name, LESSON, (exercise_record("attention.scores", 2.0, 2, Outcome.PASSED),)) for name in NAMES]
    made = export({LESSON: graded}, tmp_path / _GRADES, "SIS Login ID", {LESSON: _ASSIGNMENT}, scale=True)
    (tmp_path / _FILLED).write_bytes(made.table.content())
    with zipfile.ZipFile(tmp_path / _BACK, "w") as archive:
        for name in NAMES:
            archive.writestr(f"{name}.html", "")
    _require_all(tmp_path, 3)
    with (tmp_path / _FILLED).open(newline="") as file:
        assert [row[_ASSIGNMENT] for row in csv.DictReader(file)] == ["20", "20", "20", "20"]
    with pytest.raises(RuntimeError, match="of 4 students 3 got a page back, and 3 points"):
        _require_all(tmp_path, 4)
