"""What a model did for a sentence reaches the script and the still picture."""

from __future__ import annotations

import torch

from course_lib import show

ALPHA = torch.tensor([[[[0.9, 0.1], [0.1234, 0.8766]], [[0.5, 0.5], [0.0, 1.0]]]])
DANCE = show.TranslationAttention(["<i>", "danced"], ["tanzte", "<e>"], [[("tanzte", 0.5)], [("<e>", 0.25)]], ALPHA)


def test_shares_are_written_in_thousandths(put_on_the_page) -> None:
    data = put_on_the_page(show.translating, [DANCE]).data
    assert (data["layers"], data["heads"]) == (1, 2)
    (sentence,) = data["sentences"]
    assert sentence["alpha"] == [[[[900, 100], [123, 877]], [[500, 500], [0, 1000]]]]
    assert sentence["likely"] == [[["tanzte", 500]], [["<e>", 250]]]
    assert sentence["target"] == ["tanzte", "<e>"]


def test_the_still_shows_the_mean_of_the_heads_and_words_as_text(put_on_the_page) -> None:
    widget = put_on_the_page(show.translating, [DANCE])
    assert "<th>tanzte</th><td>0.70</td><td>0.30</td>" in widget.still
    assert "&lt;i&gt;" in widget.still
    assert "<i>" not in widget.still
    assert widget.text == "<i> danced  →  tanzte <e>"
