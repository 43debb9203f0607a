"""Every word covered once, with what may lie there."""

from __future__ import annotations

from course_lib.show import covered
from course_lib.show.widgets.covered import CAT

WORDS = ["the", "cat", "<saw>", "the"]
GUESSES = [[("a", 0.5)], [("dog", 0.6), ("cat", 0.3)], [("<saw>", 0.9)], [("the", 1.0)]]


def test_every_word_is_covered_once(put_on_the_page) -> None:
    widget = put_on_the_page(covered, WORDS, GUESSES)
    assert widget.still.count(CAT) == len(WORDS)
    assert f"the {CAT} &lt;saw&gt; the</td><td>dog 60%, cat 30%" in widget.still
    assert "the [MASK] <saw> the: dog 60%, cat 30%" in widget.text
    assert widget.data == {"words": WORDS, "guesses": GUESSES, "position": 2, "cat": CAT}
