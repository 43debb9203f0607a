"""What is answered, and the page that says how to answer without a click."""

from __future__ import annotations

import json

from bs4 import BeautifulSoup

from course_lib.show import questionnaire

QUESTIONS = ["Is <this> good?\nReally?", "And this?"]
CHOICES = ["no", "yes"]


def test_answers_make_it_complete() -> None:
    asked = questionnaire("grades", QUESTIONS, CHOICES)
    assert asked.answers == [None, None]
    assert not asked.complete
    for answers, complete in (([0, None], False), ([1], False), ([0, 1], True)):
        asked.answers = answers
        assert asked.complete is complete


def test_the_page_escapes_the_questions_and_says_how_to_answer() -> None:
    asked = questionnaire("grades", QUESTIONS, CHOICES)
    assert "Is &lt;this&gt; good?<br>Really?" in asked.html()
    for shown in (asked.html(), repr(asked)):
        assert "set grades.answers to a list of 2 numbers (0 = no, 1 = yes)" in shown


def test_the_script_has_the_questions_and_the_name() -> None:
    bundle = questionnaire("grades", QUESTIONS, CHOICES)._repr_mimebundle_()
    data = BeautifulSoup(bundle["text/html"], "html.parser").find("script", type="application/json")
    assert json.loads(data.text) == {"name": "grades", "questions": QUESTIONS, "choices": CHOICES}
    assert bundle["text/plain"].startswith("1. Is <this> good?")
