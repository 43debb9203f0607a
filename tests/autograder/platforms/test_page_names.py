"""Names of pages: those that a platform recognizes, and none that leads anywhere else."""

import pytest

from autograder.course.store.collected import Delivery
from autograder.platforms.platform import leads_out
from autograder.platforms.registry import named

LESSON = "01_attention"
MOODLE = "Ada_12345_assignsubmission_file"


@pytest.mark.parametrize(
    ("platform", "name", "page"),
    [
        ("moodle", f"{MOODLE}/sub/x.ipynb", f"{MOODLE}/{LESSON}.html"),
        (
            "moodle",
            f"all/Zoë 🐈_7_assignsubmission_file_/{LESSON}.ipynb",
            f"Zoë 🐈_7_assignsubmission_file_/{LESSON}.html",
        ),
        ("moodle", f"{MOODLE}_x-1.ipynb", f"{MOODLE}_{LESSON}.html"),
        ("moodle", "ada/x.ipynb", ""),
        ("canvas", f"submissions/lovelaceada_123_456_{LESSON}-1.ipynb", f"lovelaceada_123_456_{LESSON}-1.html"),
        ("canvas", "lovelaceada_LATE_123_456_nb.tar.gz", "lovelaceada_LATE_123_456_nb.html"),
        ("canvas", "LATE_anon_x7Qz_456_nb.ipynb", "LATE_anon_x7Qz_456_nb.html"),
        ("canvas", "anon_x7Qz_456_nb.ipynb", "anon_x7Qz_456_nb.html"),
        ("canvas", "lovelaceada_123_text.html", ""),
        ("canvas", "notes.txt", ""),
        ("gradescope", "export/submission_99/x.ipynb", "submission_99/ada.html"),
        ("gradescope", "x.ipynb", ""),
        ("folder", "x.ipynb", f"ada/{LESSON}.html"),
    ],
)
def test_a_platform_finds_by_a_page_s_name_whose_it_is(platform: str, name: str, page: str) -> None:
    assert named(platform).page_name(Delivery("ada", platform, "download.zip", (name,)), LESSON) == page
    assert named(platform).page_name(Delivery("ada", platform, "download.zip", ()), LESSON) in ("", page)


def test_moodle_finds_a_participant_who_did_not_hand_in_there() -> None:
    page_name = named("moodle").page_name_by_number
    page = f"assignsubmission_file_/{LESSON}.html"
    assert page_name("../_Ada_/\n=Lovelace", "12345", LESSON) == f"Ada =Lovelace_12345_{page}"
    assert page_name("", "7", LESSON) == f"Participant_7_{page}"


@pytest.mark.parametrize(
    "path",
    "../x.html|a/../x.html|/etc/x|a//x|a\\..\\x|C:/x|a/\x00x|a\nb|a/\ud800|./x|".split("|") + ["x" * 250],
)
def test_a_path_that_could_lead_elsewhere_is_found(path: str) -> None:
    assert leads_out(path)


def test_other_scripts_and_signs_do_not_lead_elsewhere() -> None:
    for path in ("Zoë, O'Neil =1+1 “x” \u202e<b>/x.html", "李 👩‍🔬_7/x.html", "+a/x.html", "a..b/x.html"):
        assert not leads_out(path)
