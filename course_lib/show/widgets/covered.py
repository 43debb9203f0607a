"""A sentence with a cat on one of its words, and what a model says lies under it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from course_lib.show.figures import BLUE, ORANGE
from course_lib.show.live import show_above_its_page

Guesses = Sequence[tuple[str, float]]
"""Words with their probabilities, the most probable first."""

CAT = "🐈"
_NOTE = "The words of this sentence can be covered while a kernel is running: run this cell."


class Covered:
    """A sentence whose words can be covered, one at a time, and below it all the guesses on one plain page.

    Attributes:
        words: the sentence.
        guesses: for each word what may lie under the cat there.
        place: which word is covered, counted from 0.
    """

    def __init__(self, words: Sequence[str], guesses: Sequence[Guesses]) -> None:
        if not words or len(words) != len(guesses):
            raise ValueError(f"{len(words)} words need guesses for each of them, not for {len(guesses)}")
        self.words = tuple(words)
        self.guesses = tuple(tuple(each) for each in guesses)
        self.place = min(2, len(words) - 1)

    def picture(self, place: int) -> str:
        """The sentence with this word covered, and the guesses as bars; the right one, if it is there, in orange."""
        shown = " ".join(CAT if i == place else escape(word) for i, word in enumerate(self.words))
        rows = "".join(_bar(word, share, word == self.words[place]) for word, share in self.guesses[place])
        return f'<div style="padding:.3em 0"><div style="font-size:1.2em">{shown}</div>{rows}</div>'

    def html(self) -> str:
        """The plain page: every word covered once."""
        return "".join(self.picture(place) for place in range(len(self.words)))

    def text(self) -> str:
        """The same without markup."""
        return "\n".join(
            f"{' '.join('[MASK]' if i == place else word for i, word in enumerate(self.words))}: "
            + ", ".join(f"{word} {share:.0%}" for word, share in guesses)
            for place, guesses in enumerate(self.guesses)
        )

    def widget(self) -> Any:
        """The clickable form, made of core ipywidgets.

        Raises:
            ImportError: ipywidgets is not installed.
        """
        import ipywidgets as widgets

        picture = widgets.HTML(self.picture(self.place))
        # A word may occur twice, so the options are places.
        options = [(word, place) for place, word in enumerate(self.words)]
        buttons = widgets.ToggleButtons(options=options, value=self.place, style={"button_width": "auto"})

        def cover(change: dict[str, Any]) -> None:
            self.place = change["new"]
            picture.value = self.picture(self.place)

        buttons.observe(cover, names="value")
        return widgets.VBox([buttons, picture])

    def _ipython_display_(self) -> None:
        show_above_its_page(
            self.widget,
            _NOTE,
            page=self.html(),
            text=self.text(),
            summary="Every word covered once, on one page",
        )


def covered(words: Sequence[str], guesses: Sequence[Guesses]) -> Covered:
    """A sentence to cover word by word: leave it as the last line of a cell.

    Args:
        words: the sentence.
        guesses: for each word what may lie under the cat there, the most probable first.

    Raises:
        ValueError: there are no words, or there are not guesses for each of them.
    """
    return Covered(words, guesses)


def _bar(word: str, share: float, right: bool) -> str:
    colour = ORANGE if right else BLUE
    return (
        '<div style="display:flex;align-items:center;gap:.6em;line-height:1.5">'
        f'<span style="width:7em;text-align:right">{escape(word)}</span>'
        f'<span style="background:{colour};height:.9em;width:{16 * share:.2f}em"></span><span>{share:.0%}</span></div>'
    )
