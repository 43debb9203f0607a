"""Beginnings on the page, and the field beside them."""

from __future__ import annotations

import pytest

from course_lib.show.widgets.prompts import prompts, widget


def twice(text: str) -> str:
    return f"{text} {text}" if text else "nothing to go on from"


def test_the_page_has_each_beginning_once_with_what_follows(capsys: pytest.CaptureFixture[str]) -> None:
    prompts(twice, ["the cat", "a dog"])
    assert capsys.readouterr().out == "the cat … the cat\n\na dog … a dog\n\n"


def test_the_button_goes_on_from_what_is_in_the_field() -> None:
    shown = widget(twice, "the cat")
    (field, button), page = shown.children[0].children, shown.children[1]
    assert field.value == "the cat"
    field.value = " <b>meow "
    button.click()
    assert "&lt;b&gt;meow &lt;b&gt;meow" in page.value
    field.value = ""
    button.click()
    assert "nothing to go on from" in page.value


def test_long_lines_end_between_words(capsys: pytest.CaptureFixture[str]) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    prompts(lambda text: f"{text} {words}", ["the cat"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 84
    assert " ".join(lines).split() == ["the", "cat", "…", *words.split()]
