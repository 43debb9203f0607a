"""What a check leaves behind."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from torch import Tensor

from course_lib import exercises
from course_lib.checking import check, hint
from course_lib.judging.observation import Outcome
from course_lib.judging.verdict import Verdict
from course_lib.learner import noting, solutions
from course_lib.learner.noting import noted
from course_lib.learner.progress_file import progress_file

SCORES = exercises.find("attention.scores")


def test_a_line_of_progress_stands_at_the_end_of_every_verdict() -> None:
    verdict = check(SCORES.id, lambda q, k: q @ k.transpose(-2, -1))
    lesson = exercises.of_lesson("01_attention")
    done = f"01 Attention: 1 of {len(lesson)} exercises"
    progress = f"{done}, 1 of {sum(one.points for one in lesson)} points, 0 of 1 written answers compared. Next: "
    assert progress in str(verdict).replace("\n  ", " ")
    assert done in verdict.html()


def test_a_named_mistake_is_remembered() -> None:
    verdict = check(SCORES.id, lambda q, k: (q @ k.transpose(-2, -1)).transpose(-2, -1))
    assert progress_file().of(SCORES.id).mistake == verdict.misconception.id


@pytest.mark.parametrize("outcome", [Outcome.NOT_ATTEMPTED, Outcome.NEVER_DEFINED])
def test_what_nobody_has_written_is_no_failure(outcome: Outcome) -> None:
    noted(Verdict(SCORES, outcome, 0.0), [])
    assert progress_file().read() == {}


@pytest.mark.usefixtures("no_folder")
def test_where_nothing_can_be_kept_the_verdict_says_so() -> None:
    verdict = noted(Verdict(SCORES, Outcome.PASSED, 2.0), ["def dot_product_scores(q, k):\n    return q"])
    assert "KATZE_WORK" in verdict.closing[-1]
    assert verdict.points == 2.0


def wrong_again(times: int = 1) -> str:
    """What the last of some failed checks says at its end."""
    for _ in range(times):
        verdict = check(SCORES.id, lambda q, k: q @ q.transpose(-2, -1))
    return "\n".join(verdict.closing)


def test_from_the_second_failure_on_the_next_hint_is_offered() -> None:
    assert "hint(" not in wrong_again()
    told = wrong_again()  # the verdict folds in the first
    assert 'Stuck? Add `print(hint("attention.scores"))` at the end and run this again: it says what goes' in told
    hint(SCORES.id)
    assert "it says what goes in and comes out." not in wrong_again()


@pytest.mark.parametrize("notebook", ["Jupyter", "marimo"])
def test_a_notebook_is_offered_help_in_a_cell(notebook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if notebook == "marimo":
        monkeypatch.setitem(sys.modules, "marimo", SimpleNamespace(running_in_notebook=lambda: True))
    else:
        monkeypatch.setattr(noting, "running_shell", object)
    assert 'Stuck? Run `hint("attention.scores")` in a new cell: it says what goes' in wrong_again(times=2)


def test_a_named_mistake_gets_a_hint_from_the_second_failure_on() -> None:
    def folded(answer: Callable[[Tensor, Tensor], Tensor]) -> str:
        verdict = check(SCORES.id, answer)
        return verdict.hint.depth if verdict.hint is not None else ""

    def transposed(q: Tensor, k: Tensor) -> Tensor:
        return k @ q.transpose(-2, -1)

    assert folded(transposed) == ""
    meant = SCORES.next_hint(progress_file().of(SCORES.id).mistake)
    assert [folded(transposed), folded(transposed)] == [meant.depth] * 2
    assert folded(lambda q, k: q @ k.transpose(-2, -1)) == ""
    assert folded(transposed) == ""
    assert folded(lambda q, k: (q @ k.transpose(-2, -1)).sin()) == "idea"


def test_what_was_right_before_is_said_to_have_been() -> None:
    assert "right before" not in wrong_again()
    right = check(SCORES.id, lambda q, k: q @ k.transpose(-2, -1))
    assert "right before" not in "".join(right.closing)
    assert wrong_again().startswith("You had this right before, and that still counts.")


def test_after_the_last_hint_the_solution_is_offered_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in SCORES.hints:
        hint(SCORES.id)
    assert 'print(solution("attention.scores"))' in wrong_again(2)
    monkeypatch.setattr(solutions, "SOLVED", tmp_path / "none")
    told = wrong_again()
    assert "solution(" not in told
    assert "hint(" not in told


def test_nothing_is_offered_to_whoever_passes_or_has_written_nothing() -> None:
    wrong_again(2)
    passed = check(SCORES.id, lambda q, k: q @ k.transpose(-2, -1))
    assert "hint(" not in "".join(passed.closing)
    wrong_again()
    blank = noted(Verdict(SCORES, Outcome.NOT_ATTEMPTED, 0.0), [])
    assert "hint(" not in "".join(blank.closing)
