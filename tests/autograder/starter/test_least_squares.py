"""Another course than ours, from `katze init` to its pages: every command and `check` follow its setting.

The course is what `katze init` writes. One graded class serves all tests.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.box.confinement.levels import Level
from autograder.box.confinement.selftest import choose_level
from autograder.cli import main
from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.starter.new_course import write_course
from tests.autograder.conftest import Katze

LESSON = "01_ols"

OUTCOMES: dict[str, tuple[float | None, list[str]]] = {
    "ada_lstsq": (6, ["passed", "passed", "passed"]),
    "ben_pinv": (6, ["passed", "passed", "passed"]),
    "cleo_svd_and_loops": (6, ["passed", "passed", "passed"]),
    "dan_normal_equations": (5, ["passed", "raised", "passed"]),
    "eli_no_intercept": (5, ["no_intercept", "passed", "passed"]),
    "fay_ones_last": (5, ["ones_last", "passed", "passed"]),
    "gus_elementwise_inverse": (1, ["passed", "elementwise_inverse", "n_minus_one"]),
    "hana_correlation": (4, ["passed", "passed", "correlation_squared"]),
    "ivo_returns_a_list": (5, ["wrong", "passed", "passed"]),
    "jo_reads_the_answers": (0, ["raised", "raised", "not_attempted"]),
    "kit_broken_file": (None, ["unreadable", "unreadable", "unreadable"]),
    "lou_empty": (0, ["not_attempted", "not_attempted", "not_attempted"]),
}
"""The points of each, and for each exercise the mistake by name, or the outcome."""


@pytest.fixture(scope="module")
def course(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the course, in which this process is; the class is graded."""
    try:
        choose_level(Level.L2)
    except BadInput as problem:
        pytest.skip(f"no sandboxes that keep the answers away here: {problem}")
    folder = tmp_path_factory.mktemp("statistics") / "course"
    write_course(folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert main(["release"]) == 0
        subprocess.run([sys.executable, "demo_class.py"], check=True)
        assert main(["grade", LESSON, "--workers", "2", "--json", "build/graded.json"]) == 0
        yield folder
    finally:
        os.chdir(before)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_class_comes_out_as_it_should(course: Path) -> None:
    points: dict[str, list[float | None]] = {}
    found: dict[str, list[str]] = {}
    for one in read(course / "build" / "graded.json"):
        points.setdefault(one["student"], []).append(one["points"])
        found.setdefault(one["student"], []).append(one["misconception"] or one["outcome"])
    assert found == {student: outcomes for student, (_, outcomes) in OUTCOMES.items()}
    totals = {who: None if None in earned else sum(map(float, filter(None, earned))) for who, earned in points.items()}
    assert totals == {student: total for student, (total, _) in OUTCOMES.items()}


def test_the_report_and_the_pages_know_titles_and_mistakes(course: Path, katze: Katze) -> None:
    katze("report", LESSON, "build/class.html")
    page = (course / "build" / "class.html").read_text(encoding="utf-8")
    assert "Lesson 01 · Least squares" in page
    assert "The design matrix" in page
    assert "Your matrix has no column of ones" in page
    feedback = (course / "feedback" / "gus_elementwise_inverse" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")
    assert "np.linalg.inv" in feedback
    assert "fit(design=array[4, 2], y=array[4])" in feedback


def test_the_log_the_export_and_the_status_follow(course: Path, katze: Katze) -> None:
    assert "Your matrix has no column of ones" in " ".join(katze("log", "eli_no_intercept", LESSON).split())
    matrix, fit, _ = json.loads(katze("log", "jo_reads_the_answers", LESSON, "--json"))["exercises"]
    said = [one["message"] for exercise in (matrix, fit) for one in exercise["cases"] if not one["hidden"]]
    assert any("No module named 'ols_exercises'" in message for message in said), "a sandbox has none of the answers"
    assert any("Permission denied" in message or "No such file" in message for message in said)
    katze("export", "--to", "build/points.csv")
    assert "eli_no_intercept,5\n" in (course / "build" / "points.csv").read_text()
    assert "01_ols: no score: kit_broken_file" in katze("status")
    assert "12 submissions unchanged" in katze("grade", LESSON)
    assert "this one has exercises of its own" in katze("site", "build/site", status=2)


def test_the_exercises_are_certified_and_listed(course: Path, katze: Katze) -> None:
    certificates = json.loads(katze("certify", "--json"))
    assert [(one["id"], one["points"]) for one in certificates] == [
        *(("ols.design_matrix", 1), ("ols.fit", 3), ("ols.r_squared", 2)),
    ]
    assert "ols.fit  3 points, 15 minutes, 7 known mistakes" in katze("exercises")


def test_a_student_looks_at_an_answer_and_a_notebook(course: Path, katze: Katze) -> None:
    (course / "build" / "answer.py").write_text("def fit(design, y):\n    return design.T @ y\n")
    checked = katze("check", "ols.fit", "build/answer.py", status=1)
    assert "Your answer is designᵀ y alone." in " ".join(checked.split())
    looked_at = katze("preflight", f"submitted/hana_correlation/{LESSON}/{LESSON}.ipynb", "--run", status=1)
    assert "ols.r_squared Not yet right: Your answer is the squared correlation." in " ".join(looked_at.split())


def test_a_student_s_own_checks_run_in_the_notebook(course: Path, tmp_path: Path, katze: Katze) -> None:
    katze("learn", "work", "--scripts")
    script = course / "work" / f"{LESSON}.py"
    source = script.read_text(encoding="utf-8")
    right = re.sub(
        r"(def fit\(.*?\n)    # .*?\n *raise NotImplementedError\(\)", r"\1    return design.T @ y", source, flags=re.S
    )
    assert right != source
    script.write_text(right, encoding="utf-8")
    ran = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Your answer is designᵀ y alone." in " ".join(ran.stdout.split()), ran.stderr


def test_a_class_edition_checks_without_the_answers(course: Path, katze: Katze) -> None:
    katze("publish", "../class", "--lessons", "01")
    katze("publish", "../other", "--lessons", "01", "--repository", "a/b", status=2)
    told = katze("publish", "../class", "--check")
    assert "3 exercises, 36 answers: 36 verdicts are the same, 0 are left to the full course, 0 differ" in told
    assert "searched for answers, solutions and hidden cases: 0 findings" in told
    code = "from course_lib.checking import check\nprint(check('ols.fit', lambda design, y: design.T @ y))"
    lesson = course.parent / "class" / "notebooks" / LESSON
    ran = subprocess.run([sys.executable, "-c", code], cwd=lesson, capture_output=True, text=True, check=False)
    assert "Your answer is designᵀ y alone." in " ".join(ran.stdout.split()), ran.stderr
    assert "[01 Least squares](notebooks/01_ols/01_ols.ipynb)" in (course.parent / "class" / "README.md").read_text()
    assert "linalg" not in (lesson.parents[1] / "ols_exercises" / "__init__.py").read_text()


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("return {1.0}", "on 'the worked example' the reference returns a set, which cannot be compared"),
        ("return design.no_such_thing", "the reference fails on 'the worked example'"),
    ],
)
def test_a_reference_that_does_not_work_costs_nobody_anything(
    course: Path,
    katze: Katze,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    broken: str,
    said: str,
) -> None:
    other = tmp_path / "course"
    shutil.copytree(course, other, ignore=shutil.ignore_patterns("build", "work"))
    monkeypatch.chdir(other)
    module = other / "ols_exercises.py"
    written = module.read_text(encoding="utf-8")
    changed = written.replace("return np.linalg.lstsq(design, y, rcond=None)[0]", broken)
    assert changed != written
    module.write_text(changed, encoding="utf-8")
    told = katze("grade", LESSON, status=2)
    assert told.startswith(f"katze: ols.fit cannot be graded: {said}")
    assert told.endswith("nothing was done. Fix it, then run `katze certify ols.fit`.\n")
    katze("export", "--to", "points.csv")
    assert "ada_lstsq,6\n" in (other / "points.csv").read_text()


def test_a_mistake_in_the_exercises_is_said_to_their_author(
    course: Path, katze: Katze, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "course"
    write_course(other)
    monkeypatch.chdir(other)
    with open("ols_exercises.py", "a", encoding="utf-8") as module:
        module.write("EXERCISES = (*EXERCISES, FIT)\n")
    for command in ("release", "certify", "exercises"):
        told = katze(command, status=2)
        assert told == "katze: ols_exercises (01_ols): 2 exercises have the id 'ols.fit'; give each its own.\n"
    config = other / "nbgrader_config.py"
    config.write_text(config.read_text().replace('{"01_ols": "ols_exercises"}', 'dict([("01_ols", "ols_exercises")])'))
    with pytest.raises(BadInput, match="read without running the file"):
        Course.find()
