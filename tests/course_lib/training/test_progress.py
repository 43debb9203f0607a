"""The progress bar: what it shows where there is a terminal, and nothing where there is none."""

import io
from itertools import count

import pytest
from rich.console import Console

from course_lib.ground import progress_bar as bar_module
from course_lib.training import progress
from course_lib.training.progress import TrainingStep, progress_bar, track
from tests.course_lib.page import Page


def drawn(terminal: bool) -> str:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, force_jupyter=False, width=120)
    with progress_bar(4, "learning", console) as tell:
        for number in range(1, 5):
            tell(TrainingStep(number, 2.0 / number, rate=0.1, tokens=3000 * number, seconds=0.5 * number))
    return file.getvalue()


def test_a_terminal_sees_steps_loss_and_speed() -> None:
    shown = drawn(terminal=True)
    assert "learning" in shown
    assert "4/4" in shown
    assert "loss 0.500" in shown
    assert "6,000 tokens/s" in shown


def test_a_file_sees_nothing() -> None:
    assert drawn(terminal=False).strip() == ""


def test_no_time_is_no_speed() -> None:
    assert TrainingStep(1, 1.0, 0.1, tokens=5, seconds=0.0).tokens_per_second == 0


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    shown = Page()
    monkeypatch.setattr("IPython.display.display", shown.display)
    return shown


def test_a_notebook_sees_plain_html_that_is_gone_in_the_end(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bar_module, "BETWEEN", -1.0)
    with progress_bar(3, "<cats>", Console(force_jupyter=True)) as tell:
        for number in range(1, 4):
            tell(TrainingStep(number, 2.0, rate=0.1, tokens=10, seconds=1.0))
    assert [bar.done for bar in page.bars] == [0, 1, 2, 3]
    assert 'value="1"' in page.texts[1]
    assert "loss 2.000" in page.texts[1]
    assert "&lt;cats&gt;" in page.texts[1]
    assert page.texts[-1] == ""
    assert all("<cats>" not in text for text in page.texts)


def test_a_notebook_sees_the_loss_while_it_falls(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bar_module, "BETWEEN", -1.0)
    with progress_bar(4, "cats", Console(force_jupyter=True)) as tell:
        for number, loss in enumerate((4.0, 2.0, 1.0, 0.5), 1):
            tell(TrainingStep(number, loss, rate=0.1, tokens=10, seconds=1.0))
    assert ["<svg" in text for text in page.texts] == [False, False, True, True, False]
    assert 'points="0.0,0.0 60.0,24.0 120.0,36.0"' in page.texts[3]
    assert "from 4 to 1" in page.texts[3]


@pytest.fixture
def slow_loop(page: Page, monkeypatch: pytest.MonkeyPatch) -> Page:
    """A notebook's page, on which every look at the clock takes two seconds."""
    seconds = count(0, 2)
    monkeypatch.setattr(bar_module.time, "monotonic", lambda: float(next(seconds)))
    monkeypatch.setattr("rich.console.Console", lambda: Console(force_jupyter=True))
    return page


def test_a_loop_shows_how_far_it_is(slow_loop: Page) -> None:
    assert list(track("abcdef", "cats & dogs")) == list("abcdef")
    assert "cats &amp; dogs" in slow_loop.texts[0]
    assert 'max="6" value="1"' in slow_loop.texts[0]
    assert "20 s left" in slow_loop.texts[0]
    assert 'value="5"' in slow_loop.texts[-2]
    assert slow_loop.texts[-1] == "", "when it is over the bar is gone"


def test_a_loop_that_breaks_off_leaves_no_bar(slow_loop: Page) -> None:
    going = iter(track("abcdef"))
    assert (next(going), next(going)) == ("a", "b")
    assert slow_loop.texts[-1]
    del going
    assert slow_loop.texts[-1] == ""


def test_a_short_loop_shows_none(slow_loop: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 100.0)
    assert list(track(range(3))) == [0, 1, 2]
    assert slow_loop.bars == []


def test_without_a_page_there_is_nothing_but_the_items(page: Page, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(track(range(3))) == [0, 1, 2]
    assert page.bars == []
    assert capsys.readouterr() == ("", "")
