"""A written answer graded by hand in nbgrader's formgrader, as an instructor does it: by a click, and by typing.

What was given there comes to the student's page and to the export by the next `katze grade`, which runs nothing.
"""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, expect

from autograder.cli import main
from autograder.course.course import Course
from autograder.gradebook.access import open_gradebook
from tests.autograder.gradebook import toy_lesson
from tests.autograder.small_class import LESSON, MOST, answer, make_course
from tests.browser.conftest import Visit
from tests.browser.jupyter import TOKEN, choose, serving
from tests.postgres import Cluster

MATHJAX = "cdnjs.cloudflare.com"
"""Where formgrader's pages look for what sets their formulas; they can be graded without it."""

QUESTION = "attention-why_scale-written"
SAID = {"ada": "So that the softmax is not **saturated**.", "ben": "Because the slide says so."}
COMMENT = "Say <b>what</b> grows with d_head."


@pytest.fixture(scope="module")
def course(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A graded class of two, each of whom has written an answer for a person to read, and nothing else."""
    course = make_course(tmp_path_factory.mktemp("course"))
    for student, said in SAID.items():
        answer(course, student, {QUESTION: said})
    assert main(["grade", LESSON, "--course", str(course.root), "--workers", "2"]) == 0
    return course


@pytest.fixture
def server(processes: None, course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving("course", course.root, tmp_path_factory.mktemp("home")) as root:
        yield root


def give(form: FrameLocator, student: str) -> None:
    """Grade the answer that is shown, whose student it is: ada's by a click, ben's by typing, with a comment."""
    cell = form.locator(".nbgrader_cell").filter(has=form.locator(f"#{QUESTION}"))
    score = cell.locator(".score").first
    expect(score).to_have_class("score tabbable needs_manual_grade")
    if student == "ada":
        cell.get_by_role("button", name="Full credit").click()
    else:
        score.fill("0.5")
        cell.locator(".comment").fill(COMMENT)
        cell.locator(".comment").blur()
        expect(cell.locator(".comment-saved")).to_be_visible()
    expect(score).not_to_have_class("score tabbable needs_manual_grade")


def test_a_written_answer_is_graded_in_formgrader_and_its_points_reach_page_and_export(
    visit: Visit, course: Course, server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page = visit(f"{server}lab?token={TOKEN}", in_vain=MATHJAX)
    choose(page, "Nbgrader", "Formgrader")
    form = page.frame_locator("iframe")
    form.get_by_role("link", name="Manual Grading").click()
    form.get_by_role("link", name=LESSON).click()
    expect(form.get_by_role("columnheader", name="Notebook ID")).to_be_visible()
    form.locator("#main-table").get_by_role("link", name=LESSON).click()
    form.get_by_role("link", name="Submission #1").click()
    graded = set()
    for number in range(1, len(SAID) + 1):
        expect(form.get_by_text(f"Submission {number} / {len(SAID)}")).to_be_visible()
        student = (form.locator(".live-notebook .name-shown").first.text_content() or "").strip()
        expect(form.get_by_text(SAID[student].replace("**", ""))).to_be_visible()
        give(form, student)
        graded.add(student)
        form.get_by_role("link", name="Next").click()
    assert graded == set(SAID)
    expect(form.locator("#main-table").get_by_role("link", name="Submission #1")).to_be_visible()
    expect(form.locator("#main-table .needs-manual-grade")).to_have_text(["", ""])

    assert main(["grade", LESSON, "--course", str(course.root)]) == 0
    feedback = visit(course.feedback / "ada" / LESSON / f"{LESSON}.html")
    expect(feedback.locator(".total")).to_have_text(f"2 of {MOST} points")
    feedback = visit(course.feedback / "ben" / LESSON / f"{LESSON}.html")
    expect(feedback.locator(".total")).to_have_text(f"0.5 of {MOST} points")
    expect(feedback.locator(".by-hand .comment")).to_have_text(COMMENT)
    capsys.readouterr()
    assert main(["export", LESSON, "--course", str(course.root)]) == 0
    exported = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert exported == [["student", LESSON], ["ada", "2"], ["ben", "0.5"]]


@pytest.fixture
def shared(processes: None, cluster: Cluster, database: str, tmp_path: Path) -> Course:
    """A course of one student, with a gradebook in PostgreSQL."""
    url = cluster.url(database)
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.db_url = {url!r}\n")
    course, lesson = Course.find(tmp_path), toy_lesson.LESSON
    toy_lesson.grade(course.gradebook, lesson, ["zoe"])
    for folder in (course.source / lesson, course.release / lesson, course.autograded / "zoe" / lesson):
        folder.mkdir(parents=True)
        (folder / f"{lesson}.ipynb").write_text(json.dumps(toy_lesson.answered() | {"nbformat_minor": 4}))
    return course


def test_formgrader_and_export_work_on_a_database_that_others_use(
    visit: Visit, shared: Course, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lesson = toy_lesson.LESSON
    with serving("course", shared.root, tmp_path_factory.mktemp("home")) as root:
        submissions = f"formgrader/gradebook/{lesson}/{lesson}"
        page = visit(f"{root}login?next=/{submissions}&token={TOKEN}", in_vain=MATHJAX)
        page.get_by_role("link", name="Submission #1").click()
        cell = page.locator(".nbgrader_cell").filter(has=page.locator(f"#{toy_lesson.WRITTEN}"))
        score = cell.locator(".score").first
        expect(score).to_have_class("score tabbable needs_manual_grade")
        with open_gradebook(shared.gradebook, lesson):
            cell.get_by_role("button", name="Full credit").click()
            expect(score).not_to_have_class("score tabbable needs_manual_grade")
        page.goto(f"{root}{submissions}")
        expect(page.get_by_role("row", name="Submission #1")).to_contain_text("5 / 6")
    command = [Path(sys.executable).with_name("nbgrader"), "export"]
    subprocess.run(command, cwd=shared.root, check=True, capture_output=True)
    with (shared.root / "grades.csv").open(newline="") as file:
        exported = [(row["student_id"], row["score"], row["max_score"]) for row in csv.DictReader(file)]
    assert exported == [("zoe", "5.0", "6.0")]
