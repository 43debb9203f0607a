"""What each widget gives to its script, to the still picture, and to readers without either.

Tests all of `widgets` but `stepper.py`, and `stills.py`.
"""

import json
import math
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy
import pytest
import torch
from bs4 import BeautifulSoup
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from torch import nn

from course_lib import show
from course_lib.positions import sinusoidal_encoding
from course_lib.show.stills import still_table, still_text
from course_lib.show.widgets.block_walk import POST_NORM, PRE_NORM, SIZES, Line, learned
from course_lib.show.widgets.exploring import AT_64, PRODUCTS
from course_lib.show.widgets.language_models import CAT
from course_lib.show.widgets.schedules import PEAK, RATES, STEPS, WARMUP, WIDTH

ALPHA = torch.tensor([[[[0.9, 0.1], [0.1234, 0.8766]], [[0.5, 0.5], [0.0, 1.0]]]])
THOUSANDTHS = [[[[900, 100], [123, 877]], [[500, 500], [0, 1000]]]]
DANCE = show.TranslationAttention(["<i>", "danced"], ["tanzte", "<e>"], [[("tanzte", 0.5)], [("<e>", 0.25)]], ALPHA)
MASKED = ["the", "cat", "<saw>", "the"]
GUESSES = [[("a", 0.5)], [("dog", 0.6), ("cat", 0.3)], [("<saw>", 0.9)], [("the", 1.0)]]


def cut(text: str, merges: Sequence[tuple[str, str]]) -> list[str]:
    """The first letters joined, the others single."""
    return [f"▁{text[: len(merges)]}", *text[len(merges) :]]


def continued() -> None:
    drawn = count()
    show.prompts(lambda text: f"{text} <saw> {next(drawn)}", ["the cat", "a dog"], times=2)


