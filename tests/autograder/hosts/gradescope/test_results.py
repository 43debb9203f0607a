"""What Gradescope is told: nothing without a score, nothing of a hidden case, and what the course has decided."""

from pathlib import Path
from typing import Any

import pytest

from autograder.course.semester import SEMESTER_NAME
from autograder.gradebook.changes.adjustments import adjusted
from autograder.gradebook.record import Record
from autograder.grading.assignment import Assignment
from autograder.grading.exercise_strategy import show_verdicts
from autograder.hosts.gradescope.results import points_by_hand, results_of
from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.judge import judge
from course_lib.judging.observation import Outcome, observe
from course_lib.judging.verdict import Verdict
from tests.autograder.records import exercise_record, record
from tests.autograder.small_class import LESSON, make_course

SEED = 28


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return load(tmp_path)


def load(folder: Path, terms: str = "") -> Assignment:
    (folder / SEMESTER_NAME).write_text(terms)
    course = make_course(folder)
    return Assignment.load(course, LESSON, skip_demos=True, feedback=False)


def graded(assignment: Assignment, points: float | None = None) -> Record:
    """A record in which each exercise has these points, by default all."""
    return record(
        "ada",
        LESSON,
        [
            exercise_record(one.id, float(one.points) if points is None else points, one.points, Outcome.PASSED)
            for one in assignment.exercises
        ],
    )


def notebook(*verdicts: Verdict) -> dict[str, Any]:
    """A graded notebook's checks."""
    shown = show_verdicts({one.exercise.id: one for one in verdicts})
    return {
        "cells": [
            {"metadata": {"katze": {"kind": "check", "exercise": name}}, "outputs": outputs}
            for name, outputs in shown.items()
        ]
    }


def test_of_hidden_cases_only_their_number_is_told(assignment: Assignment) -> None:
    [exercise] = [one for one in assignment.exercises if one.id == "attention.scale"]
    visible = AnswerKey(exercise)
    seen = [case.args for case in visible.cases]

    def learned_by_heart(scores: Any, d_head: Any) -> Any:
        known = any(args[0].shape == scores.shape and bool((args[0] == scores).all()) for args in seen)
        return exercise.reference(scores, d_head) if known else scores

    verdict = judge(AnswerKey(exercise, SEED), lambda case: observe(learned_by_heart, case))
    assert [case.passed for case in verdict.cases if not case.hidden] == [True] * len(visible.cases)
    assert not all(case.passed for case in verdict.cases)
    results = results_of(assignment, graded(assignment, 0.0), notebook(verdict))
    [told] = [one["output"] for one in results["tests"] if f"({exercise.id})" in one["name"]]
    assert "hidden cases: " in told
    assert "called" not in told
    assert "got " not in told


@pytest.mark.parametrize("places", [[0], [1, 2], slice(1, None), slice(None)])
def test_what_has_no_score_is_told_and_never_added_up(assignment: Assignment, places: list[int] | slice) -> None:
    exercises = list(graded(assignment).exercises)
    lost = exercises[places] if isinstance(places, slice) else [exercises[place] for place in places]
    ungraded = {
        one.exercise: exercise_record(one.exercise, None, int(one.max_points), Outcome.UNGRADED) for one in lost
    }
    partly = record("ada", LESSON, [ungraded.get(one.exercise, one) for one in exercises])
    if lost == exercises:
        with pytest.raises(ValueError, match="no score for ada"):
            results_of(assignment, partly, notebook())
        return
    results = results_of(assignment, partly, notebook())
    names = [one.exercise for one in lost]
    scored = [one for one in results["tests"] if "score" in one]
    assert [one["name"].partition("(")[2].rstrip(")") for one in results["tests"] if one not in scored] == names
    assert not any({"max_score", "status"} & one.keys() for one in results["tests"] if one not in scored)
    assert results["score"] == sum(one["score"] for one in scored) > 0
    most = sum(one["max_score"] for one in scored)
    assert results["output"].startswith(f"{LESSON}: {results['score']:g} of {most:g} point")
    assert all(f"for {name}, which could not be graded: not a zero" in results["output"] for name in names)


def test_decisions_about_exercises_count_and_are_told(tmp_path: Path) -> None:
    terms = '[exercises."attention.scale"]\ndrop = true\n[exercises."attention.weights"]\nextra_credit = true\n'
    assignment = load(tmp_path, terms)
    results = results_of(assignment, adjusted(graded(assignment), assignment.adjustments), notebook())
    tests = {one["name"].partition("(")[2].rstrip(")"): one for one in results["tests"]}
    assert (tests["attention.scale"]["score"], tests["attention.scale"]["max_score"]) == (0, 0)
    assert "dropped" in tests["attention.scale"]["output"]
    assert tests["attention.weights"]["max_score"] == 0 < tests["attention.weights"]["score"]
    assert results["score"] == sum(one["score"] for one in results["tests"])


def test_what_was_mended_and_what_a_person_reads_stands_above_the_tests(assignment: Assignment) -> None:
    mended = record("ada", LESSON, graded(assignment).exercises, repairs=("A check was put back.",))
    said = results_of(assignment, mended, notebook())["output"]
    assert "A check was put back." in said
    assert f"{points_by_hand(assignment):g} more points for written answers" in said
