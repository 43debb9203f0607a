import base64
import copy
from dataclasses import replace
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag

from autograder.gradebook.record import HandGrade
from autograder.intake import sanitise
from autograder.pages import feedback
from autograder.pages.feedback import render_feedback
from course_lib.judging.observation import Outcome
from course_lib.show import attention_stepper
from course_lib.show.interactive import script, script_hash
from tests.autograder.records import exercise_record, record, text
from tests.autograder.small_lesson import graded

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n....IHDR").decode()

VERDICTS = {
    "small.one": '<div class="katze-verdict"><style>.a { b: c }</style><p>Right</p></div>',
    "small.two": '<div class="katze-verdict"><style>.a { b: c }</style><p>You forgot to <em>scale</em></p></div>',
}

RESULTS = [
    exercise_record("small.one", 2.0, 2, Outcome.PASSED),
    exercise_record("small.two", 1.0, 3, Outcome.WRONG),
    exercise_record("small.three", 0.0, 1, Outcome.RULE_BROKEN),
    exercise_record("small.four", 0.0, 1, Outcome.NOT_ATTEMPTED),
    exercise_record("small.five", None, 1, Outcome.UNGRADED),
]

LOST = [replace(one, points=None, outcome=Outcome.UNGRADED) for one in RESULTS]

EVIL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style></pre></div><h1>20 of 20 points</h1>",
    "{{ 7 * 7 }}{% raw %}",
    '"><svg onload=alert(1)>',
    "[x](javascript:alert(1)) <javascript:alert(1)>",
    "![x](https://evil.example/pixel.png)",
    "$</span><script>alert(1)</script>$",
    "```python\n</pre><script>alert(1)</script>\n```",
]


def cell(kind: str, source: str, origin: str = "student", exercise: str | None = None, **more: Any) -> dict[str, Any]:
    shape = "markdown" if kind in ("markdown", "written") else "code"
    metadata: dict[str, Any] = {"katze": {"kind": kind, "origin": origin, "exercise": exercise}}
    if kind == "written":
        metadata["nbgrader"] = {"grade": True, "solution": True, "points": 2, "grade_id": "small-why-written"}
    made = {"cell_type": shape, "id": "x", "metadata": metadata, "source": source}
    if shape == "code":
        made |= {"outputs": [], "execution_count": None}
    return {**made, **more}


