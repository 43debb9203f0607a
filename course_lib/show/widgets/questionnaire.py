"""A questionnaire: one question after another, each with the same choices to click."""

from collections.abc import Sequence
from html import escape
from typing import Any

from course_lib.show.interactive import Interactive


class Questionnaire:
    """Questions with buttons. The answers stay in the browser, and become a line of Python to copy into a cell.

    Attributes:
        name: the name of the variable that holds the questionnaire, for that line.
        questions: the questions, which may have several lines.
        choices: the possible answers, the same for all questions.
        answers: the index of the choice for each question, counted from 0; None until there is an answer.

    Assign it to that variable, and end the cell with the variable. It raises a ValueError if there is no question or no
    choice.
    """

    def __init__(self, name: str, questions: Sequence[str], choices: Sequence[str]) -> None:
        if not questions or len(choices) < 2:
            raise ValueError("a questionnaire needs at least one question and two choices")
        self.name = name
        self.questions = tuple(questions)
        self.choices = tuple(choices)
        self.answers: list[int | None] = [None] * len(self.questions)

    @property
    def complete(self) -> bool:
        """True if there is an answer to each question."""
        return len(self.answers) == len(self.questions) and None not in self.answers

    def html(self) -> str:
        """Return the plain page."""
        asked = "".join(f"<li>{_lines(question)}</li>" for question in self.questions)
        return f"<ol>{asked}</ol><p>{escape(self._instruction())}</p>"

    def __repr__(self) -> str:
        asked = [f"{number}. {question}" for number, question in enumerate(self.questions, start=1)]
        return "\n".join([*asked, self._instruction()])

    def _instruction(self) -> str:
        choices = ", ".join(f"{index} = {choice}" for index, choice in enumerate(self.choices))
        return f"Without buttons: set {self.name}.answers to a list of {len(self.questions)} numbers ({choices})."

    def _repr_mimebundle_(self, **_wanted: Any) -> dict[str, str]:
        data = {"name": self.name, "questions": self.questions, "choices": self.choices}
        alt = f"A questionnaire of {len(self.questions)} questions."
        return Interactive("questionnaire", data, self.html(), alt, repr(self))._repr_mimebundle_()


questionnaire = Questionnaire
"""The name that lessons call, like those of the other widgets."""


def _lines(question: str) -> str:
    return "<br>".join(map(escape, question.splitlines()))
