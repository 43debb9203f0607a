"""A sentence being written: a row for each word, and a slider that goes through them."""

from __future__ import annotations

from importlib import import_module

import ipywidgets
import pytest
from matplotlib.patches import Rectangle

from course_lib import show
from course_lib.show import figures
from course_lib.show.widgets.writing import Writing, Written

STEPS = (
    Written(["<s>"], [("die", 0.9), ("der", 0.06)], [0.8, 0.1, 0.1]),
    Written(["<s>", "die"], [("<b>", 0.7), ("Maus", 0.2)], [0.05, 0.92, 0.03]),
)
WRITING = Writing(("the", "cat", "danced"), STEPS)


def test_a_row_for_each_step() -> None:
    drawn = WRITING.draw()
    assert [text.get_text() for text in drawn.texts] == ["has read", "looks at", "thinks next", "<s>", "<s> die"]
    cells, bars, *_later = drawn.axes
    assert [text.get_text() for text in cells.texts] == ["the", "0.80", "cat", "0.10", "danced", "0.10"]
    assert [bar.get_width() for bar in bars.patches if isinstance(bar, Rectangle)] == pytest.approx([0.9, 0.06])
    assert [label.get_text() for label in bars.get_yticklabels()] == ["die", "der"]


def test_the_slider_steps_through_the_sentence() -> None:
    slider, page = WRITING.widget().children
    assert isinstance(slider, ipywidgets.IntSlider)
    assert (slider.min, slider.max) == (1, 2)
    assert page.value == WRITING.html(0)
    slider.value = 2
    assert page.value == WRITING.html(1)


def test_words_are_text_and_no_markup() -> None:
    page = WRITING.html(1)
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "cat 0.92" in page


def test_it_shows_the_picture_and_the_slider_only_where_there_is_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    monkeypatch.setattr(figures, "display", shown.append)
    show.writing(WRITING.source, STEPS, alt="two steps")
    assert [type(one) for one in shown] == [figures.Pictured]
    module = import_module("course_lib.show.live")
    monkeypatch.setattr(module, "live", lambda widget, note: {"text/plain": note})
    monkeypatch.setattr(module, "display", lambda bundle, raw: shown.append(bundle))
    show.writing(WRITING.source, STEPS, alt="two steps")
    assert "running kernel" in str(shown[-1])


def test_steps_that_do_not_fit_the_source_are_refused() -> None:
    with pytest.raises(ValueError, match="2 source words need as many weights, not 3"):
        Writing(("the", "cat"), STEPS)
    with pytest.raises(ValueError, match="no word has been written"):
        Writing(("the", "cat"), ())
