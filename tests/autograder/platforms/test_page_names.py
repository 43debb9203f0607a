"""Names of pages: those that a platform recognizes, and none that leads anywhere else."""

from __future__ import annotations

import pytest

from autograder.course.store.collected import Delivery
from autograder.platforms.platform import leads_out
from autograder.platforms.registry import named as platform_named

LESSON = "01_attention"


def named(platform: str, *names: str) -> str:
    return platform_named(platform).page_name(Delivery("ada", platform, "download.zip", names), LESSON)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "Ada Lovelace_12345_assignsubmission_file_/01_attention.ipynb",
            "Ada Lovelace_12345_assignsubmission_file_/01_attention.html",
        ),
        ("Ada_12345_assignsubmission_file/sub/x.ipynb", "Ada_12345_assignsubmission_file/01_attention.html"),
        ("all/Zoë 🐈_7_assignsubmission_file_/x.ipynb", "Zoë 🐈_7_assignsubmission_file_/01_attention.html"),
        ("Ada_12345_assignsubmission_file_x-1.ipynb", "Ada_12345_assignsubmission_file_01_attention.html"),
    ],
)
def test_moodle_finds_the_participant(name: str, expected: str) -> None:
    assert named("moodle", name) == expected


def test_moodle_finds_a_participant_who_did_not_hand_in_there() -> None:
    page_name = platform_named("moodle").page_name_by_number
    page = f"assignsubmission_file_/{LESSON}.html"
    assert page_name("../_Ada_/\n=Lovelace", "12345", LESSON) == f"Ada =Lovelace_12345_{page}"
    assert page_name("", "7", LESSON) == f"Participant_7_{page}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lovelaceada_123_456_01_attention-1.ipynb", "lovelaceada_123_456_01_attention-1.html"),
        ("lovelaceada_LATE_123_456_nb.tar.gz", "lovelaceada_LATE_123_456_nb.html"),
        ("LATE_anon_x7Qz_456_nb.ipynb", "LATE_anon_x7Qz_456_nb.html"),
        ("anon_x7Qz_456_nb.ipynb", "anon_x7Qz_456_nb.html"),
    ],
)
def test_canvas_finds_student_and_file(name: str, expected: str) -> None:
    assert named("canvas", f"submissions/{name}") == expected


def test_what_gives_no_file_to_answer_has_no_name() -> None:
    assert named("canvas", "lovelaceada_123_text.html") == ""
    assert named("canvas", "notes.txt") == named("moodle", "ada/x.ipynb") == named("gradescope", "x.ipynb") == ""
    assert named("moodle") == ""


def test_the_members_of_a_group_have_a_page_each() -> None:
    assert named("gradescope", "export/submission_99/x.ipynb") == "submission_99/ada.html"
    assert named("folder") == f"ada/{LESSON}.html"


@pytest.mark.parametrize(
    "path",
    "../x.html|a/../x.html|/etc/x|a//x|a\\..\\x|C:/x|a/\x00x|a\nb|a/\ud800|./x|".split("|") + ["x" * 250],
)
def test_a_path_that_could_lead_elsewhere_is_found(path: str) -> None:
    assert leads_out(path)


def test_other_scripts_and_signs_do_not_lead_elsewhere() -> None:
    for path in ("Zoë, O'Neil =1+1 “x” \u202e<b>/x.html", "李 👩‍🔬_7/x.html", "+a/x.html", "a..b/x.html"):
        assert not leads_out(path)