@pytest.mark.parametrize(
    ("shown", "data", "still", "text"),
    [
        pytest.param(
            lambda: show.mask_painter(["<s>", "die"], torch.tensor([[1.0, 1.0], [-1.0, -2.5]]), torch.tensor([2.0, 0])),
            {"words": ["<s>", "die"], "x": [[1.0, 1.0], [-1.0, -2.5]], "other": [2.0, 0.0]},
            "<th>&lt;s&gt;</th><td>✓</td><td>·</td>",
            "<s> | ✓ | · | [1.0, 1.0]\ndie | ✓ | ✓ | [-1.0, -2.5]",
            id="mask_painter",
        ),
        pytest.param(
            lambda: show.neighbours(["train", "<b>"], torch.tensor([[2.3, 0.3], [1.4, 1.4]]), 1),
            {"words": ["train", "<b>"], "vectors": [[2.3, 0.3], [1.4, 1.4]], "chosen": 1, "low": -1, "high": 3},
            "&lt;b&gt;",
            "train | 2.3 | 0.3\n<b> | 1.4 | 1.4",
            id="neighbours",
        ),
        pytest.param(
            lambda: show.cutting(cut, "cat", [("▁", "c"), ("▁c", "a")], (0, 2), title="cat", alt="two cuts"),
            {"text": "cat", "merges": [["▁", "c"], ["▁c", "a"]], "mark": "▁"},
            'alt="two cuts"',
            "two cuts\n0 pairs: ▁ c a t\n2 pairs: ▁ca t",
            id="cutting",
        ),
        pytest.param(
            lambda: show.merging("a <b>  a"),
            {"text": "a <b> a", "mark": "▁"},
            "<tr><th>characters</th><td>8</td><td>5</td></tr><tr><th>words</th><td>3</td><td>2</td></tr>",
            "characters | 8 | 5\nwords | 3 | 2",
            id="merging",
        ),
        pytest.param(
            lambda: show.sampling(["<b>", "tanzte"], torch.tensor([0.25, 0.75])),
            {"words": ["<b>", "tanzte"], "probabilities": [0.25, 0.75]},
            "<li>&lt;b&gt; 0.250</li><li>tanzte 0.750</li>",
            "<b> 0.250, tanzte 0.750",
            id="sampling",
        ),
        pytest.param(
            lambda: show.searching({(): {"eine": 0.25, "die": 0.75}, ("die",): {"<e>": 1.0, "Katze": 0.0}}, "<b>"),
            {"source": "<b>", "tree": [["die", 0.75, [["<e>", 1.0]]], ["eine", 0.25]], "end": "<e>"},
            "<th>&lt;s&gt; die</th><td>&lt;e&gt; 1.00, Katze 0.00</td>",
            "<s> | eine 0.25, die 0.75\n<s> die | <e> 1.00, Katze 0.00",
            id="searching",
        ),
        pytest.param(
            lambda: show.heads([show.TextAttention(["die", "Katze"], ALPHA, ["<i>", "cat"])]),
            {
                "texts": [
                    {"name": "die Katze", "queries": ["die", "Katze"], "keys": ["<i>", "cat"], "alpha": THOUSANDTHS}
                ],
                "layers": 1,
                "heads": 2,
            },
            "<th>die</th><td>0.90</td><td>0.10</td>",
            "layer 1, head 1: die → <i>, Katze → cat\nlayer 1, head 2: die → <i>, Katze → cat",
            id="heads",
        ),
        pytest.param(
            lambda: show.translating([DANCE]),
            {
                "sentences": [
                    {
                        "source": ["<i>", "danced"],
                        "target": ["tanzte", "<e>"],
                        "likely": [[["tanzte", 500]], [["<e>", 250]]],
                        "alpha": THOUSANDTHS,
                    }
                ],
                "layers": 1,
                "heads": 2,
            },
            "<th>tanzte</th><td>0.70</td><td>0.30</td>",
            "<i> danced  →  tanzte <e>",
            id="translating",
        ),
        pytest.param(
            lambda: show.covered(MASKED, GUESSES),
            {"words": MASKED, "guesses": GUESSES, "position": 2, "cat": CAT},
            f"the {CAT} &lt;saw&gt; the</td><td>dog 60%, cat 30%",
            "[MASK] cat <saw> the: a 50%\nthe [MASK] <saw> the: dog 60%, cat 30%\n"
            "the cat [MASK] the: <saw> 90%\nthe cat <saw> [MASK]: the 100%",
            id="covered",
        ),
        pytest.param(
            continued,
            {
                "beginnings": ["the cat", "a dog"],
                "texts": [[["<saw>", "0"], ["<saw>", "1"]], [["<saw>", "2"], ["<saw>", "3"]]],
            },
            "<p>the cat … &lt;saw&gt; 0</p><p>a dog … &lt;saw&gt; 2</p>",
            "the cat … <saw> 0\n\na dog … <saw> 2",
            id="prompts",
        ),
    ],
)
def test_script_still_and_text_have_the_same(
    put_on_the_page, shown: Callable[[], None], data: dict[str, Any], still: str, text: str
) -> None:
    widget = put_on_the_page(shown)
    assert widget.data.items() >= data.items()
    assert still in widget.still
    assert not BeautifulSoup(widget.still, "html.parser").find(["b", "i", "s", "saw"]), "words are text"
    assert text in widget.text


@pytest.mark.parametrize(("how", "divisor"), [("by 1", 1), ("by √d_head", 8), ("by d_head", 64)])
def test_the_softmax_s_numbers_are_torch_s(how: str, divisor: int) -> None:
    scaled = torch.tensor(PRODUCTS, dtype=torch.float64) * 8 / divisor
    slopes = torch.autograd.functional.jacobian(lambda row: torch.softmax(row, 0), scaled)
    alpha, size = AT_64[how]
    torch.testing.assert_close(torch.tensor(alpha, dtype=torch.float64), scaled.softmax(0), atol=5e-4, rtol=0)
    assert size == pytest.approx(slopes.norm().item(), abs=5e-4)


def test_the_stills_of_attention_have_its_numbers(put_on_the_page) -> None:
    assert "<td>0.9971</td>" in put_on_the_page(show.query_explorer).still
    widget = put_on_the_page(show.softmax_gradient)
    assert "<td>0.490</td>" in widget.still
    assert widget.data["d_heads"][widget.data["start"]] == 64
    assert "divided by √d_head | 0.490" in widget.text


def test_a_still_escapes_what_is_in_it() -> None:
    rows = [("<b>", ["</td>", 1])]
    table = BeautifulSoup(still_table("a & b", ["x", "y"], rows), "html.parser")
    assert [cell.text for cell in table.find_all(["th", "td"])] == ["", "x", "y", "<b>", "</td>", "1"]
    assert still_text("a & b", ["x", "y"], rows) == "a & b\n | x | y\n<b> | </td> | 1"


