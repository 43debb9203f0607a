"""A word cut into pieces, with a field to type another one and a slider for how many pairs are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from course_lib.show.figures import INK
from course_lib.show.live import show_live
from course_lib.show.pictures.pieces import FACES, piece_rows

_NOTE = "The field to type a word in needs a running kernel: run this cell."


def cutting(
    cut: Callable[[str, int], Sequence[str]], word: str, numbers: Sequence[int], *, title: str, alt: str
) -> None:
    """Show how a word is cut and, where there is a kernel, a field and a slider to cut others.

    Args:
        cut: the pieces of a word by a given number of pairs, most likely the student's own function.
        word: the one in the picture.
        numbers: of pairs, a row of the picture for each; the last one is as far as the slider goes.
        title: what the picture shows.
        alt: one sentence for readers who cannot see it.
    """
    piece_rows([(f"{number} pairs", cut(word, number)) for number in numbers], title=title, alt=alt)
    shown = Cutting(cut, word, numbers[-1])
    show_live(shown.widget, _NOTE)


@dataclass(frozen=True)
class Cutting:
    """What the field and the slider begin with.

    Attributes:
        cut: the pieces of a word by a given number of pairs.
        word: the first word.
        most: how far the slider goes.
    """

    cut: Callable[[str, int], Sequence[str]]
    word: str
    most: int

    def html(self, word: str, number: int) -> str:
        """A word's pieces, as a page that is redrawn with every letter; where the function raises, what it raises."""
        try:
            pieces = list(self.cut(word, number))
        except Exception as error:  # a student's function may raise anything
            return f"<p>{escape(type(error).__name__)}: {escape(str(error))}</p>"
        style = f"color:{INK};padding:.15em .5em;border-radius:.3em;margin-right:.15em"
        chips = "".join(
            f'<span style="background:{FACES[place % 2]};{style}">{escape(str(piece))}</span>'
            for place, piece in enumerate(pieces)
        )
        return f'<div style="line-height:2.1">{chips} {len(pieces)}</div>'

    def widget(self) -> Any:
        """The field and the slider, above the pieces.

        Raises:
            ImportError: ipywidgets is not installed.
        """
        import ipywidgets as widgets

        field = widgets.Text(value=self.word, description="text", layout={"width": "30em"})
        slider = widgets.IntSlider(value=self.most, min=0, max=self.most, description="pairs", layout={"width": "30em"})
        page = widgets.HTML(self.html(self.word, self.most))

        def go(_change: dict[str, Any]) -> None:
            page.value = self.html(field.value, slider.value)

        for control in (field, slider):
            control.observe(go, names="value")
        return widgets.VBox([field, slider, page])
