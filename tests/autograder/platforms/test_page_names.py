"""Names of pages: those that a platform recognizes, and none that leads anywhere else."""

from __future__ import annotations

import re

import pytest

from autograder.course.store.collected import Delivery
from autograder.platforms.platform import leads_out
from autograder.platforms.registry import named as platform_named

LESSON = "01_attention"


def named(platform: str, *names: str) -> str:
    return platform_named(platform).page_name(Delivery("ada", platform, "download.zip", names), LESSON)


def moodle_s_participant(path: str) -> tuple[str, str]:
    """Whose page Moodle's importer takes it for, and what it calls it: its rule, told again."""
    parts = path.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if (
            len(info) >= 4
            and info[1].isdecimal()
            and info[2:4] in (["assignsubmission", "file"], ["assignfeedback", "file"])
        ):
            return info[1], "/".join([*info[4:], *parts]).lstrip("/")
    return "", ""


def canvas_s_numbers(path: str) -> tuple[str, ...]:
    """The student and the file that Canvas's importer takes from a name: its rule, told again."""
    parts = [part for part in path.rpartition("/")[2].split("_") if part != "LATE"]
    if parts[0] == "anon":
        return tuple(parts[1:3])
    return tuple([part for part in parts if re.fullmatch(r"\d+", part)][:2])


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
    number, shown = moodle_s_participant(expected)
    assert (number, shown) == (re.findall(r"_(\d+)_", name)[0], "01_attention.html")


def test_moodle_finds_a_participant_who_did_not_hand_in_there() -> None:
    path = platform_named("moodle").page_name_by_number("../_Ada_/\n=Lovelace", "12345", LESSON)
    assert moodle_s_participant(path) == ("12345", "01_attention.html")
    assert not leads_out(path)
    assert moodle_s_participant(platform_named("moodle").page_name_by_number("", "7", LESSON)) == (
        "7",
        "01_attention.html",
    )


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
    assert canvas_s_numbers(expected) == canvas_s_numbers(name)
    assert len(canvas_s_numbers(expected)) == 2


def test_what_gives_no_file_to_answer_has_no_name() -> None:
    assert named("canvas", "lovelaceada_123_text.html") == ""
    assert named("canvas", "notes.txt") == named("moodle", "ada/x.ipynb") == named("gradescope", "x.ipynb") == ""
    assert named("moodle") == ""


def test_the_members_of_a_group_have_a_page_each() -> None:
    assert named("gradescope", "export/submission_99/x.ipynb") == "submission_99/ada.html"
    assert named("folder") == f"ada/{LESSON}.html"


@pytest.mark.parametrize(
    "path",
    [
        "../x.html",
        "a/../x.html",
        "/etc/x",
        "a//x",
        "a\\..\\x",
        "C:/x",
        "a/\x00x",
        "a\nb",
        "a/\ud800",
        "x" * 250,
        "./x",
        "",
    ],
)
def test_a_path_that_could_lead_elsewhere_is_found(path: str) -> None:
    assert leads_out(path)


def test_other_scripts_and_signs_do_not_lead_elsewhere() -> None:
    for path in ("Zoë, O'Neil =1+1 “x” \u202e<b>/x.html", "李 👩‍🔬_7/x.html", "+a/x.html", "a..b/x.html"):
        assert not leads_out(path)