ENCODING = sinusoidal_encoding(20, 6)
TOLD = {"alt": "two rows", "title": "hands"}


def tip(line: Line2D) -> list[float]:
    """Where a hand ends."""
    return [float(numpy.asarray(data)[1]) for data in line.get_data()]


def test_a_row_for_each_position_and_a_clock_for_each_pair(drawn) -> None:
    shown = drawn(show.clocks, ENCODING, [0, 3], **TOLD)
    assert len(shown.axes) == 6
    texts = [text.get_text() for text in shown.texts]
    assert {"at 0", "at 3", "0, 1", "2, 3", "4, 5", "hands"} <= set(texts)
    assert tip(shown.axes[0].lines[-1]) == pytest.approx([0, 1])
    assert tip(shown.axes[3].lines[-1]) == pytest.approx([math.sin(3), math.cos(3)], abs=1e-5)


def test_the_second_hand_is_that_of_a_later_position(drawn) -> None:
    first = drawn(show.clocks, ENCODING, [2], shift=4, **TOLD).axes[0]
    *_others, orange, blue = first.lines
    assert tip(blue) == pytest.approx([math.sin(2), math.cos(2)], abs=1e-5)
    assert tip(orange) == pytest.approx([math.sin(6), math.cos(6)], abs=1e-5)
    assert len(drawn(show.clocks, ENCODING, [2], **TOLD).axes[0].lines) == len(first.lines) - 1


def test_the_script_has_every_hand_and_the_still_those_that_were_asked_for(put_on_the_page) -> None:
    widget = put_on_the_page(show.clocks, ENCODING, [0, 3], shift=4, **TOLD)
    assert widget.name == "clocks"
    assert widget.data["shift"] == 4
    torch.testing.assert_close(torch.tensor(widget.data["encoding"]), ENCODING, atol=5e-5, rtol=0)
    assert 'alt="two rows"' in widget.still
    assert "position 3: (0.14, -0.99)" in widget.text


@pytest.mark.parametrize("lines", [POST_NORM, PRE_NORM], ids=["post-norm", "pre-norm"])
def test_the_lines_learn_as_much_as_torch_s_block(lines: Sequence[Line]) -> None:
    block = nn.TransformerEncoderLayer(SIZES["d_model"], SIZES["heads"], SIZES["d_ff"])
    assert sum(map(learned, lines)) == sum(parameter.numel() for parameter in block.parameters())


def test_every_shape_of_a_block_is_of_known_sizes(put_on_the_page) -> None:
    widget = put_on_the_page(show.block_walk)
    for order in widget.data["orders"]:
        for line in order["lines"]:
            assert set(line["shape"]) | {name for shape in line["parameters"] for name in shape} <= SIZES.keys()
    assert "out = alpha v | [2, 4, 5, 8] | –" in widget.text


def test_the_still_shows_the_rates_of_both_formulas(put_on_the_page) -> None:
    widget = put_on_the_page(show.schedules)
    for step, root, cosine in RATES:
        assert root == pytest.approx(WIDTH**-0.5 * min(step**-0.5, step * WARMUP**-1.5), abs=6e-7)
        falling = (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP))) / 2
        assert cosine == pytest.approx(PEAK * min(step / WARMUP, falling), abs=6e-7)
        assert f"<th>{step}</th><td>{root:.6f}</td><td>{cosine:.6f}</td>" in widget.still
    assert widget.name == "schedules"
    assert f"{WARMUP} | 0.000699" in widget.text


