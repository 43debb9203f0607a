"""A sentence being written: a row for each word, to step through."""

from __future__ import annotations

import pytest
from matplotlib.patches import Rectangle

from course_lib import show
from course_lib.show import Written

SOURCE = ["the", "cat", "danced"]
STEPS = (
    Written(["<s>"], [("die", 0.9), ("der", 0.06)], [0.8, 0.1, 0.1]),
    Written(["<s>", "die"], [("<b>", 0.7), ("Maus", 0.2)], [0.05, 0.92, 0.03]),
)


def test_a_row_for_each_step(drawn) -> None:
    shown = drawn(show.writing, SOURCE, STEPS, alt="two steps")
    assert [text.get_text() for text in shown.texts] == ["has read", "looks at", "thinks next", "<s>", "<s> die"]
    cells, bars, *_later = shown.axes
    assert [text.get_text() for text in cells.texts] == ["the", "0.80", "cat", "0.10", "danced", "0.10"]
    assert [bar.get_width() for bar in bars.patches if isinstance(bar, Rectangle)] == pytest.approx([0.9, 0.06])
    assert [label.get_text() for label in bars.get_yticklabels()] == ["die", "der"]


def test_the_steps_are_in_the_still_in_the_data_and_in_words(put_on_the_page) -> None:
    widget = put_on_the_page(show.writing, SOURCE, STEPS, alt="two steps")
    assert 'alt="two steps"' in widget.still
    assert widget.data["source"] == SOURCE
    assert widget.data["steps"][1] == {
        "read": ["<s>", "die"],
        "candidates": list(STEPS[1].candidates),
        "alpha": list(STEPS[1].alpha),
    }
    assert widget.text.splitlines()[1:] == ["<s> → die 0.90, der 0.06", "<s> die → <b> 0.70, Maus 0.20"]
