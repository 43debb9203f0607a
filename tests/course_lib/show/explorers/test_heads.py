"""Attention weights reach the script and the still picture."""

from __future__ import annotations

import pytest
import torch

from course_lib import show

ALPHA = torch.tensor([[[[0.9, 0.1], [0.1234, 0.8766]], [[0.5, 0.5], [0.0, 1.0]]]])


def test_weights_are_written_in_thousandths_and_keys_are_the_queries(put_on_the_page) -> None:
    data = put_on_the_page(lambda: show.heads([show.TextAttention(["the", "cat"], ALPHA)])).data
    assert (data["layers"], data["heads"]) == (1, 2)
    (text,) = data["texts"]
    assert text["name"] == "the cat"
    assert text["keys"] == text["queries"] == ["the", "cat"]
    assert text["alpha"] == [[[[900, 100], [123, 877]], [[500, 500], [0, 1000]]]]


def test_the_still_shows_the_mean_of_the_heads_and_words_as_text(put_on_the_page) -> None:
    widget = put_on_the_page(lambda: show.heads([show.TextAttention(["die", "Katze"], ALPHA, ["<i>", "cat"])]))
    assert "<th>die</th><td>0.70</td><td>0.30</td>" in widget.still
    assert "&lt;i&gt;" in widget.still
    assert "<i>" not in widget.still
    assert widget.text.splitlines() == [
        "layer 1, head 1: die → <i>, Katze → cat",
        "layer 1, head 2: die → <i>, Katze → cat",
    ]


def test_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one text"):
        show.heads([])
