"""What the stills say is what attention and softmax give.

Tests `exploring.py` and `stills.py`.
"""

from __future__ import annotations

import pytest
import torch
from bs4 import BeautifulSoup

from course_lib.show import query_explorer, softmax_gradient
from course_lib.show.stills import still_table, still_text
from course_lib.show.widgets.exploring import AT_64, PRODUCTS


@pytest.mark.parametrize(("how", "divisor"), [("by 1", 1), ("by √d_head", 8), ("by d_head", 64)])
def test_the_softmax_s_numbers_are_torch_s(how: str, divisor: int) -> None:
    scaled = torch.tensor(PRODUCTS, dtype=torch.float64) * 8 / divisor
    slopes = torch.autograd.functional.jacobian(lambda row: torch.softmax(row, 0), scaled)
    alpha, size = AT_64[how]
    torch.testing.assert_close(torch.tensor(alpha, dtype=torch.float64), scaled.softmax(0), atol=5e-4, rtol=0)
    assert size == pytest.approx(slopes.norm().item(), abs=5e-4)


def test_the_stills_have_their_numbers(put_on_the_page) -> None:
    assert "<td>0.9971</td>" in put_on_the_page(query_explorer).still
    widget = put_on_the_page(softmax_gradient)
    assert "<td>0.490</td>" in widget.still
    assert widget.data["d_heads"][widget.data["start"]] == 64
    assert "divided by √d_head | 0.490" in widget.text


def test_a_still_escapes_what_is_in_it() -> None:
    rows = [("<b>", ["</td>", 1])]
    table = BeautifulSoup(still_table("a & b", ["x", "y"], rows), "html.parser")
    assert [cell.text for cell in table.find_all(["th", "td"])] == ["", "x", "y", "<b>", "</td>", "1"]
    assert still_text("a & b", ["x", "y"], rows) == "a & b\n | x | y\n<b> | </td> | 1"
