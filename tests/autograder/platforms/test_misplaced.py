"""Submissions that lie where no lesson looks for them."""

from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.platforms.misplaced import how_to_collect, misplaced
from tests.autograder.platforms.downloads import laid
from tests.autograder.small_class import LESSON, hand_in, make_course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return make_course(tmp_path)


def lay(course: Course, *paths: str) -> None:
    laid(course.submitted, dict.fromkeys(paths, b"{}"))


PLACES: dict[str, tuple[list[str], list[str]]] = {
    "not even a folder": ([], []),
    "where they belong": (
        [
            f"ada/{LESSON}/{LESSON}.ipynb",
            "ada/02_masking/02_masking.ipynb",
            "ada/essay/essay.ipynb",
            "ada/notes.txt",
            "roster.csv",
            ".ipynb_checkpoints/x.ipynb",
            "ada/.hidden.ipynb",
        ],
        [],
    ),
    "collected, with a platform's name": ([f"ben_1_2_x/{LESSON}/x.ipynb", "notes.txt"], []),
    "loose files, and folders nearly of the lesson's name": (
        [
            "01_attention.ipynb",
            "all.zip",
            "ada/01_attention.ipynb",
            "ben/01-Attention/01_attention.ipynb",
            "eve/01 attention/x.ipynb",
            "eve/02-masking/x.ipynb",
        ],
        ["01_attention.ipynb", "ada/01_attention.ipynb", "all.zip", "ben/01-Attention", "eve/01 attention"],
    ),
    "at the depth of Gradescope's folders": (
        ["export/submission_1/01_attention.ipynb", "submission_2/01_attention.ipynb", "ada/01_attention/x.ipynb"],
        ["export/submission_1", "submission_2"],
    ),
    "a name that does not print": (["ada/\x1b[31mred.ipynb"], ["ada/?[31mred.ipynb"]),
}


@pytest.mark.parametrize("case", PLACES)
def test_what_lies_where_no_lesson_looks_is_told(case: str, course: Course) -> None:
    files, told = PLACES[case]
    lay(course, *files)
    assert misplaced(course, LESSON) == told


DOWNLOADS = {
    "canvas, as a zip": (["submissions.zip"], "submitted/submissions.zip is a download"),
    "canvas, unpacked": (["ada_1_2_01_attention.ipynb", "ben_LATE_2_3_x.ipynb"], "submitted holds a download"),
    "canvas, in a folder": (["new files/ada_1_2_01_attention.ipynb"], "`katze collect 'submitted/new files'`"),
    "moodle": (["Ada L_12_assignsubmission_file_/01_attention.ipynb"], "submitted holds a download"),
    "moodle, in a folder": (["m/Ada L_12_assignsubmission_file/01_attention.ipynb"], "submitted/m is a download"),
    "gradescope": (["assignment_9_export/submission_55/01_attention.ipynb"], "submitted/assignment_9_export is"),
    "the exchange": (["ada+01_attention+2026-11-20 17:50:00 UTC+x/01_attention.ipynb"], "submitted holds a download"),
    "repositories": (["01-attention-ada/01_attention.ipynb"], "submitted holds a download"),
    "mail": (["inbox.mbox"], "submitted/inbox.mbox is a download"),
}


@pytest.mark.parametrize("case", DOWNLOADS)
def test_a_download_is_told_with_the_command_that_collects_it(
    case: str, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, said = DOWNLOADS[case]
    lay(course, *files)
    monkeypatch.chdir(course.root)
    assert said in how_to_collect(course)


def test_what_was_collected_is_no_download_and_links_are_not_followed(course: Course) -> None:
    lay(course, "ada/01_attention/01_attention.ipynb", "ben_1_2_x/01_attention/x.ipynb", "notes.txt")
    (course.submitted / "zora").symlink_to(course.root)
    assert how_to_collect(course) == ""
    assert misplaced(course, LESSON) == []


@pytest.mark.usefixtures("processes")
def test_grade_tells_of_them(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    lay(course, "inbox.mbox")
    assert main(["grade", LESSON, "--course", str(course.root)]) == 2
    error = capsys.readouterr().err
    assert "no submissions to 01_attention" in error
    assert "inbox.mbox is a download: run `katze collect" in error
    hand_in(course, "ada")
    lay(course, *[f"s{number:02}/01-attention/{LESSON}.ipynb" for number in range(12)])
    assert main(["grade", LESSON, "--course", str(course.root)]) == 0
    said = capsys.readouterr().err
    assert "not looked at: inbox.mbox, s00/01-attention, " in said
    assert "s08/01-attention and 3 more; submissions belong in" in said
    assert f"{course.submitted}/STUDENT/{LESSON}/.\n" in said
