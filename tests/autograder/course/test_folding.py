"""What only draws is folded; what is there to be read, or used by a later cell, is not."""

import nbformat
import pytest

from autograder.course.folding import FOLDED, fold


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("@show.when_ready\ndef who_chased_whom():\n    show.bars(a, b)", ": who chased whom"),
        ("from math import pi\n\nshow.bars([pi])\nshow.clocks(a)", ""),
    ],
)
def test_what_only_draws_is_folded_and_says_what_it_is_in_its_first_line(source: str, title: str) -> None:
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": ["demo"]})
    fold(cell)
    assert FOLDED.items() <= cell.metadata.items()
    assert cell.source == f"# @title The code of this picture{title}\n{source}"


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
    for cell in (
        nbformat.v4.new_code_cell(source, metadata={"tags": ["demo"]}),
        nbformat.v4.new_code_cell("show.bars([1])"),
        nbformat.v4.new_markdown_cell("# not Python (", metadata={"tags": ["demo"]}),
    ):
        before = nbformat.from_dict(cell)
        fold(cell)
        assert cell == before
