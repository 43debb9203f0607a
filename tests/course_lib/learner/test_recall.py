"""Questions that look back: read, refused, shown, counted, and asked again later.

Tests `recall.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from course_lib.checking import progress, recall
from course_lib.exercises import COURSE
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.errors import UnusableExercises
from course_lib.learner.progress_file import progress_file
from course_lib.learner.recall import LETTERS, OPENING, QUESTIONS, questions_of

PAGE = """\
## Two shapes
What comes out?

```python
torch.ones(2, 1) + torch.ones(3)
```

- [ ] `[3]`
  The first operand is not *dropped*: a < b.
- [x] `[2, 3]`
  Both are
  repeated.
"""
LESSONS = [page.stem for page in sorted(QUESTIONS.glob("*.md"))]


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    (tmp_path / "questions").mkdir()
    return Catalogue({"01_own": "own"}, tmp_path)


def write(catalogue: Catalogue, page: str) -> None:
    assert catalogue.folder is not None
    (catalogue.folder / "questions" / "01_own.md").write_text(page, encoding="utf-8")


def test_a_page_is_shown_without_a_kernel(catalogue: Catalogue) -> None:
    assert questions_of(catalogue, "01_own") is None, "a lecturer leaves questions out by leaving the page out"
    write(catalogue, f"# Ours\n\nTry these.\n\n{PAGE}")
    page = questions_of(catalogue, "01_own")
    assert page is not None
    shown = page.markdown()
    assert shown.startswith(
        "# Ours\n\nTry these.\n\n**1. Two shapes**\n\nWhat comes out?\n\n```python\ntorch.ones(2, 1)"
    )
    folded = (
        "\n\n<details><summary>a) <code>[3]</code></summary><p>✗ Wrong. The first operand is not <em>dropped</em>: "
        "a &lt; b.</p></details>\n<details><summary>b) <code>[2, 3]</code></summary><p>✓ Right. Both are repeated."
        "</p></details>"
    )
    assert shown.endswith(folded)
    write(catalogue, PAGE)
    page = questions_of(catalogue, "01_own")
    assert page is not None
    assert page.markdown().startswith(OPENING)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (PAGE, "Only words.\n", "01_own.md has no questions"),
        ("[x]", "[ ]", "question 1 (“Two shapes”): 0 of its choices are right; mark one"),
        ("[ ]", "[x]", "2 of its choices are right"),
        ("  Both are\n  repeated.\n", "", "the choice “`[2, 3]`” has no reason"),
        ("- [ ] `[3]`\n  The first operand is not *dropped*: a < b.\n", "", "it has 1 choices; write 2 to 8"),
        ("## Two shapes", "## ", "it has no title"),
        (PAGE[PAGE.index("What") : PAGE.index("- [ ]")], "", "no text between its title and its choices"),
        (PAGE, f"{PAGE}\n## Second\nMore?\n", "question 2 (“Second”): it has 0 choices"),
    ],
)
def test_a_page_that_is_not_complete_says_where(catalogue: Catalogue, old: str, new: str, said: str) -> None:
    write(catalogue, PAGE.replace(old, new))
    with pytest.raises(UnusableExercises, match=re.escape(said)):
        questions_of(catalogue, "01_own")


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_course_asks_fairly(lesson: str) -> None:
    """No letter, no length and no formula in HTML gives an answer away, or is lost."""
    page = questions_of(COURSE, lesson)
    assert page is not None
    assert lesson in COURSE.modules
    for question in page.questions:
        assert len({choice.text for choice in question.choices}) == len(question.choices)
        assert not any("$" in choice.text + choice.reason for choice in question.choices)
        right, *wrong = sorted(question.choices, key=lambda choice: not choice.right)
        assert len(right.text) <= 1.5 * max(len(choice.text) for choice in wrong) + 8, question.title
    assert max(Counter(right_letters(lesson)).values()) <= max(2, len(page.questions) // 3)


def right_letters(lesson: str) -> str:
    page = questions_of(COURSE, lesson)
    assert page is not None
    return "".join(LETTERS[[one.right for one in question.choices].index(True)] for question in page.questions)


def wrong_letters(lesson: str) -> str:
    return "".join("b" if letter == "a" else "a" for letter in right_letters(lesson))


def test_the_first_answers_count_and_wrong_ones_get_their_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KATZE_WORK", str(tmp_path))
    lesson = LESSONS[1]
    right, page = right_letters(lesson), questions_of(COURSE, lesson)
    assert page is not None
    number = len(right)
    for letters in ("", right[:-1], f"{right[:-1]}z", f"{right}a"):
        recall(lesson, letters)
        assert capsys.readouterr().out.startswith(f"Write {number} letters")
    assert progress_file().of(lesson).questions == 0, "what is incomplete does not count"
    recall(lesson, f"- {wrong_letters(lesson)[1]} {' '.join(right[2:])}".upper())
    first, second, *_, last = capsys.readouterr().out.splitlines()
    assert first == f"1. {page.questions[0].title}: left out."
    assert second.startswith(f"2. {page.questions[1].title}: not {wrong_letters(lesson)[1]}. ")
    assert last == f"{number - 2} of {number} right."
    recall(lesson, right)
    said = f"{number} of {number} right. (At first it was {number - 2}: that is what counts.)\n"
    assert capsys.readouterr().out == said
    assert progress_file().of(lesson).missed == (1, 2)
    shown = progress()
    assert shown is not None
    assert shown.detailed.lesson == lesson
    assert f"{number - 2} of {number} looking back" in shown.text()
    assert "looking back" in shown.html()
    recall("1_attention", "a")
    assert "did you mean 01_attention" in capsys.readouterr().out
