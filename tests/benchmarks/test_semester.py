"""The benchmark's download and gradebook are what `katze collect` and `katze export` take for Canvas's."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import pytest

from autograder.delivery.collect import collect
from autograder.pages.export import export
from benchmarks.grading.courses import LESSON
from benchmarks.semester import _ASSIGNMENT, _BACK, _DOWNLOAD, _FILLED, _GRADES, _deliver, _require_all
from course_lib.judging.observation import Outcome
from tests.autograder.records import exercise_record, record
from tests.autograder.small_class import hand_in, make_course

NAMES = ("0001_ada_reference", "0002_hana_slides_numbers", "0003_gus_untouched")


def test_its_class_is_collected_and_its_gradebook_filled(tmp_path: Path) -> None:
    course = make_course(tmp_path)
    for name in NAMES:
        hand_in(course, name)
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
