"""A text to cut: the picture is the student's function's, the pairs are the script's."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.show import cutting

MERGES = [("▁", "c"), ("▁c", "a")]


def cut(text: str, merges: Sequence[tuple[str, str]]) -> list[str]:
    """The first letters joined, the others single."""
    return [f"▁{text[: len(merges)]}", *text[len(merges) :]]


def test_the_picture_is_cut_by_the_function_and_the_script_has_the_pairs(put_on_the_page) -> None:
    widget = put_on_the_page(cutting, cut, "cat", MERGES, (0, 2), title="cat", alt="two cuts")
    assert widget.text.splitlines() == ["two cuts", "0 pairs: ▁ c a t", "2 pairs: ▁ca t"]
    assert 'alt="two cuts"' in widget.still
    assert widget.data == {"text": "cat", "merges": [["▁", "c"], ["▁c", "a"]], "mark": "▁"}
