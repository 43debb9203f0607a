"""Heat maps, bars, curves and figures: right labels, right numbers, legible, and honest about bad shapes.

Tests `figures.py`, `bars.py`, `matrices.py` and `curves.py`.
"""

import base64
import io
import math

import matplotlib.pyplot as plt
import numpy
import pytest
import torch
from bs4 import BeautifulSoup
from matplotlib import image
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from course_lib import show
from course_lib.show import figures
from course_lib.show.pictures.curves import smoothed

WORDS = ["die", "Katze"]
KEYS = ["the", "cat", "danced"]
VALUES = torch.tensor([[12.0, 3.75, -10.75], [-20.0, -math.inf, 25.5]])


def cells(axes: plt.Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_a_heat_map_writes_its_numbers_and_words(drawn) -> None:
    (axes,) = drawn(show.matrices, show.Panel("scores", VALUES, WORDS, KEYS), alt="a matrix").axes
    assert cells(axes) == ["12.00", "3.75", "−10.75", "−20.00", "−∞", "25.50"]
    assert [label.get_text() for label in axes.get_xticklabels()] == KEYS
    assert [label.get_text() for label in axes.get_yticklabels()] == WORDS
    assert axes.get_title(loc="left") == "scores"


def test_a_mask_is_drawn_with_ticks(drawn) -> None:
    mask = torch.tensor([[True, False, False], [True, True, False]])
    (axes,) = drawn(show.matrices, show.Panel("mask", mask, WORDS, KEYS), alt="a matrix").axes
    assert cells(axes) == ["✓", "", "", "✓", "✓", ""]
    colours = axes.images[0].get_array()
    assert (colours[0][0] == colours[1][1]).all()
    assert (colours[0][0] != colours[0][1]).any()


def test_texts_replace_the_numbers(drawn) -> None:
    panel = show.Panel("batch", torch.ones(1, 2, dtype=torch.bool), ["0"], ["0", "1"], texts=[["meow", "·"]])
    (axes,) = drawn(show.matrices, panel, alt="a matrix").axes
    assert cells(axes) == ["meow", "·"]


def test_a_number_that_rounds_to_zero_has_no_sign(drawn) -> None:
    panel = show.Panel("zero", torch.tensor([[-1e-9, -0.004]]), ["a"], ["b", "c"])
    (axes,) = drawn(show.matrices, panel, alt="a matrix").axes
    assert cells(axes) == ["0.00", "0.00"]


def test_every_number_is_legible_on_its_colour(drawn) -> None:
    grid = torch.linspace(-1, 1, 21).unsqueeze(0)
    for values in (grid, grid.abs()):
        panel = show.Panel("all colors", values, ["r"], [str(i) for i in range(21)])
        (axes,) = drawn(show.matrices, panel, alt="a matrix").axes
        for colour, text in zip(axes.images[0].get_array()[0], axes.texts, strict=True):
            assert contrast(colour[:3], to_rgb(text.get_color())) > 4.5


def contrast(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    """The contrast ratio of the web's accessibility guidelines."""

    def luminance(colour: tuple[float, ...]) -> float:
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_panels_of_one_picture_have_cells_of_one_height(drawn) -> None:
    panels = show.Panel("a", VALUES, WORDS, KEYS), show.Panel("b", VALUES.T, KEYS, WORDS)
    shown = drawn(show.matrices, *panels, alt="two matrices", title="example A")
    two, three = (axes.get_position().height * shown.get_figheight() for axes in shown.axes)
    assert two / 2 == pytest.approx(three / 3)


def test_bars_write_their_values_and_mark_one_word(drawn) -> None:
    (axes,) = drawn(
        show.bars, KEYS, torch.tensor([0.5, 0.15, 0.35]), title="weights", alt="three bars", highlight=2
    ).axes
    assert cells(axes) == ["0.50", "0.15", "0.35"]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0.5, 0.15, 0.35])
    first, second, marked = (bar.get_facecolor() for bar in axes.patches)
    assert first == second != marked


