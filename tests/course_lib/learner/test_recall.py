"""Questions that look back: read, refused, shown, counted, and asked again later."""

import re
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from course_lib.checking import progress, recall
from course_lib.decoding.beam import penalty
from course_lib.exercises import COURSE
from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.errors import UnusableExercises
from course_lib.learner.progress_file import progress_file
from course_lib.learner.progress_map import progress_map
from course_lib.learner.recall import LETTERS, OPENING, QUESTIONS, older_questions, questions_of
from course_lib.masking import causal_mask
from course_lib.references.die_katze import choose_checkpoint
from course_lib.references.evaluation import brevity_penalty

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
    assert lesson in COURSE.modules
    for question in page.questions:
        assert len({choice.text for choice in question.choices}) == len(question.choices)
        assert not any("$" in choice.text + choice.reason for choice in question.choices)
        right, *wrong = sorted(question.choices, key=lambda choice: not choice.right)
        assert len(right.text) <= 1.5 * max(len(choice.text) for choice in wrong) + 8, question.title
    assert max(Counter(right_letters(lesson)).values()) <= max(2, len(page.questions) // 3)


def longer_wins(alpha: float) -> bool:
    return -4.0 / penalty(7, alpha) > -2.5 / penalty(1, alpha)


@pytest.mark.parametrize(
    ("lesson", "number", "computed"),
    [
        ("01_attention", 4, F.cross_entropy(torch.tensor([[1.0, 0.0]]), torch.tensor([0])).item()),
        ("02_masking", 4, 0.5 * 0.5 / (0.99 * 0.01)),
        ("03_positions", 4, int((causal_mask(5) & (torch.arange(5) < 3)).sum())),
        ("03_positions", 5, (64 * 2.0**2 * 2.0**2) ** 0.5),
        ("06_decoding", 2, torch.tensor([0.5, 0.5, 0.125, 0.125]).log().mean().neg().exp().item()),
        ("07_gpt", 3, 9 ** (1 / 0.5)),
        ("07_gpt", 5, max(alpha for alpha in (0.0, 0.5, 1.0) if longer_wins(alpha))),
        ("09_bert", 4, 1000**2 / 400**2),
        ("10_evaluation", 4, torch.tensor([2.0, 2.0, 5.0, 5.0]).softmax(0)[2].item()),
        ("11_die_katze", 1, 2 / (8 / 6 + 10 / 6)),
        ("11_die_katze", 3, 100 * brevity_penalty(8, 10)),
        ("12_since_2017", 1, (10 * 2 + 30 * 4) / 40),
        ("12_since_2017", 3, [5, 4, 4.2, 3.9, 4.0, 4.1][choose_checkpoint([5, 4, 4.2, 3.9, 4.0, 4.1, 3.8], 2)[0]]),
    ],
)
def test_the_right_number_is_right(lesson: str, number: int, computed: float) -> None:
    page = questions_of(COURSE, lesson)
    [right] = [choice.text for choice in page.questions[number - 1].choices if choice.right]
    found = re.search(r"[\d.]+", right)
    assert float(found[0]) == pytest.approx(computed, rel=0.02)


def right_letters(lesson: str) -> str:
    page = questions_of(COURSE, lesson)
    return "".join(LETTERS[[one.right for one in question.choices].index(True)] for question in page.questions)


def wrong_letters(lesson: str) -> str:
    return "".join("b" if letter == "a" else "a" for letter in right_letters(lesson))


def test_the_first_answers_count_and_wrong_ones_get_their_reason(capsys: pytest.CaptureFixture[str]) -> None:
    lesson = LESSONS[1]
    right, page = right_letters(lesson), questions_of(COURSE, lesson)
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
    said = f"{number} of {number} right. (The first time, you had {number - 2} right: that counts.)\n"
    assert capsys.readouterr().out == said
    assert progress_file().of(lesson).missed == (1, 2)
    shown = progress()
    assert shown.detailed.lesson == lesson
    assert f"{number - 2} of {number} looking back" in shown.text()
    assert "looking back" in shown.html()
    recall("1_attention", "a")
    assert "did you mean 01_attention" in capsys.readouterr().out


def test_older_ones_come_back_those_first_that_were_missed() -> None:
    day = date(2030, 1, 1)

    def titles(on: date = day) -> list[str]:
        page = older_questions(progress_map().lessons, on)
        return [question.title for question in page.questions]

    def lessons() -> list[str]:
        return [title.partition(" ")[0] for title in titles()]

    assert older_questions(progress_map().lessons, day) is None, "nothing has come before the first lesson"
    progress_file().note_recall("000_primer", [], 10)
    assert older_questions(progress_map().lessons, day) is None
    progress_file().note_check("words_in_a_bag.look_up", 0, True)
    assert [lessons(), len(set(titles()))] == [["000"] * 3, 3], "three of the first lesson, each another one"
    assert titles() == titles() != titles(day + timedelta(1)), "the same all day, and others tomorrow"
    progress_file().note_recall("02_masking", [3], 5)
    assert lessons() == ["01", "000", "000"]
    progress_file().note_check("bert.mask_words", 1, True)
    assert lessons() == ["08", "06", "02"], "one, three and seven lessons ago"
    page = questions_of(COURSE, "02_masking")
    missed = f"02 Masking: {page.questions[2].title}"
    assert {titles(day + timedelta(days))[2] for days in range(5)} == {missed}
