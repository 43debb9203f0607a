"""Lesson 03, run."""

import re

import pytest
import torch
from nbformat import NotebookNode

from course_lib.attention import attention
from course_lib.positions import appended_index, binary_counting, sinusoidal_encoding
from tests.solutions.executing import ExecutedLesson, numbers, table
from tests.solutions.reading import defined_by

PAST = r"^(.+?) +right within the trained length +(\d+)%, beyond it +(\d+)%"


class TestPositions(ExecutedLesson):
    lesson = "03_positions"
    pictures = 14
    prints = (
        "7 tokens: ValueError: a sentence of 7 tokens, but only 6 learned positions",
        "tokens with a different vector: []",
    )

    def test_a_penalty_for_distance_has_no_end(self, output: str) -> None:
        few, many = re.findall(r"weights of the last four tokens, head 1, of \d+: +tensor\(\[(.*)\]\)", output)
        assert few.split(", ")[-1] > "0.2"
        for one, other in zip(few.split(", "), many.split(", "), strict=True):
            assert abs(float(one) - float(other)) < 0.03

    def test_a_shuffle_moves_the_rows_and_leaves_their_mean(self, output: str) -> None:
        assert numbers(r"largest difference between the rows, put in the same order: (\S+)", output)[0] < 1e-5
        means = [
            [float(number) for number in found.split(", ")]
            for found in re.findall(r"mean vector of the \w+ sentence: +tensor\(\[(.*)\]\)", output)
        ]
        torch.testing.assert_close(torch.tensor(means[0]), torch.tensor(means[1]), atol=2e-4, rtol=0)

    def test_under_a_mask_the_two_tokens_that_changed_places_notice_and_no_other(self, output: str) -> None:
        lines = re.findall(r"(\S+) +changes by (\S+) without a mask, by (\S+) under it; you said: (.*)", output)
        assert [token for token, *_rest in lines] == ["<s>", "Katze", "die", "tanzte"]
        assert all(float(free) < 1e-4 for _token, free, _masked, _said in lines)
        assert [float(masked) > 0.05 for _token, _free, masked, _said in lines] == [False, True, True, False]
        assert [said for *_rest, said in lines] == ["the same", "different", "different", "the same"]

    def test_positions_tell_the_two_sentences_apart(self, output: str) -> None:
        alone, placed = map(float, re.findall(r"two sentences differ by (\S+)", output))
        assert alone < 1e-3 < 0.1 < placed

    def test_eight_is_nearer_to_zero_than_to_seven(self, output: str) -> None:
        found = re.findall(r"distance between positions (\d) and (\d): (\S+)", output)
        distances = {(int(a), int(b)): float(distance) for a, b, distance in found}
        assert distances[7, 8] > distances[8, 9] == distances[0, 8]

    def test_a_matrix_found_from_thirty_tokens_moves_later_ones(self, output: str) -> None:
        errors = re.findall(r"misses encoding\[\d+\] by (\S+)", output)
        assert len(errors) == 3
        assert all(float(error) < 0.01 for error in errors)

    def test_the_slow_clocks_keep_two_thirds_of_the_dot_product(self, output: str) -> None:
        away, same = numbers(r"dot product 13 tokens away: ([\d.]+), of (\d+) at the same position", output)
        assert 0.62 < away / same < 0.7

    def test_a_trained_table_is_striped(self, output: str) -> None:
        """Three tokens apart strangers, five and six apart friends, eight apart strangers; sinusoids only fade."""
        head, *rows = re.findall(
            r"^( {25}|your sinusoids|all-MiniLM-L6-v2, learned) +(.*\d)(?: apart)?$", output, flags=re.M
        )
        apart = [int(number) for number in re.findall(r"\d", head[1])]
        alike = {name: dict(zip(apart, map(float, row.split()), strict=True)) for name, row in rows}
        computed, learned = alike["your sinusoids"], alike["all-MiniLM-L6-v2, learned"]
        assert list(computed.values()) == sorted(computed.values(), reverse=True)
        assert learned[1] > learned[6] > learned[2] > learned[3] > learned[8]
        assert learned[5] > learned[2]

    def test_a_trained_table_has_built_five_clocks(self, output: str) -> None:
        assert numbers(r"twelve directions contain (\d+)%", output)[0] > 95
        seen, unseen = map(int, re.findall(r"^rows that it .*: off by (\d+)% of their size$", output, flags=re.M))
        assert seen < unseen < 15
        sizes, turns, ratios = (
            [float(number) for number in re.findall(r"\d+\.\d+", line)]
            for line in re.findall(r"^(?:sizes of|tokens per|each slower).*: +(.*)$", output, flags=re.M)
        )
        assert len(sizes) == len(turns) == 5
        assert all(0.99 < size < 1.01 for size in sizes)
        assert all(2.7 < ratio < 3.3 for ratio in ratios)
        assert 5.5 < turns[0] < 510 / 80
        assert 400 < turns[-1] < 510

    def test_positions_moved_by_hand_are_right_at_any_length(self, output: str) -> None:
        within, beyond = table(PAST, output)["by hand"]
        assert within >= 95
        assert beyond >= 99

    def test_both_pictures_of_clocks_can_be_turned(self, solved: NotebookNode) -> None:
        shown = [
            cell
            for cell in solved.cells
            for output in cell.get("outputs", ())
            if 'data-katze-widget="clocks"' in output.get("data", {}).get("text/html", "")
        ]
        assert ["show.clocks" in cell.source for cell in shown] == [True, True]


@pytest.mark.usefixtures("thorough")
class TestWhatPositionsTeach:
    lesson = TestPositions.lesson

    def test_what_happens_past_the_trained_length(self, output: str) -> None:
        found = table(PAST, output)
        within, beyond = ({name: shares[place] for name, shares in found.items()} for place in (0, 1))
        assert min(within["sinusoids"], within["learned"]) >= 95
        assert within["no positions"] < 60
        assert beyond["learned"] < 25 < beyond["sinusoids"] < 90
        assert beyond["no positions"] < within["no positions"]


def test_what_the_prose_says_of_steps_and_places() -> None:
    bits, waves = binary_counting(16, 4), sinusoidal_encoding(64, 128)
    assert (bits[7] != bits[8]).sum() == 4
    assert (bits[8] != bits[9]).sum() == 1
    steps = (waves[1:] - waves[:-1]).norm(dim=-1)
    torch.testing.assert_close(steps, steps[0].expand_as(steps), rtol=1e-4, atol=0)
    alike = [waves[position - 9 : position + 10] @ waves[position] for position in (10, 30, 50)]
    torch.testing.assert_close(alike[0], alike[1], rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(alike[0], alike[2], rtol=1e-4, atol=1e-3)
    assert alike[0].argmax() == 9


def test_the_row_of_the_slip_is_printed_by_doubling_the_exponents() -> None:
    printed, suspected = [], "torch.arange(0, d_model, 2) / d_model"
    for answer in (suspected, suspected.replace("/", "* 2 /")):
        names = defined_by("03_positions", "def suspected_exponents", suspected, answer, torch=torch)
        printed.append(torch.allclose(names["reconstructed"], names["evidence"], atol=1e-4))
    assert printed == [False, True]


def test_what_the_prose_says_of_the_appended_index() -> None:
    for tokens, low, high in ((17, 0.5, 0.95), (65, 0.95, 1.0)):
        x = appended_index(torch.randn(400, tokens, 16, generator=torch.Generator().manual_seed(1)))
        share = attention(x, x, x).alpha[:, tokens // 2, -1].mean().item()
        assert low < share <= high
