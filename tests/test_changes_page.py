"""`docs/changes.md` tells every reason to grade again, every tolerance and every rule for ids, as they are."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from autograder.course.semester import ExerciseTerms
from autograder.errors import BadInput
from autograder.gradebook import schema
from autograder.grading.plan import REASONS
from autograder.intake.submission import check_student_id
from course_lib.checking.compare import RELATIVE_TOLERANCE

PAGE = (Path(__file__).parents[1] / "docs" / "changes.md").read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """The rows of the table under a heading, without their backticks."""
    part = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    return [[cell.strip().strip("`") for cell in row] for row in rows[1:]]


def test_it_lists_every_reason_to_grade_again_and_no_other() -> None:
    assert sorted(said for _, said, _ in table("What is graded again, and why")) == sorted(REASONS)


def test_it_lists_every_tolerance() -> None:
    found = {dtype: float(share) for dtype, share in table("Fixed tolerances")}
    assert found == {str(dtype).removeprefix("torch."): share for dtype, share in RELATIVE_TOLERANCE.items()}


def test_it_lists_every_decision() -> None:
    settings = {row[0].partition(" =")[0] for row in table("Decisions about an exercise")}
    assert settings == {field.name for field in fields(ExerciseTerms)}


def test_it_names_the_copy_that_this_version_makes() -> None:
    assert f"`gradebook.db.before-{schema.LATEST}`" in PAGE


def test_an_id_may_hold_what_it_says_and_nothing_else() -> None:
    rules = PAGE.partition("It must not\n")[2]
    [starts] = re.findall(r"begin with (.*),", rules)
    [inside] = re.findall(r"one of `([^`]*)`", rules)
    [longest] = re.findall(r"longer than (\d+) characters", rules)
    refused = ["", " ada", "ada ", "a..b", "a\u200bb", "a" * (int(longest) + 1)]
    refused += [f"{start}ada" for start in re.findall(r"`(.)`", starts)] + [f"a{one}b" for one in inside.split()]
    for student in refused:
        with pytest.raises(BadInput, match="student id"):
            check_student_id(student)
    for student in ("Łukasz O'Brien-Ng (2)", "王小明", "a.b_c@d,e;f#g=h&i%j!k$l", "a" * int(longest)):
        check_student_id(student)
