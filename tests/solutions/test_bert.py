"""Lesson 09, run."""

from __future__ import annotations

import re

import torch
from nbformat import NotebookNode

from course_lib.models import BERT, BERTConfig
from tests.solutions.executing import ExecutedLesson, printed


def percentages(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"([\d.]+) ?%", text)]


class TestBERT(ExecutedLesson):
    lesson = "09_bert"
    pictures = 8

    def test_the_input_is_a_sum_of_three_embeddings(self, output: str) -> None:
        assert "the same as bert(ids).states: True" in output
        with torch.device("meta"):
            parameters = sum(parameter.numel() for parameter in BERT(BERTConfig.base()).parameters())
        assert f"{parameters:,} parameters" in output

    def test_reading_has_taught_it_words(self, output: str) -> None:
        (before,) = re.findall(r"before reading +loss +([\d.]+) nats +right +(\d+)%", output)
        (after,) = re.findall(r"after reading +loss +([\d.]+) nats +right +(\d+)%", output)
        assert float(after[0]) < 2.5 < 5 < float(before[0])
        assert float(after[1]) > 40 > 10 > float(before[1])

    def test_its_heads_look_where_the_prose_says(self, solved: NotebookNode) -> None:
        cell = next(cell for cell in solved.cells if "show.heads(" in cell.source)
        looks = dict(re.findall(r"^(layer \d, head \d): .*\bit → (\S+),", cell.outputs[-1]["data"]["text/plain"], re.M))
        assert looks["layer 3, head 2"] == "was"
        assert looks["layer 3, head 4"] == "[SEP]"
        assert "cat" not in looks.values()

    def test_the_slide_forgets_the_normaliser(self, output: str) -> None:
        assert "[3.3201, 0.6703, 1.3499])  sum 5.3403" in output

    def test_a_next_sentence_fits_its_subject(self, output: str) -> None:
        follows = dict(re.findall(r"the queen baked the cake \. (.*?) +p\(follows\) = ([\d.]+)", output))
        assert float(follows["she ate the cake ."]) > 0.5 > float(follows["it then growled ."])

    def test_reading_first_beats_training_from_nothing_with_every_seed(self, output: str) -> None:
        lines = re.findall(r"^(who acts|of a kind) +(\S.*?) +right at the end: (.*)$", output, flags=re.M)
        shares = {(task, name): percentages(text) for task, name, text in lines}
        assert len(shares) == 8
        assert all(len(each) == 3 for each in shares.values())
        for name in ("BERT, from nothing", "recurrent, from nothing"):
            for pre_trained in ("fine-tuned", "frozen features"):
                assert min(shares["who acts", pre_trained]) > 95
                assert sum(shares["who acts", pre_trained]) > sum(shares["who acts", name]) + 6
            assert max(shares["of a kind", name]) < 65
        assert min(shares["of a kind", "fine-tuned"]) > 85
        assert min(shares["of a kind", "fine-tuned"]) > max(shares["of a kind", "frozen features"]) + 3
        assert sum(shares["of a kind", "frozen features"]) / 3 > 60

    def test_every_tagger_learns_and_reading_helps_at_first(self, output: str) -> None:
        found = dict(re.findall(r"^(\S.*?) +right tags .*: (.*)$", output, flags=re.M))
        shares = {name: percentages(text) for name, text in found.items()}
        assert all(each[-1] > 85 for each in shares.values())
        assert shares["fine-tuned"][1] > shares["BERT, from nothing"][1]

    def test_spans_are_found(self, output: str) -> None:
        (share,) = re.findall(r"both ends right: (\d+)%", output)
        assert float(share) > 80

    def test_seven_heads_run(self, solved: NotebookNode) -> None:
        (text,) = [printed(cell) for cell in solved.cells if "def seven_heads" in cell.source]
        assert len(re.findall(r"^[a-zLM -]+ +\[[\d, ]+\]$", text, flags=re.M)) == 7

    def test_the_other_library_agrees(self, output: str) -> None:
        (difference,) = re.findall(r"largest difference of the states: (\S+)", output)
        assert float(difference) < 1e-4
