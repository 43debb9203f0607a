"""Files of a graded submission: whole or not at all, and with feedback that nbgrader's own exchange can release."""

import hashlib
import logging
import os
import shutil
import sys
from pathlib import Path

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import default
from nbgrader.exchange.default.exchange import Exchange
from traitlets.config import Config

from autograder.grading import exercise_strategy
from autograder.grading.batch import grade_assignment
from autograder.grading.publish import SECRET, write_whole
from tests.autograder.small_class import BY_NAME, LESSON, hand_in, make_course


def test_a_file_is_written_over_what_a_killed_run_left_and_told_by_digest_and_size(tmp_path: Path) -> None:
    path = tmp_path / "autograded" / "ada" / "page.html"
    write_whole(path, "before")
    path.with_name(".page.html.part").write_text("what a killed run left")
    digest, size = write_whole(path, "Köln")
    assert path.read_text(encoding="utf-8") == "Köln"
    assert (digest, size) == (hashlib.sha256("Köln".encode()).hexdigest(), 5)
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]


def test_what_cannot_be_written_leaves_the_file_of_before_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    write_whole(path, "before")
    write_bytes = Path.write_bytes

    def half(self: Path, content: bytes) -> int:
        write_bytes(self, content[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "after")
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


# --- nbgrader's exchange: submitted, collected, graded here, released and fetched by nbgrader


class Semester:
    """A course with an exchange, and a student's own folder."""

    def __init__(self, root: Path) -> None:
        root.joinpath("course").mkdir()
        self.course = make_course(root / "course")
        self.exchange, self.cache, self.home = root / "exchange", root / "cache", root / "home"
        for folder in (self.exchange, self.cache, self.home):
            folder.mkdir(mode=0o777)
            folder.chmod(0o777)  # nbgrader asks for it

    def by_nbgrader(self, kind: type[Exchange], student: str = "*") -> Exchange:
        """A step of nbgrader's, done in the student's folder where it is the student's."""
        config = Config(self.course.config)
        config.CourseDirectory.update(
            root=str(self.course.root),
            course_id="katze",
            assignment_id=LESSON,
            student_id=student,
            db_url=f"sqlite:///{self.course.gradebook}",
        )
        config.Exchange.update(root=str(self.exchange), cache=str(self.cache / student), assignment_dir=str(self.home))
        config.ExchangeCollect.check_owner = False
        step = kind(CourseDirectory(config=config), Authenticator(config=config), config=config)
        step.start()
        return step

    def submit(self, student: str) -> None:
        """Hand in by the exchange."""
        path = hand_in(self.course, student, BY_NAME["gus_untouched"])
        shutil.rmtree(self.home / LESSON, ignore_errors=True)
        shutil.move(path.parent, self.home / LESSON)
        shutil.rmtree(self.course.submitted / student)
        self.by_nbgrader(default.ExchangeSubmit, student)

    def page(self, student: str) -> Path:
        return self.course.feedback / student / LESSON / f"{LESSON}.html"

    def fetched(self, student: str) -> list[bytes]:
        """What a student finds in the exchange."""
        self.by_nbgrader(default.ExchangeFetchFeedback, student)
        found = [path.read_bytes() for path in (self.home / LESSON / "feedback").rglob("*.html")]
        shutil.rmtree(self.home / LESSON / "feedback", ignore_errors=True)
        return found


@pytest.fixture
def semester(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Semester:
    """Two students of the exchange; and three who came another way, of whom one says that the first's secret is his."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # nbgrader runs `alembic`
    semester = Semester(tmp_path)
    semester.by_nbgrader(default.ExchangeReleaseAssignment)
    for student in ("ada", "ben"):
        semester.submit(student)
    semester.by_nbgrader(default.ExchangeCollect)
    for student in ("cy", "di", "ed"):
        hand_in(semester.course, student, BY_NAME["gus_untouched"])
    submitted = semester.course.submitted
    (submitted / "cy" / LESSON / SECRET).symlink_to(submitted / "ada" / LESSON / SECRET)
    (submitted / "di" / LESSON / SECRET).write_text("")
    (submitted / "di" / LESSON / "timestamp.txt").write_text("yesterday")
    (submitted / "ed" / LESSON / SECRET).mkdir()
    return semester


@pytest.mark.usefixtures("processes")
def test_pages_go_out_by_nbgrader_s_exchange_and_each_finds_its_own(
    semester: Semester, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    grade_assignment(semester.course, LESSON, workers=2)
    semester.by_nbgrader(default.ExchangeReleaseFeedback)
    out = semester.exchange / "katze" / "feedback"
    pages = {student: semester.page(student).read_bytes() for student in ("ada", "ben", "cy", "di", "ed")}
    assert sorted(path.read_bytes() for path in out.iterdir()) == sorted(pages.values())
    assert [semester.fetched(student) for student in ("ada", "ben")] == [[pages["ada"]], [pages["ben"]]]
    caplog.set_level(logging.INFO)
    lister = semester.by_nbgrader(default.ExchangeList, "ada")
    lister.inbound = True
    lister.start()
    assert "feedback ready to be fetched" in caplog.text

    stated = {s: semester.page(s).with_name("timestamp.txt").read_text() for s in ("ada", "di")}
    assert stated["ada"].split(" UTC") == [
        (semester.course.submitted / "ada" / LESSON / "timestamp.txt").read_text().split(" UTC")[0],
        "",
    ]
    assert stated["di"] == ""

    monkeypatch.setattr(exercise_strategy, "ForkServer", None)  # nothing is graded any more
    kept = semester.page("ben").with_name(SECRET)
    before = kept.read_text()
    kept.unlink()
    again = grade_assignment(semester.course, LESSON)
    assert (again.gradings, kept.read_text()) == ({}, before)
