"""What a check leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_lib import exercises
from course_lib.checking import Outcome, Verdict, check
from course_lib.learner.noting import noted
from course_lib.learner.progress_file import progress_file

SCORES = exercises.find("attention.scores")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KATZE_WORK", str(tmp_path))
    return tmp_path


def test_a_line_of_progress_stands_at_the_end_of_every_verdict() -> None:
    verdict = check(SCORES.id, lambda q, k: q @ k.transpose(-2, -1))
    assert verdict is not None
    assert "01 Attention: 1 of 8 exercises, 2 of 17 points. Next: " in str(verdict).replace("\n  ", " ")
    assert "01 Attention: 1 of 8 exercises" in verdict.html()


def test_a_named_mistake_is_remembered() -> None:
    verdict = check(SCORES.id, lambda q, k: (q @ k.transpose(-2, -1)).transpose(-2, -1))
    assert verdict is not None
    assert verdict.misconception is not None
    assert progress_file().of(SCORES.id).mistake == verdict.misconception.id


@pytest.mark.parametrize("outcome", [Outcome.NOT_ATTEMPTED, Outcome.NEVER_DEFINED])
def test_what_nobody_has_written_is_no_failure(outcome: Outcome) -> None:
    noted(Verdict(SCORES, outcome, 0.0), [])
    assert progress_file().read() == {}


def test_where_nothing_can_be_kept_the_verdict_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("KATZE_WORK", str(folder / "file"))
    verdict = noted(Verdict(SCORES, Outcome.PASSED, 2.0), ["def dot_product_scores(q, k):\n    return q"])
    assert "KATZE_WORK" in verdict.closing[-1]
    assert verdict.points == 2.0
