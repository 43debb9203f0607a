"""`katze grade --dry-run` tells what a run would do and writes nothing; a frozen lesson is left as it is.

Tests `frozen.py` and `preview.py` as well.
"""

import json

import pytest

from autograder.cli import main
from autograder.commands.shared import DONE, MISUSED
from autograder.course.course import Course
from autograder.grading import assignment as assignment_module
from tests.autograder.platforms.downloads import everything
from tests.autograder.small_class import BY_NAME, CHECKED, LESSON, hand_in, nbgrader_s

pytestmark = pytest.mark.usefixtures("steady_versions", "no_sandboxes")


@pytest.fixture
def course(course: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    """The current directory."""
    monkeypatch.chdir(course.root)
    return course


def dry_run(course: Course, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a dry run prints; it must have written nothing."""
    before = everything(course.root)
    capsys.readouterr()
    assert main(["grade", LESSON, "--dry-run", *arguments]) == DONE
    assert everything(course.root) == before
    return capsys.readouterr().out


class TestDryRun:
    def test_it_says_who_and_why(self, course: Course, capsys: pytest.CaptureFixture[str]) -> None:
        assert dry_run(course, capsys).splitlines()[0] == f"{LESSON}: 0 submissions to grade, 4 unchanged"
        hand_in(course, "ada_reference", BY_NAME["hana_slides_numbers"])
        hand_in(course, "eve")
        (course.root / "course.toml").write_text('[exercises."attention.scores"]\ntolerance = { relative = 1e-3 }\n')
        found = json.loads(dry_run(course, capsys, "--json"))
        exercises = {task["student"]: task.pop("exercises") for task in found["to_grade"]}
        wider = ["attention.scores: its tolerance the exercise's -> 0.001 of the largest number"]
        assert found["to_grade"] == [
            {"student": "ada_reference", "why": ["handed in again"], "points": 17.0},
            {"student": "ben", "why": wider, "points": 0.0},
            {"student": "eve", "why": ["not graded before"], "points": None},
            {"student": "hana_slides_numbers", "why": wider, "points": 11.0},
            {"student": "zora_not_a_notebook", "why": wider, "points": None},
        ]
        assert exercises["ben"] == ["attention.scores"]
        assert len(exercises["ada_reference"]) == len(exercises["eve"]) > 1

    def test_it_says_whose_points_would_count_otherwise(
        self, course: Course, capsys: pytest.CaptureFixture[str]
    ) -> None:
        due = f"[lessons.{LESSON}]\ndue = 2026-11-20T18:00:00+01:00\n"
        (course.root / "course.toml").write_text(due + '[exercises."attention.scores"]\ndrop = true\n')
        out = dry_run(course, capsys)
        assert "deadlines or late penalties have changed: ada_reference, " in out
        assert "to be counted anew, attention.scores: dropped\n" in out
        assert f"  17 of {CHECKED} points -> 16 of {CHECKED - 1} points: ada_reference\n" in out
        found = json.loads(dry_run(course, capsys, "--json"))
        assert found["decided"] == ["attention.scores: dropped"]
        assert [one["student"] for one in found["counted_anew"]] == [
            "ada_reference",
            "ben",
            "hana_slides_numbers",
            "zora_not_a_notebook",
        ]

    def test_what_would_stop_a_run_stops_a_dry_one(self, course: Course, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["grade", LESSON, "--dry-run", "--student", "nobody"]) == MISUSED
        assert "no submission of nobody" in capsys.readouterr().err
        assert main(["grade", LESSON, "--run"]) == MISUSED
        assert "--run works only with --dry-run" in capsys.readouterr().err

    def test_with_run_it_grades_a_copy(
        self, course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.undo()
        monkeypatch.setattr(assignment_module, "_versions", lambda assignment: {"Katze": "1"})
        monkeypatch.chdir(course.root)
        hand_in(course, "ada_reference", BY_NAME["hana_slides_numbers"])
        (course.root / "accepted.py").write_text("def f(): pass")
        (course.root / "course.toml").write_text(
            '[exercises."attention.scores"]\ndrop = true\n[exercises."attention.scale"]\naccept = ["accepted.py"]\n'
        )
        out = dry_run(course, capsys, "--run", "--workers", "1")
        assert "handed in again: 1 submission" in out
        assert "attention.scale: passed, 1 point -> wrong (divided_by_number_of_keys), 0 points" in out
        assert "counted anew, attention.scores: dropped" in out
        assert out.endswith("a dry run: nothing was written\n")


class TestFrozen:
    def test_nothing_is_graded_until_it_is_thawed(self, course: Course, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["freeze", LESSON]) == DONE
        assert f"until `katze thaw {LESSON}`" in capsys.readouterr().out
        hand_in(course, "ada_reference", BY_NAME["hana_slides_numbers"])
        (course.root / "course.toml").write_text('[exercises."attention.scores"]\ndrop = true\n')
        for arguments in ([], ["--dry-run"]):
            assert main(["grade", LESSON, *arguments]) == DONE
            [told] = [line for line in " ".join(capsys.readouterr().out.split("\n")).split("  ") if "frozen" in line]
            assert f"{LESSON} is frozen since " in told
            assert "nothing is graded; 1 submission handed in since waits" in told
            assert f"run `katze thaw {LESSON}`" in told
        for arguments in (["--force"], ["--force", "--dry-run"]):
            assert main(["grade", LESSON, *arguments]) == MISUSED
            assert f"is frozen, and --force does not change that; run `katze thaw {LESSON}` first" in (
                capsys.readouterr().err
            )
        scores = nbgrader_s(course)
        assert (scores["ada_reference"], scores["hana_slides_numbers"]) == (17, 11)
        assert main(["thaw", LESSON]) == DONE
        capsys.readouterr()
        assert "  handed in again: ada_reference\n" in dry_run(course, capsys)

    def test_only_what_was_graded_can_be_frozen_and_only_what_is_frozen_thawed(
        self, course: Course, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for arguments, said in (
            (["freeze", "02_masking"], "nothing of 02_masking has been graded yet; run `katze grade 02_masking`."),
            (["freeze", "01_atention"], "no lesson '01_atention' in"),
            (["grade", "attention"], f"; did you mean {LESSON}? There are: "),
            (["thaw", LESSON], f"{LESSON} is not frozen."),
        ):
            assert main(arguments) == MISUSED
            assert said in capsys.readouterr().err
