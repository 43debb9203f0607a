"""Questions that look back: a page in Markdown for each lesson, which `katze release` puts at the lesson's beginning.

    ## Two bags                        what the question is called
    What does this print?              the question itself: code and formulas may be in it

    - [ ] `[2, 3]`                     a choice, on one line
      Adds a row instead of a column.  why it is wrong, or right
    - [x] `[3, 3]`
      The row is repeated.

Text above the first question replaces `OPENING`. The course's pages are in the folder `questions`; a course with its
own exercises has a folder of that name. A lesson without a page begins without questions.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from course_lib.exercises.catalogue import Catalogue
from course_lib.judging.errors import UnusableExercises
from course_lib.learner.current_catalogue import current_catalogue
from course_lib.learner.panel import inline_html
from course_lib.learner.progress_file import progress_file
from course_lib.learner.progress_map import LessonProgress

QUESTIONS = Path(__file__).parent / "questions"
"""The course's own pages."""

OPENING = """\
## Looking back

Five questions about what came before. Decide first, then open your choice: it says why it is right or wrong. Nothing
here is graded."""

OLDER = """\
## Looking further back

Three questions, from one, three and seven lessons ago, if you have come that far. Tomorrow you get new ones."""

STEPS_BACK = (1, 3, 7)
"""How many lessons back the questions on the start page come from."""

LETTERS = "abcdefgh"


@dataclass(frozen=True)
class Choice:
    """A choice, and the reason why it is right or wrong; both may contain `code` and *words* in Markdown."""

    text: str
    reason: str
    right: bool


@dataclass(frozen=True)
class Question:
    """A question in Markdown, its choices and its title."""

    title: str
    text: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Questions:
    """A page: the text above its questions, and the questions, in order."""

    opening: str
    questions: tuple[Question, ...]

    def markdown(self) -> str:
        """Return the page as a cell. Choices fold their reasons in plain HTML, without kernel, script or style."""
        asked = (
            f"**{number}. {question.title}**\n\n{question.text}\n\n{_folded(question.choices)}"
            for number, question in enumerate(self.questions, start=1)
        )
        return f"{self.opening}\n\n" + "\n\n---\n\n".join(asked)


def page_of(catalogue: Catalogue, lesson: str) -> Path:
    """Return the path of a lesson's questions, which need not exist."""
    return (catalogue.folder / QUESTIONS.name if catalogue.folder is not None else QUESTIONS) / f"{lesson}.md"


def questions_of(catalogue: Catalogue, lesson: str) -> Questions | None:
    """Read a lesson's questions; None if it has none.

    Raises:
        UnusableExercises: the page cannot be used; the message names it and the question.
    """
    page = page_of(catalogue, lesson)
    if not page.is_file():
        return None
    opening, *written = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)
    if not written:
        raise UnusableExercises(f"{page.name} has no questions: begin each with a line `## What it is called`")
    found = (_read(f"{page.name}, question {number}", text) for number, text in enumerate(written, start=1))
    return Questions(opening.strip() or OPENING, tuple(found))


def older_questions(lessons: Sequence[LessonProgress], today: date) -> Questions | None:
    """Choose three questions from earlier lessons, missed ones first; None before the second lesson has begun.

    Args:
        lessons: the learner's progress in each lesson.
        today: the date, since the questions change daily.
    """
    asking = [(one, page) for one in lessons if (page := questions_of(current_catalogue(), one.lesson)) is not None]
    here = max((number for number, (lesson, _) in enumerate(asking) if lesson.last), default=0)
    chosen: list[Question] = []
    for back in STEPS_BACK if here else ():
        lesson, page = asking[max(here - back, 0)]
        first = today.toordinal() % len(page.questions)
        numbered = list(enumerate(page.questions, start=1))
        missed_first = sorted(numbered[first:] + numbered[:first], key=lambda one: one[0] not in lesson.recall.missed)
        named = (replace(question, title=f"{lesson.title}: {question.title}") for _, question in missed_first)
        chosen += [question for question in named if question not in chosen][:1]
    return Questions(OLDER, tuple(chosen)) if chosen else None


def told(lesson: str, letters: str) -> Iterator[str]:
    """Yield sentences about a learner's choices, and record the first ones.

    Args:
        lesson: the lesson's folder.
        letters: a letter for each question, or a dash for a question that is left out.

    Raises:
        UnknownName: there is no such lesson.
        UnusableExercises: the page cannot be used.
    """
    catalogue, kept = current_catalogue(), progress_file()
    catalogue.of_lesson(lesson)
    page = questions_of(catalogue, lesson)
    if page is None:
        yield f"{lesson} asks no questions that look back."
        return
    known = [dict(zip(LETTERS, question.choices, strict=False)) for question in page.questions]
    chosen, questions = re.findall(r"[a-z-]", letters.lower()), len(known)
    if len(chosen) != questions or any(one not in {"-", *those} for one, those in zip(chosen, known, strict=True)):
        yield f"Write {questions} letters, a dash for a question that you leave out, and run this again."
        return
    missed = []
    for number, (letter, choices) in enumerate(zip(chosen, known, strict=True), start=1):
        if letter == "-" or not choices[letter].right:
            missed.append(number)
            why = "left out." if letter == "-" else f"not {letter}. {choices[letter].reason}"
            yield f"{number}. {page.questions[number - 1].title}: {why}"
    before = kept.of(lesson)
    kept.note_recall(lesson, missed, questions)
    counted = f" (The first time, you had {before.recalled} right: that counts.)" if before.questions else ""
    yield f"{questions - len(missed)} of {questions} right.{counted}"
    yield from kept.news()


def _read(where: str, written: str) -> Question:
    """Read a question.

    Raises:
        UnusableExercises: the question is incomplete.
    """
    title, _, rest = written.partition("\n")
    text, *marked = re.split(r"^- \[([ x])\] ", rest, flags=re.M)
    lines = [choice.partition("\n") for choice in marked[1::2]]
    choices = tuple(
        Choice(first.strip(), " ".join(reason.split()), mark == "x")
        for mark, (first, _, reason) in zip(marked[::2], lines, strict=True)
    )
    rights, few = sum(choice.right for choice in choices), not 1 < len(choices) <= len(LETTERS)
    unreasoned = next((choice.text for choice in choices if not choice.reason), "")
    problems = {
        "it has no title": not title.strip(),
        "there is no text between its title and its choices": not text.strip(),
        f"it has {len(choices)} choices; write 2 to {len(LETTERS)}, each as `- [ ] ...`": few,
        f"{rights} of its choices are right; mark one of them with `- [x]`": rights != 1,
        f"the choice “{unreasoned}” has no reason below it": bool(unreasoned),
    }
    problem = next((sentence for sentence, holds in problems.items() if holds), "")
    if problem:
        raise UnusableExercises(f"{where} (“{title.strip()}”): {problem}")
    return Question(title.strip(), text.strip(), choices)


def _folded(choices: Sequence[Choice]) -> str:
    return "\n".join(
        f"<details><summary>{letter}) {inline_html(choice.text)}</summary>"
        f"<p>{'✓ Right.' if choice.right else '✗ Wrong.'} {inline_html(choice.reason)}</p></details>"
        for letter, choice in zip(LETTERS, choices, strict=False)
    )
