"""Hints open one by one, and a named mistake chooses the first."""

from dataclasses import replace
from pathlib import Path

import pytest

from course_lib import exercises
from course_lib.judging.exercise import DEPTHS, Exercise, Hint
from course_lib.learner import solutions
from course_lib.learner.hints import next_hint
from course_lib.learner.progress_file import progress_file

ATTENTION = exercises.find("attention.scaled_dot_product")


def opened() -> str:
    """All that a further call shows, in one line."""
    panel = next_hint(ATTENTION)
    return " ".join(panel.text().split())


def test_each_call_opens_one_more_and_keeps_the_earlier_ones() -> None:
    texts = [" ".join(hint.steps[0].split()) for hint in ATTENTION.hints]
    for number in (1, 2, 3):
        shown = opened()
        assert [text in shown for text in texts] == [place < number for place in range(3)]
        assert f"{number} of 3" in shown
    assert progress_file().of(ATTENTION.id).hints == tuple(DEPTHS)


def test_after_the_last_one_it_points_to_the_solution_and_notes_nothing_more() -> None:
    assert f'For the next hint run `hint("{ATTENTION.id}")` again.' in opened()
    opened()
    last = opened()
    assert f'That was the last hint. `solution("{ATTENTION.id}")` shows how it is done, and why.' in last
    assert opened() == last
    assert len(progress_file().of(ATTENTION.id).hints) == 3


def test_without_solutions_the_last_hint_is_the_last_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solutions, "SOLVED", tmp_path / "none")
    opened()
    opened()
    assert opened().endswith("That was the last hint.")


def test_the_mistake_that_was_named_chooses_the_first_hint() -> None:
    progress_file().note_check(ATTENTION.id, 0, False, "scaled_after_softmax")
    assert "Step by step" in opened()
    assert "The idea" in opened(), "then the shallowest that is left"
    assert ATTENTION.next_hint("no_softmax+softmax_over_queries", ()).depth == "shapes", "of two, either chooses"


def test_an_exercise_without_hints_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert next_hint(replace(ATTENTION, hints=())) is None
    assert capsys.readouterr().out == f"There are no hints for {ATTENTION.id}.\n"


@pytest.mark.usefixtures("no_folder")
def test_where_nothing_can_be_kept_hints_climb_all_the_same() -> None:
    first, second = opened(), opened()
    assert ("1 of 3" in first, "2 of 3" in second) == (True, True)
    assert ("KATZE_WORK" in first, "KATZE_WORK" in second) == (True, False), "once is enough"


def with_hints(*hints: Hint) -> Exercise:
    return replace(ATTENTION, hints=hints)


def test_hints_climb_and_answer_mistakes_that_there_are() -> None:
    idea, outline = Hint("idea", "Think."), Hint("outline", "One.\nTwo.")
    assert with_hints(idea, outline).hints[1].steps == ["One.", "Two."]
    for wrong in ([outline, idea], [idea, idea], [Hint("answer", "x + x")]):
        with pytest.raises(ValueError, match="hints go from idea to shapes to outline, each at most once"):
            with_hints(*wrong)
    with pytest.raises(ValueError, match=r"the hint 'idea' is empty or answers unknown \['sqared'\]"):
        with_hints(Hint("idea", "Think.", ("sqared",)))
    with pytest.raises(ValueError, match="the hint 'idea' is empty"):
        with_hints(Hint("idea", " "))
