"""nbgrader's own example course, as its own command makes it, is graded with not a line changed for it."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest
from nbgrader.plugins import CsvExportPlugin

from autograder.cli import main
from autograder.course.course import Course
from tests.autograder.grading.plain.plain_course import COMMENTS, GRADES, nbgrader, nbgrader_here
from tests.autograder.small_class import rows

pytestmark = pytest.mark.usefixtures("processes")


PS1 = "ps1"


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course with its assignment released, and the two submissions that nbgrader's documentation comes with."""
    folder = tmp_path_factory.mktemp("quickstart")
    nbgrader(folder, "quickstart", "course101")
    root = folder / "course101"
    nbgrader(root, "generate_assignment", PS1)
    found = importlib.util.find_spec("nbgrader")
    assert found is not None
    assert found.origin is not None
    shutil.copytree(Path(found.origin).parent / "docs" / "source" / "user_guide" / "submitted", root / "submitted")
    return root


def test_points_and_comments_are_those_of_nbgrader_autograde(
    quickstart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = shutil.copytree(quickstart, tmp_path / "theirs")
    nbgrader(theirs, "autograde", PS1)
    monkeypatch.chdir(quickstart)
    assert main(["autograde", PS1, "--workers", "2", "--json", "out.json"]) == 0
    told = capsys.readouterr()
    assert "9 written answers wait for a person" in " ".join(told.out.split())
    assert "but not the points" in " ".join(told.err.split())
    ours, other = Course.find(quickstart), Course.find(theirs)
    for query in (GRADES, COMMENTS, "SELECT student_id, timestamp FROM submitted_assignment ORDER BY 1"):
        assert rows(ours, query) == rows(other, query)
    records = json.loads((quickstart / "out.json").read_text())
    assert {(one["student"], one["exercise"], one["outcome"], one["points"]) for one in records} == {
        ("bitdiddle", "problem1.correct_squares", "wrong", 0),
        ("bitdiddle", "problem1.squares_invalid_input", "passed", 1),
        ("bitdiddle", "problem1.correct_sum_of_squares", "wrong", 0),
        ("bitdiddle", "problem1.sum_of_squares_uses_squares", "passed", 0.5),
        *(("hacker", f"problem1.{name}", "passed", points) for name, points in (
            ("correct_squares", 1), ("squares_invalid_input", 1), ("correct_sum_of_squares", 0.5),
            ("sum_of_squares_uses_squares", 0.5),
        )),
    }  # fmt: skip
    assert "correct_squares, squares_invalid_input" in records[0]["repairs"][0]
    pages = sorted(path.relative_to(quickstart / "feedback") for path in quickstart.glob("feedback/*/ps1/*.html"))
    assert [str(path) for path in pages] == [
        f"{student}/ps1/{name}.html" for student in ("bitdiddle", "hacker") for name in ("problem1", "problem2")
    ]
    assert "could not be graded" not in (quickstart / "feedback" / "hacker" / PS1 / "problem2.html").read_text()
    assert main(["autograde", PS1]) == 0
    assert "2 submissions unchanged" in capsys.readouterr().out
    own = nbgrader_here(quickstart)
    assert own.generate_feedback(PS1, "hacker", force=True)["success"]
    assert "sum_of_squares" in (quickstart / "feedback" / "hacker" / PS1 / "problem1.html").read_text()
    listed = {one["id"]: (one["score"], one["needs_manual_grade"]) for one in own.get_submissions(PS1)}
    with own.gradebook as gradebook:
        CsvExportPlugin(to="grades.csv").export(gradebook)
    assert "hacker,,,,3.0,0.0,3.0,13.0" in (quickstart / "grades.csv").read_text()
    assert sorted(listed.values()) == [(1.5, True), (3.0, True)]
