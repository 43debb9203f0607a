"""A questionnaire: one question after another, each with the same choices to click."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from course_lib.show.live import show_above_its_page

_NOTE = "The buttons of this questionnaire need a running kernel: run this cell."


class Questionnaire:
    """Questions with buttons, and below them the same on a plain page, with the line that answers without a click.

    Attributes:
        questions: what is asked; a question may have several lines.
        choices: what may be answered, the same for all.
        answers: for each question the place of the choice, counted from 0; None as long as there is no answer.
    """

    def __init__(self, questions: Sequence[str], choices: Sequence[str]) -> None:
        if not questions or len(choices) < 2:
            raise ValueError("a questionnaire needs at least one question and two choices")
        self.questions = tuple(questions)
        self.choices = tuple(choices)
        self.answers: list[int | None] = [None] * len(self.questions)

    @property
    def complete(self) -> bool:
        """Whether there is an answer to each question."""
        return len(self.answers) == len(self.questions) and None not in self.answers

    def html(self) -> str:
        """The plain page."""
        asked = "".join(f"<li>{_lines(question)}</li>" for question in self.questions)
        return f"<ol>{asked}</ol><p>{escape(self._instruction())}</p>"

    def text(self) -> str:
        """The same without markup."""
        asked = [f"{number}. {question}" for number, question in enumerate(self.questions, start=1)]
        return "\n".join([*asked, self._instruction()])

    def widget(self) -> Any:
        """The clickable form, made of core ipywidgets.

        Raises:
            ImportError: ipywidgets is not installed.
        """
        import ipywidgets as widgets

        progress = widgets.HTML()
        rows: list[Any] = []
        for number, question in enumerate(self.questions):
            buttons = widgets.ToggleButtons(
                options=list(self.choices), index=self.answers[number], style={"button_width": "auto"}
            )
            buttons.observe(lambda change, number=number: self._answer(number, change["new"], progress), names="index")
            asked = f'<div style="line-height:1.5;padding-top:.7em"><b>{number + 1}.</b> {_lines(question)}</div>'
            rows += [widgets.HTML(asked), buttons]
        self._count(progress)
        return widgets.VBox([*rows, progress])

    def _answer(self, number: int, choice: int | None, progress: Any) -> None:
        self.answers[number] = choice
        self._count(progress)

    def _count(self, progress: Any) -> None:
        given = sum(answer is not None for answer in self.answers)
        progress.value = f"<em>{given} of {len(self.questions)} answered</em>"

    def _instruction(self) -> str:
        choices = ", ".join(f"{place} = {choice}" for place, choice in enumerate(self.choices))
        return f"Without buttons: set .answers to a list of {len(self.questions)} numbers ({choices})."

    def _ipython_display_(self) -> None:
        show_above_its_page(
            self.widget,
            _NOTE,
            page=self.html(),
            text=self.text(),
            summary="All questions on one page, to answer without clicking",
        )


def questionnaire(questions: Sequence[str], choices: Sequence[str]) -> Questionnaire:
    """Questions to click through: name the result, and leave it as the last line of a cell.

    Args:
        questions: what is asked; a question may have several lines.
        choices: what may be answered, the same for all.

    Raises:
        ValueError: there is no question, or there are fewer than two choices.
    """
    return Questionnaire(questions, choices)


def _lines(question: str) -> str:
    return "<br>".join(map(escape, question.splitlines()))
