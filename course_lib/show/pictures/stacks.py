"""Two stacks of layers side by side, encoder and decoder, with the shapes between the boxes."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Rectangle

from course_lib.show.figures import BLUE, INK, ORANGE, canvas, figure

_WIDTH, _HEIGHT, _GAP = 2.2, 0.36, 0.3
"""In inches: the size of a box, and the gap between boxes, which holds the shape."""
_BETWEEN, _BESIDE, _ABOVE, _BELOW = 2.0, 0.75, 0.5, 0.52
"""In inches: the gap between the stacks, the margins on either side, and the room for outputs and inputs."""
_SHAPE = "#5a606b"
"""The color of shapes: paler than names, but still dark enough for a projector."""


@dataclass(frozen=True)
class Layer:
    """A box in a stack.

    Attributes:
        name: its name.
        shape: the shape of its output, such as "[2, 5, 64]".
        residual: whether the input of the layer below also enters here, by an arrow around that layer.
    """

    name: str
    shape: str
    residual: bool = False


@dataclass(frozen=True)
class Stack:
    """A stack of layers.

    Attributes:
        title: the name of the stack.
        input: the input at the bottom.
        layers: the layers, from bottom to top.
        block: the first and the last layer of the repeated block.
        times: how often the block is repeated, such as "2 ×".
        output: the output at the top; empty if it goes to the other stack.
    """

    title: str
    input: str
    layers: Sequence[Layer]
    block: tuple[int, int]
    times: str
    output: str = ""


def stacks(encoder: Stack, decoder: Stack, into: int, *, alt: str) -> None:
    """Show an encoder and a decoder.

    Args:
        encoder: the stack on the left.
        decoder: the stack on the right.
        into: the decoder's layer that reads the encoder's output.
        alt: one sentence for readers who cannot see the picture.

    Raises:
        ValueError: the decoder has no such layer, or a residual connection would begin below a stack.
    """
    if not 0 <= into < len(decoder.layers):
        raise ValueError(f"the decoder has layers 0 to {len(decoder.layers) - 1}, none with the number {into}")
    for stack in (encoder, decoder):
        if stack.layers[0].residual:
            raise ValueError(f"{stack.title}: no layer is below {stack.layers[0].name}, for an arrow to go round")
    tallest = max(len(encoder.layers), len(decoder.layers))
    width = 2 * _BESIDE + 2 * _WIDTH + _BETWEEN
    height = _BELOW + tallest * (_HEIGHT + _GAP) + _ABOVE
    with canvas(width, height) as drawn:
        axes = drawn.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(0, height))
        axes.axis("off")
        left, right = _BESIDE, _BESIDE + _WIDTH + _BETWEEN
        _draw(axes, encoder, left, BLUE)
        _draw(axes, decoder, right, ORANGE)
        _hand_over(axes, (left, len(encoder.layers) - 1), (right, into), encoder.layers[-1].shape)
    figure(drawn, alt)


def _bottom(layer: int) -> float:
    return _BELOW + layer * (_HEIGHT + _GAP)


def _draw(axes: Axes, stack: Stack, x: float, colour: str) -> None:
    middle = x + _WIDTH / 2
    first, last = stack.block
    y, top = _bottom(first) - 0.12, _bottom(last) + _HEIGHT + 0.12
    axes.add_patch(Rectangle((x - 0.14, y), _WIDTH + 0.28, top - y, color=colour, alpha=0.1, linewidth=0))
    outside = (x - 0.22, "right") if colour == BLUE else (x + _WIDTH + 0.22, "left")
    axes.text(outside[0], (y + top) / 2, stack.times, ha=outside[1], va="center", fontsize=12, color=colour)
    axes.text(middle, 0.1, stack.input, ha="center", va="center", fontsize=10, style="italic")
    _arrow(axes, (middle, 0.22), (middle, _bottom(0)))
    for number, layer in enumerate(stack.layers):
        low = _bottom(number)
        box = FancyBboxPatch(
            (x + 0.05, low + 0.05),
            _WIDTH - 0.1,
            _HEIGHT - 0.1,
            boxstyle="round,pad=0.05",
            facecolor="white",
            edgecolor=colour,
            linewidth=1.4,
        )
        axes.add_patch(box)
        axes.text(middle, low + _HEIGHT / 2, layer.name, ha="center", va="center", fontsize=10, color=INK)
        if layer.residual:
            _around(axes, number - 1, middle, x if colour == BLUE else x + _WIDTH)
        is_top = number == len(stack.layers) - 1
        if not is_top or stack.output:
            _arrow(axes, (middle, low + _HEIGHT), (middle, low + _HEIGHT + _GAP))
            axes.text(middle + 0.1, low + _HEIGHT + _GAP / 2, layer.shape, va="center", fontsize=9, color=_SHAPE)
    end = _bottom(len(stack.layers))
    axes.text(middle, end + 0.08, stack.output, ha="center", va="center", fontsize=10, style="italic")
    axes.text(middle, end + (0.32 if stack.output else -0.03), stack.title, ha="center", va="center", fontsize=12)


def _around(axes: Axes, layer: int, middle: float, side: float) -> None:
    """Draw a residual connection: from a layer's input, past the layer on the outside, into the layer above."""
    branch, end = _bottom(layer) - 0.05, _bottom(layer + 1) + _HEIGHT / 2
    turn = side + (0.1 if side > middle else -0.1)
    axes.plot([middle, turn, turn], [branch, branch, end], color=INK, linewidth=1.2)
    _arrow(axes, (turn, end), (side, end))


def _hand_over(axes: Axes, giver: tuple[float, int], reader: tuple[float, int], shape: str) -> None:
    """Draw the line from the top of one stack to the side of a box in the other."""
    start = (giver[0] + _WIDTH, _bottom(giver[1]) + _HEIGHT / 2)
    end = (reader[0], _bottom(reader[1]) + _HEIGHT / 2)
    turn = start[0] + _BETWEEN / 2
    axes.plot([start[0], turn, turn], [start[1], start[1], end[1]], color=INK, linewidth=1.4)
    _arrow(axes, (turn, end[1]), end)
    middle = (start[0] + turn) / 2 + 0.05
    axes.text(middle, start[1] + 0.12, "memory", ha="center", va="center", fontsize=10, style="italic")
    axes.text(middle, start[1] - 0.13, shape, ha="center", va="center", fontsize=9, color=_SHAPE)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate(
        "", end, start, arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    )
