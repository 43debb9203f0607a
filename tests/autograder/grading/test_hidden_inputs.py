"""Answers that try to carry hidden inputs out, graded: no number of theirs is in anything that anybody is shown."""

import itertools
import json
import re
from pathlib import Path

import pytest
from torch import Tensor

from autograder.cli import main
from autograder.course.course import Course
from autograder.grading.answer_keys import AnswerKeys
from course_lib import exercises
from course_lib.judging.exercise import Case
from tests.autograder.small_class import LAST, LESSON, answer, insert_cell, make_course

EXERCISE = exercises.find("attention.scores")

Pair = tuple[str, str]

SAYS = """
    import sys, warnings
    print(q, k); print(q.tolist(), k.tolist(), file=sys.stderr); warnings.warn(str(q.tolist()))
"""
KEEPS = """
    import pathlib, sys, torch
    SEEN.append((q.tolist(), k.tolist()))
    torch.seen = sys.seen = SEEN
    try:
        pathlib.Path("seen.txt").write_text(str(SEEN))
    except OSError:
        pass
"""
WAYS = {
    "says": f"{SAYS}    raise ValueError(str(q.tolist()))",
    "speaks_and_returns": f"{SAYS}    return q",
    "names": "    raise type('E' + str(q.tolist()), (Exception,), {'__doc__': str(k.tolist())})(q, k)",
    "keeps": f"{KEEPS}    return q @ k.mT + 1",
}
"""How an answer tells of what it was called with, by the student who does it."""

LATER = "import pathlib, sys, torch\nprint(SEEN, torch.seen, sys.seen)\nprint(pathlib.Path('seen.txt').read_text())"
"""What a cell below tries to show of it."""


def hand_in_thief(course: Course, student: str, body: str) -> None:
    source = f"# katze: {EXERCISE.id} answer\nSEEN = []\ndef {EXERCISE.name}(q, k):\n{body}\n"
    insert_cell(answer(course, student, {"attention-scores-answer": source}), LAST, LATER)


def pairs_of(cases: list[Case]) -> set[Pair]:
    """Numbers of these inputs that stand side by side, to four decimals, rounded and cut off, without their sign.

    Tiny ones are left out: seconds, which are shown, are often as small.
    """
    found: set[Pair] = set()
    for tensor in (arg for case in cases for arg in case.args if isinstance(arg, Tensor)):
        values = [abs(float(value)) for value in tensor.flatten().tolist()]
        found |= set(itertools.pairwise(f"{value:.4f}" for value in values))
        found |= set(itertools.pairwise(f"{value:.9f}"[:-5] for value in values))
    return {pair for pair in found if not any(number.endswith(".0000") or float(number) < 0.01 for number in pair)}


def pairs_in(content: bytes) -> set[Pair]:
    """Numbers that stand side by side in a file."""
    numbers = [number.decode() for number in re.findall(rb"(?<![\d.])\d+\.\d{4}", content)]
    return set(itertools.pairwise(numbers))


@pytest.fixture(scope="module")
def course(processes: None, tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = make_course(tmp_path_factory.mktemp("course"))
    for student, body in WAYS.items():
        hand_in_thief(course, student, body)
    (course.root / "build").mkdir()
    where = ["--course", str(course.root)]
    assert main(["grade", LESSON, *where, "--workers", "2", "--json", str(course.root / "build" / "grades.json")]) == 0
    assert main(["report", LESSON, str(course.root / "build" / "report.html"), *where]) == 0
    for student in WAYS:
        assert (
            main(["log", student, LESSON, "--all", "--json", str(course.root / f"build/{student}.json"), *where]) == 0
        )
    return course


def shown(course: Course, student: str) -> list[Path]:
    """Every file that a student or an instructor looks at."""
    folders = [folder / student for folder in (course.feedback, course.autograded)]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [*files, course.gradebook, *(course.root / "build").glob("*.*")]


@pytest.mark.parametrize("student", WAYS)
def test_no_number_of_a_hidden_case_is_in_anything_that_is_shown(course: Course, student: str) -> None:
    key = AnswerKeys(course.secret()).key(EXERCISE, student)
    secret = pairs_of(key.hidden) - pairs_of(key.visible)
    assert len(secret) > 100
    files = shown(course, student)
    assert {path.suffix for path in files} >= {".html", ".ipynb", ".db", ".json"}
    for path in files:
        assert pairs_in(path.read_bytes()) & secret == set(), path


def test_visible_inputs_are_found_where_the_hidden_ones_are_looked_for(course: Course) -> None:
    visible = pairs_of(AnswerKeys(course.secret()).key(EXERCISE, "says").visible)
    page = course.feedback / "says" / LESSON / f"{LESSON}.html"
    assert len(pairs_in(page.read_bytes()) & visible) >= 2


def test_they_would_be_found_however_they_are_printed() -> None:
    """For one fixed secret: among other numbers there are tiny ones, which are left out."""
    hidden = AnswerKeys(b"a" * 32).key(EXERCISE, "says").hidden
    query = hidden[0].args[0]
    assert isinstance(query, Tensor)
    for printed in (str(query), str(query.tolist()), json.dumps(query.tolist())):
        assert pairs_in(printed.encode()) <= pairs_of(hidden)
        assert len(pairs_in(printed.encode())) >= query.numel() - 1
