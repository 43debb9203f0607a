"""Lesson 12, run: what its prose leans on, with room for other machines and other versions of the text."""

import re

import pytest

from tests.solutions.executing import ExecutedLesson, numbers, table

TRIAL = r"^ *(?:held at )?(.+?):? +([\d.]+) nats per character \(([\d.]+) to ([\d.]+)\)"


@pytest.fixture(scope="class")
def losses(output: str) -> dict[str, float]:
    """The mean of each trial, by its name."""
    return {name: mean for name, (mean, _low, _high) in table(TRIAL, output).items()}


class TestSince2017(ExecutedLesson):
    lesson = "12_since_2017"
    pictures = 6

    @pytest.mark.parametrize(
        ("line", "most"),
        [
            (r"largest difference between the two: ([\d.]+)", 0.01),  # scores a thousand tokens on
            (r"largest difference from the softmax over all keys at once: (\S+)", 1e-12),
            (r"logits and those of the library's Llama: (\S+)", 1e-4),
        ],
    )
    def test_what_should_be_the_same_is(self, output: str, line: str, most: float) -> None:
        assert numbers(line, output)[0] < most

    def test_what_is_missing_is_said_in_a_line_each(self, output: str) -> None:
        assert len(re.findall(r"was (?:not )?loaded: set \w+ = .* if you are online", output)) == 2


@pytest.mark.usefixtures("thorough")
class TestWhatSmallModelsLearn:
    lesson = TestSince2017.lesson

    def test_rotary_goes_on_where_sinusoids_stop(self, output: str) -> None:
        found = table(r"^(.+?) +right within the trained length +(\d+)%, beyond it +(\d+)%", output)
        assert min(within for within, _beyond in found.values()) >= 95
        assert found["rotary"][1] >= 85 > 75 > found["sinusoids, added"][1]

    def test_a_ruler_is_a_few_hundredths_long(self, output: str) -> None:
        mean, low, high = table(TRIAL, output)["2017"]
        assert 0 <= high - low < 0.15
        assert mean < 2.8

    @pytest.mark.parametrize("name", ["RMSNorm", "pre-norm", "SwiGLU", "one head of keys for four", "decay 0.1"])
    def test_what_does_nothing_here_does_nothing(self, losses: dict[str, float], name: str) -> None:
        assert abs(losses[name] - losses["2017"]) < 0.09

    def test_pre_norm_stands_a_rate_that_post_norm_does_not(self, losses: dict[str, float]) -> None:
        assert losses["2017, rate 0.01"] > losses["pre-norm, rate 0.01"] + 0.3
        assert losses["pre-norm, rate 0.01"] < losses["pre-norm"] + 0.2

    def test_rotary_is_worth_more_than_everything_else(self, losses: dict[str, float]) -> None:
        assert losses["rotary"] < losses["2017"] - 0.1
        others = ("RMSNorm", "pre-norm", "SwiGLU", "one head of keys for four", "decay 0.1")
        assert losses["rotary"] < min(losses[name] for name in others)

    def test_much_decay_makes_weights_small_and_the_model_worse(self, output: str, losses: dict[str, float]) -> None:
        sizes = [float(size) for size in re.findall(r"typical weight ([\d.]+)", output)]
        assert sizes[2] < 0.7 * sizes[0] < sizes[1] < sizes[0]
        assert losses["decay 2.0"] > losses["2017"]

    def test_a_cosine_needs_more_steps_than_these(self, losses: dict[str, float]) -> None:
        assert losses["pre-norm, down from 0.003"] > losses["pre-norm"] + 0.03
        assert losses["pre-norm, down from 0.01"] > losses["pre-norm, rate 0.01"] - 0.05

    def test_equal_steps_pay_at_once(self, losses: dict[str, float]) -> None:
        assert losses["Muon"] < losses["2017"] - 0.04

    def test_all_of_it_is_better_than_2017_and_worse_than_rotary_alone(self, losses: dict[str, float]) -> None:
        assert losses["rotary"] + 0.02 < losses["all of it"] < losses["2017"] - 0.03
        assert losses["all of it, twice the rate"] < losses["all of it"] - 0.02

    def test_all_weights_learn_more_and_forget_more_than_lora(self, output: str) -> None:
        rows = re.findall(r"^(before|all weights|LoRA, rank \d) +([\d,]*) +([\d.]+) +([\d.]+)$", output, flags=re.M)
        cats = {name: float(loss) for name, _learns, loss, _handbook in rows}
        handbook = {name: float(loss) for name, _learns, _cats, loss in rows}
        assert cats["all weights"] < cats["LoRA, rank 4"] < cats["LoRA, rank 1"] < cats["before"]
        assert handbook["all weights"] > handbook["LoRA, rank 4"] > handbook["before"]
        assert handbook["all weights"] > numbers(r"knows nothing: ([\d.]+)", output)[0]
