"""A walk through one transformer block, with the shape at every line."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Final

from course_lib.show.stills import interactive_table

Shape = tuple[str, ...]
TOKENS: Final[Shape] = ("batch", "tokens", "d_model")
HEADS: Final[Shape] = ("batch", "heads", "tokens", "d_head")
PAIRS: Final[Shape] = ("batch", "heads", "tokens", "tokens")
PROJECTION: Final[tuple[Shape, ...]] = (("d_model", "d_model"), ("d_model",))

SIZES: Final = {"batch": 2, "tokens": 5, "heads": 4, "d_head": 8, "d_model": 32, "d_ff": 128}
"""The initial sizes; d_model is heads times d_head, and d_ff four times that."""

_REACH: Final = {"batch": (1, 32, 1), "tokens": (1, 64, 1), "heads": (1, 16, 1), "d_head": (8, 64, 8)}
"""The ranges and steps of the sliders."""


@dataclass(frozen=True)
class Line:
    """One line of a block.

    Attributes:
        code: the computation.
        shape: the shape of its output.
        says: its purpose.
        parameters: the shapes of its learned parameters.
    """

    code: str
    shape: Shape
    says: str
    parameters: tuple[Shape, ...] = ()


_IN = Line("x", TOKENS, "What comes in: a vector for each token of each sentence.")
_ATTENTION = (
    Line(
        "q, k, v = y W_q, y W_k, y W_v", TOKENS, "Three projections of each token; each is this large.", PROJECTION * 3
    ),
    Line("q.split(heads)", HEADS, "Each head gets its part of each vector: the numbers are the same, only split up."),
    Line("scores = q kᵀ / √d_head", PAIRS, "The only step where tokens meet: a number for each pair, in each head."),
    Line("alpha = softmax(masked)", PAIRS, "Padding gets weight 0; each row sums to 1."),
    Line("out = alpha v", HEADS, "Each head gets a weighted average of the values."),
    Line("concat(out)", TOKENS, "The heads side by side again."),
    Line("y = out W_o", TOKENS, "One more projection mixes what the heads have found.", PROJECTION),
)
_FEED_FORWARD = (
    Line(
        "h = relu(y W_1)",
        ("batch", "tokens", "d_ff"),
        "Each token by itself, four times as wide.",
        (("d_model", "d_ff"), ("d_ff",)),
    ),
    Line("y = h W_2", TOKENS, "And back again.", (("d_ff", "d_model"), ("d_model",))),
)
_NORM: Final[tuple[Shape, ...]] = (("d_model",), ("d_model",))


def _add(number: int) -> Line:
    return Line(
        f"x = x + dropout(y)  # {number}",
        TOKENS,
        "The residual connection: what came in is kept, and y is added to it.",
    )


def _norm(number: int, into: str) -> Line:
    return Line(
        f"{into} = norm_{number}(x)", TOKENS, "Each vector gets mean 0 and standard deviation 1, then is scaled.", _NORM
    )


POST_NORM: Final = (_IN, *_ATTENTION, _add(1), _norm(1, "x"), *_FEED_FORWARD, _add(2), _norm(2, "x"))
PRE_NORM: Final = (_IN, _norm(1, "y"), *_ATTENTION, _add(1), _norm(2, "y"), *_FEED_FORWARD, _add(2))


def block_walk() -> None:
    """Show a transformer block line by line: post-norm or pre-norm, of any size."""
    caption = "A post-norm block: batch 2, tokens 5, heads 4, d_head 8, d_model 32, d_ff 128."
    columns = ["shape", "learned numbers"]
    rows = [(line.code, [sizes_of(line.shape), learned(line) or "–"]) for line in POST_NORM]
    sizes = [
        {"name": name, "value": SIZES[name], "least": least, "most": most, "step": step}
        for name, (least, most, step) in _REACH.items()
    ]
    orders = [
        {"name": name, "lines": [asdict(line) for line in lines]}
        for name, lines in (("post-norm (the paper)", POST_NORM), ("pre-norm", PRE_NORM))
    ]
    interactive_table(
        "block_walk",
        {"orders": orders, "sizes": sizes},
        *(caption, columns, rows),
        alt="The lines of a transformer block, with the shape of what each computes.",
    )


def sizes_of(shape: Sequence[str]) -> list[int]:
    """Return a shape in numbers, at the initial sizes."""
    return [SIZES[name] for name in shape]


def learned(line: Line) -> int:
    """Return the number of parameters in a line, at the initial sizes."""
    return sum(prod(sizes_of(shape)) for shape in line.parameters)
