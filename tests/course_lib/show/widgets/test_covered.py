"""A click covers a word; without buttons every word is covered once on a page."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from course_lib.show import covered
from course_lib.show.figures import ORANGE
from course_lib.show.widgets.covered import CAT

LIVE = sys.modules["course_lib.show.live"]
WORDS = ["the", "cat", "<saw>", "the"]
GUESSES = [[("a", 0.5)], [("dog", 0.6), ("cat", 0.3)], [("<saw>", 0.9)], [("the", 1.0)]]


def test_the_covered_word_is_a_cat_and_the_right_guess_stands_out() -> None:
    picture = covered(WORDS, GUESSES).picture(1)
    assert f"the {CAT} &lt;saw&gt; the" in picture
    assert "60%" in picture
    assert picture.count(ORANGE) == 1
    assert covered(WORDS, GUESSES).picture(0).count(ORANGE) == 0


def test_a_click_covers_another_word() -> None:
    sentence = covered(WORDS, GUESSES)
    buttons, picture = sentence.widget().children
    assert sentence.place == 2
    buttons.value = 3
    assert sentence.place == 3
    assert picture.value == sentence.picture(3)
    assert [label for label, _ in buttons.options] == WORDS


def test_the_page_has_every_word() -> None:
    sentence = covered(WORDS, GUESSES)
    assert sentence.html().count(CAT) == len(WORDS)
    assert "the [MASK] <saw> the: dog 60%, cat 30%" in sentence.text()


def test_guesses_are_needed_for_every_word() -> None:
    with pytest.raises(ValueError, match="4 words need guesses for each of them, not for 3"):
        covered(WORDS, GUESSES[:3])


@pytest.mark.parametrize(("kernel", "bundles"), [(None, 1), (object(), 2)])
def test_buttons_are_there_where_a_kernel_answers(
    monkeypatch: pytest.MonkeyPatch, kernel: object | None, bundles: int
) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr(LIVE, "display", lambda bundle, raw: shown.append(bundle))
    monkeypatch.setattr(LIVE, "get_ipython", lambda: SimpleNamespace(kernel=kernel))
    covered(WORDS, GUESSES)._ipython_display_()
    assert len(shown) == bundles
    assert CAT in shown[-1]["text/html"]
