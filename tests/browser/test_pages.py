"""The pages that graders write, in a browser: on a telephone and on a desk, in light and dark, and on paper."""

from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page

from autograder.gradebook.record import ExerciseRecord, Record
from autograder.intake import sanitise
from autograder.pages.class_report import render_class
from autograder.pages.feedback import render_feedback
from course_lib import exercises, show
from course_lib.checking import check
from course_lib.judging.exercise import Exercise
from course_lib.judging.observation import Outcome
from tests.autograder.records import exercise_record, record
from tests.browser.accessibility import faults
from tests.browser.conftest import Visit

LESSON = exercises.of_lesson("01_attention")
CLASS = 60
TELEPHONE, DESK = 390, 1280

TRIES = [
    "<script>document.title = 'taken'</script>",
    "<img src=x onerror=\"document.title = 'taken'\">",
    "<a href=\"javascript:document.title = 'taken'\">a link</a>",
    "<iframe srcdoc=\"<script>parent.document.title = 'taken'</script>\"></iframe>",
    "<svg onload=\"document.title = 'taken'\"></svg>",
    "<details open ontoggle=\"document.title = 'taken'\"><summary>more</summary></details>",
    "<svg><script>document.title = 'taken'</script><animate onbegin=\"document.title = 'taken'\"></animate></svg>",
    "<svg><a href=\"javascript:document.title = 'taken'\"><text y='20'>a link</text></a></svg>",
    "<a href=\"jav&#x0A;ascript&colon;document.title = 'taken'\">a link</a>",
    "<object data=\"data:text/html,<script>parent.document.title = 'taken'</script>\"></object>",
    "<input autofocus onfocus=\"document.title = 'taken'\">",
    "<form action=\"javascript:document.title = 'taken'\"><button>send</button></form>",
    "<form action='https://example.org'><button>send</button></form>",
    "<img src='https://example.org/pixel.png'>",
    "<link rel='stylesheet' href='https://example.org/taken.css'>",
    "<base href='https://example.org/'>",
    "<script src='https://example.org/taken.js'></script>",
]
"""What a student's own output may try."""

ONLY_FILTERED = [
    "<meta http-equiv='refresh' content='0; url=https://example.org'>",
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;<img src=x onerror=document.title=1>">',
    "<style>body { display: none }</style>",
]
"""What no policy of a page's own forbids."""

views = pytest.mark.parametrize(("width", "dark"), [(DESK, False), (TELEPHONE, True)])


