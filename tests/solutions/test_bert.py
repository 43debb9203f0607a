"""Lesson 09, run."""

import re

import pytest
import torch
from nbformat import NotebookNode

from course_lib.models import BERT, BERTConfig
from tests.solutions.executing import ExecutedLesson, numbers, printed, table
from tests.solutions.reading import read_lesson


def percentages(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"([\d.]+) ?%", text)]


class TestBERT(ExecutedLesson):
    lesson = "09_bert"
    pictures = 8
    prints = (
        "the same as bert(ids).states: True",
        *(f"right for {right}" for right in ("0 of 12 women", "12 of 12 men", "44 of 44 animals")),
    )

    def test_the_parameters_are_counted(self, output: str) -> None:
        with torch.device("meta"):
            parameters = sum(parameter.numel() for parameter in BERT(BERTConfig.base()).parameters())
        assert f"{parameters:,} parameters" in output

    def test_any_animal_growls_and_hardly_a_person(self, output: str) -> None:
        animals, people = numbers(r"growled: all animals together (\d+)%, all people .*? (\d+)%", output)
        assert animals > 95 > 5 > people

    def test_pre_training_has_taught_it_tokens(self, output: str) -> None:
        rows = table(r"(before|after) pre-training +loss +([\d.]+) nats +right +(\d+)%", output)
        assert rows["after"][0] < 2.5 < 5 < rows["before"][0]
        assert rows["after"][1] > 40 > 10 > rows["before"][1]

    def test_a_next_sentence_fits_its_subject(self, output: str) -> None:
        follows = table(r"the queen baked the cake \. (.*?) +p\(follows\) = ([\d.]+)", output)
        assert follows["she ate the cake ."][0] > 0.5 > follows["it then growled ."][0]

    def test_a_contradiction_is_often_nearer_than_what_follows(self, output: str) -> None:
        assert numbers(r"the one that follows is closer for (\d) of 8", output)[0] <= 3

    def test_fifty_labels_and_a_frozen_encoder_beat_the_bag_with_all(self, output: str) -> None:
        rows = re.findall(r"^(bag|probe) ?(of|on) (.*?), +(\d+) labels: (\d.*)$", output, flags=re.M)
        found = {  # of each the first line: below it the mean stands beside what was predicted
            (feature, int(size)): percentages(shares.replace(",", "%"))
            for _, _, feature, size, shares in reversed(rows)
        }
        assert {size for _, size in found} == {50, 200, 2382}
        assert min(found["the mean", 50]) > max(found["embeddings", 2382]) - 2.5
        for size in (50, 200, 2382):
            assert min(found["the mean", size]) > max(found["[CLS]", size]) > max(found["embeddings", size])
        (cell,) = (cell.source for cell in read_lesson(self.lesson).cells if "KEPT = {" in cell.source)
        names: dict[str, dict[str, dict[int, list[float]]]] = {}
        exec(cell[cell.index("KEPT = {") :].partition("}\n\n")[0] + "}", {"ALL": 2382}, names)
        for name, kept in names["KEPT"].items():
            for size, shares in kept.items():
                measured = found[
                    name.removeprefix("probe on "), size
                ]  # of the first draws, where the lesson is cut short
                assert measured == pytest.approx(shares[: len(measured)], abs=1.0)

    def test_fine_tuning_gains_nothing_with_few_labels(self, output: str) -> None:
        few, everything = (
            [float(gain) for gain in re.findall(r"([+-][\d.]+)", said)]
            for said in re.findall(r"labels: fine-tuning changes the accuracy by (.*) points", output)
        )
        assert max(few) < 1
        assert -0.5 < everything[0] < 2

    def test_the_pronoun_tells_animals_and_not_women_from_men(self, output: str) -> None:
        shares = table(r"^(\S.*?) +right: a person and an animal (\d+)%, a woman and a man (\d+)%", output)
        assert shares["fine-tuned"][0] > 92
        assert all(35 < share < 65 for share in (shares["fine-tuned"][1], *shares["BERT, from scratch"]))

    def test_every_tagger_learns_and_pre_training_helps_at_first(self, output: str) -> None:
        found = dict(re.findall(r"^(\S.*?) +right tags .*: (.*)$", output, flags=re.M))
        shares = {name: percentages(text) for name, text in found.items()}
        assert all(each[-1] > 85 for each in shares.values())
        assert shares["fine-tuned"][1] > shares["BERT, from scratch"][1]

    def test_two_taggers_of_nearly_the_same_accuracy_are_told_apart_by_f1(self, output: str) -> None:
        rows = re.findall(r"^(always O|from scratch, 60|fine-tuned, (?:60|400)) +([\d.]+)% +(\d+)% (.*)$", output, re.M)
        found = {name: (float(right), int(whole), *percentages(scores)) for name, right, whole, scores in rows}
        accuracy, whole, org = ({name: row[position] for name, row in found.items()} for position in (0, 1, 4))
        assert accuracy["always O"] < 90 < 92.5 < accuracy["from scratch, 60"] < 95.5
        assert accuracy["fine-tuned, 60"] < accuracy["from scratch, 60"] + 7
        assert org["always O"] == 0
        assert org["fine-tuned, 60"] > org["from scratch, 60"] + 15
        assert abs(whole["always O"] - whole["from scratch, 60"]) < 8
        assert min(accuracy["fine-tuned, 400"], whole["fine-tuned, 400"], org["fine-tuned, 400"]) > 85

    def test_questions_are_hard_and_the_wrong_answers_come_from_the_other_sentence(self, output: str) -> None:
        (share,), (short,) = numbers(r"both ends right: (\d+)% of", output), numbers(r"four tokens: (\d+)%", output)
        assert 45 < share < short < 80
        kinds = {
            kind: int(count) for count, kind in re.findall(r"^ +(\d+)  (is in|runs|contains|is somebody)", output, re.M)
        }
        assert kinds["is in"] + kinds["runs"] > 0.8 * sum(kinds.values())

    def test_seven_heads_run(self, solved: NotebookNode) -> None:
        (text,) = [printed(cell) for cell in solved.cells if "def seven_heads" in cell.source]
        assert len(re.findall(r"^[a-zLM -]+ +\[[\d, ]+\]$", text, flags=re.M)) == 7

    def test_the_other_library_agrees(self, output: str) -> None:
        assert numbers(r"largest difference of the states: (\S+)", output)[0] < 1e-4


