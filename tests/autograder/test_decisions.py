"""What a course decides about an exercise after grading: it counts at once, in every place, and nothing is run for it.

Tests `answers.py` and `adjustments.py` as well.
"""

import dataclasses

import pytest
import torch
from nbgrader.api import Gradebook

from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook.grades import read_grades
from autograder.gradebook.results import ClassResult
from autograder.grading.batch import grade_assignment
from autograder.log import story_of
from autograder.pages.class_report import class_page
from autograder.pages.export import export
from tests.autograder.small_class import CHECKED, LESSON, by_student, give, nbgrader_s, page, replace_exercise, why
from tests.autograder.small_gradebook import set_terms

ALL = 17
"""What ada has; hana has 11, with nothing for attention.scale, which is worth 1; zora could not be read."""

pytestmark = pytest.mark.usefixtures("steady_versions")


def decide(course: Course, *lines: str, exercise: str = "attention.scale") -> Course:
    """The course, with these lines about an exercise in its `course.toml`."""
    return set_terms(course, "\n".join([f'[exercises."{exercise}"]', *lines]))


def points(result: ClassResult) -> dict[str, float | None]:
    return {name.partition("_")[0]: one.total for name, one in by_student(result).items()}


def assert_all_agree(course: Course, result: ClassResult) -> None:
    """Katze's own standings, and nbgrader's sums and maximum, are those of the run."""
    [found] = read_grades(course, [LESSON]).values()
    assert {one.student: one.total for one in found} == {one.student: one.total for one in result.submissions}
    assert nbgrader_s(course) == {one.student: one.total or 0.0 for one in result.submissions}
    with Gradebook(f"sqlite:///{course.gradebook}") as book:
        assert {one.most for one in found} == {book.find_assignment(LESSON).max_score}


@pytest.mark.usefixtures("no_sandboxes")
class TestByArithmetic:
    @pytest.mark.parametrize(
        ("line", "expected", "most", "said"),
        [
            ("drop = true", {"ada": 16, "hana": 11, "ben": 0}, CHECKED - 1, "was dropped: it counts for nobody"),
            ("full_credit = true", {"ada": 17, "hana": 12, "ben": 1}, CHECKED, "Everyone gets full points"),
            ("extra_credit = true", {"ada": 17, "hana": 11, "ben": 0}, CHECKED - 1, "This exercise is extra"),
        ],
    )
    def test_it_counts_everywhere_and_can_be_taken_back(
        self, course: Course, line: str, expected: dict[str, float], most: float, said: str
    ) -> None:
        before = {name: page(course, name) for name in ("ada_reference", "ben")}
        decided = grade_assignment(decide(course, line), LESSON)
        assert decided.gradings == {}
        assert points(decided) == {**expected, "zora": None}
        assert by_student(decided)["ada_reference"].max_points == most
        assert_all_agree(course, decided)
        assert any(notice.startswith("counted anew, attention.scale: ") for notice in decided.notices)
        assert said in page(course, "ada_reference")
        assert said in page(course, "ben")
        assert "attention.scale: " in class_page(course, LESSON)
        told = export(read_grades(course, [LESSON])).remarks
        assert any("attention.scale: " in remark for remark in told)
        kinds = [event["kind"] for event in story_of(course, "ben", LESSON)["history"]]
        assert kinds == ["graded", *(["counted anew"] if most != CHECKED or line.startswith("full") else [])]

        assert grade_assignment(course, LESSON).notices == ("counted anew, attention.scale: as judged",)
        undone = grade_assignment(course, LESSON)
        assert undone.notices == ()
        assert points(undone) == {"ada": ALL, "hana": 11, "ben": 0, "zora": None}
        assert_all_agree(course, undone)
        assert {name: page(course, name) for name in before} == before

    def test_an_answer_is_accepted_by_the_digest_that_log_prints(self, course: Course) -> None:
        [digest] = [
            one["answer"]
            for one in story_of(course, "ben", LESSON)["exercises"]
            if one["exercise"] == "attention.scale"
        ]
        decided = grade_assignment(decide(course, f'accept = ["{digest}"]'), LESSON)
        assert points(decided) == {"ada": ALL, "hana": 11, "ben": 1, "zora": None}
        assert_all_agree(course, decided)
        assert "Your answer was accepted" in page(course, "ben")
        assert "accepted" not in page(course, "hana_slides_numbers")

    def test_an_answer_is_accepted_as_a_file_that_differs_in_comments_alone(self, course: Course) -> None:
        path = course.root / "accepted" / "scale.py"
        path.parent.mkdir()
        path.write_text(
            'def scale_scores(scores, d_head):\n    """Near."""\n\n    return (scores / d_head**0.5) * 1.0005  # !\n'
        )
        assert points(grade_assignment(decide(course, 'accept = ["accepted/scale.py"]'), LESSON))["ben"] == 1

    def test_the_empty_stub_is_no_answer_to_accept(self, course: Course) -> None:
        [digest] = [
            one["answer"]
            for one in story_of(course, "ben", LESSON)["exercises"]
            if one["exercise"] == "attention.scores"
        ]
        assert digest
        decided = decide(course, f'accept = ["{digest}"]', exercise="attention.scores")
        assert points(grade_assignment(decided, LESSON))["ben"] == 0

    def test_a_question_in_words_can_be_dropped_and_given_to_everyone(self, course: Course) -> None:
        written = "attention.why_scale"
        full = grade_assignment(decide(course, "full_credit = true", exercise=written), LESSON)
        assert points(full) == {"ada": ALL + 2, "hana": 13, "ben": 2, "zora": None}
        assert by_student(full)["ben"].waiting == ()
        assert_all_agree(course, full)
        assert "attention.why_scale: Everyone gets full points" in page(course, "ben")
        dropped = grade_assignment(decide(course, "drop = true", exercise=written), LESSON)
        assert points(dropped) == {"ada": ALL, "hana": 11, "ben": 0, "zora": None}
        assert_all_agree(course, dropped)
        assert f"of {CHECKED:g} points" in page(course, "ben")
        with pytest.raises(BadInput, match="is read by a person: only drop, full_credit and extra_credit"):
            grade_assignment(decide(course, "never_lower = true", exercise=written), LESSON)

    def test_points_by_hand_for_an_exercise_that_is_dropped_are_back_when_it_counts(self, course: Course) -> None:
        give(course, "ben", "attention-scale-check", manual_score=0.5)
        assert points(grade_assignment(course, LESSON))["ben"] == 0.5
        dropped = grade_assignment(decide(course, "drop = true"), LESSON)
        assert points(dropped)["ben"] == 0
        assert any("the points given by hand to 1 student are kept" in notice for notice in dropped.notices)
        assert_all_agree(course, dropped)
        (course.root / "course.toml").unlink()
        back = grade_assignment(Course.find(course.root), LESSON)
        assert points(back)["ben"] == 0.5
        assert_all_agree(course, back)


