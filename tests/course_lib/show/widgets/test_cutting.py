"""A word to cut: the picture, the field and the slider."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import ipywidgets
import pytest

from course_lib import show
from course_lib.show import figures
from course_lib.show.widgets.cutting import Cutting


def cut(word: str, number: int) -> Sequence[str]:
    """The first letters joined, the others single."""
    return [word[: number + 1], *word[number + 1 :]]


CUTTING = Cutting(cut, "cat", 2)


def test_the_field_and_the_slider_cut_anew() -> None:
    field, slider, page = CUTTING.widget().children
    assert isinstance(field, ipywidgets.Text)
    assert (slider.min, slider.max) == (0, 2)
    assert page.value == CUTTING.html("cat", 2)
    slider.value = 0
    assert page.value == CUTTING.html("cat", 0)
    field.value = "meow"
    assert page.value == CUTTING.html("meow", 0)


def test_pieces_are_text_and_no_markup() -> None:
    page = CUTTING.html("<b>", 2)
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_what_the_function_raises_is_said() -> None:
    def broken(word: str, number: int) -> Sequence[str]:
        raise KeyError(word)

    assert Cutting(broken, "cat", 2).html("<i>", 1) == "<p>KeyError: &#x27;&lt;i&gt;&#x27;</p>"


def test_it_shows_the_picture_and_the_field_only_where_there_is_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    monkeypatch.setattr(figures, "display", shown.append)
    show.cutting(cut, "cat", (0, 1, 2), title="cat", alt="three cuts")
    assert [type(one) for one in shown] == [figures.Pictured]
    module = import_module("course_lib.show.live")
    monkeypatch.setattr(module, "live", lambda widget, note: {"text/plain": note})
    monkeypatch.setattr(module, "display", lambda bundle, raw: shown.append(bundle))
    show.cutting(cut, "cat", (0, 1, 2), title="cat", alt="three cuts")
    assert "running kernel" in str(shown[-1])
