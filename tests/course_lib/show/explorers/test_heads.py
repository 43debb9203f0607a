"""Attention weights reach the script and the still picture."""

from __future__ import annotations

import torch

from course_lib import show

ALPHA = torch.tensor([[[[0.9, 0.1], [0.1234, 0.8766]], [[0.5, 0.5], [0.0, 1.0]]]])


def test_weights_are_written_in_thousandths_and_keys_are_the_queries(put_on_the_page) -> None:
    data = put_on_the_page(show.heads, [show.TextAttention(["the", "cat"], ALPHA)]).data
    assert (data["layers"], data["heads"]) == (1, 2)
    (text,) = data["texts"]
    assert text["name"] == "the cat"
    assert text["keys"] == text["queries"] == ["the", "cat"]
    assert text["alpha"] == [[[[900, 100], [123, 877]], [[500, 500], [0, 1000]]]]


def test_it_opens_on_the_head_that_looks_at_single_words(put_on_the_page) -> None:
    """Where all attention goes to the first word, to each word itself, or evenly to all, nothing is to be seen."""
    sink, itself, even = torch.zeros(4, 4), torch.eye(4), torch.full((4, 4), 0.25)
    sink[:, 0] = 1.0
    before = torch.eye(4).roll(-1, dims=1)  # each word looks at the one before
    before[0] = torch.tensor([1.0, 0.0, 0.0, 0.0])
    before[2] = torch.tensor([0.0, 0.9, 0.1, 0.0])
    for heads, keys, opens in (
        ([sink, itself, even, before], None, [0, 4, 3]),
        ([before, sink, even, itself], None, [0, 1, 3]),
        ([even, sink, itself, even], ["a", "b", "c", "d"], [0, 2, 0]),  # of other words, the first is one like any
    ):
        text = show.TextAttention(["<s>", "the", "old", "cat"], torch.stack(heads).unsqueeze(0), keys)
        assert put_on_the_page(lambda text=text: show.heads([text])).data["opens"] == opens
    masked = show.TextAttention(["[CLS]", "the", "cat", "[SEP]"], torch.stack([sink.flip(1), before]).unsqueeze(0))
    assert put_on_the_page(show.heads, [masked]).data["opens"] == [0, 2, 3]
    layers = torch.stack([torch.stack([even, sink]), torch.stack([before, even])])
    widget = put_on_the_page(show.heads, [show.TextAttention(["<s>", "the", "old", "cat"], layers)])
    assert widget.data["opens"][:2] == [1, 1]
    assert "Head 1 of layer 2" in widget.still


def test_the_still_shows_a_head_and_words_as_text(put_on_the_page) -> None:
    widget = put_on_the_page(show.heads, [show.TextAttention(["die", "Katze"], ALPHA, ["<i>", "cat"])])
    assert "<th>die</th><td>0.90</td><td>0.10</td>" in widget.still
    assert "&lt;i&gt;" in widget.still
    assert "<i>" not in widget.still
    assert widget.text.splitlines() == [
        "layer 1, head 1: die → <i>, Katze → cat",
        "layer 1, head 2: die → <i>, Katze → cat",
    ]
