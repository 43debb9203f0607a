"""What is clicked is the answer; without buttons there is a page that says how to answer."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import ipywidgets
import pytest

from course_lib.show import questionnaire

LIVE = sys.modules["course_lib.show.live"]
QUESTIONS = ["Is <this> good?\nReally?", "And this?"]
CHOICES = ["no", "yes"]


def rows(widget: ipywidgets.VBox) -> tuple[list[ipywidgets.ToggleButtons], str]:
    return [child for child in widget.children if isinstance(child, ipywidgets.ToggleButtons)], widget.children[
        -1
    ].value


def test_a_click_is_an_answer() -> None:
    asked = questionnaire(QUESTIONS, CHOICES)
    widget = asked.widget()
    assert asked.answers == [None, None]
    assert not asked.complete
    buttons, progress = rows(widget)
    assert [row.options for row in buttons] == [("no", "yes")] * 2
    assert "0 of 2" in progress
    buttons[1].index = 0
    assert asked.answers == [None, 0]
    assert "1 of 2" in rows(widget)[1]
    buttons[0].index = 1
    assert asked.answers == [1, 0]
    assert asked.complete
    buttons[0].index = 0
    assert asked.answers == [0, 0]


def test_a_widget_that_is_shown_again_keeps_the_answers() -> None:
    asked = questionnaire(QUESTIONS, CHOICES)
    asked.answers = [1, None]
    assert [row.index for row in rows(asked.widget())[0]] == [1, None]


def test_the_page_escapes_the_questions_and_says_how_to_answer() -> None:
    asked = questionnaire(QUESTIONS, CHOICES)
    assert "Is &lt;this&gt; good?<br>Really?" in asked.html()
    for shown in (asked.html(), asked.text()):
        assert "set .answers to a list of 2 numbers (0 = no, 1 = yes)" in shown


def test_answers_of_another_number_are_not_complete() -> None:
    asked = questionnaire(QUESTIONS, CHOICES)
    asked.answers = [1]
    assert not asked.complete


@pytest.mark.parametrize(("questions", "choices"), [([], CHOICES), (QUESTIONS, ["yes"])])
def test_nothing_to_ask_or_to_choose_is_refused(questions: list[str], choices: list[str]) -> None:
    with pytest.raises(ValueError, match="at least one question and two choices"):
        questionnaire(questions, choices)


def displayed(monkeypatch: pytest.MonkeyPatch, kernel: object | None) -> list[dict[str, str]]:
    bundles: list[dict[str, str]] = []
    monkeypatch.setattr(LIVE, "display", lambda bundle, raw: bundles.append(bundle))
    monkeypatch.setattr(LIVE, "get_ipython", lambda: SimpleNamespace(kernel=kernel))
    questionnaire(QUESTIONS, CHOICES)._ipython_display_()
    return bundles


def test_without_a_kernel_there_is_only_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    (page,) = displayed(monkeypatch, kernel=None)
    assert page["text/html"].startswith("<ol>")


def test_with_a_kernel_there_are_buttons_and_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    widget, page = displayed(monkeypatch, kernel=object())
    assert "application/vnd.jupyter.widget-view+json" in widget
    assert "<ol>" in page["text/html"]


def test_without_ipywidgets_there_is_only_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert len(displayed(monkeypatch, kernel=object())) == 1
