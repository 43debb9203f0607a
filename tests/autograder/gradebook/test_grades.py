"""The grades of a class, read back from its gradebook, and the two commands that show them.

Tests `results.py` as well.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main
from autograder.course.address import address_from
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook.grades import most_points, read_grades, withdrawn_from
from autograder.grading.batch import grade_assignment
from course_lib import exercises
from tests.autograder.gradebook.earlier import change
from tests.autograder.small_class import BY_NAME, LESSON, give, hand_in, make_course


@pytest.fixture(scope="module")
def course(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A class in which one student's notebook cannot be read, and one was given points by hand."""
    course = make_course(tmp_path_factory.mktemp("course"))
    hand_in(course, "hana", BY_NAME["hana_slides_numbers"])
    hand_in(course, "gus", BY_NAME["gus_untouched"])
    hand_in(course, "zora", BY_NAME["zora_not_a_notebook"])
    grade_assignment(course, LESSON)
    give(course, "hana", manual_score=1.5)
    return course


def test_totals_are_those_of_nbgrader_and_no_score_is_none(course: Course) -> None:
    [results] = read_grades(course, []).values()
    assert [(one.student, one.total) for one in results] == [("gus", 0), ("hana", 12.5), ("zora", None)]
    written = 2
    assert most_points(results) == sum(exercise.points for exercise in exercises.of_lesson(LESSON)) + written


def test_a_grade_that_was_set_aside_is_no_score_and_who_was_removed_is_left_out(course: Course) -> None:
    change(course.gradebook, "UPDATE katze_submission SET void = 'set aside by --force' WHERE student = 'hana'")
    change(course.gradebook, "UPDATE student SET id = 'removed' WHERE id = 'gus'")
    [hana, zora] = read_grades(course, [LESSON])[LESSON]
    change(course.gradebook, "UPDATE katze_submission SET void = '' WHERE student = 'hana'")
    change(course.gradebook, "UPDATE student SET id = 'gus' WHERE id = 'removed'")
    assert (hana.total, hana.problem) == (None, "Set aside by --force, and not graded again yet.")
    assert zora.student == "zora"


def test_who_is_not_in_the_folder_has_withdrawn_where_the_folder_can_tell(tmp_path: Path, course: Course) -> None:
    everyone, other = ["ada", "ben", "cem"], make_course(tmp_path)

    def gone(lesson: str = LESSON, **changes: Any) -> set[str]:
        return withdrawn_from(replace(other, **changes), lesson, everyone)

    assert gone() == set()  # no folder at all
    for path in ("ada/02_masking", "ben/02_masking", "cem"):
        (other.submitted / path).mkdir(parents=True)
    assert gone() == set()  # another grades this lesson, in a folder of theirs
    assert gone("02_masking") == {"cem"}
    (other.submitted / "cem" / "02_masking").symlink_to("nowhere")
    assert gone("02_masking") == set()
    (other.submitted / "zoe" / LESSON).mkdir(parents=True)
    assert gone() == set(everyone)
    server = address_from(tmp_path, "postgresql+psycopg://db.example.org/nlp")
    assert gone(gradebook=server) == set()  # to which others grade from folders of theirs


def test_what_was_not_graded_is_refused(course: Course, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nothing of 02_masking has been graded yet; run `katze grade 02_masking`"):
        read_grades(course, ["02_masking"])
    with pytest.raises(BadInput, match="no lesson '03_foo'"):
        read_grades(course, ["03_foo"])
    with pytest.raises(BadInput, match="there is no gradebook"):
        read_grades(make_course(tmp_path), [])


def test_export_prints_or_writes(course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--course", str(course.root)]
    assert main(["export", *where]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"student,{LESSON}\ngus,0\nhana,12.5\nzora,\n"
    assert "no score, so nothing is written: zora." in printed.err
    file, roster = tmp_path / "out.csv", tmp_path / "roster.csv"
    roster.write_text("Login,HW 1\nhana,\n")
    filled = ["--roster", str(roster), "--student-column", "Login", "--lesson-column", f"{LESSON}=HW 1"]
    assert main(["export", LESSON, *filled, "--to", str(file), *where]) == 0
    assert file.read_bytes() == b"Login,HW 1\r\nhana,12.5\r\n"
    assert capsys.readouterr().out == f"written: {file}\n"

    file.unlink()
    roster.write_text("Login,HW 1\nhana@uni.example,\n")
    assert main(["export", LESSON, *filled, "--to", str(file), *where]) == 1
    assert "nobody in column 'Login' of" in capsys.readouterr().err
    assert not file.exists()
    (course.root / "roster.csv").write_text("id,name,email\nhana,Hana,hana@uni.example\n")
    assert main(["export", LESSON, *filled, "--to", str(file), *where]) == 0
    (course.root / "roster.csv").unlink()
    assert file.read_bytes() == b"Login,HW 1\r\nhana@uni.example,12.5\r\n"


def test_misused_commands_say_what_they_want(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["export", "--lesson-column", LESSON], ["export", "--to", "/nowhere/x.csv"], ["report", LESSON]):
        with pytest.raises(SystemExit) as stopped:
            main([*wrong, "--course", str(course.root)])
        assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert f"'{LESSON}' is not LESSON=NAME" in said
    assert "cannot write /nowhere/x.csv" in said
