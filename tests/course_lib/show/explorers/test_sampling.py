"""Words and their probabilities reach the script and the still picture."""

from __future__ import annotations

import torch

from course_lib import show


def test_the_still_lists_every_word_as_text(put_on_the_page) -> None:
    widget = put_on_the_page(show.sampling, ["<b>", "tanzte"], torch.tensor([0.25, 0.75]))
    assert widget.data == {"words": ["<b>", "tanzte"], "probabilities": [0.25, 0.75]}
    assert "<li>&lt;b&gt; 0.250</li><li>tanzte 0.750</li>" in widget.still
    assert widget.text == "<b> 0.250, tanzte 0.750"
