"""The benchmark's submissions: from a seed, in equal shares, with or without demo cells."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from autograder.demo.student import Group
from benchmarks.grading.courses import KINDS, LESSON, make_course, ordinary, read, submission


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
