"""What only draws is folded; what is there to be read, or used by a later cell, is not."""

from __future__ import annotations

import nbformat
import pytest

from autograder.course.folding import FOLDED, fold


def folded(source: str, tags: list[str]) -> bool:
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": tags} if tags else {})
    fold(cell)
    return {key: cell.metadata.get(key) for key in FOLDED} == FOLDED


@pytest.mark.parametrize(
    "source",
    [
        "@show.when_ready\ndef a_picture():\n    show.bars(a, b)",
        "show.attention_stepper()",
        "from math import pi\n\nshow.bars([pi])\nshow.clocks(a)",
    ],
)
def test_what_only_draws_is_folded(source: str) -> None:
    assert folded(source, ["demo"])
    assert not folded(source, [])


def test_what_is_folded_says_what_it_is_in_its_first_line() -> None:
    first, second = (
        nbformat.v4.new_code_cell(source, metadata={"tags": ["demo"]})
        for source in ("@show.when_ready\ndef who_chased_whom():\n    show.bars(a, b)", "show.attention_stepper()")
    )
    fold(first)
    fold(second)
    assert first.source.startswith("# @title The code of this picture: who chased whom\n@show.when_ready\n")
    assert second.source == "# @title The code of this picture\nshow.attention_stepper()"


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\nshow.bars([x])",
        "def helper():\n    show.bars([1])",
        "print(1)",
        "%time show.bars([1])",
        "for x in y:\n    show.bars([x])",
    ],
)
def test_what_is_there_to_be_read_is_not(source: str) -> None:
    assert not folded(source, ["demo"])


def test_text_is_not_code() -> None:
    cell = nbformat.v4.new_markdown_cell("# not Python (", metadata={"tags": ["demo"]})
    fold(cell)
    assert cell.metadata == {"tags": ["demo"]}
