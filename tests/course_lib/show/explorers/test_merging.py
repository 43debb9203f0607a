"""A text reaches the script as it is; the still picture counts its characters and words."""

from __future__ import annotations

from course_lib import show


def test_the_still_counts_characters_with_the_mark_and_words(put_on_the_page) -> None:
    widget = put_on_the_page(show.merging, "a <b>  a")
    assert widget.data == {"text": "a <b> a", "mark": "▁"}
    assert "<tr><th>characters</th><td>8</td><td>5</td></tr>" in widget.still
    assert "<tr><th>words</th><td>3</td><td>2</td></tr>" in widget.still
    assert "<b>" not in widget.still
    assert widget.text.splitlines()[3] == "words | 3 | 2"
