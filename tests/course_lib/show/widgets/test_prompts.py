"""Beginnings, each with several ways in which a model goes on."""

from __future__ import annotations

from itertools import count

from course_lib.show.widgets.prompts import prompts


def test_each_beginning_goes_on_several_times(put_on_the_page) -> None:
    thrown = count()
    widget = put_on_the_page(
        lambda: prompts(lambda text: f"{text} <saw> {next(thrown)}", ["the cat", "a dog"], times=2)
    )
    assert widget.data == {
        "beginnings": ["the cat", "a dog"],
        "texts": [[["<saw>", "0"], ["<saw>", "1"]], [["<saw>", "2"], ["<saw>", "3"]]],
    }
    assert widget.still == "<p>the cat … &lt;saw&gt; 0</p><p>a dog … &lt;saw&gt; 2</p>"


def test_long_lines_end_between_words(put_on_the_page) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    lines = put_on_the_page(prompts, lambda text: f"{text} {words}", ["the cat"]).text.splitlines()
    assert max(map(len, lines)) <= 84
    assert " ".join(lines).split() == ["the", "cat", "…", *words.split()]