def test_a_figure_is_sharp_opaque_and_described(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[figures.Pictured] = []
    monkeypatch.setattr(figures, "display", shown.append)
    with plt.rc_context():
        show.use_style()
        drawn, axes = plt.subplots(figsize=(3, 2))
        axes.plot([1, 2])
        show.figure(drawn, "a line")
    assert shown[0].alt == "a line"
    assert shown[0].width == 300, "shown at half the 600 pixels that it has"
    pixels = image.imread(io.BytesIO(shown[0].data))
    assert pixels.shape[:2] == (400, 600)
    assert (pixels[0, 0] == 1).all(), "white, not transparent: readable on a dark page"
    assert not plt.get_fignums(), "closed, so that it is not shown twice"


def test_a_figure_s_words_reach_every_reader(capsys: pytest.CaptureFixture[str]) -> None:
    drawn, _axes = show.frames()
    picture = figures.pictured(drawn, 'a "cat" <b>')
    bundle = picture._repr_mimebundle_()
    (image,) = BeautifulSoup(bundle["text/html"], "html.parser").find_all("img")
    assert image["alt"] == 'a "cat" <b>'
    assert bundle["text/plain"] == '[picture: a "cat" <b>]'
    assert base64.b64decode(str(image["src"]).removeprefix("data:image/png;base64,")) == picture.data
    show.figure(drawn, "a line")
    assert capsys.readouterr().out == "[picture: a line]\n", "where there is no page, as in a script"


def test_frames_stand_side_by_side_with_room_for_their_labels() -> None:
    drawn, frames = show.frames(2, width=9.0, height=3.0)
    for axes in frames:
        axes.plot([0, 1000], [0, 1000])
        axes.set(title="a title", xlabel="across", ylabel="upwards")
    figures.png(drawn)
    pixels = drawn.get_window_extent()
    left, right = (axes.get_tightbbox() for axes in frames)
    assert pixels.x0 <= left.x0 < left.x1 < right.x0 < right.x1 <= pixels.x1
    assert all(pixels.y0 <= box.y0 < box.y1 <= pixels.y1 for box in (left, right))
    assert left.width == pytest.approx(right.width)


VERBS = ["tanzte", "schlief", "sang"]
FLAT, SHARP = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([1.0, 0.0, 0.0])


def bars(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_bars_have_one_scale_and_their_numbers(drawn) -> None:
    first, second = drawn(show.distributions, VERBS, {"flat": FLAT, "sharp": SHARP}, alt="two").axes
    assert [bar.get_width() for bar in bars(first)] == pytest.approx([0.5, 0.3, 0.2])
    assert [text.get_text() for text in second.texts] == ["1.000", "0", "0"]
    assert first.get_xlim() == second.get_xlim()
    assert [label.get_text() for label in first.get_yticklabels()] == VERBS
    assert first.get_title(loc="left") == "flat"
    top, bottom = bars(first)[0].get_y(), bars(first)[2].get_y()
    assert first.transData.transform((0, top))[1] > first.transData.transform((0, bottom))[1], "from top to bottom"


def test_dots_mark_what_was_drawn(drawn) -> None:
    often = {"flat": torch.tensor([0.4, 0.4, 0.2])}
    (axes,) = drawn(show.distributions, VERBS, {"flat": FLAT}, alt="one", drawn=often).axes
    assert numpy.asarray(axes.lines[0].get_xdata()).tolist() == pytest.approx([0.4, 0.4, 0.2])


TABLE = torch.tensor([[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 1, 1]])
WAY = [(0, 0), (1, 1), (1, 2), (2, 3)]


def test_every_count_and_word_is_there_and_the_way_is_framed(drawn) -> None:
    (axes,) = drawn(show.edits, TABLE, WAY, ["a", "c"], ["a", "b", "c"], alt="from a c to a b c").axes
    assert [text.get_text() for text in axes.texts] == [str(count) for count in TABLE.flatten().tolist()]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["–", "a", "c"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["–", "a", "b", "c"]
    frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    middles = [(frame.get_y() + frame.get_height() / 2, frame.get_x() + frame.get_width() / 2) for frame in frames]
    assert middles == [pytest.approx(cell) for cell in WAY]


def test_an_empty_pair_can_be_drawn(drawn) -> None:
    assert drawn(show.edits, torch.zeros(1, 1, dtype=torch.long), [(0, 0)], [], [], alt="nothing").axes


def test_a_mean_of_the_last_values() -> None:
    assert smoothed([4.0, 2.0, 6.0, 1.0], 2) == pytest.approx([4, 3, 4, 3.5])
    assert smoothed([4.0, 2.0], 1) == [4, 2]


def test_a_loss_curve_draws_every_step_the_trend_and_the_validation(drawn) -> None:
    losses = [3.0 - step / 100 for step in range(200)]
    (axes,) = drawn(show.loss_curve, losses, {100: 2.5, 200: 1.5}).axes
    raw, trend, validation = axes.lines
    assert list(raw.get_ydata()) == losses
    assert list(trend.get_ydata()) == smoothed(losses, 4)
    assert validation.get_xydata().tolist() == [[100, 2.5], [200, 1.5]]
    assert axes.get_ylim()[0] == 0


def test_a_floor_is_a_line_with_its_number_and_without_validation_there_is_no_legend(drawn) -> None:
    (axes,) = drawn(show.loss_curve, [3.0, 2.0], floor=0.848).axes
    assert list(axes.lines[-1].get_ydata()) == [0.848, 0.848]
    assert [text.get_text() for text in axes.texts] == ["lowest possible: 0.85"]
    assert axes.get_legend() is None


LENGTHS = [2, 4, 8, 16]
LINES = {"RNN": LENGTHS, "self-attention": [1] * 4}
TIMES = {"RNN": [0.1, 0.2, 0.4, 0.8], "self-attention": [0.1, 0.1, 0.2, 0.4]}


def test_both_pictures_have_a_line_for_each_layer(drawn) -> None:
    left, right = drawn(show.race, LENGTHS, LINES, TIMES, machine="cpu", alt="two pictures of two lines").axes
    for axes, numbers in ((left, LINES), (right, TIMES)):
        assert {line.get_label(): list(line.get_ydata()) for line in axes.lines} == numbers
    assert "(cpu)" in right.get_title()
    assert [label.get_text() for label in left.get_xticklabels()] == ["2", "8"]