def outcome_of(student: int, place: int, exercise: Exercise) -> ExerciseRecord:
    """How one of many came out of an exercise: some right, some with each known mistake, some otherwise."""
    dice = (7 * student + 3 * place + student // 9) % 11
    if dice < 5:
        return exercise_record(exercise.id, float(exercise.points), exercise.points, Outcome.PASSED)
    if dice == 5:
        return exercise_record(exercise.id, 0.0, exercise.points, Outcome.NOT_ATTEMPTED)
    if dice == 6:
        return exercise_record(exercise.id, 0.0, exercise.points, Outcome.RAISED)
    known = exercise.misconceptions
    mistake = known[dice % len(known)].id if known else None
    return exercise_record(exercise.id, 0.0, exercise.points, Outcome.WRONG, mistake)


@pytest.fixture(scope="module")
def class_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def submission(number: int) -> Record:
        outcomes = tuple(outcome_of(number, place, one) for place, one in enumerate(LESSON))
        return record(f"student-{number:03}-of-the-class", "01_attention", outcomes)

    path = tmp_path_factory.mktemp("class") / "class.html"
    path.write_text(
        render_class("Lesson 01 · Attention", [submission(number) for number in range(CLASS)], exercises.COURSE)
    )
    return path


@pytest.fixture(scope="module")
def feedback_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    right, wrong = LESSON[0], exercises.find("attention.scaled_dot_product")
    verdicts = {
        right.id: check(right.id, right.reference),
        wrong.id: check(wrong.id, lambda q, k, v: torch.softmax(q @ k.transpose(-2, -1) / 3, dim=-1) @ v),
    }
    cells: list[dict[str, Any]] = [text("# Lesson 01 · Attention\n\nWelcome, $x$."), text("## 1. Scores")]
    for exercise in verdicts:
        name = exercises.find(exercise).name
        cells += [code(f"def {name}(q, k):\n    return q @ k.T", "answer", exercise), code("", "check", exercise)]
    htmls = [*TRIES, *ONLY_FILTERED]
    tries = [{"output_type": "display_data", "data": {"text/html": html}, "metadata": {}} for html in htmls]
    table = "<table><tr><th>query</th><th>weight</th></tr><tr><td>the</td><td>0.5</td></tr></table>"
    tries.append({"output_type": "execute_result", "data": {"text/html": table}, "metadata": {}})
    tries.append({"output_type": "display_data", "data": {"image/svg+xml": TRIES[4]}, "metadata": {}})
    tries.append({"output_type": "display_data", "data": {"application/javascript": "document.title = 1"}})
    cells.append(code("show(everything)", outputs=sanitise.outputs(tries)))
    cells.append(text(sanitise.markdown("\n\n".join(htmls)), origin="student"))
    outcomes = (
        exercise_record(right.id, float(right.points), right.points, Outcome.PASSED),
        exercise_record(wrong.id, 0.0, wrong.points, Outcome.WRONG),
    )
    graded = record("ada", "01_attention", outcomes, repairs=["The check of `attention.mix` was put back."])
    page = render_feedback(
        {"cells": cells}, graded, {name: verdict.html() for name, verdict in verdicts.items() if verdict}
    )
    path = tmp_path_factory.mktemp("feedback") / "feedback.html"
    path.write_text(page)
    return path


def text(source: str, origin: str = "release") -> dict[str, Any]:
    metadata = {"katze": {"kind": "markdown", "origin": origin, "exercise": None}}
    return {"cell_type": "markdown", "metadata": metadata, "source": source}


def code(source: str, kind: str = "code", exercise: str | None = None, outputs: Any = ()) -> dict[str, Any]:
    metadata = {"katze": {"kind": kind, "origin": "student", "exercise": exercise}}
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": list(outputs)}


def is_as_wide_as_the_window(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@views
def test_the_class_page(visit: Visit, class_page: Path, width: int, dark: bool) -> None:
    page = visit(class_page, width=width, dark=dark)
    assert is_as_wide_as_the_window(page)
    assert page.evaluate("document.documentElement.scrollHeight") < 5_000
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert faults(page) == []
    assert is_as_wide_as_the_window(page)


def test_a_large_class_is_folded_and_opens(visit: Visit, class_page: Path) -> None:
    page = visit(class_page, width=TELEPHONE)
    student = page.get_by_text("student-007-of-the-class")
    assert not student.is_visible()
    page.get_by_text(f"{CLASS} students, by name").click()
    assert student.is_visible()


def test_on_paper_nothing_is_folded(visit: Visit, class_page: Path) -> None:
    page = visit(class_page)
    message = page.locator("details p").first
    assert not message.is_visible()
    page.emulate_media(media="print")
    assert message.is_visible()
    assert page.get_by_text("student-007-of-the-class").is_visible()


@views
def test_the_feedback_page(visit: Visit, feedback_page: Path, width: int, dark: bool) -> None:
    page = visit(feedback_page, width=width, dark=dark)
    assert is_as_wide_as_the_window(page)
    for folded, inside in (("Intermediate values of the right answer", "alpha"), ("Hint: The idea", "Four steps")):
        assert not page.locator(".katze-verdict details").get_by_text(inside).is_visible()
        page.get_by_text(folded).click()
        assert page.locator(".katze-verdict details").get_by_text(inside).is_visible()
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert faults(page) == []
    assert is_as_wide_as_the_window(page)


def test_a_student_s_output_runs_nothing_and_takes_nothing_away(visit: Visit, feedback_page: Path) -> None:
    """Nor does it load anything: `visit` sees to that."""
    page = visit(feedback_page)
    for link in page.get_by_role("link", name="a link").all():
        link.click()
    assert page.title() == "ada · Lesson 01 · Attention"
    assert page.get_by_role("cell", name="0.5", exact=True).is_visible()
    for tag in ("script", "iframe", "svg", "form", "main style", "main img", "object", "input", "link", "base", "math"):
        assert page.locator(tag).count() == 0, tag


def test_without_its_filter_the_page_still_runs_nothing_but_the_course_s_widget(visit: Visit, tmp_path: Path) -> None:
    """The page's own policy, should anything of a student's ever slip in."""
    widget = {
        "output_type": "display_data",
        "data": {"text/html": show.attention_stepper()._repr_mimebundle_()["text/html"]},
    }
    cells = [code("show.attention_stepper()", outputs=sanitise.outputs([widget]))]
    html = render_feedback({"cells": cells}, record("ada", "01_attention", ()), {})
    path = tmp_path / "feedback.html"
    path.write_text(html.replace("<main>", "<main>" + "<hr>".join(TRIES), 1))
    page = visit(path)
    for link in page.get_by_text("a link").all():
        link.click()
    assert page.locator("svg script, iframe, object").count() > 0, "they are on the page"
    page.get_by_label("with a slip").check()
    assert "Divided by 3" in page.locator(".katze-live").inner_text()
    for button in page.get_by_role("button", name="send").all():
        with page.expect_console_message(lambda said: "form-action" in said.text):
            button.evaluate("button => button.click()")  # a click by hand waits for what is forbidden
    assert page.evaluate("[document.title, location.href]") == ["ada · 01_attention", path.as_uri()]
