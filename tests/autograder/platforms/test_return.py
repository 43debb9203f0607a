"""A graded class given back: to each platform under its own names, once, and only what is as it stands.

Tests `history.py` as well.
"""

import csv
import hashlib
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.course.store.collected import Delivery, write_collected
from autograder.delivery.history import changed_since, page_of, read_returned
from tests.autograder.platforms.downloads import everything
from tests.autograder.small_class import BY_NAME, LESSON, MOST, answer, give, hand_in, make_course

QUESTION = "attention-why_scale-written"
FOLDER = "Ada Lovelace_12_assignsubmission_file_"
DELIVERIES = (
    Delivery("ada", "moodle", "all.zip", (f"{FOLDER}/{LESSON}.ipynb",), "12", "ada+1", "Ada", "ada@example.org"),
    Delivery("ben", "moodle", "all.zip", (f"=Ben 🐈_13_assignsubmission_file_{LESSON}-1.ipynb",), "13"),
    Delivery("cy", "moodle", "all.zip", ("..\\..\\Cy_14_assignsubmission_file_/x.ipynb",), "14"),
    Delivery("di", "canvas", "s.zip", (f"ng_di_LATE_123_456_{LESSON}-1.ipynb",), "123"),
    Delivery("zora", "canvas", "s.zip", ("zora_124_457_x.ipynb",), "124"),
    Delivery("ed", "canvas", "s.zip", ("e_125_458_x\\..\\y_126_459_z.ipynb",), "125"),
    Delivery("fay", "gradescope", "g.zip", ("submission_99/x.ipynb",), "99", "0012"),
    Delivery("gus", "gradescope", "g.zip", ("submission_99/x.ipynb",), "99", "0013"),
)
"""Two of each that can go back, one with a name that leads out, one without a score; "hal" came by none of them."""

WORKSHEET = (
    'Identifier,"Full name",Grade,"Maximum grade","Last modified (grade)","Feedback comments"\r\n'
    f"Participant 12,=Ada,,{MOST}.00,-,\r\n"
    f"Participant 13,Ben,,{MOST}.00,-,\r\n"
    f"Participant 77,Hal,,{MOST}.00,-,\r\n"
)


