"""A panel of help, in a notebook and in a terminal."""

from bs4 import BeautifulSoup

from course_lib.judging.render import TEXT_WIDTH
from course_lib.learner.panel import HelpPanel, Section

PANEL = HelpPanel(
    heading="Hints",
    detail="2 of 3",
    exercise_id="toy.double",
    sections=(
        Section(
            "The idea",
            paragraphs=(
                "Double *x*, and 2 * x * y is not `a * b`, *x, y*, a *b",
                "Double `x`, and <b>nothing</b> else. " * 4,
                "That is all.",
            ),
        ),
        Section("Step by step", steps=("Take `x`.", "Add `x` to it, " + "again and " * 12 + "once.")),
        Section(code='def double(x):\n    """Twice x."""\n    return x + x if x < 3 else "`no`"'),
    ),
    closing=("Run `check` again.",),
)


def test_a_notebook_gets_marked_up_text_and_nothing_that_is_not_ours() -> None:
    page = BeautifulSoup(PANEL._repr_html_(), "html.parser")
    assert page.find("b") is None
    assert [words.text for words in page("em")] == ["x", "x, y"]
    assert [step.text for step in page("li")][0] == "Take x."
    assert [code.text for code in page.find("ol")("code")] == ["x", "x"]
    assert page.find("pre").text == PANEL.sections[2].code, "in code backticks stay"
    assert "<b>nothing</b>" in page.find("div").text
    assert page.find("div")["role"] == "status"


def test_a_terminal_gets_lines_that_fit() -> None:
    lines = str(PANEL).splitlines()
    assert lines[0] == "toy.double: Hints, 2 of 3"
    assert max(map(len, lines)) <= TEXT_WIDTH
    assert "  1. Take `x`." in lines
    assert '        return x + x if x < 3 else "`no`"' in lines
    assert lines[-1] == "  Run `check` again."
    assert repr(PANEL) == str(PANEL)
