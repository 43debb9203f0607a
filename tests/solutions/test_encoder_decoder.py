"""Lesson 05, run."""

import math
import re

import pytest
from nbformat import NotebookNode

from tests.solutions.executing import ExecutedLesson, numbers, table


def percent(output: str, line: str) -> float:
    return numbers(rf"^{re.escape(line)} +([\d.]+)%", output)[0]


class TestEncoderDecoder(ExecutedLesson):
    lesson = "05_encoder_decoder"
    pictures = 10
    prints = (
        "mean NLL 1.5783   perplexity 4.847",
        "stopped in step 35; in the folder: ['step-00000030.pt']",
        "steps of the second run: 10.",
        "the same weights: True.",
    )

    def test_the_model_passes_the_three_tests_before_training(self, output: str) -> None:
        rows = re.findall(
            r"^ *(the last target token|three paddings|another source).*?((?:  \d\.\d{4}){4})$", output, re.M
        )
        moved = {name: [float(number) for number in numbers.split()] for name, numbers in rows}
        assert moved["the last target token"][:3] == pytest.approx([0, 0, 0], abs=1e-4)
        assert moved["the last target token"][3] > 0.01
        assert moved["three paddings"] == pytest.approx([0] * 4, abs=1e-4)
        assert min(moved["another source"]) > 0.001

    def test_both_ways_to_smooth_are_the_same_under_another_number(self, output: str) -> None:
        rows = re.findall(
            r"V = +(\d+):  others only +([\d.]+)   torch's +([\d.]+)   torch's, converted +([\d.]+)", output
        )
        assert [int(size) for size, *_ in rows] == [5, 188, 30_000]
        differences = [abs(float(ours) - float(theirs)) for _size, ours, theirs, _converted in rows]
        assert differences[0] > 0.1
        assert differences[-1] < 0.001
        assert all(float(ours) == pytest.approx(float(converted), abs=1e-4) for _size, ours, _theirs, converted in rows)


@pytest.mark.usefixtures("thorough")
class TestWhatTranslatorsLearn:
    lesson = TestEncoderDecoder.lesson

    def test_the_loss_comes_near_its_floor(self, solved: NotebookNode, output: str) -> None:
        (floor,) = {float(found) for found in re.findall(r"dotted line at ([\d.]+) is the lowest", str(solved))}
        assert floor == pytest.approx(0.1 * math.log(187 / 0.1) - 0.9 * math.log(0.9), abs=1e-3)
        assert math.log(188) < numbers(r"^loss of the first step: ([\d.]+)\.$", output)[0] < math.log(188) + 1
        assert floor < numbers(r"^loss of the last: ([\d.]+)\.$", output)[0] < floor + 0.2

    def test_sentences_and_structures_are_translated_that_were_never_seen(self, output: str) -> None:
        assert "the cat danced, among them: False" in output
        assert "the cat danced  →  die Katze tanzte" in output
        assert "gestern lud der wütende Hund die Katze ein" in output
        assert percent(output, "held-out sentences translated exactly right, word for word:") > 85
        assert 1 < numbers(r"perplexity on them, with the right tokens before each: ([\d.]+)", output)[0] < 1.5

    def test_one_vector_is_a_bottleneck_and_attention_removes_it(self, output: str) -> None:
        found = {
            name: [int(share) for share in re.findall(r"(\d+)%", shares)]
            for name, shares in re.findall(r"^(.*?) +[\d.]+% right; by length:(.*)$", output, flags=re.M)
        }
        few, many = (found[f"one vector, {steps} steps"] for steps in ("400", "1,000"))
        assert min(few[0], 90) > 50 > few[1]
        assert min(few[0], 93) < many[0]
        assert few[1] + 10 < many[1]
        assert max(few[2], many[2]) < 40
        assert max(*few[3:], *many[3:]) < 10
        assert min(found["with attention, 400 steps"]) > 85
        assert percent(output, "transformer (yours)") > 85

    def test_teacher_forcing_leaves_a_gap(self, output: str) -> None:
        ways = "teacher forcing|scheduled sampling|its own words alone"
        rows = table(rf"^({ways}) +right tokens before it ([\d.]+)   its own ([\d.]+)$", output)
        gaps = {way: right - own for way, (right, own) in rows.items()}
        assert gaps["teacher forcing"] > 0.04 > abs(gaps["its own words alone"])
        assert abs(gaps["scheduled sampling"]) < gaps["teacher forcing"] - 0.02
        assert max(own for _, own in rows.values()) - min(own for _, own in rows.values()) < 0.2
