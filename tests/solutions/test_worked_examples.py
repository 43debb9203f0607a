"""Every number that the lessons print about the two worked examples, recomputed: the right ones and the slides'."""

import re

import pytest
import torch
from torch import Tensor

from course_lib.attention import attention
from course_lib.masking import causal_mask
from tests.solutions.reading import read_lesson

Q = torch.tensor([[-1.0, -2.5], [4.0, 3.0]], dtype=torch.float64)
K = torch.tensor([[-2.0, -4.0], [-2.5, -0.5], [4.5, 2.5]], dtype=torch.float64)
A = attention(Q, K, K)

X = torch.tensor([[1.0, 1.0], [-1.0, -2.5], [4.0, 3.0], [2.0, -3.0]], dtype=torch.float64)
MASK = causal_mask(4)
B = attention(X, X, X, MASK)
"""The example with the lower-triangular mask."""
UNSCALED = torch.softmax(B.scores.masked_fill(~MASK, -1e9), dim=-1)
"""What the slide prints as alpha."""


def text(lesson: str) -> str:
    return "\n\n".join(cell.source for cell in read_lesson(lesson).cells if cell.cell_type == "markdown")


def row(lesson: str, step: str) -> tuple[str, str]:
    """The right and the printed cell of one row of the table that proofreads the slide."""
    (found,) = re.findall(rf"^\| {re.escape(step)} \| (.*) \| (.*) \|$", text(lesson), flags=re.M)
    return found


def rounded(values: Tensor, decimals: int = 4) -> str:
    return ", ".join(f"{value:.{decimals}f}".replace("-0.0000", "0.0000") for value in values.tolist())


def cut(values: Tensor) -> str:
    return ", ".join(f"{value:.2f}" for value in (torch.trunc(values * 100) / 100).tolist())


def numbers(cell: str) -> list[float]:
    return [float(number) for number in cell.split(", ")]


@pytest.mark.parametrize(("i", "word"), [(0, "*die*"), (1, "*Katze*")])
def test_the_first_slide_proofread(i: int, word: str) -> None:
    wrong = A.scores / 3
    weights = torch.softmax(wrong, dim=-1)
    assert row("01_attention", f"scaled, {word}") == (rounded(A.scaled[i]), rounded(wrong[i]))
    printed = {0: "0.94, 0.06, 0.00", 1: "0.00, 0.00, 0.99"}[i]
    assert row("01_attention", f"alpha, {word}") == (rounded(A.alpha[i]), printed)
    assert printed == (rounded(weights[i], 2) if i == 0 else cut(weights[i]))
    assert row("01_attention", f"out, {word}") == (rounded(A.out[i]), cut((weights @ K)[i]))


def test_what_the_first_slide_is_said_to_do() -> None:
    weights = torch.softmax(A.scores / 3, dim=-1)
    prose = text("01_attention")
    assert f"{weights[0, 0]:.4f} was rounded" in prose
    assert f"{weights[1, 2]:.6f} was truncated" in prose
    assert f"{(weights @ K)[0, 0]:.4f} became {cut((weights @ K)[0, :1])}" in prose
    assert f"*cat* a weight of {torch.softmax(A.scores, dim=-1)[0, 1]:.4f}" in " ".join(prose.split())


def latex(values: Tensor, decimals: int | None) -> list[list[str]]:
    form = "{:g}" if decimals is None else f"{{:.{decimals}f}}"
    return [[form.format(value) for value in line] for line in values.tolist()]


def printed_matrices(lesson: str) -> list[list[list[str]]]:
    """The matrices of all formulas, as text."""
    bodies = re.findall(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}", text(lesson), flags=re.S)
    return [[[entry.strip() for entry in line.split("&")] for line in re.split(r"\\\\", body)] for body in bodies]


def test_every_intermediate_of_the_first_example_is_printed() -> None:
    found = printed_matrices("01_attention")
    for values, decimals in ((Q, None), (K, None), (A.scores, None), (A.scaled, 4), (A.alpha, 4), (A.out, 4)):
        assert latex(values, decimals) in found


def test_every_intermediate_of_the_second_example_is_printed() -> None:
    found = printed_matrices("02_masking")
    for values, decimals in ((X, None), (B.scores, None), (B.scaled, 4), (B.out, 4)):
        assert latex(values, decimals) in found
    allowed = MASK.tolist()
    for values, hidden in ((B.scaled, r"-\infty"), (B.alpha, "0")):
        expected = [
            [entry if may else hidden for entry, may in zip(line, flags, strict=True)]
            for line, flags in zip(latex(values, 4), allowed, strict=True)
        ]
        assert expected in found


def test_the_scaled_scores_that_lesson_02_types_in_are_those_of_the_example() -> None:
    (cell,) = [cell.source for cell in read_lesson("02_masking").cells if cell.source.startswith("scaled_b = ")]
    namespace = {"torch": torch}
    exec(cell, namespace)
    torch.testing.assert_close(namespace["scaled_b"].double(), B.scaled, rtol=0, atol=5e-5)


def test_the_second_slide_proofread() -> None:
    out = UNSCALED @ X
    right, printed = row("02_masking", "scaled, `<s>`")
    assert right == rounded(B.scaled[0])
    assert numbers(printed) == (B.scores / 4)[0].tolist()
    for i, word in ((1, "*die*"), (3, "*tanzte*")):
        right, printed = row("02_masking", f"alpha, {word}")
        assert numbers(right) == pytest.approx(B.alpha[i].tolist(), abs=5e-5)
        assert numbers(printed) == pytest.approx(UNSCALED[i].tolist(), abs=5e-5)
        right, printed = row("02_masking", f"out, {word}")
        assert right == rounded(B.out[i])
        assert numbers(printed) == pytest.approx(out[i].tolist(), abs=5e-7)


def test_multiplied_scores_leak_as_much_as_the_text_says() -> None:
    leak = torch.softmax(B.scaled * MASK, dim=-1)[0, 1:].sum().item()
    assert f"spends {100 * leak:.0f}% of its attention" in " ".join(text("02_masking").split())