@pytest.mark.usefixtures("thorough")
class TestWhatBERTLearns:
    lesson = TestBERT.lesson

    def test_a_minute_teaches_tokens_first_and_then_pairs(self, output: str) -> None:
        lines = re.findall(r"after +(\d+) batches: masked tokens ([\d.]+) nats, pairs ([\d.]+) nats", output)
        tokens, pairs = ({int(n): float(row[position]) for n, *row in lines} for position in (0, 1))
        assert list(tokens) == [0, 50, 100, 150, 200, 250, 300, 350, 400]
        assert tokens[50] < tokens[0] - 1.5
        assert 0.65 < pairs[50] < 0.75
        assert tokens[400] < 3 < tokens[200] < tokens[100]
        assert pairs[400] < 0.59
        assert tokens[400] > numbers(r"after pre-training +loss +([\d.]+) nats", output)[0] + 1
        assert 60 < numbers(r"pairs judged correctly: (\d+)%$", output)[0] < 85

    def test_pre_training_beats_training_from_nothing_with_every_seed(self, output: str) -> None:
        lines = re.findall(r"^(who acts|of a kind) +(\S.*?) +right at the end: (.*)$", output, flags=re.M)
        shares = {(task, name): percentages(text) for task, name, text in lines}
        assert len(shares) == 10
        assert all(len(each) == 2 for each in shares.values())
        for name in ("BERT, from scratch", "recurrent, from scratch"):
            for pre_trained in ("fine-tuned", "frozen features"):
                assert min(shares["who acts", pre_trained]) > 95
                assert sum(shares["who acts", pre_trained]) > sum(shares["who acts", name]) + 6
            assert max(shares["of a kind", name]) < 65
        assert min(shares["of a kind", "fine-tuned"]) > 85
        assert min(shares["of a kind", "fine-tuned"]) > max(shares["of a kind", "frozen features"]) + 3
        assert sum(shares["of a kind", "frozen features"]) / 2 > 60
        assert min(shares["who acts", "your own encoder"]) > 85
        assert sum(shares["who acts", "your own encoder"]) > sum(shares["who acts", "BERT, from scratch"])
        assert max(shares["of a kind", "your own encoder"]) < 65