def test_a_tolerance_judges_its_exercise_anew_and_no_other(course: Course) -> None:
    wider = decide(course, "tolerance = { relative = 1e-3 }")
    judged = grade_assignment(wider, LESSON, workers=2)
    reason = "attention.scale: its tolerance the exercise's -> 0.001 of the largest number"
    assert set(why(judged).values()) == {(reason,)}
    assert points(judged) == {"ada": ALL, "hana": 11, "ben": 1, "zora": None}
    assert_all_agree(course, judged)
    assert "may be 0.001 of the largest number away from the reference" in page(course, "ben")
    assert grade_assignment(wider, LESSON).gradings == {}


def test_never_lower_keeps_what_a_submission_had_and_not_what_another_one_had(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unscaled(scores: torch.Tensor, d_head: int) -> torch.Tensor:
        return scores.clone()

    replace_exercise(
        monkeypatch, "attention.scale", lambda one: dataclasses.replace(one, reference=unscaled, misconceptions=())
    )
    keeping = decide(course, "never_lower = true")
    again = grade_assignment(keeping, LESSON, workers=2)
    assert "ada_reference" in again.gradings
    assert again.gradings["ada_reference"].changes == () or points(again)["ada"] == ALL
    assert points(again)["ada"] == ALL
    assert_all_agree(course, again)
    assert "It keeps the 1 point that it had; graded again, it would have 0 points." in page(course, "ada_reference")
    (course.root / "course.toml").unlink()
    assert points(grade_assignment(Course.find(course.root), LESSON))["ada"] == ALL - 1
    assert points(grade_assignment(decide(course, "never_lower = true"), LESSON))["ada"] == ALL

    path = course.submitted / "ada_reference" / LESSON / f"{LESSON}.ipynb"
    path.write_bytes(path.read_bytes() + b"\n")  # handed in again
    assert points(grade_assignment(keeping, LESSON))["ada"] == ALL - 1