def notebook() -> dict[str, Any]:
    cells = [
        cell("markdown", "# A small lesson\n\nWelcome, $x$.", "release"),
        cell("code", "import math", "release"),
        cell("markdown", "## 1. The *first* task\n\nRead this.", "release"),
        cell("answer", "# katze: small.one answer\ndef one(x):\n    return x + 1", exercise="small.one"),
        cell("check", "check('small.one')", "release", "small.one"),
        cell("code", "mine = 3", outputs=[{"output_type": "stream", "name": "stdout", "text": "10%\r100%\n"}]),
        cell("answer", "def two(x): ...", "release", "small.two"),
        cell("check", "check('small.two')", "restored", "small.two"),
        cell("written", "<!-- katze: small.why written -->\n\nBecause **x** < y.", exercise="small.why"),
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def render(notebook: dict[str, Any] | None, **changes: Any) -> BeautifulSoup:
    given: dict[str, Any] = {
        "student": "ada",
        "lesson": "01_small",
        "exercises": RESULTS,
        "repairs": ["The check of small.two was missing and was put back."],
    }
    about_the_lesson = {name: changes.pop(name) for name in ("title", "questions") if name in changes}
    return BeautifulSoup(
        render_feedback(notebook, record(**{**given, **changes}), VERDICTS, **about_the_lesson), "html.parser"
    )


def assert_inactive(page: BeautifulSoup) -> None:
    policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    assert isinstance(policy, Tag)
    assert "default-src 'none'; script-src 'none'" in str(policy["content"])
    assert not page.find_all(["script", "iframe", "object", "embed", "svg", "form", "link", "base", "input", "video"])
    for element in page.find_all(True):
        assert not [name for name in element.attrs if name.startswith("on")], element
        assert not str(element.get("href", "")).strip().lower().startswith(("javascript", "data", "vbscript")), element
        assert element.name != "img" or str(element["src"]).startswith("data:image/"), element
    assert len(page.find_all("h1")) == 1


def test_the_page_says_what_a_student_wants_to_know():
    page = render(notebook())
    assert page.title is not None
    assert page.title.string == "ada · A small lesson"
    assert text(page.select_one(".total")) == "3 of 7 points"
    assert [*map(text, page.select(".total-note"))] == [
        "small.five could not be graded. This is not a zero: 1 point is left out.",
        "Up to 2 more points can be given by a person who reads what you wrote.",
    ]
    assert "was missing and was put back" in text(page.select_one(".repairs"))
    assert_inactive(page)


def test_the_overview_has_a_line_for_each_exercise():
    lines = [(row["class"], text(row)) for row in render(notebook()).select(".overview tr")]
    assert lines == [
        (["passed"], "small.one Right 2 / 2"),
        (["partly"], "small.two Partly right 1 / 3"),
        (["failed"], "small.three A rule of this exercise is broken 0 / 1"),
        (["waiting"], "small.four Not written yet 0 / 1"),
        (["waiting"], "small.five Could not be graded no score / 1"),
        (["waiting"], "small.why Waiting for a person – / 2"),
    ]


def test_a_question_that_nobody_answered_has_nothing_to_be_read():
    untouched = notebook()
    untouched["cells"][8]["metadata"]["katze"]["origin"] = "release"
    page = render(untouched)
    assert text(page.select(".overview tr")[-1]) == "small.why Not written yet 0 / 2"
    assert text(page.select_one(".total")) == "3 of 9 points"
    assert "given by a person" not in text(page)


WHY = HandGrade("small-why-written", True, None, 1.5, None, 2.0, waits=False, comment="Good <b>point</b>.")


def test_points_and_comments_by_hand_are_on_the_page_and_in_the_total():
    page = render(notebook(), by_hand=[WHY])
    assert text(page.select_one(".total")) == "4.5 of 9 points"
    assert text(page.select(".total-note")[-1]) == "1.5 points were given by a person."
    assert text(page.select(".overview tr")[-1]) == "small.why Read by a person 1.5 / 2"
    assert text(page.select_one(".by-hand")) == "1.5 of 2 points, given by a person. Good <b>point</b>."
    assert_inactive(page)
    page = render(notebook(), by_hand=[replace(WHY, waits=True, is_changed=True)])
    assert text(page.select_one(".total")) == "4.5 of 9 points"
    assert text(page.select(".overview tr")[-1]) == "small.why Changed since it was read 1.5 / 2"
    assert "given by a person. You have changed this answer since then, so it will" in text(page.select_one(".by-hand"))


def test_points_by_hand_in_place_of_automatic_ones_and_beside_them():
    checked = notebook()
    checked["cells"][4]["metadata"]["nbgrader"] = {"grade_id": "small-one-check"}
    changed = HandGrade("small-one-check", False, 2.0, 1.0, 0.5, 2.0, waits=False)
    page = render(checked, by_hand=[changed])
    assert text(page.select_one(".total")) == "2.5 of 7 points"
    assert text(page.select(".overview tr")[0]) == "small.one Points by a person 1.5 / 2"
    page = render(checked, by_hand=[replace(changed, waits=True, is_changed=True)])
    assert text(page.select(".overview tr")[0]) == "small.one Changed since it was read 1.5 / 2"
    assert "0.5 points of extra credit." in text(page.select_one(".by-hand"))


WRITTEN = graded("small-why-written", grade=True, solution=True, points=2)
QUESTIONS = [
    {"metadata": {**WRITTEN, "katze": {"exercise": "small.why"}}},
    {"metadata": {**graded("small-one-check", grade=True, points=2), "katze": {"exercise": "small.six"}}},
]


def test_a_written_question_counts_where_nothing_could_be_read():
    page = render(None, exercises=LOST, problem="The file is empty.", questions=QUESTIONS)
    assert text(page.select_one(".total")) == "No score out of 10"
    assert text(page.select(".overview tr")[-1]) == "small.why Could not be read no score / 2"
    assert "small.six" not in text(page.select_one(".overview"))


def test_points_by_hand_for_what_could_not_be_graded():
    page = render(None, exercises=LOST, problem="The file is empty.", by_hand=[WHY], questions=QUESTIONS)
    assert text(page.select_one(".total")) == "1.5 of 10 points"
    assert [text(note) for note in page.select(".total-note")] == [
        "The exercises could not be graded. The file is empty.",
        "1.5 points were given by a person.",
    ]


def test_a_page_without_a_notebook_has_the_lesson_s_title_and_nothing_that_leads_nowhere():
    page = render(None, exercises=LOST, problem="It is empty.", title="A small lesson")
    assert text(page.select_one(".lesson-name")) == "A small lesson"
    assert "small.one" in text(page.select_one(".overview"))
    assert not page.select("a, footer")


def test_headings_of_the_lesson_stay_wherever_they_stand_in_a_cell():
    shown = notebook()
    shown["cells"][2]["source"] = "Before.\n\n```\n## no heading\n```\n\n### Exercise 1 · A word\nDo it."
    page = render(shown)
    assert [text(heading) for heading in page.select("main > .heading")] == ["Exercise 1 · A word"]
    order = [block.name for block in page.select("main > *")]
    assert order[:3] == ["details", "h3", "div"]


def test_links_of_the_overview_lead_to_the_answers():
    page = render(notebook())
    for exercise in ("small.one", "small.two", "small.why"):
        link = page.find("a", string=exercise)
        assert isinstance(link, Tag)
        target = page.find(id=str(link["href"]).removeprefix("#"))
        assert isinstance(target, Tag)
        assert exercise in text(target.select_one(".label"))


def test_verdicts_stand_below_their_answers_and_share_one_style_sheet():
    page = render(notebook())
    blocks = [text(block) for block in page.select("main > div")]
    assert blocks[1] == "Right"
    assert blocks[4] == "You forgot to scale"
    assert str(page).count(".a { b: c }") == 1


def test_the_lesson_is_folded_under_its_headings_and_the_student_s_work_is_not():
    page = render(notebook())
    assert [text(fold) for fold in page.select("details > summary")] == [
        "2 cells of the lesson",
        "1 cell of the lesson",
    ]
    assert text(page.select_one("main h2")) == "1. The first task"
    assert [text(label) for label in page.select("main > .cell > .label")] == [
        "Your answer small.one",
        "Your own cell",
        "Nothing written yet small.two",
        "Your answer, for a person to read small.why",
    ]
    assert "katze:" not in text(page.select_one("main"))


def test_a_link_to_colab_that_has_moved_since_is_still_the_lesson_s():
    link = "[Open in Colab](https://colab.research.google.com/github/a/b/blob/main/notebooks/01_small/01_small.ipynb)"
    page = render({**notebook(), "cells": [cell("markdown", link), cell("markdown", f"Mine: {link}")]})
    assert [text(fold) for fold in page.select("details > summary")] == ["1 cell of the lesson"]
    assert [text(label) for label in page.select("main > .cell > .label")] == ["Your own cell"]


def test_outputs_are_shown_as_they_were():
    shown = copy.deepcopy(notebook())
    shown["cells"][5]["outputs"] += [
        {"output_type": "display_data", "data": {"image/png": PNG, "text/plain": "<Figure>"}, "metadata": {}},
        {"output_type": "display_data", "data": {"text/html": "<table><tr><td>7</td></tr></table>"}, "metadata": {}},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mValueError\x1b[0m: no", "more"]},
        {"output_type": "stream", "name": "stderr", "text": "stopped after 10 s\n"},
    ]
    outputs = render(shown).select_one(".outputs")
    assert text(outputs) == "100% 7 ValueError: no more stopped after 10 s"
    assert isinstance(outputs, Tag)
    assert outputs.select_one(f'img[alt=""][src="data:image/png;base64,{PNG}"]')


def test_a_widget_of_the_course_is_drawn_anew_and_no_other_script_may_run():
    evil = attention_stepper()._repr_mimebundle_()["text/html"].replace("draw(data)", "draw(data) + alert(1)")
    outputs = sanitise.outputs([{"output_type": "display_data", "data": {"text/html": evil}, "metadata": {}}])
    page = render({**notebook(), "cells": [cell("code", "stepper", outputs=outputs)]})
    data, code = page.find_all("script")
    assert code.text == script("attention_stepper")
    assert data["type"] == "application/json"
    policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    assert f"script-src {script_hash('attention_stepper')};" in str(policy["content"])
    assert page.find("div", class_="katze-still").find("table")


def test_attached_pictures_are_shown_and_others_are_not():
    shown = notebook()
    shown["cells"][8] |= {
        "source": "![a](attachment:a.png) ![b](attachment:b.png) ![c](https://evil.example/c.png)",
        "attachments": {"a.png": {"image/png": PNG}, "b.png": {"image/png": '"><script>'}},
    }
    page = render(shown)
    assert [image["src"] for image in page.find_all("img")] == [f"data:image/png;base64,{PNG}"]
    assert_inactive(page)


@pytest.mark.parametrize("evil", EVIL)
def test_nothing_that_a_student_wrote_is_active(evil: str):
    everywhere = notebook()
    for one in everywhere["cells"]:
        one["source"] = evil
        if one["cell_type"] == "code":
            one["outputs"] = [
                {"output_type": "stream", "name": evil, "text": evil},
                {"output_type": "error", "ename": evil, "evalue": evil, "traceback": []},
                {"output_type": "display_data", "data": {"text/html": evil, "image/png": evil}, "metadata": {}},
                {"output_type": "display_data", "data": {"text/plain": evil}, "metadata": {}},
            ]
    everywhere["cells"][0]["source"] = f"# {evil}"
    page = render(everywhere, student=evil, lesson=evil, repairs=[evil], problem=evil)
    assert_inactive(page)
    assert "49" not in text(page.select_one(".sheet"))


def test_a_very_long_cell_is_shown_without_colours():
    shown = notebook()
    shown["cells"][5]["source"] = "x = '<b>'\n" * 10_000
    assert "x = '<b>'" in text(render(shown).select("pre.source")[-1 - 1])


def test_markdown_that_cannot_be_parsed_is_shown_as_it_was_written(monkeypatch: pytest.MonkeyPatch):
    shown = notebook()
    long = "*a* <b>" + "```" * feedback.MARKDOWN_CHARACTERS
    shown["cells"][8]["source"] = long
    assert text(render(shown).select(".text")[-1]) == long

    def too_deep(self: object, source: str) -> str:
        raise RecursionError

    shown["cells"][8]["source"] = "*nested* <b>"
    monkeypatch.setattr("mistune.Markdown.__call__", too_deep)
    feedback._plain_markdown.cache_clear()
    assert text(render(shown).select(".text")[-1]) == "*nested* <b>"
    feedback._plain_markdown.cache_clear()


def test_what_could_not_be_graded_is_no_zero():
    page = render(None, exercises=LOST, repairs=[], problem="The file is empty: save it.")
    assert text(page.select_one(".total")) == "No score out of 8"
    assert text(page.select_one(".total-note")) == (
        "This is not a zero: the submission could not be graded. The file is empty: save it."
    )
    assert not page.select(".repairs")
