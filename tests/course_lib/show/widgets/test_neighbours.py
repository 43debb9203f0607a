"""Words in a plane: what the script is given, and what is refused."""

from __future__ import annotations

import torch

from course_lib.show import neighbours

WORDS = ["train", "<b>", "radio"]
VECTORS = torch.tensor([[2.3, 0.3], [1.4, 1.4], [0.3, 2.2]])


def test_the_script_has_every_vector_and_the_still_shows_it(put_on_the_page) -> None:
    widget = put_on_the_page(neighbours, WORDS, VECTORS, 1)
    assert widget.data["vectors"] == [[2.3, 0.3], [1.4, 1.4], [0.3, 2.2]]
    assert widget.data["chosen"] == 1
    assert "&lt;b&gt;" in widget.still
    assert "radio | 0.3 | 2.2" in widget.text