def test_heads_open_on_the_head_that_looks_at_single_words(put_on_the_page) -> None:
    """Where all attention goes to the first word, to each word itself, or evenly to all, nothing is to be seen."""
    sink, itself, even = torch.zeros(4, 4), torch.eye(4), torch.full((4, 4), 0.25)
    sink[:, 0] = 1.0
    before = torch.eye(4).roll(-1, dims=1)  # each word looks at the one before
    before[0] = torch.tensor([1.0, 0.0, 0.0, 0.0])
    before[2] = torch.tensor([0.0, 0.9, 0.1, 0.0])
    for heads, keys, opens in (
        ([sink, itself, even, before], None, [0, 4, 3]),
        ([before, sink, even, itself], None, [0, 1, 3]),
        ([even, sink, itself, even], ["a", "b", "c", "d"], [0, 2, 0]),  # of other words, the first is one like any
    ):
        text = show.TextAttention(["<s>", "the", "old", "cat"], torch.stack(heads).unsqueeze(0), keys)
        assert put_on_the_page(lambda text=text: show.heads([text])).data["opens"] == opens
    masked = show.TextAttention(["[CLS]", "the", "cat", "[SEP]"], torch.stack([sink.flip(1), before]).unsqueeze(0))
    assert put_on_the_page(show.heads, [masked]).data["opens"] == [0, 2, 3]
    layers = torch.stack([torch.stack([even, sink]), torch.stack([before, even])])
    widget = put_on_the_page(show.heads, [show.TextAttention(["<s>", "the", "old", "cat"], layers)])
    assert widget.data["texts"][0]["keys"] == ["<s>", "the", "old", "cat"]
    assert widget.data["opens"][:2] == [1, 1]
    assert "Head 1 of layer 2" in widget.still


SOURCE = ["the", "cat", "danced"]
WRITTEN = (
    show.Written(["<s>"], [("die", 0.9), ("der", 0.06)], [0.8, 0.1, 0.1]),
    show.Written(["<s>", "die"], [("<b>", 0.7), ("Maus", 0.2)], [0.05, 0.92, 0.03]),
)


def test_writing_has_a_row_for_each_step(drawn) -> None:
    shown = drawn(show.writing, SOURCE, WRITTEN, alt="two steps")
    assert [text.get_text() for text in shown.texts] == ["has read", "looks at", "thinks next", "<s>", "<s> die"]
    cells, bars, *_later = shown.axes
    assert [text.get_text() for text in cells.texts] == ["the", "0.80", "cat", "0.10", "danced", "0.10"]
    assert [bar.get_width() for bar in bars.patches if isinstance(bar, Rectangle)] == pytest.approx([0.9, 0.06])
    assert [label.get_text() for label in bars.get_yticklabels()] == ["die", "der"]


def test_the_steps_of_writing_are_in_the_still_in_the_data_and_in_words(put_on_the_page) -> None:
    widget = put_on_the_page(show.writing, SOURCE, WRITTEN, alt="two steps")
    assert 'alt="two steps"' in widget.still
    assert widget.data == {"source": SOURCE, "steps": [vars(step) for step in WRITTEN]}
    assert widget.text.splitlines()[1:] == ["<s> → die 0.90, der 0.06", "<s> die → <b> 0.70, Maus 0.20"]


def test_long_lines_of_prompts_end_between_words(put_on_the_page) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    lines = put_on_the_page(show.prompts, lambda text: f"{text} {words}", ["the cat"]).text.splitlines()
    assert max(map(len, lines)) <= 84
    assert " ".join(lines).split() == ["the", "cat", "…", *words.split()]


QUESTIONS = ["Is <this> good?\nReally?", "And this?"]
CHOICES = ["no", "yes"]


def test_answers_make_a_questionnaire_complete() -> None:
    asked = show.questionnaire("grades", QUESTIONS, CHOICES)
    assert asked.answers == [None, None]
    assert not asked.complete
    for answers, complete in (([0, None], False), ([1], False), ([0, 1], True)):
        asked.answers = answers
        assert asked.complete is complete


def test_the_page_of_a_questionnaire_escapes_the_questions_and_says_how_to_answer() -> None:
    asked = show.questionnaire("grades", QUESTIONS, CHOICES)
    assert "Is &lt;this&gt; good?<br>Really?" in asked.html()
    for shown in (asked.html(), repr(asked)):
        assert "set grades.answers to a list of 2 numbers (0 = no, 1 = yes)" in shown


def test_the_script_of_a_questionnaire_has_the_questions_and_the_name() -> None:
    bundle = show.questionnaire("grades", QUESTIONS, CHOICES)._repr_mimebundle_()
    data = BeautifulSoup(bundle["text/html"], "html.parser").find("script", type="application/json")
    assert json.loads(data.text) == {"name": "grades", "questions": QUESTIONS, "choices": CHOICES}
    assert bundle["text/plain"].startswith("1. Is <this> good?")
