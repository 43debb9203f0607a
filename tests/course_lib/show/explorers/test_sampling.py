"""Words and their probabilities reach the script and the still picture."""

from __future__ import annotations

import pytest
import torch

from course_lib import show


def test_the_still_lists_every_word_as_text(put_on_the_page) -> None:
    widget = put_on_the_page(show.sampling, ["<b>", "tanzte"], torch.tensor([0.25, 0.75]))
    assert widget.data == {"words": ["<b>", "tanzte"], "probabilities": [0.25, 0.75]}
    assert "<li>&lt;b&gt; 0.250</li><li>tanzte 0.750</li>" in widget.still
    assert widget.text == "<b> 0.250, tanzte 0.750"


@pytest.mark.parametrize("shares", [[], [1.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.4, 0.1]])
def test_each_word_needs_a_probability(shares: list[float]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        show.sampling(["a", "b", "c"], torch.tensor(shares))