@pytest.fixture(scope="module")
def graded(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The class, graded, with points and a comment by hand for ada that are on her page."""
    course = make_course(tmp_path_factory.mktemp("graded"))
    for student in ("ben", "cy", "di", "ed", "fay", "gus", "hal"):
        hand_in(course, student, BY_NAME["gus_untouched"])
    answer(course, "ada", {QUESTION: "So that the softmax is not saturated."})
    hand_in(course, "zora", BY_NAME["zora_not_a_notebook"])
    assert main(["grade", LESSON, "--course", str(course.root), "--workers", "2"]) == 0
    give(course, "ada", manual_score=1.5, comment='=Say "why"\n<b>first</b>.')
    assert main(["grade", LESSON, "--course", str(course.root)]) == 0
    write_collected(course, LESSON, {one.student: one for one in DELIVERIES})
    return course


@pytest.fixture
def course(processes: None, graded: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Course:
    """A copy of it."""
    shutil.copytree(graded.root, tmp_path / "course")
    capsys.readouterr()
    return Course.find(tmp_path / "course")


def give_back(course: Course, platform: str, *options: str, status: int = 0) -> None:
    assert main(["return", LESSON, "--course", str(course.root), "--for", platform, *options]) == status


def written(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {one.filename: archive.read(one) for one in archive.infolist()}


def pages(course: Course, **students: str) -> dict[str, bytes]:
    """The pages of these students, by the name that each should go back under."""
    return {name: page_of(course, LESSON, student).read_bytes() for student, name in students.items()}


def test_moodle_gets_its_zip_and_its_worksheet(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Grades.csv").write_text(WORKSHEET, newline="")
    give_back(course, "moodle", "--to", str(tmp_path / "back.zip"), "--worksheet", str(tmp_path / "Grades.csv"))
    flat = f"=Ben 🐈_13_assignsubmission_file_{LESSON}.html"
    assert written(tmp_path / "back.zip") == pages(course, ada=f"{FOLDER}/{LESSON}.html", ben=flat)
    comment = "<p>attention.why_scale: =Say &quot;why&quot;<br>&lt;b&gt;first&lt;/b&gt;.</p>"
    assert (tmp_path / "Grades.csv").read_bytes().decode() == WORKSHEET
    assert (tmp_path / "back-worksheet.csv").read_bytes().decode() == WORKSHEET.replace(
        f"=Ada,,{MOST}.00,-,", f'=Ada,1.5,{MOST}.00,-,"{comment}"'
    ).replace(f"Ben,,{MOST}.00", f"Ben,0,{MOST}.00")
    said = capsys.readouterr()
    assert "2 pages for moodle" in said.out
    assert "cannot be used as a file name: cy." in said.err
    assert "the page has no name there: di, ed, fay, gus, hal." in said.err
    assert "No score, so no page is returned: zora." in said.err


def test_a_roster_finds_those_who_did_not_come_by_moodle(course: Course, tmp_path: Path) -> None:
    (course.root / "roster.csv").write_text("id,name,moodle\nhal,Hal_9000,77\ndi,Di,x\n")
    give_back(course, "moodle", "--to", str(tmp_path / "back.zip"))
    assert f"Hal 9000_77_assignsubmission_file_/{LESSON}.html" in written(tmp_path / "back.zip")
    assert len(written(tmp_path / "back.zip")) == 3


def test_canvas_gets_the_names_that_it_gave(course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    give_back(course, "canvas", "--to", str(tmp_path / "submissions.zip"))
    name = f"ng_di_LATE_123_456_{LESSON}-1.html"
    assert written(tmp_path / "submissions.zip") == pages(course, di=name)
    assert "cannot be used as a file name: ed." in capsys.readouterr().err
    give_back(course, "canvas", "--worksheet", "x.csv", status=2)
    assert "katze export --roster" in capsys.readouterr().err


def test_gradescope_and_folders_have_a_page_for_each_student(course: Course, tmp_path: Path) -> None:
    give_back(course, "gradescope")
    zipped = course.root / "build" / "return" / f"{LESSON}-gradescope.zip"
    assert written(zipped) == pages(course, fay="submission_99/fay.html", gus="submission_99/gus.html")
    give_back(course, "folder", "--to", str(tmp_path / "out"))
    found = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == {f"{student}/{LESSON}.html" for student in "ada ben cy di ed fay gus hal".split()}


def test_a_dry_run_shows_a_table_and_writes_nothing(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(course.root)
    give_back(course, "moodle", "--dry-run")
    said = capsys.readouterr().out
    [row] = [line.split() for line in said.splitlines() if line.startswith("ada")]
    assert row == ["ada", "1.5", "/", str(MOST), "yes", "new", *f"{FOLDER}/{LESSON}.html".split()]
    assert "2 pages would be returned to moodle" in said
    assert everything(course.root) == before


def test_what_was_returned_is_known_and_what_has_changed_since(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Grades.csv").write_text(WORKSHEET, newline="")
    again = ("--to", str(tmp_path / "back.zip"), "--worksheet", str(tmp_path / "Grades.csv"), "--changed", "--json")
    give_back(course, "moodle", *again[:-1])
    returned = read_returned(course, LESSON)
    assert sorted(returned) == ["ada", "ben"]
    assert changed_since(course, LESSON) == []
    assert returned["ada"].page == hashlib.sha256(page_of(course, LESSON, "ada").read_bytes()).hexdigest()
    (tmp_path / "Grades.csv").write_bytes((tmp_path / "back-worksheet.csv").read_bytes())

    give(course, "ada", manual_score=2.0, comment="Better.")
    capsys.readouterr()
    assert states(course, capsys, *again) == {}
    give_back(course, "moodle", "--dry-run")
    assert "does not show the current points" in capsys.readouterr().err
    assert main(["grade", LESSON, "--course", str(course.root)]) == 0
    assert changed_since(course, LESSON) == ["ada"]
    capsys.readouterr()
    assert states(course, capsys, *again) == {"ada": "changed"}
    rows = list(csv.DictReader((tmp_path / "back-worksheet.csv").open(newline="")))
    assert (rows[0]["Grade"], rows[0]["Feedback comments"]) == ("2", "<p>attention.why_scale: Better.</p>")
    assert changed_since(course, LESSON) == []


def states(course: Course, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, str]:
    give_back(course, "moodle", *options)
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {one["student"]: one["state"] for one in told["students"]}


def test_what_would_be_wrong_is_left_out_or_refused(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page_of(course, LESSON, "ada").write_text("another program's page")
    page_of(course, LESSON, "ben").unlink()
    give_back(course, "moodle", "--to", str(tmp_path / "back.zip"))
    said = capsys.readouterr()
    assert f"run `katze grade {LESSON}` first: ada, ben." in said.err
    assert not (tmp_path / "back.zip").exists()
    give_back(course, "gradescope", "--to", str(tmp_path / "missing" / "x.zip"), status=2)
    assert "there is no folder" in capsys.readouterr().err
    place = course.root / ".katze" / "returned" / f"{LESSON}.json"
    place.parent.mkdir()
    place.write_text("{}")
    give_back(course, "folder", status=2)
    assert "cannot be read" in capsys.readouterr().err
    place.write_text('{"format": 99}')
    give_back(course, "folder", status=2)
    assert "newer Katze" in capsys.readouterr().err


def test_a_submission_that_came_since_is_told(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    path = course.submitted / "ben" / LESSON / f"{LESSON}.ipynb"
    path.write_text(path.read_text() + "\n")
    give_back(course, "moodle", "--dry-run")
    assert "Handed in again since it was graded" in capsys.readouterr().err
