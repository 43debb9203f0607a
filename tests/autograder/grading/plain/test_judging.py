"""Verdicts on test cells: nbgrader's points, and a sentence that tells nothing of a hidden test."""

import re
from dataclasses import replace
from typing import Any

import pytest

from autograder.box.endings import BoxLost
from autograder.box.protocol import CellResult
from autograder.gradebook.lesson import GradedCell
from autograder.grading.plain.assignment import MasterCell
from autograder.grading.plain.judging import Judged, judge
from course_lib.judging.observation import Outcome, Raised

SOURCE = """\
assert f(1) == 2
### BEGIN HIDDEN TESTS
assert f(-1) == 0
### END HIDDEN TESTS
assert f(3) == 4
"""


ROW = GradedCell("f", "code", True, False, False, True, 2.0, SOURCE, "")
TEST = MasterCell("code", "assert f(1) == 2\nassert f(3) == 4", {"grade": True, "grade_id": "f"}, ROW, {})


def raised(name: str, message: str = "", code: str = "", failure: Outcome = Outcome.RAISED) -> CellResult:
    error = {"output_type": "error", "ename": name, "evalue": message, "traceback": []}
    return CellResult([error], False, Raised(name, message, 1, code), failure)


def result(value: str) -> dict[str, Any]:
    return {"output_type": "execute_result", "data": {"text/plain": value}, "metadata": {}, "execution_count": 1}


def stderr(said: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stderr", "text": said}


@pytest.mark.parametrize(
    ("ended", "judged"),
    [
        (CellResult([], True), Judged(Outcome.PASSED, 2)),
        (CellResult([result("2")], True), Judged(Outcome.PASSED, 2)),
        (CellResult([result("0.5")], True), Judged(Outcome.WRONG, 0.5, "Partial credit: 0.5 of 2 points.")),
        (
            CellResult([stderr("careful\n")], True),
            Judged(Outcome.WRONG, 0, "It wrote to stderr, which counts as a failure: careful"),
        ),
        (raised("AssertionError", "should be 2"), Judged(Outcome.WRONG, 0, "should be 2")),
        (
            raised("AssertionError", "", "assert f(3) == 4"),
            Judged(Outcome.WRONG, 0, "`assert f(3) == 4` failed."),
        ),
        (raised("AssertionError", "", "assert f(-1) == 0"), Judged(Outcome.WRONG, 0, "A hidden test failed.")),
        (
            raised("AssertionError", "not for negative ones", "assert f(-1) == 0"),
            Judged(Outcome.WRONG, 0, "A hidden test failed: not for negative ones"),
        ),
        (raised("NameError", "no f", "assert f(1) == 2"), Judged(Outcome.RAISED, 0, "NameError: no f")),
        (
            raised("NotImplementedError", failure=Outcome.NOT_ATTEMPTED),
            Judged(Outcome.NOT_ATTEMPTED, 0, "NotImplementedError"),
        ),
        (
            CellResult([result("2"), result("nothing")], True, number=0.5),
            Judged(Outcome.WRONG, 0.5, "Partial credit: 0.5 of 2 points."),
        ),
        (CellResult([], True, number=-1.0), Judged(Outcome.PASSED, 2)),
        (replace(raised("ValueError", "no"), outputs=[result("2")]), Judged(Outcome.RAISED, 0, "ValueError: no")),
        (
            CellResult([result("3.5")], True),
            Judged(
                Outcome.UNGRADED,
                None,
                "This could not be graded: the test f gives 3.5 points, but is worth 2. An instructor has to fix it.",
            ),
        ),
        (BoxLost(Outcome.TIMED_OUT, "it slept"), Judged(Outcome.TIMED_OUT, 0, "It was stopped: it slept.")),
        ("time was up", Judged(Outcome.TIMED_OUT, 0, "It was not run: time was up.")),
    ],
)
def test_a_verdict(ended: CellResult | BoxLost | str, judged: Judged) -> None:
    assert judge(TEST, ended) == judged


def test_what_nbgrader_is_told_to_ignore_on_stderr_is_ignored() -> None:
    ended = CellResult([stderr("FutureWarning: soon")], True)
    assert judge(TEST, ended, re.compile("FutureWarning")) == Judged(Outcome.PASSED, 2)
    assert judge(TEST, ended, re.compile("Deprecation")).points == 0
